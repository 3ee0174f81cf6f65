//! Reads a match from its snapshot, in which filings are lines of orders.

use serde::{Deserialize, Deserializer};

use super::game_match::{FiledOrders, Match};
use crate::game::any::{Filing, IllegalFiling};
use crate::game::{BySeat, OrderLines};

impl<'de> Deserialize<'de> for Match {
    /// Parses the filings against the state. If they do not fit it, the snapshot was changed, and this fails.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = <Match<OrderLines> as Deserialize>::deserialize(deserializer)?;
        unseal(stored).map_err(serde::de::Error::custom)
    }
}

fn unseal(stored: Match<OrderLines>) -> Result<Match, IllegalFiling> {
    let lines = stored.filed.as_ref().map(|held| held.as_ref().map(|held| held.filing.clone()));
    let filings = stored.state.unseal(&lines)?;
    Ok(Match {
        filed: BySeat::new(
            refiled(stored.filed.first, filings.first),
            refiled(stored.filed.second, filings.second),
        ),
        id: stored.id,
        game: stored.game,
        rules: stored.rules,
        format: stored.format,
        players: stored.players,
        house: stored.house,
        terms: stored.terms,
        next_terms: stored.next_terms,
        settings: stored.settings,
        stage: stored.stage,
        annulled: stored.annulled,
        paused_at: stored.paused_at,
        state: stored.state,
        memories: stored.memories,
        untold: stored.untold,
        conditions: stored.conditions,
        conditions_firm_at: stored.conditions_firm_at,
        footers: stored.footers,
        phase_no: stored.phase_no,
        opened_at: stored.opened_at,
        deadline: stored.deadline,
        lag_seconds: stored.lag_seconds,
        local_deadline: stored.local_deadline,
        settle_at: stored.settle_at,
        reminders_sent: stored.reminders_sent,
        asked_gm: stored.asked_gm,
        bouncing: stored.bouncing,
        bounces: stored.bounces,
        sent_late: stored.sent_late,
        clock_moves: stored.clock_moves,
        away: stored.away,
        in_trouble: stored.in_trouble,
        protest: stored.protest,
        protest_words: stored.protest_words,
        vanished: stored.vanished,
        missed: stored.missed,
        bank_days: stored.bank_days,
        missed_phase: stored.missed_phase,
        offered: stored.offered,
        refused: stored.refused,
        draw_offer: stored.draw_offer,
        extension: stored.extension,
        absences: stored.absences,
        adjudicated: stored.adjudicated,
        mail_identity: stored.mail_identity,
        wording_news: stored.wording_news,
        templates_told: stored.templates_told,
        head: stored.head,
        key: stored.key,
        earlier_keys: stored.earlier_keys,
        lot: stored.lot,
        gm_messages: stored.gm_messages,
        unsealed: stored.unsealed,
        past: stored.past,
        pins: stored.pins,
        delivered: stored.delivered,
    })
}

fn refiled(stored: Option<FiledOrders<OrderLines>>, filing: Option<Filing>) -> Option<FiledOrders> {
    let (stored, filing) = stored.zip(filing)?;
    let FiledOrders { filing: _, at, wait, firm_at, asked, other_lines } = stored;
    Some(FiledOrders { filing, at, wait, firm_at, asked, other_lines })
}
