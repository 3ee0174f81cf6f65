//! The wishes of a letter in people's own words, and the lines that carry them out. A wish itself is never
//! carried out.

use chrono::{DateTime, Days, NaiveDate, Utc};

use super::commands::EXTENSION_DAYS_AT_MOST;
use crate::game::{Line, Seat};
use crate::house;
use crate::language;
use crate::ledger::{Question, TokenOf};
use crate::letter::split_words;
use crate::referee::answer::Wishes;
use crate::referee::matter::SeatLetter;
use crate::referee::play::game_match::{Match, Stage};
use crate::referee::play::ruling::Draft;
use crate::referee::schedule::{Absence, Press};
use crate::request::wish::{self, Spoken, Stance, Topic};

/// Days of an extension, if a letter names none, and for somebody in trouble.
const DAYS: u32 = 3;
const DAYS_IN_TROUBLE: u32 = 7;

/// Days of the absence that an answer shows as an example.
const EXAMPLE_DAYS: u64 = 6;

/// Maximum lines of a text that an answer repeats, ready to be sent.
const MAX_TEXT: usize = 12;

/// Returns the wishes that the remarks of a letter hold. In a letter that also has orders or commands, those about
/// these do not count.
pub(super) fn wishes(draft: &Draft, letter: &SeatLetter) -> Vec<Wishes> {
    let (request, seat) = (&letter.request, letter.cause.seat);
    if letter.cause.token == TokenOf::Other || letter.other_match.is_some() {
        return Vec::new();
    }
    let game_match = &draft.game_match;
    if request.is_empty()
        && let Some(wishes) = answered_otherwise(letter, game_match, draft.at)
    {
        return vec![wishes];
    }
    read_wishes(game_match, seat, &request.said(), draft.at, !request.is_empty())
}

/// Returns the wishes in a letter about this seat that has no orders or commands.
pub fn wishes_of(game_match: &Match, seat: Seat, remarks: &[Line], at: DateTime<Utc>) -> Vec<Wishes> {
    read_wishes(game_match, seat, remarks, at, false)
}

/// Returns the wish to send these words to the opponent, if messages are passed on in the match.
pub fn tell_back(game_match: &Match, seat: Seat, remarks: &[Line]) -> Option<Wishes> {
    let today = NaiveDate::default();
    let message = remarks.iter().map(|line| line.text.trim().to_owned()).collect();
    let spoken = Spoken { message, ..Spoken::default() };
    let reader = WishReader { game_match, seat, today, remarks, spoken, in_thread: false };
    let is_running = game_match.stage != Stage::Over;
    let is_for_foe = !wish::speaks_about(remarks, &game_match.players[seat.other()]);
    (is_running && is_for_foe && reader.can_tell()).then(|| reader.wishes(Some(Topic::Tell)))
}

fn read_wishes(
    game_match: &Match,
    seat: Seat,
    remarks: &[Line],
    at: DateTime<Utc>,
    is_beside: bool,
) -> Vec<Wishes> {
    if remarks.is_empty() {
        return Vec::new();
    }
    let today = game_match.day_of(seat, at);
    let is_setup = game_match.due().is_some_and(|due| due.turn == 0);
    let spoken = wish::read_remarks(remarks, &game_match.players[seat.other()], is_setup, today);
    let counts = |topic: &Topic| !is_beside || counts_beside_orders(*topic);
    let (topic, also) = (spoken.topic.filter(counts), spoken.also.filter(counts));
    // "G8 instead of G7" comes too late.
    let is_due = game_match.due().is_some_and(|due| due.seats.contains(&seat));
    let corrects = !is_beside
        && !is_due
        && !wish::is_chat(remarks)
        && remarks.iter().any(|remark| wish::corrects(&remark.text));
    let dates = spoken.span.both().filter(|(_, to)| *to >= today);
    let is_over = game_match.stage == Stage::Over;
    let wished = |topic: Topic| match topic {
        // "Stop the clock from the 12th to the 19th"
        Topic::Pause if dates.is_some() => Some(Topic::Absence),
        // "Can you put the game back on?"
        Topic::Absence | Topic::Pause | Topic::MoreTime if is_over && dates.is_none() => None,
        _ => Some(topic),
    };
    let (topic, also) = (topic.and_then(wished), also.and_then(wished).filter(|also| Some(*also) != topic));
    let first = topic.or(also).or(corrects.then_some(Topic::Change));
    let second = also.filter(|_| topic.is_some() && spoken.care.is_none());
    let tells = [topic, also].contains(&Some(Topic::Tell)) && spoken.care.is_some();
    if first.is_none() && spoken.care.is_none() {
        return Vec::new();
    }
    let reader = WishReader { game_match, seat, today, remarks, spoken, in_thread: false };
    let mut wishes = vec![reader.wishes(first)];
    wishes.extend(second.map(|topic| reader.wishes(Some(topic))));
    if tells && reader.can_tell() {
        let mut told = Wishes { topic: Some(Topic::Tell), ..Wishes::default() };
        reader.fill(&mut told, Topic::Tell);
        wishes.push(told);
    }
    wishes
}

/// Returns the answer to a letter that answers one of our questions, but not with the necessary line, or that
/// only says yes although nothing was asked.
fn answered_otherwise(letter: &SeatLetter, game_match: &Match, at: DateTime<Utc>) -> Option<Wishes> {
    let (request, seat) = (&letter.request, letter.cause.seat);
    let today = game_match.day_of(seat, at);
    let answer = wish::word_answer(request.lines());
    let is_short = request.remarks.is_empty() || answer.is_some();
    let mut signs = request.lines().iter().flat_map(|line| line.text.chars());
    // Emoji and the like.
    let is_emoji = |c: char| !c.is_whitespace() && !c.is_ascii();
    let is_sign = request.remarks.is_empty() && !request.ended && signs.any(is_emoji);
    let topic = match letter.cause.question {
        Some(Question::Draw) if is_short || game_match.draw_offer == Some(seat.other()) => Topic::Draw,
        Some(Question::Extension) if is_short || game_match.extension.is_some_and(|(by, _)| by != seat) => {
            Topic::MoreTime
        }
        Some(Question::Withdrawal) if is_short => Topic::Withdraw,
        // `YES` itself is for an offer of orders.
        _ if wish::is_bare_verb(request.lines(), "yes") => return None,
        _ if answer.is_some() && game_match.draw_offer == Some(seat.other()) => Topic::Draw,
        _ if answer.is_some() && game_match.extension.is_some_and(|(by, _)| by != seat) => Topic::MoreTime,
        _ if answer.is_some() && game_match.filed[seat].is_some() => Topic::Arrived,
        _ if answer.is_some() => Topic::Due,
        _ if is_sign => Topic::Thanks,
        _ => return None,
    };
    let (remarks, spoken) = (&request.remarks, Spoken::default());
    let in_thread = matches!(letter.cause.question, Some(Question::Draw | Question::Extension));
    Some(WishReader { game_match, seat, today, remarks, spoken, in_thread }.wishes(Some(topic)))
}

/// Whether a wish is about something else than the orders or the commands beside it.
fn counts_beside_orders(topic: Topic) -> bool {
    match topic {
        Topic::Address
        | Topic::LessMail
        | Topic::Resign
        | Topic::Leave
        | Topic::Absence
        | Topic::MoreTime
        | Topic::Pause
        | Topic::Draw
        | Topic::Tell => true,
        Topic::Withdraw
        | Topic::Foul
        | Topic::Late
        | Topic::Rematch
        | Topic::Opponent
        | Topic::Report
        | Topic::History
        | Topic::OpponentName
        | Topic::Setup
        | Topic::Settings
        | Topic::Legend
        | Topic::Change
        | Topic::Arrived
        | Topic::Due
        | Topic::Ranking
        | Topic::Rules
        | Topic::Join
        | Topic::NeverMind
        | Topic::Thanks => false,
    }
}

/// A letter with a wish, and the match that it is about.
struct WishReader<'a> {
    game_match: &'a Match,
    seat: Seat,
    today: NaiveDate,
    remarks: &'a [Line],
    spoken: Spoken,
    /// Whether the letter answers the opponent's offer of a draw or wish for more time.
    in_thread: bool,
}

impl WishReader<'_> {
    fn wishes(&self, topic: Option<Topic>) -> Wishes {
        let is_of_another = topic == Some(Topic::Address) && self.names_owner_of_address();
        let topic = if is_of_another { Some(Topic::Opponent) } else { topic };
        let misses_orders = self.spoken.misses_orders;
        let mut wishes = Wishes { care: self.spoken.care, topic, misses_orders, ..Wishes::default() };
        match (self.spoken.care, topic) {
            (Some(_), _) => self.care(&mut wishes),
            (None, Some(topic)) => self.fill(&mut wishes, topic),
            (None, None) => {}
        }
        wishes
    }

    /// Offers an absence or more time to somebody in trouble. A day that the letter names may be that of the
    /// accident, so only its last day or a duration counts.
    fn care(&self, wishes: &mut Wishes) {
        if self.spoken.is_of_foe {
            return;
        }
        let span = &self.spoken.span;
        let last = |days: u32| self.today + Days::new(u64::from(days.saturating_sub(1)));
        let to = span.days.map(last).or(span.to.filter(|to| *to >= self.today));
        match to.filter(|_| wishes.topic == Some(Topic::Absence)) {
            Some(to) => self.absence_of(wishes, self.today, to),
            None => self.more_time(wishes, DAYS_IN_TROUBLE),
        }
    }

    fn fill(&self, wishes: &mut Wishes, topic: Topic) {
        let game = self.game_match.game.key();
        let is_over = self.game_match.stage == Stage::Over;
        let is_asked = self.game_match.extension.is_some_and(|(by, _)| by != self.seat);
        match topic {
            Topic::Absence | Topic::MoreTime | Topic::Pause if self.spoken.is_of_foe && !is_asked => {
                wishes.is_of_rival = true;
            }
            Topic::MoreTime | Topic::Draw if self.stance(topic) == Stance::No => wishes.refuses = true,
            Topic::MoreTime | Topic::Draw if self.stance(topic) == Stance::Open => self.both(wishes, topic),
            Topic::MoreTime => self.more_time(wishes, DAYS),
            Topic::Pause => self.more_time(wishes, DAYS_IN_TROUBLE),
            Topic::Absence => self.absence(wishes),
            Topic::Resign if !is_over => wishes.add_confirmed("RESIGN"),
            Topic::Leave => {
                wishes.add_confirmed("LEAVE");
                if !is_over {
                    wishes.add_confirmed("RESIGN");
                }
            }
            Topic::LessMail => {
                wishes.add("SETTINGS receipts=faults digest=daily".to_owned());
                wishes.add_confirmed("LEAVE");
            }
            Topic::Address => {
                let address = self.spoken.address.as_ref();
                wishes.extend(address.map(|address| format!("ADDRESS {address}")));
            }
            Topic::Withdraw => wishes.extend(self.has_filed().then(|| "WITHDRAW".to_owned())),
            Topic::Draw if !is_over && !self.is_against_house() => {
                let is_offered = self.game_match.draw_offer == Some(self.seat.other());
                wishes.agrees_to_nothing = self.spoken.agrees && !is_offered;
                wishes.add("DRAW".to_owned());
            }
            Topic::Rematch => wishes.extend(is_over.then(|| "REMATCH".to_owned())),
            Topic::Opponent => self.opponent(wishes),
            Topic::Setup => self.setup(wishes),
            Topic::Report => wishes.add("REPORT".to_owned()),
            Topic::History => wishes.add("HISTORY".to_owned()),
            Topic::Late => wishes.add("HELP time".to_owned()),
            Topic::Settings => {
                wishes.add("SETTINGS".to_owned());
                wishes.add("HELP settings".to_owned());
            }
            Topic::Rules => {
                wishes.about.clone_from(&self.spoken.about);
                wishes.add(format!("RULES {game}"));
            }
            Topic::Tell if self.can_tell() => {
                wishes.acts.push(self.text_command("TELL", &self.spoken.message));
            }
            Topic::Foul if !is_over => wishes.acts.push(self.text_command("PROTEST", &self.remarks())),
            Topic::Ranking => wishes.add(format!("RATINGS {game}")),
            Topic::Resign
            | Topic::Draw
            | Topic::Tell
            | Topic::OpponentName
            | Topic::Legend
            | Topic::Foul
            | Topic::Change
            | Topic::Arrived
            | Topic::Due
            | Topic::Join
            | Topic::NeverMind
            | Topic::Thanks => {}
        }
    }

    /// Whether the address that the letter names is somebody else's, whom it names, too: "Priya … priya.nair@…".
    fn names_owner_of_address(&self) -> bool {
        let Some(address) = &self.spoken.address else { return false };
        let own: Vec<String> = split_words(&self.game_match.players[self.seat]).map(language::fold).collect();
        let words = self.remarks.iter().flat_map(|line| split_words(&line.text));
        let names = words.filter(|word| word.starts_with(char::is_uppercase)).map(language::fold);
        let mut others = names.filter(|name| name.chars().count() > 2 && !own.contains(name));
        let parts: Vec<String> = split_words(address.local()).map(language::fold).collect();
        others.any(|name| parts.contains(&name))
    }

    fn has_filed(&self) -> bool {
        self.game_match.filed[self.seat].is_some() || self.game_match.conditions[self.seat].is_some()
    }

    /// Offers to challenge somebody whose address the letter names, or else to find an opponent.
    fn opponent(&self, wishes: &mut Wishes) {
        let game = self.game_match.game;
        if let Some(friend) = &self.spoken.address {
            wishes.add(format!("CHALLENGE {friend} {game}"));
            return;
        }
        wishes.add(format!("OPEN {game}"));
        if !house::levels(game).is_empty() {
            wishes.add(format!("CHALLENGE house {game}"));
        }
    }

    /// Returns what the letter says to a draw or more time that the opponent has asked for; yes if they have not.
    fn stance(&self, topic: Topic) -> Stance {
        let foe = self.seat.other();
        let is_asked = match topic {
            Topic::Draw => self.game_match.draw_offer == Some(foe),
            _ => self.game_match.extension.is_some_and(|(by, _)| by == foe),
        };
        if !is_asked || self.remarks.is_empty() {
            return Stance::Yes;
        }
        match wish::stance(self.remarks, Some(topic)) {
            // A wish of one's own.
            Stance::Open if !self.in_thread && !wish::denies(self.remarks) => Stance::Yes,
            Stance::Yes if topic == Topic::MoreTime && self.other_days().is_some() => Stance::Open,
            stance => stance,
        }
    }

    /// Shows how to agree to what the opponent asks for, where the letter says neither yes nor no for sure, and how to ask
    /// for as many days as it names instead.
    fn both(&self, wishes: &mut Wishes, topic: Topic) {
        wishes.is_open = true;
        if topic == Topic::Draw {
            wishes.add("DRAW".to_owned());
            return;
        }
        wishes.days = self.game_match.extension.map(|(_, days)| days);
        wishes.add("AGREE".to_owned());
        wishes.extend(self.other_days().map(extend));
    }

    /// Returns the only other number of days that a letter about the opponent's wish for more time names, if it names that
    /// of the wish, too, or a unit beside it.
    fn other_days(&self) -> Option<u32> {
        let (_, asked) = self.game_match.extension?;
        let words = self.remarks.iter().flat_map(|line| split_words(&line.text));
        let is_number = |word: &&str| word.len() > 2 || word.bytes().all(|byte| byte.is_ascii_digit());
        let numbers: Vec<u32> =
            words.filter(is_number).filter_map(|word| wish::number(&language::fold(word))).collect();
        let mut others: Vec<u32> = numbers.iter().copied().filter(|number| *number != asked).collect();
        others.dedup();
        let spoken = wish::read_remarks(self.remarks, "", false, self.today);
        let is_meant = |other: &u32| numbers.contains(&asked) || spoken.span.days == Some(*other);
        match others[..] {
            [other] => {
                Some(other).filter(|other| (1..=EXTENSION_DAYS_AT_MOST).contains(other)).filter(is_meant)
            }
            _ => None,
        }
    }

    fn is_against_house(&self) -> bool {
        self.game_match.house[self.seat.other()].is_some()
    }

    fn can_tell(&self) -> bool {
        !self.is_against_house() && self.game_match.terms.press == Press::Signed
    }

    /// Offers to agree to the opponent's wish for more time, or to ask for it.
    fn more_time(&self, wishes: &mut Wishes, usual: u32) {
        let asked_by_foe = self.game_match.extension.is_some_and(|(by, _)| by != self.seat);
        let Some(deadline) = self.game_match.deadline else { return };
        if self.spoken.agrees && !asked_by_foe {
            wishes.agrees_to_nothing = true;
            return;
        }
        let span = &self.spoken.span;
        let until = span.to.or(span.from).filter(|_| span.days.is_none());
        let until = until.map(|until| (until - self.game_match.day_of(self.seat, deadline)).num_days());
        let until = until.and_then(|days| u32::try_from(days).ok()).filter(|days| *days > 0);
        let wanted = until.or(span.days).unwrap_or(usual);
        let days = wanted.clamp(1, EXTENSION_DAYS_AT_MOST);
        wishes.days = Some(days);
        match asked_by_foe {
            true => wishes.add("AGREE".to_owned()),
            false => wishes.add(extend(days)),
        }
    }

    fn absence(&self, wishes: &mut Wishes) {
        if let Some((one, other)) = self.spoken.span.unclear {
            let from = |to: NaiveDate| self.spoken.span.from.filter(|from| *from <= to).unwrap_or(self.today);
            wishes.is_unclear = true;
            for to in [one, other].into_iter().filter(|to| *to >= self.today) {
                wishes.add(absent(from(to), to));
            }
            return;
        }
        if let Some((from, to)) = self.spoken.span.both().filter(|(_, to)| *to >= self.today) {
            self.absence_of(wishes, from, to);
            return;
        }
        wishes.lacks_days = true;
        let from = self.spoken.span.from.filter(|from| *from >= self.today).unwrap_or(self.today);
        if self.days_left() > i64::try_from(EXAMPLE_DAYS).unwrap_or_default() {
            wishes.add(absent(from, from + Days::new(EXAMPLE_DAYS)));
        }
    }

    /// Offers an absence or, if too few days of absence are left, more time.
    fn absence_of(&self, wishes: &mut Wishes, from: NaiveDate, to: NaiveDate) {
        let left = self.days_left();
        if (to - from).num_days() < left {
            wishes.add(absent(from, to));
            return;
        }
        wishes.days_left = Some(left);
        self.more_time(wishes, EXTENSION_DAYS_AT_MOST);
    }

    fn days_left(&self) -> i64 {
        let most = i64::from(self.game_match.terms.absence_days);
        (most - Absence::total_days(&self.game_match.absences[self.seat])).max(0)
    }

    /// Offers the setups that the referee draws: the one that the letter names, or all.
    fn setup(&self, wishes: &mut Wishes) {
        let all = self.game_match.game.ready_setups();
        let words = self.remarks.iter().flat_map(|line| split_words(&line.text));
        let words: Vec<String> = words.map(language::fold).collect();
        let named: Vec<&&str> = all.iter().filter(|name| words.iter().any(|word| word == *name)).collect();
        let offered = if named.is_empty() { all.iter().collect() } else { named };
        wishes.acts.extend(offered.into_iter().map(|name| vec![format!("SETUP {name}")]));
    }

    /// Returns a command with a text, up to its `END`.
    fn text_command(&self, verb: &str, text: &[String]) -> Vec<String> {
        let text = text.iter().take(MAX_TEXT).filter(|line| !line.trim().is_empty()).cloned();
        std::iter::once(verb.to_owned()).chain(text).chain(["END".to_owned()]).collect()
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.iter().map(|line| line.text.trim().to_owned()).collect()
    }
}

fn extend(days: u32) -> String {
    format!("EXTEND {days} day{}", if days == 1 { "" } else { "s" })
}

fn absent(from: NaiveDate, to: NaiveDate) -> String {
    format!("ABSENT {from} TO {to}")
}
