//! The law of the outbox, over random sequences of refusals, and its single rules.

use super::*;
use crate::game::random::Random;

const START: DateTime<Utc> = DateTime::from_timestamp_millis(1_800_000_000_000).unwrap();

const DOMAINS: [&str; 5] = ["a.test", "b.test", "c.test", "d.test", "e.test"];

/// No such user (RFC 3463, 3.2).
const NO_USER: Status = (550, Some(EnhancedCode { class: 5, subject: 1, detail: 1 }));

/// A quota as Gmail words it.
const QUOTA: Status = (550, Some(EnhancedCode { class: 5, subject: 4, detail: 5 }));

fn refused(class: RefusalClass, status: Option<Status>) -> Refused {
    Refused { class, status, wait: None, is_silent: false, error: "no".to_owned() }
}

fn silent(class: RefusalClass) -> Refused {
    Refused { is_silent: true, ..refused(class, None) }
}

fn no_user() -> Refused {
    refused(RefusalClass::Recipient, Some(NO_USER))
}

/// How a server behaves for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weather {
    /// It takes every letter to an address that exists.
    Fine,
    /// It takes none: at RCPT, where it may name a time, before RCPT, because it cannot be reached, or because
    /// connections break.
    Quota,
    Login,
    Unreachable,
    Broken,
    /// It calls every address unknown.
    NobodyKnown,
    /// It refuses one letter in three for now.
    Moody,
}

#[derive(Debug)]
struct Letter {
    recipient: String,
    is_dead: bool,
    due: Option<DateTime<Utc>>,
    tries: u32,
    arrived: u32,
    gave_up: bool,
    marked: bool,
}

/// The outbox without its database and its server.
struct Model {
    random: Random,
    now: DateTime<Utc>,
    account: Account,
    letters: Vec<Letter>,
}

impl Model {
    fn new(seed: u64) -> Model {
        let mut random = Random::new(seed);
        let letters = (0..3 + random.below(12)).map(|number| {
            let is_dead = random.once_in(6);
            let recipient = format!("{number}@{}", random.pick(&DOMAINS));
            letter(recipient, is_dead, START)
        });
        let letters = letters.collect();
        Model { random, now: START, account: Account::default(), letters }
    }

    fn domains_waiting(&self) -> usize {
        let waiting = self.letters.iter().filter(|letter| letter.due.is_some() && !letter.is_dead);
        let domains: BTreeSet<&str> =
            waiting.filter_map(|letter| Some(letter.recipient.split_once('@')?.1)).collect();
        domains.len()
    }

    /// Lets the server behave so until enough attempts were made, or until nothing is left to do.
    fn live_through(&mut self, weather: Weather) {
        let mut rounds = 1 + self.random.below(8);
        for _ in 0..2_000 {
            let is_over = match weather {
                // Until then the law itself gives letters up.
                Weather::NobodyKnown => {
                    self.account.outage.as_ref().is_some_and(|outage| outage.status == Some(NO_USER))
                }
                Weather::Fine => self.letters.iter().all(|letter| letter.due.is_none()),
                _ => rounds == 0,
            };
            if is_over {
                return;
            }
            rounds = rounds.saturating_sub(1);
            self.send_some(weather);
            self.follow_up();
        }
        panic!("it never ends: {weather:?} {:#?} {:#?}", self.account, self.letters);
    }

    /// Claims letters as the outbox does, and sends them in any order.
    fn send_some(&mut self, weather: Weather) {
        let mut due: Vec<usize> = (0..self.letters.len())
            .filter(|id| self.letters[*id].due.is_some_and(|due| due <= self.now))
            .collect();
        match self.account.gate(self.now) {
            Gate::Closed => due.clear(),
            Gate::Probe(most) => {
                let another = self.account.tries_another();
                due.sort_by_key(|id| if another { self.letters[*id].tries } else { 0 });
                due.truncate(most);
            }
            Gate::Open => {
                self.random.shuffle(&mut due);
                due.truncate(1 + self.random.below(8));
            }
        }
        if due.is_empty() {
            if self.account.gate(self.now) != Gate::Closed {
                self.account.note_idle();
            }
            let next = self.letters.iter().filter_map(|letter| letter.due).min();
            let gate = self.account.outage.as_ref().map(|outage| outage.until);
            self.now = next.max(gate).unwrap_or(self.now).max(self.now + TimeDelta::seconds(1));
            return;
        }
        for id in due {
            // What was under way when the gate closed may still be tried, or not.
            if self.account.gate(self.now) == Gate::Closed && self.random.once_in(2) {
                continue;
            }
            self.attempt(id, weather);
            self.now += TimeDelta::seconds(1);
        }
    }

    fn attempt(&mut self, id: usize, weather: Weather) {
        let letter = &self.letters[id];
        let answer = match weather {
            Weather::Quota => {
                let wait = self.random.once_in(3).then(|| TimeDelta::minutes(10));
                Err(Refused { wait, ..refused(RefusalClass::NotNow, Some(QUOTA)) })
            }
            Weather::Login => Err(refused(RefusalClass::Account, Some((535, None)))),
            Weather::Unreachable => Err(silent(RefusalClass::Account)),
            Weather::Broken => Err(silent(RefusalClass::NotNow)),
            Weather::NobodyKnown => Err(no_user()),
            Weather::Moody if self.random.once_in(3) => Err(refused(RefusalClass::NotNow, None)),
            Weather::Fine | Weather::Moody if letter.is_dead => Err(no_user()),
            Weather::Fine | Weather::Moody => Ok(()),
        };
        let (number, message_id) = (id as i64, id.to_string());
        let recipient = letter.recipient.clone();
        let attempt =
            Attempt { id: number, message_id: &message_id, recipient: &recipient, tries: letter.tries };
        let outcomes = match answer {
            Ok(()) => vec![(number, self.account.note_taken(&attempt))],
            Err(refused) => self.account.note_refused(self.now, &attempt, &refused),
        };
        // What a killed daemon has recorded, another one reads.
        if self.random.once_in(4) {
            let json = serde_json::to_string(&self.account).expect("it is JSON");
            assert_eq!(read(Some(&json)), self.account);
        }
        self.letters[id].tries += 1;
        for (id, outcome) in outcomes {
            let letter = &mut self.letters[id as usize];
            assert_eq!(letter.arrived, 0, "sent already");
            (letter.due, letter.gave_up) = match outcome {
                SendOutcome::Taken => (None, false),
                SendOutcome::Later { at, .. } => (Some(at), false),
                SendOutcome::GivenUp { .. } => (None, true),
            };
            letter.arrived += u32::from(outcome == SendOutcome::Taken);
        }
    }

    /// Marks seats, and tells the GM.
    fn follow_up(&mut self) {
        let mut letters_to_gm = u32::from(self.account.take_alarm(self.now).is_some());
        for FollowUp { message_id, event } in std::mem::take(&mut self.account.follow_ups) {
            let letter = &mut self.letters[message_id.parse::<usize>().expect("our own")];
            match event {
                Event::GivenUp { .. } => {
                    assert!(letter.gave_up);
                    letter.marked = true;
                    letters_to_gm += u32::from(!letter.recipient.starts_with("gm@"));
                }
                Event::Revived => letter.marked = false,
                Event::Late => panic!("no letter of the model opens a phase"),
            }
        }
        for _ in 0..letters_to_gm {
            self.letters.push(letter("gm@club.test".to_owned(), false, self.now));
        }
    }
}

fn letter(recipient: String, is_dead: bool, due: DateTime<Utc>) -> Letter {
    Letter { recipient, is_dead, due: Some(due), tries: 0, arrived: 0, gave_up: false, marked: false }
}

/// A server may call everybody unknown for a while, but not again and again: see [`MAX_REVIVALS`].
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
                if nobody_known == 2 || model.domains_waiting() < DOMAINS_IN_A_ROW {
                    continue;
                }
                nobody_known += 1;
            }
            model.live_through(weather);
            for _ in 0..model.random.below(4) {
                let recipient = format!("new@{}", model.random.pick(&DOMAINS));
                model.letters.push(letter(recipient, false, model.now));
            }
        }
        model.live_through(Weather::Fine);
        model.account.note_idle();
        model.follow_up();
        model.live_through(Weather::Fine);
        for letter in &model.letters {
            let expected = if letter.is_dead { (0, true, true) } else { (1, false, false) };
            assert_eq!((letter.arrived, letter.gave_up, letter.marked), expected, "seed {seed}: {letter:?}");
        }
        assert_eq!(model.account.outage, None, "seed {seed}");
    }
}

fn note(account: &mut Account, id: i64, domain: &str, refused: &Refused) -> Vec<(i64, SendOutcome)> {
    let recipient = format!("x@{domain}");
    let attempt = Attempt { id, message_id: &id.to_string(), recipient: &recipient, tries: 0 };
    account.note_refused(START, &attempt, refused)
}

fn take(account: &mut Account, id: i64) {
    account.note_taken(&Attempt { id, message_id: "", recipient: "x@z.test", tries: 0 });
}

fn given_up(message_id: &str) -> FollowUp {
    FollowUp { message_id: message_id.to_owned(), event: Event::GivenUp { is_undeliverable: true } }
}

#[test]
fn a_quota_holds_one_letter_until_three_domains_are_refused_in_a_row() {
    let mut account = Account::default();
    let quota = refused(RefusalClass::NotNow, Some(QUOTA));
    for (id, domain) in [(1, "a.test"), (2, "a.test"), (3, "b.test")] {
        let outcomes = note(&mut account, id, domain, &quota);
        assert_eq!(outcomes, [(id, later(START + MIN_PAUSE, "no"))]);
        assert_eq!(account.gate(START), Gate::Open);
    }
    take(&mut account, 4);
    for (id, domain) in [(1, "a.test"), (3, "b.test")] {
        note(&mut account, id, domain, &quota);
    }
    assert_eq!(account.gate(START), Gate::Open, "a letter was taken between");
    note(&mut account, 5, "C.test", &quota);
    assert_eq!(account.gate(START), Gate::Closed);
    assert_eq!(account.gate(START + MIN_PAUSE), Gate::Probe(1));
    take(&mut account, 6);
    assert_eq!(account.gate(START), Gate::Open);
}

#[test]
fn in_an_outage_another_letter_is_tried_right_after_the_most_urgent_one() {
    let mut account = Account::default();
    let quota = refused(RefusalClass::NotNow, Some(QUOTA));
    for (id, domain) in [(1, "a.test"), (2, "b.test"), (3, "c.test")] {
        note(&mut account, id, domain, &quota);
    }
    assert!(!account.tries_another());
    let at = START + MIN_PAUSE;
    let until = at + MIN_PAUSE * 2;
    let attempt = Attempt { id: 1, message_id: "1", recipient: "x@a.test", tries: 1 };
    assert_eq!(account.note_refused(at, &attempt, &quota), [(1, later(until, "no"))]);
    assert!(account.tries_another());
    assert_eq!(account.gate(at), Gate::Probe(1));
    let other = Attempt { id: 4, tries: 0, ..attempt };
    assert_eq!(account.note_refused(at, &other, &quota), [(4, later(until, "no"))]);
    assert!(!account.tries_another());
    assert_eq!((account.gate(at), account.gate(until)), (Gate::Closed, Gate::Probe(1)));
}

#[test]
fn a_rejected_login_stops_the_outbox_at_once_and_the_pause_doubles_up_to_an_hour() {
    let mut account = Account::default();
    let login = refused(RefusalClass::Account, Some((535, None)));
    note(&mut account, 1, "a.test", &login);
    assert_eq!(account.gate(START), Gate::Closed);
    let mut now = START;
    let mut pauses = Vec::new();
    for tries in 0..8 {
        let until = account.outage.as_ref().expect("an outage").until;
        pauses.push((until - now).num_minutes());
        now = until;
        let attempt = Attempt { id: 1, message_id: "1", recipient: "x@a.test", tries };
        account.note_refused(now, &attempt, &login);
        // What was under way as well changes nothing.
        account.note_refused(now, &Attempt { id: 2, ..attempt }, &login);
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn the_time_that_a_server_names_counts_if_it_is_longer() {
    let asked = |wait| pause(1, &Refused { wait: Some(wait), ..refused(RefusalClass::NotNow, None) });
    assert_eq!(asked(TimeDelta::seconds(5)), MIN_PAUSE);
    assert_eq!(asked(TimeDelta::hours(3)), TimeDelta::hours(3));
}

#[test]
fn where_the_network_fails_pauses_are_short() {
    let away = silent(RefusalClass::Account);
    let seconds: Vec<i64> = (1..9).map(|attempt| pause(attempt, &away).num_seconds()).collect();
    assert_eq!(seconds, [2, 4, 8, 16, 32, 60, 60, 60]);
}

#[test]
fn what_a_run_of_equal_refusals_gave_up_is_queued_again() {
    let mut account = Account::default();
    let unknown = no_user();
    for (id, domain) in [(1, "a.test"), (2, "b.test")] {
        assert!(matches!(note(&mut account, id, domain, &unknown)[..], [(_, SendOutcome::GivenUp { .. })]));
    }
    account.note_idle();
    assert_eq!(std::mem::take(&mut account.follow_ups), [given_up("1"), given_up("2")]);
    let revived: Vec<i64> = note(&mut account, 3, "c.test", &unknown).into_iter().map(|(id, _)| id).collect();
    assert_eq!(revived, [1, 2, 3]);
    let revived = ["1", "2"].map(|id| FollowUp { message_id: id.to_owned(), event: Event::Revived });
    assert_eq!(account.follow_ups, revived);
}

#[test]
fn a_wrong_address_is_reported_once_another_letter_is_taken() {
    let mut account = Account::default();
    note(&mut account, 1, "a.test", &no_user());
    assert_eq!(account.follow_ups, []);
    take(&mut account, 2);
    assert_eq!(account.follow_ups, [given_up("1")]);
}

#[test]
fn no_letter_that_was_given_up_is_forgotten_before_it_is_reported() {
    let mut account = Account::default();
    let letters = i64::try_from(MAX_RUN).expect("a small number") + 1;
    for id in 0..letters {
        note(&mut account, id, "a.test", &no_user());
    }
    assert_eq!(account.follow_ups.len(), MAX_RUN);
    assert_eq!(account.run.len(), MAX_RUN);
}

#[test]
fn a_letter_taken_before_the_account_was_refused_does_not_end_the_outage() {
    let attempt = Attempt { id: 9, message_id: "9", recipient: "x@z.test", tries: 0 };
    let mut account = Account::default();
    note(&mut account, 1, "a.test", &refused(RefusalClass::Account, Some((535, None))));
    assert_eq!(account.note_taken_before_outage(&attempt), SendOutcome::Taken);
    assert!(account.outage.is_some());
    account.note_taken(&attempt);
    assert_eq!(account.outage, None);
}

#[test]
fn a_letter_taken_beside_refused_ones_shows_that_the_account_is_not_meant() {
    let attempt = Attempt { id: 9, message_id: "9", recipient: "x@z.test", tries: 0 };
    let mut account = Account::default();
    for (id, domain) in (1..).zip(&DOMAINS[..DOMAINS_IN_A_ROW]) {
        note(&mut account, id, domain, &refused(RefusalClass::Recipient, Some(QUOTA)));
    }
    assert!(account.outage.is_some());
    account.note_taken_before_outage(&attempt);
    assert_eq!(account.outage, None);
}

#[test]
fn the_gm_is_told_once_a_day_of_the_same_refusal() {
    let mut account = Account::default();
    let login = refused(RefusalClass::Account, Some((535, None)));
    note(&mut account, 1, "a.test", &login);
    assert!(account.take_alarm(START).is_some() && account.take_alarm(START).is_none());
    take(&mut account, 1);
    let attempt = Attempt { id: 1, message_id: "1", recipient: "x@a.test", tries: 1 };
    account.note_refused(START + TimeDelta::hours(1), &attempt, &login);
    assert!(account.take_alarm(START + TimeDelta::hours(23)).is_none());
    assert!(account.take_alarm(START + TimeDelta::hours(24)).is_some());
}

#[test]
fn a_server_that_cannot_be_reached_is_an_alarm_only_if_it_stays_away() {
    let mut account = Account::default();
    let away = refused(RefusalClass::Account, None);
    for tries in 0..3 {
        assert!(account.take_alarm(START).is_none());
        let now = account.outage.as_ref().map_or(START, |outage| outage.until);
        let attempt = Attempt { id: 1, message_id: "1", recipient: "x@a.test", tries };
        account.note_refused(now, &attempt, &away);
    }
    assert!(account.take_alarm(START).is_some());
}
