//! Moves stored letters to the processed folder, and proves that they have arrived there.
//!
//! A server's OK is no proof: some say it and copy nothing. The UIDs of the copies prove it (RFC 4315, 3:
//! COPYUID). Where the server does not name them, the copies are looked for. Nothing is deleted without a
//! proof, and nothing is copied again without such a search.

use std::collections::{BTreeMap, BTreeSet};

use super::{Mailbox, uid_set};
use crate::Error;
use crate::imap::command::{convert_error, quoted_string, run_for_copies, unless_refused};
use crate::imap::fetch::{Fetched, uid_fetch};
use crate::imap::proof::bare_id;

/// Times that a letter is copied although no copy of it is found.
const MAX_COPIES: u8 = 2;

/// Letters of the processed folder to look at, newest first, in addition to the number of copies looked for.
const MARGIN: usize = 50;

/// Maximum letters to search for one by one.
const MAX_SINGLE_SEARCHES: usize = 20;

/// The knowledge about the copies of one folder's letters in the processed folder.
#[derive(Default)]
pub(in crate::imap) struct Copies {
    /// Letters that are proved to be in the processed folder, and need only be deleted here.
    proved: BTreeSet<u32>,
    /// Letters that may be there, and the number of times that the server claimed to have copied them, but no
    /// copy was found.
    unproved: BTreeMap<u32, u8>,
}

/// The letters that are marked as seen in their own folder, and in the processed folder.
#[derive(Default)]
struct Seen {
    here: Vec<u32>,
    there: Vec<u32>,
}

impl Copies {
    /// Notes letters that may have been copied before.
    pub(in crate::imap) fn doubt(&mut self, uids: impl IntoIterator<Item = u32>) {
        for uid in uids {
            self.unproved.entry(uid).or_default();
        }
    }

    /// Forgets letters that were moved.
    pub(in crate::imap) fn forget(&mut self, uids: &[u32]) {
        self.proved.retain(|uid| !uids.contains(uid));
        self.unproved.retain(|uid, _| !uids.contains(uid));
    }

    /// Forgets the letters that have left the folder. `listed` is sorted.
    pub(in crate::imap) fn forget_all_but(&mut self, listed: &[u32]) {
        self.proved.retain(|uid| listed.binary_search(uid).is_ok());
        self.unproved.retain(|uid, _| listed.binary_search(uid).is_ok());
    }

    fn prove(&mut self, uids: impl IntoIterator<Item = u32>) {
        for uid in uids {
            self.unproved.remove(&uid);
            self.proved.insert(uid);
        }
    }

    /// Returns those of the letters that are not proved to be copied.
    fn missing(&self, uids: &[u32]) -> Vec<u32> {
        uids.iter().copied().filter(|uid| !self.proved.contains(uid)).collect()
    }
}

impl Mailbox {
    /// Marks stored letters as seen and moves them to the processed folder.
    ///
    /// # Errors
    /// [`Error::Server`] or [`Error::Misunderstood`] if the server refuses that, or does not do it.
    pub(in crate::imap) fn file(&mut self, uids: &[u32], copies: &mut Copies) -> Result<(), Error> {
        let moved = self.move_to_processed(uids, copies);
        match moved {
            Err(Error::Server(refusal)) => {
                // The folder may have vanished. If so, servers ask for it with this code (RFC 3501, 7.1).
                self.processed_exists = false;
                if refusal.text.contains("[TRYCREATE]") {
                    self.move_to_processed(uids, copies)
                } else {
                    Err(Error::Server(refusal))
                }
            }
            moved => moved,
        }
    }

    fn move_to_processed(&mut self, uids: &[u32], copies: &mut Copies) -> Result<(), Error> {
        self.create_processed()?;
        // Letters that cannot be marked can perhaps be moved all the same.
        unless_refused(self.mark(&uid_set(uids), "\\Seen"))?;
        let doubtful: Vec<u32> =
            uids.iter().copied().filter(|uid| copies.unproved.contains_key(uid)).collect();
        self.find_copies(&doubtful, copies)?;
        let mut uncopied = copies.missing(uids);
        uncopied.retain(|uid| copies.unproved.get(uid).is_none_or(|claims| *claims < MAX_COPIES));
        let moved = self.move_or_copy(&uncopied, copies)?;
        let rest: Vec<u32> = uids.iter().copied().filter(|uid| !moved.contains(uid)).collect();
        self.delete_copied(&rest, copies)?;
        match copies.missing(&rest).first() {
            None => Ok(()),
            Some(uid) => Err(Error::Server(format!("OK, but there is no copy of UID {uid}").into())),
        }
    }

    /// Moves letters, or copies them if the server cannot move any. Returns those that have left the folder.
    fn move_or_copy(&mut self, uids: &[u32], copies: &mut Copies) -> Result<BTreeSet<u32>, Error> {
        if uids.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Note this first: if the connection breaks, they may have been copied.
        copies.doubt(uids.iter().copied());
        let word = if self.capabilities.r#move { "MOVE" } else { "COPY" };
        let command = format!("UID {word} {} {}", uid_set(uids), quoted_string(&self.processed));
        let named = run_for_copies(&mut self.connection.borrow(), &command)?;
        let is_named = |uid: &u32| named.iter().any(|range| range.contains(uid));
        if self.capabilities.r#move && uids.iter().all(is_named) {
            return Ok(uids.iter().copied().collect());
        }
        copies.prove(uids.iter().copied().filter(is_named));
        let mut left = BTreeSet::new();
        if self.capabilities.r#move {
            // A letter that is gone was moved (RFC 6851, 3.3).
            let listed = self.list()?;
            left = uids.iter().copied().filter(|uid| listed.binary_search(uid).is_err()).collect();
        }
        let mut missing = copies.missing(uids);
        missing.retain(|uid| !left.contains(uid));
        self.find_copies(&missing, copies)?;
        for uid in copies.missing(&missing) {
            *copies.unproved.entry(uid).or_default() += 1;
        }
        Ok(left)
    }

    /// Deletes those of the letters that are proved to be in the processed folder.
    fn delete_copied(&mut self, uids: &[u32], copies: &Copies) -> Result<(), Error> {
        if !uids.iter().any(|uid| copies.proved.contains(uid)) {
            return Ok(());
        }
        // Somebody may have deleted a letter meanwhile. Mailutils takes a UID above the highest for the last
        // letter, which would then be deleted in its place.
        let mut present = self.list()?;
        present.retain(|uid| uids.contains(uid) && copies.proved.contains(uid));
        if present.is_empty() {
            return Ok(());
        }
        let set = uid_set(&present);
        self.mark(&set, "\\Deleted")?;
        // Without UIDPLUS there is only EXPUNGE, which also takes what others have marked as deleted.
        let expunged =
            if self.capabilities.uid_plus { self.session.uid_expunge(&set) } else { self.session.expunge() };
        expunged.map(drop).map_err(convert_error)
    }

    /// Looks for copies of these letters in the processed folder. Afterwards the folder of the letters is
    /// selected again.
    fn find_copies(&mut self, uids: &[u32], copies: &mut Copies) -> Result<(), Error> {
        if uids.is_empty() {
            return Ok(());
        }
        let wanted = unless_none(self.identities(uids))?;
        let own = self.folder.clone();
        let uid_validity = self.uid_validity;
        let processed = self.processed.clone();
        let mut unclear = Vec::new();
        let found = match self.session.select(&processed).map_err(convert_error) {
            Ok(selected) => {
                let may_be_same = selected.uid_validity == Some(uid_validity);
                self.copies_among_selected(&wanted, may_be_same, &mut unclear)?
            }
            // The folder may be missing.
            Err(Error::Server(_) | Error::Misunderstood(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        copies.prove(found);
        self.select_again(&own, uid_validity)?;
        if !unclear.is_empty() {
            copies.prove(self.tell_apart(&unclear)?);
        }
        Ok(())
    }

    /// Selects the folder of the letters, whose numbers must still hold.
    fn select_again(&mut self, own: &str, uid_validity: u32) -> Result<(), Error> {
        self.switch_to(own, "inbox.imap.folder")?;
        if self.uid_validity == uid_validity {
            Ok(())
        } else {
            Err(Error::Goodbye("the server has renumbered the letters".into()))
        }
    }

    /// Returns those of the letters that are copies in the processed folder, which has them under their own
    /// numbers. Some servers give all folders one UIDVALIDITY, or two that are opened in one second, so this may be
    /// chance, or one folder with two names. If it is one folder, a letter that is no longer marked as seen here is not
    /// marked there either. Copies need not be marked at all.
    fn tell_apart(&mut self, uids: &[u32]) -> Result<Vec<u32>, Error> {
        let set = uid_set(uids);
        let marked = self.seen()?;
        if !unless_refused(self.unmark(&set, "\\Seen"))? {
            return Ok(Vec::new());
        }
        let unmarked = self.seen()?;
        unless_refused(self.mark(&set, "\\Seen"))?;
        let changed = |uid: &u32, of: fn(&Seen) -> &Vec<u32>| {
            of(&marked).binary_search(uid).is_ok() && of(&unmarked).binary_search(uid).is_err()
        };
        let is_copy = |uid: &u32| changed(uid, |seen| &seen.here) && !changed(uid, |seen| &seen.there);
        Ok(uids.iter().copied().filter(is_copy).collect())
    }

    /// Returns the letters that are marked as seen; none at all if the processed folder cannot be opened.
    fn seen(&mut self) -> Result<Seen, Error> {
        let own = self.folder.clone();
        let uid_validity = self.uid_validity;
        let processed = self.processed.clone();
        let here = self.search("SEEN")?.0;
        let selected = self.session.select(&processed).map(drop).map_err(convert_error);
        let seen = if unless_refused(selected)? {
            Seen { here, there: self.search("SEEN")?.0 }
        } else {
            Seen::default()
        };
        self.select_again(&own, uid_validity)?;
        Ok(seen)
    }

    /// Returns the letters that have a copy in the selected folder. If that has the UIDVALIDITY of their own
    /// folder, it may be the same folder under another name, where each letter is found, but is no copy. Those that it
    /// has under their own numbers only are added to `unclear`.
    fn copies_among_selected(
        &mut self,
        wanted: &BTreeMap<u32, Fetched>,
        may_be_same: bool,
        unclear: &mut Vec<u32>,
    ) -> Result<Vec<u32>, Error> {
        let listed = self.list()?;
        let newest = &listed[listed.len().saturating_sub(wanted.len() + MARGIN)..];
        let mut candidates = unless_none(self.identities(newest))?;
        let mut found = Vec::new();
        for (uid, letter) in wanted {
            // Each copy proves one letter.
            let is_copy =
                |other: &u32, copy: &Fetched| is_same(letter, copy) && !(may_be_same && other == uid);
            let copy =
                candidates.iter().rev().find(|(other, copy)| is_copy(other, copy)).map(|(other, _)| *other);
            if let Some(copy) = copy {
                candidates.remove(&copy);
                found.push(*uid);
            } else if candidates.get(uid).is_some_and(|copy| is_same(letter, copy)) {
                unclear.push(*uid);
            }
        }
        let rest = wanted.iter().filter(|(uid, _)| !found.contains(uid)).take(MAX_SINGLE_SEARCHES);
        let mut searched = Vec::new();
        for (uid, letter) in rest {
            let Some(id) = letter.envelope.as_ref().and_then(|envelope| envelope.message_id.as_deref())
            else {
                continue;
            };
            let id = bare_id(id);
            // A search takes ASCII only, and the older letters of a folder are no copies of the newest.
            if !id.is_ascii() || newest.len() == listed.len() {
                continue;
            }
            let mut others = self.search(&format!("HEADER Message-ID {}", quoted_string(&id)))?.0;
            others.truncate(MAX_SINGLE_SEARCHES);
            let others = unless_none(self.identities(&others))?;
            if others.iter().any(|(other, copy)| is_same(letter, copy) && !(may_be_same && other == uid)) {
                searched.push(*uid);
            }
        }
        found.extend(searched);
        Ok(found)
    }

    /// Fetches what tells letters of the selected folder apart.
    fn identities(&mut self, uids: &[u32]) -> Result<BTreeMap<u32, Fetched>, Error> {
        if uids.is_empty() {
            return Ok(BTreeMap::new());
        }
        uid_fetch(&mut self.connection.borrow(), &uid_set(uids), "(UID RFC822.SIZE ENVELOPE)", 0)
    }
}

/// Whether two letters are the same by Message-ID, or without one, by size and date.
fn is_same(letter: &Fetched, copy: &Fetched) -> bool {
    let (Some(a), Some(b)) = (&letter.envelope, &copy.envelope) else { return false };
    match (&a.message_id, &b.message_id) {
        (Some(a), Some(b)) => bare_id(a) == bare_id(b),
        (None, None) => letter.size.is_some() && letter.size == copy.size && a.date == b.date,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Returns nothing if the server refuses to tell.
fn unless_none(answer: Result<BTreeMap<u32, Fetched>, Error>) -> Result<BTreeMap<u32, Fetched>, Error> {
    match answer {
        Err(Error::Server(_) | Error::Misunderstood(_)) => Ok(BTreeMap::new()),
        answer => answer,
    }
}
