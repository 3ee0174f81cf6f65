//! Delivery into Maildirs on this machine: for trials, and for a club whose players share a machine.
//!
//! Syncing a letter costs more than writing it, so letters that arrive while others are written wait, and are
//! then written and synced together.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use tokio::sync::oneshot;

use super::maildir::{self, LetterToDeliver};
use super::outgoing::{Outgoing, SendError};
use super::{Error, with_lf_line_ends};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaildirsConfig {
    /// The folder that contains a Maildir for each recipient, named after the address.
    pub path: PathBuf,
}

/// Delivers letters into one Maildir for each recipient.
pub struct Maildirs {
    settings: MaildirsConfig,
    /// Letters that no caller is writing yet.
    waiting: Mutex<Vec<PendingDelivery>>,
    /// Held by the caller that writes letters, including those of other callers.
    writing: tokio::sync::Mutex<()>,
}

struct PendingDelivery {
    delivery: LetterToDeliver,
    written: oneshot::Sender<io::Result<PathBuf>>,
}

impl Maildirs {
    pub(super) fn new(settings: MaildirsConfig) -> Maildirs {
        Maildirs { settings, waiting: Mutex::default(), writing: tokio::sync::Mutex::default() }
    }

    pub(super) fn check(&self) -> Result<String, Error> {
        let path = self.settings.path.display();
        maildir::create_folders(&self.settings.path)
            .map_err(|error| Error::io(format!("{path} cannot be created"), error))?;
        Ok(format!("Maildirs in {path}"))
    }

    /// Delivers a letter as a mail server does: with Return-Path (RFC 5321, 4.4) and Delivered-To on top, and
    /// LF line ends. Returns the file's name.
    pub(super) async fn deliver(&self, letter: &Outgoing<'_>) -> Result<String, SendError> {
        let top =
            format!("Return-Path: <{}>\nDelivered-To: {}\n", letter.return_path.unwrap_or(""), letter.to);
        let bytes = [top.into_bytes(), with_lf_line_ends(letter.bytes)].concat();
        let (written, mut outcome) = oneshot::channel();
        let delivery = LetterToDeliver { root: folder_of(&self.settings.path, letter.to), bytes };
        self.waiting().push(PendingDelivery { delivery, written });
        let writing = self.writing.lock().await;
        let outcome = match outcome.try_recv() {
            // The previous holder of the lock has written this letter too.
            Ok(outcome) => outcome,
            Err(_) => {
                let batch = std::mem::take(&mut *self.waiting());
                // If the task panics, it drops the senders, and each caller gets an error.
                let _ = tokio::task::spawn_blocking(|| write_all(batch)).await;
                drop(writing);
                outcome.await.unwrap_or_else(|dropped| Err(io::Error::other(dropped)))
            }
        };
        let place = outcome.map_err(|error| Error::io("the Maildir cannot be written", error))?;
        Ok(place.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<PendingDelivery>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_all(letters: Vec<PendingDelivery>) {
    let (deliveries, written): (Vec<_>, Vec<_>) =
        letters.into_iter().map(|letter| (letter.delivery, letter.written)).unzip();
    for (written, outcome) in written.into_iter().zip(maildir::deliver_all(&deliveries)) {
        // The caller may have dropped its future.
        let _ = written.send(outcome);
    }
}

/// Returns the Maildir that an outbox at `root` uses for this address, whose case does not matter.
///
/// Letters, digits and `@ . _ + -` are kept and everything else becomes `%XX`, so that no address leads
/// elsewhere.
pub fn folder_of(root: &Path, address: &str) -> PathBuf {
    let mut name = String::new();
    // A dot in front is escaped, because `.` and `..` lead elsewhere.
    for (i, byte) in address.to_ascii_lowercase().bytes().enumerate() {
        if byte.is_ascii_alphanumeric() || b"@_+-".contains(&byte) || (byte == b'.' && i > 0) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    root.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_leads_out_of_the_outbox_folder() {
        let root = Path::new("/out");
        assert_eq!(folder_of(root, "../../x@y"), Path::new("/out/%2E.%2F..%2Fx@y"));
        assert_eq!(folder_of(root, ".."), Path::new("/out/%2E."));
        assert_eq!(folder_of(root, "Anna+Q7@Club.Example"), Path::new("/out/anna+q7@club.example"));
        assert_eq!(folder_of(root, "ü\0@x"), Path::new("/out/%C3%BC%00@x"));
    }
}
