//! Pure work on all processors, and faults that stay where they are.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::thread;

use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// Does the work on each of the items, several at a time, and returns what came of it in their order. The loops of
/// the program go on meanwhile.
pub(super) fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let numbered = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let runtime = Handle::current();
    let take = || {
        let _work_may_wait = runtime.enter();
        loop {
            let Some((i, item)) = numbered.lock().expect("nothing fails while it is held").next() else {
                break;
            };
            let outcome = work(item);
            done.lock().expect("nothing fails while it is held").push((i, outcome));
        }
    };
    block_in_place(|| {
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(take))));
    });
    let mut done = done.into_inner().expect("nothing failed while it was held");
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Does the work on a thread of its own while `other` is waited for.
pub(super) fn meanwhile<R: Send, T>(
    work: impl FnOnce() -> R + Send,
    other: impl Future<Output = T>,
) -> (R, T) {
    let runtime = Handle::current();
    block_in_place(|| {
        thread::scope(|scope| {
            let work = scope.spawn(|| {
                let _work_may_wait = runtime.enter();
                work()
            });
            let other = runtime.block_on(other);
            (work.join().unwrap_or_else(|panic| resume_unwind(panic)), other)
        })
    })
}

/// Waits for the work, and for its thread alone; `None` when it panicked.
pub(super) fn wait_for<T>(work: impl Future<Output = T>) -> Option<T> {
    block_in_place(|| catch_unwind(AssertUnwindSafe(|| Handle::current().block_on(work)))).ok()
}
