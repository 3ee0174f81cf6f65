//! Chooses the letters to claim, and the one that goes next: the most urgent one whose reader is sent nothing
//! else at that moment, so that a receipt arrives before the report that follows it. While the server refuses
//! everything, none goes, or only one now and then; while the provider's quota is used up, none is claimed.
//!
//! It has no clock, no database and no async code, so that its invariant can be tested over random sequences
//! of refusals: once the server takes mail again, every letter arrives unless the recipient's own server
//! refuses it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::account::{Account, AttemptOutcome};
use crate::config::Quota;
use crate::post::outbox::SendError;
use crate::store::{ClaimOrder, Claimed, DispatchScope, Reach, SendOutcome, SentCounts, Urgency};

/// Maximum letters claimed ahead, in flight or not.
const MAX_CLAIMED: usize = 256;

/// The same if the config limits how many are sent: claimed letters must not use up the limit before a more
/// urgent letter that is written in the meantime.
const MAX_CLAIMED_IF_LIMITED: usize = 16;

/// Divisor of `per_day` that gives the share of answers to letters without a token: strangers cannot use up
/// the players' mail.
const STRANGERS_PART: u32 = 10;

/// Divisor of `per_day` that gives the share kept for alarms to the GM, which is at least one letter.
const ALARMS_PART: u32 = 20;

/// The claimed letters, the outcomes of those that were tried, and the account that sends them.
#[derive(Default)]
pub struct SendingPlan {
    pub account: Account,
    /// Maximum letters sent at a time.
    connections: usize,
    /// Letters whose outcomes are not recorded yet.
    pub claimed: BTreeMap<i64, Urgency>,
    /// Letters that wait for a connection: the most urgent first, and of these the oldest.
    waiting: BTreeMap<(Urgency, i64), Claimed>,
    /// The readers of letters in flight, and whether the letter is a probe: sent during an outage to see
    /// whether it is over.
    pub in_flight: BTreeMap<String, bool>,
    /// Outcomes that are not recorded yet.
    pub outcomes: Vec<AttemptOutcome>,
}

impl SendingPlan {
    pub fn new(account: Account, connections: usize) -> SendingPlan {
        SendingPlan { account, connections, ..SendingPlan::default() }
    }

    /// Returns how many more letters to claim now: many or none, because each claim costs a transaction.
    pub fn room(&self, now: DateTime<Utc>, quota: &Quota) -> usize {
        let most = if quota.is_unlimited() { MAX_CLAIMED } else { MAX_CLAIMED_IF_LIMITED };
        let most = self.account.probes(now).unwrap_or(most);
        let unsent = self.waiting.len() + self.in_flight.len();
        if unsent <= most / 2 { most - unsent } else { 0 }
    }

    /// Returns which letters to claim, at most `room`, so that no part of the quota is exceeded, whatever
    /// their kinds. `sent` counts the letters whose outcomes are recorded.
    pub fn scope(&self, quota: &Quota, sent: SentCounts, room: usize) -> DispatchScope {
        let order =
            if self.account.tries_another() { ClaimOrder::FewestTries } else { ClaimOrder::MostUrgent };
        let (reach, allowed) = allowance(quota, sent.and(self.claimed.values().copied()));
        DispatchScope { limit: allowed.min(u32::try_from(room).unwrap_or(u32::MAX)), order, reach }
    }

    /// Adds claimed letters. One that is claimed twice, because the database dropped the first claim, is sent
    /// once, and one that has lapsed is not sent. If an outage began while they were claimed, they are given
    /// back: a more urgent one may be the next to be tried.
    pub fn add(&mut self, now: DateTime<Utc>, letters: Vec<Claimed>) {
        for letter in letters {
            if self.claimed.insert(letter.id, letter.urgency).is_some() {
                continue;
            }
            self.account.note_claimed(&letter);
            if letter.has_lapsed {
                let Claimed { id, message_id, .. } = letter;
                self.outcomes.push(AttemptOutcome { id, message_id, sent: SendOutcome::Lapsed, event: None });
            } else {
                self.waiting.insert((letter.urgency, letter.id), letter);
            }
        }
        if self.account.probes(now).is_some_and(|letters| self.waiting.len() > letters) {
            self.put_back();
        }
    }

    /// Removes and returns the letter to send now, if any. Its reader is sent nothing else until
    /// [`SendingPlan::finish`].
    pub fn next(&mut self, now: DateTime<Utc>) -> Option<Claimed> {
        let probes = self.account.probes(now).unwrap_or(usize::MAX);
        if self.in_flight.len() >= self.connections.min(probes) {
            return None;
        }
        let mut free = self.waiting.iter().filter(|(_, one)| !self.in_flight.contains_key(&one.recipient));
        let place = *free.next()?.0;
        let letter = self.waiting.remove(&place)?;
        self.in_flight.insert(letter.recipient.clone(), self.account.outage.is_some());
        Some(letter)
    }

    /// Notes that a letter was taken or refused, and the outcomes for it and for others.
    pub fn finish(&mut self, now: DateTime<Utc>, letter: &Claimed, sent: Result<(), &SendError>) {
        let is_probe = self.in_flight.remove(&letter.recipient).unwrap_or_default();
        self.outcomes.extend(match sent {
            Ok(()) => self.account.note_taken(now, letter, is_probe),
            Err(error) => self.account.note_refused(now, letter, error),
        });
        // In an outage, a more urgent letter may be the next to be tried, so give the others back.
        if self.account.outage.is_some() {
            self.put_back();
        }
    }

    /// Gives back the letters that wait. They were not tried, so they are due as before.
    pub fn put_back(&mut self) {
        for letter in std::mem::take(&mut self.waiting).into_values() {
            self.claimed.remove(&letter.id);
        }
    }

    /// Notes that the first outcomes are recorded, and returns those that are not, because their rows are `locked`.
    /// The claims on the letters end only with the record, so that no other daemon sends them in the meantime.
    pub fn note_recorded(&mut self, outcomes: usize, locked: &[i64]) -> Vec<AttemptOutcome> {
        let mut unrecorded = Vec::new();
        for outcome in self.outcomes.drain(..outcomes) {
            if locked.contains(&outcome.id) {
                unrecorded.push(outcome);
            } else {
                self.claimed.remove(&outcome.id);
            }
        }
        unrecorded
    }

    /// Whether nothing is in flight and every outcome is recorded. Before that, gives up the permanently
    /// refused letters: no other letter will show that the server refuses the account.
    pub fn is_done(&mut self) -> bool {
        if self.is_idle() {
            self.outcomes.extend(self.account.give_up());
        }
        self.is_idle()
    }

    /// Whether nothing is in flight and every outcome is recorded.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.outcomes.is_empty()
    }
}

/// Returns which letters may be sent within the quota, and how many of them, whatever their kinds.
fn allowance(quota: &Quota, sent: SentCounts) -> (Reach, u32) {
    let now = quota.per_minute.map_or(u32::MAX, |limit| limit.saturating_sub(sent.minute));
    let Some(per_day) = quota.per_day else { return (Reach::All, now) };
    // With a limit of one letter a day, a reserve would leave nothing for anybody but the GM.
    let reserve = if per_day > 1 { (per_day / ALARMS_PART).max(1) } else { 0 };
    let alarms = now.min(per_day.saturating_sub(sent.day));
    let others = now.min((per_day - reserve).saturating_sub(sent.day));
    let strangers = others.min((per_day / STRANGERS_PART).max(1).saturating_sub(sent.strangers));
    match (strangers, others) {
        (0, 0) => (Reach::Alarms, alarms),
        (0, _) => (Reach::AllButStrangers, others),
        _ => (Reach::All, strangers),
    }
}

#[cfg(test)]
mod tests {
    //! Tests the invariant of the outbox over random sequences of refusals, the order of letters, and the quota.

    use std::collections::BTreeSet;

    use chrono::TimeDelta;

    use super::*;
    use crate::daemon::sending::tests::{NOW, broken, letter, login, no_user, not_now, quota, unreachable};
    use crate::desk::outbox::returned::SendingOutcome;
    use fogpost_testing::random::Random;

    const DOMAINS: [&str; 5] = ["a.test", "b.test", "c.test", "d.test", "e.test"];

    /// The behaviour of a server for a while.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Weather {
        /// It takes every letter to an address that exists.
        Fine,
        /// It takes none: at RCPT, where it may name a time, before RCPT, because it cannot be reached, or
        /// because connections break.
        Quota,
        Login,
        Unreachable,
        Broken,
        /// It calls every address unknown.
        NobodyKnown,
        /// It temporarily refuses one letter in three.
        Moody,
    }

    /// A row of the database.
    #[derive(Debug)]
    struct Row {
        letter: Claimed,
        is_dead: bool,
        due: Option<DateTime<Utc>>,
        arrived: u32,
        gave_up: bool,
        marked: bool,
    }

    /// The outbox without its database and its server.
    struct Model {
        random: Random,
        now: DateTime<Utc>,
        plan: SendingPlan,
        rows: Vec<Row>,
    }

    impl Model {
        fn new(seed: u64) -> Model {
            let mut random = Random::new(seed);
            let plan = SendingPlan::new(Account::default(), 1 + random.below(8));
            let mut model = Model { random, now: NOW, plan, rows: Vec::new() };
            for number in 0..3 + model.random.below(12) {
                let is_dead = model.random.once_in(6);
                let domain = *model.random.pick(&DOMAINS);
                model.write(&format!("{number}@{domain}"), is_dead);
            }
            model
        }

        fn write(&mut self, recipient: &str, is_dead: bool) {
            let letter = letter(self.rows.len() as i64, recipient);
            let due = Some(self.now);
            self.rows.push(Row { letter, is_dead, due, arrived: 0, gave_up: false, marked: false });
        }

        fn domains_waiting(&self) -> usize {
            let waiting = self.rows.iter().filter(|row| row.due.is_some() && !row.is_dead);
            let domains = waiting.filter_map(|row| Some(row.letter.recipient.split_once('@')?.1));
            domains.collect::<BTreeSet<_>>().len()
        }

        /// Lets the server behave this way until enough attempts were made, or until nothing is left to do.
        fn live_through(&mut self, weather: Weather) {
            let mut rounds = 1 + self.random.below(8);
            for _ in 0..2_000 {
                let is_over = match weather {
                    // Before this outage begins, the simulated server itself makes the plan give letters up.
                    Weather::NobodyKnown => {
                        self.plan.account.outage.as_ref().is_some_and(|outage| outage.codes() == "550.5.1.1")
                    }
                    Weather::Fine => self.rows.iter().all(|row| row.due.is_none()),
                    _ => rounds == 0,
                };
                if is_over {
                    return self.record();
                }
                rounds = rounds.saturating_sub(1);
                self.send_some(weather);
            }
            panic!("it never ends: {weather:?} {:#?} {:#?}", self.plan.account, self.rows);
        }

        /// Claims letters, and sends those that may go, in any order.
        fn send_some(&mut self, weather: Weather) {
            self.claim();
            let mut in_flight: Vec<Claimed> = std::iter::from_fn(|| self.plan.next(self.now)).collect();
            if in_flight.is_empty() {
                self.plan.is_done();
                self.record();
                let next = self.rows.iter().filter_map(|row| row.due).min();
                let gate = self.plan.account.outage.as_ref().map(|outage| outage.until);
                self.now = next.max(gate).unwrap_or(self.now).max(self.now + TimeDelta::seconds(1));
                return;
            }
            self.random.shuffle(&mut in_flight);
            for letter in in_flight {
                let answer = self.answer(weather, letter.id as usize);
                self.plan.finish(self.now, &letter, answer.as_ref().map(drop));
                if self.random.once_in(2) {
                    self.record();
                }
                self.now += TimeDelta::seconds(1);
            }
            if self.plan.in_flight.is_empty() {
                self.record();
            }
        }

        fn claim(&mut self) {
            let room = self.plan.room(self.now, &Quota::default()).min(1 + self.random.below(8));
            let scope = self.plan.scope(&Quota::default(), SentCounts::default(), room);
            let mut due: Vec<&Row> = self.rows.iter().collect();
            due.retain(|row| {
                row.due.is_some_and(|due| due <= self.now) && !self.plan.claimed.contains_key(&row.letter.id)
            });
            match scope.order {
                ClaimOrder::MostUrgent => self.random.shuffle(&mut due),
                ClaimOrder::FewestTries => due.sort_by_key(|row| row.letter.tries),
            }
            let due = due.into_iter().take(scope.limit as usize);
            self.plan.add(self.now, due.map(|row| row.letter.clone()).collect());
        }

        fn answer(&mut self, weather: Weather, row: usize) -> Result<(), SendError> {
            let is_dead = self.rows[row].is_dead;
            Err(match weather {
                Weather::Quota => quota(if self.random.once_in(3) { " Try again in 10 minutes" } else { "" }),
                Weather::Login => login(),
                Weather::Unreachable => unreachable(),
                Weather::Broken => broken(),
                Weather::NobodyKnown => no_user(),
                Weather::Moody if self.random.once_in(3) => not_now(),
                Weather::Fine | Weather::Moody if is_dead => no_user(),
                Weather::Fine | Weather::Moody => return Ok(()),
            })
        }

        /// Records outcomes, marks seats, and tells the GM.
        fn record(&mut self) {
            // Another daemon reads the state that a killed one recorded.
            if self.random.once_in(4) {
                let json = serde_json::to_string(&self.plan.account).expect("it is JSON");
                assert_eq!(Account::read(Some(&json)), self.plan.account);
            }
            let outcomes = self.plan.outcomes.clone();
            let mut letters_to_gm = 0;
            for AttemptOutcome { id, sent, event, .. } in &outcomes {
                let row = &mut self.rows[*id as usize];
                assert_eq!(row.arrived, 0, "sent already");
                row.letter.tries += 1;
                (row.due, row.gave_up) = match sent {
                    SendOutcome::Taken => (None, false),
                    SendOutcome::Later { at, .. } => (Some(*at), false),
                    SendOutcome::GivenUp { .. } => (None, true),
                    SendOutcome::Lapsed => panic!("no letter of the model is a reminder"),
                };
                row.arrived += u32::from(*sent == SendOutcome::Taken);
                match event {
                    None => {}
                    Some(SendingOutcome::GivenUp { .. }) => {
                        row.marked = true;
                        letters_to_gm += u32::from(!row.letter.recipient.starts_with("gm@"));
                    }
                    Some(SendingOutcome::Requeued) => row.marked = false,
                    Some(SendingOutcome::Late) => panic!("no letter of the model opens a phase"),
                }
            }
            self.plan.note_recorded(outcomes.len(), &[]);
            letters_to_gm += u32::from(self.plan.account.alarm(self.now).is_some());
            for _ in 0..letters_to_gm {
                self.write("gm@club.test", false);
            }
        }
    }

    /// A server may call everybody unknown for a while, but not again and again: see `MAX_OUTAGES`.
    #[test]
    fn whatever_was_refused_arrives_once_when_the_server_takes_mail_again() {
        let weathers = [
            Weather::Fine,
            Weather::Quota,
            Weather::Login,
            Weather::Unreachable,
            Weather::Broken,
            Weather::Moody,
            Weather::NobodyKnown,
        ];
        for seed in 0..10_000 {
            let mut model = Model::new(seed);
            let mut nobody_known = 0;
            for _ in 0..model.random.below(7) {
                let weather = *model.random.pick(&weathers);
                if weather == Weather::NobodyKnown {
                    if nobody_known == 2 || model.domains_waiting() < 3 {
                        continue;
                    }
                    nobody_known += 1;
                }
                model.live_through(weather);
                for _ in 0..model.random.below(4) {
                    let domain = *model.random.pick(&DOMAINS);
                    model.write(&format!("new@{domain}"), false);
                }
            }
            model.live_through(Weather::Fine);
            model.plan.is_done();
            model.record();
            model.live_through(Weather::Fine);
            for row in &model.rows {
                let expected = if row.is_dead { (0, true, true) } else { (1, false, false) };
                assert_eq!((row.arrived, row.gave_up, row.marked), expected, "seed {seed}: {row:?}");
            }
            assert_eq!(model.plan.account.outage, None, "seed {seed}");
            assert!(model.plan.claimed.is_empty(), "seed {seed}");
        }
    }

    #[test]
    fn the_most_urgent_letter_goes_first_but_no_two_at_a_time_to_one_reader() {
        let mut plan = SendingPlan::new(Account::default(), 3);
        let urgent = |id, recipient, urgency| Claimed { urgency, ..letter(id, recipient) };
        plan.add(
            NOW,
            vec![
                urgent(1, "ann", Urgency::Announcement),
                urgent(2, "ann", Urgency::Receipt),
                urgent(3, "bo", Urgency::Reminder),
                urgent(4, "ann", Urgency::Receipt),
            ],
        );
        let next = |plan: &mut SendingPlan| plan.next(NOW).map(|letter| letter.id);
        assert_eq!(next(&mut plan), Some(2));
        assert_eq!(next(&mut plan), Some(3), "Ann's next receipt waits for the one that is being sent");
        assert_eq!(next(&mut plan), None);
        plan.finish(NOW, &letter(2, "ann"), Ok(()));
        plan.add(NOW, vec![urgent(5, "cy", Urgency::Alarm)]);
        assert_eq!(next(&mut plan), Some(5), "a more urgent letter overtakes");
        assert_eq!(next(&mut plan), Some(4));
        plan.add(NOW, vec![urgent(6, "di", Urgency::Alarm)]);
        assert_eq!(next(&mut plan), None, "each connection has a letter");
        plan.finish(NOW, &letter(4, "ann"), Ok(()));
        assert_eq!((next(&mut plan), next(&mut plan)), (Some(6), None));
        plan.finish(NOW, &letter(5, "cy"), Ok(()));
        assert_eq!(next(&mut plan), Some(1));
    }

    #[test]
    fn in_an_outage_what_waits_is_given_back_and_only_a_probe_ends_it() {
        let mut plan = SendingPlan::new(Account::default(), 2);
        plan.add(NOW, (1..=4).map(|id| letter(id, &id.to_string())).collect());
        let before = plan.next(NOW).expect("a letter");
        let refused = plan.next(NOW).expect("a letter");
        plan.finish(NOW, &refused, Err(&login()));
        assert!(
            plan.claimed.contains_key(&before.id)
                && plan.claimed.contains_key(&refused.id)
                && !plan.claimed.contains_key(&3)
        );
        assert_eq!((plan.room(NOW, &Quota::default()), plan.next(NOW).is_some()), (0, false));
        plan.finish(NOW, &before, Ok(()));
        assert!(plan.account.outage.is_some(), "it was in flight before");
        plan.add(NOW, vec![letter(3, "3")]);
        assert!(!plan.claimed.contains_key(&3), "it was being claimed when the outage began");
        let later = NOW + TimeDelta::minutes(1);
        assert_eq!(plan.room(later, &Quota::default()), 1);
        plan.add(later, vec![letter(3, "3")]);
        let probe = plan.next(later).expect("a letter");
        plan.finish(later, &probe, Ok(()));
        assert_eq!(plan.account.outage, None);
        plan.note_recorded(plan.outcomes.len(), &[]);
        assert!(plan.claimed.is_empty());
    }

    #[test]
    fn a_letter_that_has_lapsed_is_not_sent() {
        let mut plan = SendingPlan::new(Account::default(), 1);
        plan.add(NOW, vec![Claimed { has_lapsed: true, ..letter(1, "ann") }]);
        assert_eq!(plan.next(NOW).map(|letter| letter.id), None);
        assert_eq!(
            plan.outcomes.iter().map(|one| (one.id, &one.sent)).collect::<Vec<_>>(),
            [(1, &SendOutcome::Lapsed)]
        );
        assert!(plan.note_recorded(1, &[]).is_empty());
        assert!(plan.is_done() && plan.claimed.is_empty());
    }

    fn sent(minute: u32, day: u32, strangers: u32) -> SentCounts {
        SentCounts { minute, day, strangers }
    }

    #[test]
    fn without_limits_everything_may_be_sent() {
        assert_eq!(allowance(&Quota::default(), sent(900, 90_000, 0)), (Reach::All, u32::MAX));
    }

    #[test]
    fn a_day_keeps_a_part_for_alarms_and_gives_strangers_a_tenth() {
        let allowance = |day, strangers| {
            let quota = Quota { per_minute: None, per_day: Some(200) };
            allowance(&quota, sent(0, day, strangers))
        };
        assert_eq!(allowance(0, 0), (Reach::All, 20));
        assert_eq!(allowance(185, 5), (Reach::All, 5));
        assert_eq!(allowance(20, 20), (Reach::AllButStrangers, 170));
        assert_eq!(allowance(195, 0), (Reach::Alarms, 5));
        assert_eq!(allowance(300, 0), (Reach::Alarms, 0));
    }

    #[test]
    fn a_minute_limits_all_letters_also_those_in_flight() {
        let quota = Quota { per_minute: Some(30), per_day: Some(200) };
        assert_eq!(allowance(&quota, sent(28, 28, 0)), (Reach::All, 2));
        let mut plan = SendingPlan::new(Account::default(), 1);
        plan.add(NOW, vec![letter(1, "ann"), letter(2, "bo")]);
        plan.next(NOW).expect("a letter");
        assert_eq!(plan.scope(&quota, sent(27, 28, 0), 9).limit, 1);
        assert_eq!(plan.scope(&quota, sent(28, 28, 0), 9).limit, 0);
    }
}
