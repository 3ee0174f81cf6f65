//! The referee in tests: the whole program in this process, with a database and Maildirs in a temporary folder and a clock
//! that the test moves. Dropping it fails if a dispatch is unsent or a ledger does not verify.

#![allow(dead_code, reason = "each test program uses its own part of the referee")]

#[path = "club.rs"]
pub mod club;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::audit::AuditVerdict;
use fogpost::audit::dossier::DossierForm;
use fogpost::daemon::audit::{self, book, dossier, verify};
use fogpost::daemon::{Holder, NamedAddress, NewMatch, Office, Unseal, clock, instruct, loops};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Line};
use fogpost::letter::Address;
use fogpost::post::{maildir, maildirs::folder_of};
use fogpost::referee::Match;
use fogpost::request::matches_named_in;
use fogpost::store::{LetterRow, LetterStatus};
use mail_parser::{MessageParser, MimeHeaders};
use sqlx::{Connection as _, SqliteConnection};
use tokio::runtime::{Builder, Runtime};

use club::Club;

pub const ANN: &str = "ann@players.example";
pub const BO: &str = "bo@players.example";
pub const GM: &str = "gm@club.example";
pub const REFEREE: &str = "referee@club.example";

const CONFIG: &str = r#"
[club]
name = "The Test Club"
address = "referee@club.example"
[club.gm]
name = "The GM"
address = "gm@club.example"
[database]
url = "sqlite:fogpost.db"
[inbox.maildir]
path = "mail/referee"
[outbox.maildir]
path = "mail"
[match]
zone = "Europe/Berlin"
"#;

/// The time at which the clock of every test starts, on a Thursday.
pub const BEGINNING: &str = "2026-05-07T10:00:00Z";

pub struct Referee {
    runtime: Runtime,
    office: Arc<Office>,
    club: Club,
    now: Arc<Mutex<DateTime<Utc>>>,
    /// The number of letters written so far.
    letters: Cell<u32>,
    /// The number of letters to each address that the test has seen.
    seen: RefCell<BTreeMap<String, usize>>,
    /// The letters read so far, by file, each with the number of its dispatch.
    read: RefCell<BTreeMap<PathBuf, (Option<i64>, Sent)>>,
    /// The addresses whose owners answer questions at once, and the files of those questions.
    answering: RefCell<BTreeSet<String>>,
    hidden: RefCell<BTreeSet<PathBuf>>,
    /// Set by a test that leaves a dispatch unsent or breaks a ledger itself.
    pub untidy: Cell<bool>,
}

/// A letter from the referee, as its reader sees it.
#[derive(Clone, Debug)]
pub struct Sent {
    pub subject: String,
    pub text: String,
    pub html: String,
    pub message_id: String,
    pub reply_to: String,
    pub in_reply_to: Option<String>,
    pub auto_submitted: String,
    pub pictures: usize,
    pub attachments: Vec<(String, String)>,
}

impl Sent {
    /// The reply token of the footer.
    pub fn token(&self) -> &str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("Reply token: "));
        line.expect("a letter to a seat has a reply token")
    }

    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat(&self.text).contains(&flat(words)), "{words:?} is not in:\n{}", self.text);
        self
    }

    #[track_caller]
    pub fn keeps_silent_of(&self, words: &str) -> &Self {
        assert!(!without_match_names(&self.text).contains(words), "{words:?} is in:\n{}", self.text);
        self
    }
}

/// Returns the text without the names of matches, which are drawn at random and may contain the name of a point.
pub fn without_match_names(text: &str) -> String {
    let lines = Line::numbered(&text.lines().collect::<Vec<_>>());
    matches_named_in(&lines).iter().fold(text.to_owned(), |text, name| text.replace(name, ""))
}

/// The raw letter with which the mail program of `from` answers a letter of the referee by itself.
pub fn absence_note(from: &str, to: &Sent) -> String {
    format!(
        "From: {from}\nTo: {}\nSubject: Re: {}\nMessage-ID: <away.{}@players.example>\nIn-Reply-To: <{}>\n\
         Auto-Submitted: auto-replied\n\nI am out of office.\n",
        to.reply_to,
        to.subject,
        to.message_id.replace('@', "."),
        to.message_id
    )
}

impl Referee {
    pub fn new() -> Self {
        Referee::with("")
    }

    /// A referee with additional config that answers for an address; see [`Referee::answer_for`].
    pub fn answering(address: &str, config: &str) -> Self {
        let referee = Referee::with(config);
        referee.answer_for(address);
        referee
    }

    /// A referee with additional config.
    pub fn with(config: &str) -> Self {
        // An outbox in `config` replaces the usual one.
        let usual = match config.contains("[outbox") {
            true => CONFIG.replace("[outbox.maildir]\npath = \"mail\"\n", ""),
            false => CONFIG.to_owned(),
        };
        Referee::of(&format!("{usual}{config}"))
    }

    /// A referee with additional keys in the section `[club]`.
    pub fn with_club(keys: &str) -> Self {
        Referee::of(&CONFIG.replace("[club.gm]", &format!("{keys}[club.gm]")))
    }

    /// A referee with these sections `[[club.gm]]` in place of the only GM.
    pub fn with_gms(sections: &str) -> Self {
        let only = "[club.gm]\nname = \"The GM\"\naddress = \"gm@club.example\"\n";
        assert!(CONFIG.contains(only));
        Referee::of(&CONFIG.replace(only, sections))
    }

    fn of(config: &str) -> Self {
        let club = Club::with(config);
        let now = Arc::new(Mutex::new(BEGINNING.parse().expect("an instant")));
        // With several threads, tasks would wake another thread at every step, and tests take a third more
        // CPU time.
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let office = runtime.block_on(open(&club, &now));
        Referee {
            runtime,
            office,
            club,
            now,
            letters: Cell::new(0),
            seen: RefCell::default(),
            read: RefCell::default(),
            answering: RefCell::default(),
            hidden: RefCell::default(),
            untidy: Cell::new(false),
        }
    }

    /// Restarts the program on the same folder.
    pub fn restart(&mut self) {
        self.restart_after(|_| ());
    }

    /// Restarts the program and runs `work` on the folder in between.
    pub fn restart_after(&mut self, work: impl FnOnce(&Path)) {
        self.runtime.block_on(self.office.close());
        work(self.folder());
        self.office = self.runtime.block_on(open(&self.club, &self.now));
    }

    /// Puts a backup in the place of the database while the program is stopped.
    pub fn restore(&mut self, backup: &Path) {
        let url = self.office().config.database.url.clone();
        self.restart_after(|_| {
            let runtime = Runtime::new().expect("a runtime");
            runtime.block_on(fogpost::store::restore(&url, backup)).expect("restored");
        });
    }

    pub fn folder(&self) -> &Path {
        self.club.folder()
    }

    pub fn office(&self) -> &Office {
        &self.office
    }

    /// The office, for a test that runs its loops.
    pub fn shared_office(&self) -> Arc<Office> {
        Arc::clone(&self.office)
    }

    pub fn office_mut(&mut self) -> &mut Office {
        Arc::get_mut(&mut self.office).expect("no other owner")
    }

    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub fn now(&self) -> DateTime<Utc> {
        *self.now.lock().expect("the clock")
    }

    /// Opens a match between Ann and Bo.
    pub fn open(&self, game: GameKind, options: &[(&str, &str)]) -> Match {
        let seated = |name: &str, address: &str| NamedAddress {
            name: name.to_owned(),
            address: Address::parse(address).expect("an address"),
        };
        let new = NewMatch {
            game,
            choices: game.choose(options.iter().copied()).expect("options of the game"),
            players: BySeat::new(seated("Ann", ANN), seated("Bo", BO)).map(Holder::Player),
            terms: self.office.config.terms.clone(),
        };
        let game_match = self.block_on(instruct::open(&self.office, new)).expect("the match opens");
        self.work();
        game_match
    }

    /// The current state of a match.
    pub fn find(&self, id: &str) -> Match {
        let rows = self.block_on(self.office.store.matches(&[id.to_owned()])).expect("the store answers");
        serde_json::from_str(&rows.first().expect("the match is there").snapshot).expect("a snapshot")
    }

    /// Runs the program once over everything that is due.
    pub fn work(&self) {
        self.block_on(loops::once(&self.office)).expect("the program works");
    }

    /// Moves the clock while the program runs, in steps that are too short to count as an outage.
    pub fn advance(&self, hours: i64) {
        let mut left = hours;
        while left > 0 {
            let step = left.min(2);
            self.sleep(step);
            self.work();
            left -= step;
        }
    }

    /// Moves the clock while the program is down. If that is long, the clock is then confirmed.
    pub fn sleep(&self, hours: i64) {
        self.set_clock(hours);
        if hours.abs() > 24 {
            self.block_on(clock::confirm(&self.office)).expect("the store answers");
        }
    }

    /// Moves the clock while the program is down, and nobody confirms it.
    pub fn set_clock(&self, hours: i64) {
        *self.now.lock().expect("the clock") += TimeDelta::hours(hours);
    }

    /// Delivers a raw letter and runs the program.
    pub fn receive(&self, raw: &str) {
        self.put(raw);
        self.work();
    }

    /// Delivers a raw letter to the mailbox and returns its file.
    pub fn put(&self, raw: &str) -> PathBuf {
        let raw = raw.replace("\r\n", "\n").replace('\n', "\r\n");
        let path = maildir::deliver(&self.club.mailbox(), raw.as_bytes());
        let path = path.expect("it is delivered");
        // The time of receipt is the file's modification time.
        let file = std::fs::File::options().append(true).open(&path).expect("the letter");
        file.set_modified(self.now().into()).expect("its time");
        path
    }

    /// Answers a letter of the referee as `from`, with `body` above the quoted text.
    pub fn reply(&self, from: &str, to: &Sent, body: &str) {
        self.receive(&self.answer(from, to, body));
    }

    /// The raw letter that `reply` sends.
    pub fn answer(&self, from: &str, to: &Sent, body: &str) -> String {
        let quoted: String = to.text.lines().map(|line| format!("> {line}\n")).collect();
        let n = self.letters.replace(self.letters.get() + 1);
        let subject = to.subject.strip_prefix("Re: ").unwrap_or(&to.subject);
        format!(
            "From: {from}\nTo: {}\nSubject: Re: {subject}\nMessage-ID: <{n}@players.example>\nIn-Reply-To: <{}>\n\
             Content-Type: text/plain; charset=utf-8\n\n{body}\n\nThe referee wrote:\n{quoted}",
            to.reply_to, to.message_id
        )
    }

    /// Sends a letter that is not a reply.
    pub fn write(&self, from: &str, body: &str) {
        self.receive(&self.letter(from, body));
        self.answer_question(from);
    }

    /// The raw letter that `write` sends.
    pub fn letter(&self, from: &str, body: &str) -> String {
        let n = self.letters.replace(self.letters.get() + 1);
        format!("From: {from}\nTo: {REFEREE}\nSubject: hello\nMessage-ID: <{n}@players.example>\n\n{body}\n")
    }

    /// Makes `write` answer the question whether a letter from this address was its owner's. The test sees the
    /// answer to that alone.
    pub fn answer_for(&self, address: &str) {
        self.answering.borrow_mut().insert(address.to_owned());
    }

    /// Answers the last letter to an address, if it asks whether its owner wrote some lines.
    pub fn answer_question(&self, from: &str) {
        let address = from.rsplit('<').next().unwrap_or(from).trim_end_matches('>');
        if !self.answering.borrow().contains(address) {
            return;
        }
        let Some(file) = self.files_to(address).pop() else { return };
        let question = self.read.borrow()[&file].1.clone();
        let line = question.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM "));
        let Some(code) = line.filter(|_| question.text.contains("Was it you who wrote this?")) else {
            return;
        };
        self.hidden.borrow_mut().insert(file);
        self.reply(from, &question, &format!("CONFIRM {code}"));
    }

    /// Every letter sent to `address`, sorted by dispatch, because letters are sent in parallel.
    pub fn all_to(&self, address: &str) -> Vec<Sent> {
        let files = self.files_to(address);
        let read = self.read.borrow();
        files.iter().map(|file| read[file].1.clone()).collect()
    }

    /// The bytes of every letter sent to `address`, in the same order.
    pub fn raw_to(&self, address: &str) -> Vec<Vec<u8>> {
        self.files_to(address).iter().map(|file| std::fs::read(file).expect("a letter")).collect()
    }

    /// The files of the letters sent to `address`, in the same order. All of them have been read.
    fn files_to(&self, address: &str) -> Vec<PathBuf> {
        let new = folder_of(&self.club.path("mail"), address).join("new");
        let Ok(listed) = std::fs::read_dir(new) else { return Vec::new() };
        let mut files: Vec<PathBuf> = listed.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| !self.hidden.borrow().contains(file));
        let mut read = self.read.borrow_mut();
        let unread: Vec<_> = files.iter().filter(|file| !read.contains_key(*file)).collect();
        let unread: Vec<_> =
            unread.into_iter().map(|file| (file, sent(&std::fs::read(file).expect("a letter")))).collect();
        let ids: Vec<String> = unread.iter().map(|(_, sent)| sent.message_id.clone()).collect();
        let made = self.block_on(self.office.store.dispatches_named(&ids)).expect("the store answers");
        let made: BTreeMap<String, i64> = made.into_iter().map(|row| (row.message_id, row.id)).collect();
        for (file, sent) in unread {
            read.insert(file.clone(), (made.get(&sent.message_id).copied(), sent));
        }
        files.sort_by_cached_key(|file| read[file].0);
        files
    }

    /// The letters sent to `address` since the last call.
    pub fn sent_to(&self, address: &str) -> Vec<Sent> {
        let all = self.all_to(address);
        let seen = self.seen.borrow_mut().insert(address.to_owned(), all.len()).unwrap_or(0);
        all[seen..].to_vec()
    }

    /// The only letter sent to `address` since the last call.
    #[track_caller]
    pub fn one_to(&self, address: &str) -> Sent {
        let mut new = self.sent_to(address);
        let subjects: Vec<_> = new.iter().map(|sent| sent.subject.clone()).collect();
        assert_eq!(new.len(), 1, "one letter to {address}, not {subjects:?}");
        new.remove(0)
    }

    /// The last letter sent to `address`.
    #[track_caller]
    pub fn last_to(&self, address: &str) -> Sent {
        self.sent_to(address).pop().expect("a letter since the last call")
    }

    /// Changes the database behind the program's back.
    pub fn change_database(&self, sql: &'static str) {
        let url = format!("sqlite:{}", self.folder().join("fogpost.db").display());
        self.block_on(async {
            let mut file = SqliteConnection::connect(&url).await.expect("the database");
            sqlx::raw_sql(sql).execute(&mut file).await.expect("it is changed");
        });
    }

    /// The letters received, newest first.
    pub fn letters(&self) -> Vec<LetterRow> {
        self.block_on(self.office.store.letters(None, None, "", 1000)).expect("the store answers")
    }

    /// The status of the letter that was received last.
    pub fn last_status(&self) -> LetterStatus {
        self.letters().first().expect("a letter came").status
    }

    /// Asserts that nothing waits to be sent, and that every ledger, every book and the club verify.
    pub fn check(&self) {
        let queues = self.block_on(self.office.store.queues()).expect("the store answers");
        assert_eq!(queues.dispatches_waiting, 0, "a dispatch is unsent");
        for id in self.block_on(self.office.store.match_ids()).expect("the store answers") {
            let verdict = self.verify(&id);
            assert!(verdict.is_sound(), "{verdict:#?}");
            assert_eq!(verdict.head, self.find(&id).head, "the head of {id}");
        }
        for id in self.block_on(self.office.store.event_ids()).expect("the store answers") {
            let verdict = self.block_on(book::verify(&self.office, &id)).expect("the store answers");
            assert!(verdict.is_sound(), "{verdict:#?}");
        }
        let verdict = self.block_on(audit::club::verify(&self.office)).expect("the store answers");
        assert!(verdict.is_sound(), "{verdict:#?}");
    }

    /// The GM's reason to see what the rules hide.
    pub fn unseal(&self, reason: &str) -> Unseal {
        let gms = &self.office.config.club.gm;
        Unseal::new(gms, &gms.first().name, reason).expect("a fit reason")
    }

    /// The files of a match's dossier, `unsealed` if the match is running. An arbiter's dossier renews reply tokens;
    /// the letters about that are sent.
    pub fn dossier(
        &self,
        id: &str,
        form: DossierForm,
        unsealed: bool,
    ) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        let asked = unsealed.then(|| self.unseal("a test"));
        let files = self.block_on(dossier::dossier(&self.office, id, form, asked.as_ref()));
        self.work();
        files
    }

    /// Verifies a match against its ledger.
    pub fn verify(&self, id: &str) -> AuditVerdict {
        self.block_on(verify::verify(&self.office, id, &|_| ())).expect("the store answers")
    }
}

impl Drop for Referee {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.untidy.get() {
            self.check();
        }
    }
}

async fn open(club: &Club, now: &Arc<Mutex<DateTime<Utc>>>) -> Arc<Office> {
    let now = Arc::clone(now);
    club.office(move || *now.lock().expect("the clock")).await
}

fn sent(raw: &[u8]) -> Sent {
    let mail = MessageParser::default().parse(raw).expect("our letters can be read");
    let header = |name: &str| mail.header_raw(name).unwrap_or_default().trim().to_owned();
    let is_picture = |part: &&mail_parser::MessagePart<'_>| part.content_id() == Some("board");
    Sent {
        subject: mail.subject().unwrap_or_default().to_owned(),
        text: mail.body_text(0).unwrap_or_default().replace("\r\n", "\n"),
        html: mail.body_html(0).unwrap_or_default().into_owned(),
        message_id: mail.message_id().unwrap_or_default().to_owned(),
        reply_to: mail.reply_to().and_then(|to| to.first()?.address()).unwrap_or_default().to_owned(),
        in_reply_to: mail.in_reply_to().as_text().map(str::to_owned),
        auto_submitted: header("Auto-Submitted"),
        pictures: mail.attachments().filter(is_picture).count(),
        attachments: mail
            .attachments()
            .filter(|part| !is_picture(part))
            .map(|part| {
                let name = part.attachment_name().unwrap_or_default().to_owned();
                (name, String::from_utf8_lossy(part.contents()).into_owned())
            })
            .collect(),
    }
}
