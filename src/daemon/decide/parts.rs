//! Letters about several matches: finds the parts of a letter, and rules on each in its own match.

use std::collections::BTreeMap;
use std::slice;

use anyhow::Context as _;

use super::absences::SpreadAbsences;
use super::decision::{Decision, Key};
use super::digest::note_of_words;
use super::seat::{Elsewhere, PartRuling, is_shown_to_others};
use super::undecided::{Decided, Wanted, collect_needs};
use crate::game::Line;
use crate::game::any::GameKind;
use crate::letter::{Letter, NewText};
use crate::referee::{Acceptance, Confirmation, OtherPart, PartOutcome, SeatLetter, Stage};
use crate::request::{Command, Request, matches_with_parts, part_for};
use crate::store::{LetterDecision, LetterStatus, TokenRow, WaitingLetter};

/// Maximum matches that one letter can be about. Each costs a ruling and an answer.
const MAX_PARTS: usize = 20;

/// The part of a letter that one seat is ruled on with.
pub struct SeatPart {
    pub row: TokenRow,
    /// The whole letter is about this match if it has no other part.
    lines: Option<Vec<Line>>,
    pub by_other_token: bool,
}

impl Decision<'_> {
    /// Rules on a seat's letter, part by part, and notes what became of it.
    pub fn rule_on_seat_letter(
        &mut self,
        waiting: &WaitingLetter,
        letter: &Letter,
        row: &TokenRow,
        confirmation: Option<Confirmation>,
    ) -> Decided<()> {
        let quotable = letter.quotable_text(&self.context.texts);
        let written = letter.new_text(quotable.as_deref());
        let parts = self.parts_of(letter, row, &written)?;
        let mut missing = Wanted::default();
        let mut others: Vec<OtherPart> = Vec::new();
        let mut note = String::new();
        let first_dispatch = self.draft.settlement.dispatches.len();
        let settings = last_lines_of_settings(&parts);
        let mut has_hint = false;
        // The first answer names what became of the other parts, so they are ruled on before it.
        for (index, part) in parts.iter().enumerate().skip(1).chain(parts.iter().enumerate().take(1)) {
            let others_before = self.draft.settlement.dispatches.len();
            let mut seat_letter = self.read_part(letter, part, &written, confirmation)?;
            seat_letter.signature = self.signature(waiting);
            seat_letter.received = Some(waiting.received_at);
            if let Some(lines) = &part.lines {
                keep_last_settings(&mut seat_letter.request, lines, &settings);
            }
            seat_letter.acceptance =
                waiting.accepted_by.clone().map(|by| Acceptance { by, arrived: waiting.received_at });
            let elsewhere = if index == 0 {
                let absences = self.absences_elsewhere(part, &seat_letter, &written);
                let Some(absences) = collect_needs(absences, &mut missing)? else { continue };
                Elsewhere { parts: std::mem::take(&mut others), absences, has_hint }
            } else {
                Elsewhere { has_hint, ..Elsewhere::default() }
            };
            let ruling = self.rule_on_part(waiting, letter, &part.row, seat_letter, elsewhere);
            let Some(ruling) = collect_needs(ruling, &mut missing)? else { continue };
            has_hint |= ruling.has_hint;
            others.push(OtherPart { match_id: part.row.match_id.clone(), outcome: ruling.outcome });
            if index == 0 {
                note = ruling.note;
                let moved = others_before - first_dispatch;
                self.draft.settlement.dispatches[first_dispatch..].rotate_left(moved);
            }
        }
        if missing != Wanted::default() {
            return Err(missing.into());
        }
        let first = parts.first().context("a letter from a seat has a part")?;
        self.draft.settlement.decided.push(LetterDecision {
            digest: waiting.digest,
            status: LetterStatus::Ruled,
            note,
            seat: Some((first.row.match_id.clone(), first.row.seat)),
            accepted_by: None,
        });
        Ok(())
    }

    /// Carries the absences in this part into the player's other matches, unless its own match ended long ago.
    fn absences_elsewhere(
        &mut self,
        part: &SeatPart,
        letter: &SeatLetter,
        written: &NewText,
    ) -> Decided<SpreadAbsences> {
        let NewText::Lines(lines) = written else { return Ok(SpreadAbsences::default()) };
        if self.is_long_over(&part.row, &letter.request)? {
            return Ok(SpreadAbsences::default());
        }
        self.spread_absences(&part.row, letter, lines)
    }

    /// Returns the parts of a letter, the one whose match it answers first. Without lines `MATCH …` for other matches in
    /// which its player holds a seat, the whole letter is one part.
    ///
    /// If a line names another match, if there are too many, or if the token's match ended long ago, nothing is split: the
    /// ruling asks which match is meant.
    pub fn parts_of(&self, letter: &Letter, row: &TokenRow, written: &NewText) -> Decided<Vec<SeatPart>> {
        let whole = || vec![SeatPart { row: row.clone(), lines: None, by_other_token: false }];
        let NewText::Lines(lines) = written else { return Ok(whole()) };
        let mut named = matches_with_parts(lines);
        named.retain(|name| !name.eq_ignore_ascii_case(&row.match_id));
        if named.is_empty() || named.len() >= MAX_PARTS {
            return Ok(whole());
        }
        let own = self.game_match(&row.match_id)?.context("the token's match is missing")?;
        if self.ended_long_ago(&own.game_match)? {
            return Ok(whole());
        }
        let mut missing = Wanted::default();
        let mut seats = Vec::new();
        for name in &named {
            let found = collect_needs(self.seat_of_same_player(name, row), &mut missing)?;
            seats.extend(found.flatten());
        }
        if missing != Wanted::default() {
            return Err(missing.into());
        }
        if seats.len() < named.len() {
            return Ok(whole());
        }
        let own = part_for(lines, &row.match_id, true);
        let is_empty = own.iter().all(|line| line.text.trim().is_empty());
        let mut parts = Vec::new();
        // A token that the letter showed to others is renewed even if the letter says nothing about its match.
        if !is_empty || is_shown_to_others(letter, row) {
            parts.push(SeatPart { row: row.clone(), lines: Some(own), by_other_token: false });
        }
        for row in seats {
            let lines = Some(part_for(lines, &row.match_id, false));
            parts.push(SeatPart { row, lines, by_other_token: true });
        }
        Ok(parts)
    }

    /// Returns the seat that a player holds in another match.
    fn seat_of_same_player(&self, match_id: &str, row: &TokenRow) -> Decided<Option<TokenRow>> {
        let loaded = self.game_match(match_id)?;
        let seats = loaded.into_iter().flat_map(|loaded| loaded.seats.iter());
        let mut own = seats.filter(|(_, seat)| seat.player.id == row.player.id);
        Ok(own.next().map(|(_, seat)| seat.clone()))
    }

    /// Reads a part of a letter with what only the database knows of it.
    pub fn read_part(
        &mut self,
        letter: &Letter,
        part: &SeatPart,
        written: &NewText,
        confirmation: Option<Confirmation>,
    ) -> Decided<SeatLetter> {
        let SeatPart { row, lines, by_other_token } = part;
        self.touch(Key::Match(row.match_id.clone()));
        let loaded = self.game_match(&row.match_id)?.context("the token's match is missing")?;
        let game_match = &loaded.game_match;
        let mut read = match lines {
            None => SeatLetter::of(letter, row.seat, written.clone(), game_match),
            Some(lines) => SeatLetter::of_part(letter, row.seat, lines.clone(), *by_other_token, game_match),
        };
        read.confirmation = confirmation;
        if read.request.passes_texts_on() {
            read.check_texts(game_match.game, &self.other_games_of(row)?);
        }
        Ok(read)
    }

    /// Returns the games that a player has running besides that of this match.
    fn other_games_of(&self, row: &TokenRow) -> Decided<Vec<GameKind>> {
        let own = self.game_match(&row.match_id)?.map(|loaded| loaded.game_match.game);
        let mut games = Vec::new();
        for (_, overview) in self.context.matches_of(row.player.id)? {
            let stage = match self.draft.matches.get(&overview.id) {
                Some(ruled_on) => ruled_on.game_match.stage,
                None => overview.stage,
            };
            if stage != Stage::Over && own != Some(overview.game) && !games.contains(&overview.game) {
                games.push(overview.game);
            }
        }
        Ok(games)
    }
}

/// Returns the number of the last line that changes each setting, in a letter with several parts.
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

/// Removes the settings that a later part changes again. The parts are not ruled on in the order of the letter, and the
/// player means the last one.
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

impl PartRuling {
    pub fn of(letter: &SeatLetter, outcome: PartOutcome, game: GameKind) -> PartRuling {
        let by_other_token = letter.part.is_some_and(|part| part.by_other_token);
        let note = if by_other_token { String::new() } else { note_of_words(&letter.request, game) };
        PartRuling { outcome, note, has_hint: letter.hint.is_some() }
    }
}
