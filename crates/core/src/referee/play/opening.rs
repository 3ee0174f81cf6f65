//! Opens a match, and invites both sides.

use chrono::{DateTime, Utc};

use super::dispatch::{Content, Reader};
use super::game_match::{Match, Stage};
use super::past::Past;
use super::ruling::{Draft, Ruling};
use super::{adjudication, deadline, wording_news};
use crate::game::any::{Choices, GameKind};
use crate::game::{BySeat, Seat};
use crate::ledger::{
    self, Cause, FORMAT, Fact, Head, Lot, MailIdentity, PlayerSettings, RatingBasis, SealKey, SeatPins,
};
use crate::referee::PROCEDURE;
use crate::referee::schedule::Terms;
use crate::zone;

/// The parameters of a new match.
#[derive(Clone, Debug)]
pub struct Opening {
    pub id: String,
    pub game: GameKind,
    pub choices: Choices,
    /// The players' names. The house goes by
    /// [`HouseLevel::player_name`](crate::house::HouseLevel::player_name).
    pub players: BySeat<String>,
    /// The level at which the house plays the seat, or `None` for a player.
    pub house: BySeat<Option<String>>,
    pub terms: Terms,
    pub settings: BySeat<PlayerSettings>,
    pub mail_identity: MailIdentity,
    /// Random secret from which all salts of the match are derived.
    pub key: SealKey,
    /// The source of the secret, if it was not drawn at random.
    pub lot: Option<Lot>,
    /// Pins of the seats' holders, if they are known.
    pub holders: Option<BySeat<SeatPins>>,
    /// Set if the match may be rated.
    pub rating: Option<RatingBasis>,
}

impl Opening {
    /// Returns a match between two players on the default options, terms and settings, refereed from this
    /// address. Override them as in `Opening { terms, ..Opening::new(…) }`.
    pub fn new(id: &str, game: GameKind, players: BySeat<&str>, address: &str, key: SealKey) -> Opening {
        Opening {
            id: id.to_owned(),
            game,
            choices: Choices::default(),
            players: BySeat::from_fn(|seat| players[seat].to_owned()),
            house: BySeat::default(),
            terms: Terms::default(),
            settings: BySeat::default(),
            mail_identity: MailIdentity {
                address: address.to_owned(),
                procedure: PROCEDURE,
                message_ids: String::new(),
                tzdata: zone::edition().to_owned(),
                templates: Default::default(),
            },
            key,
            lot: None,
            holders: None,
            rating: None,
        }
    }
}

/// Returns the first fact about a match.
fn opening_fact(
    game_match: &Match,
    options: Choices,
    holders: Option<BySeat<SeatPins>>,
    rating: Option<RatingBasis>,
) -> Fact {
    Fact::MatchOpened {
        format: game_match.format,
        rules: game_match.rules,
        game: game_match.game,
        options,
        players: game_match.players.clone(),
        house: game_match.house.clone(),
        terms: serde_json::to_value(&game_match.terms).expect("terms are plain values"),
        settings: Box::new(game_match.settings.clone()),
        mail_identity: Box::new(game_match.mail_identity.clone()),
        key: game_match.key.pin(),
        holders: holders.map(Box::new),
        lot: game_match.lot.as_ref().map(|lot| Box::new(lot.pinned())),
        rating: rating.map(Box::new),
    }
}

/// Opens a match, and invites both sides. The act of the cause is [`Act::Open`](ledger::Act::Open).
pub fn open(opening: Opening, cause: Cause, at: DateTime<Utc>) -> Ruling {
    let blank = Match {
        id: opening.id,
        game: opening.game,
        rules: opening.game.rules(),
        format: FORMAT,
        players: opening.players,
        house: opening.house,
        terms: opening.terms,
        next_terms: None,
        settings: opening.settings,
        stage: Stage::Running,
        annulled: false,
        paused_at: None,
        state: opening.game.start(&opening.choices),
        memories: None,
        filed: BySeat::default(),
        untold: None,
        conditions: BySeat::default(),
        conditions_firm_at: BySeat::default(),
        lag_seconds: 0,
        footers: BySeat::default(),
        phase_no: 1,
        opened_at: ledger::truncate_to_millis(at),
        deadline: None,
        local_deadline: None,
        settle_at: None,
        reminders_sent: 0,
        asked_gm: false,
        bouncing: BySeat::default(),
        bounces: BySeat::default(),
        sent_late: None,
        clock_moves: Vec::new(),
        away: BySeat::default(),
        in_trouble: BySeat::default(),
        protest: None,
        protest_words: String::new(),
        vanished: None,
        missed: BySeat::default(),
        bank_days: BySeat::default(),
        missed_phase: BySeat::default(),
        offered: BySeat::default(),
        refused: BySeat::default(),
        draw_offer: None,
        extension: None,
        absences: BySeat::default(),
        adjudicated: Vec::new(),
        mail_identity: opening.mail_identity,
        wording_news: BySeat::default(),
        templates_told: BySeat::default(),
        head: Head::default(),
        key: opening.key,
        earlier_keys: Vec::new(),
        lot: opening.lot,
        gm_messages: Vec::new(),
        unsealed: Vec::new(),
        past: Past::default(),
        pins: Vec::new(),
        delivered: Vec::new(),
    };
    let mut draft = Draft::new(blank, cause, at);
    draft.record(opening_fact(&draft.game_match, opening.choices, opening.holders, opening.rating));
    wording_news::note(&mut draft.game_match, &BySeat::default());
    deadline::open_phase(&mut draft);
    for seat in Seat::BOTH {
        draft.dispatch(Reader::Seat(seat), Content::Invitation);
    }
    adjudication::pass_where_nothing_is_due(&mut draft);
    draft.ruling()
}
