//! Names of new matches when many names are taken.

use fogpost::daemon::instruct;
use fogpost::daemon::{GmIndex, Holder, NamedAddress, NewMatch};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;
use fogpost::referee::Stage;
use fogpost::store::{Changes, MatchRow};

use crate::referee::Referee;

#[path = "../../support/overview.rs"]
mod overview;

use overview::overview;

/// The characters of a match's name.
const LETTERS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

#[test]
fn many_matches_open_at_once_when_a_tenth_of_the_names_is_taken() {
    let referee = Referee::new();
    let taken = LETTERS.chars().flat_map(|c| LETTERS.chars().map(move |d| [c, d]));
    let taken = taken.flat_map(|[c, d]| LETTERS.chars().map(move |e| [c, d, e]));
    let taken = taken.flat_map(|[c, d, e]| ['0', '1', '2'].map(|b| format!("QD-{b}{c}{d}{e}")));
    let row = |id: String| MatchRow {
        overview: overview(&id, GameKind::Quad, Stage::Over),
        id,
        wake_at: None,
        snapshot: "{}".to_owned(),
        version: 0,
    };
    let taken = Changes { at: referee.now(), matches: taken.map(row).collect(), ..Changes::default() };
    referee.block_on(referee.office().store.commit(&taken)).expect("the rows are stored");

    let seated = |name: &str| {
        let address = format!("{}@players.example", name.to_lowercase());
        NamedAddress { name: name.to_owned(), address: Address::parse(&address).expect("an address") }
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: GameKind::Quad.choose([]).expect("the defaults"),
        players: BySeat::new(seated("Ann"), seated("Bo")).map(Holder::Player),
        terms: referee.office().config.terms.clone(),
    };
    let opened = referee
        .block_on(instruct::open_all(referee.office(), GmIndex::default(), &vec![new; 150]))
        .expect("they open");
    assert_eq!(opened.len(), 150);
    // The rows that take the names have no ledgers, so the desk's final check would fail.
    referee.untidy.set(true);
}
