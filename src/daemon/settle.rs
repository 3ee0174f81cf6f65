//! Letters that wait are read, recognised, ruled on and answered: many in one transaction when many wait.
//!
//! One letter's fault stops no other: reading and ruling are caught, the letter is tried again, and after three
//! tries it is set aside.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::Context;
use chrono::TimeDelta;

use super::anybody::Asker;
use super::proof::Proofs;
use super::pulse::Loop;
use super::write;
use super::{Office, Pause, rest};
use crate::game::{BySeat, Fault, Line};
use crate::letter::{Address, Digest, Letter, Unreadable, Written};
use crate::post::Stop;
use crate::post::dkim::Verdict;
use crate::referee::{self, Again, Cause, Content, Match, Reply, Ruling, SeatLetter};
use crate::report::again::{Wanted, text_of};
use crate::report::envelope::Answered;
use crate::report::{self, Plain};
use crate::request::Request;
use crate::store::{Decided, Fate, MatchRow, NewDispatch, Settlement, StoreError, TokenRow, WaitingLetter};

/// Letters settled in one transaction.
const TOGETHER: u32 = 250;

/// After so many failures a letter is set aside.
const TRIES_AT_MOST: u32 = 3;

/// What somebody lacks who asks for something in a match.
const NO_TOKEN: &str = "For a match I need its reply token: please answer a letter of mine about that match.";

/// What is noted of a letter that is not signed as it must be.
const UNPROVEN: &str = "not proven to be its sender's (DKIM)";

/// A match as it is while letters of one transaction are ruled on, one after the other.
pub(super) struct Working {
    pub m: Match,
    pub version: i64,
    pub seats: BySeat<TokenRow>,
    pub changed: bool,
}

/// What the letters of one transaction need to be ruled on.
#[derive(Default)]
pub(super) struct Known {
    pub gm_token: String,
    pub tokens: BTreeMap<String, TokenRow>,
    pub matches: BTreeMap<String, Working>,
    /// The text of our letters that are answered, by Message-ID.
    pub answered: BTreeMap<String, String>,
    pub proofs: Proofs,
}

/// A letter as far as it can be read without knowing any match.
pub(super) type Read = Result<Letter, Box<Unreadable>>;

impl Office {
    /// Settles what waits, until `stop`.
    pub(super) async fn settle_until(&self, stop: &Stop) {
        let mut pause = Pause::new();
        while !stop.is_set() {
            self.pulse.beat(Loop::Settle);
            match self.settle_some().await {
                Ok(0) => {
                    pause = Pause::new();
                    rest(&self.letters, stop).await;
                }
                Ok(_) => pause = Pause::new(),
                Err(error) => pause.after_failure("letters cannot be settled", &error, stop).await,
            }
        }
    }

    /// Settles every letter that waits.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn settle_all(&self) -> anyhow::Result<()> {
        while self.settle_some().await? > 0 {
            self.pulse.beat(Loop::Clock);
        }
        Ok(())
    }

    /// Settles up to [`TOGETHER`] letters in one transaction and says how many there were.
    async fn settle_some(&self) -> anyhow::Result<usize> {
        let letters = self.store.waiting_letters(self.now(), TOGETHER).await.context("waiting letters")?;
        if letters.is_empty() {
            return Ok(0);
        }
        let read: Vec<Option<Read>> = letters.iter().map(|letter| self.read(letter)).collect();
        let mut context = self.gather(&read).await?;
        context.proofs = self.proofs(&letters, &read).await;
        let mut settlement = Settlement { at: self.now(), ..Settlement::default() };
        for (waiting, read) in letters.iter().zip(&read) {
            if let Err(error) = self.settle_one(waiting, read.as_ref(), &mut context, &mut settlement).await {
                self.set_back(waiting, &error, &mut settlement).await?;
            }
        }
        context.put_on(&mut settlement)?;
        match self.store.commit(&settlement).await {
            Ok(()) => {}
            // Somebody else has ruled on one of the matches meanwhile: all is loaded and ruled on again.
            Err(StoreError::Stale(match_id)) => tracing::debug!(match_id, "ruled on by another; again"),
            Err(error) => return Err(error).context("the settlement could not be committed"),
        }
        if !settlement.dispatches.is_empty() {
            self.dispatches.notify_one();
        }
        Ok(letters.len())
    }

    /// Reads a letter; `None` when reading it panicked.
    fn read(&self, waiting: &WaitingLetter) -> Option<Read> {
        let limits = self.config.letters.limits();
        catch_unwind(AssertUnwindSafe(|| Letter::read(&waiting.raw, &self.own, &limits))).ok()
    }

    /// Loads what the letters refer to, in a few queries for all of them.
    async fn gather(&self, read: &[Option<Read>]) -> anyhow::Result<Known> {
        let readable = || read.iter().flatten().filter_map(|read| read.as_ref().ok());
        let tokens: BTreeSet<String> =
            readable().flat_map(|letter| letter.tokens.iter().map(ToString::to_string)).collect();
        let tokens: Vec<_> = tokens.into_iter().collect();
        let rows = self.store.seats_by_token(&tokens).await.context("reply tokens")?;
        let ids: BTreeSet<String> = rows.iter().map(|row| row.match_id.clone()).collect();
        let ids: Vec<_> = ids.into_iter().collect();
        let matches = self.working(&ids).await?;
        let answered: BTreeSet<String> =
            readable().flat_map(|letter| letter.in_reply_to.iter().cloned()).collect();
        let answered: Vec<_> = answered.into_iter().collect();
        let answered = self.store.dispatches_by_message_id(&answered).await.context("letters answered")?;
        Ok(Known {
            gm_token: self.gm_token().await?,
            tokens: rows.into_iter().map(|row| (row.token.clone(), row)).collect(),
            matches,
            answered: answered.into_iter().map(|(id, bytes)| (id, text_of(&bytes))).collect(),
            proofs: Proofs::new(),
        })
    }

    pub(super) async fn working(&self, ids: &[String]) -> anyhow::Result<BTreeMap<String, Working>> {
        let rows = self.store.matches(ids).await.context("matches")?;
        let seats = self.store.seats_of(ids).await.context("seats")?;
        let mut by_match: BTreeMap<String, Vec<TokenRow>> = BTreeMap::new();
        for seat in seats {
            by_match.entry(seat.match_id.clone()).or_default().push(seat);
        }
        let readable = rows.into_iter().filter_map(|row| Some((rulable(&row)?, row)));
        readable
            .map(|(m, row)| {
                let seats = write::both_seats(by_match.remove(&row.id).unwrap_or_default(), &row.id)?;
                Ok((row.id, Working { m, version: row.version, seats, changed: false }))
            })
            .collect()
    }

    /// Decides what becomes of one letter, and puts it on the settlement.
    async fn settle_one(
        &self,
        waiting: &WaitingLetter,
        read: Option<&Read>,
        context: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let decide = |fate, note: String| Decided { digest: waiting.digest, fate, note, seat: None };
        let letter = match read.context("reading the letter failed")? {
            Ok(letter) => letter,
            Err(unreadable) => {
                if let Some(automatic) = &unreadable.automatic {
                    self.note_automatic(automatic, context, settlement).await?;
                }
                let decided = self.unreadable(waiting, unreadable, settlement).await?;
                settlement.decided.push(decided);
                return Ok(());
            }
        };
        if let Some(automatic) = &letter.automatic {
            self.note_automatic(automatic, context, settlement).await?;
            settlement.decided.push(decide(Fate::Automatic, automatic.to_string()));
            return Ok(());
        }
        let recognised = self.recognised(letter, context);
        let proven = match &recognised {
            Recognised::Stranger { note } if !note.is_empty() => true,
            _ => match self.verdict(waiting, &context.proofs, self.now()).await? {
                Verdict::Passed => true,
                Verdict::NotPassed => false,
                Verdict::TryLater => return Ok(()),
            },
        };
        match recognised {
            Recognised::Seat(row) if !proven => {
                self.note_unproven(&row, settlement).await?;
                settlement.decided.push(decide(Fate::Ignored, UNPROVEN.to_owned()));
                Ok(())
            }
            Recognised::Gm { .. } if !proven => {
                settlement.decided.push(decide(Fate::Ignored, UNPROVEN.to_owned()));
                Ok(())
            }
            Recognised::Seat(row) => self.settle_seat(waiting, letter, &row, context, settlement).await,
            Recognised::Gm { token } => self.settle_gm(waiting, letter, token, context, settlement).await,
            Recognised::Stranger { note } if !note.is_empty() => {
                settlement.decided.push(decide(Fate::Ignored, note.to_owned()));
                Ok(())
            }
            Recognised::Stranger { .. } => {
                let decided = self.settle_stranger(waiting, letter, proven, settlement).await?;
                settlement.decided.push(decided);
                Ok(())
            }
        }
    }

    /// Rules on a seat's letter.
    async fn settle_seat(
        &self,
        waiting: &WaitingLetter,
        letter: &Letter,
        row: &TokenRow,
        context: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let answered = letter.in_reply_to.iter().find_map(|id| context.answered.get(id));
        let working = context.matches.get_mut(&row.match_id).context("its match cannot be ruled on")?;
        let at = self.now();
        let mut request = SeatLetter::of(letter, row.seat, answered.map(String::as_str), &working.m);
        let ruled = catch_unwind(AssertUnwindSafe(|| self.rule(&working.m, &Cause::Letter(&request), at)));
        let mut ruling = ruled.map_err(|_| anyhow::anyhow!("ruling on the letter failed"))?;
        self.fill_in(&mut ruling, row, &request.request, settlement).await?;
        let answers = Answered::new(letter);
        let (mut entries, mut dispatches) =
            self.rows(&mut ruling, &working.seats, None, Some(&answers), &settlement.entries, at).await?;
        let written = dispatches.len();
        self.hold_back(&mut dispatches, letter, settlement).await?;
        if dispatches.len() < written {
            // The ledger tells of it, and the heads in the other letters follow.
            request.silent = true;
            ruling = self.rule(&working.m, &Cause::Letter(&request), at);
            (entries, dispatches) =
                self.rows(&mut ruling, &working.seats, None, Some(&answers), &settlement.entries, at).await?;
        }
        tracing::info!(
            match_id = row.match_id,
            seat = %row.seat,
            letter = %waiting.digest,
            entries = entries.len(),
            dispatches = dispatches.len(),
            "ruled on a letter"
        );
        working.m = ruling.after;
        working.changed = true;
        settlement.entries.extend(entries);
        settlement.dispatches.extend(dispatches);
        settlement.decided.push(Decided {
            digest: waiting.digest,
            fate: Fate::Ruled,
            note: String::new(),
            seat: Some((row.match_id.clone(), row.seat)),
        });
        Ok(())
    }

    /// Completes an answer: reports as they were sent, and the replies to what anybody may ask.
    async fn fill_in(
        &self,
        ruling: &mut Ruling,
        row: &TokenRow,
        request: &Request,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        for dispatch in &mut ruling.dispatches {
            let Content::Answer(answer) = &mut dispatch.content else { continue };
            let asker = Asker::player(&row.player, answer.to.context("an answer to no letter")?);
            for (reply, asked) in answer.replies.iter_mut().zip(&request.commands) {
                match reply {
                    Reply::Report { turn } => {
                        let wanted = Wanted::of(*turn);
                        answer.reports = self.reports_again(row, &settlement.dispatches, wanted).await?;
                    }
                    Reply::History => {
                        answer.reports = self.reports_again(row, &settlement.dispatches, Wanted::All).await?;
                    }
                    Reply::CheckedOnly { .. } => {}
                    _ => {
                        if let Some(found) = self.for_anybody(&asker, &asked.command, settlement).await? {
                            *reply = found;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The reports of a seat as they were sent.
    async fn reports_again(
        &self,
        row: &TokenRow,
        unsaved: &[NewDispatch],
        wanted: Wanted,
    ) -> anyhow::Result<Vec<Again>> {
        let saved = self.store.dispatches_of(&row.match_id).await?;
        let saved = saved
            .iter()
            .filter(|(about, _)| about.kind == "report" && about.seat == Some(row.seat))
            .map(|(_, bytes)| bytes.as_slice());
        let unsaved = unsaved
            .iter()
            .filter(|new| new.kind == "report" && new.match_id.as_ref() == Some(&row.match_id))
            .filter(|new| new.seat == Some(row.seat))
            .map(|new| new.bytes.as_slice());
        Ok(report::again::again(saved.chain(unsaved), wanted))
    }

    /// Answers somebody who holds no seat: the manual, the games, the rules; nothing that touches a match.
    async fn settle_stranger(
        &self,
        waiting: &WaitingLetter,
        letter: &Letter,
        proven: bool,
        settlement: &mut Settlement,
    ) -> anyhow::Result<Decided> {
        let request = Request::read(&lines_now(letter), |_| false);
        let asker = self.asker(letter, proven).await?;
        let mut replies = Vec::new();
        for asked in &request.commands {
            match referee::changing(&asked.command).filter(|_| request.check) {
                Some(command) => replies.push(Reply::CheckedOnly { command }),
                None => replies.extend(self.for_anybody(&asker, &asked.command, settlement).await?),
            }
        }
        let mut why: Vec<String> = request.faults.iter().map(fault_told).collect();
        if request.commands.len() > replies.len() {
            why.push(NO_TOKEN.to_owned());
        }
        let plain = Plain::Stranger { replies, remarks: request.remarks, why: why.join(" ") };
        let page = report::word_plain(&self.templates, &self.stationery.club(), &plain, "")?;
        let mut dispatches =
            vec![self.answer_to(waiting, &letter.from, page, Some(&Answered::new(letter)))?];
        self.hold_back(&mut dispatches, letter, settlement).await?;
        settlement.dispatches.extend(dispatches);
        let note = "answered without touching a match".to_owned();
        Ok(Decided { digest: waiting.digest, fate: Fate::Answered, note, seat: None })
    }

    /// A letter beyond the limits, or without one sender: one short answer where one may go out, or none.
    async fn unreadable(
        &self,
        waiting: &WaitingLetter,
        why: &Unreadable,
        settlement: &mut Settlement,
    ) -> anyhow::Result<Decided> {
        let note = why.why.to_string();
        if let Some(address) = &why.answerable {
            let plain = Plain::Stranger { replies: Vec::new(), remarks: Vec::new(), why: note.clone() };
            let page = report::word_plain(&self.templates, &self.stationery.club(), &plain, "")?;
            let since = self.now() - TimeDelta::hours(1);
            // One short answer is enough, whatever else comes from there.
            let (before, _) = self.store.answers_to(address.as_str(), since).await?;
            let answer = self.answer_to(waiting, address, page, None)?;
            if before == 0 && !settlement.dispatches.iter().any(|other| other.recipient == answer.recipient) {
                settlement.dispatches.push(answer);
            }
        }
        Ok(Decided { digest: waiting.digest, fate: Fate::Ignored, note, seat: None })
    }

    fn answer_to(
        &self,
        waiting: &WaitingLetter,
        to: &Address,
        page: report::Page,
        answered: Option<&Answered>,
    ) -> anyhow::Result<NewDispatch> {
        let unique = format!("a.{}", &waiting.digest.to_string()[..24]);
        let message_id = self.stationery.message_id("", &unique);
        let bytes = self.plain_mail(page, "", ("", to.as_str()), &message_id, answered)?;
        Ok(NewDispatch {
            message_id,
            recipient: to.as_str().to_owned(),
            bytes,
            kind: "answer".to_owned(),
            match_id: None,
            seat: None,
            answers: Some(waiting.digest),
        })
    }

    /// Whose letter it is: a token of a seat must come back, and the sender be that seat's player; or the GM.
    fn recognised(&self, letter: &Letter, context: &Known) -> Recognised {
        let (mut note, gm) = ("", self.is_gm(&letter.from));
        for token in &letter.tokens {
            match context.tokens.get(token.as_str()) {
                Some(row) if row.player.addresses.iter().any(|address| address == letter.from.as_str()) => {
                    return Recognised::Seat(row.clone());
                }
                Some(_) => note = "a reply token, but not from that player's address",
                None if token.as_str() == context.gm_token && gm => return Recognised::Gm { token: true },
                None if token.as_str() == context.gm_token => {
                    note = "the GM's reply token, but not his address"
                }
                None => {}
            }
        }
        if note.is_empty() && gm && !referee::instructions(&lines_now(letter)).0.is_empty() {
            return Recognised::Gm { token: false };
        }
        Recognised::Stranger { note }
    }

    /// Takes out answers beyond the limit for their reader, and one that says the same as the last one to the same
    /// text: so two machines cannot write to each other for ever.
    pub(super) async fn hold_back(
        &self,
        dispatches: &mut Vec<NewDispatch>,
        letter: &Letter,
        settlement: &Settlement,
    ) -> anyhow::Result<()> {
        let Some(place) = dispatches.iter().position(|dispatch| dispatch.answers.is_some()) else {
            return Ok(());
        };
        let answer = &dispatches[place];
        let since = self.now() - TimeDelta::hours(1);
        let (before, last) = self.store.answers_to(&answer.recipient, since).await?;
        let now: Vec<&NewDispatch> = settlement
            .dispatches
            .iter()
            .filter(|other| other.answers.is_some() && other.recipient == answer.recipient)
            .collect();
        let of_now = now.last().and_then(|other| Some((other.answers?, other.bytes.clone())));
        let too_many = before as usize + now.len() >= self.config.letters.answers_per_hour as usize;
        let again = match of_now.or(last) {
            Some((digest, bytes)) if gist(&bytes) == gist(&answer.bytes) => {
                self.text_came_before(letter, digest).await?
            }
            Some(_) | None => false,
        };
        if too_many || again {
            tracing::warn!(kind = answer.kind, too_many, again, "an answer is held back");
            dispatches.remove(place);
        }
        Ok(())
    }

    /// Whether the letter with this digest has the same text.
    async fn text_came_before(&self, letter: &Letter, digest: Digest) -> anyhow::Result<bool> {
        let Some(raw) = self.store.letter(digest).await? else { return Ok(false) };
        let limits = self.config.letters.limits();
        let before = Letter::read(&raw, &self.own, &limits);
        Ok(before.is_ok_and(|before| lines_now(&before) == lines_now(letter)))
    }

    /// Counts a failure; the third sets the letter aside.
    async fn set_back(
        &self,
        waiting: &WaitingLetter,
        error: &anyhow::Error,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let (letter, tries) = (waiting.digest, waiting.tries + 1);
        let note = format!("{error:#}");
        tracing::error!(%letter, tries, error = note, "a letter could not be ruled on");
        if tries < TRIES_AT_MOST {
            self.store.count_try(letter, &note).await?;
        } else {
            let sender = new_letter_sender(&waiting.raw);
            let plain = Plain::SetAside { digest: letter.to_string(), sender, note: note.clone() };
            let unique = format!("s.{}", &letter.to_string()[..24]);
            settlement.dispatches.push(self.gm_dispatch(&plain, &unique, None).await?);
            settlement.decided.push(Decided { digest: letter, fate: Fate::SetAside, note, seat: None });
        }
        Ok(())
    }
}

enum Recognised {
    Seat(TokenRow),
    /// The GM's address, and whether his token came back.
    Gm {
        token: bool,
    },
    /// With a note, the letter tried to act for a seat that is not its sender's: it gets no answer.
    Stranger {
        note: &'static str,
    },
}

/// What the person wrote now, as lines.
pub(super) fn lines_now(letter: &Letter) -> Vec<Line> {
    match letter.fresh(None) {
        Written::Lines(lines) => lines,
        Written::Blank | Written::CannotRead(_) => Vec::new(),
    }
}

/// A fault of a letter that belongs to no match, as one or more sentences.
fn fault_told(fault: &Fault) -> String {
    let example = fault.example.as_deref().and_then(|example| example.lines().next());
    let example = example.map(|example| format!(" For example: {example}")).unwrap_or_default();
    match fault.line {
        Some(line) => format!("Line {line}: {}{example}", fault.reason),
        None => format!("{}{example}", fault.reason),
    }
}

/// A match from its row; one whose rules are not known cannot be ruled on.
pub(super) fn snapshot(row: &MatchRow) -> anyhow::Result<Match> {
    let m: Match = serde_json::from_str(&row.snapshot)
        .with_context(|| format!("the snapshot of match {} cannot be read", row.id))?;
    m.game.knows_rules(m.rules).map_err(anyhow::Error::msg).with_context(|| row.id.clone())?;
    Ok(m)
}

/// A match from its row. One that cannot be ruled on is passed over, so that the others go on.
pub(super) fn rulable(row: &MatchRow) -> Option<Match> {
    snapshot(row)
        .inspect_err(|error| {
            tracing::error!(match_id = row.id, error = format!("{error:#}"), "it cannot be ruled on");
        })
        .ok()
}

/// The sender as the header has him, of a letter that could not be read.
fn new_letter_sender(raw: &[u8]) -> String {
    let mail = mail_parser::MessageParser::default().parse_headers(raw);
    let sender = mail.as_ref().and_then(|mail| mail.from()?.first()?.address());
    sender.unwrap_or("nobody").chars().filter(|c| !c.is_control()).take(200).collect()
}

/// What an answer says, without what changes by itself: times, ledger lines, codes.
fn gist(bytes: &[u8]) -> String {
    let text = text_of(bytes);
    let lines = text.lines().filter(|line| !line.starts_with("It is due"));
    let words =
        lines.flat_map(str::split_whitespace).filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
