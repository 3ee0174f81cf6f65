use fogpost::game::Seat;
use fogpost::game::any::GameKind;

use super::Play;

#[test]
fn quad_with_a_swap_stars_a_refusal_and_shown_threats() {
    let mut play = Play::open(GameKind::Quad, &[("swap", "on"), ("trainer", "on")]);
    play.ann("MARBLE F6");
    play.bo("SWAP");
    play.ann("d4");
    play.bo("STAR B2\nMARBLE K4");
    play.ann("MARBLE D5");
    play.bo("MARBLE D4\n\nThat is mine now.");
    play.bo("MARBLE B8");
    play.ann("MARBLE E5");
    play.bo("c4* j9");
    play.ann("MARBLE E4");
    play.ends("quad", "quad", Some(Seat::First));
}
