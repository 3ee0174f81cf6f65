//! Letters that were dropped, and that a GM accepts: the decisions that this overrules, and those that it
//! never does.

use fogpost::daemon::GmIndex;
use fogpost::daemon::instruct;
use fogpost::referee::Instruction;
use fogpost::report::GmResult;
use fogpost::store::{LetterRow, LetterStatus};

use crate::audit::database::letter_causes;
use crate::positions::quad;
use crate::referee::{ANN, GM, Referee, Sent};

/// A letter with a mark of automatic mail.
fn marked(from: &str, to: &Sent, body: &str) -> String {
    format!(
        "From: {from}\nTo: {}\nSubject: Re: {}\nMessage-ID: <marked@players.example>\nIn-Reply-To: <{}>\n\
         Auto-Submitted: auto-replied\n\n{body}\n",
        to.reply_to, to.subject, to.message_id
    )
}

fn last_letter(referee: &Referee) -> LetterRow {
    referee.letters().into_iter().next().expect("a letter")
}

fn accept(referee: &Referee, digest: &str) -> GmResult {
    accept_as(referee, GmIndex::default(), digest)
}

fn accept_as(referee: &Referee, gm: GmIndex, digest: &str) -> GmResult {
    let instruction = Instruction::AcceptLetter { digest: digest.to_owned() };
    let done = referee
        .block_on(instruct::carry_out_as(referee.office(), gm, &instruction, None, false))
        .expect("the store answers");
    referee.work();
    done
}

#[test]
fn a_marked_letter_that_a_gm_accepts_is_ruled_on_now_and_the_ledger_names_the_gm() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.receive(&marked(ANN, &to_ann, "MARBLE E5"));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    referee.sleep(2);
    let digest = last_letter(&referee).digest.to_string();
    let done = accept(&referee, &digest[..12]);
    assert!(matches!(&done, GmResult::Accepted { letter, .. } if *letter == digest[..12]), "{done:?}");
    assert_eq!(last_letter(&referee).status, LetterStatus::Ruled);
    let told = referee.sent_to(ANN);
    told.iter().find(|sent| sent.text.contains("sealed")).expect("a receipt").says(
        "Your letter came on Thu 7 May, 12:00 CEST, but I did not rule on it then. The GM has asked me to",
    );
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    let causes = letter_causes(&referee, &game_match.id);
    assert!(causes.iter().any(|cause| cause.accepted_by.as_deref() == Some("The GM")), "{causes:#?}");
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn gm_accept_in_a_letter_rules_on_a_letter_of_the_digest() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.receive(&marked(ANN, &to_ann, "STATUS"));
    referee.advance(26);
    let digest = referee.sent_to(GM).into_iter().find(|sent| sent.subject.starts_with("The day at"));
    let digest = digest.expect("a digest");
    digest.says("Answer with GM ACCEPT and its number");
    let number = last_letter(&referee).digest.to_string()[..12].to_owned();
    digest.says(&number);
    referee.sent_to(ANN);
    referee.reply(GM, &digest, &format!("CHECK\nGM ACCEPT {number}"));
    referee.last_to(GM).says("This would be done");
    assert!(referee.sent_to(ANN).is_empty());
    referee.reply(GM, &digest, &format!("GM ACCEPT {number}"));
    referee.last_to(GM).says(&format!("I rule on the letter {number} from {ANN} now"));
    referee.one_to(ANN).says("waits for your orders");
    assert!(letter_causes(&referee, &game_match.id).iter().any(|cause| cause.accepted_by.is_some()));
    referee.reply(GM, &digest, &format!("GM ACCEPT {number}"));
    referee.last_to(GM).says("It has been answered already");
    referee.reply(GM, &digest, "GM ACCEPT 000000\nGM ACCEPT xyz");
    referee.last_to(GM).says("There is no letter 000000").says("ACCEPT needs the number of a letter");
}

#[test]
fn an_accepted_letter_of_a_stranger_is_answered() {
    let referee = Referee::new();
    let shop = "service@shop.example";
    referee.write(shop, "The parcel has left our warehouse and arrives on Friday.");
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    assert!(accept(&referee, &last_letter(&referee).digest.to_string()).is_done());
    referee.one_to(shop);
    assert_eq!(last_letter(&referee).status, LetterStatus::Answered);
}

#[test]
fn accepting_never_overrules_who_wrote() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.receive(&marked("eve@elsewhere.example", &to_ann, "MARBLE E5"));
    let digest = last_letter(&referee).digest.to_string();
    assert!(accept(&referee, &digest).is_done());
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0, "the player is asked first");
    let asked = referee.one_to(ANN);
    asked.says("eve@elsewhere.example");
    assert_eq!(last_letter(&referee).status, LetterStatus::Ignored);
    let again = accept(&referee, &digest);
    assert!(
        matches!(&again, GmResult::Refused { says } if says.contains("because of who wrote it")),
        "{again:?}"
    );
}

#[test]
fn a_gm_who_plays_in_the_match_accepts_no_letter_of_it() {
    let referee = Referee::with_gms(
        "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
         [[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n",
    );
    let (game_match, to_ann, _) = quad(&referee);
    referee.receive(&marked(ANN, &to_ann, "MARBLE E5"));
    let digest = last_letter(&referee).digest.to_string();
    let refused = accept_as(&referee, GmIndex(1), &digest);
    assert!(matches!(&refused, GmResult::Refused { says } if says.contains("another GM")), "{refused:?}");
    assert_eq!(last_letter(&referee).status, LetterStatus::Automatic);
    assert!(accept_as(&referee, GmIndex(0), &digest).is_done());
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_letter_beyond_a_limit_can_be_accepted() {
    let referee = Referee::with("[letters]\nmax_bytes = 1000000\n");
    let (game_match, to_ann, _) = quad(&referee);
    let big = format!("MARBLE E5\n{}", "# a long comment that fills the letter\n".repeat(30_000));
    referee.reply(ANN, &to_ann, &big);
    assert_eq!(referee.last_status(), LetterStatus::Answered);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    assert!(accept(&referee, &last_letter(&referee).digest.to_string()).is_done());
    assert_eq!(last_letter(&referee).status, LetterStatus::Ruled, "{}", last_letter(&referee).note);
}

#[test]
fn accepted_orders_do_not_replace_those_that_the_seat_filed_since() {
    let referee = Referee::new();
    let game_match = referee.open(fogpost::game::any::GameKind::Pacific, &[("submarines", "false")]);
    let to_ann = referee.one_to(ANN);
    let fleet = crate::positions::FLEET;
    referee.receive(&marked(ANN, &to_ann, fleet));
    referee.sleep(1);
    let other = fleet.replace("A3 C3", "A4 C3");
    referee.reply(ANN, &to_ann, &other);
    referee.one_to(ANN).says("Your orders are sealed");
    let first = referee.letters().into_iter().find(|row| row.status == LetterStatus::Automatic);
    assert!(accept(&referee, &first.expect("the marked letter").digest.to_string()).is_done());
    referee.one_to(ANN).says("You filed other orders after this letter came; they stand.");
    assert!(referee.find(&game_match.id).filed.first.is_some());
}
