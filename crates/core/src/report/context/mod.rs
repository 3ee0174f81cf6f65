//! Builds the contexts of the templates.
//!
//! Everything that a seat's letter says about a match is assembled here, so this is the place to check what a
//! letter may disclose.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Datelike as _, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde_json::json;

use self::lazy::{ComputeField, FieldSource};
use self::manual::manual;
use self::secrets::{keys, lot};
use super::WordingInput;
use super::text::{format_duration, format_local, isolated_names, shorten_line, wrap_lines};
use crate::game::condition::Conditions;
use crate::game::{Board, BySeat, Fault, Line, Seat};
use crate::letter::split_words;
use crate::referee::{
    Adjudication, Answer, Content, FiledOrders, HouseDefaults, MAX_COMMANDS, MAX_FAULTS, Match, News, Notice,
    Orders, PastReports, Receipts, Stage,
};
use crate::zone::Zone;

mod club;
mod lazy;
mod manual;
mod position;
mod secrets;

pub use self::club::for_club_letter;
pub use self::lazy::{LazyView, TemplateContext};
pub use self::position::{Position, word_position};

/// The fields that any letter about a match may have, for any reader.
const SHARED: [(&str, ComputeField); 27] = [
    ("club", |source| context! { name => &source.club_name, address => &source.club_address }),
    ("match", |source| match_header(&source.game_match)),
    ("names", |source| value(isolated_names(&source.game_match.players))),
    ("sides", |source| value(source.game_match.game.sides())),
    ("options", |source| value(source.game_match.state.options())),
    ("option_notes", option_notes),
    ("terms", |source| value(&source.game_match.terms)),
    ("advances_to", |source| value(source.game_match.advances_to())),
    ("title", |source| value(title(&source.game_match))),
    ("open_turn", |source| value(open_turn(&source.game_match))),
    ("due", |source| value(source.game_match.due())),
    ("awaited", |source| value(source.game_match.awaited_for(source.seat))),
    ("outcome", |source| value(source.game_match.outcome())),
    ("paused", |source| value(source.game_match.stage == Stage::Paused)),
    ("asked", |source| value(source.game_match.asked_gm)),
    ("missed_in_a_row", |source| value(&source.game_match.missed)),
    ("banks", |source| value(BySeat::from_fn(|seat| source.game_match.bank_left(seat)))),
    ("choice_until", choice_until),
    ("may_substitute", |source| value(source.game_match.may_substitute())),
    ("adjudicated", adjudication_times),
    ("draw_offer", |source| value(source.game_match.draw_offer)),
    ("extension", |source| extension(&source.game_match)),
    ("absences", |source| value(&source.game_match.absences)),
    ("settles", settles),
    ("deadline", deadline),
    ("ledger", |source| ledger_head(&source.game_match)),
    ("lot", |source| lot(&source.game_match)),
];

/// The fields that only a letter to a seat can have.
const OWN: [(&str, ComputeField); 9] = [
    ("me", |source| value(source.seat)),
    ("foe", |source| value(source.seat.map(Seat::other))),
    ("own_filing", sealed_orders),
    ("sent_ahead", sent_ahead),
    ("has_filed", |source| value(source.seat.is_some_and(|seat| source.game_match.filed[seat].is_some()))),
    ("refused", last_faults),
    ("in_trouble", |source| value(source.seat.is_some_and(|seat| source.game_match.in_trouble[seat]))),
    ("owes", |source| value(source.seat.is_some_and(|seat| source.game_match.awaits(seat)))),
    ("token", |source| value(&source.token)),
];

/// Returns the time zone of the reader.
fn zone(source: &FieldSource) -> Zone {
    source.seat.map_or(source.game_match.terms.zone, |seat| source.game_match.zone_of(seat))
}

fn match_header(game_match: &Match) -> Value {
    context! {
        id => &game_match.id,
        game => game_match.game.key(),
        game_name => game_match.game.name(),
        stage => Serde(game_match.stage),
        hides_something => game_match.state.hides_something(),
        takes_conditions => game_match.game.takes_conditions(),
    }
}

/// Returns the meaning of each option of the game, in half a sentence.
fn option_notes(source: &FieldSource) -> Value {
    let rules = source.game_match.game.option_rules().iter();
    value(rules.map(|rule| (rule.name, rule.says)).collect::<BTreeMap<_, _>>())
}

/// Returns the time until which the opponent of a vanished player may choose.
fn choice_until(source: &FieldSource) -> Value {
    let open = source.game_match.vanished.filter(|vanished| !vanished.agreed);
    value(open.map(|vanished| format_local(vanished.until, zone(source), source.at)))
}

/// Returns the extension that one side has asked for and the other has not agreed to.
fn extension(game_match: &Match) -> Value {
    game_match.extension.map(|(by, days)| context! { by => Serde(by), days => days }).into()
}

/// Returns the time at which complete filings will be adjudicated, if they wait for the settle time or the
/// deadline.
fn settles(source: &FieldSource) -> Value {
    value(source.game_match.settle_at.map(|end| format_local(end.at, zone(source), source.at)))
}

/// Returns the time of each phase's adjudication.
fn adjudication_times(source: &FieldSource) -> Value {
    let zone = zone(source);
    let phases = source.game_match.adjudicated.iter().map(|(phase, turn, at)| {
        let (at, now) = (at.with_timezone(&zone), source.at.with_timezone(&zone));
        let at =
            at.format(if at.year() == now.year() { "%-d %b %H:%M" } else { "%-d %b %Y %H:%M" }).to_string();
        context! { phase => Serde(phase), turn => turn, at => at }
    });
    context! { zone => zone.name(), phases => phases.collect::<Value>() }
}

fn ledger_head(game_match: &Match) -> Value {
    context! { seq => game_match.head.seq, hash => Serde(game_match.head.hash) }
}

fn deadline(source: &FieldSource) -> Value {
    let Some(deadline) = source.game_match.deadline else { return Value::from(()) };
    let (terms, zone) = (&source.game_match.terms, zone(source));
    context! {
        at => format_local(deadline, zone, source.at),
        left => format_duration(deadline - source.at),
        passed => deadline <= source.at,
        grace_until => format_local(deadline + terms.grace(), zone, source.at),
    }
}

/// Returns the sealed orders of the recipient.
fn sealed_orders(source: &FieldSource) -> Value {
    let filed = source.seat.and_then(|seat| source.game_match.filed[seat].as_ref());
    filed.map(|filed| filed_orders(filed, zone(source), source.at)).into()
}

/// Returns orders of the recipient, and the time at which they came.
fn filed_orders(filed: &FiledOrders, zone: Zone, now: DateTime<Utc>) -> Value {
    context! {
        orders => Serde(&filed.filing),
        at => format_local(filed.at, zone, now),
        wait => filed.wait,
        asked => filed.asked,
        firm_at => filed.firm_at.map(|end| format_local(end.at, zone, now)),
    }
}

/// Returns the conditional orders of the recipient that wait for a move.
fn sent_ahead(source: &FieldSource) -> Value {
    value(source.seat.and_then(|seat| source.game_match.conditions[seat].as_ref()).map(Conditions::lines))
}

/// Returns the faults for which the recipient's last letter was refused.
fn last_faults(source: &FieldSource) -> Value {
    let refused = source.seat.and_then(|seat| source.game_match.refused_faults(seat));
    refused.map(|(why, quoted)| context! { faults => faults(&why, &quoted) }).into()
}

fn field_source(input: &WordingInput<'_>, seat: Option<Seat>) -> FieldSource {
    FieldSource {
        club_name: input.club.name.to_owned(),
        club_address: input.club.address.to_owned(),
        game_match: Arc::clone(input.game_match),
        seat,
        token: input.token.to_owned(),
        at: input.at,
    }
}

fn value(serializable: impl serde::Serialize) -> Value {
    Value::from(Serde(serializable))
}

/// Returns the name of the open phase as it follows the match's name in a subject.
pub fn title(game_match: &Match) -> String {
    match game_match.due() {
        Some(due) if due.turn == 0 => "Setup".to_owned(),
        Some(due) => format!("Turn {}", due.turn),
        None => "Result".to_owned(),
    }
}

/// Returns the name of the open phase for the middle of a sentence.
fn open_turn(game_match: &Match) -> String {
    match game_match.due() {
        Some(due) if due.turn == 0 => "the setup".to_owned(),
        Some(due) => format!("turn {}", due.turn),
        None => "the result".to_owned(),
    }
}

/// Returns the context of a letter to `seat`.
pub fn for_seat(input: &WordingInput<'_>, seat: Seat, board: Option<&Board>) -> TemplateContext {
    let WordingInput { club, game_match, dispatch, at: now, .. } = *input;
    let zone = game_match.zone_of(seat);
    let view = shown_view(game_match, &dispatch.content, seat);
    let rest = match &dispatch.content {
        Content::Answer(answer) => vec![
            ("answer", self::answer(answer, zone, now, club.house)),
            ("place", place(answer, game_match, now)),
        ],
        Content::Report { news, receipt, replaces: _ } => {
            let News { steps, left_out, missed, correction, filed, conditions } = &**news;
            vec![
                ("turns_left_out", value(left_out)),
                (
                    "answer",
                    receipt.as_deref().map(|receipt| self::answer(receipt, zone, now, club.house)).into(),
                ),
                ("own_orders", own_orders(game_match, seat, filed, missed, now)),
                (
                    "steps",
                    steps.iter().map(|step| report_step(step, &game_match.players, &view, seat)).collect(),
                ),
                ("missed", value(missed)),
                ("conditions", conditions.iter().filter(|news| news.seat == seat).map(value).collect()),
                ("correction", value(correction.as_deref().map(wrap_lines))),
                ("gm_messages", secrets::messages(game_match, seat, now)),
                ("unsealed", secrets::facts_shown_to_gms(game_match, seat, now)),
                ("keys", keys(game_match)),
            ]
        }
        Content::Missed { seats } => vec![("late", value(seats))],
        Content::Notice(notice) => {
            vec![("notice", self::notice(notice, zone, now)), ("message", value(message(notice)))]
        }
        Content::Invitation | Content::Succession | Content::Reminder => Vec::new(),
    };
    let board = ("board", value(board.map(|board| board.text.trim_end())));
    TemplateContext::new(Some(view))
        .with_lazy(field_source(input, Some(seat)), SHARED.into_iter().chain(OWN))
        .with([board, ("notes", value(input.notes))])
        .with(rest)
}

/// Returns the view that a letter shows. In a report it also shows the seat's actions in the last
/// adjudication.
fn shown_view(game_match: &Match, content: &Content, seat: Seat) -> Arc<LazyView> {
    let Content::Report { news, .. } = content else { return LazyView::of_match(game_match, seat) };
    match news.steps.last().filter(|last| last.state == game_match.state) {
        Some(last) => LazyView::after(last, seat, game_match.memories.as_ref()),
        None => LazyView::of_match(game_match, seat),
    }
}

/// Returns the orders that a report repeats to a reader who gets receipts only for faults.
fn own_orders(
    game_match: &Match,
    seat: Seat,
    filed: &BySeat<Option<FiledOrders>>,
    missed: &[Seat],
    now: DateTime<Utc>,
) -> Value {
    let is_told = game_match.settings[seat].receipts == Receipts::Faults && !missed.contains(&seat);
    let own = filed[seat].as_ref().filter(|_| is_told);
    own.map(|own| filed_orders(own, game_match.zone_of(seat), now)).into()
}

/// Returns the news of one of a report's adjudications. The last one led to the state shown, so its view is
/// shared.
fn report_step(step: &Adjudication, names: &BySeat<String>, view: &Arc<LazyView>, seat: Seat) -> Value {
    let view = if view.is_of(&step.state) { Arc::clone(view) } else { LazyView::after(step, seat, None) };
    for_news(step, names, view, seat).into()
}

/// Returns the context of a letter to the GM about a match. The GM may be one of the players, so it holds
/// nothing that the rules hide from either side.
pub fn for_gm(input: &WordingInput<'_>) -> TemplateContext {
    let notice = notice_of(&input.dispatch.content);
    let own = [
        ("notice", value(notice)),
        ("message", value(notice.and_then(message))),
        ("gm_plays", value(input.gm_plays)),
        ("hides", value(input.game_match.game.hides_something())),
        ("token", value(input.token)),
    ];
    TemplateContext::new(None).with_lazy(field_source(input, None), SHARED).with(own)
}

/// Returns the context of a letter to the player who held `seat` until now. It discloses nothing about the
/// match except the notice.
pub fn for_former(input: &WordingInput<'_>, seat: Seat) -> TemplateContext {
    let notice = notice_of(&input.dispatch.content);
    let own = [
        ("me", value(seat)),
        ("foe", value(seat.other())),
        ("owes", value(false)),
        ("own_filing", Value::from(())),
        ("sent_ahead", Value::from(())),
        ("former", value(true)),
        ("notice", notice.map(|notice| self::notice(notice, input.game_match.terms.zone, input.at)).into()),
        ("message", value(notice.and_then(message))),
        ("token", Value::from(())),
    ];
    TemplateContext::new(None).with_lazy(field_source(input, None), SHARED).with(own)
}

/// Returns a notice, with a new deadline in local time.
fn notice(notice: &Notice, zone: Zone, now: DateTime<Utc>) -> Value {
    let mut fields = json!(notice);
    if let Notice::Extension { deadline }
    | Notice::Undelivered { deadline, .. }
    | Notice::Vanished { deadline, .. }
    | Notice::BankDay { deadline, .. } = notice
    {
        fields["deadline"] = json!(format_local(*deadline, zone, now));
    }
    if let Notice::BankDay { latest, .. } = notice {
        fields["latest"] = json!(format_local(*latest, zone, now));
    }
    value(fields)
}

fn notice_of(content: &Content) -> Option<&Notice> {
    let Content::Notice(notice) = content else { return None };
    Some(notice)
}

/// Returns the context of the news of one adjudication; `view` is what `seat` sees after it.
pub fn for_news(
    step: &Adjudication,
    names: &BySeat<String>,
    view: Arc<LazyView>,
    seat: Seat,
) -> TemplateContext {
    let own = [
        ("phase", value(step.phase)),
        ("turn", value(step.turn)),
        ("me", value(seat)),
        ("foe", value(seat.other())),
        ("names", value(isolated_names(names))),
    ];
    TemplateContext::new(Some(view)).with(own)
}

fn answer(answer: &Answer, zone: Zone, now: DateTime<Utc>, house: HouseDefaults) -> Value {
    let orders = match &answer.orders {
        Orders::None => context! { kind => "none" },
        Orders::Sealed { filing, sealed, wait, firm_at, asks, replaced, is_confirmed, dropped } => context! {
            asks => asks, is_confirmed => is_confirmed,
            kind => "sealed", orders => Serde(filing), sealed => Serde(sealed), wait => wait,
            firm_at => firm_at.map(|at| format_local(at, zone, now)), replaced => replaced, dropped => dropped,
        },
        Orders::Conditions { lines, sealed, firm_at, replaced, wait } => context! {
            kind => "conditions", orders => lines, sealed => Serde(sealed), replaced => replaced,
            wait => wait, firm_at => firm_at.map(|at| format_local(at, zone, now)),
        },
        Orders::Checked { filing } => context! { kind => "checked", orders => Serde(filing) },
        Orders::Refused { faults: refused, check, corrected } => context! {
            kind => "refused", faults => faults(refused, &answer.quoted), check => check, corrected => corrected,
        },
    };
    let reports: Vec<PastReports> = (0..answer.replies.len())
        .map(|index| answer.reports.get(index).cloned().unwrap_or_default())
        .collect();
    context! {
        orders => orders,
        deferred => answer.deferred,
        replies => Serde(&answer.replies),
        reports => Serde(reports),
        manual => manual(&answer.replies, house),
        faults => faults(&answer.faults, &answer.quoted),
        more_faults => beyond(MAX_FAULTS, answer.all_faults().count()) + answer.left_out.faults,
        remarks => remarks(answer),
        words => answer.remarks.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"),
        elsewhere_orders => answer.elsewhere_orders.iter().take(MAX_LISTED).map(|order| {
            context! { text => shorten_line(&order.line.text), game => order.game.name() }
        }).collect::<Value>(),
        instructs => answer.instructs,
        more_remarks => beyond(MAX_LISTED, answer.remarks.len()),
        replaced => shortened_lines(&answer.replaced),
        offered => Serde(&answer.offered),
        more_replaced => beyond(MAX_LISTED, answer.replaced.len()),
        unread => answer.unread.as_deref(),
        token_renewed => answer.token_renewed,
        accepted_since => answer.accepted_since.map(|came| format_local(came, zone, now)),
        wishes => Serde(&answer.wishes),
        asks_for_orders => answer.asks_for_orders(),
        passed_on => Serde(answer.passed_on),
        is_only_words => answer.is_only_words(),
        seems_to_order => answer.seems_to_order(),
        gm_is_opponent => answer.gm_is_opponent,
        cuts_text => answer.cuts_text,
        outcome => Serde(answer.outcome()),
        others => Serde(&answer.others),
        elsewhere => Serde(&answer.elsewhere),
        seasons => Serde(&answer.seasons),
        attachments => answer.attachments.iter().map(|name| shorten_line(name)).collect::<Value>(),
        commands_left_out => answer.left_out.commands,
        most_commands => MAX_COMMANDS,
    }
}

/// Returns the time zone of a city that a letter names where it asks for a time, with the deadline there.
fn place(answer: &Answer, game_match: &Match, now: DateTime<Utc>) -> Value {
    let asks = |text: &str| {
        let words = ["until", "when", "time", "clock", "deadline", "hour", "hours", "zone", "due"];
        split_words(text).any(|word| words.iter().any(|asked| word.eq_ignore_ascii_case(asked)))
    };
    let mut texts = answer.remarks.iter().take(MAX_LISTED).map(|line| line.text.as_str());
    let found = texts.clone().any(asks).then(|| texts.find_map(Zone::of_city_in)).flatten();
    let time = |zone: Zone| game_match.deadline.map(|at| format_local(at, zone, now));
    found.map(|(city, zone)| context! { city => city, zone => zone.name(), due => time(zone) }).into()
}

/// Maximum lines of a player's letter in one list.
const MAX_LISTED: usize = 20;

/// Returns how many of `count` items a list of at most `most` leaves out.
fn beyond(most: usize, count: usize) -> usize {
    count.saturating_sub(most)
}

fn faults(faults: &[Fault], quoted: &[Line]) -> Value {
    let shown = &faults[..faults.len().min(MAX_FAULTS)];
    // Lines with the same doubt are quoted together.
    let groups = shown.chunk_by(|one, next| one.doubtful && one.reason == next.reason);
    groups.map(|group| self::fault(group, quoted)).collect()
}

/// Returns the faults with one reason: one fault, or several doubtful lines.
fn fault(group: &[Fault], quoted: &[Line]) -> Value {
    let Some(first) = group.first() else { return Value::UNDEFINED };
    let line_of = |fault: &Fault| quoted.iter().find(|line| Some(line.no) == fault.line);
    let examples = group.iter().filter_map(|fault| fault.example.as_deref()).flat_map(str::lines);
    context! {
        lines => group.iter().filter_map(|fault| fault.line).collect::<Value>(),
        texts => group.iter().filter_map(line_of).flat_map(|line| whole_line(&line.text)).collect::<Value>(),
        reason => &first.reason,
        doubtful => first.doubtful,
        corrected => first.corrected,
        examples => examples.collect::<Value>(),
    }
}

/// Maximum characters of a line that is quoted whole.
const MAX_WHOLE: usize = 1_000;

/// Returns a line that nobody else may read, whole: wrapped for a quote.
fn whole_line(text: &str) -> Vec<String> {
    match text.char_indices().nth(MAX_WHOLE) {
        Some((end, _)) => wrap_lines(&format!("{}…", &text[..end])),
        None => wrap_lines(text),
    }
}

/// Returns the remarks of a letter: whole if they reach no GM.
fn remarks(answer: &Answer) -> Value {
    match answer.passed_on {
        Some(_) => shortened_lines(&answer.remarks),
        None => answer.remarks.iter().take(MAX_LISTED).flat_map(|line| whole_line(&line.text)).collect(),
    }
}

/// Returns the first of the lines, shortened.
fn shortened_lines(lines: &[Line]) -> Value {
    lines.iter().take(MAX_LISTED).map(|line| shorten_line(&line.text)).collect()
}

/// Returns the lines of the text that a notice passes on from a person; `None` if it passes on nothing.
fn message(notice: &Notice) -> Option<Vec<String>> {
    let text = match notice {
        Notice::Message { text, .. }
        | Notice::Words { text, .. }
        | Notice::MessageOfGm { text }
        | Notice::Reopened { reason: text, .. } => text,
        Notice::Annulled { reason } => reason,
        Notice::Protested { text, .. } => text.as_ref()?,
        Notice::DrawOffered { .. }
        | Notice::ExtensionAsked { .. }
        | Notice::Extended { .. }
        | Notice::Slid
        | Notice::SetAgain
        | Notice::ZonesChanged
        | Notice::Undelivered { .. }
        | Notice::Absent { .. }
        | Notice::Absences { .. }
        | Notice::SubstituteAsked { .. }
        | Notice::Paused { .. }
        | Notice::Resumed
        | Notice::Extension { .. }
        | Notice::FiledByGm { .. }
        | Notice::GmWrote { .. }
        | Notice::Replaced { .. }
        | Notice::TokenRenewed { .. }
        | Notice::Renamed { .. }
        | Notice::Overdue { .. }
        | Notice::TermsChanged { .. }
        | Notice::Vanished { .. }
        | Notice::BankDay { .. }
        | Notice::HouseFailed { .. } => return None,
    };
    Some(wrap_lines(text))
}
