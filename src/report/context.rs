//! What a template is told. Everything about a match that a seat's letter says comes from here.

use chrono::{DateTime, Utc};
use minijinja::{Value, context};

use super::Club;
use super::words::{left, local};
use crate::game::any::Kind;
use crate::game::{Board, BySeat, Fault, Line, OptionRule, Seat};
use crate::referee::{Adjudged, Answer, Content, Match, Notice, Orders, Reply, Stage};

/// What any letter about a match may say to anybody who holds one of its seats.
fn shared(club: &Club<'_>, m: &Match, at: DateTime<Utc>) -> Value {
    let zone = m.terms.zone;
    let due = m.due();
    let deadline = m.deadline.map(|deadline| {
        let end = deadline + m.terms.grace();
        context! {
            at => local(deadline, zone),
            left => left(deadline - at),
            passed => deadline <= at,
            grace_until => local(end, zone),
        }
    });
    context! {
        club => context! { name => club.name, address => club.address },
        match => context! { id => &m.id, game => m.game.key(), game_name => m.game.name(), stage => m.stage },
        names => &m.players,
        sides => m.game.sides(),
        options => m.state.options(),
        terms => &m.terms,
        title => title(m),
        due => due,
        awaited => m.awaited(),
        outcome => m.state.outcome(),
        paused => m.stage == Stage::Paused,
        settles => m.settle_at.map(|moment| local(moment, zone)),
        deadline => deadline,
        ledger => context! { seq => m.head.seq, hash => m.head.hash },
    }
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
pub fn seat(
    club: &Club<'_>,
    m: &Match,
    seat: Seat,
    content: &Content,
    token: &str,
    at: DateTime<Utc>,
    board: Option<&Board>,
) -> Value {
    let zone = m.terms.zone;
    let held = m.held[seat].as_ref().map(|held| {
        context! { orders => &held.filing, at => local(held.at, zone), wait => held.wait }
    });
    let own = context! {
        me => seat,
        foe => seat.other(),
        held => held,
        owes => m.awaits(seat),
        view => m.state.view(seat),
        extra => m.state.extra(seat),
        board => board.map(|board| board.text.trim_end()),
        token => token,
    };
    let rest = match content {
        Content::Answer(answer) => context! { answer => self::answer(answer) },
        Content::Report { steps, missed } => {
            let steps: Vec<_> = steps.iter().map(|step| news(step, &m.players, seat)).collect();
            context! { steps => steps, missed => missed, key => m.stage == Stage::Over }
        }
        Content::Missed { seats } => context! { late => seats },
        Content::Notice(notice) => context! { notice => notice, message => message(notice) },
        Content::Invitation | Content::Reminder => context! {},
    };
    context! { ..rest, ..own, ..shared(club, m, at) }
}

/// The context of a letter to the GM. It holds nothing that the rules hide from either side: he may be a player.
pub fn gm(club: &Club<'_>, m: &Match, content: &Content, at: DateTime<Utc>) -> Value {
    let notice = match content {
        Content::Notice(notice) => Some(notice),
        Content::Invitation
        | Content::Answer(_)
        | Content::Report { .. }
        | Content::Reminder
        | Content::Missed { .. } => None,
    };
    context! {
        notice => notice,
        message => notice.and_then(message),
        token => Option::<&str>::None,
        ..shared(club, m, at)
    }
}

/// The context of a letter to somebody who holds no seat.
pub fn stranger(club: &Club<'_>, replies: &[Reply], why: &str) -> Value {
    context! {
        club => context! { name => club.name, address => club.address },
        match => Option::<&str>::None,
        replies => replies,
        manual => manual(replies),
        why => why,
        token => Option::<&str>::None,
    }
}

/// The context of the news of one adjudication.
pub fn news(step: &Adjudged, names: &BySeat<String>, seat: Seat) -> Value {
    context! {
        phase => step.phase,
        turn => step.turn,
        view => step.state.view(seat),
        extra => step.state.extra(seat),
        me => seat,
        foe => seat.other(),
        names => names,
    }
}

fn answer(answer: &Answer) -> Value {
    let faults = |faults: &[Fault]| -> Vec<Value> {
        faults.iter().map(|fault| self::fault(fault, &answer.written)).collect()
    };
    let orders = match &answer.orders {
        Orders::None => context! { kind => "none" },
        Orders::Sealed { filing, sealed, wait, replaced } => {
            context! { kind => "sealed", orders => filing, sealed, wait, replaced }
        }
        Orders::Checked { filing } => context! { kind => "checked", orders => filing },
        Orders::Refused { faults: refused, check } => {
            context! { kind => "refused", faults => faults(refused), check }
        }
    };
    context! {
        orders,
        replies => &answer.replies,
        manual => manual(&answer.replies),
        faults => faults(&answer.faults),
        remarks => answer.remarks.iter().map(|line| clipped(&line.text)).collect::<Vec<_>>(),
        unread => answer.unread.as_deref(),
    }
}

fn fault(fault: &Fault, written: &[Line]) -> Value {
    let line = crate::referee::quoted(written, fault);
    context! {
        line => fault.line,
        text => line.map(|line| clipped(&line.text)),
        reason => &fault.reason,
        examples => fault.example.as_deref().map(|example| example.lines().collect::<Vec<_>>()),
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
        Notice::Message { text, .. } | Notice::Protested { text: Some(text), .. } => text,
        _ => return None,
    };
    Some(text.lines().flat_map(|line| wrapped(line, QUOTED_AT_MOST)).collect())
}

fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line.split_whitespace() {
        let last = lines.last_mut().expect("there is always a last line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(clipped(word));
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(&clipped(word));
        }
    }
    lines
}

/// What the pages of the manual that were asked for need: every game with its options.
fn manual(replies: &[Reply]) -> Value {
    let wanted = replies.iter().any(|reply| matches!(reply, Reply::Games | Reply::Help { .. } | Reply::Rules { .. }));
    let games: Vec<_> = Kind::ALL.iter().filter(|_| wanted).map(|kind| game(*kind)).collect();
    context! { games }
}

fn game(kind: Kind) -> Value {
    let option = |rule: &OptionRule| {
        context! { name => rule.name, values => rule.values.to_string(), default => rule.default, says => rule.says }
    };
    let options: Vec<_> = kind.option_rules().iter().map(option).collect();
    context! { key => kind.key(), name => kind.name(), sides => kind.sides(), options }
}
