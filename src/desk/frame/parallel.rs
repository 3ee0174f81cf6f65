//! Pure work on all processors.

use std::sync::Mutex;
use std::thread;

/// Maps items on all processors, in order.
///
/// Uses threads of its own rather than a pool such as rayon's: a full batch takes over a hundred
/// milliseconds, starting a thread takes tens of microseconds, and nothing else in the program would use the
/// pool.
pub fn par_map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    // Threads take items one by one rather than in equal parts: a letter that ends a match takes a hundred
    // times as long as a question.
    let numbered = Mutex::new(items.iter().enumerate());
    let next = || numbered.lock().expect("nothing fails while it is locked").next();
    let work_off = || {
        let mut done = Vec::with_capacity(items.len() / threads + 1);
        while let Some((index, item)) = next() {
            done.push((index, work(item)));
        }
        done
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work_off)).collect();
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        assert_eq!(par_map(&items, |n| n * n), items.iter().map(|n| n * n).collect::<Vec<_>>());
    }
}
