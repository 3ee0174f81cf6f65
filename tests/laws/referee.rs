//! The referee and its templates around a match of random play: letters in, worded letters out.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use fogpost::game::any::AnyState;
use fogpost::game::{BySeat, Seat};
use fogpost::ledger::{Cause, LetterCause, SealKey};
use fogpost::letter::{Letter, Limits, NewText, WrittenLine};
use fogpost::referee::{self, Content, Dispatch, HouseDefaults, Match, Matter, Opening, Reader, Ruling};
use fogpost::report::{Letterhead, PictureCache, Templates, WordedLetter, WordingInput, word};

use fogpost_testing::play::{Play, numbered};

const CLUB: Letterhead<'static> = Letterhead {
    name: "The Fog Club",
    address: "referee@club.example",
    board_page: Some("https://club.example/play/"),
    house: HouseDefaults::UNSET,
};

/// The time at which every match is opened and every decision made.
const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

pub fn templates() -> Templates {
    Templates::new(&std::collections::BTreeMap::new()).expect("the templates compiled in")
}

/// Opens a match with the options of `play`.
pub fn open(play: &Play) -> Ruling {
    open_against(play, None)
}

/// Opens a match whose second seat the house holds at this level, if any.
pub fn open_against(play: &Play, level: Option<String>) -> Ruling {
    let id = format!("{}-7K3M", play.kind.prefix());
    // Long names show whether the lines that contain them stay narrow.
    let players = BySeat::new("Annabella Featherstonehaugh", "Bartholomew van den Heuvel");
    let opening = Opening {
        choices: play.choices.clone(),
        house: BySeat::new(None, level),
        ..Opening::new(&id, play.kind, players, CLUB.address, SealKey::new([7; 32]))
    };
    referee::open(opening, Cause::opening(None), NOW)
}

/// Returns a match in the state of `play`, with nothing filed.
pub fn held(play: &Play) -> Match {
    let memories = Some(play.memories.clone()).filter(|_| play.kind.keeps_memory());
    Match { memories, ..with(&open(play).after, play.state.clone()) }
}

/// Returns the match with another state.
pub fn with(game_match: &Match, state: AnyState) -> Match {
    let mut game_match = game_match.clone();
    if state.outcome().is_some() {
        game_match.stage = referee::Stage::Over;
    }
    game_match.state = state;
    game_match
}

/// Rules on a letter of `seat` with these lines, whose subject names the open turn.
pub fn receive(game_match: &Match, seat: Seat, lines: &[String]) -> Ruling {
    let turn = game_match.due().map(|due| format!(" Turn {}", due.turn)).unwrap_or_default();
    let subject = format!("Subject: Re: [{}]{turn}", game_match.id);
    let raw = format!("From: Ann <ann@players.example>\r\n{subject}\r\n\r\n{}", lines.join("\r\n"));
    let own = game_match.mail_identity.own_identity().expect("an address");
    let letter = Letter::read(raw.as_bytes(), &own, &Limits::default()).expect("a letter");
    let cause = LetterCause::new(letter.digest, seat, NOW);
    let written =
        numbered(lines).into_iter().map(|line| WrittenLine { no: line.no, text: line.text }).collect();
    let read = referee::prepare(game_match, cause, &letter, NewText { lines: written, ..NewText::default() });
    referee::rule(game_match, &Matter::Letter(&read.expect("the whole letter")), NOW)
}

/// Words a dispatch to `seat`.
pub fn worded(templates: &Templates, game_match: &Match, seat: Seat, content: Content) -> WordedLetter {
    let dispatch = Dispatch::new(Reader::Seat(seat), content);
    let game_match = Arc::new(game_match.clone());
    let input = WordingInput {
        club: &CLUB,
        game_match: &game_match,
        dispatch: &dispatch,
        token: "k3jq7w2mzd5xabcd",
        notes: &[],
        gm_plays: false,
        at: NOW,
    };
    word(templates, &input, &PictureCache::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the answers to `seat` among the dispatches of a ruling.
pub fn answers(ruling: &Ruling, seat: Seat) -> Vec<Content> {
    let to_seat = ruling.dispatches.iter().filter(|dispatch| dispatch.to == Reader::Seat(seat));
    let contents = to_seat.map(|dispatch| dispatch.content.clone());
    contents.filter(|content| matches!(content, Content::Answer(_))).collect()
}
