//! Letters about several matches: finds the parts of a letter, and rules on each in its own match.

use std::collections::BTreeMap;
use std::slice;

use anyhow::Context as _;

use super::absences;
use super::ruling::{self, is_shown_to_others};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::frame::standing;
use crate::game::any::GameKind;
use crate::game::{Line, Seat};
use crate::ledger::{LetterCause, Question, TokenOf};
use crate::letter::{Digest, Letter, NewText};
use crate::referee::{self, AbsentElsewhere, Match, OtherPart, SeatLetter, Stage, part_digest};
use crate::request::{Command, Request, lines_of, matches_with_parts, part_for};
use crate::store::{LetterDecision, LetterStatus, TokenRow, WaitingLetter};

/// Maximum matches that one letter can be about. Each costs a ruling and an answer.
const MAX_PARTS: usize = 20;

/// The part of a letter that is ruled on for one seat.
pub struct SeatPart {
    pub row: TokenRow,
    /// The lines of this part; `None` for the whole letter, which then has no other part.
    lines: Option<Vec<Line>>,
    pub by_other_token: bool,
}

/// Rules on a seat's letter, part by part, and notes its outcome.
///
/// The first answer names the outcomes of the other parts, and the other matches in which the absences count.
/// So the other parts are finished first, and the first answer is written last.
pub fn decide_seat_letter(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    row: &TokenRow,
    confirmed_by: Option<Digest>,
) -> Decided<()> {
    let quotable = letter.quotable_text(&desk.rows.loaded.texts);
    let written = letter.new_text(quotable.as_deref());
    let parts = parts_of(desk, letter, row, &written)?;
    let settings = last_lines_of_settings(&parts);
    let (first, rest) = parts.split_first().context("a letter from a seat has no part")?;
    let first_dispatch = desk.draft.changes.dispatches.len();
    let (mut others, mut has_hint) = (Vec::new(), false);
    let rule = |desk: &mut Desk<'_>, part: &SeatPart, has_hint: bool| {
        let mut read = read_part(desk, waiting, letter, part, &written)?;
        read.cause.confirmed_by = confirmed_by;
        if let Some(lines) = &part.lines {
            keep_last_settings(&mut read.request, lines, &settings);
        }
        ruling::decide_part(desk, letter, &part.row, read, has_hint)
    };
    for part in rest {
        let ruled = rule(desk, part, has_hint);
        let Some(mut ruled) = or_lacking(ruled)? else { continue };
        has_hint |= ruled.has_hint();
        others.push(OtherPart { match_id: part.row.match_id.clone(), outcome: ruled.outcome() });
        let (no_others, nowhere) = (&[], AbsentElsewhere::default());
        let done = ruling::finish_part(desk, letter, &part.row, ruled, no_others, &nowhere);
        or_lacking(done)?;
    }
    let moved = desk.draft.changes.dispatches.len() - first_dispatch;
    let mut ruled = rule(desk, first, has_hint)?;
    let absences = absences::spread_absences(desk, &first.row, &mut ruled, &written)?;
    let is_told = ruled.name_in_notices(&absences.matches_with(ruled.opponent()));
    let told = is_told.then_some(ruled.opponent());
    let note = ruled.note(desk)?;
    ruling::finish_part(desk, letter, &first.row, ruled, &others, &absences.elsewhere())?;
    desk.rows.check()?;
    // The answer in the letter's own match goes out first, although it is written last.
    desk.draft.changes.dispatches[first_dispatch..].rotate_left(moved);
    absences::tell_absences(desk, &first.row, &absences, waiting.digest, told)?;
    desk.draft.changes.decided.push(LetterDecision {
        digest: waiting.digest,
        status: LetterStatus::Ruled,
        note,
        seat: Some((first.row.match_id.clone(), first.row.seat)),
        accepted_by: None,
    });
    Ok(())
}

/// Returns the parts of a letter, the one whose match it answers first. Without lines `MATCH …` for other
/// matches in which its player holds a seat, the whole letter is one part.
///
/// If a line names another match, if there are too many, or if the token's match ended long ago, nothing is
/// split: the ruling asks which match is meant.
pub fn parts_of(
    desk: &Desk<'_>,
    letter: &Letter,
    row: &TokenRow,
    written: &NewText,
) -> Decided<Vec<SeatPart>> {
    let whole = || vec![SeatPart { row: row.clone(), lines: None, by_other_token: false }];
    let lines = lines_of(written.clone());
    let mut named = matches_with_parts(&lines);
    named.retain(|name| !name.eq_ignore_ascii_case(&row.match_id));
    if named.is_empty() || named.len() >= MAX_PARTS {
        return Ok(whole());
    }
    let own = desk.game_match(&row.match_id)?.context("the token's match is missing")?;
    if own.game_match.ended_long_ago(desk.at()) {
        return Ok(whole());
    }
    let mut seats = Vec::new();
    for name in &named {
        let found = or_lacking(seat_of_same_player(desk, name, row))?;
        seats.extend(found.flatten());
    }
    desk.rows.check()?;
    if seats.len() < named.len() {
        return Ok(whole());
    }
    let own = part_for(&lines, &row.match_id, true);
    let is_empty = own.iter().all(|line| line.text.trim().is_empty());
    let mut parts = Vec::new();
    // A token that the letter showed to others is renewed even if the letter says nothing about its match.
    if !is_empty || is_shown_to_others(desk, letter, row) {
        parts.push(SeatPart { row: row.clone(), lines: Some(own), by_other_token: false });
    }
    for row in seats {
        let lines = Some(part_for(&lines, &row.match_id, false));
        parts.push(SeatPart { row, lines, by_other_token: true });
    }
    Ok(parts)
}

/// Reads a part of a letter, with the facts about it that only the database knows.
pub fn read_part(
    desk: &Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    part: &SeatPart,
    written: &NewText,
) -> Decided<SeatLetter> {
    let SeatPart { row, lines, by_other_token } = part;
    let loaded = desk.game_match(&row.match_id)?.context("the token's match is missing")?;
    let game_match = &loaded.game_match;
    let cause = LetterCause {
        dkim: standing::signature(desk, waiting),
        token: if *by_other_token { TokenOf::Other } else { TokenOf::Own },
        part: lines.as_deref().map(part_digest),
        question: open_question(desk, letter, game_match, row.seat),
        accepted_by: waiting.accepted_by.clone(),
        ..LetterCause::new(waiting.digest, row.seat, waiting.received_at)
    };
    let mut read =
        referee::prepare(game_match, cause, letter, written.clone()).context("the part cannot be read")?;
    if read.request.passes_texts_on() {
        read.withhold_texts(game_match.game, &other_games_of(desk, row)?);
    }
    Ok(read)
}

/// Returns the question that a letter answers, if it is still open: the first line that our letter shows. A
/// question about more time must name the days that are asked for now.
fn open_question(desk: &Desk<'_>, letter: &Letter, game_match: &Match, seat: Seat) -> Option<Question> {
    let about = format!(".{}.", game_match.id.to_lowercase());
    let answered = letter.answered_ids().find(|id| id.contains(&about))?;
    let text = desk.rows.loaded.texts.get(answered)?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("| "))?;
    let is_asked = |by: Seat| by != seat;
    match line.trim() {
        "AGREE" => {
            let (_, days) = game_match.extension.filter(|(by, _)| is_asked(*by))?;
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            words.contains(&format!(" for {days} more day")).then_some(Question::Extension)
        }
        "DRAW" => game_match.draw_offer.filter(|by| is_asked(*by)).map(|_| Question::Draw),
        "WITHDRAW" => {
            let has_filed = game_match.filed[seat].is_some() || game_match.conditions[seat].is_some();
            has_filed.then_some(Question::Withdrawal)
        }
        _ => None,
    }
}

/// Returns the seat that a player holds in another match.
fn seat_of_same_player(desk: &Desk<'_>, match_id: &str, row: &TokenRow) -> Decided<Option<TokenRow>> {
    let loaded = desk.game_match(match_id)?;
    let seats = loaded.into_iter().flat_map(|loaded| loaded.seats.iter());
    let mut own = seats.filter(|(_, seat)| seat.player.id == row.player.id);
    Ok(own.next().map(|(_, seat)| seat.clone()))
}

/// Returns the games of a player's running matches, except the game of this match.
fn other_games_of(desk: &Desk<'_>, row: &TokenRow) -> Decided<Vec<GameKind>> {
    let own = desk.game_match(&row.match_id)?.map(|loaded| loaded.game_match.game);
    let mut games = Vec::new();
    for (_, overview) in desk.rows.matches_of(row.player.id)? {
        let stage = desk.ruled_on(&overview.id).map_or(overview.stage, |loaded| loaded.game_match.stage);
        if stage != Stage::Over && own != Some(overview.game) && !games.contains(&overview.game) {
            games.push(overview.game);
        }
    }
    Ok(games)
}

/// Returns, for each setting, the number of the last line that changes it, in a letter with several parts.
fn last_lines_of_settings(parts: &[SeatPart]) -> BTreeMap<String, usize> {
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    for line in parts.iter().flat_map(|part| part.lines.iter().flatten()) {
        for name in settings_in(line) {
            let latest = last.entry(name).or_default();
            *latest = line.no.max(*latest);
        }
    }
    last
}

/// Removes the settings that a later part changes again. The parts are not ruled on in the order of the
/// letter, and the last change is the one that counts.
fn keep_last_settings(request: &mut Request, lines: &[Line], last: &BTreeMap<String, usize>) {
    let is_own = |no: &usize| lines.iter().any(|line| line.no == *no);
    for asked in &mut request.commands {
        if let Command::Settings(settings) = &mut asked.command {
            settings.retain(|(name, _)| last.get(name).is_none_or(is_own));
        }
    }
}

/// Returns the settings that a line changes.
fn settings_in(line: &Line) -> Vec<String> {
    // Reading every line once more would double the work for a long letter.
    if !line.text.to_ascii_lowercase().contains("settings") {
        return Vec::new();
    }
    let commands = Request::read(slice::from_ref(line), |_: &str| false).commands;
    let settings = commands.into_iter().filter_map(|asked| match asked.command {
        Command::Settings(settings) => Some(settings),
        _ => None,
    });
    settings.flatten().map(|(name, _)| name).collect()
}
