//! Detects a mailbox with two uses: a GM's address that leads to the mailbox of the club.
//!
//! The program files every letter in its mailbox, so letters to the GM would vanish unseen, and it takes
//! letters from its own address for its own mail.

use super::Config;
use crate::letter::Address;

/// Domains that are aliases of another domain, with that domain.
const ALIASES: [(&str, &str); 1] = [("googlemail.com", "gmail.com")];

/// A GM's address that leads to the mailbox of the club.
#[derive(Debug, PartialEq, Eq)]
pub enum SharedMailbox {
    /// The program reads the folder in which the letters to the GM arrive. The sentence names the remedies.
    Taken(String),
    /// The letters to one of the two addresses must be sorted into a folder of their own, as the sentence
    /// says.
    Sorted(String),
}

impl Config {
    /// Returns the first of the GMs' addresses that leads to the mailbox of the club.
    pub fn shared_mailbox(&self) -> Option<SharedMailbox> {
        let club = &self.club.address;
        let found = self.club.gm.addresses().find(|gm| mailbox_of(gm) == mailbox_of(club))?;
        let is_same = plus_of(found) == plus_of(club);
        if is_same || self.inbox.is_main_folder() {
            let what = if is_same { "is the club's own address" } else { "leads to the club's own mailbox" };
            return Some(SharedMailbox::Taken(format!(
                "club.gm: {found} {what} (club.address is {club}), so the program would take the letters to the \
                 GM out of it, and mistake the GM's for its own; either give the GM an address with another mailbox \
                 in club.gm.address, or give the club one of its own: another mailbox, or {} with a filter at the \
                 provider that moves letters to it into a folder, named in inbox.imap.folder",
                with_plus_part(found)
            )));
        }
        Some(SharedMailbox::Sorted(format!(
            "{found} and {club} are one mailbox; that works while the provider moves all letters to {club}, and no others, \
             into the folder that the program reads"
        )))
    }
}

/// Normalizes an address, so that all spellings of a mailbox are equal: without case, plus part and, at
/// Gmail, dots.
fn mailbox_of(address: &Address) -> (String, String) {
    let domain = address.domain().to_lowercase();
    let domain = ALIASES.iter().find(|(alias, _)| *alias == domain).map_or(domain.as_str(), |(_, name)| name);
    let local = address.base().local().to_lowercase();
    let local = if domain == "gmail.com" { local.replace('.', "") } else { local };
    (local, domain.to_owned())
}

fn plus_of(address: &Address) -> String {
    address.plus().unwrap_or_default().to_lowercase()
}

fn with_plus_part(gm: &Address) -> String {
    let base = gm.base();
    format!("{}+fogpost@{}", base.local(), base.domain())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(club: &str, gms: &str, inbox: &str) -> Option<SharedMailbox> {
        let text = format!(
            "[club]\nname = \"Club\"\naddress = \"{club}\"\n{gms}\n{inbox}\n[outbox.maildir]\npath = \"out\"\n"
        );
        Config::parse(&text, "config").expect("a config").shared_mailbox()
    }

    fn gm(address: &str) -> String {
        format!("[club.gm]\nname = \"GM\"\naddress = \"{address}\"")
    }

    fn imap(folder: &str) -> String {
        format!("[inbox.imap]\nhost = \"x\"\nuser = \"x\"\npassword = \"x\"\nfolder = \"{folder}\"")
    }

    const MAILDIR: &str = "[inbox.maildir]\npath = \"in\"";

    #[test]
    fn one_mailbox_is_found_under_any_spelling() {
        for (club, other) in [
            ("referee@fog.example", "referee@fog.example"),
            ("referee@fog.example", "Referee@Fog.Example"),
            ("referee@fog.example", "referee+gm@fog.example"),
            ("referee+club@fog.example", "referee@fog.example"),
            ("fog@gmail.com", "fog@googlemail.com"),
            ("the.fog@googlemail.com", "thefog+gm@gmail.com"),
        ] {
            for inbox in [MAILDIR.to_owned(), imap("INBOX"), imap("inbox")] {
                let found = shared(club, &gm(other), &inbox);
                let Some(SharedMailbox::Taken(text)) = found else { panic!("{club} {other}: {found:?}") };
                assert!(text.contains("club.gm.address") && text.contains("inbox.imap.folder"), "{text}");
            }
        }
        let also = format!("{}\nalso = [\"referee@fog.example\"]", gm("gm@fog.example"));
        assert!(shared("referee@fog.example", &also, MAILDIR).is_some());
        for other in
            ["gm@fog.example", "referee@other.example", "refereegm@fog.example", "the.fog@fog.example"]
        {
            assert_eq!(shared("referee@fog.example", &gm(other), MAILDIR), None, "{other}");
        }
    }

    #[test]
    fn a_plus_part_with_a_folder_of_its_own_is_explained() {
        for inbox in [imap("Club"), "[inbox.maildir]\npath = \"Maildir/.Club\"".to_owned()] {
            let found = shared("me+club@fog.example", &gm("me@fog.example"), &inbox);
            assert!(matches!(found, Some(SharedMailbox::Sorted(_))), "{found:?}");
            let same = shared("me@fog.example", &gm("me@fog.example"), &inbox);
            assert!(matches!(same, Some(SharedMailbox::Taken(_))), "no folder can tell them apart: {same:?}");
        }
    }
}
