//! Letters in the words of twelve languages, and how their answers begin: what they offer, and that it does what the
//! letter wished.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use super::almost_orders::both_set_up;
use crate::desk::{ANN, BO, Desk, Sent};
use crate::positions::quad;

/// The lines of the first block that an answer offers, without bars.
fn offered(answer: &Sent) -> Vec<String> {
    let lines = answer.text.lines().map(|line| line.trim().strip_prefix("| "));
    let lines = lines.skip_while(Option::is_none).map_while(|line| line);
    lines.map(str::to_owned).collect()
}

fn held(desk: &Desk, game_match: &Match) -> Option<Vec<String>> {
    desk.find(&game_match.id).held[Seat::First].as_ref().map(|held| held.filing.lines().to_vec())
}

const BOTH: &[&str] = &["SHIP 1 A3 TO A1", "SHIP 3 B2 TO B1"];

/// Orders in words, and those that their answer offers. At the position of the test, ships 1, 2 and 3 are at A3, C1
/// and B2.
const ORDERS: [(&str, &[&str]); 22] = [
    (
        "Ship one from A three to A one and ship three from B two to B one everything else stays put thanks",
        BOTH,
    ),
    ("Schiff 1 A3 nach A1\nSchiff 3 B2 nach B1\nRest bleibt.\n\nGruß, Jürgen", BOTH),
    (
        "Je déplace le vaisseau 1 de A3 vers A1 et le vaisseau 3 de B2 vers B1. Les autres ne bougent pas.",
        BOTH,
    ),
    ("Muevo la nave 1 de A3 a A1 y la nave 3 de B2 a B1. Las demás se quedan quietas.", BOTH),
    ("nave 1 da A3 a A1, nave 3 da B2 a B1, le altre restano ferme.", BOTH),
    ("Navio 1 de A3 para A1, navio 3 de B2 para B1. Os outros ficam.\n\nAbraço", BOTH),
    ("schip 1 gaat van A3 naar A1 en schip 3 van B2 naar B1, de rest blijft liggen.", BOTH),
    ("statek 1 z A3 na A1, statek 3 z B2 na B1, reszta zostaje na miejscu.", BOTH),
    ("loď 1 z A3 na A1, loď 3 z B2 na B1, ostatní zůstávají stát.", BOTH),
    ("корабль 1 из A3 в A1, корабль 3 из B2 в B1, остальные стоят на месте.", BOTH),
    ("1 numaralı gemi A3'ten A1'e, 3 numaralı gemi B2'den B1'e gitsin. Diğerleri yerinde kalsın.", BOTH),
    ("船1はA3からA1へ、船3はB2からB1へ移動します。他の船はそのままでお願いします。", BOTH),
    ("a3-a1, b2-b1", BOTH),
    ("END\n\nSHIP 1 A3 TO A1", &["SHIP 1 A3 TO A1"]),
    ("SHIP 1 A3 TO A1 でお願いします。", &["SHIP 1 A3 TO A1"]),
    ("SHIP 1 A3 TO A1 - let's surprise him!", &["SHIP 1 A3 TO A1"]),
    (
        "Hi, hier meine orders: SHIP 1 A3 nach A1, ship 3 hold bitte. Cheers",
        &["SHIP 1 A3 TO A1", "SHIP 3 HOLD"],
    ),
    ("船1をA3からA1へ移動\n船3は待機", &["SHIP 1 A3 TO A1", "SHIP 3 HOLD"]),
    ("1) Ship 1 A3 to A1\n2) Capture B2 with ship 3 - no wait, don't.", &["SHIP 1 A3 TO A1"]),
    ("Alles blijft staan deze beurt.", &["HOLD"]),
    ("hold please", &["HOLD"]),
    ("pass", &["HOLD"]),
];

#[test]
fn orders_in_words_are_offered_whole_and_yes_files_them() {
    for (text, orders) in ORDERS {
        let desk = Desk::new();
        let (game_match, to_ann, _) = both_set_up(&desk);
        desk.reply(ANN, &to_ann, text);
        let answer = desk.one_to(ANN);
        assert_eq!(offered(&answer), orders, "{text}:\n{}", answer.text);
        assert!(answer.text.lines().count() < 45, "{text}: too long\n{}", answer.text);
        assert_eq!(held(&desk, &game_match), None, "{text}: filed unasked");
        desk.reply(ANN, &answer, "YES");
        desk.one_to(ANN).says("Your orders are sealed");
        let filed = held(&desk, &game_match).expect("orders are filed");
        // `HOLD` alone is filed as no orders.
        let is_filed = orders == ["HOLD"] || filed == orders;
        assert!(is_filed, "{text}: {filed:?}");
    }
}

#[test]
fn a_move_in_words_is_offered_in_quad_and_quantum() {
    for (game, text, order) in [
        (GameKind::Quad, "Ich setze meine Kugel auf G7. Schönen Sonntag noch!", "MARBLE G7"),
        (GameKind::Quad, "Stawiam kulkę na G7. Powodzenia!", "MARBLE G7"),
        (GameKind::Quad, "MARBLE G7 oynuyorum, bol şans!", "MARBLE G7"),
        (GameKind::Quantum, "D3 nach D4\n\nViele Grüße", "D3 D4"),
        (GameKind::Quantum, "Д3-Д4\n\nУдачи!", "D3 D4"),
    ] {
        let desk = Desk::new();
        let game_match = desk.open(game, &[]);
        let to_ann = desk.one_to(ANN);
        desk.reply(ANN, &to_ann, text);
        let answer = desk.one_to(ANN);
        assert_eq!(offered(&answer), [order], "{text}:\n{}", answer.text);
        desk.reply(ANN, &answer, "YES");
        desk.one_to(ANN).says("Your orders are sealed").says(&format!("| {order}"));
        assert_eq!(desk.find(&game_match.id).due().map(|due| due.turn), Some(2), "{text}");
        desk.sent_to(BO);
    }
}

#[test]
fn the_subject_of_a_letter_without_text_is_offered_as_orders() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = both_set_up(&desk);
    let subject = format!("Subject: Re: {}", to_ann.subject);
    let letter = desk.answer(ANN, &to_ann, "");
    desk.receive(&letter.replace(&subject, "Subject: SHIP 1 A3 TO A1, SHIP 3 B2 TO B1"));
    let answer = desk.one_to(ANN);
    answer.says("This is the subject of your letter");
    assert_eq!(offered(&answer), BOTH);
    assert_eq!(held(&desk, &game_match), None);
}

#[test]
fn corrections_that_cannot_stand_together_are_explained() {
    let desk = Desk::new();
    let (_, to_ann, _) = both_set_up(&desk);
    desk.reply(ANN, &to_ann, "Nave 2 de C1 a C2\nCapturar C1");
    let answer = desk.one_to(ANN);
    answer.says("Not all of them can stand together. No ship of yours stays at C1").keeps_silent_of("YES");
    desk.reply(ANN, &to_ann, "If Bo comes to B, ship 1 to A1. Otherwise everything stays.");
    desk.one_to(ANN).says("a condition or a negation, which I cannot follow").keeps_silent_of("For example");
    desk.reply(ANN, &to_ann, "Can ship 1 go from A3 to K4 in one turn?");
    desk.one_to(ANN).says("This is a question").says("K is neither");
}

#[test]
fn a_letter_that_says_nothing_gets_a_short_answer() {
    let desk = Desk::new();
    let (_, to_ann, _) = both_set_up(&desk);
    for text in ["", "?", "Von meinem iPhone gesendet", "NEVER MIND", "Never", "I agree with the extension"] {
        desk.reply(ANN, &to_ann, text);
        let answer = desk.one_to(ANN);
        answer.keeps_silent_of("The board").keeps_silent_of("| EXTEND").keeps_silent_of("code");
        assert!(answer.text.lines().count() < 25, "{text}: too long\n{}", answer.text);
    }
    desk.reply(ANN, &to_ann, "");
    let answer = desk.one_to(ANN);
    assert_eq!(offered(&answer), ["REPORT"]);
    desk.reply(ANN, &answer, "REPORT");
    desk.one_to(ANN).says("The board");
}

#[test]
fn anger_is_met_with_an_apology_and_not_with_the_door() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "THIS IS RIDICULOUS!!! I have sent my orders THREE TIMES. Fix it or I'm out.");
    let answer = desk.one_to(ANN);
    answer.says("I am sorry for the trouble").says("I hold no orders of yours for turn 1");
    answer.says("| PROTEST").keeps_silent_of("LEAVE").keeps_silent_of("RESIGN");
}

#[test]
fn a_setup_in_words_is_offered_as_one_that_the_referee_draws() {
    for (game, text, lines) in [
        (
            GameKind::Pacific,
            "Can you just set it up for me please?",
            &["SETUP line", "SETUP wings", "SETUP deep"][..],
        ),
        (GameKind::Pacific, "I'll take the deep setup", &["SETUP deep"]),
        (
            GameKind::QuadrantZ,
            "Kannst du mir bitte einfach eine fertige Aufstellung geben?",
            &["SETUP balanced"],
        ),
    ] {
        let desk = Desk::new();
        let game_match = desk.open(game, &[]);
        let to_ann = desk.one_to(ANN);
        desk.reply(ANN, &to_ann, text);
        let answer = desk.one_to(ANN);
        assert!(
            offered(&answer).starts_with(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
        );
        assert_eq!(held(&desk, &game_match), None, "{text}");
        desk.reply(ANN, &answer, &offered(&answer)[0]);
        desk.one_to(ANN).says("Your orders are sealed");
    }
}

#[test]
fn a_heading_names_the_turn_in_words() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = both_set_up(&desk);
    for text in
        ["for turn 2:\nSHIP 1 A3 TO A1", "Für Zug 2:\nSHIP 1 A3 TO A1", "Pour le tour 2 :\nSHIP 1 A3 TO A1"]
    {
        desk.reply(ANN, &to_ann, text);
        desk.one_to(ANN).says("These orders are for turn 2; turn 1 is open");
        assert_eq!(held(&desk, &game_match), None, "{text}");
    }
    desk.reply(ANN, &to_ann, "für Zug 1:\nSHIP 1 A3 TO A1");
    desk.one_to(ANN).says("Your orders are sealed");
}
