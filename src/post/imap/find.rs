//! Finds one letter in the folders of a mailbox, for `fogpost doctor --send`.

use super::Settings;
use super::mailbox::Mailbox;
use crate::post::source::ConnectionHandle;
use crate::post::{Error, FoundLetter};

/// Returns the letter with this Message-ID (without angle brackets), and the folder it is in.
pub(super) fn find(
    settings: &Settings,
    handle: &ConnectionHandle,
    message_id: &str,
) -> Result<Option<FoundLetter>, Error> {
    let mut mailbox = Mailbox::open(settings, handle)?;
    let mut folders = vec![(settings.folder.clone(), false), (settings.processed.clone(), false)];
    let spam = match &settings.spam_folder {
        Some(folder) => Some(folder.clone()),
        None => mailbox.junk_folder()?,
    };
    folders.extend(spam.map(|folder| (folder, true)));
    let mut found = None;
    for (folder, is_spam) in folders {
        match mailbox.switch_to(&folder) {
            // The folder need not exist yet.
            Err(Error::Configuration(_)) => continue,
            selected => selected?,
        }
        if let Some(raw) = mailbox.letter_with_id(message_id)? {
            found = Some(FoundLetter { folder, is_spam, raw });
            break;
        }
    }
    mailbox.close();
    Ok(found)
}
