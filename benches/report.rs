//! The cost of a letter: its words, and the picture of its board.

use std::sync::Arc;

use divan::{Bencher, black_box};
use fogpost::game::any::{AnyState, GameKind};
use fogpost::game::record::{Ending, Record};
use fogpost::game::{BySeat, Seat};
use fogpost::ledger::{Cause, SealKey};
use fogpost::referee::{self, Adjudication, Content, Dispatch, HouseDefaults, Match, News, Opening, Reader};
use fogpost::report::{self, Letterhead, PictureCache, Templates, WordingInput};

use fogpost_testing::random::dice;
use fogpost_testing::random_play::RandomPlay as _;

fn main() {
    divan::main();
}

const CLUB: Letterhead<'static> = Letterhead {
    name: "The Fog Club",
    address: "referee@club.example",
    board_page: None,
    house: HouseDefaults::UNSET,
};

/// A match of `kind` after some turns of random play, and the report on its last turn.
fn match_with_report(kind: &GameKind) -> (Arc<Match>, Dispatch) {
    let at = "2026-05-14T09:12:00Z".parse().expect("an instant");
    let (players, key) = (BySeat::new("Ann", "Bo"), SealKey::new([1; 32]));
    let opening = Opening::new("QZ-7K3M", *kind, players, CLUB.address, key);
    let mut game_match = referee::open(opening, Cause::opening(None), at).after;
    let mut dice = dice(7);
    for _ in 0..20 {
        play_phase(&mut game_match.state, &mut dice);
    }
    let due = game_match.due().expect("random play does not end the match");
    let (filings, state) = (BySeat::default(), game_match.state.clone());
    let step = Adjudication { phase: due.phase, turn: due.turn, before: state.clone(), filings, state };
    let news = Box::new(News { steps: vec![step], ..News::default() });
    let content = Content::Report { news, receipt: None, replaces: None };
    (Arc::new(game_match), Dispatch::new(Reader::Seat(Seat::First), content))
}

/// Plays a phase at random, unless that would end the match.
fn play_phase(state: &mut AnyState, dice: &mut dyn FnMut(u32) -> u32) {
    let Some(due) = state.due() else { return };
    let mut filed = BySeat::new(None, None);
    for seat in due.seats {
        while filed[seat].is_none() {
            let orders = state.random_filing(seat, dice).join("\n");
            filed[seat] = state.seal(seat, &fogpost::game::record::lines(&orders)).ok();
        }
    }
    let mut next = state.clone();
    next.adjudicate(&filed);
    if next.outcome().is_none() {
        *state = next;
    }
}

/// A report's text and HTML. Its picture is drawn once and then comes from the cache.
#[divan::bench(args = GameKind::ALL)]
fn whole_report(bencher: Bencher<'_, '_>, kind: &GameKind) {
    let templates = Templates::new(&Default::default()).expect("our templates parse");
    let (game_match, dispatch) = match_with_report(kind);
    let at = game_match.opened_at;
    let input = WordingInput {
        club: &CLUB,
        game_match: &game_match,
        dispatch: &dispatch,
        token: "0123456789abcdef",
        notes: &[],
        gm_plays: false,
        at,
    };
    let pictures = PictureCache::default();
    bencher.bench(|| report::word(&templates, black_box(&input), &pictures));
}

/// Only the picture of a board.
#[divan::bench(args = GameKind::ALL)]
fn picture(bencher: Bencher<'_, '_>, kind: &GameKind) {
    let (game_match, _) = match_with_report(kind);
    let picture = game_match.state.board(Seat::First).picture;
    bencher.bench(|| report::png(black_box(&picture)));
}

/// A seat's view as JSON.
#[divan::bench(args = GameKind::ALL)]
fn view(bencher: Bencher<'_, '_>, kind: &GameKind) {
    let (game_match, _) = match_with_report(kind);
    bencher.bench(|| black_box(&game_match.state).view(Seat::First));
}

/// Parsing and replaying a record of one move.
#[divan::bench]
fn replay_of_a_short_record(bencher: Bencher<'_, '_>) {
    let mut text =
        "fogpost = 1\ngame = \"quad\"\n[[filings]]\nseat = \"first\"\norders = \"MARBLE E6\"\n".to_owned();
    text.push_str(&format!("[[filings]]\nseat = \"referee\"\norders = \"{}\"\n", Ending::Draw));
    bencher.bench(|| Record::parse(black_box(&text)).expect("a record").replay(|_| {}));
}
