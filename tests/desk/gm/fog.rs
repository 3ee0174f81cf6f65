//! In games that hide something, a player's words do not reach a GM who plays against that player, or reveal nothing
//! of the position.

use fogpost::game::any::GameKind;

use crate::referee::{ANN, BO, Referee};
use crate::seat::almost_orders::both_set_up;

const CY: &str = "cy@players.example";

fn gm(name: &str, address: &str) -> String {
    format!("[[club.gm]]\nname = \"{name}\"\naddress = \"{address}\"\n")
}

/// Words with orders of Quadrant Z in other forms, and lines that reveal nothing.
const WORDS: &str = "Dear GM, I am ill.\nNave 1 da A3 a A1\nstatek 3 zostaje\nSee you soon";

#[test]
fn the_only_gm_who_plays_reads_no_line_about_the_position() {
    let referee = Referee::with_gms(&gm("Bo", BO));
    let (_, report, _) = both_set_up(&referee);
    let quad = referee.open(GameKind::Quad, &[]);
    let letters = referee.sent_to(ANN);
    let in_quad = letters.iter().find(|sent| sent.subject.contains(&quad.id)).expect("an invitation");
    referee.sent_to(BO);
    referee.reply(ANN, &report, WORDS);
    referee.sent_to(ANN);
    referee.reply(ANN, in_quad, &format!("{WORDS}\nSHIP 1 A3 TO A1"));
    referee.sent_to(ANN);
    referee.reply(ANN, in_quad, "Hello,\nNave 1 da A3 a A1\nA presto");
    referee.sent_to(ANN);
    referee.advance(24);
    let told = referee.sent_to(BO);
    assert!(told.iter().any(|sent| sent.text.contains("I am ill")), "{told:?}");
    for letter in &told {
        assert!(!letter.text.contains("A3 a A1") && !letter.text.contains("statek 3"), "{}", letter.text);
        assert!(!letter.text.contains("A3 TO A1"), "{}", letter.text);
    }
    referee.sent_to(ANN);
}

#[test]
fn the_gm_who_does_not_play_reads_words_from_any_match() {
    let referee = Referee::with_gms(&(gm("Bo", BO) + &gm("Cy", CY)));
    let (_, report, _) = both_set_up(&referee);
    let quad = referee.open(GameKind::Quad, &[]);
    let letters = referee.sent_to(ANN);
    let in_quad = letters.iter().find(|sent| sent.subject.contains(&quad.id)).expect("an invitation");
    referee.sent_to(BO);
    referee.sent_to(CY);
    referee.reply(ANN, in_quad, WORDS);
    referee.one_to(CY).says("I am ill").says("See you soon");
    referee.reply(ANN, &report, "Hello,\nmy ships are fine\nA presto");
    referee.advance(24);
    for letter in referee.sent_to(BO) {
        assert!(
            !letter.text.contains("my ships are fine") && !letter.text.contains("I am ill"),
            "{}",
            letter.text
        );
    }
    assert!(referee.sent_to(CY).iter().any(|sent| sent.text.contains("my ships are fine")));
    referee.sent_to(ANN);
}
