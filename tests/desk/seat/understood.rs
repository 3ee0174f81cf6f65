//! Letters in the words of each language, and the beginnings of their answers: the lines that they offer, which
//! do what the letter asked for.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use super::almost_orders::both_set_up;
use crate::positions::quad;
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// The lines of the first block that an answer offers, without bars.
fn offered(answer: &Sent) -> Vec<String> {
    let lines = answer.text.lines().map(|line| line.trim().strip_prefix("| "));
    let lines = lines.skip_while(Option::is_none).map_while(|line| line);
    lines.map(str::to_owned).collect()
}

fn held(referee: &Referee, game_match: &Match) -> Option<Vec<String>> {
    referee.find(&game_match.id).filed[Seat::First].as_ref().map(|held| held.filing.lines().to_vec())
}

const BOTH: &[&str] = &["SHIP 1 A3 TO A1", "SHIP 3 B2 TO B1"];

/// Orders in words, and those that their answer offers. At the position of the test, ships 1, 2 and 3 are at A3, C1
/// and B2.
const ORDERS: [(&str, &[&str]); 23] = [
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
    ("skepp 1 går från A3 till A1 och skepp 3 från B2 till B1, resten står kvar.", BOTH),
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
        let referee = Referee::new();
        let (game_match, to_ann, _) = both_set_up(&referee);
        referee.reply(ANN, &to_ann, text);
        let answer = referee.one_to(ANN);
        assert_eq!(offered(&answer), orders, "{text}:\n{}", answer.text);
        assert!(answer.text.lines().count() < 45, "{text}: too long\n{}", answer.text);
        assert_eq!(held(&referee, &game_match), None, "{text}: filed unasked");
        referee.reply(ANN, &answer, "YES");
        referee.one_to(ANN).says("Your orders are sealed");
        let filed = held(&referee, &game_match).expect("orders are filed");
        // `HOLD` alone is filed as no orders.
        let is_filed = orders == ["HOLD"] || filed == orders;
        assert!(is_filed, "{text}: {filed:?}");
    }
}

/// Letters that say that the player does nothing this turn.
const IDLE: [&str; 20] = [
    "I'm not moving this turn.",
    "No orders this turn, thanks!",
    "I do nothing this turn",
    "Ich mache diese Runde nichts.",
    "Diese Runde bewege ich nichts.",
    "Je ne bouge pas ce tour-ci.",
    "Je passe mon tour",
    "Este turno no muevo nada.",
    "In questo turno non mi muovo.",
    "Neste turno não faço nada.",
    "Ik doe deze beurt niets.",
    "W tej turze nie ruszam się.",
    "Toto kolo nic nedělám.",
    "В этом ходу ничего не делаю.",
    "Этот ход пропускаю",
    "Bu tur hareket etmiyorum.",
    "今回は何もしません。",
    "今回は動きません",
    "Jag gör inget den här omgången.",
    "Inga order denna omgång, tack.",
];

#[test]
fn doing_nothing_in_words_is_offered_as_hold() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = both_set_up(&referee);
    for text in IDLE {
        referee.reply(ANN, &to_ann, text);
        assert_eq!(offered(&referee.one_to(ANN)), ["HOLD"], "{text}");
        assert_eq!(held(&referee, &game_match), None, "{text}: filed unasked");
    }
}

#[test]
fn every_capture_in_words_is_offered_as_those_that_are_legal() {
    for text in [
        "Capture everything you can",
        "Erobere alles!",
        "Capturez tout",
        "Captura todo",
        "Cattura tutto per favore",
        "Capture tudo",
        "Verover alles",
        "Zdobądź wszystko",
        "Захвати всё",
        "全部占領してください",
        "Erövra allt!",
    ] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = both_set_up(&referee);
        referee.reply(ANN, &to_ann, text);
        let answer = referee.one_to(ANN);
        assert_eq!(offered(&answer), ["CAPTURE C1"], "{text}:\n{}", answer.text);
        referee.reply(ANN, &answer, "YES");
        referee.one_to(ANN).says("Your orders are sealed");
        assert_eq!(held(&referee, &game_match).map(|lines| lines.len()), Some(1));
    }
}

#[test]
fn a_question_about_the_rules_gets_their_section() {
    let referee = Referee::new();
    let (_, to_ann, _) = both_set_up(&referee);
    referee.reply(ANN, &to_ann, "How do I build a new ship?");
    referee
        .one_to(ANN)
        .says("You build at a star in your home quadrant")
        .keeps_silent_of("Your orders for turn");
    for text in [
        "Wie baue ich ein neues Schiff?",
        "Comment construire un nouveau vaisseau ?",
        "¿Cómo construyo una nave nueva?",
        "Come si costruisce una nuova nave?",
        "Como posso construir um novo navio?",
        "Hoe bouw ik een nieuw schip?",
        "Jak zbudować nowy statek?",
        "Jak postavit novou loď?",
        "Как построить новый корабль?",
        "Nasıl yeni bir gemi inşa ederim?",
        "新しい船の作り方を教えてください。",
    ] {
        referee.reply(ANN, &to_ann, text);
        let answer = referee.one_to(ANN);
        answer.says("at a star in your home quadrant");
        answer.keeps_silent_of("Exploring").keeps_silent_of("Your orders for turn");
        assert!(answer.text.lines().count() < 40, "{text}: too long\n{}", answer.text);
    }
    referee.reply(ANN, &to_ann, "help capture please");
    referee.one_to(ANN).says("Nothing is captured unless you say so").keeps_silent_of("Not read");
}

#[test]
fn a_question_about_the_signs_gets_the_board_with_its_legend() {
    for (game, legend) in [
        (GameKind::QuadrantZ, "not explored"),
        (GameKind::Quantum, "square, circle and queen"),
        (GameKind::Quad, "marbles of Black and White"),
    ] {
        let referee = Referee::new();
        referee.open(game, &[]);
        let to_ann = referee.one_to(ANN);
        for text in
            ["What does 3* mean on the map?", "Was bedeuten die Zeichen?", "記号の意味を教えてください"]
        {
            referee.reply(ANN, &to_ann, text);
            let answer = referee.one_to(ANN);
            answer.says("with its signs explained").says(legend);
            assert_eq!(answer.pictures, 1, "{game}: {text}");
        }
    }
}

#[test]
fn a_letter_that_only_says_stop_is_told_how_to_get_fewer_letters() {
    let referee = Referee::new();
    let (_, to_ann, _) = both_set_up(&referee);
    for text in [
        "Stop",
        "Please stop.",
        "unsubscribe",
        "Aufhören!",
        "Arrêtez",
        "Basta",
        "Pare",
        "Stoppen",
        "Dość!",
        "Dost",
        "Хватит",
        "Yeter",
        "やめてください",
    ] {
        referee.reply(ANN, &to_ann, text);
        assert_eq!(offered(&referee.one_to(ANN)), ["SETTINGS receipts=faults digest=daily"], "{text}");
    }
}

#[test]
fn a_bare_accept_needs_no_code() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    for text in ["Accept", "accept!", "Decline"] {
        referee.reply(ANN, &to_ann, text);
        referee.one_to(ANN).keeps_silent_of("code").says("waits for your");
    }
    referee.reply(BO, &to_bo, "EXTEND 3 days");
    referee.sent_to(BO);
    let asked = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "Accept");
    assert_eq!(offered(&referee.one_to(ANN)), ["AGREE"]);
    referee.reply(ANN, &asked, "Accept");
    referee.last_to(ANN).says("the deadline has moved");
}

#[test]
fn sympathy_with_the_opponent_is_not_the_writers_own_grief() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.sent_to(GM);
    for (text, message) in [
        ("I heard Bo's father died, please give him my condolences.", "I heard Bo's father died"),
        ("Tell Bo I am sorry about his father", "I am sorry about his father"),
        ("Bos Vater ist gestorben. Bitte richte ihm mein Beileid aus.", "Bos Vater ist gestorben"),
        ("Le père de Bo est décédé, toutes mes condoléances.", "mes condoléances"),
        ("El padre de Bo ha muerto, mi sentido pésame.", "sentido pésame"),
        ("È morto suo padre, le mie condoglianze.", "condoglianze"),
        ("O pai do Bo morreu, os meus pêsames.", "pêsames"),
        ("Zijn vader is overleden, gecondoleerd.", "gecondoleerd"),
        ("Jego ojciec zmarł, kondolencje.", "kondolencje"),
        ("Zemřel mu otec, upřímnou soustrast.", "soustrast"),
        ("У него умер отец, мои соболезнования.", "соболезнования"),
        ("Bo'nun babası vefat etmiş, başı sağ olsun.", "başı sağ olsun"),
        ("Boさんのお父さんが亡くなったそうで、お悔やみ申し上げます。", "お悔やみ"),
    ] {
        referee.reply(ANN, &to_ann, text);
        let answer = referee.one_to(ANN);
        answer.says("To send this to Bo").says("| TELL").says(message).keeps_silent_of("EXTEND");
        assert!(!referee.find(&game_match.id).in_trouble[Seat::First], "{text}");
    }
    for text in ["Sorry Bo, my father died yesterday.", "My wife's mother died, my condolences to all."] {
        referee.reply(ANN, &to_ann, text);
        referee.one_to(ANN).says("I am very sorry to hear this");
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
        let referee = Referee::new();
        let game_match = referee.open(game, &[]);
        let to_ann = referee.one_to(ANN);
        referee.reply(ANN, &to_ann, text);
        let answer = referee.one_to(ANN);
        assert_eq!(offered(&answer), [order], "{text}:\n{}", answer.text);
        referee.reply(ANN, &answer, "YES");
        referee.one_to(ANN).says("Your orders are sealed").says(&format!("| {order}"));
        assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2), "{text}");
        referee.sent_to(BO);
    }
}

#[test]
fn the_subject_of_a_letter_without_text_is_offered_as_orders() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = both_set_up(&referee);
    let subject = format!("Subject: Re: {}", to_ann.subject);
    let letter = referee.answer(ANN, &to_ann, "");
    referee.receive(&letter.replace(&subject, "Subject: SHIP 1 A3 TO A1, SHIP 3 B2 TO B1"));
    let answer = referee.one_to(ANN);
    answer.says("This is the subject of your letter");
    assert_eq!(offered(&answer), BOTH);
    assert_eq!(held(&referee, &game_match), None);
}

#[test]
fn an_order_written_over_the_form_in_the_quote_is_named_and_offered() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let overwritten = |above: &str, written: &str| {
        let letter = referee.answer(ANN, &to_ann, above);
        let example = letter.lines().find(|line| line.starts_with(">     | MARBLE ")).expect("an example");
        referee.receive(&letter.replacen(example, written, 1));
        assert_eq!(
            referee.find(&game_match.id).due().map(|due| due.turn),
            Some(1),
            "{written}: filed unasked"
        );
        referee.one_to(ANN)
    };
    let named = "You seem to have changed this line in the quote of my letter";
    overwritten("", "> MARBLE Z99").keeps_silent_of(named);
    for (above, written) in [("", ">     | MARBLE G7"), ("Good luck!", "> MARBLE G7")] {
        let answer = overwritten(above, written);
        answer.says(named).says("> MARBLE G7").says("I file them: | MARBLE G7");
    }
    let answer = overwritten("", ">     | MARBLE G7");
    // Beside an order of the letter itself it is only named.
    let letter = referee.answer(ANN, &to_ann, "CHECK\nMARBLE C3");
    referee.receive(&letter.replacen(">     | MARBLE ", "> MARBLE G7\n>     | MARBLE ", 1));
    referee
        .one_to(ANN)
        .says("These orders are valid: | MARBLE C3")
        .says("> MARBLE G7")
        .keeps_silent_of(named);
    referee.reply(ANN, &answer, "YES");
    referee.one_to(ANN).says("Your orders are sealed").says("| MARBLE G7");
}

#[test]
fn an_assent_below_a_servers_banner_is_a_yes_and_an_order_right_below_it_waits_for_nothing() {
    for (banner, assent) in [
        (
            "ACHTUNG: Diese E-Mail stammt von einem externen Absender. Bitte keine Links oder Anhänge öffnen.",
            "Ja bitte",
        ),
        (
            "CAUTION: This email originated from outside of the organization. Do not click links.",
            "Yes please",
        ),
        ("Attention : courriel externe. Ne cliquez pas sur les liens.", "Oui, merci"),
    ] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        referee.reply(ANN, &to_ann, "MARBEL G7");
        let offer = referee.one_to(ANN);
        referee.reply(ANN, &offer, &format!("{banner}\n\n{assent}"));
        referee.one_to(ANN).says("Your orders are sealed").says("| MARBLE G7");
        let to_bo = referee.one_to(BO);
        referee.reply(BO, &to_bo, &format!("{banner}\nSTAR C3\nMARBLE C4"));
        assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(3), "{banner}");
    }
}

#[test]
fn an_order_within_a_quote_by_bars_is_filed() {
    for (above, within) in [("", "MARBLE G7"), ("MARBLE G7", "")] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        let letter = referee.answer(ANN, &to_ann, above);
        let form = letter.lines().find(|line| line.starts_with(">     | MARBLE ")).expect("an example");
        let letter = letter.replacen(form, &format!("{within}\n{form}"), 1);
        referee.receive(&letter.replace("\n>", "\n|"));
        referee.one_to(ANN).says("Your orders are sealed").says("| MARBLE G7");
        assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
    }
}

#[test]
fn orders_below_what_may_introduce_an_older_letter_are_asked() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = both_set_up(&referee);
    for (text, order) in [
        ("In reply to:\nSHIP 1 A3 TO A1", "SHIP 1 A3 TO A1"),
        ("SHIP 1 A3 TO A1\n\nIn reply to:\nSHIP 3 B2 TO B1\nEXTEND 3 days", "SHIP 1 A3 TO A1"),
        ("SHIP 1 A3 TO A1\n\nვისგან: Ann\nთარიღი: გუშინ\nვის: Bo\n\nSHIP 3 B2 TO B1", "SHIP 1 A3 TO A1"),
    ] {
        referee.reply(ANN, &to_ann, text);
        let answer = referee.one_to(ANN);
        answer.says("what may be the heading of an older letter");
        assert_eq!(held(&referee, &game_match), None, "{text}");
        assert_eq!(referee.find(&game_match.id).extension, None, "{text}");
        if !text.contains("EXTEND") {
            assert_eq!(offered(&answer), [order], "{text}:\n{}", answer.text);
        }
    }
    referee.reply(ANN, &to_ann, "My moves for Sat 16 May, 20:00:\nSHIP 1 A3 TO A1");
    referee.one_to(ANN).says("They are sealed");
}

#[test]
fn corrections_that_cannot_stand_together_are_explained() {
    let referee = Referee::new();
    let (_, to_ann, _) = both_set_up(&referee);
    referee.reply(ANN, &to_ann, "Nave 2 de C1 a C2\nCapturar C1");
    let answer = referee.one_to(ANN);
    answer.says("Not all of them can stand together. No ship of yours stays at C1").keeps_silent_of("YES");
    referee.reply(ANN, &to_ann, "If Bo comes to B, ship 1 to A1. Otherwise everything stays.");
    referee
        .one_to(ANN)
        .says("a word such as \"if\" or \"not\", which I cannot follow")
        .keeps_silent_of("For example");
    referee.reply(ANN, &to_ann, "Can ship 1 go from A3 to K4 in one turn?");
    referee.one_to(ANN).says("This is a question").says("K is neither");
}

#[test]
fn a_letter_that_says_nothing_gets_a_short_answer() {
    let referee = Referee::new();
    let (_, to_ann, _) = both_set_up(&referee);
    for text in ["", "?", "Von meinem iPhone gesendet", "NEVER MIND", "Never", "I agree with the extension"] {
        referee.reply(ANN, &to_ann, text);
        let answer = referee.one_to(ANN);
        answer.keeps_silent_of("The board").keeps_silent_of("| EXTEND").keeps_silent_of("code");
        assert!(answer.text.lines().count() < 25, "{text}: too long\n{}", answer.text);
    }
    referee.reply(ANN, &to_ann, "");
    let answer = referee.one_to(ANN);
    assert_eq!(offered(&answer), ["REPORT"]);
    referee.reply(ANN, &answer, "REPORT");
    referee.one_to(ANN).says("The board");
}

#[test]
fn anger_is_met_with_an_apology_and_not_with_the_door() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(
        ANN,
        &to_ann,
        "THIS IS RIDICULOUS!!! I have sent my orders THREE TIMES. Fix it or I'm out.",
    );
    let answer = referee.one_to(ANN);
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
        let referee = Referee::new();
        let game_match = referee.open(game, &[]);
        let to_ann = referee.one_to(ANN);
        referee.reply(ANN, &to_ann, text);
        let answer = referee.one_to(ANN);
        assert!(
            offered(&answer).starts_with(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
        );
        assert_eq!(held(&referee, &game_match), None, "{text}");
        referee.reply(ANN, &answer, &offered(&answer)[0]);
        referee.one_to(ANN).says("Your orders are sealed");
    }
}

#[test]
fn a_heading_names_the_turn_in_words() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = both_set_up(&referee);
    for text in
        ["for turn 2:\nSHIP 1 A3 TO A1", "Für Zug 2:\nSHIP 1 A3 TO A1", "Pour le tour 2 :\nSHIP 1 A3 TO A1"]
    {
        referee.reply(ANN, &to_ann, text);
        referee.one_to(ANN).says("These orders are for turn 2; turn 1 is open");
        assert_eq!(held(&referee, &game_match), None, "{text}");
    }
    referee.reply(ANN, &to_ann, "für Zug 1:\nSHIP 1 A3 TO A1");
    referee.one_to(ANN).says("Your orders are sealed");
}
