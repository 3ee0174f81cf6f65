//! A correspondent: reads the letters in a Maildir and answers the latest, as a person does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use lettre::Message;
use mail_parser::{MessageParser, MimeHeaders as _};

use crate::daemon::NamedAddress;
use crate::post::maildir;
use crate::post::maildirs::folder_of;

/// A player whose orders come from a record.
pub struct Correspondent {
    who: NamedAddress,
    /// The correspondent's own Maildir.
    own: PathBuf,
    /// The referee's Maildir.
    referee: PathBuf,
    /// The files of the letters that this correspondent has read. Another mail program may have read others.
    seen: BTreeSet<String>,
    /// The latest letter from the referee that can be answered with orders.
    latest: Option<RefereeLetter>,
    pub letters_written: usize,
}

impl Correspondent {
    pub fn new(who: NamedAddress, mail: &Path) -> Self {
        Correspondent {
            own: folder_of(mail, who.address.as_str()),
            referee: mail.join("referee"),
            who,
            seen: BTreeSet::new(),
            latest: None,
            letters_written: 0,
        }
    }

    /// Reads the new letters and sends orders in answer to the latest.
    pub fn answer(&mut self, orders: &str) -> anyhow::Result<()> {
        self.read_new_letters()?;
        self.send(&words(orders))
    }

    /// Sends this text in answer to the latest letter read.
    pub fn send(&mut self, words: &str) -> anyhow::Result<()> {
        let letter = self.latest.as_ref().context("there is no letter to answer")?;
        let answer = self.reply(letter, words)?;
        maildir::deliver(&self.referee, &answer.formatted())?;
        self.letters_written += 1;
        Ok(())
    }

    /// Returns the letters that came since the last call.
    pub fn read_new_letters(&mut self) -> anyhow::Result<Vec<RefereeLetter>> {
        let mut files = Vec::new();
        for folder in ["new", "cur"] {
            for entry in std::fs::read_dir(self.own.join(folder))? {
                let file = entry?;
                let name = file.file_name().to_string_lossy().into_owned();
                let name = name.split(':').next().unwrap_or_default().to_owned();
                files.push((name, folder, file.path()));
            }
        }
        files.sort();
        files.retain(|(name, ..)| self.seen.insert(name.clone()));
        let mut letters = Vec::new();
        for (name, folder, path) in files {
            let raw = std::fs::read(&path).with_context(|| path.display().to_string())?;
            let letter = RefereeLetter::parse(&raw).context("cannot parse a letter from the referee")?;
            if letter.may_be_answered_with_orders() {
                self.latest = Some(letter.clone());
            }
            letters.push(letter);
            if folder == "new" {
                // Mark it as read, as a mail program would.
                std::fs::rename(&path, self.own.join("cur").join(format!("{name}:2,S")))?;
            }
        }
        Ok(letters)
    }

    /// Marks all letters as read except the last, which the next call of `read_new_letters` returns.
    pub fn skip_to_last(&mut self) -> anyhow::Result<()> {
        self.read_new_letters()?;
        self.seen.pop_last();
        Ok(())
    }

    /// The text of the letter that [`send`](Self::send) answers.
    pub fn latest_text(&self) -> &str {
        self.latest.as_ref().map_or("", |letter| letter.text.as_str())
    }

    /// Answers above the quoted letter, as most people do.
    fn reply(&self, letter: &RefereeLetter, words: &str) -> anyhow::Result<Message> {
        let quoted: String = letter.text.lines().map(|line| format!("> {line}\n")).collect();
        let NamedAddress { name, address } = &self.who;
        let reply = Message::builder()
            .from(format!("{name} <{address}>").parse()?)
            .to(letter.reply_to.parse()?)
            .subject(format!("Re: {}", letter.subject))
            .in_reply_to(format!("<{}>", letter.message_id))
            .references(format!("<{}>", letter.message_id))
            .message_id(Some(format!("<{name}.{}@players.example>", self.letters_written)))
            .body(format!("{words}\n\nThe Demo Club wrote:\n{quoted}"))?;
        Ok(reply)
    }
}

/// Returns the text of a letter with these orders. The record's comments become the player's remarks.
fn words(orders: &str) -> String {
    let lines: Vec<_> = orders.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
    lines.join("\n")
}

/// A letter from the referee, as a mail program shows it.
#[derive(Clone)]
pub struct RefereeLetter {
    pub subject: String,
    pub text: String,
    /// The board as a PNG.
    pub picture: Option<Vec<u8>>,
    reply_to: String,
    message_id: String,
}

impl RefereeLetter {
    /// Whether orders in answer to it are for the open turn. A message from the opponent or a receipt may
    /// concern a turn that is over, and may arrive together with the report, in any order.
    fn may_be_answered_with_orders(&self) -> bool {
        let is_receipt = ["sealed", "do you mean your orders?"].iter().any(|end| self.subject.ends_with(end));
        !self.subject.contains("a message from") && !is_receipt
    }

    fn parse(raw: &[u8]) -> Option<RefereeLetter> {
        let mail = MessageParser::default().parse(raw)?;
        Some(RefereeLetter {
            subject: mail.subject()?.to_owned(),
            text: mail.body_text(0)?.into_owned(),
            picture: mail
                .attachments()
                .find(|part| part.content_id() == Some("board"))
                .map(|part| part.contents().to_vec()),
            reply_to: mail.reply_to()?.first()?.address()?.to_owned(),
            message_id: mail.message_id()?.to_owned(),
        })
    }
}
