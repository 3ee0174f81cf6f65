//! A correspondent: reads the letters in a Maildir and answers those that ask for orders, as a person would.

use std::path::PathBuf;

use anyhow::Context;
use lettre::Message;

use super::dice::Dice;
use super::letter::{RefereeLetter, examples};
use super::{pacific, quad, quadrant_z, quantum};
use crate::game::any::GameKind;
use crate::letter::Address;
use crate::post::maildir;
use crate::post::maildirs::folder_of;

/// A player who knows nothing except what the letters say.
pub struct Correspondent {
    name: String,
    address: Address,
    /// The correspondent's own Maildir.
    own: PathBuf,
    /// The referee's Maildir.
    referee: PathBuf,
    game: GameKind,
    dice: Dice,
    pub letters_written: usize,
}

impl Correspondent {
    pub fn new(name: &str, address: Address, mail: &std::path::Path, game: GameKind, seed: u64) -> Self {
        Correspondent {
            name: name.to_owned(),
            own: folder_of(mail, address.as_str()),
            referee: mail.join("referee"),
            address,
            game,
            dice: Dice::new(seed),
            letters_written: 0,
        }
    }

    /// Reads new letters, answers those that ask for orders, and returns the number of answers.
    pub fn answer_letters(&mut self) -> anyhow::Result<usize> {
        let before = self.letters_written;
        for path in self.new_letters()? {
            let raw = std::fs::read(&path).with_context(|| path.display().to_string())?;
            let letter = RefereeLetter::parse(&raw).context("cannot parse a letter from the referee")?;
            if let Some(orders) = self.orders(&letter) {
                self.write(&letter, &orders)?;
            }
            // Mark it as read, as a mail program would.
            let name = path.file_name().context("a file has a name")?.to_string_lossy().into_owned();
            std::fs::rename(&path, self.own.join("cur").join(format!("{name}:2,S")))?;
        }
        Ok(self.letters_written - before)
    }

    fn new_letters(&self) -> anyhow::Result<Vec<PathBuf>> {
        let new = self.own.join("new");
        if !new.exists() {
            return Ok(Vec::new());
        }
        let mut found =
            std::fs::read_dir(&new)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
        found.sort();
        Ok(found)
    }

    /// Returns the orders for an invitation or a report that asks for some. After a refusal, these are the refusal's
    /// examples.
    fn orders(&mut self, letter: &RefereeLetter) -> Option<Vec<String>> {
        if letter.subject.contains("not filed") || letter.text.contains("cannot stand") {
            return Some(examples(&letter.text)).filter(|orders| !orders.is_empty());
        }
        // A receipt that is also the report of the turn asks for the next orders.
        let is_receipt_alone =
            letter.text.contains("Your orders are sealed") && !letter.text.contains("What happened");
        if !letter.text.contains("waits for your orders") || is_receipt_alone {
            return None;
        }
        let orders = match self.game {
            GameKind::QuadrantZ => quadrant_z::orders,
            GameKind::Pacific => pacific::orders,
            GameKind::Quantum => quantum::orders,
            GameKind::Quad => quad::orders,
        };
        Some(orders(&letter.text, &mut self.dice))
    }

    /// Answers above the quoted letter, as most people do.
    fn write(&mut self, letter: &RefereeLetter, orders: &[String]) -> anyhow::Result<()> {
        let quoted: String = letter.text.lines().map(|line| format!("> {line}\n")).collect();
        let body = format!("{}\n\n{} wrote:\n{quoted}", orders.join("\n"), "The Demo Club");
        let answer = Message::builder()
            .from(format!("{} <{}>", self.name, self.address).parse()?)
            .to(letter.reply_to.parse()?)
            .subject(format!("Re: {}", letter.subject))
            .in_reply_to(format!("<{}>", letter.message_id))
            .references(format!("<{}>", letter.message_id))
            .message_id(Some(format!("<{}.{}@players.example>", self.name, self.letters_written)))
            .body(body)?;
        maildir::deliver(&self.referee, &answer.formatted())?;
        self.letters_written += 1;
        Ok(())
    }
}
