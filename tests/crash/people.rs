//! The correspondents: each reads a mailbox at the server and answers whatever asks for orders, sometimes with a faulty
//! line, a question, or a letter that arrives twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use mail_parser::MessageParser;

use crate::club::Club;
use crate::servers::Servers;
use fogpost_testing::random::Random;

/// How many marbles each side places, in one row, where they form no quad. Then Black resigns.
const MARBLES: usize = 9;

/// A match, and the two people who play only it.
pub struct Table {
    pub id: String,
    pub people: [Person; 2],
}

pub struct Person {
    pub name: String,
    /// The files of the mailbox that were read.
    read: BTreeSet<String>,
    /// How often each letter arrived, by Message-ID.
    pub came: BTreeMap<String, usize>,
    /// The turns for which this person sent orders.
    pub moved: BTreeSet<usize>,
    pub resigned: bool,
    /// The last letter that arrived.
    last: Vec<u8>,
}

/// The letters that the correspondents have sent, by Message-ID.
#[derive(Default)]
pub struct Sent {
    pub letters: BTreeSet<String>,
    pub copies: usize,
    /// The letters on which the daemon fails to rule.
    pub poisoned: BTreeSet<String>,
    /// The letters of people who mean harm.
    pub hostile: BTreeSet<String>,
}

impl Table {
    pub fn open(number: usize, club: &Club) -> Table {
        let names = ["ann", "bo"].map(|name| format!("{name}{number}"));
        let id = club.open(&names[0], &names[1]);
        Table { id, people: names.map(Person::new) }
    }

    pub fn is_over(&self) -> bool {
        self.people[0].resigned
    }

    /// Lets both read their mail and answer it.
    pub fn go_round(&mut self, servers: &Servers, sent: &mut Sent, random: &mut Random) {
        for (seat, person) in self.people.iter_mut().enumerate() {
            person.read_all(servers, |person, letter| person.answer(seat, letter, servers, sent, random));
        }
    }

    /// Lets both read their mail.
    pub fn read(&mut self, servers: &Servers) {
        for person in &mut self.people {
            person.read_all(servers, |_, _| ());
        }
    }
}

impl Person {
    pub fn new(name: String) -> Person {
        let (read, came, moved, last) = Default::default();
        Person { name, read, came, moved, resigned: false, last }
    }

    pub fn address(&self) -> String {
        format!("{}@club.test", self.name)
    }

    /// Reads new mail; calls `first` with each letter when it arrives for the first time.
    pub fn read_all(&mut self, servers: &Servers, mut first: impl FnMut(&mut Person, &[u8])) {
        for part in ["new", "cur"] {
            let Ok(listed) = fs::read_dir(servers.maildir(&self.name).join(part)) else { continue };
            let mut files: Vec<_> = listed.map(|file| file.expect("an entry").path()).collect();
            files.sort();
            for file in files {
                let name = file.file_name().expect("a name").to_string_lossy();
                let name = name.split(':').next().expect("it begins").to_owned();
                // Dovecot may have renamed the file since it was listed; the next look finds it.
                let Ok(raw) = fs::read(&file) else { continue };
                if !self.read.insert(name) {
                    continue;
                }
                let mail = MessageParser::default().parse_headers(&raw).expect("a letter");
                let id = mail.message_id().expect("our letters bear an id").to_owned();
                let times = self.came.entry(id).or_default();
                *times += 1;
                if *times == 1 {
                    self.last.clone_from(&raw);
                    first(self, &raw);
                }
            }
        }
    }

    pub fn has_mail(&self) -> bool {
        !self.last.is_empty()
    }

    /// Answers the last letter with these words, and returns the Message-ID of the answer.
    pub fn ask(&self, servers: &Servers, words: &str) -> String {
        let mail = MessageParser::default().parse(&self.last).expect("a letter came");
        let (mut sent, mut random) = (Sent::default(), Random::new(0));
        Reply { person: &self.name, to: &mail, words, number: 1_000_000 }.send(
            servers,
            &mut sent,
            &mut random,
        );
        sent.letters.pop_first().expect("it was sent")
    }

    fn answer(&mut self, seat: usize, raw: &[u8], servers: &Servers, sent: &mut Sent, random: &mut Random) {
        let mail = MessageParser::default().parse(raw).expect("a letter");
        let text = mail.body_text(0).unwrap_or_default();
        let Some(turn) = text.lines().find_map(|line| line.trim().strip_prefix("Your orders for turn "))
        else {
            return;
        };
        let turn: usize = turn.parse().expect("the number of a turn");
        let place = (turn - 1) / 2;
        if self.resigned || self.moved.contains(&turn) || turn % 2 == seat {
            return;
        }
        let mut say = |words: &str, random: &mut Random| {
            let reply = Reply { person: self.name.as_str(), to: &mail, words, number: sent.letters.len() };
            reply.send(servers, sent, random);
        };
        if random.once_in(6) {
            say("MARBLE Z99", random);
        }
        if random.once_in(6) {
            say("STATUS", random);
        }
        if place >= MARBLES {
            say("RESIGN CONFIRM", random);
            self.resigned = true;
            return;
        }
        let column = char::from(b'A' + u8::try_from(place).expect("a column"));
        say(&format!("MARBLE {column}{}", [5, 7][seat]), random);
        self.moved.insert(turn);
    }
}

struct Reply<'a> {
    person: &'a str,
    to: &'a mail_parser::Message<'a>,
    words: &'a str,
    number: usize,
}

impl Reply<'_> {
    /// Sends the reply, and sometimes a copy with another header.
    fn send(&self, servers: &Servers, sent: &mut Sent, random: &mut Random) {
        let (from, id) =
            (format!("{}@club.test", self.person), format!("{}.{}@people.test", self.number, self.person));
        let to =
            self.to.reply_to().and_then(|to| to.first()?.address()).expect("where answers go").to_owned();
        // Number the letters, because the same text is not answered twice.
        let raw = format!(
            "From: {from}\r\nTo: {to}\r\nSubject: Re: {}\r\nIn-Reply-To: <{}>\r\nMessage-ID: <{id}>\r\n\r\n\
             {}\r\nThis is letter {}.\r\n",
            self.to.subject().unwrap_or_default(),
            self.to.message_id().unwrap_or_default(),
            self.words,
            self.number
        );
        servers.deliver(raw.as_bytes(), &from, &to);
        sent.letters.insert(id);
        if random.once_in(4) {
            servers.deliver(format!("X-Copy: yes\r\n{raw}").as_bytes(), &from, &to);
            sent.copies += 1;
        }
    }
}
