//! What the program stands on: files that only their owner may read, input of limited size, a database server that proves
//! who it is, and a terminal on which nobody else draws.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{CONFIG, Folder, LETTER, Ran, assert_says};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap_or_else(|_| panic!("{}", path.display())).permissions().mode() & 0o777
}

impl Folder {
    /// Runs a command under this umask.
    fn run_under(&self, umask: &str, arguments: &str) -> Ran {
        let program = env!("CARGO_BIN_EXE_fogpost");
        let script = format!("umask {umask}; exec {program} {arguments}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(self.0.folder()).env_remove("FOGPOST_CONFIG");
        Ran(shell.output().expect("sh runs"))
    }
}

#[test]
fn files_with_secrets_are_made_for_their_owner_alone_whatever_the_umask_is() {
    for umask in ["000", "022", "077"] {
        let folder = Folder::empty();
        folder.run_under(umask, "init").success();
        assert_eq!(mode(&folder.path("config.toml")), 0o600, "{umask}");
        folder.write("config.toml", CONFIG);
        let id = folder.run_under(umask, "match new quad ann@players.example bo@players.example --json");
        let id: Value = serde_json::from_str(&id.success()).expect("JSON");
        let id = id["match"].as_str().expect("a name");
        folder.run_under(umask, "run --once").success();
        folder.run_under(umask, "backup copy.db").success();
        folder.run_under(umask, &format!("match abandon {id}")).success();
        folder.run_under(umask, &format!("audit export {id} dossier.zip")).success();
        folder.run_under(umask, "db move sqlite:fogpost.db sqlite:moved.db").success();
        // A backup that somebody has opened to others does not stay so.
        fs::set_permissions(folder.path("copy.db"), fs::Permissions::from_mode(0o644)).expect("ours");
        folder.run_under(umask, "restore copy.db").success();
        fs::remove_file(folder.path("copy.db")).expect("ours");
        let made: Vec<_> = fs::read_dir(folder.0.folder()).expect("the folder").flatten().collect();
        let names: Vec<String> =
            made.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        for name in ["fogpost.db", "fogpost.db.replaced", "moved.db", "dossier.zip", "fogpost.db.lock"] {
            assert!(names.iter().any(|found| found == name), "{name} is not among {names:?}");
        }
        for entry in made.iter().filter(|entry| entry.path().is_file()) {
            assert_eq!(mode(&entry.path()), 0o600, "{umask}: {}", entry.path().display());
        }
    }
}

#[test]
fn a_site_that_cannot_be_built_is_a_fault_and_keeps_no_letter_from_being_sent() {
    let folder = Folder::club();
    folder.write("config.toml", &format!("{CONFIG}[site]\nfolder = \"www/site\"\n"));
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o700)).expect("ours");
    let id = folder.open();
    folder.run(&["match", "abandon", &id]).success();
    assert_says(&folder.run(&["doctor"]).success(), &["www/site; the daemon has not built it yet"]);
    folder.run_under("077", "run --once").success();
    assert!(folder.path(&format!("www/site/matches/{id}/index.html")).is_file());
    // Any web server can read it, whatever the umask is.
    for (path, wanted) in [("www", 0o755), ("www/site/matches", 0o755), ("www/site/index.html", 0o644)] {
        assert_eq!(mode(&folder.path(path)), wanted, "{path}");
    }
    assert_says(&folder.run(&["status"]).success(), &["site built"]);
    assert_says(&folder.run(&["doctor"]).success(), &["www/site, built ", "others cannot enter"]);
    fs::rename(folder.path("www/site"), folder.path("moved")).expect("moved");
    symlink(folder.path("moved"), folder.path("www/site")).expect("a link");
    folder.run_with(&["receive"], LETTER).success();
    let ran = folder.run(&["run", "--once"]);
    ran.success();
    assert_says(&ran.stderr(), &["failed to build the site"]);
    let unsent = folder.run(&["letters", "--unsent"]).success();
    assert_eq!(unsent.lines().count(), 1, "only the head of the table: {unsent}");
    for (command, wrong) in [("status", "WRONG"), ("doctor", "FAULT site")] {
        let ran = folder.run(&[command]);
        assert_eq!(ran.status(), 1);
        assert_says(&ran.stdout(), &[wrong, "the site has not been built for", "is a link or no folder"]);
    }
    fs::remove_file(folder.path("www/site")).expect("a link");
    folder.run(&["run", "--once"]).success();
    folder.run(&["status"]).success();
}

#[test]
fn what_root_restores_and_makes_belongs_to_the_owner_of_the_club() {
    let owner = |path: &Path| fs::metadata(path).map(|found| (found.uid(), found.gid())).expect("a file");
    // Only root can give a file away.
    if owner(Path::new("/proc/self")).0 != 0 {
        return;
    }
    let folder = Folder::club();
    folder.open();
    folder.run(&["backup", "copy.db"]).success();
    let owners = [("", 4711), ("fogpost.db", 4712)];
    for (name, id) in owners {
        chown(folder.path(name), Some(id), Some(id)).expect("we are root");
    }
    fs::remove_file(folder.path("fogpost.db.lock")).ok();
    folder.run(&["restore", "copy.db"]).success();
    folder.run(&["backup", "again.db"]).success();
    for (name, id) in [("fogpost.db", 4712), ("fogpost.db.lock", 4711), ("again.db", 4711)] {
        assert_eq!(owner(&folder.path(name)), (id, id), "{name}");
    }
    // What a single run makes: the processed letters, answers and a site.
    folder.write("config.toml", &format!("{CONFIG}[site]\nfolder = \"www/site\"\n"));
    folder.write("letter", LETTER);
    let deliver = "mkdir -p mail/referee/new && mv letter mail/referee/new/1.a.b && chown -R 4711:4711 .";
    let mut shell = Command::new("sh");
    assert!(shell.args(["-c", deliver]).current_dir(folder.path("")).status().expect("a shell").success());
    folder.run(&["run", "--once"]).success();
    let mut folders = vec![folder.path("")];
    let mut files = 0;
    while let Some(path) = folders.pop() {
        assert_eq!(owner(&path), (4711, 4711), "{}", path.display());
        if path.is_dir() {
            folders
                .extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        }
        files += 1;
    }
    assert!(files > 20, "{files}");
}

/// The bytes of a TZif file, RFC 9636, whose zone is always `hours` ahead of UTC.
fn tzif(hours: i32) -> Vec<u8> {
    let mut block = b"TZif2".to_vec();
    block.extend([0; 15]);
    for count in [0, 0, 0, 0, 1, 4_u32] {
        block.extend(count.to_be_bytes());
    }
    block.extend((hours * 3600).to_be_bytes());
    block.extend(*b"\0\0NEW\0");
    [block.clone(), block, format!("\nNEW-{hours}\n").into_bytes()].concat()
}

#[test]
fn zone_data_of_the_system_are_used_if_they_are_newer_and_whole() {
    let folder = Folder::club();
    folder.write("config.toml", &format!("{CONFIG}[match]\nzone = \"Europe/Berlin\"\n"));
    folder.open();
    fs::create_dir_all(folder.path("zones/Europe")).expect("a folder");
    fs::write(folder.path("zones/Europe/Berlin"), tzif(9)).expect("a file");
    let run = |edition: &str, arguments: &[&str]| {
        let list = format!("# version {edition}\nZ Europe/Berlin 9 - NEW\nL Europe/Berlin Europe/Old\n");
        fs::write(folder.path("zones/tzdata.zi"), list).expect("a file");
        let mut command = folder.0.command(arguments);
        Ran(command.env("TZDIR", folder.path("zones")).output().expect("it runs"))
    };
    assert_says(&run("2001a", &["--version"]).success(), &["compiled in"]);
    assert_says(&run("2001a", &["match", "list"]).success(), &["CE"]);
    assert_says(&run("2999b", &["--version"]).success(), &["(zone data 2999b, of the system)"]);
    assert_says(&run("2999b", &["match", "list"]).success(), &["NEW"]);
    assert_says(&run("2999b", &["doctor"]).success(), &["ok    zones: edition 2999b, of the system"]);
    fs::write(folder.path("zones/Europe/Berlin"), &tzif(9)[..60]).expect("a file");
    let doctor = run("2999b", &["doctor"]).success();
    assert_says(
        &doctor,
        &["WARN  zones: the system's are not used", "Europe/Berlin is damaged", "compiled in"],
    );
}

#[test]
fn the_folder_of_a_club_may_have_any_name() {
    let club = Folder::empty();
    let name = "100%3F who? & co";
    let config = format!("{name}/config.toml");
    fs::create_dir(club.path(name)).expect("a folder");
    club.write(&config, CONFIG);
    club.run(&["--config", &config, "match", "new", "quad", "ann@players.example", "bo@players.example"])
        .success();
    assert!(club.path(name).join("fogpost.db").is_file());
    let copy = format!("{name}/copy.db");
    club.run(&["--config", &config, "backup", &copy]).success();
    club.run(&["--config", &config, "restore", &copy]).success();
    assert_says(&club.run(&["--config", &config, "match", "list"]).success(), &["ann"]);
    assert_eq!(fs::read_dir(club.0.folder()).expect("the folder").count(), 1);
    fs::set_permissions(club.path(name).join("fogpost.db"), fs::Permissions::from_mode(0o644)).expect("ours");
    assert_says(
        &club.run(&["--config", &config, "doctor"]).stdout(),
        &["others may read", "fogpost.db (mode 644)"],
    );
}

#[test]
fn the_log_of_an_open_database_is_for_its_owner_alone() {
    let folder = Folder::club();
    folder.run_under("000", "match list").success();
    let url = SqliteConnectOptions::new().filename(folder.path("fogpost.db"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut open = runtime.block_on(SqliteConnection::connect_with(&url)).expect("the database");
    runtime.block_on(sqlx::query("SELECT * FROM player").execute(&mut open)).expect("a table");
    folder.run_under("000", "match new quad ann@players.example bo@players.example").success();
    for end in ["-wal", "-shm"] {
        assert_eq!(mode(&folder.path(&format!("fogpost.db{end}"))), 0o600, "{end}");
    }
}

#[test]
fn doctor_names_every_file_that_others_may_read() {
    let folder = Folder::club();
    let healthy = folder.run(&["doctor"]).success();
    assert_says(&healthy, &["ok    files: config, passwords, database and backups are private to this user"]);
    for (name, permissions) in [("config.toml", 0o640), ("fogpost.db", 0o604)] {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(permissions)).expect("ours");
    }
    let ran = folder.run(&["doctor"]);
    assert_eq!(ran.status(), 1);
    assert_says(
        &ran.stdout(),
        &[
            "FAULT files: others may read config.toml (mode 640), fogpost.db (mode 604); run: chmod 600 config.toml",
        ],
    );
}

#[test]
fn doctor_names_a_backup_that_others_may_read_whatever_its_name_is() {
    let folder = Folder::club();
    folder.run(&["backup", "monday"]).success();
    fs::set_permissions(folder.path("monday"), fs::Permissions::from_mode(0o644)).expect("ours");
    assert_says(&folder.run(&["doctor"]).stdout(), &["FAULT files: others may read monday (mode 644)"]);
}

#[test]
fn doctor_sends_a_letter_and_says_where_it_arrived_and_what_the_server_says_of_it() {
    let folder = Folder::club();
    let into_itself = CONFIG.replace("path = \"mail/referee\"", "path = \"mail/referee@club.example\"");
    folder.write("config.toml", &into_itself);
    for part in ["tmp", "new", "cur"] {
        fs::create_dir_all(folder.path("mail/referee@club.example").join(part)).expect("a folder");
    }
    let said = folder.run(&["doctor", "--send"]).success();
    assert_says(&said, &["ok    send: back after", "seconds, in", "referee@club.example"]);
    assert_says(&said, &["WARN  send: the receiving server says nothing about SPF, DKIM and DMARC"]);
    assert!(!said.contains("dns"), "nobody is asked about a reserved domain: {said}");
    // A mailbox that the letters to the club's address do not reach.
    folder.write("config.toml", CONFIG);
    let ran = folder.run(&["doctor", "--send", "--wait", "1"]);
    assert_eq!(ran.status(), 1);
    assert_says(
        &ran.stdout(),
        &["FAULT send: the mail server accepted the letter, but it is not in the mailbox"],
    );
}

#[test]
fn doctor_says_which_port_speaks_which_kind_of_tls() {
    let folder = Folder::club();
    let imap = "[inbox.imap]\nhost = \"127.0.0.1\"\nuser = \"gm\"\npassword = \"x\"\ntimeout_seconds = 1\n";
    let smtp = "[outbox.smtp]\nhost = \"127.0.0.1\"\ntimeout_seconds = 1\n";
    for (section, setting, words) in [
        (
            imap,
            "port = 143\n",
            "port 143 begins without TLS: set inbox.imap.tls = \"starttls\", or port = 993",
        ),
        (imap, "port = 993\ntls = \"starttls\"\n", "port 993 speaks TLS from the start"),
        (
            smtp,
            "port = 587\n",
            "port 587 begins without TLS: set outbox.smtp.tls = \"starttls\", or port = 465",
        ),
        (smtp, "port = 465\ntls = \"starttls\"\n", "port 465 speaks TLS from the start"),
    ] {
        let usual = if section == imap {
            "[inbox.maildir]\npath = \"mail/referee\"\n"
        } else {
            "[outbox.maildir]\npath = \"mail\"\n"
        };
        folder.write("config.toml", &CONFIG.replace(usual, &format!("{section}{setting}")));
        let ran = folder.run(&["doctor"]);
        assert_eq!(ran.status(), 1);
        assert_says(&ran.stdout(), &[words]);
    }
}

#[test]
fn a_database_server_elsewhere_must_prove_who_it_is() {
    let folder = Folder::club();
    let url = |url: &str, more: &str| {
        folder.write("config.toml", &format!("{CONFIG}[database]\nurl = \"{url}\"\n{more}"));
        folder.run(&["match", "list"]).failure(1)
    };
    for unverified in ["", "?sslmode=require", "?sslmode=verify-ca", "?sslmode=disable"] {
        let said = url(&format!("postgres://me:hunter2@db.invalid:1/club{unverified}"), "");
        assert_says(
            &said,
            &["config.toml: database.url", "db.invalid", "sslmode=verify-full", "allow_unverified_tls"],
        );
        assert!(!said.contains("hunter2"), "{said}");
    }
    for (fine, more) in [
        ("postgres://me@db.invalid:1/club?sslmode=verify-full", ""),
        ("postgres://me@db.invalid:1/club", "allow_unverified_tls = true\n"),
        ("postgres://me@127.0.0.1:1/club", ""),
        ("postgres://me@localhost/club?host=/nowhere", ""),
    ] {
        assert_says(&url(fine, more), &["cannot be opened"]);
    }
    let moved = folder.run(&["db", "move", "sqlite:fogpost.db", "postgres://me:hunter2@db.invalid/club"]);
    assert_says(&moved.failure(1), &["db.invalid", "sslmode=verify-full", "--allow-unverified-tls"]);
}

#[test]
fn a_full_disk_makes_the_status_red_and_leaves_letters_with_the_mail_server() {
    let folder = Folder::club();
    let floor = "[database]\nmin_free_mb = 1000000000000\n";
    folder.write("config.toml", &format!("{CONFIG}{floor}"));
    let kept = folder.run_with(&["receive"], LETTER);
    assert_says(&kept.failure(75), &["MB are free, less than database.min_free_mb"]);
    assert_eq!(folder.run(&["letters", "--json"]).success(), "");
    let once = folder.run(&["run", "--once"]);
    assert_eq!(once.status(), 1);
    assert_says(&once.stderr(), &["(database.min_free_mb), so the mailbox was not read"]);
    assert_says(&folder.run(&["status"]).stdout(), &["free space", "WRONG         only", "min_free_mb"]);
    assert_says(
        &folder.run(&["doctor"]).stdout(),
        &["FAULT database: only", "less than database.min_free_mb"],
    );
    folder.write("config.toml", CONFIG);
    folder.run_with(&["receive"], LETTER).success();
    assert_eq!(folder.run(&["letters", "--json"]).success().lines().count(), 1);
}

#[test]
fn a_letter_is_tried_without_any_effect() {
    let folder = Folder::club();
    folder.run_with(&["receive"], LETTER).success();
    let before = folder.run(&["letters", "--json"]).success();
    let letter: serde_json::Value = serde_json::from_str(&before).expect("JSON");
    folder.run(&["letters", "try", letter["letter"].as_str().expect("a digest")]).success();
    assert_eq!(folder.run(&["letters", "--json"]).success(), before);
    assert_says(&folder.run(&["letters", "try", &"0".repeat(64)]).failure(1), &["there is no such letter"]);
}

/// Writes an archive of files that hold this many zeros each.
fn bomb(folder: &Folder, name: &str, files: usize, zeros: usize) {
    let mut zip = ZipWriter::new(File::create(folder.path(name)).expect("a file"));
    let chunk = vec![0; 1024 * 1024];
    for number in 0..files {
        zip.start_file(format!("letters/{number}.eml"), SimpleFileOptions::default())
            .expect("in the archive");
        let mut left = zeros;
        while left > 0 {
            let length = left.min(chunk.len());
            zip.write_all(&chunk[..length]).expect("written");
            left -= length;
        }
    }
    zip.finish().expect("written");
}

#[test]
fn a_dossier_that_would_fill_the_memory_is_refused_before_it_is_unpacked() {
    let folder = Folder::club();
    bomb(&folder, "zeros.zip", 10, 100 * 1024 * 1024);
    let size = fs::metadata(folder.path("zeros.zip")).expect("there").len();
    assert!(size < 2 * 1024 * 1024, "{size} bytes");
    let refused = folder.run(&["audit", "check", "zeros.zip"]).failure(2);
    assert_says(&refused, &["zeros.zip: it unpacks to more than 256 MB"]);
    bomb(&folder, "many.zip", 20_001, 0);
    assert_says(&folder.run(&["audit", "check", "many.zip"]).failure(2), &["it holds more than 20000 files"]);
    // What the archive claims is not believed either: here, that each file is empty.
    let mut archive = fs::read(folder.path("zeros.zip")).expect("there");
    let entries: Vec<usize> =
        archive.windows(4).enumerate().filter(|(_, four)| four == b"PK\x01\x02").map(|(at, _)| at).collect();
    for at in entries {
        archive[at + 24..at + 28].fill(0);
    }
    fs::write(folder.path("lies.zip"), archive).expect("written");
    let refused = folder.run(&["audit", "check", "lies.zip"]).failure(2);
    assert_says(
        &refused,
        &["letters/0.eml is damaged, or its length is not the one that the archive states"],
    );
    // A link would be followed by whoever unpacks it.
    let mut zip = ZipWriter::new(File::create(folder.path("link.zip")).expect("a file"));
    zip.add_symlink("entries.jsonl", "/dev/zero", SimpleFileOptions::default()).expect("in the archive");
    zip.finish().expect("written");
    let refused = folder.run(&["audit", "check", "link.zip"]).failure(2);
    assert_says(&refused, &["link.zip: entries.jsonl is a link or a device, not a file"]);
}

#[test]
fn files_beyond_a_sensible_size_are_not_read() {
    let folder = Folder::club();
    let id = folder.open();
    // A hole of 100 GB, which no memory could hold.
    let mut hole = File::create(folder.path("hole")).expect("a file");
    hole.seek(SeekFrom::Start(100_000_000_000)).expect("a hole");
    hole.write_all(b"x").expect("its end");
    for arguments in [
        &["match", "new", "--from", "hole"][..],
        &["match", "act-as", &id, "first", "hole"],
        &["match", "correct", &id, "first", "hole", "--turn", "1", "--reason", "x"],
        &["replay", "hole"],
        &["audit", "verify", "--against", "hole"],
        &["replay", "/dev/zero"],
    ] {
        assert_says(&folder.run(arguments).failure(1), &["it is larger than"]);
    }
    assert_says(&folder.run(&["audit", "check", "hole"]).failure(2), &["it is larger than"]);
}

/// Everything by which a name could move the cursor, forge a line, or show itself backwards.
const NASTY: &str =
    "Bo\u{1b}[2J\u{7}\r\nroot\t\u{9b}31m\u{85}\u{7f}\u{202e}xyz\u{2066}\u{2028}\u{200f}\u{e0041}\u{8}";

fn is_harmless(text: &str) -> bool {
    text.chars().all(|c| {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let hidden = turns || matches!(c, '\u{e0000}'..='\u{e007f}');
        // A tab only moves to the right.
        matches!(c, '\n' | '\t') || !c.is_control() && !hidden
    })
}

/// Plants the nasty name wherever the database keeps what people and servers wrote.
fn plant(folder: &Folder) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let url = SqliteConnectOptions::new().filename(folder.path("fogpost.db"));
    runtime.block_on(async {
        let mut database = SqliteConnection::connect_with(&url).await.expect("the database");
        let triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
        let triggers: Vec<String> =
            sqlx::query_scalar(triggers).fetch_all(&mut database).await.expect("triggers");
        for trigger in triggers {
            let sql = AssertSqlSafe(format!("DROP TRIGGER {trigger}"));
            sqlx::query(sql).execute(&mut database).await.expect("dropped");
        }
        for sql in [
            "UPDATE player SET name = name || $1",
            "UPDATE address SET address = address || $1",
            "UPDATE match SET first_name = $1, second_name = second_name || $1",
            "UPDATE letter SET sender = sender || $1, subject = $1, note = $1, status = 'set_aside'",
            "UPDATE dispatch SET recipient = recipient || $1, error = $1, sent_at = NULL",
        ] {
            sqlx::query(sql).bind(NASTY).execute(&mut database).await.expect(sql);
        }
        let named = serde_json::to_string(&format!("Ann{NASTY}")).expect("JSON");
        let sql = "UPDATE match SET snapshot = replace(snapshot, '\"Ann\"', $1)";
        sqlx::query(sql).bind(named).execute(&mut database).await.expect("a snapshot");
    });
}

#[test]
fn no_list_prints_what_a_terminal_would_obey() {
    let folder = Folder::club();
    let id = folder.open();
    folder.run_with(&["receive"], LETTER).success();
    folder.run(&["run", "--once"]).success();
    plant(&folder);
    let mut shown = BTreeMap::new();
    for arguments in [
        &["match", "list"][..],
        &["match", "list"],
        &["match", "pause", &id],
        &["player", "list"],
        &["player", "show", "ann@players.example"],
        &["letters"],
        &["letters", "--unsent"],
        &["club", "digest"],
        &["status"],
        &["audit", "verify", &id],
        &["audit", "show", &id, "--unseal", NASTY, "--gm", "The GM"],
        &["match", "resume", &id],
        &["run", "--once"],
    ] {
        for json in [false, true] {
            let has_json = !matches!(arguments, ["audit", "show", ..] | ["run", ..]);
            let arguments: Vec<&str> =
                arguments.iter().copied().chain((json && has_json).then_some("--json")).collect();
            let ran = folder.run(&arguments);
            let said = ran.stdout() + &ran.stderr();
            assert!(is_harmless(&said), "{arguments:?}: {said:?}");
            if json && has_json {
                for line in ran.stdout().lines() {
                    serde_json::from_str::<Value>(line)
                        .unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
                }
            }
            shown.insert(arguments.join(" "), said);
        }
    }
    assert_says(&shown["letters"], &["Bo\u{fffd}[2J"]);
    assert_says(&shown["match list"], &["Bo\u{fffd}[2J"]);
    assert_says(&shown["player list"], &["Bo\u{fffd}[2J"]);
    let letters: Value =
        serde_json::from_str(shown["letters --json"].lines().next().expect("a line")).expect("JSON");
    assert_eq!(letters["note"], NASTY, "JSON says what is stored");
}

#[test]
fn a_record_from_elsewhere_prints_nothing_that_a_terminal_would_obey() {
    let folder = Folder::empty();
    let name = NASTY.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007").replace("\r\n", "\\r\\n");
    let name = name.replace('\u{8}', "\\b").replace('\u{7f}', "\\u007f");
    folder.write("match.toml", &super::RECORD.replace("\"Ann\"", &format!("\"{name}\"")));
    for arguments in [&["replay", "match.toml"][..], &["replay", "match.toml", "--json"]] {
        let ran = folder.run(arguments);
        let said = ran.success();
        assert!(is_harmless(&said), "{arguments:?}: {said:?}");
    }
}
