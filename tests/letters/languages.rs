//! Samples of each language whose words `language` knows: a sentence for each section of its file, and what mail
//! programs write around a letter in it, which `letter` must know.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use fogpost::game::Line;
use fogpost::game::any::GameKind;
use fogpost::language::{self, Topic};
use fogpost::letter::{AutomaticKind, Letter};
use fogpost::referee::Care;
use fogpost::request::wish::{self, WordAnswer};
use fogpost::request::{Beside, DoubtKind, Request, Writer};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Samples {
    /// A wish for three more days.
    more_time: String,
    /// An absence from 20 December to 3 January.
    absence: String,
    grief: String,
    illness: String,
    yes: String,
    no: String,
    was_me: String,
    /// Ship 1 moves from A3 to B2.
    order: String,
    all_stay: String,
    /// A line that postpones the order below it.
    postponing: String,
    /// A line that says nothing about the order below it.
    courtesy: String,
    /// A line that may take the order below it back.
    first: String,
    /// The line above a quote, as web mailers write it.
    attribution: String,
    /// The labels above a quote, as Outlook writes them.
    header: String,
    /// The line above a quote without either.
    divider: String,
    /// What a telephone puts under a letter.
    footer: String,
    /// Words before the subject of an answer and of a forwarded letter.
    reply: String,
    forward: String,
    absence_subject: String,
    absence_note: String,
    /// A stranger's wish, which is no machine's.
    person: String,
}

fn read(code: &str, subject: &str, text: &str) -> Letter {
    let raw = format!(
        "From: Ann <ann@players.example>\r\nTo: referee@club.example\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{}\r\n",
        text.replace('\n', "\r\n")
    );
    super::read(raw.as_bytes()).unwrap_or_else(|_| panic!("[{code}] is not read"))
}

/// The lines of a letter that are neither quoted nor a mail program's.
fn new_lines(code: &str, text: &str) -> Vec<String> {
    let written = read(code, "Re: [QD-7K3M] Turn 4", text).new_text(None);
    let lines = fogpost::request::lines_of(written);
    lines.into_iter().map(|line| line.text).filter(|text| !text.is_empty()).collect()
}

fn lines(text: &str) -> Vec<Line> {
    Line::numbered(&text.lines().collect::<Vec<_>>())
}

impl Samples {
    /// Returns the names of the sentences that are not understood.
    fn misunderstood(&self, code: &str) -> Vec<String> {
        let day = |year, month, day| NaiveDate::from_ymd_opt(year, month, day).expect("a day");
        let spoken = |text: &str| wish::read_remarks(&lines(text), "Bo Berg", false, day(2026, 11, 26));
        let answer = |text: &str| wish::word_answer(&lines(text));
        let beside = |text: &str| {
            let request = Request::read(&lines(&format!("{text}\n\nMARBLE G7")), GameKind::Quad);
            let is_postponed = request.doubts.iter().any(|doubt| doubt.kind == DoubtKind::Postponed);
            (request.beside(Writer::STRANGER), is_postponed)
        };
        let (more_time, absence) = (spoken(&self.more_time), spoken(&self.absence));
        let away = absence.span.both();
        let order = wish::orders_in_words(&self.order);
        let checks = [
            ("more_time", more_time.topic == Some(Topic::MoreTime) && more_time.span.days == Some(3)),
            ("absence", absence.topic == Some(Topic::Absence)),
            ("absence (days)", away == Some((day(2026, 12, 20), day(2027, 1, 3)))),
            ("grief", spoken(&self.grief).care == Some(Care::Grief)),
            ("illness", spoken(&self.illness).care == Some(Care::Illness)),
            ("yes", answer(&self.yes) == Some(WordAnswer::Yes)),
            ("no", answer(&self.no) == Some(WordAnswer::No)),
            ("was_me", answer(&self.was_me) == Some(WordAnswer::WasMe)),
            ("order", order.is_some_and(|order| order == ["SHIP 1 A3 TO B2"])),
            ("all_stay", wish::holds_in_words(&self.all_stay)),
            ("postponing", beside(&self.postponing).1),
            ("courtesy", beside(&self.courtesy) == (Beside::Nothing, false)),
            ("first", beside(&self.first).0 == Beside::Sign),
        ];
        let wrong = checks.into_iter().filter(|(_, is_understood)| !is_understood);
        wrong.map(|(name, _)| format!("[{code}] {name} is not understood")).collect()
    }

    /// Returns the names of the samples of mail that are not read as they should be.
    fn misread(&self, code: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, below) in [
            ("attribution", format!("{}\n> STAR A1\n> MARBLE B1", self.attribution)),
            ("header", format!("{}\n\nSTAR A1\nMARBLE B1", self.header)),
            ("divider", format!("{}\n\nSTAR A1\nMARBLE B1", self.divider)),
            ("footer", self.footer.clone()),
        ] {
            let lines = new_lines(code, &format!("MARBLE G7\n\n{below}"));
            if lines != ["MARBLE G7"] {
                wrong.push(format!("[{code}] {name}: {lines:?}"));
            }
        }
        for (name, word) in [("reply", &self.reply), ("forward", &self.forward)] {
            let subject = format!("{word}: [QD-7K3M] Turn 4");
            let letter = read(code, &subject, "MARBLE G7");
            if letter.automatic.is_some() {
                wrong.push(format!("[{code}] {name}: a machine's letter"));
            }
        }
        let is_absence = |subject: &str, text: &str| {
            let automatic = read(code, subject, text).automatic;
            automatic.is_some_and(|automatic| automatic.kind == AutomaticKind::Absence)
        };
        for (name, subject) in
            [("absence_subject", self.absence_subject.as_str()), ("absence_note", "Re: [QD-7K3M] Turn 4")]
        {
            if !is_absence(subject, &self.absence_note) {
                wrong.push(format!("[{code}] {name} is not read as an absence note"));
            }
        }
        if read(code, "fogpost", &self.person).automatic.is_some() {
            wrong.push(format!("[{code}] person: a machine's letter"));
        }
        wrong
    }
}

#[test]
fn each_language_and_its_mail_programs_are_understood() {
    let samples: BTreeMap<String, Samples> = toml::from_str(include_str!("languages.toml"))
        .unwrap_or_else(|error| panic!("languages.toml: {error}"));
    let mut wrong: Vec<String> = Vec::new();
    for code in language::codes() {
        match samples.get(code) {
            Some(samples) => {
                wrong.extend(samples.misunderstood(code));
                wrong.extend(samples.misread(code));
            }
            None => wrong.push(format!("[{code}] is missing in tests/letters/languages.toml")),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
