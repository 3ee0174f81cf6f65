//! Letters about several matches: each part is ruled on in its own match.

use std::process::Command;

use fogpost::audit::dossier::{Dossier, DossierForm};
use fogpost::daemon::audit::dossier;
use fogpost::daemon::instruct;
use fogpost::daemon::{Holder, NamedAddress, NewMatch};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::letter::Address;
use fogpost::referee::{Match, Stage};

use crate::audit::database::letter_causes;
use crate::dossier::contents::audited;
use crate::referee::{ANN, BO, GM, Referee, Sent};
use crate::seat::almost_orders::with_attached;

const CY: &str = "cy@players.example";

/// Two matches of Quad between Ann and Bo, in which Ann is to move, with Ann's invitation to each.
fn two_matches(referee: &Referee) -> [(Match, Sent); 2] {
    std::array::from_fn(|_| {
        let game_match = referee.open(GameKind::Quad, &[]);
        (game_match, referee.one_to(ANN))
    })
}

/// A match of Quad between Bo and Cy.
pub fn of_others(referee: &Referee) -> Match {
    let seated = |name: &str, address: &str| NamedAddress {
        name: name.to_owned(),
        address: Address::parse(address).expect("an address"),
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: GameKind::Quad.choose(None).expect("options of the game"),
        players: BySeat::new(seated("Bo", BO), seated("Cy", CY)).map(Holder::Player),
        terms: referee.office().config.terms.clone(),
    };
    let game_match = referee.block_on(instruct::open(referee.office(), new)).expect("the match opens");
    referee.work();
    game_match
}

fn filed(referee: &Referee, game_match: &Match) -> usize {
    referee.find(&game_match.id).adjudicated.len()
}

/// The answers to Ann since the last call, without the reports that they caused.
fn answers(referee: &Referee) -> Vec<Sent> {
    let sent = referee.sent_to(ANN).into_iter();
    sent.filter(|sent| sent.in_reply_to.is_some()).collect()
}

#[test]
fn each_part_of_a_letter_is_filed_in_its_own_match() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    referee.reply(ANN, &invitation, &format!("MARBLE E5\nMATCH {}\nMARBLE C4", second.id));
    assert_eq!((filed(&referee, &first), filed(&referee, &second)), (1, 1));
    let [to_first, to_second] = &answers(&referee)[..] else { panic!("one answer for each match") };
    to_first.says("| MARBLE E5").keeps_silent_of("MARBLE C4");
    to_first.says(&format!("Also: {}, sealed. Its answer comes in a letter of its own.", second.id));
    to_second.says("| MARBLE C4").keeps_silent_of("MARBLE E5").keeps_silent_of("Also:");
    assert!(to_first.subject.contains(&first.id) && to_second.subject.contains(&second.id));
    assert_eq!(to_first.in_reply_to, to_second.in_reply_to, "both are in the thread of the letter");
    for game_match in [&first, &second] {
        assert!(letter_causes(&referee, &game_match.id).iter().any(|cause| cause.part.is_some()));
    }
}

#[test]
fn a_fault_or_a_doubt_in_one_part_leaves_the_others_filed() {
    for (own, other, filed_in) in [
        ("MARBLE Z9", "MARBLE C4", [0, 1]),
        ("MARBLE E5", "and also C4", [1, 0]),
        ("MARBLE E5", "MARBLE C4\nMABLE D4", [1, 0]),
        ("I play E5 I think", "MARBLE C4", [0, 1]),
    ] {
        let referee = Referee::new();
        let [(first, invitation), (second, _)] = two_matches(&referee);
        referee.reply(ANN, &invitation, &format!("{own}\nMATCH {}\n{other}", second.id));
        assert_eq!([filed(&referee, &first), filed(&referee, &second)], filed_in, "{own} / {other}");
        let answers = answers(&referee);
        assert_eq!(answers.len(), 2, "{own} / {other}");
        let outcome = if filed_in[1] == 1 { "sealed" } else { "not filed" };
        answers[0].says(&format!("Also: {}, {outcome}.", second.id));
    }
}

#[test]
fn a_letter_may_begin_with_another_match() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    referee.reply(ANN, &invitation, &format!("Match {}:\nMARBLE C4\n\nAnn", second.id.to_lowercase()));
    assert_eq!((filed(&referee, &first), filed(&referee, &second)), (0, 1));
    let [answer] = &answers(&referee)[..] else { panic!("one answer, for the match named") };
    answer.says("| MARBLE C4").keeps_silent_of("Also:").keeps_silent_of(&first.id);
    assert_eq!(referee.find(&first.id).head, first.head, "the other ledger is unchanged");
}

#[test]
fn a_line_match_with_its_own_name_returns_to_the_match_of_the_token() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    let (own, other) = (&first.id, &second.id);
    referee.reply(
        ANN,
        &invitation,
        &format!("MATCH {other}\nMARBLE C4\nMATCH {own}\nMARBLE E5\nMATCH {other}\nSTATUS"),
    );
    assert_eq!((filed(&referee, &first), filed(&referee, &second)), (1, 1));
    let [to_first, to_second] = &answers(&referee)[..] else { panic!("one answer for each match") };
    to_first.says("| MARBLE E5");
    to_second.says("| MARBLE C4").says("Quad, Ann (Black)");
}

#[test]
fn a_part_for_a_match_of_others_files_nothing() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    let others = of_others(&referee);
    for unknown in [&others.id[..], "QD-ZZZZ"] {
        let letter = format!("MARBLE E5\nMATCH {}\nMARBLE C4\nMATCH {unknown}\nMARBLE D4", second.id);
        referee.reply(ANN, &invitation, &letter);
        let [answer] = &answers(&referee)[..] else { panic!("one answer") };
        answer.says("cannot tell which match you mean");
        assert_eq!((filed(&referee, &first), filed(&referee, &second), filed(&referee, &others)), (0, 0, 0));
    }
    assert_eq!(referee.find(&others.id).head, others.head);
}

#[test]
fn the_token_of_another_match_is_good_for_orders_and_questions_only() {
    let referee = Referee::new();
    let [(_, invitation), (second, _)] = two_matches(&referee);
    referee.sent_to(BO);
    let before = referee.find(&second.id);
    for command in [
        "RESIGN CONFIRM",
        "DRAW",
        "EXTEND 3 days",
        "AGREE",
        "SUBSTITUTE",
        "TELL Hello Bo.\nEND",
        "PROTEST wrong\nEND",
    ] {
        referee.reply(ANN, &invitation, &format!("MATCH {}\n{command}", second.id));
        let [answer] = &answers(&referee)[..] else { panic!("{command}: one answer") };
        let verb = command.split_whitespace().next().expect("a verb");
        answer.says(&format!("Your {verb} was not carried out"));
        answer.says(&format!("please answer a letter of mine about {}", second.id));
    }
    let after = referee.find(&second.id);
    assert_eq!((after.stage, after.draw_offer, after.extension), (Stage::Running, None, None));
    assert_eq!(after.deadline, before.deadline);
    assert!(referee.sent_to(BO).is_empty() && referee.sent_to(GM).is_empty());
    referee.reply(ANN, &invitation, &format!("MATCH {}\nSTATUS\nMARBLE E5\nDRAW", second.id));
    let [answer] = &answers(&referee)[..] else { panic!("one answer") };
    answer.says("Quad, Ann (Black)").says("| MARBLE E5").says("Your DRAW was not carried out");
    assert_eq!(referee.find(&second.id).draw_offer, None);
}

#[test]
fn a_text_ends_at_a_line_match() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    referee.sent_to(BO);
    referee.reply(ANN, &invitation, &format!("TELL Well played.\nSee you.\nMATCH {}\nMARBLE E5", second.id));
    referee.sent_to(BO)[0].says("> Well played. > See you.").keeps_silent_of("MATCH").keeps_silent_of("E5");
    assert_eq!((filed(&referee, &first), filed(&referee, &second)), (0, 1));
    referee.reply(ANN, &invitation, &format!("TELL Hello.\nMATCH {}\nMARBLE E5", first.id));
    assert_eq!(filed(&referee, &first), 1);
}

#[test]
fn words_for_a_person_in_the_part_for_another_match_reach_the_gm_at_once() {
    let referee = Referee::new();
    let [(_, invitation), (second, _)] = two_matches(&referee);
    referee.reply(ANN, &invitation, &format!("MARBLE E5\nMATCH {}\nI am in hospital.", second.id));
    referee.one_to(GM).says("> I am in hospital.").says(&second.id);
}

#[test]
fn orders_for_another_match_that_came_for_an_earlier_turn_are_asked_about() {
    let referee = Referee::new();
    let [(_, invitation), (second, to_ann)] = two_matches(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &referee.sent_to(BO)[1], "TURN 2\nMARBLE A5");
    assert_eq!(filed(&referee, &second), 2);
    referee.sent_to(ANN);
    referee.reply(ANN, &invitation, &format!("STATUS\nMATCH {}\nMARBLE E5", second.id));
    assert_eq!(filed(&referee, &second), 2, "{:?}", answers(&referee));
}

#[test]
fn a_letter_about_a_running_match_is_withheld_from_the_dossier_of_another() {
    let referee = Referee::with("settle_words = 0\n");
    let [(first, invitation), (second, to_ann)] = two_matches(&referee);
    referee.reply(ANN, &invitation, &format!("MARBLE E5\nMATCH {}\nMARBLE C4\nI have a plan", second.id));
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    let dossier = |id: &str| referee.dossier(id, DossierForm::Arbiter, false).expect("a dossier");
    let text = |files: &std::collections::BTreeMap<String, Vec<u8>>| -> String {
        files.values().map(|contents| String::from_utf8_lossy(contents).into_owned()).collect()
    };
    let files = dossier(&first.id);
    assert!(
        !text(&files).contains("MARBLE C4") && !text(&files).contains("a plan"),
        "the other part is withheld"
    );
    let parts: Vec<&Vec<u8>> =
        files.iter().filter(|(name, _)| name.starts_with("parts/")).map(|(_, part)| part).collect();
    assert_eq!(parts, [b"MARBLE E5\n"]);
    assert!(text(&files).contains(&format!("withheld until {} ends", second.id)));
    let folder = tempfile::tempdir().expect("a folder");
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desk/dossier/check.sh");
    for (name, contents) in &files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, contents).expect("written");
    }
    let by_hand = || {
        let ran = Command::new(&script).arg(folder.path()).output().expect("bash, sha256sum and jq");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    assert_eq!(by_hand(), "");
    let part = files.keys().find(|name| name.starts_with("parts/")).expect("a part");
    std::fs::write(folder.path().join(part), "MARBLE E6\n").expect("written");
    assert!(by_hand().contains("was changed"));
    let refused = Dossier::read(files).expect_err("a letter is withheld");
    assert!(refused.contains(&format!("is withheld until {} ends", second.id)), "{refused}");
    // Once both matches are over, each dossier contains the whole letter.
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    for id in [&first.id, &second.id] {
        let files = dossier(id);
        assert!(
            text(&files).contains("I have a plan") && !files.keys().any(|name| name.starts_with("parts/"))
        );
        assert_eq!(files.keys().filter(|name| name.starts_with("letters/")).count(), 2);
        let verdict = audited(files);
        assert!(verdict.is_sound(), "{verdict:#?}");
    }
    assert_eq!(referee.find(&second.id).adjudicated.first().map(|_| Seat::First), Some(Seat::First));
}

#[test]
fn a_letter_with_parts_that_is_confirmed_later_is_ruled_on_part_by_part() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    let elsewhere = "ann@work.example";
    referee.reply(elsewhere, &invitation, &format!("MARBLE E5\nMATCH {}\nMARBLE C4", second.id));
    assert_eq!((filed(&referee, &first), filed(&referee, &second)), (0, 0));
    let notice = referee.last_to(ANN);
    let line = notice.text.lines().map(str::trim).find_map(|line| line.strip_prefix("| CONFIRM "));
    let code = line.expect("a line with the code").to_owned();
    referee.reply(ANN, &notice, &format!("CONFIRM {code}"));
    referee.work();
    assert_eq!((filed(&referee, &first), filed(&referee, &second)), (1, 1));
}

#[test]
fn the_token_of_a_match_that_ended_long_ago_files_nothing_elsewhere() {
    let referee = Referee::new();
    let [(_, invitation), (second, _)] = two_matches(&referee);
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    let letter = format!("STATUS\nMATCH {}\nMARBLE C4", second.id);
    referee.sleep(24 * 31);
    referee.work();
    referee.sent_to(ANN);
    referee.reply(ANN, &invitation, &letter);
    assert_eq!(filed(&referee, &second), 0);
    assert_eq!(answers(&referee).len(), 1);
}

#[test]
fn an_attached_text_belongs_to_no_part() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    let text = format!("My orders are attached.\nMATCH {}", second.id);
    referee.receive(&with_attached(&referee, &invitation, &text, "MARBLE E5"));
    assert_eq!((filed(&referee, &first), filed(&referee, &second)), (0, 0));
    for answer in answers(&referee) {
        answer.says("I did not read what you attached (orders.txt)");
    }
}

#[test]
fn two_new_names_in_two_letters_of_a_moment_are_both_told() {
    let referee = Referee::new();
    let [(first, invitation), _] = two_matches(&referee);
    referee.sent_to(BO);
    referee.put(&referee.answer(ANN, &invitation, "SETTINGS name=Anna Archer"));
    referee.put(&referee.answer(ANN, &invitation, "SETTINGS name=Anna Baker"));
    referee.work();
    assert_eq!(answers(&referee).len(), 2);
    assert_eq!(referee.sent_to(BO).len(), 2);
    assert!(referee.find(&first.id).players.first.starts_with("Anna "));
}

#[test]
fn of_the_settings_in_several_parts_the_last_in_the_letter_counts() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    referee.sent_to(BO);
    let (own, other) = (&first.id, &second.id);
    let text = format!("SETTINGS name=Anna Archer format=text\nMATCH {other}\nSETTINGS name=Anna Baker");
    referee.reply(ANN, &invitation, &text);
    for id in [own, other] {
        assert_eq!(referee.find(id).players.first, "Anna Baker");
    }
    referee.one_to(BO).says("Anna Baker").keeps_silent_of("Archer");
    let told = answers(&referee);
    assert_eq!(told.len(), 2);
    told[0].says("| format=text");
    // A part that continues after another one.
    let text = format!(
        "SETTINGS name=Anna Adam\nMATCH {other}\nSETTINGS name=Anna Berg\nMATCH {own}\nSETTINGS name=Anna Cole"
    );
    referee.reply(ANN, &invitation, &text);
    assert_eq!(referee.find(other).players.first, "Anna Cole");
}

#[test]
fn a_notice_of_an_unproven_letter_shows_all_its_parts() {
    let referee = Referee::new();
    let [(first, invitation), (second, _)] = two_matches(&referee);
    let text = format!("MARBLE E5\nMATCH {}\nMARBLE C4", second.id);
    let letter = referee.answer(ANN, &invitation, &text);
    referee.receive(&letter.replacen(ANN, "ann@work.example", 1));
    assert_eq!((filed(&referee, &first), filed(&referee, &second)), (0, 0));
    referee.one_to(ANN).says("MARBLE E5").says(&format!("MATCH {}", second.id)).says("MARBLE C4");
}

/// The text of a dossier of a finished match.
fn dossier_text(referee: &Referee, id: &str) -> String {
    let files = referee.dossier(id, DossierForm::Arbiter, false).expect("a dossier");
    files.values().map(|contents| String::from_utf8_lossy(contents).into_owned()).collect()
}

#[test]
fn a_refused_letter_that_names_a_running_match_is_withheld_whole() {
    let referee = Referee::new();
    let [(first, invitation), (second, to_ann)] = two_matches(&referee);
    let other = &second.id;
    for letter in [
        // A match that she does not play makes the whole letter doubtful.
        format!("MARBLE E5\nMATCH {other}\nMARBLE C4\nI have a plan\nMATCH QD-ZZZZ\nSTATUS"),
        format!("In {other} I have a plan:\nMARBLE C4"),
    ] {
        referee.reply(ANN, &invitation, &letter);
        answers(&referee)[0].says("cannot tell which match you mean");
    }
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    let text = dossier_text(&referee, &first.id);
    assert!(!text.contains("I have a plan") && !text.contains("MARBLE C4"), "{text}");
    assert_eq!(text.matches(&format!("\"withheld_until\":[\"{other}\"]")).count(), 2);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    assert!(dossier_text(&referee, &first.id).contains("I have a plan"));
}

#[test]
fn a_letter_with_the_token_of_a_running_match_is_withheld() {
    let referee = Referee::new();
    let [(first, invitation), (_, to_ann)] = two_matches(&referee);
    // A mail program may quote the footer of another letter.
    let text = format!("STATUS\nmy secret plan\n\nReply token: {}", to_ann.token());
    referee.reply(ANN, &invitation, &text);
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    assert!(!dossier_text(&referee, &first.id).contains("my secret plan"));
}

#[test]
fn a_letter_that_cannot_be_read_any_more_is_withheld_while_its_players_play_elsewhere() {
    let referee = Referee::new();
    let [(first, invitation), (_, to_ann)] = two_matches(&referee);
    referee.reply(ANN, &invitation, "STATUS\nmy secret plan");
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    // Without the address that the referee had at the time, its letters cannot be told from others.
    referee.untidy.set(true);
    referee.change_database(
        "UPDATE match SET snapshot = replace(snapshot, '\"address\":\"referee@club.example\"', '\"address\":\"\"')",
    );
    let shown = || {
        let material = referee
            .block_on(dossier::material(referee.office(), &first.id, None, "a test"))
            .expect("the match");
        let letters = material.letters.values().map(|raw| String::from_utf8_lossy(raw).into_owned());
        letters.collect::<String>()
    };
    assert!(!shown().contains("my secret plan"));
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    assert!(shown().contains("my secret plan"));
}
