//! What a template is told. Everything about a match that a seat's letter says comes from here.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::templates::TOPICS;
use super::told::{Seen, Told};
use super::words::{left, local};
use super::{Club, Matter, Plain};
use crate::game::any::Kind;
use crate::game::{Board, BySeat, Fault, HouseLevel, Line, OptionRule, Seat};
use crate::referee::{Adjudged, Answer, Content, Match, Notice, Orders, Reply, Stage};

/// What any letter about a match may say to anybody who holds one of its seats.
fn shared(matter: &Matter<'_>) -> Vec<(&'static str, Value)> {
    let Matter { club, m, at, .. } = *matter;
    let zone = m.terms.zone;
    let due = m.due();
    let deadline = m.deadline.map(|deadline| {
        let end = deadline + m.terms.grace();
        json!({
            "at": local(deadline, zone),
            "left": left(deadline - at),
            "passed": deadline <= at,
            "grace_until": local(end, zone),
        })
    });
    vec![
        ("club", json!({ "name": club.name, "address": club.address })),
        ("match", json!({ "id": &m.id, "game": m.game.key(), "game_name": m.game.name(), "stage": m.stage })),
        ("names", json!(&m.players)),
        ("sides", json!(m.game.sides())),
        ("options", json!(m.state.options())),
        ("terms", json!(&m.terms)),
        ("title", json!(title(m))),
        ("due", json!(due)),
        ("awaited", json!(m.awaited())),
        ("outcome", json!(m.state.outcome())),
        ("paused", json!(m.stage == Stage::Paused)),
        ("asked", json!(m.asked_gm)),
        ("missed_in_a_row", json!(&m.missed)),
        ("draw_offer", json!(m.draw_offer)),
        ("extension", json!(m.extension.map(|(by, days)| json!({ "by": by, "days": days })))),
        ("absences", json!(&m.absences)),
        ("settles", json!(m.settle_at.map(|moment| local(moment, zone)))),
        ("deadline", json!(deadline)),
        ("ledger", json!({ "seq": m.head.seq, "hash": m.head.hash })),
    ]
}

/// What stands in the subject after the match's name: the phase that is open.
fn title(m: &Match) -> String {
    match m.due() {
        Some(due) if due.turn == 0 => "Setup".to_owned(),
        Some(due) => format!("Turn {}", due.turn),
        None => "Result".to_owned(),
    }
}

/// The context of a letter to `seat`.
pub fn seat(matter: &Matter<'_>, seat: Seat, board: Option<&Board>) -> Told {
    let Matter { m, dispatch, token, .. } = *matter;
    let content = &dispatch.content;
    let zone = m.terms.zone;
    let seen = Seen::new(&m.state, seat);
    let held = m.held[seat]
        .as_ref()
        .map(|held| json!({ "orders": &held.filing, "at": local(held.at, zone), "wait": held.wait }));
    let own = [
        ("me", json!(seat)),
        ("foe", json!(seat.other())),
        ("held", json!(held)),
        ("owes", json!(m.awaits(seat))),
        ("board", json!(board.map(|board| board.text.trim_end()))),
        ("token", json!(token)),
    ];
    let rest = match content {
        Content::Answer(answer) => vec![("answer", self::answer(answer))],
        Content::Report { missed, correction, .. } => vec![
            ("missed", json!(missed)),
            ("correction", json!(correction.as_deref().map(wrapped))),
            ("key", json!((m.stage == Stage::Over).then(|| m.key.open()))),
        ],
        Content::Missed { seats } => vec![("late", json!(seats))],
        Content::Notice(notice) => {
            vec![("notice", self::notice(notice, m)), ("message", json!(message(notice)))]
        }
        Content::Invitation | Content::Succession | Content::Reminder => Vec::new(),
    };
    let mut told = Told::new(Some(Arc::clone(&seen))).with(shared(matter)).with(own).with(rest);
    if let Content::Report { steps, .. } = content {
        let steps = steps.iter().map(|step| {
            let same = seen.is_of(&step.state);
            let seen = if same { Arc::clone(&seen) } else { Seen::new(&step.state, seat) };
            minijinja::Value::from(news(step, &m.players, seen, seat))
        });
        told.set("steps", steps.collect::<Vec<_>>());
    }
    told
}

/// The context of a letter to the GM. It holds nothing that the rules hide from either side: he may be a player.
pub fn gm(matter: &Matter<'_>) -> Told {
    let notice = noticed(&matter.dispatch.content);
    let own = [
        ("notice", json!(notice)),
        ("message", json!(notice.and_then(message))),
        ("token", json!(matter.token)),
    ];
    Told::new(None).with(shared(matter)).with(own)
}

/// The context of a letter to who held `seat` until now: nothing of the match but the notice.
pub fn former(matter: &Matter<'_>, seat: Seat) -> Told {
    let told = noticed(&matter.dispatch.content);
    let own = [
        ("me", json!(seat)),
        ("foe", json!(seat.other())),
        ("owes", json!(false)),
        ("held", json!(null)),
        ("former", json!(true)),
        ("notice", json!(told.map(|told| notice(told, matter.m)))),
        ("message", json!(told.and_then(message))),
        ("token", json!(null)),
    ];
    Told::new(None).with(shared(matter)).with(own)
}

/// A notice; instants in it are told as people read them.
fn notice(notice: &Notice, m: &Match) -> Value {
    let mut told = json!(notice);
    if let Notice::Extension { deadline } = notice {
        told["deadline"] = json!(local(*deadline, m.terms.zone));
    }
    told
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
pub fn plain(club: &Club<'_>, plain: &Plain, token: &str) -> Told {
    let mut own = match serde_json::to_value(plain).expect("a letter has string keys and plain values") {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    if let Some(Value::Array(remarks)) = own.get_mut("remarks") {
        for remark in remarks {
            *remark = json!(clipped(remark["text"].as_str().unwrap_or_default()));
        }
    }
    if let Some(Value::Array(items)) = own.get_mut("items") {
        for item in items {
            item["asked"] = json!(clipped(item["asked"].as_str().unwrap_or_default()));
        }
    }
    let shared = [
        ("club", json!({ "name": club.name, "address": club.address })),
        ("match", json!(null)),
        ("manual", manual(plain.replies())),
        ("token", json!(Some(token).filter(|token| !token.is_empty()))),
    ];
    Told::new(None).with(own).with(shared)
}

/// The context of the letter that tells the GM of matches that do not verify.
pub fn alarm(club: &Club<'_>, failed: &[(String, Vec<String>)]) -> Told {
    let own = [
        ("club", json!({ "name": club.name, "address": club.address })),
        ("match", json!(null)),
        ("failed", json!(failed)),
        ("token", json!(null)),
    ];
    Told::new(None).with(own)
}

/// The context of the news of one adjudication, after which `seat` sees the match so.
pub fn news(step: &Adjudged, names: &BySeat<String>, seen: Arc<Seen>, seat: Seat) -> Told {
    let own = [
        ("phase", json!(step.phase)),
        ("turn", json!(step.turn)),
        ("me", json!(seat)),
        ("foe", json!(seat.other())),
        ("names", json!(names)),
    ];
    Told::new(Some(seen)).with(own)
}

fn answer(answer: &Answer) -> Value {
    let faults = |faults: &[Fault]| -> Vec<Value> {
        faults.iter().map(|fault| self::fault(fault, &answer.quoted)).collect()
    };
    let orders = match &answer.orders {
        Orders::None => json!({ "kind": "none" }),
        Orders::Sealed { filing, sealed, wait, replaced } => {
            json!({ "kind": "sealed", "orders": filing, "sealed": sealed, "wait": wait, "replaced": replaced })
        }
        Orders::Checked { filing } => json!({ "kind": "checked", "orders": filing }),
        Orders::Refused { faults: refused, check } => {
            json!({ "kind": "refused", "faults": faults(refused), "check": check })
        }
    };
    json!({
        "orders": orders,
        "replies": &answer.replies,
        "reports": &answer.reports,
        "manual": manual(&answer.replies),
        "faults": faults(&answer.faults),
        "remarks": answer.remarks.iter().map(|line| clipped(&line.text)).collect::<Vec<_>>(),
        "replaced": answer.replaced.iter().map(|line| clipped(&line.text)).collect::<Vec<_>>(),
        "unread": answer.unread.as_deref(),
    })
}

fn fault(fault: &Fault, quoted: &[Line]) -> Value {
    let line = quoted.iter().find(|line| Some(line.no) == fault.line);
    json!({
        "line": fault.line,
        "text": line.map(|line| clipped(&line.text)),
        "reason": &fault.reason,
        "examples": fault.example.as_deref().map(|example| example.lines().collect::<Vec<_>>()),
    })
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
    let games: Vec<_> = Kind::ALL.iter().filter(|_| wanted).map(|kind| game(*kind)).collect();
    json!({ "games": games, "topics": TOPICS })
}

fn game(kind: Kind) -> Value {
    let option = |rule: &OptionRule| json!({ "name": rule.name, "values": rule.values.to_string(), "default": rule.default, "says": rule.says });
    let options: Vec<_> = kind.option_rules().iter().map(option).collect();
    let level = |level: &HouseLevel| json!({ "name": level.name, "says": level.says });
    let levels: Vec<_> = kind.levels().iter().map(level).collect();
    json!({ "key": kind.key(), "name": kind.name(), "sides": kind.sides(), "options": options, "levels": levels })
}
