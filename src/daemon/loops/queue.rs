//! The letters that wait to be sent, and whose turn it is.
//!
//! Each letter has a task. Tasks get their permits in any order, so a task with a permit does not send its own letter but
//! the one whose turn it is: the most urgent one whose reader is sent nothing else at that moment.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::Id;

use crate::post::outbox::{Outbox, SendError, SendPermit};
use crate::store::{Claimed, Urgency};

/// A letter's place in the queue: the more urgent go first, and of those the ones that were claimed first.
type Place = (Urgency, u64);

#[derive(Default)]
pub(super) struct Queue {
    letters: Mutex<Letters>,
    /// Tells a task that another letter may have its turn.
    changed: Notify,
}

#[derive(Default)]
struct Letters {
    /// How many letters were ever added.
    added: u64,
    waiting: BTreeMap<Place, Arc<Claimed>>,
    /// What each task sends.
    sending: HashMap<Id, Arc<Claimed>>,
    /// To whom letters are being sent.
    readers: HashSet<String>,
}

/// What a task with a permit finds.
enum Turn {
    Of(Arc<Claimed>),
    /// Other letters to the readers of all waiting letters are being sent.
    NotYet,
    NoneLeft,
}

impl Queue {
    /// Adds a letter, for which the caller starts a task.
    pub(super) fn add(&self, letter: Arc<Claimed>) {
        let mut letters = self.locked();
        let place = (letter.urgency, letters.added);
        letters.added += 1;
        letters.waiting.insert(place, letter);
    }

    /// Waits for a permit and for a letter's turn. Without a permit, the letter was not tried. Returns `None` if no letter
    /// is left. The calling task has this letter until [`Queue::take`].
    pub(super) async fn next<'o>(
        &self,
        outbox: &'o Outbox,
    ) -> Option<(Arc<Claimed>, Result<SendPermit<'o>, SendError>)> {
        let task = tokio::task::id();
        loop {
            let mut changed = pin!(self.changed.notified());
            // A change is noticed even if it happens before the task waits for it.
            changed.as_mut().enable();
            let permit = outbox.permit().await;
            let turn = match permit {
                Ok(_) => self.locked().start(task),
                Err(_) => self.return_one(task),
            };
            match turn {
                Turn::Of(letter) => return Some((letter, permit)),
                Turn::NotYet => drop(permit),
                Turn::NoneLeft => return None,
            }
            changed.await;
        }
    }

    /// Lets the next letter to this reader have its turn. Call it before the permit is dropped.
    pub(super) fn finish(&self, recipient: &str) {
        self.locked().readers.remove(recipient);
        self.changed.notify_one();
    }

    /// Returns the letter of a task that has ended.
    pub(super) fn take(&self, task: Id) -> Option<Arc<Claimed>> {
        self.locked().sending.remove(&task)
    }

    /// Removes and returns the letters that wait. Their tasks end.
    pub(super) fn clear(&self) -> Vec<Arc<Claimed>> {
        let waiting = std::mem::take(&mut self.locked().waiting);
        self.changed.notify_waiters();
        waiting.into_values().collect()
    }

    /// Hands out any waiting letter, because none may be sent.
    fn return_one(&self, task: Id) -> Turn {
        let mut letters = self.locked();
        let Some((_, letter)) = letters.waiting.pop_first() else { return Turn::NoneLeft };
        letters.sending.insert(task, Arc::clone(&letter));
        drop(letters);
        // Tasks that wait until a reader is free would wait in vain.
        self.changed.notify_one();
        Turn::Of(letter)
    }

    fn locked(&self) -> MutexGuard<'_, Letters> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Letters {
    fn start(&mut self, task: Id) -> Turn {
        if self.waiting.is_empty() {
            return Turn::NoneLeft;
        }
        let free = self.waiting.iter().find(|(_, letter)| !self.readers.contains(&letter.recipient));
        let Some((place, letter)) = free.map(|(place, letter)| (*place, Arc::clone(letter))) else {
            return Turn::NotYet;
        };
        self.waiting.remove(&place);
        self.readers.insert(letter.recipient.clone());
        self.sending.insert(task, Arc::clone(&letter));
        Turn::Of(letter)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::referee::DispatchKind;

    fn letter(id: i64, recipient: &str, urgency: Urgency) -> Arc<Claimed> {
        Arc::new(Claimed {
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
        })
    }

    /// Starts the next letter for a new task, and returns its ID, or `None` if none has its turn.
    async fn start(queue: &Queue) -> Option<i64> {
        let task = tokio::spawn(async {}).id();
        match queue.locked().start(task) {
            Turn::Of(letter) => Some(letter.id),
            Turn::NotYet | Turn::NoneLeft => None,
        }
    }

    #[tokio::test]
    async fn the_most_urgent_letter_goes_first_but_no_two_at_a_time_to_one_reader() {
        let queue = Queue::default();
        for (id, recipient, urgency) in [
            (1, "ann", Urgency::Announcement),
            (2, "ann", Urgency::Receipt),
            (3, "bo", Urgency::Reminder),
            (4, "ann", Urgency::Receipt),
        ] {
            queue.add(letter(id, recipient, urgency));
        }
        assert_eq!(start(&queue).await, Some(2));
        assert_eq!(start(&queue).await, Some(3), "Ann's next receipt waits for the one that is being sent");
        assert_eq!(start(&queue).await, None);
        queue.finish("ann");
        queue.add(letter(5, "cy", Urgency::Alarm));
        assert_eq!(start(&queue).await, Some(5), "a more urgent letter overtakes");
        assert_eq!(start(&queue).await, Some(4));
        queue.finish("ann");
        assert_eq!(start(&queue).await, Some(1));
    }
}
