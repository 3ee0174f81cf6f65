//! The letters of a batch: grouped by what they touch, and decided group by group.
//!
//! Letters about one match, and letters from one sender, form a group, which is decided in order of arrival. Groups are
//! decided in parallel, and joined in the order of their first letters. Only a decision shows everything that it
//! touches (two letters may take up the same offer), so groups that turn out to share a key are merged and decided
//! again.
//!
//! A letter from the GM may touch any match, so it and the letters after it are decided in order, after all groups.
//! Such letters are too rare to justify anything more complex.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::anyhow;

use super::context::{LoadedMatch, RulingContext};
use super::decision::{Decision, DecisionDraft, Key};
use super::gms::About;
use super::one_letter::{ReadLetter, Sender, sender_of};
use super::settings::{Settings, Step};
use super::stored::match_row;
use super::undecided::{Decided, Undecided, Wanted, collect_needs};
use crate::daemon::parallel::par_map;
use crate::letter::{Digest, Letter, Limits, bounded_head};
use crate::report::ClubLetter;
use crate::store::{LetterDecision, LetterStatus, Postponed, Settlement, WaitingLetter};

/// Failures after which a letter is set aside.
pub const MAX_ATTEMPTS: u32 = 3;

/// The letters of one transaction, and what is decided on them so far.
pub struct LetterBatch {
    letters: Arc<Vec<ReadLetter>>,
    /// Groups that do not share a key.
    groups: Vec<LetterGroup>,
    /// Joined from all groups once they are decided.
    joined: Option<DecisionDraft>,
    /// The index of the first letter that is decided after all groups, in order.
    in_order_from: usize,
}

/// Letters that share a key, by index in order of arrival, and their draft once they are decided.
struct LetterGroup {
    letters: Vec<usize>,
    draft: Option<DecisionDraft>,
}

/// The rounds in which a decision may ask for rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rounds {
    /// Missing rows are loaded, and the decision is made again.
    More,
    /// A letter that still lacks rows counts as failed, so that it does not block the others.
    Last,
}

impl LetterBatch {
    /// Groups letters. Unless `in_parallel`, all are decided in order.
    pub fn new(
        settings: &Settings,
        context: &RulingContext,
        letters: Arc<Vec<ReadLetter>>,
        in_parallel: bool,
    ) -> Decided<LetterBatch> {
        let mut keys = Vec::new();
        for letter in letters.iter().take_while(|_| in_parallel) {
            match keys_of(settings, context, letter)? {
                Some(of_letter) => keys.push(of_letter),
                None => break,
            }
        }
        let groups = grouped(keys.iter()).into_iter().map(|letters| LetterGroup { letters, draft: None });
        Ok(LetterBatch { groups: groups.collect(), in_order_from: keys.len(), joined: None, letters })
    }

    /// Decides on all letters. Groups that are decided stay so while others lack rows.
    pub fn decide(
        &mut self,
        settings: &Settings,
        context: &RulingContext,
        rounds: Rounds,
    ) -> Decided<Settlement> {
        if self.joined.is_none() {
            self.decide_groups(settings, context, rounds)?;
            while self.merge_groups_that_share_keys() {
                self.decide_groups(settings, context, rounds)?;
            }
            let mut joined = DecisionDraft::new(context.at);
            for group in mem::take(&mut self.groups) {
                joined.join(group.draft.ok_or_else(|| anyhow!("a group is not decided"))?);
            }
            self.joined = Some(joined);
        }
        let in_order = &self.letters[self.in_order_from..];
        let draft = match &self.joined {
            // A clone, because the groups are needed again if rows are missing.
            Some(joined) if !in_order.is_empty() => {
                decide_in_order(settings, context, joined.clone(), in_order, rounds)?
            }
            _ => self.joined.take().unwrap_or_default(),
        };
        Ok(finish(draft)?)
    }

    fn decide_groups(&mut self, settings: &Settings, context: &RulingContext, rounds: Rounds) -> Decided<()> {
        let letters = &self.letters;
        let undecided: Vec<usize> =
            (0..self.groups.len()).filter(|index| self.groups[*index].draft.is_none()).collect();
        let drafts = par_map(&undecided, |index| {
            let group = self.groups[*index].letters.iter().map(|index| &letters[*index]);
            decide_in_order(settings, context, DecisionDraft::new(context.at), group, rounds)
        });
        let mut missing = Wanted::default();
        for (index, draft) in undecided.into_iter().zip(drafts) {
            self.groups[index].draft = collect_needs(draft, &mut missing)?;
        }
        missing.check()
    }

    /// Merges decided groups that turned out to share a key, and returns whether there were any. A merged group is
    /// undecided again.
    fn merge_groups_that_share_keys(&mut self) -> bool {
        let merged = grouped(self.groups.iter().map(LetterGroup::touched));
        if merged.len() == self.groups.len() {
            return false;
        }
        let mut before: Vec<Option<LetterGroup>> =
            mem::take(&mut self.groups).into_iter().map(Some).collect();
        for indices in merged {
            let parts: Vec<LetterGroup> = indices.iter().filter_map(|index| before[*index].take()).collect();
            self.groups.push(LetterGroup::merge(parts));
        }
        true
    }
}

impl LetterGroup {
    fn touched(&self) -> &BTreeSet<Key> {
        const NOTHING: &BTreeSet<Key> = &BTreeSet::new();
        self.draft.as_ref().map_or(NOTHING, |draft| &draft.touched)
    }

    /// Merges groups into one, which is undecided; a single group stays as it is.
    fn merge(mut parts: Vec<LetterGroup>) -> LetterGroup {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return only;
        }
        let mut letters: Vec<usize> = parts.into_iter().flat_map(|part| part.letters).collect();
        letters.sort_unstable();
        LetterGroup { letters, draft: None }
    }
}

/// Returns the keys that a letter touches, as far as they are known before it is decided, or `None` if it may touch
/// anything.
fn keys_of(
    settings: &Settings,
    context: &RulingContext,
    letter: &ReadLetter,
) -> Decided<Option<BTreeSet<Key>>> {
    let letter = match &letter.read {
        None => return Ok(Some(BTreeSet::new())),
        Some(Ok(letter)) => letter,
        Some(Err(unreadable)) => {
            let Some(address) = &unreadable.answerable else { return Ok(Some(BTreeSet::new())) };
            let address = Key::Address(address.as_str().to_owned());
            return Ok(Some(BTreeSet::from([address, Key::Strangers])));
        }
    };
    let mut keys = BTreeSet::from([Key::Address(letter.from.as_str().to_owned())]);
    if letter.automatic.is_some() {
        return Ok(Some(keys));
    }
    match sender_of(settings, context, letter)? {
        Sender::Gm { .. } => return Ok(None),
        Sender::Seat(row) | Sender::Unknown(row) => {
            keys.insert(Key::Match(row.match_id));
            keys.extend(row.player.addresses.into_iter().next().map(Key::Address));
        }
        // They share the club's budget for answers.
        Sender::Stranger => {
            keys.insert(Key::Strangers);
        }
        Sender::GmImpostor => {}
    }
    Ok(Some(keys))
}

/// Groups indices whose keys overlap, directly or through others. Each group is in order, and so are the first members
/// of the groups.
fn grouped<'k>(keys: impl ExactSizeIterator<Item = &'k BTreeSet<Key>>) -> Vec<Vec<usize>> {
    let mut leaders: Vec<usize> = (0..keys.len()).collect();
    let mut first_with: BTreeMap<&Key, usize> = BTreeMap::new();
    for (index, own) in keys.enumerate() {
        for key in own {
            let other = *first_with.entry(key).or_insert(index);
            let (own, other) = (leader(&leaders, index), leader(&leaders, other));
            leaders[own.max(other)] = own.min(other);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for index in 0..leaders.len() {
        groups.entry(leader(&leaders, index)).or_default().push(index);
    }
    groups.into_values().collect()
}

fn leader(leaders: &[usize], mut index: usize) -> usize {
    while leaders[index] != index {
        index = leaders[index];
    }
    index
}

fn decide_in_order<'l>(
    settings: &Settings,
    context: &RulingContext,
    draft: DecisionDraft,
    letters: impl IntoIterator<Item = &'l ReadLetter>,
    rounds: Rounds,
) -> Decided<DecisionDraft> {
    let mut decision = Decision::upon(settings, context, draft);
    for letter in letters {
        decide_safely(&mut decision, letter, rounds)?;
    }
    Ok(decision.accepted())
}

/// Decides on one letter. If that fails, only the failure remains.
fn decide_safely(decision: &mut Decision<'_>, letter: &ReadLetter, rounds: Rounds) -> Decided<()> {
    decision.begin_letter(letter.waiting.digest);
    let _in_work = decision.context.in_work.enter(letter.waiting.digest);
    let decided = catch_unwind(AssertUnwindSafe(|| {
        decision.settings.spring(Step::Decide, &letter.waiting.raw);
        decision.decide_letter(letter)
    }));
    let error = match decided {
        Ok(Ok(())) => {
            decision.accept();
            return Ok(());
        }
        Ok(Err(Undecided::Needs(wanted))) if rounds == Rounds::More => {
            return Err(Undecided::Needs(wanted));
        }
        Ok(Err(Undecided::Needs(_))) => anyhow!("ruling on the letter takes too many queries"),
        Ok(Err(Undecided::Failed(error))) => error,
        Err(_panic) => anyhow!("ruling on the letter failed"),
    };
    decision.reject();
    decision.set_back(&letter.waiting, &error)?;
    decision.accept();
    Ok(())
}

impl Decision<'_> {
    /// Counts a failure. After [`MAX_ATTEMPTS`] the letter is set aside, and the GM is told.
    fn set_back(&mut self, waiting: &WaitingLetter, error: &anyhow::Error) -> Decided<()> {
        let (letter, attempts) = (waiting.digest, waiting.tries + 1);
        let note = format!("{error:#}");
        tracing::error!(%letter, attempts, error = note, "failed to rule on a letter");
        if attempts < MAX_ATTEMPTS {
            self.draft.settlement.postponed.push(Postponed {
                digest: letter,
                note,
                until: None,
                match_id: None,
            });
            return Ok(());
        }
        self.set_aside(waiting, note, attempts)
    }

    /// Sets a letter aside, and tells the GM.
    fn set_aside(&mut self, waiting: &WaitingLetter, note: String, attempts: u32) -> Decided<()> {
        let letter = waiting.digest;
        let sender = sender_in_header(&waiting.raw);
        let digest = letter.to_string();
        let plain = ClubLetter::SetAside { digest, sender, note: note.clone(), attempts };
        let about = self.match_of(&waiting.raw)?.map_or(About::Club, About::Match);
        let alarms = self.gm_alarms(&plain, &set_aside_part(letter), about)?;
        let status = LetterStatus::SetAside;
        self.draft.settlement.decided.push(LetterDecision {
            digest: letter,
            status,
            note,
            seat: None,
            accepted_by: None,
        });
        self.draft.settlement.dispatches.extend(alarms);
        Ok(())
    }

    /// Returns the match of the first reply token in a letter's header.
    fn match_of(&self, raw: &[u8]) -> Decided<Option<&LoadedMatch>> {
        for token in Letter::tokens_in_header(raw, &self.settings.own) {
            if let Some(row) = self.context.seat_by_token(token.as_str())? {
                return self.game_match(&row.match_id);
            }
        }
        Ok(None)
    }
}

/// Counts a failure of a letter whose settlement cannot be committed.
///
/// # Errors
/// Returns an error if the letter to the GM cannot be worded.
pub fn set_back(
    settings: &Settings,
    context: &RulingContext,
    waiting: &WaitingLetter,
    error: &anyhow::Error,
) -> Decided<Settlement> {
    let mut decision = Decision::new(settings, context);
    decision.set_back(waiting, error)?;
    Ok(decision.draft.settlement)
}

/// Sets a letter aside without another attempt, because attempts on it never end.
///
/// # Errors
/// Returns an error if the letter to the GM cannot be worded.
pub fn set_aside(
    settings: &Settings,
    context: &RulingContext,
    waiting: &WaitingLetter,
    error: &anyhow::Error,
) -> Decided<Settlement> {
    let (letter, note) = (waiting.digest, format!("{error:#}"));
    tracing::error!(%letter, error = note, "letter set aside");
    let mut decision = Decision::new(settings, context);
    decision.set_aside(waiting, note, waiting.tries.max(1))?;
    Ok(decision.draft.settlement)
}

/// Returns the unique part of the Message-ID of the letter that tells the GM of a letter that was set aside.
fn set_aside_part(letter: Digest) -> String {
    format!("s.{}", &letter.to_string()[..24])
}

/// Returns the settlement of a draft. Writes the matches as JSON in parallel.
fn finish(draft: DecisionDraft) -> anyhow::Result<Settlement> {
    let DecisionDraft { matches, mut settlement, .. } = draft;
    let changed: Vec<_> = matches.values().collect();
    for row in par_map(&changed, |loaded| match_row(&loaded.game_match, loaded.version)) {
        settlement.matches.push(row?);
    }
    Ok(settlement)
}

/// Returns the sender in the header of a letter that may be unreadable otherwise.
fn sender_in_header(raw: &[u8]) -> String {
    let head = bounded_head(raw, &Limits::default());
    let mail = mail_parser::MessageParser::default().parse_headers(&head);
    let sender = mail.as_ref().and_then(|mail| mail.from()?.first()?.address());
    sender.unwrap_or("nobody").chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &str) -> BTreeSet<Key> {
        names.chars().map(|name| Key::Match(name.to_string())).collect()
    }

    #[test]
    fn what_shares_a_key_by_way_of_others_is_one_group() {
        let of = |names: &[&str]| {
            let keys: Vec<_> = names.iter().map(|names| keys(names)).collect();
            grouped(keys.iter())
        };
        assert_eq!(of(&["a", "b", "a", "c"]), [vec![0, 2], vec![1], vec![3]]);
        assert_eq!(of(&["a", "b", "c", "bc", "ab"]), [vec![0, 1, 2, 3, 4]]);
        assert_eq!(of(&["", "", "a"]), [vec![0], vec![1], vec![2]]);
    }
}
