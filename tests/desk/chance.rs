//! Where the chance of a match comes from: a key that was told before, and the letters that opened the match.

use fogpost::audit::dossier::DossierForm;
use fogpost::audit::{AuditVerdict, Place};
use fogpost::game::Seat;
use fogpost::ledger::{Entry, Fact, PinnedLot, SealKey};
use fogpost::letter::Digest;
use fogpost::referee::{Match, Stage};

use crate::audit::{entries, found, rewrite};
use crate::check_program::{checked, unpacked};
use crate::desk::{ANN, BO, Desk, GM, Sent};
use crate::dossier::by_hand;

/// The SHA-256 that a letter tells, which stands on a line of its own.
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
fn begun(desk: &Desk, player: &str) -> (Match, Vec<Sent>) {
    let sent = desk.sent_to(player);
    let invitation = sent.iter().find(|sent| sent.text.contains("A match of")).expect("an invitation");
    let id = invitation.subject.trim_start_matches('[').split(']').next().expect("a name");
    (desk.find(id), sent)
}

fn lot_of(desk: &Desk, game_match: &Match) -> PinnedLot {
    match entries(desk, &game_match.id).swap_remove(0).fact {
        Fact::MatchOpened { lot: Some(lot), .. } => *lot,
        other => panic!("no lot: {other:?}"),
    }
}

fn last_letter(desk: &Desk) -> Digest {
    desk.letters().first().expect("a letter").digest
}

const CHALLENGE: &str = "CHALLENGE house quad level=trainer";

#[test]
fn a_match_against_the_house_is_drawn_from_the_key_that_was_told_before_and_from_its_letter() {
    let mut desk = Desk::knowing(ANN, "");
    desk.write(ANN, "GAMES");
    let pin = told_pin(&desk.one_to(ANN));
    desk.advance(1);
    desk.write(ANN, "GAMES");
    assert_eq!(told_pin(&desk.one_to(ANN)), pin, "no letter draws another one");
    desk.restart();
    desk.write(ANN, CHALLENGE);
    let opened_by = last_letter(&desk);
    let (game_match, sent) = begun(&desk, ANN);
    let lot = lot_of(&desk, &game_match);
    assert_eq!((lot.key, &lot.letters[..]), (pin, &[opened_by][..]));
    assert!(lot.told_at.expect("it was told") < game_match.opened_at);
    let kept = game_match.lot.clone().expect("a lot");
    let whole = [kept.key.reveal(), opened_by.to_string()].concat();
    let bytes: Vec<u8> = (0..whole.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&whole[at..at + 2], 16).expect("a digit"))
        .collect();
    assert_eq!(game_match.key.reveal(), Digest::of(&bytes).to_string());
    let anns = if game_match.house.first.is_none() { Seat::First } else { Seat::Second };
    assert_eq!(lot.seat, Some(anns));
    let invitation = sent.iter().find(|sent| sent.text.contains("A match of")).expect("an invitation");
    assert_eq!(told_pin(invitation), pin);
    let answer = sent.iter().find(|sent| sent.subject.starts_with("Re:")).expect("an answer");
    let next = told_pin(answer);
    assert_ne!(next, pin, "each key is used once");
    assert!(desk.verify(&game_match.id).is_sound());
    desk.write(ANN, &format!("{CHALLENGE} first=me"));
    let second = begun(&desk, ANN).0;
    let lot = lot_of(&desk, &second);
    assert_eq!((lot.key, lot.seat), (next, None), "a seat that was chosen is not drawn");
}

#[test]
fn whoever_was_told_nothing_before_plays_under_a_key_that_says_so() {
    let desk = Desk::knowing(ANN, "");
    desk.write(ANN, &format!("{CHALLENGE} first=me"));
    let (game_match, sent) = begun(&desk, ANN);
    assert_eq!(lot_of(&desk, &game_match).told_at, None);
    let invitation = sent.iter().find(|sent| sent.text.contains("A match of")).expect("an invitation");
    invitation.keeps_silent_of("SHA-256");
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn the_seats_of_an_offer_are_drawn_from_its_key_and_both_letters() {
    let desk = Desk::new();
    desk.know(ANN);
    desk.know(BO);
    for number in 0..4 {
        // A newcomer can reach only a few others a day.
        desk.advance(24);
        let opened = match number % 2 {
            0 => {
                desk.write(ANN, "OPEN quad");
                desk.last_to(ANN)
            }
            _ => {
                desk.write(ANN, &format!("CHALLENGE {BO} quad"));
                desk.last_to(BO)
            }
        };
        let offered_by = last_letter(&desk);
        let pin = told_pin(&opened);
        let verb = if number % 2 == 0 { "JOIN" } else { "ACCEPT" };
        desk.sent_to(BO);
        desk.write(BO, &format!("{verb} {}", code_of(&opened)));
        let (game_match, _) = begun(&desk, BO);
        let lot = lot_of(&desk, &game_match);
        assert_eq!((lot.key, &lot.letters[..]), (pin, &[offered_by, last_letter(&desk)][..]));
        let anns = if game_match.players.first == "ann" { Seat::First } else { Seat::Second };
        assert_eq!(lot.seat, Some(anns));
        assert!(desk.verify(&game_match.id).is_sound());
    }
}

/// Ends a match against the house, drawn from a key that was told before.
fn ended(desk: &Desk) -> Match {
    desk.write(ANN, "GAMES");
    desk.write(ANN, CHALLENGE);
    let (game_match, sent) = begun(desk, ANN);
    let invitation = sent.iter().find(|sent| sent.text.contains("A match of")).expect("an invitation");
    desk.reply(ANN, invitation, "RESIGN CONFIRM");
    let game_match = desk.find(&game_match.id);
    assert_eq!(game_match.stage, Stage::Over);
    game_match
}

#[test]
fn the_end_of_a_match_and_its_dossier_show_the_key() {
    let desk = Desk::knowing(ANN, "");
    let game_match = ended(&desk);
    let key = game_match.lot.as_ref().expect("a lot").key.reveal();
    desk.last_to(ANN).says(&key);
    for form in [DossierForm::Public, DossierForm::Arbiter] {
        let mut files = desk.dossier(&game_match.id, form, false).expect("a dossier");
        let folder = unpacked(&files);
        let (status, said) = checked(folder.path(), &[]);
        assert_eq!(status, 0, "{said}");
        assert!(said.contains("Lot: the secret comes from a key that was drawn before"), "{said}");
        assert_eq!(by_hand(folder.path()), "");
        files.insert("lot.txt".to_owned(), format!("{}\n", "0".repeat(64)).into_bytes());
        let folder = unpacked(&files);
        assert!(checked(folder.path(), &[]).1.contains("lot.txt does not hold the key that the ledger pins"));
        assert!(by_hand(folder.path()).contains("lot.txt is not the key"));
    }
}

/// The verdict after a change to the opening and to the match, with every hash made right again.
fn rewritten(change: impl FnOnce(&mut Entry, &mut Match)) -> AuditVerdict {
    let desk = Desk::knowing(ANN, "");
    let mut game_match = ended(&desk);
    let mut all = entries(&desk, &game_match.id);
    change(&mut all[0], &mut game_match);
    rewrite(&desk, &game_match, all);
    desk.verify(&game_match.id)
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
    assert!(verdict.findings[0].what.contains("it was drawn another time"), "{verdict:#?}");
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
    let verdict = rewritten(|opened, game_match| {
        let lot = game_match.lot.as_mut().expect("a lot");
        lot.letters = vec![Digest::of(b"another")];
        game_match.key = lot.secret();
        lot.seat = lot.clone().draw_seat().seat;
        let (key, pinned) = pinned(opened);
        (*key, *pinned) = (game_match.key.pin(), game_match.lot.as_ref().expect("a lot").pinned());
    });
    assert!(verdict.findings[0].what.contains("another letter than the one that opened"), "{verdict:#?}");
}

#[test]
fn a_key_is_kept_for_each_known_address_alone_until_a_match_is_drawn_from_it_or_its_player_is_forgotten() {
    const EVE: &str = "eve@elsewhere.example";
    let desk = Desk::knowing(ANN, "");
    let kept = |address: &str| {
        let lot = desk.block_on(desk.office().store.next_lot(address)).expect("the store answers");
        lot.map(|lot| lot.key.pin())
    };
    for address in [ANN, EVE] {
        desk.write(address, "GAMES");
    }
    let pin = kept(ANN).expect("Ann was told of one");
    assert_eq!(kept(EVE), None, "a stranger's letters fill no table");
    let game_match = ended(&desk);
    let next = kept(ANN).expect("Ann was told of the next");
    assert_eq!((lot_of(&desk, &game_match).key, next != pin), (pin, true));
    let ann = desk.block_on(desk.office().store.player_by_address(ANN)).expect("the store answers");
    desk.block_on(desk.office().forget(ann.expect("Ann").id)).expect("it is forgotten");
    assert_eq!(kept(ANN), None);
}

#[test]
fn after_a_reopened_match_the_result_says_which_key_came_from_the_lot() {
    let desk = Desk::knowing(ANN, "");
    desk.write(ANN, &format!("{CHALLENGE} first=me"));
    let (game_match, sent) = begun(&desk, ANN);
    let invitation = sent.iter().find(|sent| sent.text.contains("A match of")).expect("an invitation");
    desk.reply(ANN, invitation, "MARBLE E5");
    desk.reply(ANN, &desk.last_to(ANN), "RESIGN CONFIRM");
    desk.write(GM, "GM LIST");
    let rollback = format!("GM MATCH {} ROLLBACK 1 It was a mistake.", game_match.id);
    desk.reply(GM, &desk.last_to(GM), &rollback);
    desk.reply(ANN, &desk.last_to(ANN), "RESIGN CONFIRM");
    let told = desk.sent_to(ANN);
    let result = told.iter().find(|sent| sent.text.contains("For whoever checks the ledger"));
    result.expect("a result").says("come from these keys").says("The first is the SHA-256 of this one");
}
