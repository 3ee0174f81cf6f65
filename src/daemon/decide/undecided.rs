//! Why a decision ended without a settlement, and which rows it lacks.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::referee::Readership;
use crate::report::TemplateError;
use crate::report::mime::MimeError;

/// The rows that letters, or a decision, refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Reply tokens. For each, both seats of its match and the match itself are wanted.
    pub tokens: BTreeSet<String>,
    /// Match IDs. For each, the match and both its seats are wanted.
    pub matches: BTreeSet<String>,
    /// Names for which the decision asks whether a match has them.
    pub names: BTreeSet<String>,
    /// Match IDs whose ledger entries are wanted.
    pub entries: BTreeSet<String>,
    /// Match IDs whose sent reports are wanted.
    pub reports: BTreeSet<String>,
    /// Message-IDs of our letters whose text is wanted.
    pub texts: BTreeSet<String>,
    /// Message-IDs of our letters whose rows are wanted.
    pub dispatches: BTreeSet<String>,
    /// IDs of return paths whose dispatches are wanted.
    pub return_ids: BTreeSet<String>,
    /// Addresses whose player is wanted.
    pub addresses: BTreeSet<String>,
    /// Addresses whose player is added under this name if there is none yet.
    pub seated: BTreeMap<String, String>,
    /// Whether the names of all players are wanted.
    pub player_names: bool,
    /// Player IDs whose matches are wanted.
    pub matches_of: BTreeSet<i64>,
    /// Player IDs whose unproven letters are wanted.
    pub unproven_of: BTreeSet<i64>,
    /// Player IDs whose changes of addresses are wanted.
    pub changes_of: BTreeSet<i64>,
    /// Codes of changes that players ask for.
    pub change_codes: BTreeSet<String>,
    /// Codes of invitations.
    pub invitations: BTreeSet<String>,
    /// Whether all open invitations are wanted.
    pub open_invitations: bool,
    /// Addresses whose answers of the last hour are wanted.
    pub readers: BTreeSet<String>,
    /// Addresses for which a decision asks what is known of them, and for the open question to them.
    pub senders: BTreeSet<String>,
    /// Addresses, seats and other subjects whose counts are wanted.
    pub budgets: BTreeSet<String>,
    /// Pairs of an inviter and an invited address; wanted is whether the latter declined an offer of the former.
    pub declined: BTreeSet<(String, String)>,
    /// Whether a summary of every match is wanted.
    pub summaries: bool,
    /// Beginnings of digests of letters whose rows are wanted.
    pub letters: BTreeSet<String>,
    /// Whether the matches that ended last are wanted.
    pub ended: bool,
    /// The readers of announcements.
    pub readers_of: Vec<Readership>,
    /// Start of the period that a digest covers.
    pub digest_since: Option<DateTime<Utc>>,
}

/// The result of a decision.
pub type Decided<T> = Result<T, Undecided>;

/// Why there is no decision.
#[derive(Debug)]
pub enum Undecided {
    /// Rows are missing: load them and decide again.
    Needs(Box<Wanted>),
    /// The decision failed, and a repetition would fail too.
    Failed(anyhow::Error),
}

impl Wanted {
    /// Fails if anything is missing.
    pub fn check(&self) -> Decided<()> {
        if *self == Wanted::default() { Ok(()) } else { Err(self.clone().into()) }
    }

    /// Adds what another decision wants.
    pub fn merge(&mut self, other: Wanted) {
        let Wanted {
            tokens,
            matches,
            names,
            entries,
            reports,
            texts,
            dispatches,
            return_ids,
            addresses,
            seated,
            player_names,
            matches_of,
            unproven_of,
            changes_of,
            change_codes,
            invitations,
            open_invitations,
            readers,
            senders,
            budgets,
            declined,
            summaries,
            letters,
            ended,
            readers_of,
            digest_since,
        } = other;
        self.tokens.extend(tokens);
        self.matches.extend(matches);
        self.names.extend(names);
        self.entries.extend(entries);
        self.reports.extend(reports);
        self.texts.extend(texts);
        self.dispatches.extend(dispatches);
        self.return_ids.extend(return_ids);
        self.addresses.extend(addresses);
        for (address, name) in seated {
            // The first name counts, as if the players were added one after the other.
            self.seated.entry(address).or_insert(name);
        }
        self.player_names |= player_names;
        self.matches_of.extend(matches_of);
        self.unproven_of.extend(unproven_of);
        self.changes_of.extend(changes_of);
        self.change_codes.extend(change_codes);
        self.invitations.extend(invitations);
        self.open_invitations |= open_invitations;
        self.readers.extend(readers);
        self.senders.extend(senders);
        self.budgets.extend(budgets);
        self.declined.extend(declined);
        self.summaries |= summaries;
        self.letters.extend(letters);
        self.ended |= ended;
        self.readers_of.extend(readers_of);
        self.digest_since = self.digest_since.or(digest_since);
    }
}

/// Splits a result into its value and the rows that are missing, so that one round of loading serves several
/// questions.
///
/// # Errors
/// Returns an error if the decision failed for a reason other than missing rows.
pub fn collect_needs<T>(decided: Decided<T>, missing: &mut Wanted) -> anyhow::Result<Option<T>> {
    match decided {
        Ok(value) => Ok(Some(value)),
        Err(Undecided::Needs(wanted)) => {
            missing.merge(*wanted);
            Ok(None)
        }
        Err(Undecided::Failed(error)) => Err(error),
    }
}

impl Undecided {
    /// Turns missing rows into an error, for a decision without further rounds.
    pub fn into_error(self) -> anyhow::Error {
        match self {
            Undecided::Needs(_) => anyhow::anyhow!("the decision lacks rows"),
            Undecided::Failed(error) => error,
        }
    }

    /// Returns the answer that the row with this key is missing. `part` selects the list that the key goes into.
    pub fn lacks(part: fn(&mut Wanted) -> &mut BTreeSet<String>, key: &str) -> Undecided {
        Undecided::needs(|wanted| part(wanted).extend([key.to_owned()]))
    }

    /// Returns the answer that rows are missing. `name` adds them to what is wanted.
    pub fn needs(name: impl FnOnce(&mut Wanted)) -> Undecided {
        let mut wanted = Wanted::default();
        name(&mut wanted);
        Undecided::Needs(Box::new(wanted))
    }
}

impl From<Wanted> for Undecided {
    fn from(wanted: Wanted) -> Self {
        Undecided::Needs(Box::new(wanted))
    }
}

impl From<anyhow::Error> for Undecided {
    fn from(error: anyhow::Error) -> Self {
        Undecided::Failed(error)
    }
}

impl From<TemplateError> for Undecided {
    fn from(error: TemplateError) -> Self {
        Undecided::Failed(error.into())
    }
}

impl From<MimeError> for Undecided {
    fn from(error: MimeError) -> Self {
        Undecided::Failed(error.into())
    }
}

impl From<serde_json::Error> for Undecided {
    fn from(error: serde_json::Error) -> Self {
        Undecided::Failed(error.into())
    }
}
