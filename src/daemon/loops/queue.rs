//! The claimed letters that wait for a connection, and whose turn it is: the most urgent one whose reader is sent nothing
//! else at that moment. So a receipt arrives before the report that it brought.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::store::{Claimed, Urgency};

/// A letter's place in the queue: the more urgent go first, and of those the ones that were claimed first.
type Place = (Urgency, u64);

#[derive(Default)]
pub(super) struct Queue {
    /// Number of letters ever added.
    added: u64,
    waiting: BTreeMap<Place, Arc<Claimed>>,
    /// The recipients of letters in flight.
    readers: HashSet<String>,
}

impl Queue {
    pub(super) fn add(&mut self, letter: Claimed) {
        self.waiting.insert((letter.urgency, self.added), Arc::new(letter));
        self.added += 1;
    }

    /// Removes and returns the letter whose turn it is. Until [`Queue::finish`], its reader is sent nothing else.
    pub(super) fn next(&mut self) -> Option<Arc<Claimed>> {
        let mut free = self.waiting.iter().filter(|(_, letter)| !self.readers.contains(&letter.recipient));
        let place = *free.next()?.0;
        let letter = self.waiting.remove(&place)?;
        self.readers.insert(letter.recipient.clone());
        Some(letter)
    }

    /// Lets the next letter to this reader have its turn.
    pub(super) fn finish(&mut self, recipient: &str) {
        self.readers.remove(recipient);
    }

    /// Removes the letters that wait, and returns their IDs.
    pub(super) fn clear(&mut self) -> Vec<i64> {
        std::mem::take(&mut self.waiting).into_values().map(|letter| letter.id).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::referee::DispatchKind;

    fn letter(id: i64, recipient: &str, urgency: Urgency) -> Claimed {
        Claimed {
            id,
            message_id: id.to_string(),
            recipient: recipient.to_owned(),
            bytes: Vec::new(),
            kind: DispatchKind::Notice,
            match_id: None,
            tries: 0,
            urgency,
            seat: None,
            created_at: DateTime::UNIX_EPOCH,
            return_id: None,
        }
    }

    #[test]
    fn the_most_urgent_letter_goes_first_but_no_two_at_a_time_to_one_reader() {
        let mut queue = Queue::default();
        for (id, recipient, urgency) in [
            (1, "ann", Urgency::Announcement),
            (2, "ann", Urgency::Receipt),
            (3, "bo", Urgency::Reminder),
            (4, "ann", Urgency::Receipt),
        ] {
            queue.add(letter(id, recipient, urgency));
        }
        let start = |queue: &mut Queue| queue.next().map(|letter| letter.id);
        assert_eq!(start(&mut queue), Some(2));
        assert_eq!(start(&mut queue), Some(3), "Ann's next receipt waits for the one that is being sent");
        assert_eq!(start(&mut queue), None);
        queue.finish("ann");
        queue.add(letter(5, "cy", Urgency::Alarm));
        assert_eq!(start(&mut queue), Some(5), "a more urgent letter overtakes");
        assert_eq!(start(&mut queue), Some(4));
        queue.finish("ann");
        assert_eq!(start(&mut queue), Some(1));
    }
}
