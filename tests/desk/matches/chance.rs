//! The source of chance in a match between two people: the key of the offer, and the letter that takes it up.

use fogpost::audit::dossier::DossierForm;
use fogpost::audit::{AuditVerdict, Place};
use fogpost::game::Seat;
use fogpost::ledger::{Entry, Fact, PinnedLot, SealKey};
use fogpost::letter::Digest;
use fogpost::referee::{Match, Stage};

use crate::audit::database::{entries, found, rewrite};
use crate::dossier::check_program::{checked, unpacked};
use crate::dossier::contents::by_hand;
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// The SHA-256 in a letter, on a line of its own.
fn told_pin(sent: &Sent) -> Digest {
    let lines = sent.text.lines().map(|line| line.trim_start_matches([' ', '|']));
    let pin = lines.filter_map(|line| line.parse().ok()).next();
    pin.unwrap_or_else(|| panic!("no SHA-256 in:\n{}", sent.text))
}

fn code_of(sent: &Sent) -> &str {
    let codes = ["| JOIN ", "| ACCEPT "];
    let mut lines = sent.text.lines().map(str::trim);
    let code = lines.find_map(|line| codes.iter().find_map(|before| line.strip_prefix(before)));
    code.unwrap_or_else(|| panic!("no code in:\n{}", sent.text))
}

/// The match that a letter to `player` says has begun.
fn begun(referee: &Referee, player: &str) -> (Match, Vec<Sent>) {
    let sent = referee.sent_to(player);
    let invitation = sent.iter().find(|sent| sent.text.contains(" plays Qua")).expect("an invitation");
    let id = invitation.subject.trim_start_matches('[').split(']').next().expect("a name");
    (referee.find(id), sent)
}

fn lot_of(referee: &Referee, game_match: &Match) -> PinnedLot {
    match entries(referee, &game_match.id).swap_remove(0).fact {
        Fact::MatchOpened { lot: Some(lot), .. } => *lot,
        other => panic!("no lot: {other:?}"),
    }
}

fn last_letter(referee: &Referee) -> Digest {
    referee.letters().first().expect("a letter").digest
}

/// A match of Quad that Ann offered and Bo took up, with the letter that showed Bo the offer, and the digests
/// of both their letters.
struct Met {
    game_match: Match,
    told: Sent,
    offered_by: Digest,
    taken_up_by: Digest,
}

/// Ann makes the offer, and Bo takes it up.
fn meet(referee: &Referee, offer: &str) -> Met {
    referee.write(ANN, offer);
    let offered_by = last_letter(referee);
    let told = match offer.starts_with("OPEN") {
        true => {
            referee.write(BO, "GAMES");
            referee.last_to(BO)
        }
        false => referee.last_to(BO),
    };
    let verb = if offer.starts_with("OPEN") { "JOIN" } else { "ACCEPT" };
    referee.write(BO, &format!("{verb} {}", code_of(&told)));
    let (game_match, _) = begun(referee, BO);
    Met { game_match, told, offered_by, taken_up_by: last_letter(referee) }
}

fn two_people() -> Referee {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.answer_for(BO);
    referee
}

#[test]
fn the_secret_and_the_seats_follow_from_the_key_that_the_offer_told_and_the_letter_that_took_it_up() {
    let referee = two_people();
    for offer in ["OPEN quad", &format!("CHALLENGE {BO} quad"), "OPEN quad", &format!("CHALLENGE {BO} quad")]
    {
        // A newcomer can reach only a few others a day.
        referee.advance(24);
        referee.sent_to(ANN);
        let Met { game_match, told, offered_by, taken_up_by } = meet(&referee, offer);
        let pin = told_pin(&told);
        let to_ann = referee.sent_to(ANN);
        assert!(
            to_ann.iter().filter(|sent| !sent.text.contains("The board")).any(|sent| told_pin(sent) == pin)
        );
        let lot = lot_of(&referee, &game_match);
        assert_eq!((lot.key, lot.offer), (pin, offered_by));
        let kept = game_match.lot.clone().expect("a lot");
        let whole = bytes_of(&[kept.key.reveal(), taken_up_by.to_string()].concat());
        assert_eq!(game_match.key.reveal(), Digest::of(&whole).to_string());
        let anns = if game_match.players.first == "ann" { Seat::First } else { Seat::Second };
        assert_eq!(lot.seat, Some(anns));
        let even = whole_is_even(&game_match.key);
        assert_eq!(anns == Seat::First, even);
        assert!(referee.verify(&game_match.id).is_sound());
    }
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("two digits")).collect()
}

fn whole_is_even(key: &SealKey) -> bool {
    bytes_of(&key.reveal())[31].is_multiple_of(2)
}

#[test]
fn a_seat_that_was_chosen_is_not_drawn() {
    let referee = two_people();
    let game_match = meet(&referee, "OPEN quad seat=first").game_match;
    assert_eq!((&game_match.players.first[..], lot_of(&referee, &game_match).seat), ("ann", None));
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn nothing_is_claimed_of_the_chance_of_a_match_against_the_house_or_opened_by_the_gm() {
    let referee = two_people();
    referee.write(ANN, "GAMES");
    referee.one_to(ANN).keeps_silent_of("SHA-256");
    referee.write(ANN, "CHALLENGE house quad level=trainer");
    let (game_match, sent) = begun(&referee, ANN);
    assert_eq!(game_match.lot, None);
    for sent in sent {
        sent.keeps_silent_of("SHA-256");
    }
    assert!(referee.verify(&game_match.id).is_sound());
    referee.write(GM, "GM LIST");
    referee.reply(GM, &referee.last_to(GM), &format!("GM NEW quad {ANN} {BO}"));
    let (game_match, _) = begun(&referee, BO);
    assert_eq!(game_match.lot, None);
    assert!(referee.verify(&game_match.id).is_sound());
}

/// Ends a match between two people who met by letter.
fn ended(referee: &Referee) -> Match {
    let game_match = meet(referee, "OPEN quad").game_match;
    let (_, sent) = begun(referee, ANN);
    let invitation = sent.iter().find(|sent| sent.text.contains(" plays Qua")).expect("an invitation");
    referee.reply(ANN, invitation, "RESIGN CONFIRM");
    let game_match = referee.find(&game_match.id);
    assert_eq!(game_match.stage, Stage::Over);
    game_match
}

#[test]
fn the_end_of_a_match_and_its_dossier_show_the_key() {
    let referee = two_people();
    let game_match = ended(&referee);
    let key = game_match.lot.as_ref().expect("a lot").key.reveal();
    referee.last_to(BO).says(&key);
    for form in [DossierForm::Public, DossierForm::Arbiter] {
        let mut files = referee.dossier(&game_match.id, form, false).expect("a dossier");
        let folder = unpacked(&files);
        let (status, said) = checked(folder.path(), &[]);
        assert_eq!(status, 0, "{said}");
        assert!(said.contains("Lot: the secret comes from the key of the offer"), "{said}");
        assert_eq!(by_hand(folder.path()), "");
        files.insert("lot.txt".to_owned(), format!("{}\n", "0".repeat(64)).into_bytes());
        let folder = unpacked(&files);
        assert!(checked(folder.path(), &[]).1.contains("lot.txt does not hold the key that the ledger pins"));
        assert!(by_hand(folder.path()).contains("lot.txt is not the key"));
    }
}

/// The verdict after a change to the opening and to the match, with every hash recomputed.
fn rewritten(change: impl FnOnce(&mut Entry, &mut Match)) -> AuditVerdict {
    let referee = two_people();
    let mut game_match = ended(&referee);
    let mut all = entries(&referee, &game_match.id);
    change(&mut all[0], &mut game_match);
    rewrite(&referee, &game_match, all);
    referee.verify(&game_match.id)
}

fn pinned(entry: &mut Entry) -> (&mut Digest, &mut PinnedLot) {
    match &mut entry.fact {
        Fact::MatchOpened { key, lot: Some(lot), .. } => (key, lot),
        other => panic!("no lot: {other:?}"),
    }
}

#[test]
fn a_secret_that_was_drawn_another_time_is_found() {
    let verdict = rewritten(|opened, game_match| {
        game_match.key = SealKey::new([7; 32]);
        *pinned(opened).0 = game_match.key.pin();
    });
    assert_eq!(*found(&verdict), Place::Entry(1), "{verdict:#?}");
    assert!(verdict.findings[0].what.contains("does not come from its lot"), "{verdict:#?}");
}

#[test]
fn a_lot_that_does_not_fit_its_match_is_found() {
    let verdict = rewritten(|opened, _| pinned(opened).1.key = Digest::of(b"another"));
    assert_eq!(*found(&verdict), Place::Kept("the snapshot"), "{verdict:#?}");
    let verdict = rewritten(|opened, game_match| {
        let lot = game_match.lot.as_mut().expect("a lot");
        lot.seat = lot.seat.map(Seat::other);
        pinned(opened).1.seat = lot.seat;
    });
    assert!(verdict.findings[0].what.contains("not those that the lot draws"), "{verdict:#?}");
}

#[test]
fn after_a_reopened_match_the_result_says_which_key_came_from_the_lot() {
    let referee = two_people();
    let game_match = meet(&referee, "OPEN quad seat=first").game_match;
    referee.reply(ANN, &begun(&referee, ANN).1.pop().expect("a letter"), "MARBLE E5");
    referee.reply(ANN, &referee.last_to(ANN), "RESIGN CONFIRM");
    referee.write(GM, "GM LIST");
    let rollback = format!("GM MATCH {} ROLLBACK 1 It was a mistake.", game_match.id);
    referee.reply(GM, &referee.last_to(GM), &rollback);
    referee.reply(ANN, &referee.last_to(ANN), "RESIGN CONFIRM");
    let told = referee.sent_to(ANN);
    let result = told.iter().find(|sent| sent.text.contains("For whoever checks the ledger"));
    result.expect("a result").says("come from these keys").says("The first is the SHA-256 of this one");
}
