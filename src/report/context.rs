//! What a template is told. Everything about a match that a seat's letter says comes from here.

use std::sync::Arc;

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde_json::json;

use super::template_context::{ComputeField, FieldSource, LazyView, TemplateContext};
use super::templates::TOPICS;
use super::time::{format_duration, format_local};
use super::{Club, ClubLetter, WordingInput};
use crate::game::any::GameKind;
use crate::game::{Board, BySeat, Fault, HouseLevel, Line, OptionRule, Seat};
use crate::referee::{Adjudication, Answer, Content, Match, Notice, Orders, Reply, Stage};

/// What any letter about a match may say to anybody who holds one of its seats.
const SHARED: [(&str, ComputeField); 19] = [
    ("club", |about| club(&Club { name: &about.club_name, address: &about.club_address })),
    ("match", |about| {
        let game_match = &about.game_match;
        context! { id => &game_match.id, game => game_match.game.key(), game_name => game_match.game.name(), stage => Serde(game_match.stage) }
    }),
    ("names", |about| told(&about.game_match.players)),
    ("sides", |about| told(about.game_match.game.sides())),
    ("options", |about| told(about.game_match.state.options())),
    ("terms", |about| told(&about.game_match.terms)),
    ("title", |about| told(title(&about.game_match))),
    ("due", |about| told(about.game_match.due())),
    ("awaited", |about| told(about.game_match.awaited())),
    ("outcome", |about| told(about.game_match.state.outcome())),
    ("paused", |about| told(about.game_match.stage == Stage::Paused)),
    ("asked", |about| told(about.game_match.asked_gm)),
    ("missed_in_a_row", |about| told(&about.game_match.missed)),
    ("draw_offer", |about| told(about.game_match.draw_offer)),
    ("extension", |about| {
        about.game_match.extension.map(|(by, days)| context! { by => Serde(by), days => days }).into()
    }),
    ("absences", |about| told(&about.game_match.absences)),
    ("settles", |about| {
        told(about.game_match.settle_at.map(|moment| format_local(moment, about.game_match.terms.zone)))
    }),
    ("deadline", deadline),
    (
        "ledger",
        |about| context! { seq => about.game_match.head.seq, hash => Serde(about.game_match.head.hash) },
    ),
];

/// What a letter to a seat may say of that seat.
const OWN: [(&str, ComputeField); 5] = [
    ("me", |about| told(about.seat)),
    ("foe", |about| told(about.seat.map(Seat::other))),
    ("held", held),
    ("owes", |about| told(about.seat.is_some_and(|seat| about.game_match.awaits(seat)))),
    ("token", |about| told(&about.token)),
];

fn deadline(about: &FieldSource) -> Value {
    let terms = &about.game_match.terms;
    let told = about.game_match.deadline.map(|deadline| {
        context! {
            at => format_local(deadline, terms.zone),
            left => format_duration(deadline - about.at),
            passed => deadline <= about.at,
            grace_until => format_local(deadline + terms.grace(), terms.zone),
        }
    });
    told.into()
}

fn held(about: &FieldSource) -> Value {
    let held = about.seat.and_then(|seat| about.game_match.held[seat].as_ref());
    let told = held.map(|held| {
        let at = format_local(held.at, about.game_match.terms.zone);
        context! { orders => Serde(&held.filing), at => at, wait => held.wait }
    });
    told.into()
}

fn about(input: &WordingInput<'_>, seat: Option<Seat>) -> FieldSource {
    let WordingInput { club, game_match, token, at, .. } = *input;
    let (club_name, club_address) = (club.name.to_owned(), club.address.to_owned());
    FieldSource {
        club_name,
        club_address,
        game_match: Arc::clone(game_match),
        seat,
        token: token.to_owned(),
        at,
    }
}

fn told(value: impl serde::Serialize) -> Value {
    Value::from(Serde(value))
}

/// What stands in the subject after the match's name: the phase that is open.
fn title(game_match: &Match) -> String {
    match game_match.due() {
        Some(due) if due.turn == 0 => "Setup".to_owned(),
        Some(due) => format!("Turn {}", due.turn),
        None => "Result".to_owned(),
    }
}

/// The context of a letter to `seat`.
pub fn seat(input: &WordingInput<'_>, seat: Seat, board: Option<&Board>) -> TemplateContext {
    let WordingInput { game_match, dispatch, .. } = *input;
    let seen = LazyView::new(&game_match.state, seat);
    let rest = match &dispatch.content {
        Content::Answer(answer) => vec![("answer", self::answer(answer))],
        Content::Report { steps, missed, correction } => vec![
            ("steps", steps.iter().map(|step| told_step(step, game_match, &seen, seat)).collect()),
            ("missed", told(missed)),
            ("correction", told(correction.as_deref().map(wrapped))),
            ("key", told((game_match.stage == Stage::Over).then(|| game_match.key.reveal()))),
        ],
        Content::Missed { seats } => vec![("late", told(seats))],
        Content::Notice(notice) => {
            vec![("notice", self::notice(notice, game_match)), ("message", told(message(notice)))]
        }
        Content::Invitation | Content::Succession | Content::Reminder => Vec::new(),
    };
    let board = ("board", told(board.map(|board| board.text.trim_end())));
    TemplateContext::new(Some(seen))
        .about(about(input, Some(seat)), SHARED.into_iter().chain(OWN))
        .with([board])
        .with(rest)
}

/// The news of one of the adjudications that a report tells of.
fn told_step(step: &Adjudication, game_match: &Match, seen: &Arc<LazyView>, seat: Seat) -> Value {
    let seen = if seen.is_of(&step.state) { Arc::clone(seen) } else { LazyView::new(&step.state, seat) };
    news(step, &game_match.players, seen, seat).into()
}

/// The context of a letter to the GM. It holds nothing that the rules hide from either side: he may be a player.
pub fn gm(input: &WordingInput<'_>) -> TemplateContext {
    let notice = noticed(&input.dispatch.content);
    let own =
        [("notice", told(notice)), ("message", told(notice.and_then(message))), ("token", told(input.token))];
    TemplateContext::new(None).about(about(input, None), SHARED).with(own)
}

/// The context of a letter to who held `seat` until now: nothing of the match but the notice.
pub fn former(input: &WordingInput<'_>, seat: Seat) -> TemplateContext {
    let notice = noticed(&input.dispatch.content);
    let own = [
        ("me", told(seat)),
        ("foe", told(seat.other())),
        ("owes", told(false)),
        ("held", Value::from(())),
        ("former", told(true)),
        ("notice", notice.map(|notice| self::notice(notice, input.game_match)).into()),
        ("message", told(notice.and_then(message))),
        ("token", Value::from(())),
    ];
    TemplateContext::new(None).about(about(input, None), SHARED).with(own)
}

/// A notice; instants in it are told as people read them.
fn notice(notice: &Notice, game_match: &Match) -> Value {
    let mut told = json!(notice);
    if let Notice::Extension { deadline } = notice {
        told["deadline"] = json!(format_local(*deadline, game_match.terms.zone));
    }
    self::told(told)
}

fn noticed(content: &Content) -> Option<&Notice> {
    match content {
        Content::Notice(notice) => Some(notice),
        Content::Invitation
        | Content::Answer(_)
        | Content::Report { .. }
        | Content::Reminder
        | Content::Succession
        | Content::Missed { .. } => None,
    }
}

/// The context of a letter that is about no running match.
pub fn plain(club: &Club<'_>, plain: &ClubLetter, token: &str) -> TemplateContext {
    let mut own = match serde_json::to_value(plain).expect("a letter has string keys and plain values") {
        serde_json::Value::Object(fields) => fields,
        _ => serde_json::Map::new(),
    };
    if let Some(serde_json::Value::Array(remarks)) = own.get_mut("remarks") {
        for remark in remarks {
            *remark = json!(clipped(remark["text"].as_str().unwrap_or_default()));
        }
    }
    if let Some(serde_json::Value::Array(items)) = own.get_mut("items") {
        for item in items {
            item["asked"] = json!(clipped(item["asked"].as_str().unwrap_or_default()));
        }
    }
    let shared = [
        ("club", self::club(club)),
        ("match", Value::from(())),
        ("manual", manual(plain.replies())),
        ("token", Some(token).filter(|token| !token.is_empty()).into()),
    ];
    TemplateContext::new(None).with(own.into_iter().map(|(name, value)| (name, told(value)))).with(shared)
}

fn club(club: &Club<'_>) -> Value {
    context! { name => club.name, address => club.address }
}

/// The context of the letter that tells the GM of matches that do not verify.
pub fn alarm(club: &Club<'_>, failed: &[(String, Vec<String>)]) -> TemplateContext {
    let own = [
        ("club", self::club(club)),
        ("match", Value::from(())),
        ("failed", told(failed)),
        ("token", Value::from(())),
    ];
    TemplateContext::new(None).with(own)
}

/// The context of the news of one adjudication, after which `seat` sees the match so.
pub fn news(step: &Adjudication, names: &BySeat<String>, seen: Arc<LazyView>, seat: Seat) -> TemplateContext {
    let own = [
        ("phase", told(step.phase)),
        ("turn", told(step.turn)),
        ("me", told(seat)),
        ("foe", told(seat.other())),
        ("names", told(names)),
    ];
    TemplateContext::new(Some(seen)).with(own)
}

fn answer(answer: &Answer) -> Value {
    let faults =
        |faults: &[Fault]| faults.iter().map(|fault| self::fault(fault, &answer.quoted)).collect::<Value>();
    let orders = match &answer.orders {
        Orders::None => context! { kind => "none" },
        Orders::Sealed { filing, sealed, wait, replaced } => context! {
            kind => "sealed", orders => Serde(filing), sealed => Serde(sealed), wait => wait,
            replaced => replaced,
        },
        Orders::Checked { filing } => context! { kind => "checked", orders => Serde(filing) },
        Orders::Refused { faults: refused, check } => {
            context! { kind => "refused", faults => faults(refused), check => check }
        }
    };
    let clipped = |lines: &[Line]| lines.iter().map(|line| clipped(&line.text)).collect::<Value>();
    context! {
        orders => orders,
        replies => Serde(&answer.replies),
        reports => Serde(&answer.reports),
        manual => manual(&answer.replies),
        faults => faults(&answer.faults),
        remarks => clipped(&answer.remarks),
        replaced => clipped(&answer.replaced),
        unread => answer.unread.as_deref(),
    }
}

fn fault(fault: &Fault, quoted: &[Line]) -> Value {
    let line = quoted.iter().find(|line| Some(line.no) == fault.line);
    context! {
        line => fault.line,
        text => line.map(|line| clipped(&line.text)),
        reason => &fault.reason,
        examples => fault.example.as_deref().map(|example| example.lines().collect::<Value>()),
    }
}

/// The longest piece of a player's line that is quoted back, in characters: lines of ours stay under 70.
const QUOTED_AT_MOST: usize = 60;

fn clipped(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.chars().count() <= QUOTED_AT_MOST {
        return clean;
    }
    clean.chars().take(QUOTED_AT_MOST - 1).chain(['…']).collect()
}

/// A player's message, wrapped so that no line of it can be taken for an order.
fn message(notice: &Notice) -> Option<Vec<String>> {
    let text = match notice {
        Notice::Message { text, .. }
        | Notice::Protested { text: Some(text), .. }
        | Notice::NoteOfGm { text }
        | Notice::Reopened { reason: text, .. } => text,
        _ => return None,
    };
    Some(wrapped(text))
}

/// The lines of somebody's text, fit to be quoted.
fn wrapped(text: &str) -> Vec<String> {
    let lines = text.lines().flat_map(|line| textwrap::wrap(line, QUOTED_AT_MOST));
    lines.map(|line| clipped(&line)).collect()
}

/// What the pages of the manual that were asked for need: every game with its options.
fn manual(replies: &[Reply]) -> Value {
    let wanted = replies
        .iter()
        .any(|reply| matches!(reply, Reply::Games { .. } | Reply::Help { .. } | Reply::Rules { .. }));
    let games: Vec<_> = GameKind::ALL.iter().filter(|_| wanted).map(|kind| game(*kind)).collect();
    context! { games => games, topics => TOPICS }
}

fn game(kind: GameKind) -> Value {
    let option = |rule: &OptionRule| {
        let values = rule.values.to_string();
        context! { name => rule.name, values => values, default => rule.default, says => rule.says }
    };
    let options: Vec<_> = kind.option_rules().iter().map(option).collect();
    let level = |level: &HouseLevel| context! { name => level.name, says => level.says };
    let levels: Vec<_> = kind.levels().iter().map(level).collect();
    context! {
        key => kind.key(), name => kind.name(), sides => Serde(kind.sides()), options => options, levels => levels,
    }
}
