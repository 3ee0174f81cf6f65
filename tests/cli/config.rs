//! The config file: how it is written and read, and its errors.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{CONFIG, Folder, assert_says};

#[test]
fn init_writes_a_config_that_doctor_reads_and_never_overwrites_one() {
    let folder = Folder::empty();
    assert_says(&folder.run(&["init"]).success(), &["config.toml is written", "fogpost doctor"]);
    let written = fs::read_to_string(folder.path("config.toml")).expect("the config");
    assert_says(
        &folder.run(&["doctor"]).stdout(),
        &[
            "FAULT config: config.toml is still the example; edit it",
            "ok    templates",
            "ok    database",
            "ok    schema",
        ],
    );
    assert_says(&folder.run(&["init"]).failure(1), &["config.toml already exists", "--config FILE"]);
    assert_eq!(fs::read_to_string(folder.path("config.toml")).expect("the config"), written);
}

#[test]
fn init_writes_a_config_for_a_provider_and_a_private_file_for_its_password() {
    for provider in ["microsoft365", "outlook"] {
        let folder = Folder::empty();
        let said = folder.run(&["init", "--provider", provider]).success();
        assert_says(&said, &["config.toml is written", "client_id", "fogpost login", "fogpost doctor"]);
        assert!(!folder.path("mail.secret").exists());
        assert_says(&folder.run(&["doctor"]).stdout(), &["FAULT config: config.toml is still the example"]);
    }
    for provider in ["gmail", "fastmail", "icloud", "mailbox-org", "gmx", "own"] {
        let folder = Folder::empty();
        let said = folder.run(&["init", "--provider", provider]).success();
        assert_says(&said, &["config.toml is written", "mail.secret", "docs/providers.md", "fogpost doctor"]);
        let mode = fs::metadata(folder.path("mail.secret")).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let said = folder.run(&["doctor"]).stdout();
        assert_says(&said, &["FAULT config: config.toml: inbox.imap has an empty password; write it into"]);
    }
    let unknown = Folder::empty().run(&["init", "--provider", "yahoo"]);
    assert_eq!(unknown.status(), 2);
    assert_says(
        &unknown.stderr(),
        &["known providers are gmail, microsoft365, outlook, fastmail", "docs/providers.md"],
    );
}

#[test]
fn a_login_is_either_by_password_or_by_oauth() {
    let folder = Folder::club();
    let imap = "[inbox.imap]\nhost = \"localhost\"\nuser = \"referee\"\n";
    let oauth = "[inbox.imap.oauth]\nprovider = \"microsoft\"\nclient_id = \"x\"\n";
    let config = |sections: &str| CONFIG.replace("[inbox.maildir]\npath = \"mail/referee\"\n", sections);
    folder.write("config.toml", &config(&format!("{imap}password = \"x\"\n{oauth}")));
    let said = folder.run(&["match", "list"]).failure(1);
    assert_says(&said, &["inbox.imap has a password and [inbox.imap.oauth]; remove one"]);
    folder.write("config.toml", &config(&format!("{imap}{oauth}")));
    let said = folder.run(&["doctor"]).stdout();
    assert_says(&said, &["FAULT login: nobody has logged in yet; run: fogpost login"]);
    folder.write("config.toml", CONFIG);
    let said = folder.run(&["login"]).failure(1);
    assert_says(&said, &["has no [inbox.imap.oauth] or [outbox.smtp.oauth]"]);
}

#[test]
fn an_untouched_config_for_a_provider_is_a_fault() {
    let folder = Folder::empty();
    folder.run(&["init", "--provider", "own"]).success();
    folder.write("mail.secret", "hush\n");
    let said = folder.run(&["doctor"]).stdout();
    assert_says(&said, &["FAULT config: config.toml is still the example; edit it"]);
}

#[test]
fn a_config_error_names_the_key_the_line_and_a_valid_value() {
    let faults: [(&str, &[&str]); 8] = [
        (&format!("{CONFIG}[match]\ndayz = 7\n"), &["config.toml, line 12", "`dayz`", "days"]),
        (&format!("{CONFIG}[match]\ndays = \"seven\"\n"), &["config.toml, line 12", "`days`", "expected"]),
        (&format!("{CONFIG}[match]\nhour = 25\n"), &["hour", "23"]),
        (
            &format!("{CONFIG}[house]\nlevel = \"master\"\n"),
            &["house.level is `master`; try trainer, easy, average, expert\n"],
        ),
        (&format!("{CONFIG}[match]\nzone = \"Berlin\"\n"), &["config.toml, line 12", "zone", "Berlin"]),
        (
            &CONFIG.replace("referee@club.example", "referee"),
            &["line 3", "`address`", "try name@example.org"],
        ),
        (&CONFIG.replace("[club]\n", "[club\n"), &["config.toml, line 1"]),
        (
            &CONFIG.replace("[club]\n", "[club]\nmessage_id_domain = \"a b\"\n"),
            &["club.message_id_domain is `a b`", "try a domain such as fogpost.club.example"],
        ),
    ];
    for (config, words) in faults {
        let folder = Folder::club();
        folder.write("config.toml", config);
        assert_says(&folder.run(&["match", "list"]).failure(1), words);
    }
}

#[test]
fn a_missing_file_is_named_with_advice() {
    let folder = Folder::empty();
    assert_says(&folder.run(&["match", "list"]).failure(1), &["config.toml", "`fogpost init` writes"]);
    assert_says(&folder.run(&["--config", "other.toml", "run"]).failure(1), &["other.toml"]);
    assert_says(&folder.run(&["replay", "match.toml"]).failure(1), &["match.toml"]);
    let imap = "[inbox.imap]\nhost = \"localhost\"\nuser = \"referee\"\n";
    let config = CONFIG.replace("[inbox.maildir]\npath = \"mail/referee\"\n", imap);
    folder.write("config.toml", &config);
    let run = ["run", "--once"];
    assert_says(&folder.run(&run).failure(1), &["inbox.imap has no password", "password_file"]);
    folder.write("config.toml", &config.replace(imap, &format!("{imap}password_file = \"imap.secret\"\n")));
    assert_says(&folder.run(&run).failure(1), &["inbox.imap.password_file", "imap.secret"]);
    std::fs::write(folder.path("imap.secret"), b"\xff\xfes\0").expect("written");
    assert_says(&folder.run(&run).failure(1), &["imap.secret: it is UTF-16", "save it as UTF-8"]);
}

#[test]
fn commands_that_use_no_mailbox_need_no_password() {
    let folder = Folder::club();
    let imap = "[inbox.imap]\nhost = \"localhost\"\nuser = \"referee\"\npassword_file = \"nowhere/imap\"\n";
    let smtp = "[outbox.smtp]\nhost = \"localhost\"\nuser = \"referee\"\n";
    let config = CONFIG
        .replace("[inbox.maildir]\npath = \"mail/referee\"\n", imap)
        .replace("[outbox.maildir]\npath = \"mail\"\n", smtp);
    assert!(config.contains("nowhere/imap") && config.contains("[outbox.smtp]"), "{config}");
    folder.write("config.toml", &config);
    let id = folder.open();
    for arguments in [
        &["match", "list"][..],
        &["match", "extend", &id, "3"],
        &["club", "digest"],
        &["backup", "copy.db"],
        &["audit", "verify", "--all"],
        &["letters", "--unsent"],
        &["player", "list"],
    ] {
        folder.run(arguments).success();
    }
    let status = folder.run(&["status"]);
    assert!(status.stdout().contains("no daemon has ever run"), "{}{}", status.stdout(), status.stderr());
    folder.run(&["run", "--once"]).failure(1);
}

#[test]
fn a_new_club_works_as_init_leaves_it() {
    let folder = Folder::empty();
    assert_says(&folder.run(&["init"]).success(), &["mail/referee is a mailbox for trying it out"]);
    let config = fs::read_to_string(folder.path("config.toml")).expect("the config");
    folder.write("config.toml", &config.replace("The Fog Club", "Our Club"));
    folder.run(&["doctor"]).success();
    let id = folder.open();
    folder.run(&["run", "--once"]).success();
    folder.run(&["status"]).success();
    assert!(folder.path("mail/out/ann@players.example/new").exists());
    folder.run(&["match", "show", &id]).success();
}

#[test]
fn parser_errors_in_the_config_are_reworded_with_an_example() {
    let imap = "[inbox.imap]\nhost = \"localhost\"\nuser = \"referee\"\npassword = \"\"\n";
    let with_inbox = |inbox: &str| CONFIG.replace("[inbox.maildir]\npath = \"mail/referee\"\n", inbox);
    let faults: [(String, &[&str]); 26] = [
        (format!("{CONFIG}[match]\ndays = -7\n"), &["`days`", "expected a whole number, 0 or more"]),
        (format!("{CONFIG}[match]\nzone = \"Berlin\"\n"), &["`zone`", "try a name such as Europe/Berlin"]),
        (format!("{CONFIG}[status]\nlisten = \"9118\"\n"), &["`listen`", "such as 127.0.0.1:9118"]),
        (format!("{CONFIG}[letters]\nmax_bytes = 0\n"), &["no letter could be read", "try 10000000"]),
        (format!("{CONFIG}[letters]\nmax_parts = 0\n"), &["no letter could be read", "try 100"]),
        (format!("{CONFIG}[log]\nfilter = \"\"\n"), &["neither spaces nor empty parts"]),
        (format!("{CONFIG}[log]\nfilter = \"info,\"\n"), &["neither spaces nor empty parts"]),
        (format!("{CONFIG}[log]\nfilter = \"info , warn\"\n"), &["neither spaces nor empty parts"]),
        (format!("{CONFIG}[letters]\nanswers_per_hour = 0\n"), &["nobody would get an answer", "try 20"]),
        (
            format!("{CONFIG}[log]\nfilter = \"fogpost=loud\"\n"),
            &["log.filter is `fogpost=loud`", "try `info`"],
        ),
        (
            format!("{CONFIG}[log]\nfilter = \"infoo\"\n"),
            &["there is no level or part `infoo`", "try `info`"],
        ),
        (format!("{CONFIG}[log]\nfilter = \"info,fogpst=debug\"\n"), &["no level or part `fogpst`"]),
        (
            format!("{CONFIG}[match]\nreminders_hours = 48\n"),
            &["`reminders_hours`", "in brackets, such as [48]"],
        ),
        (format!("{CONFIG}[match]\nweekends = \"off\"\n"), &["`weekends`", "must be true or false"]),
        (format!("{CONFIG}[match]\ndays = \"7\"\n"), &["`days`", "a number without quotes: 7"]),
        (format!("{CONFIG}[ratings]\nquad = 1.5\n"), &["`quad`", "expected a whole number"]),
        (with_inbox(""), &["the section [inbox] is missing; `fogpost init`"]),
        (with_inbox(&format!("{imap}port = \"993\"\n")), &["`port`", "a number without quotes: 993"]),
        (
            with_inbox(&format!("{imap}port = 99999\n")),
            &["`port`", "99999 is not a port; a port is from 1 to 65535"],
        ),
        (
            with_inbox(&imap.replace("\"localhost\"", "\"localhost:993\"")),
            &["inbox.imap.host is `localhost:993`", "host = \"localhost\" and port = 993"],
        ),
        (
            with_inbox(&imap.replace("\"localhost\"", "\"imaps://mail.club.example/\"")),
            &["write host = \"mail.club.example\""],
        ),
        (
            with_inbox(&format!("{imap}password_file = \"imap.secret\"\n")),
            &["inbox.imap has a password and a password_file; remove one"],
        ),
        (format!("{CONFIG}[club]\n"), &["line 11", "`[club]`: duplicate key"]),
        (format!("{CONFIG}[mach]\n"), &["line 11", "unknown field `mach`", "`match`"]),
        (format!("{CONFIG}{imap}"), &["two kinds are given; remove one"]),
        (with_inbox(imap), &["inbox.imap has an empty password"]),
    ];
    for (config, words) in faults {
        let folder = Folder::club();
        folder.write("config.toml", &config);
        assert_says(&folder.run(&["run", "--once"]).failure(1), words);
    }
}

#[test]
fn an_unreadable_config_is_not_reported_as_missing() {
    let folder = Folder::empty();
    let said = folder.run(&["--config", ".", "doctor"]).stdout();
    assert!(
        said.contains("FAULT config: . cannot be read: Is a directory") && !said.contains("init"),
        "{said}"
    );
    fs::write(folder.path("latin.toml"), b"name = \"B\xf6\"").expect("written");
    assert_says(
        &folder.run(&["--config", "latin.toml", "doctor"]).stdout(),
        &["latin.toml cannot be read", "UTF-8"],
    );
}

#[test]
fn a_password_in_the_database_url_is_never_printed() {
    let folder = Folder::club();
    let url = "postgres://me:hunter2@127.0.0.1:1/club";
    folder.write("config.toml", &format!("{CONFIG}[database]\nurl = \"{url}\"\n"));
    for arguments in [
        &["run"][..],
        &["run", "--once"],
        &["match", "list"],
        &["status"],
        &["db", "move", url, "sqlite:x.db"],
    ] {
        let said = folder.run(arguments).failure(1);
        assert!(said.contains("club on 127.0.0.1:1") && !said.contains("hunter2"), "{said}");
    }
    let said = folder.run(&["doctor"]).stdout();
    assert!(
        said.contains("see database.url") && !said.contains("hunter2") && !said.contains("folder must"),
        "{said}"
    );
}

#[test]
fn the_example_config_shows_every_key() {
    let example = fs::read_to_string("config.example.toml").expect("the example");
    let tables = [
        "club",
        "club.gm",
        "database",
        "inbox.maildir",
        "inbox.imap",
        "inbox.imap.oauth",
        "outbox",
        "outbox.maildir",
        "outbox.smtp",
        "outbox.sendmail",
        "match",
        "house",
        "ratings",
        "letters",
        "templates",
        "audit",
        "status",
        "site",
        "log",
    ];
    for table in tables {
        // An unknown key makes the program list the known ones.
        let head = format!("[{table}]\n");
        let unknown = format!("{head}no_such_key = 1\n");
        let config = match (CONFIG.contains(&head), table.split_once('.')) {
            (true, _) => CONFIG.replace(&head, &unknown),
            (false, Some(("inbox", "imap.oauth"))) => {
                let imap = format!("[inbox.imap]\nhost = \"h\"\nuser = \"u\"\n{unknown}");
                CONFIG.replace("[inbox.maildir]\npath = \"mail/referee\"\n", &imap)
            }
            (false, Some(("inbox", _))) => {
                CONFIG.replace("[inbox.maildir]\npath = \"mail/referee\"\n", &unknown)
            }
            (false, Some(("outbox", _))) => CONFIG.replace("[outbox.maildir]\npath = \"mail\"\n", &unknown),
            (false, _) => format!("{CONFIG}{unknown}"),
        };
        let folder = Folder::club();
        folder.write("config.toml", &config);
        let said = folder.run(&["match", "list"]).failure(1);
        let (_, known) =
            said.split_once("expected").unwrap_or_else(|| panic!("[{table}] lists no keys: {said}"));
        let keys: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        assert!(!keys.is_empty(), "{said}");
        for key in keys {
            let is_shown = example.contains(&format!("{key} = "))
                || example.contains(&format!("`{key}`"))
                || example.contains(&format!("[{table}.{key}]"));
            assert!(is_shown, "config.example.toml does not show {key} of [{table}]");
        }
    }
}
