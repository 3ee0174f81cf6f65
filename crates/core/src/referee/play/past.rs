//! The past of a match, as far as rulings depend on it: earlier orders, protests, hints, repeated letters,
//! the last end.
//!
//! It follows from the entries, and is kept short in the match so that no ruling needs the whole ledger.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::game::{BySeat, Due, Fault, Seat};
use crate::ledger::{Fact, Hint, is_default};
use crate::letter::Digest;
use crate::referee::matter::SeatLetter;
use crate::request::Request;

/// Time after the end of a match in which its tokens are valid for more than questions.
const QUESTIONS_ONLY_AFTER: TimeDelta = TimeDelta::days(30);

/// Maximum earlier orders kept for each seat. Old ones make room, because they are only needed to recognise
/// an old letter that is sent again.
const MAX_EARLIER: usize = 100;

/// The time in which equal letters count as repetitions of the first one.
const REPEATED_WITHIN: TimeDelta = TimeDelta::hours(1);

/// The past of a match: see the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// The last end of the match.
    ended_at: Option<DateTime<Utc>>,
    seats: BySeat<PastOfSeat>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct PastOfSeat {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    orders: Vec<EarlierOrders>,
    #[serde(default, skip_serializing_if = "is_default")]
    protests: Protests,
    /// The advice that the seat got in the open phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<Hint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeated: Option<Repeated>,
    /// The last turn that was adjudicated with its orders; `None` if a correction has voided that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_turn: Option<u32>,
    /// The time of the first filing that stands for the open phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filed_at: Option<DateTime<Utc>>,
}

/// Orders or conditions that a seat sent in a turn, filed or refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct EarlierOrders {
    turn: u32,
    orders: Fingerprint,
}

/// The protests of a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Protests {
    /// Whether one is before the GM.
    is_open: bool,
    in_this_turn: bool,
    /// Whether the GM has rejected one, by resuming the match without a correction.
    was_rejected: bool,
}

/// The last letters of a seat, if they ask the same and nothing else has happened since the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Repeated {
    asked: Fingerprint,
    times: u32,
    since: DateTime<Utc>,
}

/// The first 64 bits of a SHA-256, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Fingerprint(String);

impl Fingerprint {
    fn of(digest: Digest) -> Fingerprint {
        let mut digits = digest.to_string();
        digits.truncate(16);
        Fingerprint(digits)
    }

    /// Returns the fingerprint of orders, which does not depend on their order or case.
    fn of_orders(orders: &[String]) -> Fingerprint {
        let mut lines: Vec<String> = orders.iter().map(|order| order.to_ascii_uppercase()).collect();
        lines.sort_unstable();
        Fingerprint::of(Digest::of(lines.join("\n").as_bytes()))
    }
}

impl Past {
    /// Notes a fact.
    pub fn note(&mut self, fact: &Fact, at: DateTime<Utc>) {
        match fact {
            Fact::OrdersSealed { seat, turn, orders, .. } => {
                self.seats[*seat].send(*turn, orders);
                self.seats[*seat].filed_at.get_or_insert(at);
            }
            Fact::OrdersWithdrawn { seat, .. } | Fact::PlayerReplaced { seat, .. } => {
                self.seats[*seat].filed_at = None;
            }
            Fact::OrdersRefused { seat, turn, orders, .. } => self.seats[*seat].send(*turn, orders),
            Fact::ConditionsSealed { seat, turn, conditions, .. } => {
                self.seats[*seat].send(*turn, &conditions.lines());
            }
            Fact::Protested { seat, passed_on: false } => {
                let protests = &mut self.seats[*seat].protests;
                (protests.is_open, protests.in_this_turn) = (true, true);
            }
            Fact::TurnAdjudicated { turn, filings, .. } => {
                self.change(|past| {
                    past.protests.in_this_turn = false;
                    past.hint = None;
                    past.filed_at = None;
                });
                for (seat, _) in filings.iter().filter(|(_, filing)| filing.is_some()) {
                    self.seats[seat].last_turn = Some(*turn);
                }
            }
            Fact::CorrectionMade { turn, .. } => self.change(|past| {
                (past.protests.is_open, past.protests.in_this_turn) = (false, false);
                past.hint = None;
                past.filed_at = None;
                past.last_turn = past.last_turn.filter(|last| last < turn);
            }),
            Fact::MatchResumed { .. } => self.change(|past| {
                past.protests.was_rejected |= std::mem::take(&mut past.protests.is_open);
            }),
            Fact::MatchClosed { .. } => self.change(|past| past.filed_at = None),
            Fact::MatchEnded { .. } => self.ended_at = Some(at),
            _ => {}
        }
    }

    fn change(&mut self, change: impl Fn(&mut PastOfSeat)) {
        Seat::BOTH.into_iter().for_each(|seat| change(&mut self.seats[seat]));
    }

    /// Notes a ruling on a letter of this seat, or on something else.
    pub fn note_ruling(&mut self, letter: Option<&SeatLetter>, at: DateTime<Utc>) {
        let Some(letter) = letter else { return self.change(|past| past.repeated = None) };
        let (seat, times) = (letter.cause.seat, self.times_asked(letter, at));
        match &mut self.seats[seat].repeated {
            Some(repeated) if times > 0 => repeated.times += 1,
            repeated => {
                *repeated = Some(Repeated { asked: asked_by(letter), times: 1, since: at });
                self.seats[seat.other()].repeated = None;
            }
        }
    }

    /// Returns the last turn that was adjudicated with orders of a seat, if no correction has voided it.
    pub fn last_turn_of(&self, seat: Seat) -> Option<u32> {
        self.seats[seat].last_turn
    }

    /// Returns when a seat first filed for the open phase, if that filing or a later one stands.
    pub fn first_filed(&self, seat: Seat) -> Option<DateTime<Utc>> {
        self.seats[seat].filed_at
    }

    /// Remembers the advice that a seat gets.
    pub fn note_hint(&mut self, seat: Seat, hint: &Hint) {
        self.seats[seat].hint = Some(hint.clone());
    }

    /// Counts the letters of the seat that asked the same within an hour, with no other event since the
    /// first.
    pub fn times_asked(&self, letter: &SeatLetter, at: DateTime<Utc>) -> u32 {
        let repeated = self.seats[letter.cause.seat].repeated.as_ref();
        let repeated = repeated.filter(|repeated| at - repeated.since < REPEATED_WITHIN);
        repeated.filter(|repeated| repeated.asked == asked_by(letter)).map_or(0, |repeated| repeated.times)
    }

    /// Returns the advice that a seat got in the open phase.
    pub fn hint_of_phase(&self, seat: Seat) -> Option<&Hint> {
        self.seats[seat].hint.as_ref()
    }

    /// Whether the match ended so long ago that its tokens are valid for questions only.
    pub fn ended_long_ago(&self, at: DateTime<Utc>) -> bool {
        self.ended_at.is_some_and(|ended_at| at - ended_at > QUESTIONS_ONLY_AFTER)
    }

    /// Asks which turn is meant if the seat sent the same orders for an earlier one, and nothing in the
    /// letter names a turn. Somebody else could send an old letter again, without its subject and its thread.
    pub fn repeat_fault(&self, letter: &SeatLetter, due: &Due, orders: &[String]) -> Option<Fault> {
        if !letter.lacks_turn() {
            return None;
        }
        let orders = Fingerprint::of_orders(orders);
        let mut earlier = self.seats[letter.cause.seat].orders.iter().rev();
        let before = earlier.find(|before| before.turn < due.turn && before.orders == orders)?;
        let then = if before.turn == 0 { "the setup".to_owned() } else { format!("turn {}", before.turn) };
        let open = due.turn;
        let reason = format!(
            "You sent the same orders for {then}, and your letter does not say which turn these are for. If they are \
             for turn {open}, send them again with TURN {open} on a line above them."
        );
        Some(Fault::whole(reason).with_example(format!("TURN {open}")))
    }

    /// Whether the next protest of a seat stops nothing: the second in a turn, and any after a rejected one.
    pub fn is_protest_spent(&self, seat: Seat) -> bool {
        let protests = self.seats[seat].protests;
        protests.was_rejected || protests.in_this_turn
    }
}

impl PastOfSeat {
    fn send(&mut self, turn: u32, orders: &[String]) {
        let sent = EarlierOrders { turn, orders: Fingerprint::of_orders(orders) };
        if orders.is_empty() || self.orders.contains(&sent) {
            return;
        }
        if self.orders.len() == MAX_EARLIER {
            self.orders.remove(0);
        }
        self.orders.push(sent);
    }
}

/// Returns the fingerprint of a letter's requests, or of the reason why it cannot be read.
fn asked_by(letter: &SeatLetter) -> Fingerprint {
    let mut text = digest_of_request(&letter.request).to_string();
    for part in letter.unread.iter().chain(&letter.attachments) {
        text.push('\n');
        text.push_str(part);
    }
    Fingerprint::of(Digest::of(text.as_bytes()))
}

/// Returns a digest of a letter's requests. In a letter without orders and commands, words with digits do not
/// count: a robot that numbers its letters asks the same every time.
pub fn digest_of_request(request: &Request) -> Digest {
    let lines: Vec<&str> = request.lines().iter().map(|line| line.text.as_str()).collect();
    let text = lines.join("\n");
    let asks_something =
        !request.orders.is_empty() || !request.commands.is_empty() || !request.faults.is_empty();
    Digest::of(if asks_something { text } else { without_numbers(&text) }.as_bytes())
}

/// Returns the words of a text without those that hold digits, such as times, codes and hashes.
pub fn without_numbers(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Line;
    use crate::ledger::LetterCause;

    #[test]
    fn a_second_protest_in_a_turn_and_one_after_a_rejected_one_are_only_passed_on() {
        let (seat, state) = (Seat::First, Digest::of(b""));
        let protest = Fact::Protested { seat, passed_on: false };
        let resumed = Fact::MatchResumed { deadline: None };
        let corrected = Fact::CorrectionMade { turn: 1, keeps: 0, reason: String::new(), state, key: None };
        for (facts, expected) in [
            (vec![], false),
            (vec![protest.clone()], true),
            (vec![Fact::Protested { seat: Seat::Second, passed_on: false }], false),
            (vec![protest.clone(), corrected.clone()], false),
            (vec![protest.clone(), resumed.clone()], true),
            (vec![protest.clone(), corrected, resumed.clone()], false),
            (vec![resumed], false),
        ] {
            let mut past = Past::default();
            facts.iter().for_each(|fact| past.note(fact, DateTime::UNIX_EPOCH));
            assert_eq!(past.is_protest_spent(seat), expected, "{facts:?}");
        }
    }

    #[test]
    fn equal_letters_are_counted_until_something_else_happens() {
        let letter = |seat: Seat, text: &str| {
            let cause = LetterCause::new(Digest::of(text.as_bytes()), seat, DateTime::UNIX_EPOCH);
            SeatLetter::new(cause, Request::read(&Line::numbered(&[text]), |_: &str| false))
        };
        let at = |minutes| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        let robot = letter(Seat::First, "Ticket 17 was opened.");
        let others = letter(Seat::Second, "Ticket 17 was opened.");
        let mut past = Past::default();
        past.note_ruling(Some(&robot), at(0));
        past.note_ruling(Some(&letter(Seat::First, "Ticket 18 was opened.")), at(1));
        assert_eq!(past.times_asked(&robot, at(2)), 2);
        assert_eq!(past.times_asked(&letter(Seat::First, "STATUS"), at(2)), 0);
        assert_eq!(past.times_asked(&others, at(2)), 0);
        let unread = SeatLetter { unread: Some("It is a PDF.".to_owned()), ..robot.clone() };
        assert_eq!(past.times_asked(&unread, at(2)), 0);
        assert_eq!(past.times_asked(&robot, at(60)), 0, "an hour has passed");
        past.note_ruling(Some(&others), at(3));
        assert_eq!(past.times_asked(&robot, at(4)), 0, "the other seat has written");
        past.note_ruling(None, at(5));
        assert_eq!(past.times_asked(&others, at(6)), 0, "the clock has decided");
    }

    #[test]
    fn earlier_orders_are_kept_once_and_bounded() {
        let mut past = PastOfSeat::default();
        for turn in 0..150 {
            past.send(turn, &["STAR A5".to_owned()]);
            past.send(turn, &["star a5".to_owned()]);
        }
        assert_eq!(past.orders.len(), MAX_EARLIER);
        assert_eq!(past.orders[0].turn, 50);
    }
}
