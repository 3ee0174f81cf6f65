//! Runs `audit`, `backup` and `restore` as a person or a script would, on a match that the program itself referees, and
//! checks their output and exit status.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fogpost::post::maildir;
use fogpost::post::maildirs::folder_of;
use mail_parser::MessageParser;
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use crate::club;

const ANN: &str = "ann@players.example";
const BO: &str = "bo@players.example";

/// A club on Maildirs, in whose folder `fogpost` is run.
struct Club(club::Club);

struct Ran(Output);

impl Ran {
    fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).expect("text")
    }

    /// Asserts this exit status and returns the output.
    #[track_caller]
    fn ended(&self, status: i32) -> String {
        let error = String::from_utf8_lossy(&self.0.stderr);
        assert_eq!(self.0.status.code(), Some(status), "{}{error}", self.out());
        self.out()
    }

    /// Asserts that it failed with a single line of error, and returns that line.
    #[track_caller]
    fn fault(&self) -> String {
        let error = String::from_utf8(self.0.stderr.clone()).expect("text");
        assert_eq!((self.0.status.code(), error.lines().count()), (Some(1), 1), "{}{error}", self.out());
        error
    }
}

impl Club {
    fn new() -> Club {
        Club(club::Club::new())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran(self.0.run(arguments))
    }

    /// Runs the daemon until nothing is left to do.
    fn work(&self) {
        self.run(&["run", "--once"]).ended(0);
    }

    fn open(&self) -> String {
        let id = self.0.open("quad", ["Ann <ann@players.example>", "Bo <bo@players.example>"], &[]);
        self.work();
        id
    }

    /// The files of a player's letters about the match, oldest first.
    fn letters_of(&self, player: &str, id: &str) -> Vec<PathBuf> {
        let new = folder_of(&self.path("mail"), player).join("new");
        let paths = fs::read_dir(new).expect("a mailbox").map(|entry| entry.expect("an entry").path());
        let about = |path: &PathBuf| subject(path).contains(id);
        let mut paths: Vec<_> = paths.filter(about).collect();
        let placed = self.places_in_ledger(id);
        paths.sort_by_key(|path| placed.get(&ledger_hash(path)).copied());
        paths
    }

    /// Answers a player's last letter about the match.
    fn answer(&self, player: &str, id: &str, body: &str) {
        let to = self.letters_of(player, id).pop().expect("a letter to be answered");
        let bytes = fs::read(to).expect("a letter");
        let mail = MessageParser::default().parse(&bytes).expect("a letter");
        let raw = format!(
            "From: {player}\r\nTo: referee@club.example\r\nSubject: Re: {}\r\nMessage-ID: <{}@players.example>\r\n\
             In-Reply-To: <{}>\r\nMIME-Version: 1.0\r\n\r\n{}\r\n",
            mail.subject().expect("a subject"),
            body.bytes().fold(5381_u64, |hash, byte| hash.wrapping_mul(33) ^ u64::from(byte)),
            mail.message_id().expect("a Message-ID"),
            body.replace('\n', "\r\n"),
        );
        maildir::deliver(&self.path("mail/referee"), raw.as_bytes()).expect("delivered");
        self.work();
    }

    /// Plays a match of two turns that ends with Bo's resignation.
    fn over(&self) -> String {
        let id = self.open();
        self.answer(ANN, &id, "MARBLE A1");
        self.answer(ANN, &id, "SETTINGS words=off");
        self.answer(ANN, &id, "MARBLE E5\nI hope that this is well");
        self.answer(BO, &id, "TURN 2\nMARBLE A5");
        self.answer(BO, &id, "RESIGN CONFIRM");
        id
    }

    /// The number of each entry of a match, by its hash.
    fn places_in_ledger(&self, id: &str) -> BTreeMap<String, i64> {
        let options = SqliteConnectOptions::new().filename(self.path("fogpost.db"));
        let work = async {
            let mut file = SqliteConnection::connect_with(&options).await?;
            let rows: Vec<(String, i64)> = sqlx::query_as("SELECT hash, seq FROM entry WHERE match_id = $1")
                .bind(id)
                .fetch_all(&mut file)
                .await?;
            file.close().await?;
            Ok::<_, sqlx::Error>(rows)
        };
        let rows = tokio::runtime::Runtime::new().expect("a runtime").block_on(work).expect("SQLite");
        rows.into_iter().collect()
    }

    /// Changes the database behind the program's back, and without its triggers.
    fn cheat(&self, statement: &str) {
        let options = SqliteConnectOptions::new().filename(self.path("fogpost.db"));
        let work = async {
            let mut file = SqliteConnection::connect_with(&options).await?;
            for name in ["entry_is_not_changed", "dispatch_raw_is_not_changed"] {
                sqlx::query(AssertSqlSafe(format!("DROP TRIGGER IF EXISTS {name}")))
                    .execute(&mut file)
                    .await?;
            }
            let done = sqlx::query(AssertSqlSafe(statement.to_owned())).execute(&mut file).await?;
            file.close().await?;
            Ok::<_, sqlx::Error>(done.rows_affected())
        };
        let changed = tokio::runtime::Runtime::new().expect("a runtime").block_on(work).expect("SQLite");
        assert!(changed > 0, "{statement} changes nothing");
    }
}

fn subject(path: &Path) -> String {
    let bytes = fs::read(path).expect("a letter");
    let mail = MessageParser::default().parse(&bytes).expect("a letter");
    mail.subject().unwrap_or_default().to_owned()
}

/// The hash in a letter's ledger line.
fn ledger_hash(path: &Path) -> String {
    let lines = fogpost::audit::witness::in_mail(&fs::read(path).expect("a letter"));
    lines.last().map(|line| line.hash.to_string()).unwrap_or_default()
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

#[test]
fn verify_reports_in_words_in_json_and_by_its_exit_status_whether_a_match_is_sound() {
    let club = Club::new();
    let (id, other) = (club.over(), club.open());
    assert_says(&club.run(&["audit", "verify", &id.to_lowercase()]).ended(0), &[&id, ": sound; "]);
    let all = club.run(&["audit", "verify", "--all", "--json"]).ended(0);
    let verdicts: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let mut ids: Vec<_> = verdicts.iter().filter_map(|verdict| verdict["match"].as_str()).collect();
    ids.sort_unstable();
    let mut all = [id.as_str(), other.as_str()];
    all.sort_unstable();
    assert_eq!(ids, all);
    for verdict in &verdicts {
        let has_entries = verdict["entries"].as_u64() > Some(0) || verdict["club"].is_object();
        assert!(verdict["sound"] == true && has_entries, "{verdict}");
    }
    club.cheat(&format!(
        "UPDATE entry SET json = replace(json, 'MARBLE E5', 'MARBLE E6') WHERE match_id = '{id}' AND kind = 'OrdersSealed'"
    ));
    assert_says(&club.run(&["audit", "verify", &id]).ended(1), &["WRONG", "  entry #", "was changed"]);
    let all = club.run(&["audit", "verify", "--all", "--json"]).ended(1);
    let unsound = all.lines().find(|line| line.contains(r#""sound":false"#)).expect("one is not sound");
    club.run(&["audit", "verify", "Q*", "--report"]).ended(1);
    club.work();
    let new = folder_of(&club.path("mail"), "gm@club.example").join("new");
    let mut letters = fs::read_dir(new).expect("a mailbox").map(|entry| entry.expect("an entry").path());
    let report = letters.find(|path| subject(path) == "1 of 2 checks failed");
    let report = fs::read(report.expect("the GM is told")).expect("a letter");
    let report = fogpost::report::sent::plain_text(&report);
    assert_says(
        &report,
        &["I have made 2 checks", &format!("The ledger of match {id}:"), "entry #", "The others are sound"],
    );
    assert_says(unsound, &[&id, r#""entry":"#, "was changed"]);
    assert_says(&all, &[r#""sound":true"#]);
    assert_says(&club.run(&["audit", "verify", &other]).ended(0), &["sound"]);
    assert_says(&club.run(&["audit", "verify", "QD-0000"]).fault(), &["there is no match QD-0000"]);
    assert_eq!(club.run(&["audit", "verify"]).0.status.code(), Some(2), "no match is named");
}

#[test]
fn a_letter_from_a_players_mailbox_is_compared_with_the_ledger() {
    let club = Club::new();
    let id = club.over();
    let kept = club.letters_of(ANN, &id).pop().expect("the result");
    let mail = kept.display().to_string();
    assert_says(&club.run(&["audit", "verify", "--against", &mail]).ended(0), &[&id, "sound"]);
    assert_says(&club.run(&["audit", "verify", &id, "--against", &mail]).ended(0), &[&id, "sound"]);
    let text = fs::read_to_string(&kept).expect("mail is text");
    let hash = fogpost::audit::witness::in_mail(text.as_bytes())[0].hash.to_string();
    let other = format!("{}{}", &hash[1..], &hash[..1]);
    fs::write(club.path("other.eml"), text.replace(&hash, &other)).expect("written");
    let said = club.run(&["audit", "verify", "--against", "other.eml"]).ended(1);
    assert_says(&said, &["WRONG", "the mail's ledger line ", "not on this chain"]);
    let said = club.run(&["audit", "verify", "--against", &mail, "other.eml"]).ended(1);
    assert_says(&said, &["other.eml: it is not on this chain"]);
    assert!(!said.contains(&format!("{mail}: ")), "{said}");
    fs::write(club.path("deleted.eml"), text.replace(&id, "QD-0000")).expect("written");
    let said = club.run(&["audit", "verify", "--against", &mail, "deleted.eml"]).ended(1);
    assert_says(
        &said,
        &[&format!("{id}: sound"), "QD-0000: WRONG", "there is no such match: it was deleted"],
    );
    fs::write(club.path("none.eml"), "From: x@y.example\r\n\r\nHello\r\n").expect("written");
    let ran = club.run(&["audit", "verify", "--against", &mail, "none.eml"]);
    let named = String::from_utf8_lossy(&ran.0.stderr).into_owned();
    assert_says(&ran.ended(0), &[&format!("{id}: sound")]);
    assert_says(&named, &["none.eml: it has no ledger line"]);
    let ran = club.run(&["audit", "verify", "--against", "none.eml"]);
    let named = String::from_utf8_lossy(&ran.0.stderr).into_owned();
    ran.ended(1);
    assert_says(&named, &["none of these letters has a ledger line"]);
    assert_says(&club.run(&["audit", "verify", "--against", "gone.eml"]).fault(), &["gone.eml"]);
}

#[test]
fn the_account_of_a_turn_fits_a_printed_page() {
    let club = Club::new();
    let id = club.over();
    let page = club.run(&["audit", "show", &id, "--turn", "1"]).ended(0);
    assert_says(&page, &["Turn 1", "Orders of Ann for turn 1 were refused", "I hope that this is well"]);
    assert_says(&page, &["To Bo", "The board after turn 1"]);
    assert!(!page.contains("MARBLE A5"), "that is turn 2: {page}");
    let whole = club.run(&["audit", "show", &id]).ended(0);
    assert_says(&whole, &["Turn 1", "Turn 2", "Turn 3", "MARBLE A5", "The match was closed: RESIGN second."]);
    for line in whole.lines() {
        assert!(line.chars().count() <= 80, "wide: {line}");
        assert_eq!(line, line.trim_end(), "trailing blanks");
    }
    assert_says(&club.run(&["audit", "show", &id, "--turn", "9"]).fault(), &["no turn 9"]);
}

#[test]
fn a_running_match_is_shown_and_exported_only_to_a_gm_who_says_why() {
    let club = Club::new();
    let id = club.open();
    for hidden in [&["audit", "show", &id][..], &["audit", "export", &id, "dossier.zip"]] {
        assert_says(&club.run(hidden).fault(), &[&id, "is not over", "--unseal REASON --gm NAME"]);
    }
    assert!(!club.path("dossier.zip").exists(), "an incomplete dossier is left");
    let asked = ["--unseal", "Bo protests", "--gm", "The GM"];
    let shown = club.run(&[&["audit", "show", &id][..], &asked].concat()).ended(0);
    let shown_before = "What the rules hide was shown: the account. The reason given: Bo protests";
    let joined = |page: &str| page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&joined(&shown), &[shown_before]);
    club.run(&[&["audit", "export", &id, "dossier.zip"][..], &asked].concat()).ended(0);
    let page = club.run(&[&["audit", "show", &id][..], &asked].concat()).ended(0);
    assert_says(&joined(&page), &[shown_before, "was shown: the dossier."]);
    assert_says(&club.run(&["audit", "verify", &id]).ended(0), &["sound"]);
}

/// Unpacks a dossier.
fn unpack(archive: &Path, folder: &Path) {
    let mut zip = zip::ZipArchive::new(fs::File::open(archive).expect("the dossier")).expect("an archive");
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).expect("a file");
        let path = folder.join(file.enclosed_name().expect("a name within the folder"));
        let mut contents = Vec::new();
        file.read_to_end(&mut contents).expect("its contents");
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, contents).expect("written");
    }
}

#[test]
fn an_exported_dossier_is_checked_by_hand_and_by_the_program_without_a_club() {
    let club = Club::new();
    let id = club.over();
    let said = club.run(&["audit", "export", &id, "dossier.zip", "--arbiter"]).ended(0);
    assert_says(
        &said,
        &["dossier.zip: ", " files", "check.py", "CHECK.txt", "tokens in it are no longer valid"],
    );
    let there = fs::read(club.path("dossier.zip")).expect("the dossier");
    let refused = club.run(&["audit", "export", &id, "dossier.zip"]).fault();
    assert_says(&refused, &["dossier.zip: it exists already; name another file"]);
    assert!(fs::read(club.path("dossier.zip")).expect("the dossier") == there, "it is as it was");
    let folder = club.path("unpacked");
    unpack(&club.path("dossier.zip"), &folder);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desk/dossier/check.sh");
    let checked = Command::new(script).arg(&folder).output().expect("bash, sha256sum and jq are there");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));

    let there = tempfile::tempdir().expect("a folder");
    let check = |arguments: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_fogpost"));
        let program = program.args(["audit", "check"]).args(arguments).current_dir(&there);
        Ran(program.output().expect("the program runs"))
    };
    let dossier = club.path("dossier.zip").display().to_string();
    assert_says(&check(&[&dossier]).ended(0), &[&id, ": sound; "]);
    let verdict: Value = serde_json::from_str(&check(&[&dossier, "--json"]).ended(0)).expect("JSON");
    assert!(verdict["sound"] == true && verdict["match"] == id.as_str(), "{verdict}");
    assert_eq!(fs::read_dir(&there).expect("a folder").count(), 0, "it leaves nothing behind");

    let changed = club.path("changed");
    unpack(&club.path("dossier.zip"), &changed);
    let entries = fs::read_to_string(changed.join("entries.jsonl")).expect("text");
    fs::write(changed.join("entries.jsonl"), entries.replace("MARBLE E5", "MARBLE E6")).expect("written");
    pack(&changed, &there.path().join("changed.zip"));
    assert_says(&check(&["changed.zip"]).ended(1), &["WRONG", "entry #"]);
    fs::write(there.path().join("none.zip"), "no archive").expect("written");
    club.run(&["audit", "export", &id, "public.zip"]).ended(0);
    let public = club.path("public.zip").display().to_string();
    for (file, words) in [("none.zip", "none.zip"), ("gone.zip", "gone.zip"), (&public, "a public dossier")] {
        let refused = check(&[file]);
        assert_eq!(refused.ended(2), "");
        assert_says(&String::from_utf8(refused.0.stderr).expect("text"), &[words]);
    }
}

/// Packs the files of a folder as a dossier.
fn pack(folder: &Path, archive: &Path) {
    let mut zip = zip::ZipWriter::new(fs::File::create(archive).expect("a file"));
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(folder).expect("within").display().to_string();
            if path.is_dir() {
                zip.add_directory(name, zip::write::SimpleFileOptions::default()).expect("in the archive");
                folders.push(path);
                continue;
            }
            zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("in the archive");
            zip.write_all(&fs::read(&path).expect("contents")).expect("written");
        }
    }
    zip.finish().expect("written");
}

#[test]
fn a_restore_loses_nothing_and_gives_another_text_another_message_id() {
    let club = Club::new();
    let id = club.open();
    club.answer(ANN, &id, "MARBLE E5");
    assert_says(&club.run(&["backup", "copy.db"]).ended(0), &["copy.db: written"]);
    assert_says(&club.run(&["backup", "copy.db"]).fault(), &["copy.db"]);
    club.answer(BO, &id, "TURN 2\nMARBLE A5");
    let verified = club.run(&["audit", "verify", &id]).ended(0);
    let said = club.run(&["restore", "copy.db"]).ended(0);
    assert_says(&said, &["restored; processed letters will be read again", "The previous database is now"]);
    let doctor = || club.run(&["doctor"]).out();
    assert_says(&doctor(), &["FAULT inbox: ", "lacks 1, so it is older than its mailbox"]);
    let (ann, bo) = (club.letters_of(ANN, &id).len(), club.letters_of(BO, &id).len());
    club.work();
    assert_says(&doctor(), &["ok    inbox: "]);
    // Letters since the backup are ruled on again. The reports name another head of the ledger, because they are made
    // at another time.
    let ids = |player| -> Vec<String> {
        let letters = club.letters_of(player, &id);
        let read = letters.iter().map(|path| fs::read(path).expect("a letter"));
        let id = |bytes: Vec<u8>| MessageParser::default().parse(&bytes)?.message_id().map(str::to_owned);
        read.map(|bytes| id(bytes).expect("a Message-ID")).collect()
    };
    let (ann_now, bo_now) = (ids(ANN), ids(BO));
    assert_eq!(
        (ann_now.len(), bo_now.len()),
        (ann + 1, bo + 1),
        "a report to each, one of them with the receipt"
    );
    for all in [ann_now, bo_now] {
        let mut once = all.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), all.len(), "no mail program takes them for those that were sent before");
    }
    let again = club.run(&["audit", "verify", &id]).ended(0);
    let counts = |said: &str| said.split("(head").next().expect("counts").to_owned();
    assert_eq!(counts(&again), counts(&verified));
    club.work();
    assert_eq!(club.letters_of(ANN, &id).len(), ann + 1, "that was all");
    let again = club.run(&["restore", "copy.db"]).ended(0);
    assert_says(&again, &["The previous database is now fogpost.db.replaced-2"]);
}

#[test]
fn a_backup_without_tables_is_refused_and_the_club_stays_as_it_was() {
    let club = Club::new();
    let id = club.open();
    fs::write(club.path("empty.db"), "").expect("written");
    assert_says(&club.run(&["restore", "missing.db"]).fault(), &["missing.db"]);
    let refused = club.run(&["restore", "empty.db"]).fault();
    assert_says(&refused, &["empty.db", "it has no tables"]);
    assert_says(&club.run(&["match", "list"]).ended(0), &[&id]);
}
