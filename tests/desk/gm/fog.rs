//! In games that hide something, a player's words do not reach a GM who plays against that player, or reveal nothing
//! of the position.

use fogpost::game::any::GameKind;

use crate::desk::{ANN, BO, Desk};
use crate::seat::almost_orders::both_set_up;

const CY: &str = "cy@players.example";

fn gm(name: &str, address: &str) -> String {
    format!("[[club.gm]]\nname = \"{name}\"\naddress = \"{address}\"\n")
}

/// Words with orders of Quadrant Z in other forms, and lines that reveal nothing.
const WORDS: &str = "Dear GM, I am ill.\nNave 1 da A3 a A1\nstatek 3 zostaje\nSee you soon";

#[test]
fn the_only_gm_who_plays_reads_no_line_about_the_position() {
    let desk = Desk::with_gms(&gm("Bo", BO));
    let (_, report, _) = both_set_up(&desk);
    let quad = desk.open(GameKind::Quad, &[]);
    let letters = desk.sent_to(ANN);
    let in_quad = letters.iter().find(|sent| sent.subject.contains(&quad.id)).expect("an invitation");
    desk.sent_to(BO);
    desk.reply(ANN, &report, WORDS);
    desk.sent_to(ANN);
    desk.reply(ANN, in_quad, &format!("{WORDS}\nSHIP 1 A3 TO A1"));
    desk.sent_to(ANN);
    desk.reply(ANN, in_quad, "Hello,\nNave 1 da A3 a A1\nA presto");
    desk.sent_to(ANN);
    desk.advance(24);
    let told = desk.sent_to(BO);
    assert!(told.iter().any(|sent| sent.text.contains("I am ill")), "{told:?}");
    for letter in &told {
        assert!(!letter.text.contains("A3 a A1") && !letter.text.contains("statek 3"), "{}", letter.text);
        assert!(!letter.text.contains("A3 TO A1"), "{}", letter.text);
    }
    desk.sent_to(ANN);
}

#[test]
fn the_gm_who_does_not_play_reads_words_from_any_match() {
    let desk = Desk::with_gms(&(gm("Bo", BO) + &gm("Cy", CY)));
    let (_, report, _) = both_set_up(&desk);
    let quad = desk.open(GameKind::Quad, &[]);
    let letters = desk.sent_to(ANN);
    let in_quad = letters.iter().find(|sent| sent.subject.contains(&quad.id)).expect("an invitation");
    desk.sent_to(BO);
    desk.sent_to(CY);
    desk.reply(ANN, in_quad, WORDS);
    desk.one_to(CY).says("I am ill").says("See you soon");
    desk.reply(ANN, &report, "Hello,\nmy ships are fine\nA presto");
    desk.advance(24);
    for letter in desk.sent_to(BO) {
        assert!(
            !letter.text.contains("my ships are fine") && !letter.text.contains("I am ill"),
            "{}",
            letter.text
        );
    }
    assert!(desk.sent_to(CY).iter().any(|sent| sent.text.contains("my ships are fine")));
    desk.sent_to(ANN);
}
