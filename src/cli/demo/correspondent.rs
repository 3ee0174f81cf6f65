//! A correspondent: reads the letters in a Maildir, and answers those that ask for orders, as a person would.

use std::path::PathBuf;

use anyhow::Context;
use lettre::Message;
use mail_parser::MessageParser;

use super::{pacific, quad, quadrant_z, quantum};
use crate::game::any::GameKind;
use crate::letter::Address;
use crate::post::maildir;
use crate::post::maildirs::folder_of;

/// Somebody who plays by letter and knows nothing but what the letters say.
pub struct Correspondent {
    name: String,
    address: Address,
    own: PathBuf,
    referee: PathBuf,
    game: GameKind,
    dice: Dice,
    pub letters_written: usize,
}

/// A letter of the referee as a mail program shows it.
struct Shown {
    subject: String,
    text: String,
    reply_to: String,
    message_id: String,
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

    /// Reads what is new and answers what waits for orders; says how many letters were written.
    pub fn answer_letters(&mut self) -> anyhow::Result<usize> {
        let before = self.letters_written;
        for path in self.new_letters()? {
            let raw = std::fs::read(&path).with_context(|| path.display().to_string())?;
            let shown = shown(&raw).context("a letter of the referee cannot be read")?;
            if let Some(orders) = self.orders(&shown) {
                self.write(&shown, &orders)?;
            }
            // Read: as a mail program marks it.
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

    /// The orders that a letter asks for: an invitation or a report with an order form. After a refusal, those
    /// that it gives as an example.
    fn orders(&mut self, shown: &Shown) -> Option<Vec<String>> {
        if shown.subject.contains("please look again") || shown.text.contains("cannot stand") {
            return Some(examples(&shown.text)).filter(|orders| !orders.is_empty());
        }
        if !shown.text.contains("waits for your orders") || shown.text.contains("Your orders are sealed") {
            return None;
        }
        let orders = match self.game {
            GameKind::QuadrantZ => quadrant_z::orders,
            GameKind::Pacific => pacific::orders,
            GameKind::Quantum => quantum::orders,
            GameKind::Quad => quad::orders,
        };
        Some(orders(&shown.text, &mut self.dice))
    }

    /// Answers above the quoted letter, as most people do.
    fn write(&mut self, shown: &Shown, orders: &[String]) -> anyhow::Result<()> {
        let quoted: String = shown.text.lines().map(|line| format!("> {line}\n")).collect();
        let body = format!("{}\n\n{} wrote:\n{quoted}", orders.join("\n"), "The Demo Club");
        let letter = Message::builder()
            .from(format!("{} <{}>", self.name, self.address).parse()?)
            .to(shown.reply_to.parse()?)
            .subject(format!("Re: {}", shown.subject))
            .in_reply_to(format!("<{}>", shown.message_id))
            .references(format!("<{}>", shown.message_id))
            .message_id(Some(format!("<{}.{}@players.example>", self.name, self.letters_written)))
            .body(body)?;
        maildir::deliver(&self.referee, &letter.formatted())?;
        self.letters_written += 1;
        Ok(())
    }
}

fn shown(raw: &[u8]) -> Option<Shown> {
    let mail = MessageParser::default().parse(raw)?;
    let reply_to = mail.reply_to()?.first()?.address()?.to_owned();
    Some(Shown {
        subject: mail.subject()?.to_owned(),
        text: mail.body_text(0)?.into_owned(),
        reply_to,
        message_id: mail.message_id()?.to_owned(),
    })
}

/// The first run of example lines in a letter, those behind `| `.
pub fn examples(text: &str) -> Vec<String> {
    let example = |line: &str| line.trim().strip_prefix("| ").map(str::to_owned);
    text.lines().map(example).skip_while(Option::is_none).map_while(|line| line).collect()
}

/// Small dice: the same throws for the same seed (xorshift64*).
pub struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `sides`.
    pub fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let throw = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(throw).unwrap_or_default() % sides.max(1)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { from.get(self.below(from.len())) }
    }
}
