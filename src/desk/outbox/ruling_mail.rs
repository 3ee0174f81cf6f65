//! Turns a ruling into rows: its entries, and its finished letters.

use std::sync::Arc;

use chrono::TimeDelta;
use minijinja::value::Serde;

use super::gms;
use super::mail::{self, PlainEnvelope};
use crate::club::events::own_time;
use crate::club::reliability::owed_turns;
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::ratings::{self, RatingNews};
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::game::{BySeat, Seat};
use crate::ledger::{self, Entry, Fact};
use crate::referee::{self, Act, Content, Dispatch, DispatchKind, Match, Matter, Reader, Ruling, Stage};
use crate::report::envelope::{self, AnsweredLetter, Envelope};
use crate::report::{self, WordedLetter, WordingInput};
use crate::store::{self, EntryRow, KeptSnapshot, NewDispatch, OwedTurnRow, TokenRow, Urgency};

/// Time for which an answer waits for the house's move; if the report comes in time, it replaces the answer.
const WAIT_FOR_HOUSE: TimeDelta = TimeDelta::seconds(20);

/// The rows that a ruling adds to the ledger and to the outbox.
pub struct RulingRows {
    pub entries: Vec<EntryRow>,
    pub dispatches: Vec<NewDispatch>,
    /// Copies of letters to a GM for the other GMs who read them, each with the index of its original. They
    /// do not count as letters of the match: the ledger pins only the original.
    pub copies: Vec<(usize, NewDispatch)>,
    pub ratings: RatingNews,
}

/// The readers of a ruling's letters.
#[derive(Clone, Copy)]
pub struct Readers<'a> {
    pub seats: &'a BySeat<TokenRow>,
    /// The player who loses a seat by this ruling.
    pub former: Option<&'a TokenRow>,
    /// The letter that caused the ruling, if any.
    pub answered: Option<&'a AnsweredLetter>,
    /// Sentences that the club adds to the first letters of a match.
    pub notes: &'a [String],
    /// The GMs who read the words of the letter's author; `None` for the GMs who read about the match.
    pub gms: Option<&'a [GmIndex]>,
}

impl RulingRows {
    /// Delays each copy as long as its original.
    pub fn delay_copies(&mut self) {
        for (place, copy) in &mut self.copies {
            copy.due = self.dispatches.get(*place).and_then(|original| original.due);
        }
    }
}

impl<'a> Readers<'a> {
    pub fn seats(seats: &'a BySeat<TokenRow>) -> Readers<'a> {
        Readers { seats, former: None, answered: None, gms: None, notes: &[] }
    }

    /// Returns the player who is this reader; `None` for a GM.
    fn player(&self, reader: Reader) -> Option<&'a TokenRow> {
        match reader {
            Reader::Seat(seat) => Some(&self.seats[seat]),
            Reader::Former(_) => self.former,
            Reader::Gm => None,
        }
    }

    /// Returns the GMs who read the ruling's letters to the GM; at least one.
    fn gms(&self, desk: &Desk<'_>, game_match: &Match) -> Vec<GmIndex> {
        match self.gms {
            Some(gms) => gms.to_vec(),
            None => gms::readers_of(desk, game_match, self.seats),
        }
    }

    /// Whether letters can be sent to a reader. Forgotten players have no address.
    fn can_be_reached(&self, reader: Reader) -> bool {
        self.player(reader).is_none_or(|row| !row.player.addresses.is_empty())
    }
}

/// The reply token, name and address of a reader.
struct Addressee<'a> {
    token: &'a str,
    name: &'a str,
    address: &'a str,
}

/// Rules on a cause. If the referee's address, the club's templates or the procedure have changed since the
/// last ruling on the match, and this ruling decides anything, the ledger notes the change first.
pub fn request_ruling(desk: &Desk<'_>, game_match: &Match, matter: &Matter<'_>) -> Ruling {
    request_ruling_and_pin(desk, game_match, &[], matter)
}

/// Rules on an act of the program in the open phase.
pub fn act(desk: &Desk<'_>, game_match: &Match, act: Act) -> Ruling {
    request_ruling(desk, game_match, &game_match.by_program(act))
}

/// Like [`request_ruling`], but if the ruling decides anything, the ledger first notes who holds a seat from now
/// on.
pub fn request_ruling_and_pin(
    desk: &Desk<'_>,
    game_match: &Match,
    holds: &[Act],
    matter: &Matter<'_>,
) -> Ruling {
    let at = desk.at();
    // A ruling that writes no letter does not depend on the identity of our mail.
    let writes = !matches!(matter, Matter::Program { act: Act::ListLetters, .. });
    let is_moved = writes && game_match.mail_identity != desk.club.identity;
    let desk = is_moved.then(|| Act::SetMailIdentity(desk.club.identity.clone()));
    let mut noted: Option<Ruling> = None;
    for act in desk.iter().chain(holds) {
        let before = noted.as_ref().map_or(game_match, |noted| &noted.after);
        let mut ruling = referee::rule(before, &before.by_program(act.clone()), at);
        ruling.entries.splice(0..0, noted.into_iter().flat_map(|noted| noted.entries));
        noted = Some(ruling);
    }
    let Some(noted) = noted else { return referee::rule(game_match, matter, at) };
    let mut ruling = referee::rule(&noted.after, matter, at);
    if ruling.after == noted.after {
        return Ruling { after: game_match.clone(), ..ruling };
    }
    ruling.entries.splice(0..0, noted.entries);
    ruling
}

/// Writes the letters of a ruling, and adds their pins to the match, whose next entry names them.
pub fn word_and_pin(desk: &Desk<'_>, ruling: &mut Ruling, readers: &Readers<'_>) -> Decided<RulingRows> {
    ruling.dispatches.retain(|dispatch| readers.can_be_reached(dispatch.to));
    // Make the record first: if the ledger's entries are not loaded, this round fails, and wording the
    // letters, the slowest part, would be wasted.
    let record = record_of_ended(desk, ruling)?;
    let ratings = ratings::rated_by(desk, ruling, readers.seats)?;
    let mut told = told_ratings(&ratings, ruling, readers);
    told.extend(told_own_time(desk, ruling)?);
    if record.is_some() {
        told.extend(replay_link(desk, &ruling.after)?);
    }
    let entries: Vec<EntryRow> = ruling.entries.iter().map(EntryRow::from).collect();
    let game_match = Arc::new(ruling.after.clone());
    let gm_plays = gms::all_gms_play(desk, readers.seats);
    let mut dispatches = Vec::with_capacity(ruling.dispatches.len());
    for (index, dispatch) in ruling.dispatches.iter().enumerate() {
        let token = addressee(desk, &game_match, dispatch.to, readers).token;
        let notes = match &dispatch.content {
            Content::Invitation => readers.notes,
            Content::Report { .. } => &told,
            _ => &[],
        };
        let mut letter = word(desk, &game_match, dispatch, token, notes, gm_plays)?;
        if let (Content::Report { .. }, Some(record)) = (&dispatch.content, &record) {
            letter.attachments.push((format!("{}.toml", game_match.id), record.clone()));
        }
        let unique = envelope::unique_part(&game_match, index);
        dispatches.push(envelop(desk, letter, &game_match, &unique, dispatch, readers)?);
    }
    let copies = copies_for_gms(desk, &game_match, &ruling.dispatches, readers)?;
    let mut pins = std::mem::take(&mut ruling.after.pins);
    pins.extend(dispatches.iter().filter_map(|dispatch| dispatch.pin));
    ruling.after.note_pins(pins);
    Ok(RulingRows { entries, dispatches, copies, ratings })
}

/// Renders a letter about a match as the ruling left it. `notes` are sentences of the club. `gm_plays` says
/// whether every GM plays in the match, including the one who reads the letter.
pub fn word(
    desk: &Desk<'_>,
    game_match: &Arc<Match>,
    dispatch: &Dispatch,
    token: &str,
    notes: &[String],
    gm_plays: bool,
) -> Decided<WordedLetter> {
    let club = desk.club.stationery.club();
    let input = WordingInput { club: &club, game_match, dispatch, token, notes, gm_plays, at: desk.at() };
    Ok(report::word(&desk.club.templates, &input, &desk.club.pictures)?)
}

/// Adds a ruling and its rows to the draft.
pub fn keep_ruling(desk: &mut Desk<'_>, loaded: LoadedMatch, ruling: Ruling, rows: RulingRows) {
    let delivered = ruling.entries.iter().flat_map(|chained| &chained.entry.delivered);
    let listed = delivered.map(|delivery| (ruling.after.id.clone(), delivery.letter));
    desk.draft.changes.listed.extend(listed);
    // The audit can repeat only rulings of the present procedure, so it needs the match as it was at the
    // change.
    if ruling.entries.iter().any(|chained| changes_procedure(&chained.entry.fact)) {
        let json = loaded.game_match.to_json();
        desk.draft.changes.snapshots.push(KeptSnapshot { match_id: ruling.after.id.clone(), json });
    }
    note_owed_turns(desk, &loaded, &ruling);
    let (id, game) = (ruling.after.id.clone(), ruling.after.game);
    desk.draft.matches.insert(id, LoadedMatch { game_match: ruling.after, ..loaded });
    desk.draft.changes.ratings.extend(rows.ratings.rows);
    desk.draft.changes.stale_ratings.extend(rows.ratings.is_stale.then_some(game));
    desk.draft.changes.entries.extend(rows.entries);
    desk.draft.changes.dispatches.extend(rows.dispatches);
    desk.draft.changes.dispatches.extend(rows.copies.into_iter().map(|(_, copy)| copy));
}

/// Notes the turns that a ruling closed, for their players' reliability.
fn note_owed_turns(desk: &mut Desk<'_>, loaded: &LoadedMatch, ruling: &Ruling) {
    for turn in owed_turns(&loaded.game_match, &ruling.entries) {
        let (match_id, player_id) = (ruling.after.id.clone(), loaded.seats[turn.seat].player.id);
        desk.draft.changes.owed_turns.push(OwedTurnRow { match_id, player_id, turn });
    }
}

/// Adds a ruling that no letter caused.
pub fn record_ruling(desk: &mut Desk<'_>, loaded: LoadedMatch, mut ruling: Ruling) -> Decided<()> {
    let rows = word_and_pin(desk, &mut ruling, &Readers::seats(&loaded.seats))?;
    keep_ruling(desk, loaded, ruling, rows);
    Ok(())
}

/// Renders the letters to the GM again for each further GM who reads them.
fn copies_for_gms(
    desk: &Desk<'_>,
    game_match: &Arc<Match>,
    dispatches: &[Dispatch],
    readers: &Readers<'_>,
) -> Decided<Vec<(usize, NewDispatch)>> {
    let mut copies = Vec::new();
    for (place, dispatch) in dispatches.iter().enumerate() {
        if dispatch.to != Reader::Gm {
            continue;
        }
        // The first GM gets the original.
        for index in readers.gms(desk, game_match).into_iter().skip(1) {
            let (gm, token) = (gms::gm(desk, index), gms::token_of_gm(desk, index));
            let gm_plays = gms::all_gms_play(desk, readers.seats);
            let letter = word(desk, game_match, dispatch, token, &[], gm_plays)?;
            let unique =
                envelope::with_text_mark(&format!("c.{}", envelope::unique_part(game_match, place)), &letter);
            let to = PlainEnvelope::to_gm(gm, &unique, envelope::kind(&dispatch.content));
            copies.push((place, mail::assemble(desk, letter, token, &to, None)?));
        }
    }
    Ok(copies)
}

/// Returns the letter that a report answers in place of a receipt. The report still belongs to the match's
/// thread.
fn answered_late(content: &Content) -> Option<AnsweredLetter> {
    let Content::Report { receipt: Some(answer), .. } = content else { return None };
    let (digest, message_id) = (answer.to?, answer.message_id.clone());
    Some(AnsweredLetter { digest, message_id, references: Vec::new(), subject: String::new() })
}

/// Puts a worded letter into its envelope; `unique` identifies it within the ruling.
fn envelop(
    desk: &Desk<'_>,
    letter: WordedLetter,
    game_match: &Match,
    unique: &str,
    dispatch: &Dispatch,
    readers: &Readers<'_>,
) -> Decided<NewDispatch> {
    let stationery = &desk.club.stationery;
    let Addressee { token, name, address } = addressee(desk, game_match, dispatch.to, readers);
    let answered = readers.answered.filter(|_| dispatch.content.answer().is_some());
    let answered_late = answered_late(&dispatch.content);
    let answered = answered.or(answered_late.as_ref());
    let message_id = stationery.marked_message_id(token, unique, &letter);
    let envelope = Envelope {
        token,
        to_name: name,
        to: address,
        message_id: &message_id,
        match_id: Some(&game_match.id),
        keeps_subject: matches!(dispatch.content, Content::Report { .. }),
        date: desk.at(),
    };
    let (bytes, pin) = stationery.mail(letter, &envelope, answered)?;
    let kind = envelope::kind(&dispatch.content);
    let urgency = match Urgency::of(kind, true) {
        Urgency::Notice if game_match.stage == Stage::Over => Urgency::Result,
        urgency => urgency,
    };
    let seat = match dispatch.to {
        Reader::Seat(seat) => Some(seat),
        Reader::Former(_) | Reader::Gm => None,
    };
    let reminded = seat.filter(|_| kind == DispatchKind::Reminder);
    let reminds = reminded.and_then(|seat| store::reminds(&game_match.overview(), seat));
    let replaces = match dispatch.content {
        Content::Report { replaces, .. } => replaces,
        _ => None,
    };
    Ok(NewDispatch {
        message_id,
        recipient: address.to_owned(),
        bytes,
        kind,
        match_id: Some(game_match.id.clone()),
        seat,
        answers: answered.map(|letter| letter.digest),
        reminds,
        due: dispatch.waits_for_house.then(|| desk.at() + WAIT_FOR_HOUSE),
        replaces,
        urgency,
        pin: Some(pin),
        return_id: None,
    })
}

fn addressee<'b>(
    desk: &Desk<'b>,
    game_match: &Match,
    reader: Reader,
    readers: &Readers<'b>,
) -> Addressee<'b> {
    if reader == Reader::Gm {
        let index = readers.gms(desk, game_match).first().copied().unwrap_or_default();
        let gm = gms::gm(desk, index);
        return Addressee {
            token: gms::token_of_gm(desk, index),
            name: &gm.name,
            address: gm.address.as_str(),
        };
    }
    let holder = readers.player(reader);
    let player = holder.map(|row| &row.player);
    Addressee {
        // The token of a former player's seat belongs to somebody else now.
        token: match reader {
            Reader::Seat(_) => holder.map_or("", |row| &row.token),
            Reader::Former(_) | Reader::Gm => "",
        },
        name: player.map_or("", |player| &player.name),
        address: player.and_then(|player| player.addresses.first()).map_or("", String::as_str),
    }
}

/// Returns the entries of the match, including those of this ruling.
fn entries_after(desk: &Desk<'_>, ruling: &Ruling) -> Decided<Vec<Entry>> {
    let mut entries = desk.entries(&ruling.after.id)?;
    entries.extend(ruling.entries.iter().map(|chained| chained.entry.clone()));
    Ok(entries)
}

/// Returns sentences about the changes of ratings, for the letters that report the result.
fn told_ratings(news: &RatingNews, ruling: &Ruling, readers: &Readers<'_>) -> Vec<String> {
    let rated = news.rows.iter().filter_map(|row| {
        let seat = Seat::BOTH.into_iter().find(|seat| readers.seats[*seat].player.id == row.change.player)?;
        Some(ratings::describe_change(&row.change, row.game, &ruling.after.players[seat]))
    });
    let is_unsure = news.rows.iter().any(|row| row.change.after.is_unsure());
    rated.chain(is_unsure.then(|| UNSURE.to_owned())).collect()
}

/// Explains the mark behind a rating.
const UNSURE: &str = "A ? behind a rating says that it rests on few results so far.";

/// Returns the sentence about both own times of an event's match, for its reports. The times are those at the
/// beginning of the open turn: later ones would reveal whether the opponent has filed.
fn told_own_time(desk: &Desk<'_>, ruling: &Ruling) -> Decided<Option<String>> {
    let Some(event) = &ruling.after.terms.event else { return Ok(None) };
    let is_report = |dispatch: &Dispatch| matches!(dispatch.content, Content::Report { .. });
    if !ruling.dispatches.iter().any(is_report) {
        return Ok(None);
    }
    let entries = entries_after(desk, ruling)?;
    let own = own_time::own_time(&entries, desk.at()).map(own_time::format_own_time);
    let context = minijinja::context! { event, own => Serde(own), names => Serde(&ruling.after.players) };
    Ok(Some(desk.club.templates.render("match/own-time.txt", context)?.trim().to_owned()))
}

/// Returns the sentence that says where the replay of a finished match will be, if the club has a site.
fn replay_link(desk: &Desk<'_>, game_match: &Match) -> Decided<Option<String>> {
    let Some(url) = desk.club.config.site.replay_url(&game_match.id) else { return Ok(None) };
    let sentence = desk.club.templates.render("match/replay.txt", minijinja::context! { url })?;
    Ok(Some(sentence.trim().to_owned()))
}

/// Returns the record of the match if it ends with this ruling.
fn record_of_ended(desk: &Desk<'_>, ruling: &Ruling) -> Decided<Option<String>> {
    if !ruling.entries.iter().any(|chained| matches!(chained.entry.fact, Fact::MatchEnded { .. })) {
        return Ok(None);
    }
    let entries = entries_after(desk, ruling)?;
    Ok(ledger::record(&entries).map(|record| record.to_string()))
}

/// Whether this fact changes the procedure of later rulings.
fn changes_procedure(fact: &Fact) -> bool {
    matches!(fact, Fact::MailIdentitySet { before: Some(_), .. })
}
