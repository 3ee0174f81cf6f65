//! Letters for testing whether people are told from machines: the short texts in `tests/letters/doubt/`, one file
//! for each language or kind, and the letters that mail programs and servers would make of them.
//!
//! A text begins with `== name | subject | form`. The subject `-` stands for that of a reply to our letter.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};

/// A text of the corpus.
#[derive(Clone, Debug)]
pub struct Note {
    /// The file and the name in it.
    pub name: String,
    /// `None` for the subject of a reply.
    pub subject: Option<String>,
    /// For a person's letter, its form (`fresh`, `stranger`, `phone`, `quote-ticket` …); for a machine's, the event
    /// that it reports.
    pub form: String,
    pub body: String,
}

/// Our letter that is answered, or that a machine reacts to.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The address that our letter went to.
    pub reader: String,
    pub reply_to: String,
    pub message_id: String,
    pub subject: String,
    pub text: String,
}

/// Whether a machine's letter has the marks that such letters usually have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    Usual,
    None,
}

pub fn people() -> Vec<Note> {
    notes("people")
}

pub fn robots() -> Vec<Note> {
    notes("robots")
}

/// Machines' texts that the classifier takes for a person's if they have no mark.
pub fn unrecognised() -> Vec<Note> {
    notes("unrecognised")
}

fn notes(folder: &str) -> Vec<Note> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/letters/doubt").join(folder);
    let files = fs::read_dir(folder).expect("a folder of the corpus");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("an entry of the corpus").path()).collect();
    files.sort();
    files.iter().flat_map(|file| notes_in(file)).collect()
}

fn notes_in(file: &Path) -> Vec<Note> {
    let text = fs::read_to_string(file).expect("a file of the corpus");
    let stem = file.file_stem().expect("a name").to_string_lossy();
    let mut notes = Vec::new();
    for block in format!("\n{text}").split("\n== ").skip(1) {
        let (head, body) = block.split_once('\n').expect("a text below its heading");
        let mut fields = head.split(" | ").map(str::trim);
        let name = format!("{stem}/{}", fields.next().expect("a name"));
        let subject = fields.next().filter(|subject| *subject != "-").map(str::to_owned);
        let form = fields.next().unwrap_or("reply").to_owned();
        notes.push(Note { name, subject, form, body: body.trim().to_owned() });
    }
    notes
}

/// Number of ways in which mail programs quote.
const STYLES: usize = 7;

impl Note {
    /// Whether the letter does not answer any of ours.
    pub fn is_fresh(&self) -> bool {
        self.form == "fresh" || self.form == "stranger"
    }

    /// The address that a person writes from: the reader's or, for a stranger, one that we do not know.
    pub fn writer(&self, index: usize, answered: &Answered) -> String {
        match self.form.as_str() {
            "stranger" => format!("stranger{index}@elsewhere.example"),
            _ => answered.reader.clone(),
        }
    }

    /// A person's letter with this text, in answer to ours in one of several forms, or as a new letter.
    pub fn by_a_person(&self, index: usize, answered: &Answered) -> String {
        let thread = match self.is_fresh() {
            true => "To: referee@club.example\n".to_owned(),
            false => format!(
                "To: {}\nIn-Reply-To: <{id}>\nReferences: <{id}>\n",
                answered.reply_to,
                id = answered.message_id
            ),
        };
        let reply = format!("Re: {}", answered.subject);
        let head = format!(
            "Return-Path: <{from}>\nFrom: Ann Smith <{from}>\n{thread}Subject: {}\nDate: Thu, 14 May 2026 09:12:44 +0200\n\
             Message-ID: <person{index}@players.example>\nMIME-Version: 1.0\n",
            self.subject.as_ref().unwrap_or(&reply),
            from = self.writer(index, answered),
        );
        match (self.form.as_str(), index % STYLES) {
            ("fresh" | "stranger", _) => plain(&head, &self.body),
            ("forward-bounce", _) => plain(&head, &format!("{}\n\n{}", self.body, forwarded(BOUNCE))),
            ("forward-ticket", _) => plain(&head, &format!("{}\n\n{}", self.body, forwarded(TICKET))),
            ("quote-ticket", _) => plain(&head, &format!("{}\n\n{}", self.body, quoted_ticket())),
            ("phone", _) => {
                plain(&head, &format!("{}\n\nSent from my iPhone\n\n{}", self.body, below(answered)))
            }
            (_, 0 | 4) => plain(&head, &format!("{}\n", self.body)),
            (_, 1) => plain(&head, &format!("{}\n\n{}", self.body, below(answered))),
            (_, 2) => plain(&head, &format!("{}\n\n{}", self.body, outlook(answered))),
            (_, 3) => html(&head, &self.body, answered),
            (_, 5) => plain(&head, &format!("{}\n\n{}\n", below(answered), self.body)),
            _ => plain(&head, &format!("{}\n\n{}", self.body, web_mailer(answered))),
        }
    }

    /// A machine's letter with this text, in reaction to ours.
    pub fn by_a_machine(&self, index: usize, marks: Marks, answered: &Answered) -> String {
        let (from, thread) = self.machine_sender(index, marks, answered);
        let subject = self.subject.clone().unwrap_or_else(|| format!("Re: {}", answered.subject));
        // The texts name one match; the letters are about many.
        let tag = answered.subject.split(']').next().map(|tag| format!("{tag}]")).unwrap_or_default();
        let subject = subject.replace("[QZ-7K3M]", &tag);
        let (kind, marks) = match marks {
            Marks::Usual => ("marked", self.usual_marks(index)),
            Marks::None => ("bare", ""),
        };
        let head = format!(
            "{marks}From: {from}\n{thread}Subject: {subject}\nDate: Thu, 14 May 2026 09:12:44 +0200\n\
             Message-ID: <{kind}{index}@machines.example>\nMIME-Version: 1.0\n"
        );
        let returned = match self.form.as_str() {
            "failed" if index.is_multiple_of(2) => returned_copy(answered),
            _ => String::new(),
        };
        plain(&head, &format!("{}\n{returned}", self.body))
    }

    /// The sender, and the fields that make the letter an answer to ours. Absence notes come from the reader's own
    /// address, bounces from a server, tickets from a help desk to which the reader forwards mail.
    fn machine_sender(&self, index: usize, marks: Marks, answered: &Answered) -> (String, String) {
        let in_thread = format!("To: {}\nIn-Reply-To: <{}>\n", answered.reply_to, answered.message_id);
        let in_the_dark = "To: referee@club.example\n".to_owned();
        match (self.form.as_str(), marks) {
            ("absence", _) => (answered.reader.clone(), in_thread),
            ("failed" | "delayed", Marks::Usual) => {
                ("Mail Delivery System <MAILER-DAEMON@mx.example.org>".to_owned(), in_the_dark)
            }
            ("failed" | "delayed", Marks::None) => {
                ("Mail System <mail@mx.example.org>".to_owned(), format!("To: {}\n", answered.reply_to))
            }
            _ if index.is_multiple_of(2) => (format!("Service <service{index}@referee.example>"), in_thread),
            _ => (format!("Service <service{index}@referee.example>"), in_the_dark),
        }
    }

    fn usual_marks(&self, index: usize) -> &'static str {
        let all: &[&str] = match self.form.as_str() {
            "absence" => &[
                "Return-Path: <>\nAuto-Submitted: auto-replied\n",
                "Auto-Submitted: auto-generated\nX-Auto-Response-Suppress: All\n",
                "Precedence: bulk\nX-Autoreply: yes\n",
                "Precedence: auto_reply\n",
            ],
            "failed" | "delayed" => &["Return-Path: <>\n", "Auto-Submitted: auto-replied\n"],
            _ if self.name.starts_with("lists/") => {
                &["List-Id: <games.lists.example.org>\nPrecedence: list\n", "Precedence: bulk\n"]
            }
            _ => &["Auto-Submitted: auto-replied\n", "X-OTRS-Loop: yes\n", "Precedence: bulk\n"],
        };
        all[index % all.len()]
    }
}

fn plain(head: &str, body: &str) -> String {
    format!("{head}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{body}\n")
}

/// Plain text and HTML, as Gmail sends them.
fn html(head: &str, body: &str, answered: &Answered) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('\n', "<br>\n");
    let part = |kind: &str, text: &str| {
        format!(
            "--=_alt\nContent-Type: text/{kind}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{text}\n"
        )
    };
    let rich = format!(
        "<div dir=\"ltr\">{}</div><br><div class=\"gmail_quote\"><div class=\"gmail_attr\">On Wed, May 13, 2026 at 8:01 PM \
         Fogpost Referee &lt;{}&gt; wrote:<br></div><blockquote class=\"gmail_quote\">{}</blockquote></div>",
        escape(body),
        answered.reply_to,
        escape(&answered.text)
    );
    let parts = part("plain", &format!("{body}\n\n{}", below(answered))) + &part("html", &rich);
    format!("{head}Content-Type: multipart/alternative; boundary=\"=_alt\"\n\n{parts}--=_alt--\n")
}

fn prefixed(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

fn below(answered: &Answered) -> String {
    let quote = prefixed(&answered.text);
    format!("On Wed, May 13, 2026 at 8:01 PM Fogpost Referee <\n{}> wrote:\n\n{quote}", answered.reply_to)
}

fn outlook(answered: &Answered) -> String {
    format!(
        "________________________________\nFrom: Fogpost Referee <{}>\nSent: Wednesday, 13 May 2026 20:01\nTo: Ann Smith <{}>\n\
         Subject: {}\n\n{}",
        answered.reply_to, answered.reader, answered.subject, answered.text
    )
}

fn web_mailer(answered: &Answered) -> String {
    format!(
        "Gesendet: Mittwoch, 13. Mai 2026 um 20:01 Uhr\nVon: \"Fogpost Referee\" <{}>\nAn: {}\nBetreff: {}\n\n{}",
        answered.reply_to, answered.reader, answered.subject, answered.text
    )
}

const BOUNCE: &str = "This is the mail system at host mx.example.org.\n\nI'm sorry to have to inform you that your message \
could not\nbe delivered to one or more recipients. It's attached below.\n\n<referee@club.example>: 550 5.1.1 User unknown\n";

const TICKET: &str = "##- Please type your reply above this line -##\n\nThank you for contacting us. Your request (4711) has \
been received and is being reviewed by our support staff.\n";

fn forwarded(text: &str) -> String {
    format!(
        "---------- Forwarded message ---------\nFrom: Mail Delivery System <MAILER-DAEMON@mx.example.org>\n\
         Date: Wed, 13 May 2026 at 20:02\nSubject: Undelivered Mail Returned to Sender\nTo: <ann@players.example>\n\n{text}"
    )
}

fn quoted_ticket() -> String {
    format!("On Wed, 13 May 2026 at 20:02, Support <help@referee.example> wrote:\n\n{}", prefixed(TICKET))
}

/// Our letter as a bounce returns it, with its whole header.
fn returned_copy(answered: &Answered) -> String {
    format!(
        "\n------ This is a copy of your message, including all the headers. ------\n\nReturn-Path: <referee@club.example>\n\
         Received: from mail.club.example by mx.example.org with ESMTPS; Wed, 13 May 2026 20:01:10 +0200\n\
         From: Fogpost Referee <referee@club.example>\nReply-To: {}\nTo: {}\nMessage-ID: <{}>\nSubject: {}\n\
         Date: Wed, 13 May 2026 20:01:08 +0200\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n{}",
        answered.reply_to, answered.reader, answered.message_id, answered.subject, answered.text
    )
}
