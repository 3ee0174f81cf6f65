//! Several GMs: their rights, the letters that each gets, and what a GM who plays never reads.

use fogpost::game::any::GameKind;
use fogpost::referee::{Match, Stage};

use crate::desk::{ANN, BO, Desk, Sent};

const KIM: &str = "kim@club.example";
const LEE: &str = "lee@club.example";

/// Kim looks after everything, and Lee only after Pacific.
const KIM_AND_LEE: &str = "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
    [[club.gm]]\nname = \"Lee\"\naddress = \"lee@club.example\"\nalso = [\"lee@home.example\"]\ngames = [\"pacific\"]\n";

/// Both look after everything, and Bo plays.
const KIM_AND_BO: &str = "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
    [[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n";

/// The letter that brings a GM their reply token.
fn token_letter(desk: &Desk, gm: &str) -> Sent {
    desk.sent_to(gm);
    desk.write(gm, "GM LIST");
    desk.one_to(gm)
}

fn ledger(desk: &Desk, game_match: &Match) -> String {
    let entries = desk.block_on(desk.office().store.entries(&game_match.id)).expect("the store answers");
    entries.into_iter().map(|entry| entry.json).collect()
}

fn quad_with(gms: &str) -> (Desk, Match) {
    let desk = Desk::with_gms(gms);
    let game_match = desk.open(GameKind::Quad, &[]);
    (desk, game_match)
}

#[test]
fn the_ledger_names_the_gm_who_acted_and_the_answer_goes_to_whoever_wrote() {
    let (desk, game_match) = quad_with(KIM_AND_LEE);
    let to_lee = token_letter(&desk, LEE);
    desk.sent_to(KIM);
    desk.reply("lee@home.example", &to_lee, &format!("GM MATCH {} EXTEND 3 days", game_match.id));
    desk.one_to("lee@home.example").says("Done. The match now");
    assert!(desk.sent_to(KIM).is_empty() && desk.sent_to(LEE).is_empty());
    assert!(ledger(&desk, &game_match).contains(r#""name":"Lee""#));
}

#[test]
fn the_token_of_one_gm_does_not_act_for_another() {
    let (desk, game_match) = quad_with(KIM_AND_LEE);
    let (to_kim, to_lee) = (token_letter(&desk, KIM), token_letter(&desk, LEE));
    assert_ne!(to_kim.token(), to_lee.token());
    desk.reply(LEE, &to_kim, &format!("GM MATCH {} ABANDON", game_match.id));
    desk.one_to(LEE).says("your letter came without the GM's reply token");
    assert_eq!(desk.find(&game_match.id).stage, Stage::Running);
    desk.reply(LEE, &to_lee, &format!("GM MATCH {} ABANDON", game_match.id));
    assert_eq!(desk.find(&game_match.id).stage, Stage::Over);
}

#[test]
fn a_letter_about_a_match_goes_to_those_who_look_after_it() {
    let (desk, _) = quad_with(KIM_AND_LEE);
    desk.reply(ANN, &desk.sent_to(ANN)[0], "PROTEST It is not fair.\nEND");
    desk.one_to(KIM).says("Ann (first) protests");
    assert!(desk.sent_to(LEE).is_empty(), "Lee looks after Pacific");
    desk.open(GameKind::Pacific, &[]);
    desk.reply(ANN, &desk.last_to(ANN), "SUBSTITUTE");
    desk.one_to(KIM).says("asks for a substitute");
    desk.one_to(LEE).says("asks for a substitute");
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
    let (desk, _) = quad_with(&on("\"mon\"", "\"thu\", \"fri\""));
    desk.reply(ANN, &desk.sent_to(ANN)[0], "PROTEST It is not fair.\nEND");
    desk.one_to(LEE).says("Ann (first) protests");
    assert!(desk.sent_to(KIM).is_empty());
    let (desk, _) = quad_with(&on("\"mon\"", "\"tue\""));
    desk.reply(ANN, &desk.sent_to(ANN)[0], "PROTEST It is not fair.\nEND");
    desk.one_to(LEE).says("Ann (first) protests");
    desk.one_to(KIM).says("Ann (first) protests");
}

#[test]
fn what_comes_from_a_seat_never_reaches_a_gm_who_plays_in_that_match() {
    let (desk, _) = quad_with(KIM_AND_BO);
    desk.sent_to(BO);
    desk.reply(ANN, &desk.sent_to(ANN)[0], "TELL GM I suspect that Bo reads my mail.\nEND");
    desk.one_to(KIM).says("I suspect that Bo reads my mail");
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn if_every_gm_plays_there_words_are_passed_on_without_order_lines() {
    let bo_alone = "[club.gm]\nname = \"Bo\"\naddress = \"bo@players.example\"\n";
    let (desk, _) = quad_with(bo_alone);
    desk.sent_to(BO);
    desk.reply(ANN, &desk.sent_to(ANN)[0], "PROTEST You did not take this:\n# STAR E5\nEND");
    let told = desk.sent_to(BO);
    let told = told.iter().find(|sent| sent.text.contains("protests")).expect("the GM is told");
    told.says("> You did not take this:").keeps_silent_of("E5");
}

#[test]
fn lines_that_read_as_orders_are_never_quoted_to_a_gm() {
    let (desk, _) = quad_with(KIM_AND_LEE);
    desk.reply(
        ANN,
        &desk.sent_to(ANN)[0],
        "PROTEST I had sent\n# MARBLE E5\n# MARBLE E6\nand you lost it.\nEND",
    );
    desk.one_to(KIM)
        .says("> I had sent")
        .says("> (2 order lines)")
        .says("> and you lost it.")
        .keeps_silent_of("E5");
}

#[test]
fn a_gm_who_plays_is_told_nothing_of_a_letter_that_was_set_aside() {
    let mut desk = Desk::with_gms(KIM_AND_BO);
    desk.open(GameKind::Quad, &[]);
    let trap = std::sync::Arc::new(|_, raw: &[u8]| {
        assert!(!raw.windows(9).any(|word| word == b"POISONOUS"), "a planted panic");
    });
    desk.office_mut().set_trap(trap, std::time::Duration::from_secs(20));
    let to_ann = desk.one_to(ANN);
    desk.sent_to(BO);
    desk.reply(ANN, &to_ann, "POISONOUS");
    for _ in 0..3 {
        desk.work();
    }
    desk.one_to(KIM).says("was set aside").says(ANN);
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn a_gm_who_plays_cannot_file_replace_or_correct_in_that_match() {
    let (desk, game_match) = quad_with(KIM_AND_BO);
    let to_bo = token_letter(&desk, BO);
    let id = &game_match.id;
    let lines = format!(
        "CHECK\nGM MATCH {id} ACT first\nMARBLE E5\nEND\nGM MATCH {id} REPLACE first eve@elsewhere.example\n\
         GM MATCH {id} TOKEN first"
    );
    desk.reply(BO, &to_bo, &lines);
    let answer = desk.one_to(BO);
    assert_eq!(answer.text.matches("so another GM has to do this").count(), 3, "{}", answer.text);
    desk.reply(BO, &to_bo, &format!("GM MATCH {id} EXTEND 3 days"));
    let answers = desk.sent_to(BO);
    assert!(answers.iter().any(|sent| sent.text.contains("Done. The match now")), "{answers:?}");
}

#[test]
fn a_gm_who_plays_changes_no_terms_and_annuls_nothing() {
    let (desk, game_match) = quad_with(KIM_AND_BO);
    let to_bo = token_letter(&desk, BO);
    let id = &game_match.id;
    desk.reply(BO, &to_bo, &format!("GM MATCH {id} TERMS days=30\nGM MATCH {id} ANNUL I am losing"));
    let answer = desk.one_to(BO);
    assert_eq!(answer.text.matches("so another GM has to do this").count(), 2, "{}", answer.text);
    assert!(desk.find(id).next_terms.is_none() && !desk.find(id).annulled);
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
    let (desk, _) = quad_with(KIM_AND_BO);
    desk.sent_to(BO);
    desk.write(ANN, "TELL GM I suspect that Bo reads my mail.\nEND");
    desk.one_to(KIM).says("I suspect that Bo reads my mail");
    assert!(desk.sent_to(BO).is_empty());
    // The words of somebody who does not play against a GM may go to all GMs.
    desk.write("dora@elsewhere.example", "TELL GM May I join?\nEND");
    desk.one_to(KIM).says("May I join?");
    desk.one_to(BO).says("May I join?");
}
