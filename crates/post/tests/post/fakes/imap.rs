//! A mailbox server with an INBOX and a folder for processed letters, which misbehaves as its script says.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::support::PATIENCE;

/// What the server does at a step.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Answers as it should.
    Proper,
    /// Sends this line before it answers as it should.
    First(&'static str),
    /// Answers with these lines; `TAG` stands for the command's tag.
    Instead(&'static str),
    /// Sends this many bytes of the proper answer and closes the connection.
    CloseAfter(usize),
    /// Never answers.
    Hang,
    /// Sends the first text, then repeats the second until the client closes the connection.
    Flood(&'static str, &'static str),
}

/// Maps a step and the number of earlier occurrences of it, over all sessions, to what the server does. A step is the
/// command's word without `UID`, or `GREETING`, `SIZES` (a FETCH of sizes or times only), and during IDLE `BELL` (the server
/// announces a letter) and `DONE`.
type Script = dyn Fn(&str, usize) -> Act + Send + Sync;

/// Letters by UID.
type Folder = BTreeMap<u32, Vec<u8>>;

/// A way in which the server misrepresents a letter.
#[derive(Debug, Clone, Default)]
pub struct Lie {
    /// The body that it sends, instead of the letter, if it is asked for several letters or for a part.
    pub in_part: Option<Vec<u8>>,
    /// The body that it sends if it is asked for this whole letter alone.
    pub alone: Option<Vec<u8>>,
    /// The size that it states.
    pub size: Option<usize>,
    /// Whether ENVELOPE describes the body that it sends, and not the letter.
    pub in_envelope: bool,
}

#[derive(Default)]
pub struct Mail {
    pub uid_validity: u32,
    next_uid: u32,
    pub inbox: Folder,
    /// The folder called `Spam`.
    pub spam: Folder,
    pub processed: Vec<Vec<u8>>,
    pub seen: BTreeSet<u32>,
    deleted: BTreeSet<u32>,
    pub capabilities: &'static str,
    /// The untagged answers to LIST and NAMESPACE.
    pub listing: Vec<&'static str>,
    /// The untagged answers to LIST that is asked for the marks of special folders.
    pub marked: Vec<&'static str>,
    pub namespace: &'static str,
    /// The INTERNALDATE of every letter, except of those below.
    pub arrived: &'static str,
    pub arrivals: BTreeMap<u32, String>,
    /// Letters that the server answers malformed when they are fetched.
    pub malformed: BTreeSet<u32>,
    pub lies: BTreeMap<u32, Lie>,
    /// Whether the server says OK to COPY and MOVE, but does nothing.
    pub loses_copies: bool,
    /// Lines that the server puts in front of a letter that is copied or moved, and then returns to the INBOX.
    pub gives_back: Option<&'static str>,
    /// Whether the processed folder is the INBOX under another name.
    pub is_one_folder: bool,
    /// Whether the server renumbers the INBOX whenever it is selected after the processed folder.
    pub renumbers: bool,
    /// A letter that arrives once EXPUNGE has emptied the INBOX, and gets a number that was used before.
    pub arrives_in_emptied: Option<Vec<u8>>,
    /// Whether copies lose the mark that their letters were seen.
    pub forgets_marks: bool,
    /// Whether SEARCH finds only letters that were there at the last SELECT or NOOP.
    pub searches_what_it_told: bool,
    /// Whether IDLE announces nothing.
    pub is_idle_silent: bool,
    /// Whether the server does not name the UIDs of copies.
    pub is_silent_on_copies: bool,
    /// Letters that are listed but missing from the answer to a FETCH.
    pub ghosts: BTreeSet<u32>,
    /// Every step and every command line, in order.
    pub steps: Vec<String>,
    pub lines: Vec<String>,
    /// Bytes sent by the longest [`Act::Flood`].
    pub flood: usize,
}

impl Mail {
    /// Copies letters to the processed folder, or moves them there, and returns what it says of the copies.
    fn copy(&mut self, uids: Vec<u32>, is_spam: bool, moves: bool) -> Vec<u8> {
        let first = self.processed.len() + 1;
        let named = match self.capabilities.contains("UIDPLUS") && !self.is_silent_on_copies {
            true => copy_uid(&uids, first),
            false => Vec::new(),
        };
        for uid in uids {
            let letter = self.folder(is_spam)[&uid].clone();
            if let Some(lines) = self.gives_back {
                self.add([lines.as_bytes(), &letter].concat());
            }
            // The rule moves what was moved, and copies what was copied.
            if self.gives_back.is_none() || !moves {
                self.processed.push(letter);
            }
            if moves {
                self.folder(is_spam).remove(&uid);
            }
        }
        named
    }

    /// Gives new UIDs to the letters of the INBOX, if this server does so. It does so once.
    fn renumber(&mut self) {
        if std::mem::take(&mut self.renumbers) {
            self.uid_validity += 1;
            let first = self.next_uid;
            let letters = std::mem::take(&mut self.inbox);
            self.next_uid += u32::try_from(letters.len()).expect("few");
            self.inbox = (first..).zip(letters.into_values()).collect();
        }
    }

    fn expunge(&mut self) {
        let deleted = std::mem::take(&mut self.deleted);
        self.inbox.retain(|uid, _| !deleted.contains(uid));
        if self.inbox.is_empty()
            && let Some(uid) = deleted.first()
            && let Some(letter) = self.arrives_in_emptied.take()
        {
            self.inbox.insert(*uid, letter);
        }
    }

    /// Adds a letter to the INBOX.
    fn add(&mut self, letter: Vec<u8>) {
        self.inbox.insert(self.next_uid, letter);
        self.next_uid += 1;
    }

    fn arrived(&self, uid: u32) -> &str {
        self.arrivals.get(&uid).map_or(self.arrived, String::as_str)
    }

    fn folder(&mut self, is_spam: bool) -> &mut Folder {
        if is_spam { &mut self.spam } else { &mut self.inbox }
    }

    pub fn count(&self, step: &str) -> usize {
        self.steps.iter().filter(|s| *s == step).count()
    }
}

pub struct Imap {
    pub port: u16,
    mail: Arc<Mutex<Mail>>,
    /// Tells idling sessions how many letters there are.
    bell: watch::Sender<usize>,
}

impl Imap {
    pub async fn start(script: impl Fn(&str, usize) -> Act + Send + Sync + 'static) -> Imap {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let capabilities = "IMAP4rev1 IDLE MOVE UIDPLUS";
        let arrived = " 7-Nov-2026 09:12:00 +0100";
        let mail = Mail { uid_validity: 7, next_uid: 1, capabilities, arrived, ..Mail::default() };
        let (mail, script) = (Arc::new(Mutex::new(mail)), Arc::new(script));
        let (bell, heard) = watch::channel(0);
        let all = Arc::clone(&mail);
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let session =
                    Session::new(tcp, Arc::clone(&script) as Arc<Script>, Arc::clone(&all), heard.clone());
                // In some tests the client disconnects in the middle of an exchange.
                tokio::spawn(async move { session.run().await.unwrap_or_default() });
            }
        });
        Imap { port, mail, bell }
    }

    pub fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().expect("no panic")
    }

    /// Waits until the mailbox satisfies `is_so`.
    pub async fn until(&self, is_so: impl Fn(&Mail) -> bool) {
        let waiting = async {
            while !is_so(&self.mail()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, waiting).await.expect("in time");
    }

    /// Puts letters into the INBOX and tells idling sessions.
    pub fn deliver(&self, letters: impl IntoIterator<Item = Vec<u8>>) {
        let exists = {
            let mut mail = self.mail();
            for letter in letters {
                mail.add(letter);
            }
            mail.inbox.len()
        };
        self.bell.send_replace(exists);
    }
}

struct Session {
    from: BufReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
    script: Arc<Script>,
    mail: Arc<Mutex<Mail>>,
    bell: watch::Receiver<usize>,
    /// Whether the folder for spam is selected.
    in_spam: bool,
    /// Whether the folder for processed letters is selected.
    in_processed: bool,
    /// The UID that the next letter had at the last SELECT or NOOP.
    told: u32,
}

impl Session {
    fn new(
        tcp: TcpStream,
        script: Arc<Script>,
        mail: Arc<Mutex<Mail>>,
        bell: watch::Receiver<usize>,
    ) -> Session {
        let (from, to) = tcp.into_split();
        let from = BufReader::new(from);
        Session { from, to, script, mail, bell, in_spam: false, in_processed: false, told: 0 }
    }

    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().expect("no panic")
    }

    async fn run(mut self) -> io::Result<()> {
        self.answer("GREETING", "*", b"* OK fake ready\r\n".to_vec()).await?;
        loop {
            let Some(line) = self.line().await? else { return Ok(()) };
            self.mail().lines.push(line.clone());
            let (tag, command) = line.split_once(' ').unwrap_or(("*", ""));
            let mut words = command.split(' ');
            let first = words.next().unwrap_or_default();
            let (step, rest) = match first {
                "UID" => (words.next().unwrap_or_default(), words.collect::<Vec<_>>()),
                first => (first, words.collect()),
            };
            match step {
                "IDLE" => self.idle(tag).await?,
                // The command came without the client's first message (RFC 4959), so the server asks for it.
                "AUTHENTICATE" if rest.len() == 1 => {
                    self.to.write_all(b"+ \r\n").await?;
                    let message = self.line().await?.unwrap_or_default();
                    self.mail().lines.push(message);
                    let answer = format!("{tag} OK welcome\r\n").into_bytes();
                    self.answer("AUTHENTICATE", tag, answer).await?;
                }
                step => {
                    let step =
                        if step == "FETCH" && !rest.contains(&"INTERNALDATE") { "SIZES" } else { step };
                    if step == "SEARCH" {
                        // The client learns of the earlier letters from this answer.
                        self.bell.mark_unchanged();
                    }
                    if step == "SELECT" {
                        self.in_spam = rest == ["\"Spam\""];
                        let was_in_processed = self.in_processed;
                        self.in_processed = rest == ["\"Processed\""] && !self.mail().is_one_folder;
                        if was_in_processed && !self.in_processed {
                            self.mail().renumber();
                        }
                    }
                    if matches!(step, "SELECT" | "NOOP") {
                        let next = self.mail().next_uid;
                        self.told = next;
                    }
                    let mut answer = Vec::new();
                    if !matches!(self.act(step), Act::Instead(_) | Act::Hang | Act::Flood(..)) {
                        answer = self.proper(step, &rest);
                        answer.extend_from_slice(format!("{tag} OK done\r\n").as_bytes());
                    }
                    self.answer(step, tag, answer).await?;
                }
            }
        }
    }

    async fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = self.from.read_line(&mut line).await?;
        Ok((read > 0).then(|| line.trim_end().to_owned()))
    }

    /// Does what the command asks for and returns the untagged lines of the proper answer.
    fn proper(&self, step: &str, rest: &[&str]) -> Vec<u8> {
        let mut mail = self.mail();
        let is_spam = self.in_spam;
        let exists = mail.folder(is_spam).len();
        match step {
            "CAPABILITY" => format!("* CAPABILITY {}\r\n", mail.capabilities).into_bytes(),
            "LIST" => match rest {
                [.., last] if last.contains("SPECIAL-USE") => &mail.marked,
                _ => &mail.listing,
            }
            .iter()
            .map(|line| format!("{line}\r\n"))
            .collect::<String>()
            .into_bytes(),
            "NAMESPACE" => format!("{}\r\n", mail.namespace).into_bytes(),
            "SELECT" if self.in_processed => {
                let exists = mail.processed.len();
                format!("* {exists} EXISTS\r\n* OK [UIDVALIDITY 9] ok\r\n").into_bytes()
            }
            "SELECT" => {
                let (validity, next) = (mail.uid_validity, mail.next_uid);
                let text = format!(
                    "* {exists} EXISTS\r\n* 0 RECENT\r\n* OK [UIDVALIDITY {validity}] ok\r\n* OK [UIDNEXT {next}] ok\r\n"
                );
                text.into_bytes()
            }
            "SEARCH" => self.search(&mail, rest),
            "SIZES" if self.in_processed => {
                let folder = numbered(&mail.processed);
                sizes(&mail, &folder, rest)
            }
            "SIZES" => {
                let folder = mail.folder(is_spam).clone();
                sizes(&mail, &folder, rest)
            }
            "FETCH" => {
                let uids = members(rest[0], mail.folder(is_spam));
                fetch(&mail, is_spam, &uids, rest)
            }
            "STORE" => {
                let uids = members(rest[0], mail.folder(is_spam));
                let deleted = rest.last().is_some_and(|flags| flags.contains("Deleted"));
                if deleted {
                    mail.deleted.extend(uids)
                } else if rest[1].starts_with('-') {
                    mail.seen.retain(|uid| !uids.contains(uid))
                } else {
                    mail.seen.extend(uids)
                }
                Vec::new()
            }
            "COPY" | "MOVE" if mail.loses_copies => Vec::new(),
            "MOVE" | "COPY" => {
                let uids = members(rest[0], mail.folder(is_spam));
                mail.copy(uids, is_spam, step == "MOVE")
            }
            "EXPUNGE" => {
                mail.expunge();
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn search(&self, mail: &Mail, query: &[&str]) -> Vec<u8> {
        let is_seen = query == ["SEEN"];
        let of_inbox = |is_found: &dyn Fn(&u32) -> bool| -> Folder {
            let found = mail.inbox.iter().filter(|(uid, _)| is_found(uid));
            found.map(|(uid, letter)| (*uid, letter.clone())).collect()
        };
        if self.in_processed && is_seen && mail.forgets_marks {
            list(&Folder::new(), query)
        } else if self.in_processed {
            list(&numbered(&mail.processed), query)
        } else if is_seen {
            list(&of_inbox(&|uid| mail.seen.contains(uid)), query)
        } else if mail.searches_what_it_told {
            list(&of_inbox(&|uid| *uid < self.told), query)
        } else {
            list(if self.in_spam { &mail.spam } else { &mail.inbox }, query)
        }
    }

    /// What the script says to do at this step.
    fn act(&self, step: &str) -> Act {
        (self.script)(step, self.mail().count(step))
    }

    async fn idle(&mut self, tag: &str) -> io::Result<()> {
        self.answer("IDLE", tag, b"+ idling\r\n".to_vec()).await?;
        loop {
            tokio::select! {
                // Dovecot also sends this, but less often. It must not extend the client's wait.
                () = tokio::time::sleep(Duration::from_millis(100)) => {
                    self.to.write_all(b"* OK Still here\r\n").await?;
                }
                changed = self.bell.changed() => {
                    changed.map_err(io::Error::other)?;
                    let exists = *self.bell.borrow_and_update();
                    if self.mail().is_idle_silent {
                        continue;
                    }
                    self.answer("BELL", tag, format!("* {exists} EXISTS\r\n").into_bytes()).await?;
                }
                line = async {
                    let mut line = String::new();
                    self.from.read_line(&mut line).await.map(|_| line)
                } => {
                    if line? != "DONE\r\n" {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                    return self.answer("DONE", tag, format!("{tag} OK idled\r\n").into_bytes()).await;
                }
            }
        }
    }

    async fn answer(&mut self, step: &str, tag: &str, proper: Vec<u8>) -> io::Result<()> {
        let act = self.act(step);
        self.mail().steps.push(step.to_owned());
        match act {
            Act::Proper => self.to.write_all(&proper).await,
            Act::First(line) => {
                self.to.write_all(format!("{line}\r\n").as_bytes()).await?;
                self.to.write_all(&proper).await
            }
            Act::Instead(text) => {
                self.to.write_all(format!("{}\r\n", text.replace("TAG", tag)).as_bytes()).await
            }
            Act::CloseAfter(bytes) => {
                self.to.write_all(&proper[..bytes.min(proper.len())]).await?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Act::Hang => std::future::pending().await,
            Act::Flood(start, text) => self.flood(start, text).await,
        }
    }

    async fn flood(&mut self, start: &str, text: &str) -> io::Result<()> {
        self.to.write_all(start.as_bytes()).await?;
        let chunk = text.repeat(64 * 1024 / text.len());
        let mut sent = 0;
        loop {
            self.to.write_all(chunk.as_bytes()).await?;
            sent += chunk.len();
            let mut mail = self.mail();
            mail.flood = mail.flood.max(sent);
        }
    }
}

/// Answers `ALL` and `HEADER Message-ID "…"`.
fn list(folder: &Folder, query: &[&str]) -> Vec<u8> {
    let id = query.get(2).map_or("", |id| id.trim_matches('"'));
    let found = folder.iter().filter(|(_, letter)| String::from_utf8_lossy(letter).contains(id));
    let uids: Vec<String> = found.map(|(uid, _)| uid.to_string()).collect();
    format!("* SEARCH {}\r\n", uids.join(" ")).into_bytes()
}

/// Letters with their places as UIDs.
fn numbered(letters: &[Vec<u8>]) -> Folder {
    (1..).zip(letters.iter().cloned()).collect()
}

/// The code that names the UIDs of copies (RFC 4315, 3).
fn copy_uid(uids: &[u32], first: usize) -> Vec<u8> {
    let sources: Vec<String> = uids.iter().map(ToString::to_string).collect();
    let last = first + uids.len() - 1;
    format!("* OK [COPYUID 9 {} {first}:{last}] copied\r\n", sources.join(",")).into_bytes()
}

fn sizes(mail: &Mail, folder: &Folder, query: &[&str]) -> Vec<u8> {
    let has_envelope = query.iter().any(|item| item.starts_with("ENVELOPE"));
    let line = |(i, uid): (usize, &u32)| {
        let letter = &folder[uid];
        let envelope = if has_envelope { envelope(letter) } else { String::new() };
        let (size, arrived) = (letter.len(), mail.arrived(*uid));
        format!("* {} FETCH (UID {uid} {envelope}RFC822.SIZE {size} INTERNALDATE \"{arrived}\")\r\n", i + 1)
    };
    members(query[0], folder).iter().enumerate().map(line).collect::<String>().into_bytes()
}

/// The last word of the query is `BODY.PEEK[]<0.10001>)` or `BODY.PEEK[])`.
fn fetch(mail: &Mail, is_spam: bool, uids: &[u32], query: &[&str]) -> Vec<u8> {
    let folder = if is_spam { &mail.spam } else { &mail.inbox };
    let part = query[query.len() - 1].strip_prefix("BODY.PEEK[]").expect("a body is asked for");
    let number = part.strip_prefix("<0.").map(|part| part.trim_end_matches(">)").parse().expect("a number"));
    let mut answer = Vec::new();
    for (i, uid) in uids.iter().enumerate().filter(|(_, uid)| !mail.ghosts.contains(uid)) {
        if mail.malformed.contains(uid) {
            answer.extend_from_slice(b"* 1 FETCH (UID what RFC822.SIZE ((\r\n");
            continue;
        }
        let letter = &folder[uid];
        let lie = mail.lies.get(uid).cloned().unwrap_or_default();
        let is_alone = number.is_none() && uids.len() == 1;
        let body = if is_alone { lie.alone } else { lie.in_part }.unwrap_or_else(|| letter.clone());
        let sent = &body[..body.len().min(number.unwrap_or(usize::MAX))];
        let described = if lie.in_envelope { &body } else { letter };
        let envelope = if query.contains(&"ENVELOPE") { envelope(described) } else { String::new() };
        let head = format!(
            "* {} FETCH (UID {uid} RFC822.SIZE {} INTERNALDATE \"{}\" {envelope}BODY[]<0> {{{}}}\r\n",
            i + 1,
            lie.size.unwrap_or(letter.len()),
            mail.arrived(*uid),
            sent.len()
        );
        answer.extend_from_slice(head.as_bytes());
        answer.extend_from_slice(sent);
        answer.extend_from_slice(b")\r\n");
    }
    answer
}

/// The ENVELOPE of a letter, without its addresses.
fn envelope(letter: &[u8]) -> String {
    let text = String::from_utf8_lossy(letter).into_owned();
    let field = |name: &str| {
        let value = text.lines().take_while(|line| !line.is_empty()).find_map(|line| line.strip_prefix(name));
        value.map_or("NIL".to_owned(), |value| format!("\"{}\"", value.trim()))
    };
    let (date, subject, id) = (field("Date:"), field("Subject:"), field("Message-ID:"));
    format!("ENVELOPE ({date} {subject} NIL NIL NIL NIL NIL NIL NIL {id}) ")
}

/// The UIDs in the folder that a sequence set names.
fn members(set: &str, folder: &Folder) -> Vec<u32> {
    let number = |text: &str| text.parse::<u32>().expect("a UID");
    let mut uids = Vec::new();
    for part in set.split(',') {
        let (first, last) = part.split_once(':').unwrap_or((part, part));
        uids.extend(folder.range(number(first)..=number(last)).map(|(uid, _)| *uid));
    }
    uids
}
