//! An overview of a match, for tests and benches that store matches without playing them.

use std::collections::BTreeMap;

use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Due, Phase, Seat};
use fogpost::ledger::Head;
use fogpost::referee::{MatchOverview, Stage};

pub fn overview(id: &str, game: GameKind, stage: Stage) -> MatchOverview {
    MatchOverview {
        id: id.to_owned(),
        game,
        stage,
        players: BySeat::new("Ann".to_owned(), "Bo".to_owned()),
        house: BySeat::default(),
        zone: "Europe/Berlin".parse().expect("a zone"),
        options: BTreeMap::from([("swap".to_owned(), "off".to_owned())]),
        due: Some(Due { phase: Phase::Turn, turn: 7, seats: Seat::BOTH.to_vec() }),
        awaited: vec![Seat::Second],
        deadline: None,
        outcome: None,
        asked_gm: false,
        bouncing: BySeat::default(),
        away: BySeat::default(),
        protest: None,
        advance: false,
        rated: false,
        has_bank: false,
        event: None,
        head: Head::default(),
    }
}
