//! Sending through Exim and OpenSMTPD: what they accept, what they refuse, and what they return later.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::club::Club;
use crate::fake_smtp::{Act, Smtp};
use crate::servers::{self, Server};

/// A mail server that has the mailboxes of club.test as Maildirs, and relays other mail.
struct Relay {
    // Fields are dropped in order: the server stops before its folder is deleted.
    _server: Server,
    folder: TempDir,
    port: u16,
    /// The server that it relays to, which refuses every recipient.
    _next: Smtp,
    _runtime: tokio::runtime::Runtime,
}

impl Relay {
    /// Starts a server by a script. `None` only if FOGPOST_WITHOUT_SERVERS is set.
    fn start(script: &str) -> Option<Relay> {
        let folder = servers::folder()?;
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let next = runtime.block_on(Smtp::start(|step, _| match step {
            "RCPT" => Act::Say("550 5.1.1 No such user here"),
            _ => Act::Proper,
        }));
        let [port] = servers::free_ports();
        let server = Server::start(script, folder.path(), &[("SMTP", port), ("NEXT", next.port)], &[port]);
        Some(Relay { _server: server, folder, port, _next: next, _runtime: runtime })
    }

    fn maildir(&self, name: &str) -> PathBuf {
        self.folder.path().join("root/mail").join(name)
    }

    fn club(&self) -> Club {
        let club = Club::with(&format!(
            "[club]\nname = 'The Club'\naddress = 'referee@club.test'\nreturn_path = 'referee+bounce+{{id}}@club.test'\n\
             [club.gm]\nname = 'The GM'\naddress = 'gm@club.test'\n\
             [inbox.maildir]\npath = '{}'\n\
             [outbox.smtp]\nhost = 'localhost'\nport = {}\ntls = 'none'\n",
            self.maildir("referee").display(),
            self.port
        ));
        fogpost::post::maildir::create(&self.maildir("referee")).expect("the mailbox");
        club
    }

    /// Waits until somebody has a letter that contains `words`.
    fn reads(&self, name: &str, words: &str, club: &Club) {
        let letters = || {
            let entries = fs::read_dir(self.maildir(name).join("new")).into_iter().flatten().flatten();
            entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect::<Vec<_>>()
        };
        club.wait_for(&format!("a letter to {name} with {words:?}"), || {
            letters().iter().any(|letter| letter.contains(words))
        });
    }
}

/// Sends letters that the server accepts, refuses at once, and returns after its next server has refused them.
fn letters_are_accepted_refused_and_returned(script: &str) {
    let Some(relay) = Relay::start(script) else { return };
    let club = relay.club();
    let ann = "Ann <ann@club.test>";
    let accepted = club.open("quad", [ann, "Bo <bo@club.test>"], &[]);
    club.open("quad", [ann, "Cy <cy@club.test>"], &[]);
    let returned = club.open("quad", [ann, "Di <di@gone.test>"], &[]);
    let daemon = club.start();
    relay.reads("ann", &accepted, &club);
    relay.reads("bo", &accepted, &club);
    relay.reads("gm", "cy@club.test", &club);
    let shown = String::from_utf8(club.run(&["letters", "--unsent"]).stdout).expect("text");
    assert!(shown.contains("cy@club.test") && shown.contains("given up"), "{shown}");
    let returned =
        format!("ruled on a match match_id=\"{returned}\" entries=\"MailReturned DeadlineExtended\"");
    club.log_says(&returned);
    let letters = String::from_utf8(club.run(&["letters", "--json"]).stdout).expect("text");
    assert_eq!(letters.lines().count(), 1, "{letters}");
    assert!(letters.contains(r#""status":"automatic""#), "{letters}");
    daemon.stop(&club);
}

#[test]
fn exim_accepts_refuses_and_returns_letters() {
    letters_are_accepted_refused_and_returned("exim.sh");
}

#[test]
fn opensmtpd_accepts_refuses_and_returns_letters() {
    letters_are_accepted_refused_and_returned("opensmtpd.sh");
}
