//! The letters that were filed last prove that an older database was put in place of the club's, if it does not know them.

use chrono::{DateTime, Utc};

use super::old;
use super::row::row_of;
use crate::config::Config;
use crate::desk::frame::club::own_identity;
use crate::letter::ReplyMarks;
use crate::post::FetchedLetter;
use crate::store::{Database, NewLetter};

/// Returns the number of these filed letters that the database lacks.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn count_unknown(
    store: &Database,
    config: &Config,
    letters: &[FetchedLetter],
    now: DateTime<Utc>,
) -> anyhow::Result<usize> {
    let (mark, own) = (store.mailbox_mark(&config.inbox.name(), now).await?, own_identity(config));
    let proves = |letter: &&FetchedLetter| {
        // Another club that reads the same mailbox files its letters there, too, and the program itself may have filed
        // one that it sent to test the way.
        !letter.cut
            && ReplyMarks::of(&letter.raw, &own).is_to_us
            && old::ties_if_old(letter, mark, &own).is_none()
            && row_of(letter).sender != config.club.address.as_str()
    };
    let filed: Vec<NewLetter> = letters.iter().filter(proves).map(row_of).collect();
    Ok(store.count_unknown(&filed).await?)
}
