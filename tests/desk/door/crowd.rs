//! Many letters at once.

use std::collections::BTreeSet;

use fogpost::daemon::{GmIndex, Holder, NamedAddress, NewMatch, instruct, loops};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::letter::Address;
use fogpost::referee::DispatchKind;
use fogpost::store::{LetterStatus, SendOutcome, TokenRow};

use crate::referee::{GM, Referee};

/// The number of matches, with one letter each: more letters than fit into one transaction (256).
const MATCHES: usize = 270;

/// Matches of Quad, each between its own two players, except that one player has the first seat of all `busy` ones.
pub struct Crowd {
    pub referee: Referee,
    pub seats: Vec<BySeat<TokenRow>>,
}

impl Crowd {
    pub fn new(matches: usize, config: &str, busy: &[usize]) -> Crowd {
        let referee = Referee::with(config);
        let seated = |name: String| NamedAddress {
            address: Address::parse(&format!("{name}@players.example")).expect("an address"),
            name,
        };
        let new: Vec<NewMatch> = (0..matches)
            .map(|n| NewMatch {
                game: GameKind::Quad,
                choices: Default::default(),
                players: BySeat::new(
                    seated(if busy.contains(&n) { "zoe".to_owned() } else { format!("ann{n}") }),
                    seated(format!("bo{n}")),
                )
                .map(Holder::Player),
                terms: referee.office().config.terms.clone(),
            })
            .collect();
        let seats = referee.block_on(async {
            let office = referee.office();
            let opened = instruct::open_all(office, GmIndex::default(), &new).await.expect("they open");
            let ids: Vec<String> = opened.into_iter().map(|game_match| game_match.id).collect();
            // Marks the invitations as sent.
            let (forms, claim) = office.store.claim_dispatches(office.now(), 1000).await.expect("the forms");
            let sent: Vec<_> = forms.iter().map(|form| (form.id, SendOutcome::Taken)).collect();
            office.store.record_outcomes(claim, office.now(), &sent).await.expect("noted");
            let rows = office.store.seats_of(&ids).await.expect("their seats");
            let of =
                |id: &String, seat| rows.iter().find(|row| row.match_id == *id && row.seat == seat).cloned();
            let of = |id, seat| of(id, seat).expect("a seat");
            ids.iter().map(|id| BySeat::from_fn(|seat| of(id, seat))).collect()
        });
        Crowd { referee, seats }
    }

    /// Stores a letter without ruling on it.
    fn write(&self, n: usize, seat: Seat, order: &str) {
        let TokenRow { match_id, token, player, .. } = &self.seats[n][seat];
        let from = &player.addresses[0];
        self.referee.put(&format!(
            "From: {from}\nTo: referee@club.example\nSubject: Re: [{match_id}]\nMessage-ID: <{n}.{seat}@players.example>\n\n\
             {order}\n\n> Reply token: {token}\n"
        ));
    }

    /// The names of the matches.
    pub fn ids(&self) -> Vec<String> {
        self.seats.iter().map(|seats| seats[Seat::First].match_id.clone()).collect()
    }

    /// The number of letters ruled on.
    fn ruled(&self) -> usize {
        let store = &self.referee.office().store;
        self.referee
            .block_on(store.letters(Some(LetterStatus::Ruled), None, "", 1000))
            .expect("the store answers")
            .len()
    }

    fn answers_to_zoe(&self) -> usize {
        let sent = self.referee.all_to("zoe@players.example");
        sent.iter().filter(|sent| sent.in_reply_to.is_some()).count()
    }

    fn turns(&self, n: usize) -> usize {
        self.referee.find(&self.seats[n][Seat::First].match_id).adjudicated.len()
    }
}

/// A different order for each `n`, because a repeated text is not answered again.
fn marble(n: usize) -> String {
    format!("MARBLE {}{}", ["C", "D", "E", "F", "G"][n % 5], 2 + n / 5)
}

#[test]
fn each_letter_of_many_matches_is_ruled_on_once() {
    let crowd = Crowd::new(MATCHES, "", &[]);
    (0..MATCHES).for_each(|n| crowd.write(n, Seat::First, "MARBLE E5"));
    crowd.referee.work();
    assert_eq!(crowd.ruled(), MATCHES);
    assert!((0..MATCHES).all(|n| crowd.turns(n) == 1));
    let sent = crowd
        .referee
        .block_on(crowd.referee.office().store.list_dispatches(false, 10_000))
        .expect("the outbox");
    let reports: BTreeSet<_> = sent
        .iter()
        .filter(|sent| sent.kind == DispatchKind::Report)
        .map(|sent| (&sent.match_id, sent.seat))
        .collect();
    assert_eq!(reports.len(), 2 * MATCHES);
    assert_eq!(sent.len(), (2 + 2) * MATCHES, "two forms and two reports for each match");
}

#[test]
fn the_limit_for_letters_without_a_token_does_not_touch_seats() {
    // One player has letters in the first batch and in the next.
    let busy: Vec<usize> = (0..8).chain(258..266).collect();
    let crowd = Crowd::new(MATCHES, "[letters]\nanswers_per_hour = 5\n", &busy);
    (0..MATCHES).for_each(|n| {
        crowd.write(n, Seat::First, &marble(busy.iter().position(|busy| *busy == n).unwrap_or_default()));
    });
    crowd.referee.work();
    assert!((0..MATCHES).all(|n| crowd.turns(n) == 1));
    assert_eq!(crowd.answers_to_zoe(), busy.len());
}

#[test]
fn a_failing_batch_does_not_stop_the_one_before_it() {
    let crowd = Crowd::new(MATCHES, "", &[]);
    crowd.referee.untidy.set(true);
    crowd.referee.change_database(
        "DROP TRIGGER letter_is_not_changed; \
         CREATE TRIGGER spoil AFTER INSERT ON letter WHEN NEW.sender = 'ann7@players.example' \
         BEGIN UPDATE letter SET received_at = 9000000000000000000 WHERE id = NEW.id; END",
    );
    (0..MATCHES).for_each(|n| crowd.write(n, Seat::First, "MARBLE E5"));
    let failed =
        crowd.referee.block_on(loops::once(crowd.referee.office())).expect_err("the instant is out of range");
    assert!(format!("{failed:#}").contains("is not a valid instant"), "{failed:#}");
    assert_eq!(crowd.ruled(), 256, "all but the letter received last");
}

#[test]
fn if_a_batch_cannot_be_committed_the_next_one_loses_nothing() {
    let crowd = Crowd::new(MATCHES, "", &[]);
    crowd.referee.change_database(
        "CREATE TRIGGER refuse BEFORE INSERT ON dispatch WHEN NEW.recipient = 'ann7@players.example' \
         BEGIN SELECT RAISE(ABORT, 'not this one'); END",
    );
    (0..MATCHES).for_each(|n| crowd.write(n, Seat::First, "MARBLE E5"));
    crowd.referee.work();
    crowd.referee.one_to(GM).says("could not be ruled on in three attempts").says("not this one");
    assert!((0..MATCHES).all(|n| crowd.turns(n) == usize::from(n != 7)));
    assert_eq!(crowd.ruled(), MATCHES - 1);
}
