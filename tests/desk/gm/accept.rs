//! Letters that were dropped, and that a GM accepts: the decisions that this overrules, and those that it
//! never does.

use fogpost::daemon::GmIndex;
use fogpost::daemon::instruct;
use fogpost::referee::Instruction;
use fogpost::report::GmResult;
use fogpost::store::{LetterRow, LetterStatus};

use crate::audit::database::letter_causes;
use crate::desk::{ANN, Desk, GM, Sent};
use crate::positions::quad;

/// A letter with a mark of automatic mail.
fn marked(from: &str, to: &Sent, body: &str) -> String {
    format!(
        "From: {from}\nTo: {}\nSubject: Re: {}\nMessage-ID: <marked@players.example>\nIn-Reply-To: <{}>\n\
         Auto-Submitted: auto-replied\n\n{body}\n",
        to.reply_to, to.subject, to.message_id
    )
}

fn last_letter(desk: &Desk) -> LetterRow {
    desk.letters().into_iter().next().expect("a letter")
}

fn accept(desk: &Desk, digest: &str) -> GmResult {
    accept_as(desk, GmIndex::default(), digest)
}

fn accept_as(desk: &Desk, gm: GmIndex, digest: &str) -> GmResult {
    let instruction = Instruction::AcceptLetter { digest: digest.to_owned() };
    let done = desk
        .block_on(instruct::carry_out_as(desk.office(), gm, &instruction, None, false))
        .expect("the store answers");
    desk.work();
    done
}

#[test]
fn a_marked_letter_that_a_gm_accepts_is_ruled_on_now_and_the_ledger_names_the_gm() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.receive(&marked(ANN, &to_ann, "MARBLE E5"));
    assert_eq!(desk.last_status(), LetterStatus::Automatic);
    desk.sleep(2);
    let digest = last_letter(&desk).digest.to_string();
    let done = accept(&desk, &digest[..12]);
    assert!(matches!(&done, GmResult::Accepted { letter, .. } if *letter == digest[..12]), "{done:?}");
    assert_eq!(last_letter(&desk).status, LetterStatus::Ruled);
    let told = desk.sent_to(ANN);
    told.iter().find(|sent| sent.text.contains("sealed")).expect("a receipt").says(
        "Your letter came on Thu 7 May, 12:00 CEST, but I did not rule on it then. The GM has asked me to",
    );
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    let causes = letter_causes(&desk, &game_match.id);
    assert!(causes.iter().any(|cause| cause.accepted_by.as_deref() == Some("The GM")), "{causes:#?}");
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn gm_accept_in_a_letter_rules_on_a_letter_of_the_digest() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.receive(&marked(ANN, &to_ann, "STATUS"));
    desk.advance(26);
    let digest = desk.sent_to(GM).into_iter().find(|sent| sent.subject.starts_with("The day at"));
    let digest = digest.expect("a digest");
    digest.says("Answer with GM ACCEPT and its number");
    let number = last_letter(&desk).digest.to_string()[..12].to_owned();
    digest.says(&number);
    desk.sent_to(ANN);
    desk.reply(GM, &digest, &format!("CHECK\nGM ACCEPT {number}"));
    desk.last_to(GM).says("This would be done");
    assert!(desk.sent_to(ANN).is_empty());
    desk.reply(GM, &digest, &format!("GM ACCEPT {number}"));
    desk.last_to(GM).says(&format!("I rule on the letter {number} from {ANN} now"));
    desk.one_to(ANN).says("waits for your orders");
    assert!(letter_causes(&desk, &game_match.id).iter().any(|cause| cause.accepted_by.is_some()));
    desk.reply(GM, &digest, &format!("GM ACCEPT {number}"));
    desk.last_to(GM).says("It has been answered already");
    desk.reply(GM, &digest, "GM ACCEPT 000000\nGM ACCEPT xyz");
    desk.last_to(GM).says("There is no letter 000000").says("ACCEPT needs the number of a letter");
}

#[test]
fn an_accepted_letter_of_a_stranger_is_answered() {
    let desk = Desk::new();
    let shop = "service@shop.example";
    desk.write(shop, "The parcel has left our warehouse and arrives on Friday.");
    assert_eq!(desk.last_status(), LetterStatus::Automatic);
    assert!(accept(&desk, &last_letter(&desk).digest.to_string()).is_done());
    desk.one_to(shop);
    assert_eq!(last_letter(&desk).status, LetterStatus::Answered);
}

#[test]
fn accepting_never_overrules_who_wrote() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.receive(&marked("eve@elsewhere.example", &to_ann, "MARBLE E5"));
    let digest = last_letter(&desk).digest.to_string();
    assert!(accept(&desk, &digest).is_done());
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 0, "the player is asked first");
    let asked = desk.one_to(ANN);
    asked.says("eve@elsewhere.example");
    assert_eq!(last_letter(&desk).status, LetterStatus::Ignored);
    let again = accept(&desk, &digest);
    assert!(
        matches!(&again, GmResult::Refused { says } if says.contains("because of who wrote it")),
        "{again:?}"
    );
}

#[test]
fn a_gm_who_plays_in_the_match_accepts_no_letter_of_it() {
    let desk = Desk::with_gms(
        "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
         [[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n",
    );
    let (game_match, to_ann, _) = quad(&desk);
    desk.receive(&marked(ANN, &to_ann, "MARBLE E5"));
    let digest = last_letter(&desk).digest.to_string();
    let refused = accept_as(&desk, GmIndex(1), &digest);
    assert!(matches!(&refused, GmResult::Refused { says } if says.contains("another GM")), "{refused:?}");
    assert_eq!(last_letter(&desk).status, LetterStatus::Automatic);
    assert!(accept_as(&desk, GmIndex(0), &digest).is_done());
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_letter_beyond_a_limit_can_be_accepted() {
    let desk = Desk::with("[letters]\nmax_bytes = 1000000\n");
    let (game_match, to_ann, _) = quad(&desk);
    let big = format!("MARBLE E5\n{}", "# a long comment that fills the letter\n".repeat(30_000));
    desk.reply(ANN, &to_ann, &big);
    assert_eq!(desk.last_status(), LetterStatus::Answered);
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 0);
    assert!(accept(&desk, &last_letter(&desk).digest.to_string()).is_done());
    assert_eq!(last_letter(&desk).status, LetterStatus::Ruled, "{}", last_letter(&desk).note);
}

#[test]
fn accepted_orders_do_not_replace_those_that_the_seat_filed_since() {
    let desk = Desk::new();
    let game_match = desk.open(fogpost::game::any::GameKind::Pacific, &[("submarines", "false")]);
    let to_ann = desk.one_to(ANN);
    let fleet = crate::positions::FLEET;
    desk.receive(&marked(ANN, &to_ann, fleet));
    desk.sleep(1);
    let other = fleet.replace("A3 C3", "A4 C3");
    desk.reply(ANN, &to_ann, &other);
    desk.one_to(ANN).says("Your orders are sealed");
    let first = desk.letters().into_iter().find(|row| row.status == LetterStatus::Automatic);
    assert!(accept(&desk, &first.expect("the marked letter").digest.to_string()).is_done());
    desk.one_to(ANN).says("You filed other orders after this letter came; they stand.");
    assert!(desk.find(&game_match.id).held.first.is_some());
}
