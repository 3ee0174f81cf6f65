//! Turns for large letters: they are decoded one at a time, because that takes up to ten times their size in
//! memory.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Size in bytes above which a letter is large.
const LARGE: usize = 1_000_000;

/// Maximum time to wait for a turn. A letter takes less than a second, unless its thread hangs.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Whether a large letter is being decoded. One flag for all threads, because they share the program's
/// memory.
static IS_TAKEN: Mutex<bool> = Mutex::new(false);
static FREED: Condvar = Condvar::new();

/// Permission to decode a letter, for as long as this lives.
#[must_use = "others may decode large letters once this is dropped"]
pub struct Turn {
    is_large: bool,
}

/// Waits until this letter may be decoded, which a small one always may.
pub fn turn_to_decode(raw: &[u8]) -> Turn {
    let is_large = raw.len() > LARGE;
    if is_large {
        let is_taken = IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = FREED.wait_timeout_while(is_taken, MAX_WAIT, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *is_taken = true;
    }
    Turn { is_large }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_large {
            *IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = false;
            FREED.notify_one();
        }
    }
}
