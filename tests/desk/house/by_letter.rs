//! Players' requests to the house by letter, and the house against itself.

use fogpost::daemon::instruct;
use fogpost::daemon::{Holder, NewMatch};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::house;
use fogpost::ledger::{self, Cause, EntryCause};
use fogpost::referee::{Act, Instruction, Match, MatchAction, Stage};

use crate::audit::database::{letter_causes, rewrite};
use crate::house::levels::{entries, opened, to_ann};
use crate::referee::{ANN, BO, GM, Referee};

/// The match that opened last.
fn newest(referee: &Referee) -> Match {
    let ids = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    ids.iter()
        .map(|id| referee.find(id))
        .max_by_key(|found| (found.opened_at, found.id.clone()))
        .expect("a match")
}

/// Challenges the house, and returns the match and its invitation.
fn challenge(referee: &Referee, options: &str) -> (Match, crate::referee::Sent) {
    referee.advance(1);
    referee.sent_to(ANN);
    referee.write(ANN, &format!("CHALLENGE house quad first=me {options}"));
    let invitation = referee
        .sent_to(ANN)
        .into_iter()
        .find(|sent| sent.text.contains("plays Quad"))
        .expect("an invitation");
    (newest(referee), invitation)
}

/// Ends a match with Ann's victory.
fn ann_wins(referee: &Referee, game_match: &Match) {
    let action = MatchAction::Act(Act::Forfeit(Seat::Second));
    let forfeit = Instruction::Match { id: game_match.id.clone(), turn: None, action };
    let done = referee.block_on(instruct::carry_out(referee.office(), &forfeit)).expect("the store answers");
    assert!(done.is_done());
    referee.work();
}

#[test]
fn questions_about_the_house_are_answered() {
    let referee = Referee::answering(ANN, "");
    let (_, invitation) = challenge(&referee, "");
    for (question, said) in [
        ("Will the house take a week over each of its moves?", "The house answers at once"),
        ("Can you make the computer weaker? Easy is still too hard.", "| CHALLENGE house:trainer quad"),
    ] {
        referee.sent_to(ANN);
        referee.reply(ANN, &invitation, question);
        referee.last_to(ANN).says(said);
    }
}

#[test]
fn a_player_chooses_whether_a_victory_leads_to_the_next_level() {
    for (club, chosen, next) in [
        ("off", "advance=on", "easy"),
        ("on", "", "easy"),
        ("on", "advance=off", "trainer"),
        ("off", "", "trainer"),
    ] {
        let referee =
            Referee::answering(ANN, &format!("[house]\nlevel = \"trainer\"\nadvance = {}\n", club == "on"));
        let (game_match, invitation) = challenge(&referee, &format!("level=trainer {chosen}"));
        assert_eq!(game_match.house.second.as_deref(), Some("trainer"));
        if next == "easy" {
            invitation.says("your next one is against").says("`easy`");
        } else {
            invitation.keeps_silent_of("Advance is on");
        }
        ann_wins(&referee, &game_match);
        let (second, _) = challenge(&referee, "");
        assert_eq!(second.house.second.as_deref(), Some(next), "club {club}, {chosen}");
        let (third, _) = challenge(&referee, "advance=off");
        assert_eq!(third.house.second.as_deref(), Some("trainer"), "without advance the default level");
    }
}

#[test]
fn the_next_match_is_against_the_promised_level_even_below_the_clubs_default() {
    let referee = Referee::answering(ANN, "[house]\nlevel = \"average\"\nadvance = true\n");
    let (first, invitation) = challenge(&referee, "level=trainer");
    invitation.says("if you win this match, your next one is against `easy`");
    ann_wins(&referee, &first);
    let (second, _) = challenge(&referee, "");
    assert_eq!(second.house.second.as_deref(), Some("easy"));
    assert!(referee.verify(&first.id).is_sound() && referee.verify(&second.id).is_sound());
}

#[test]
fn a_victory_over_a_weaker_level_again_takes_nobody_back() {
    let referee = Referee::answering(ANN, "[house]\nadvance = true\n");
    let (first, _) = challenge(&referee, "level=average");
    ann_wins(&referee, &first);
    let (again, invitation) = challenge(&referee, "level=trainer");
    invitation.says("against `easy`, or against a higher level if another victory with advance on");
    ann_wins(&referee, &again);
    assert_eq!(challenge(&referee, "").0.house.second.as_deref(), Some("expert"));
}

#[test]
fn nobody_advances_beyond_the_top_level() {
    let referee = Referee::answering(ANN, "");
    let (game_match, invitation) = challenge(&referee, "level=expert advance=on");
    invitation.keeps_silent_of("Advance is on");
    ann_wins(&referee, &game_match);
    assert_eq!(challenge(&referee, "").0.house.second.as_deref(), Some("expert"));
}

#[test]
fn levels_have_other_names_and_swap_is_on_unless_chosen_otherwise() {
    let referee = Referee::answering(ANN, "");
    for (options, level, swap) in
        [("level=medium", "average", "on"), ("level=Hard swap=off", "expert", "off"), ("", "easy", "on")]
    {
        let (game_match, _) = challenge(&referee, options);
        assert_eq!(game_match.house.second.as_deref(), Some(level));
        assert_eq!(game_match.state.options()["swap"], swap, "{options}");
    }
    referee.write(ANN, "CHALLENGE house:medium quad first=me");
    assert_eq!(newest(&referee).game, GameKind::Quad);
    referee.write(ANN, "CHALLENGE house quad advance=maybe");
    referee.last_to(ANN).says("Option `advance` cannot be `maybe`; it takes on or off.");
}

#[test]
fn what_is_chosen_twice_is_refused_with_what_would_do() {
    let referee = Referee::answering(ANN, "");
    for (asked, says) in [
        ("house quad first=me seat=second", "`first=me` and `seat=second` both choose your seat."),
        ("house quad seat=first seat=second", "`seat=first` and `seat=second` both choose your seat."),
        ("house quad level=easy level=expert", "`level` is given as `easy` and as `expert`."),
        ("house:expert quad level=easy", "Please write it once, for example level=easy."),
        ("house quad advance=on ADVANCE=off", "`advance` is given as `on` and as `off`."),
        ("bo@players.example quad seat=first seat=second", "`seat` is given as `first` and as `second`."),
    ] {
        referee.write(ANN, &format!("CHALLENGE {asked}"));
        referee.last_to(ANN).says(says).says("had no effect");
    }
    assert!(referee.block_on(referee.office().store.match_ids()).expect("the store answers").is_empty());
}

#[test]
fn a_challenge_without_a_game_of_the_house_is_answered_with_one() {
    let referee = Referee::answering(ANN, "");
    for asked in ["CHALLENGE house", "CHALLENGE house:expert"] {
        referee.write(ANN, asked);
        referee
            .last_to(ANN)
            .says("The line lacks the name of a game.")
            .says("For example: CHALLENGE house quad level=easy first=me");
    }
    referee.write(ANN, "CHALLENGE house chess");
    let refusal = referee.last_to(ANN);
    refusal.says("The house does not play chess. It plays:");
    for game in GameKind::ALL {
        refusal.says(&format!("| CHALLENGE house {}", game.key()));
    }
}

#[test]
fn the_refusal_of_an_eleventh_match_names_those_that_run() {
    let referee = Referee::answering(ANN, "");
    let ten: Vec<String> = (1..=10).map(|n| format!("CHALLENGE house quad days={n}")).collect();
    referee.write(ANN, &ten.join("\n"));
    referee.write(ANN, "CHALLENGE house quad");
    let refusal = referee.last_to(ANN);
    let ids = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    assert_eq!(ids.len(), 10);
    for id in &ids {
        refusal.says(id);
    }
}

#[test]
fn against_the_trainer_a_hint_tells_what_average_would_do() {
    let referee = Referee::new();
    let game_match = opened(&referee, "trainer", Seat::First);
    referee.reply(ANN, &to_ann(&referee), "MARBLE F6");
    let before = referee.find(&game_match.id);
    referee.reply(ANN, &to_ann(&referee), "HINT");
    let seen =
        ledger::what_seat_saw(&entries(&referee, &game_match.id), Seat::First).expect("a sound ledger");
    let hint = before.hint(&seen).expect("it is Ann's turn");
    let answer = referee.last_to(ANN);
    for order in &hint.orders {
        answer.says(&format!("| {order}"));
    }
    let noted =
        letter_causes(&referee, &game_match.id).into_iter().any(|cause| cause.hint.as_ref() == Some(&hint));
    assert!(noted, "the ledger says what was advised");
    let average = house::level(GameKind::Quad, "average").expect("a level");
    // Use other dice than the house's own, which the hint must not reveal.
    let dice = !before.key.dice(before.phase_no);
    assert_eq!(hint.orders, house::play(&seen, average, dice).expect("it plays").orders);
}

#[test]
fn a_letter_gets_one_hint_and_a_phase_the_same_one_again() {
    let referee = Referee::new();
    let one = opened(&referee, "trainer", Seat::First);
    let other = opened(&referee, "trainer", Seat::First);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann(&referee), &format!("HINT\nMATCH {}\nHINT", one.id));
    let hints = |game_match: &Match| {
        let hints = letter_causes(&referee, &game_match.id).into_iter().filter_map(|cause| cause.hint);
        hints.map(|hint| hint.orders).collect::<Vec<_>>()
    };
    assert_eq!((hints(&one).len(), hints(&other).len()), (1, 0));
    let answers = referee.sent_to(ANN);
    let refused = answers.iter().find(|sent| sent.subject.contains(&other.id)).expect("an answer");
    refused.says("I give one a letter");
    for _ in 0..2 {
        referee.reply(ANN, refused, "HINT");
    }
    let [first, second] = &hints(&other)[..] else { panic!("a hint for each letter") };
    assert_eq!(first, second);
    assert!(referee.verify(&one.id).is_sound() && referee.verify(&other.id).is_sound());
}

#[test]
fn the_audit_finds_a_hint_again_only_once() {
    let referee = Referee::new();
    referee.work();
    let id = opened(&referee, "trainer", Seat::First).id;
    referee.reply(ANN, &to_ann(&referee), "HINT");
    let answer = referee.last_to(ANN);
    let mut forged = entries(&referee, &id);
    let hint = forged.iter_mut().find_map(|entry| match &mut entry.cause {
        EntryCause::Cause(Cause::Letter(cause)) => cause.hint.as_mut(),
        _ => None,
    });
    hint.expect("a hint").orders = vec!["MARBLE A1".to_owned()];
    rewrite(&referee, &referee.find(&id), forged);
    let said = format!("{:?}", referee.verify(&id).findings);
    assert!(said.contains("the house gives another hint there"), "{said}");
    let verified = [(id.clone(), referee.find(&id).head)];
    referee.block_on(referee.office().store.note_verified(&verified)).expect("the store answers");
    referee.reply(ANN, &answer, "STATUS");
    referee.advance(26);
    let alarms: String = referee.sent_to(GM).into_iter().map(|sent| sent.text).collect();
    assert!(!alarms.contains("another hint"), "{alarms}");
}

#[test]
fn elsewhere_the_answer_to_hint_says_why_there_is_none() {
    let referee = Referee::new();
    opened(&referee, "easy", Seat::First);
    referee.reply(ANN, &to_ann(&referee), "HINT");
    referee.last_to(ANN).says("only in matches against").says("| CHALLENGE house quad level=trainer");
    let referee = Referee::new();
    let against_bo = referee.open(GameKind::QuadrantZ, &[]);
    referee.reply(ANN, &to_ann(&referee), "HINT");
    referee.last_to(ANN).says("only in matches against").says("| CHALLENGE house quadrant-z level=trainer");
    assert_eq!(against_bo.stage, Stage::Running);
}

#[test]
fn the_gm_names_the_level_of_the_house_as_players_do() {
    let referee = Referee::new();
    referee.write(GM, "GM LIST");
    for (line, level) in [
        (format!("GM NEW quad {ANN} house:expert"), "expert"),
        (format!("GM NEW quad {ANN} house level=trainer"), "trainer"),
        (format!("GM NEW quad {ANN} house"), "easy"),
    ] {
        referee.advance(1);
        referee.reply(GM, &referee.last_to(GM), &line);
        assert_eq!(newest(&referee).house.second.as_deref(), Some(level), "{line}");
    }
    referee.reply(GM, &referee.last_to(GM), &format!("GM NEW quad {ANN} house:expert level=easy"));
    let refusal = referee.last_to(GM);
    refusal.says("`level` is given as `expert` and as `easy`.");
    for (other, option) in [("house", "first=house"), ("house", "seat=second"), (BO, "seat=first")] {
        referee.reply(GM, &refusal, &format!("GM NEW quad {ANN} {other} {option}"));
        let says = format!("`{option}` chooses a seat. Here the one you name first has the first seat");
        referee.last_to(GM).says(&says);
    }
}

#[test]
fn the_house_plays_itself_to_the_end_but_not_by_letter() {
    let referee = Referee::new();
    let level = |name| Holder::House(house::level(GameKind::Quad, name).expect("a level"));
    for (first, second) in [("average", "easy"), ("easy", "easy")] {
        let new = NewMatch {
            game: GameKind::Quad,
            choices: GameKind::Quad.choose([]).expect("no options"),
            players: BySeat::new(level(first), level(second)),
            terms: referee.office().config.terms.clone(),
        };
        let id = referee.block_on(instruct::open(referee.office(), new)).expect("the match opens").id;
        referee.work();
        let game_match = referee.find(&id);
        assert_eq!((game_match.stage, game_match.deadline), (Stage::Over, None));
        assert!(referee.sent_to(GM).is_empty(), "the digest tells of the end");
    }
    referee.write(GM, "GM LIST");
    referee.reply(GM, &referee.last_to(GM), "GM NEW quad house:easy house:average");
    let refusal = referee.last_to(GM);
    refusal.says("opened at the terminal").says("fogpost match new quad house:easy house:average");
    referee.reply(GM, &refusal, "GM NEW chess house house:average");
    referee.last_to(GM).says("There is no game called chess");
    referee.reply(GM, &refusal, &format!("GM NEW quad {ANN} {ANN}"));
    referee.last_to(GM).says("A match has two players");
    assert_eq!(referee.block_on(referee.office().store.match_ids()).expect("the store answers").len(), 2);
}
