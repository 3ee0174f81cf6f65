//! Helpers for the tests of the post office.

use std::time::Duration;

use fogpost_post::imap::ImapConfig;
use fogpost_post::inbox::Inbox;
use fogpost_post::{
    Error, FetchedLetter, FetchedLetters, Health, InboxMessage, LeftLetters, Secret, ShutdownSignal, Stopper,
    Taken, Tls,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than anything takes on a busy machine. A test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// An inbox in the only mailbox of a fake IMAP server.
pub fn imap_inbox(port: u16) -> Inbox {
    Inbox::Imap(ImapConfig {
        port: Some(port),
        tls: Tls::None,
        timeout_seconds: PATIENCE.as_secs(),
        ..ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"))
    })
}

/// A running inbox, as the program sees it.
pub struct Running {
    messages: mpsc::Receiver<InboxMessage>,
    /// The letters that are left in the mailbox, as the inbox has reported them.
    pub left: LeftLetters,
    pub health: watch::Receiver<Health>,
    pub stopper: Stopper,
    pub task: JoinHandle<Result<(), Error>>,
}

impl Running {
    pub fn start(inbox: Inbox) -> Running {
        Running::start_with(inbox, LeftLetters::default())
    }

    /// Starts an inbox in which these letters were left before.
    pub fn start_with(inbox: Inbox, left: LeftLetters) -> Running {
        // Room for what a test does not wait for.
        let (to, messages) = mpsc::channel(16);
        let (tell, health) = watch::channel(Health::default());
        let (stopper, stop) = ShutdownSignal::new();
        let task = tokio::spawn(inbox.run(left.clone(), to, stop, tell));
        Running { messages, left, health, stopper, task }
    }

    /// Waits for the next batch and leaves it unconfirmed.
    pub async fn batch(&mut self) -> FetchedLetters {
        loop {
            match self.message().await {
                InboxMessage::Letters(batch) => return batch,
                other => note(&mut self.left, other),
            }
        }
    }

    /// Waits for the next message, whatever it is.
    pub async fn message(&mut self) -> InboxMessage {
        timeout(PATIENCE, self.messages.recv()).await.expect("in time").expect("the inbox runs")
    }

    /// Waits until the letters that are left satisfy `wish`.
    pub async fn until_left(&mut self, wish: impl Fn(&LeftLetters) -> bool) {
        while !wish(&self.left) {
            let message = self.message().await;
            note(&mut self.left, message);
        }
    }

    /// Waits for the next batch, confirms that it is stored, and returns its letters.
    pub async fn letters(&mut self) -> Vec<FetchedLetter> {
        let batch = self.batch().await;
        batch.stored.send(Taken::All).expect("the inbox waits for it");
        batch.letters
    }

    /// Waits until the health satisfies `wish`.
    pub async fn until(&mut self, wish: impl FnMut(&Health) -> bool) {
        timeout(PATIENCE, self.health.wait_for(wish)).await.expect("in time").expect("the inbox runs");
    }

    pub async fn stop(self) {
        self.stopper.stop();
        timeout(PATIENCE, self.task).await.expect("in time").expect("no panic").expect("ran to its end");
    }
}

/// Empties a mailbox, as `run --once` does, and returns its letters.
pub async fn drain(inbox: Inbox) -> Result<Vec<FetchedLetter>, Error> {
    let (to, mut messages) = mpsc::channel(1);
    let storing = tokio::spawn(async move {
        let mut all = Vec::new();
        while let Some(message) = messages.recv().await {
            let InboxMessage::Letters(batch) = message else { continue };
            all.extend(batch.letters);
            batch.stored.send(Taken::All).expect("the inbox waits for it");
        }
        all
    });
    let count =
        timeout(PATIENCE, inbox.drain(LeftLetters::default(), to, watch::channel(Health::default()).0))
            .await
            .expect("in time")?;
    let all = storing.await.expect("no panic");
    assert_eq!(count, all.len());
    Ok(all)
}

/// Notes what an inbox reports about the letters that are left in it.
fn note(left: &mut LeftLetters, message: InboxMessage) {
    match message {
        InboxMessage::Letters(batch) => panic!("more letters: {:?}", subjects(&batch.letters)),
        InboxMessage::Beginnings { .. } => panic!("nobody has set a mark"),
        InboxMessage::Filed { compared, .. } => compared.send(()).expect("the inbox waits for it"),
        InboxMessage::Unfiled(letters) => left.unfiled.extend(letters),
        InboxMessage::Gone(letters) => {
            for letter in letters {
                left.unfiled.remove(&letter);
                left.untaken.remove(&letter);
            }
        }
    }
}

/// A short letter with this subject.
pub fn letter(subject: &str) -> Vec<u8> {
    let id = subject.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    format!(
        "From: anna@club.test\r\nTo: gm@club.test\r\nSubject: {subject}\r\nMessage-ID: <{id}@club.test>\r\n\r\n\
         SHIP 4 TO C1\r\n"
    )
    .into_bytes()
}

/// The subjects of letters, in order.
pub fn subjects(letters: &[FetchedLetter]) -> Vec<String> {
    letters.iter().map(|letter| subject(&letter.raw)).collect()
}

pub fn subject(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    text.lines().find_map(|line| line.strip_prefix("Subject: ")).unwrap_or("none").to_owned()
}
