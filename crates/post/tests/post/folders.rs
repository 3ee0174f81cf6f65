//! Folders whose names differ from the config's: other separators and namespaces, letters beyond ASCII. And servers that
//! want to know who we are, or put any bytes into their remarks.

use chrono::Utc;
use fogpost_post::imap::ImapConfig;
use fogpost_post::inbox::Inbox;
use fogpost_post::{Error, LeftLetters, Secret, Tls};

use crate::fakes::imap::{Act, Imap};
use crate::support::{PATIENCE, Running, drain, letter, subjects};

fn settings(server: &Imap) -> ImapConfig {
    ImapConfig {
        port: Some(server.port),
        tls: Tls::None,
        timeout_seconds: PATIENCE.as_secs(),
        ..ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"))
    }
}

/// A server that lists these folders.
async fn server_with(listing: &[&'static str]) -> Imap {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().listing = listing.to_vec();
    server.deliver([letter("0")]);
    server
}

/// Whether a command that ends so was given.
fn was_told(server: &Imap, end: &str) -> bool {
    server.mail().lines.iter().any(|line| line.ends_with(end))
}

#[tokio::test]
async fn letters_are_filed_below_inbox_where_all_folders_are() {
    let only_inbox = ["* LIST (\\HasNoChildren) \".\" INBOX"];
    let namespace = "* NAMESPACE ((\"INBOX.\" \".\")) NIL NIL";
    let others =
        ["* LIST () \".\" INBOX", "* LIST () \".\" \"INBOX.Sent\"", "* LIST () \".\" \"INBOX.Trash\""];
    for (listing, namespace, capabilities) in [
        (&only_inbox[..], namespace, "IMAP4rev1 IDLE MOVE NAMESPACE"),
        (&others[..], "", "IMAP4rev1 IDLE MOVE"),
    ] {
        let server = server_with(listing).await;
        server.mail().namespace = namespace;
        server.mail().capabilities = capabilities;
        assert_eq!(drain(Inbox::Imap(settings(&server))).await.expect("drained").len(), 1);
        assert!(
            was_told(&server, "CREATE \"INBOX.Processed\"")
                && was_told(&server, "UID MOVE 1 \"INBOX.Processed\"")
        );
    }
}

#[tokio::test]
async fn a_processed_folder_that_is_not_listed_is_not_opened() {
    let both = ["* LIST () \".\" INBOX", "* LIST () \".\" Processed"];
    for (listing, is_opened) in [(&both[..1], false), (&both, true)] {
        let server = server_with(listing).await;
        let left = LeftLetters { mark: Some(Utc::now()), ..LeftLetters::default() };
        let mut running = Running::start_with(Inbox::Imap(settings(&server)), left);
        assert_eq!(subjects(&running.letters().await), ["0"]);
        let selections = server.mail().lines.iter().filter(|line| line.contains(" SELECT ")).count();
        assert_eq!(
            (was_told(&server, "SELECT \"Processed\""), selections),
            (is_opened, if is_opened { 3 } else { 1 })
        );
        running.stop().await;
    }
}

#[tokio::test]
async fn a_spam_folder_that_is_another_folder_by_its_real_name_is_a_fault_of_the_config() {
    for (spam, processed, key) in [
        ("INBOX.Processed", "Processed", "processed"),
        ("Processed", "INBOX.Processed", "processed"),
        ("INBOX", "Processed", "folder"),
    ] {
        let server = server_with(&["* LIST () \".\" INBOX", "* LIST () \".\" \"INBOX.Processed\""]).await;
        server.mail().namespace = "* NAMESPACE ((\"INBOX.\" \".\")) NIL NIL";
        server.mail().capabilities = "IMAP4rev1 IDLE MOVE NAMESPACE";
        let same = ImapConfig {
            spam_folder: Some(spam.to_owned()),
            processed: processed.to_owned(),
            ..settings(&server)
        };
        let refused = Inbox::Imap(same).check().await;
        let said = refused.err().map(|error| error.to_string()).unwrap_or_default();
        let expected = format!("inbox.imap.spam_folder and inbox.imap.{key} are the same folder");
        assert!(said.contains(&expected), "{spam}, {processed}: {said}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_a_folder_is_asked_for_one_below_inbox() {
    let server = Imap::start(|step, before| match (step, before) {
        ("CREATE", 0) => Act::Instead("TAG NO Client tried to access nonexistent namespace"),
        _ => Act::Proper,
    })
    .await;
    server.mail().listing = vec!["* LIST (\\HasNoChildren) \"/\" INBOX"];
    server.deliver([letter("0")]);
    assert_eq!(drain(Inbox::Imap(settings(&server))).await.expect("drained").len(), 1);
    assert!(was_told(&server, "UID MOVE 1 \"INBOX/Processed\""));
}

#[tokio::test]
async fn folders_are_found_as_the_server_writes_them() {
    let listing = [
        "* LIST () \".\" INBOX",
        "* LIST () \".\" \"Spiele.K&AOQ-mpfe\"",
        "* LIST () \".\" {15}\r\nErledigt &- gut",
        "* LIST (\\Noselect) \".\" processed",
    ];
    let server = server_with(&listing).await;
    let folders = ImapConfig {
        folder: "Spiele/Kämpfe".to_owned(),
        processed: "Erledigt & gut".to_owned(),
        ..settings(&server)
    };
    assert_eq!(drain(Inbox::Imap(folders)).await.expect("drained").len(), 1);
    assert!(
        was_told(&server, "SELECT \"Spiele.K&AOQ-mpfe\"")
            && was_told(&server, "UID MOVE 1 \"Erledigt &- gut\"")
    );
    assert_eq!(server.mail().count("CREATE"), 0);
}

#[tokio::test]
async fn the_spam_folder_is_found_by_its_mark_if_its_name_is_another() {
    let marked = ["* LIST () \"/\" INBOX", "* LIST (\\Junk) \"/\" \"Courrier ind&AOk-sirable\""];
    let server = server_with(&marked).await;
    for name in ["Junk", "Courrier indésirable"] {
        let spam = ImapConfig { spam_folder: Some(name.to_owned()), ..settings(&server) };
        Inbox::Imap(spam).check().await.expect("it opens");
        assert!(was_told(&server, "SELECT \"Courrier ind&AOk-sirable\""), "{name}");
    }
    let checked = Inbox::Imap(settings(&server)).check().await.expect("it opens");
    assert!(checked.hints[0].contains("spam_folder = \"Courrier indésirable\""), "{:?}", checked.hints);
}

/// Some servers mark the spam folder only for a client that asks for marks.
#[tokio::test]
async fn the_mark_of_the_spam_folder_is_asked_for() {
    let server = server_with(&["* LIST () \"/\" INBOX", "* LIST () \"/\" Quarantine"]).await;
    server.mail().capabilities = "IMAP4rev1 IDLE MOVE LIST-EXTENDED SPECIAL-USE";
    server.mail().marked = vec!["* LIST () \"/\" INBOX", "* LIST (\\Junk) \"/\" Quarantine"];
    let checked = Inbox::Imap(settings(&server)).check().await.expect("it opens");
    assert!(checked.hints[0].contains("spam_folder = \"Quarantine\""), "{:?}", checked.hints);
}

#[tokio::test]
async fn errors_of_reading_name_the_folder_and_the_key() {
    for (step, answer) in [("SEARCH", "TAG NO no search today"), ("SELECT", "* BYE no select today")] {
        let server =
            Imap::start(move |s, _| if s == step { Act::Instead(answer) } else { Act::Proper }).await;
        let inbox = Inbox::Imap(settings(&server));
        let explained = inbox.explain(&inbox.check().await.expect_err("refused"));
        for part in ["today", "the folder is INBOX; see inbox.imap.folder"] {
            assert!(explained.contains(part), "{step}: {explained}");
        }
    }
}

#[tokio::test]
async fn no_byte_of_a_status_text_ends_the_session() {
    let select = "* 0 EXISTS\r\n* OK [UIDVALIDITY 7] \0\u{1}\u{7f}\r\nTAG OK \0";
    let server =
        Imap::start(move |s, _| if s == "SELECT" { Act::Instead(select) } else { Act::Proper }).await;
    Inbox::Imap(settings(&server)).check().await.expect("it opens");
}

#[tokio::test]
async fn a_refused_folder_is_named_with_the_servers_words_and_the_key() {
    for answer in ["TAG NO [NONEXISTENT] Unknown Mailbox", "TAG BAD Could not parse command"] {
        let server =
            Imap::start(move |step, _| if step == "SELECT" { Act::Instead(answer) } else { Act::Proper })
                .await;
        let error = Inbox::Imap(settings(&server)).check().await.expect_err("refused");
        assert!(matches!(error, Error::Configuration(_)), "{error}");
        for part in ["INBOX", &answer[7..], "inbox.imap.folder"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

#[tokio::test]
async fn a_spam_folder_that_the_server_does_not_understand_costs_the_inbox_nothing() {
    let server = Imap::start(|step, before| match (step, before) {
        ("SELECT", 1) => Act::Instead("TAG BAD Could not parse command"),
        _ => Act::Proper,
    })
    .await;
    let spam = ImapConfig { spam_folder: Some("Spam".to_owned()), ..settings(&server) };
    let mut running = Running::start(Inbox::Imap(spam));
    running.until(|health| health.last_ok.is_some()).await;
    server.deliver([letter("hello")]);
    assert_eq!(subjects(&running.letters().await), ["hello"]);
    assert_eq!(server.mail().count("LOGIN"), 1, "the session was kept");
    running.stop().await;
}

#[tokio::test]
async fn one_folder_under_two_names_is_a_fault_of_the_config() {
    let server = server_with(&["* LIST () \".\" INBOX", "* LIST () \".\" \"INBOX.Club\""]).await;
    let same =
        ImapConfig { folder: "Club".to_owned(), processed: "INBOX.Club".to_owned(), ..settings(&server) };
    let error = Inbox::Imap(same).check().await.expect_err("the same folder").to_string();
    assert!(error.contains("inbox.imap.folder") && error.contains("inbox.imap.processed"), "{error}");
}

#[tokio::test]
async fn the_program_introduces_itself_where_the_server_offers_that() {
    for (capabilities, answer, asked) in [
        ("IMAP4rev1 IDLE MOVE ID", Act::Proper, 1),
        ("IMAP4rev1 IDLE MOVE ID", Act::Instead("TAG BAD what"), 1),
        ("IMAP4rev1 IDLE MOVE", Act::Proper, 0),
    ] {
        let server = Imap::start(move |step, _| if step == "ID" { answer } else { Act::Proper }).await;
        server.mail().capabilities = capabilities;
        Inbox::Imap(settings(&server)).check().await.expect("it opens");
        assert_eq!(server.mail().count("ID"), asked);
        let steps = server.mail().steps.clone();
        let place = |step: &str| steps.iter().position(|found| found == step);
        assert!(asked == 0 || place("LOGIN") < place("ID") && place("ID") < place("SELECT"), "{steps:?}");
    }
}

#[tokio::test]
async fn any_bytes_in_a_remark_leave_the_session_alone() {
    // The fake writes text; the first of its characters that is not ASCII stands for bytes that are no UTF-8.
    let steps =
        ["LOGIN", "CAPABILITY", "LIST", "SELECT", "SEARCH", "FETCH", "CREATE", "STORE", "MOVE", "DONE"];
    for step in steps {
        let remark = Act::First("* OK [ALERT] Bo\u{e9}te \u{2603} pleine {5}");
        let server = Imap::start(move |s, n| if s == step && n == 0 { remark } else { Act::Proper }).await;
        server.deliver([letter("0")]);
        let mut running = Running::start(Inbox::Imap(ImapConfig { idle_seconds: 1, ..settings(&server) }));
        assert_eq!(subjects(&running.letters().await), ["0"]);
        server.until(|mail| mail.count("DONE") > 1).await;
        assert_eq!(server.mail().count("LOGIN"), 1, "{step}: the session was kept");
        running.stop().await;
    }
}
