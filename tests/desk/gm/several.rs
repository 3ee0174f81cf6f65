//! Several GMs: their rights, the letters that each gets, and what a GM who plays never reads.

use fogpost::game::any::GameKind;
use fogpost::referee::{Match, Stage};

use crate::referee::{ANN, BO, Referee, Sent};

const KIM: &str = "kim@club.example";
const LEE: &str = "lee@club.example";

/// Kim looks after everything, and Lee only after Pacific.
const KIM_AND_LEE: &str = "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
    [[club.gm]]\nname = \"Lee\"\naddress = \"lee@club.example\"\nalso = [\"lee@home.example\"]\ngames = [\"pacific\"]\n";

/// Both look after everything, and Bo plays.
const KIM_AND_BO: &str = "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
    [[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n";

/// The letter that brings a GM their reply token.
fn token_letter(referee: &Referee, gm: &str) -> Sent {
    referee.sent_to(gm);
    referee.write(gm, "GM LIST");
    referee.one_to(gm)
}

fn ledger(referee: &Referee, game_match: &Match) -> String {
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    entries.into_iter().map(|entry| entry.json).collect()
}

fn quad_with(gms: &str) -> (Referee, Match) {
    let referee = Referee::with_gms(gms);
    let game_match = referee.open(GameKind::Quad, &[]);
    (referee, game_match)
}

#[test]
fn the_ledger_names_the_gm_who_acted_and_the_answer_goes_to_whoever_wrote() {
    let (referee, game_match) = quad_with(KIM_AND_LEE);
    let to_lee = token_letter(&referee, LEE);
    referee.sent_to(KIM);
    referee.reply("lee@home.example", &to_lee, &format!("GM MATCH {} EXTEND 3 days", game_match.id));
    referee.one_to("lee@home.example").says("Done. The match now");
    assert!(referee.sent_to(KIM).is_empty() && referee.sent_to(LEE).is_empty());
    assert!(ledger(&referee, &game_match).contains(r#""name":"Lee""#));
}

#[test]
fn the_token_of_one_gm_does_not_act_for_another() {
    let (referee, game_match) = quad_with(KIM_AND_LEE);
    let (to_kim, to_lee) = (token_letter(&referee, KIM), token_letter(&referee, LEE));
    assert_ne!(to_kim.token(), to_lee.token());
    referee.reply(LEE, &to_kim, &format!("GM MATCH {} ABANDON", game_match.id));
    referee.one_to(LEE).says("your letter came without the GM's reply token");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    referee.reply(LEE, &to_lee, &format!("GM MATCH {} ABANDON", game_match.id));
    assert_eq!(referee.find(&game_match.id).stage, Stage::Over);
}

#[test]
fn a_letter_about_a_match_goes_to_those_who_look_after_it() {
    let (referee, _) = quad_with(KIM_AND_LEE);
    referee.reply(ANN, &referee.sent_to(ANN)[0], "PROTEST It is not fair.\nEND");
    referee.one_to(KIM).says("Ann (first) protests");
    assert!(referee.sent_to(LEE).is_empty(), "Lee looks after Pacific");
    referee.open(GameKind::Pacific, &[]);
    referee.reply(ANN, &referee.last_to(ANN), "SUBSTITUTE");
    referee.one_to(KIM).says("asks for a substitute");
    referee.one_to(LEE).says("asks for a substitute");
}

#[test]
fn alarms_go_to_whoever_is_on_duty_and_to_all_if_nobody_is() {
    let on = |kim: &str, lee: &str| {
        KIM_AND_LEE
            .replace(
                "address = \"kim@club.example\"\n",
                &format!("address = \"kim@club.example\"\nduty = [{kim}]\n"),
            )
            .replace("games = [\"pacific\"]\n", &format!("duty = [{lee}]\n"))
    };
    // The clock starts on a Thursday.
    let (referee, _) = quad_with(&on("\"mon\"", "\"thu\", \"fri\""));
    referee.reply(ANN, &referee.sent_to(ANN)[0], "PROTEST It is not fair.\nEND");
    referee.one_to(LEE).says("Ann (first) protests");
    assert!(referee.sent_to(KIM).is_empty());
    let (referee, _) = quad_with(&on("\"mon\"", "\"tue\""));
    referee.reply(ANN, &referee.sent_to(ANN)[0], "PROTEST It is not fair.\nEND");
    referee.one_to(LEE).says("Ann (first) protests");
    referee.one_to(KIM).says("Ann (first) protests");
}

#[test]
fn what_comes_from_a_seat_never_reaches_a_gm_who_plays_in_that_match() {
    let (referee, _) = quad_with(KIM_AND_BO);
    referee.sent_to(BO);
    referee.reply(ANN, &referee.sent_to(ANN)[0], "TELL GM I suspect that Bo reads my mail.\nEND");
    referee.one_to(KIM).says("I suspect that Bo reads my mail");
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn if_every_gm_plays_there_words_are_passed_on_without_order_lines() {
    let bo_alone = "[club.gm]\nname = \"Bo\"\naddress = \"bo@players.example\"\n";
    let (referee, _) = quad_with(bo_alone);
    referee.sent_to(BO);
    referee.reply(ANN, &referee.sent_to(ANN)[0], "PROTEST You did not take this:\n# STAR E5\nEND");
    let told = referee.sent_to(BO);
    let told = told.iter().find(|sent| sent.text.contains("protests")).expect("the GM is told");
    told.says("> You did not take this:").keeps_silent_of("E5");
}

#[test]
fn lines_that_read_as_orders_are_never_quoted_to_a_gm() {
    let (referee, _) = quad_with(KIM_AND_LEE);
    referee.reply(
        ANN,
        &referee.sent_to(ANN)[0],
        "PROTEST I had sent\n# MARBLE E5\n# MARBLE E6\nand you lost it.\nEND",
    );
    referee
        .one_to(KIM)
        .says("> I had sent")
        .says("> (2 order lines)")
        .says("> and you lost it.")
        .keeps_silent_of("E5");
}

#[test]
fn a_gm_who_plays_is_told_nothing_of_a_letter_that_was_set_aside() {
    let mut referee = Referee::with_gms(KIM_AND_BO);
    referee.open(GameKind::Quad, &[]);
    let trap = std::sync::Arc::new(|_, raw: &[u8]| {
        assert!(!raw.windows(9).any(|word| word == b"POISONOUS"), "a planted panic");
    });
    referee.office_mut().set_fault_injection(trap, std::time::Duration::from_secs(20));
    let to_ann = referee.one_to(ANN);
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "POISONOUS");
    for _ in 0..3 {
        referee.work();
    }
    referee.one_to(KIM).says("was set aside").says(ANN);
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn a_gm_who_plays_cannot_file_replace_or_correct_in_that_match() {
    let (referee, game_match) = quad_with(KIM_AND_BO);
    let to_bo = token_letter(&referee, BO);
    let id = &game_match.id;
    let lines = format!(
        "CHECK\nGM MATCH {id} ACT first\nMARBLE E5\nEND\nGM MATCH {id} REPLACE first eve@elsewhere.example\n\
         GM MATCH {id} TOKEN first"
    );
    referee.reply(BO, &to_bo, &lines);
    let answer = referee.one_to(BO);
    assert_eq!(answer.text.matches("so another GM has to do this").count(), 3, "{}", answer.text);
    referee.reply(BO, &to_bo, &format!("GM MATCH {id} EXTEND 3 days"));
    let answers = referee.sent_to(BO);
    assert!(answers.iter().any(|sent| sent.text.contains("Done. The match now")), "{answers:?}");
}

#[test]
fn a_gm_who_plays_changes_no_terms_and_annuls_nothing() {
    let (referee, game_match) = quad_with(KIM_AND_BO);
    let to_bo = token_letter(&referee, BO);
    let id = &game_match.id;
    referee.reply(BO, &to_bo, &format!("GM MATCH {id} TERMS days=30\nGM MATCH {id} ANNUL I am losing"));
    let answer = referee.one_to(BO);
    assert_eq!(answer.text.matches("so another GM has to do this").count(), 2, "{}", answer.text);
    assert!(referee.find(id).next_terms.is_none() && !referee.find(id).annulled);
}

#[test]
fn two_gms_need_names_and_addresses_of_their_own() {
    let parse = |second: &str| {
        let text = fogpost::config::EXAMPLE
            .replace("\n[club.gm]\n", &format!("\n[[club.gm]]\n{second}\n[[club.gm]]\n"));
        fogpost::config::Config::parse(&text, "config.toml")
    };
    assert!(parse("name = \"Lee\"\naddress = \"lee@club.example\"").is_ok());
    let same_name = parse("name = \"the gm\"\naddress = \"lee@club.example\"").expect_err("one name for two");
    assert!(same_name.to_string().contains("names must differ"), "{same_name}");
    let same_address =
        parse("name = \"Lee\"\naddress = \"gm@club.example\"").expect_err("one address for two");
    assert!(same_address.to_string().contains("share gm@club.example"), "{same_address}");
    let unknown =
        parse("name = \"Lee\"\naddress = \"lee@club.example\"\ngame = \"quad\"").expect_err("no such key");
    assert!(unknown.to_string().contains("unknown field `game`"), "{unknown}");
}

#[test]
fn words_without_a_token_do_not_reach_a_gm_who_plays_against_their_writer() {
    let (referee, _) = quad_with(KIM_AND_BO);
    referee.sent_to(BO);
    referee.write(ANN, "TELL GM I suspect that Bo reads my mail.\nEND");
    referee.one_to(KIM).says("I suspect that Bo reads my mail");
    assert!(referee.sent_to(BO).is_empty());
    // The words of somebody who does not play against a GM may go to all GMs.
    referee.write("dora@elsewhere.example", "TELL GM May I join?\nEND");
    referee.one_to(KIM).says("May I join?");
    referee.one_to(BO).says("May I join?");
}
