//! Matches against the house: their opening, every level to the end, and the house's answers to commands.

use fogpost::audit::account;
use fogpost::audit::dossier::DossierForm;
use fogpost::daemon::audit::dossier;
use fogpost::daemon::instruct;
use fogpost::daemon::items;
use fogpost::daemon::{Holder, NamedAddress, NewMatch, new_letter, sending};
use fogpost::game::any::GameKind;
use fogpost::game::quad::State;
use fogpost::game::{BySeat, Dice, Game, Seat};
use fogpost::house::{self, Level, quad};
use fogpost::ledger::{self, Cause, Entry, EntryCause, Fact};
use fogpost::letter::Address;
use fogpost::post::FetchedLetter;
use fogpost::referee::{Act, HousePlay, Instruction, Match, MatchAction, MatchOverview, Stage, Terms};
use fogpost::store::LetterStatus;

use crate::audit::database::cheat;
use crate::dossier::contents::audited;
use crate::referee::{ANN, BO, GM, Referee, Sent};

pub fn ann() -> Holder {
    Holder::Player(NamedAddress { name: "Ann".to_owned(), address: Address::parse(ANN).expect("an address") })
}

/// Opens a match between Ann and the house, as the GM does.
pub fn opened(referee: &Referee, level: &str, anns: Seat) -> Match {
    let level = house::level(GameKind::Quad, level).expect("a level");
    let players = match anns {
        Seat::First => BySeat::new(ann(), Holder::House(level)),
        Seat::Second => BySeat::new(Holder::House(level), ann()),
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: house::choices_at(GameKind::Quad, level, &[("swap", "off")]).expect("options of the game"),
        players,
        terms: Terms {
            advance: referee.office().config.house.advance,
            ..referee.office().config.terms.clone()
        },
    };
    let game_match = referee.block_on(instruct::open(referee.office(), new)).expect("the match opens");
    referee.work();
    game_match
}

pub fn only_match(referee: &Referee) -> Match {
    let ids = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    assert_eq!(ids.len(), 1, "one match");
    referee.find(&ids[0])
}

pub fn entries(referee: &Referee, id: &str) -> Vec<Entry> {
    let rows = referee.block_on(referee.office().store.entries(id)).expect("the store answers");
    rows.iter().map(|row| serde_json::from_str(&row.json).expect("an entry")).collect()
}

/// The turn that the house plays in a match against Ann.
pub fn turn(referee: &Referee, game_match: &Match) -> Option<HousePlay> {
    let seen = ledger::what_seat_saw(&entries(referee, &game_match.id), game_match.house_due()?);
    game_match.house_turn(&seen.expect("a sound ledger"), &house::play)
}

/// The last letter to Ann that she can answer.
pub fn to_ann(referee: &Referee) -> Sent {
    referee.all_to(ANN).into_iter().rev().find(|sent| sent.text.contains("Reply token: ")).expect("a letter")
}

/// Stores a letter and rules on it; does no other work, so the house does not move yet.
pub fn arrives(referee: &Referee, raw: &str) {
    let raw = raw.replace('\n', "\r\n").into_bytes();
    let size = raw.len() as u64;
    let (received_at, origin) = (referee.now(), String::new());
    let letter = new_letter(FetchedLetter {
        raw,
        received_at,
        arrivals: Vec::new(),
        origin,
        cut: false,
        size,
        is_spam: false,
    });
    referee.block_on(referee.office().store.insert_letters(&[letter])).expect("the letter is stored");
    referee.block_on(items::settle_all(referee.office())).expect("the letter is settled");
}

/// A match against Average in which it is the house's turn.
pub fn house_is_due(referee: &Referee) -> Match {
    let game_match = opened(referee, "average", Seat::First);
    arrives(referee, &referee.answer(ANN, &to_ann(referee), "MARBLE F6"));
    let game_match = referee.find(&game_match.id);
    assert_eq!(game_match.house_due(), Some(Seat::Second));
    game_match
}

#[test]
fn the_house_plays_on_beside_a_match_that_cannot_be_read() {
    let referee = Referee::new();
    let [damaged, sound] = [(); 2].map(|()| {
        let game_match = opened(&referee, "average", Seat::First);
        (game_match, to_ann(&referee))
    });
    for (_, invitation) in [&damaged, &sound] {
        arrives(&referee, &referee.answer(ANN, invitation, "MARBLE F6"));
    }
    assert_eq!(referee.find(&sound.0.id).house_due(), Some(Seat::Second));
    cheat(
        &referee,
        &[&format!(
            r#"UPDATE match SET wake_at = 1, snapshot = replace(snapshot, '"rules":1', '"rules":7') WHERE id = '{}'"#,
            damaged.0.id
        )],
    );
    referee.block_on(fogpost::daemon::house::house_all(referee.office())).expect("the house plays");
    assert_eq!(referee.find(&sound.0.id).house_due(), None);
}

fn board(referee: &Referee, id: &str) -> State {
    let state = referee.find(id).state;
    <&State>::try_from(&state).expect("Quad").clone()
}

/// Plays a match to its end; Ann plays as the house would at `level`.
pub fn play_out(referee: &Referee, id: &str, level: Level) -> Match {
    for _ in 0..40 {
        let game_match = referee.find(id);
        if game_match.stage == Stage::Over {
            return game_match;
        }
        assert_eq!(game_match.house_due(), None, "the house has played");
        let state = board(referee, id);
        let seat = state.due().expect("it runs").seats[0];
        let orders = quad::choose(&state.view(seat), level, Dice::new(7)).orders;
        let lines: Vec<_> = orders.iter().map(ToString::to_string).collect();
        referee.reply(ANN, &to_ann(referee), &lines.join("\n"));
    }
    panic!("a match of Quad ends within forty turns")
}

#[test]
fn a_match_against_each_level_can_be_played_to_the_end() {
    for (level, anns) in
        [("trainer", Seat::First), ("easy", Seat::Second), ("average", Seat::First), ("expert", Seat::First)]
    {
        let referee = Referee::new();
        let game_match = opened(&referee, level, anns);
        let name = format!("the house ({level})");
        referee.all_to(ANN)[0].says(&format!("Opponent: {name}"));
        let game_match =
            play_out(&referee, &game_match.id, if level == "expert" { Level::Trainer } else { Level::Easy });
        assert!(game_match.state.outcome().is_some(), "{level}");
        let result = referee.last_to(ANN);
        let [(_, record)] = &result.attachments[..] else { panic!("the record is attached") };
        assert!(record.contains(&format!("{} = \"{name}\"", anns.other())), "{record}");
        assert!(referee.all_to(&format!("house:{level}")).is_empty());
        let by_house = entries(&referee, &game_match.id);
        let sealed = by_house.iter().filter(|entry| {
            matches!(&entry.fact, Fact::OrdersSealed { seat, .. } if *seat != anns)
                && matches!(&entry.cause, EntryCause::Cause(Cause::House { .. }))
        });
        assert!(sealed.count() >= 3, "{level}");
        assert!(referee.verify(&game_match.id).is_sound());
    }
}

#[test]
fn a_challenge_to_the_house_opens_a_match_and_chooses_who_moves_first() {
    let referee = Referee::answering(ANN, "");
    referee.write("Ann <ann@players.example>", "CHALLENGE house QUAD level=average first=me days=3");
    let game_match = only_match(&referee);
    assert_eq!(
        (game_match.players.first.as_str(), game_match.players.second.as_str()),
        ("Ann", "the house (average)")
    );
    assert_eq!((game_match.terms.days, game_match.adjudicated.len()), (3, 0));
    let letters = referee.sent_to(ANN);
    assert_eq!(letters.len(), 2, "the answer and the invitation");
    letters[1].says(&format!("The match {} begins", game_match.id));
    letters[0].says("Opponent: the house (average)");
    assert_eq!(referee.last_status(), LetterStatus::Answered);

    let referee = Referee::answering(ANN, "");
    referee.write(ANN, "challenge house quad level=easy first=house");
    let game_match = only_match(&referee);
    assert_eq!(
        (game_match.house.first.as_deref(), game_match.adjudicated.len()),
        (Some("easy"), 1),
        "the house has moved"
    );
    referee.last_to(ANN).says("The house (easy) played a marble").says("Turn 2 waits for your orders");
}

#[test]
fn the_trainer_shows_threats_by_default() {
    for (options, trainer) in
        [("level=trainer", "on"), ("level=trainer trainer=off", "off"), ("level=easy", "off")]
    {
        let referee = Referee::answering(ANN, "");
        referee.write(ANN, &format!("CHALLENGE house quad {options} first=me"));
        assert_eq!(only_match(&referee).state.options()["trainer"], trainer, "{options}");
    }
}

#[test]
fn without_a_level_the_clubs_default_is_used() {
    let referee = Referee::answering(ANN, "[house]\nlevel = \"average\"\n");
    referee.write(ANN, "CHALLENGE house quad first=me");
    assert_eq!(only_match(&referee).house.second.as_deref(), Some("average"));
}

#[test]
fn with_advance_a_player_who_beats_a_level_meets_the_next_one() {
    for (advance, next) in [(true, "easy"), (false, "trainer")] {
        let referee =
            Referee::answering(ANN, &format!("[house]\nlevel = \"trainer\"\nadvance = {advance}\n"));
        let beaten = (0..20).any(|_| {
            let game_match = opened(&referee, "trainer", Seat::First);
            let outcome =
                play_out(&referee, &game_match.id, Level::Average).state.outcome().expect("it is over");
            outcome.winner == Some(Seat::First)
        });
        assert!(beaten, "Average beats Trainer one time in twenty");
        let level_of_new = |text: &str| {
            referee.write(ANN, text);
            let mut ids = Vec::new();
            let mut take = |row: MatchOverview| ids.push(row.id);
            referee
                .block_on(referee.office().store.list_matches(Some(Stage::Running), &mut take))
                .expect("matches");
            let game_match = referee.find(&ids[0]);
            referee.reply(ANN, &to_ann(&referee), "RESIGN CONFIRM");
            game_match.house.second.expect("the house plays")
        };
        assert_eq!(level_of_new("CHALLENGE house quad first=me"), next);
        assert_eq!(
            level_of_new("CHALLENGE house quad first=me level=expert"),
            "expert",
            "the level named in the challenge"
        );
        assert_eq!(level_of_new("CHALLENGE house quad first=me"), next, "a defeat does not advance a player");
    }
}

#[test]
fn a_challenge_that_the_house_cannot_accept_is_refused_with_an_example() {
    let referee = Referee::new();
    for (text, says, example) in [
        (
            "CHALLENGE house quadrant-z level=expert",
            "trainer, easy, average",
            "| CHALLENGE house quadrant-z level=",
        ),
        (
            "CHALLENGE house quad level=master",
            "trainer, easy, average, expert",
            "| CHALLENGE house quad level=",
        ),
        ("CHALLENGE house:master quad", "at the level master", "| CHALLENGE house quad level="),
        ("CHALLENGE house quad first=bo", "it takes me or house", ""),
        ("CHALLENGE house quantum quiet_limit=300", "it takes a whole number from 1 to 100", ""),
        ("CHALLENGE house quadrant-z turn_limit=101", "it takes a whole number from 1 to 100", ""),
        ("CHALLENGE house chess", "The house does not play chess", "| CHALLENGE house quad"),
        ("CHALLENGE house quad swop=on", "has no option", ""),
    ] {
        referee.write(ANN, text);
        referee.one_to(ANN).says("Your CHALLENGE had no effect").says(says).says(example);
    }
    assert!(referee.block_on(referee.office().store.match_ids()).expect("the store answers").is_empty());
}

#[test]
fn a_player_has_at_most_ten_matches_against_the_house() {
    let referee = Referee::answering(ANN, "");
    for days in [1..=8, 9..=12] {
        let lines: Vec<String> = days.map(|n| format!("CHALLENGE house quad first=me days={n}")).collect();
        referee.write(ANN, &lines.join("\n"));
    }
    referee.write(ANN, "CHALLENGE house quad first=me");
    referee.last_to(ANN).says("You are playing 10 matches against the house");
    assert_eq!(referee.block_on(referee.office().store.match_ids()).expect("the store answers").len(), 10);
}

#[test]
fn the_receipt_is_sent_alone_if_the_house_takes_long_and_a_crash_between_loses_nothing() {
    let mut referee = Referee::new();
    let waits = house_is_due(&referee);
    referee.sent_to(ANN);
    assert_eq!((waits.deadline, waits.wake_at()), (None, Some(referee.now())));
    referee.block_on(sending::send_due(referee.office())).expect("it sends");
    assert!(referee.sent_to(ANN).is_empty(), "it waits for the house");
    referee.sleep(1);
    referee.block_on(sending::send_due(referee.office())).expect("it sends");
    referee.one_to(ANN).says("Your orders are sealed").says("What happened in turn 1");
    referee.restart();
    referee.sleep(24 * 30);
    referee.work();
    let played = referee.find(&waits.id);
    assert_eq!((played.adjudicated.len(), played.house_due()), (2, None));
    assert!(played.deadline > Some(referee.now()), "Ann's time starts when the house has moved");
    referee.one_to(ANN).says("The house (average) played").keeps_silent_of("Your orders are sealed");
}

#[test]
fn a_letter_that_the_house_answers_has_one_answer_with_both_turns() {
    let referee = Referee::new();
    let game_match = opened(&referee, "average", Seat::First);
    let invitation = to_ann(&referee);
    referee.sent_to(ANN);
    let letter = referee.answer(ANN, &invitation, "MARBLE F6\nHello, house!");
    referee.receive(&letter);
    let answer = referee.one_to(ANN);
    answer.says("Your orders are sealed").says("| MARBLE F6").says("Hello, house!");
    answer.says("Your move has been played, and so has the next turn").says("What happened in turns 1 and 2");
    let message_id = letter.lines().find_map(|line| line.strip_prefix("Message-ID: <")?.strip_suffix('>'));
    assert_eq!(answer.in_reply_to.as_deref(), message_id);
    assert!(answer.subject.contains("Turn 3: your move"), "{}", answer.subject);
    // Her next letter gets the same kind of answer, without the turns that were already reported.
    let free = ["MARBLE A2", "MARBLE K2"].into_iter().find(|order| !answer.text.contains(&order[7..]));
    referee.reply(ANN, &answer, free.expect("a free point"));
    let answer = referee.one_to(ANN);
    answer.says("What happened in turns 3 and 4").keeps_silent_of("turns 1 and 2");
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn a_player_without_receipts_gets_one_report_of_both_turns() {
    let referee = Referee::new();
    opened(&referee, "average", Seat::First);
    referee.reply(ANN, &to_ann(&referee), "SETTINGS receipts=faults");
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann(&referee), "MARBLE F6");
    let report = referee.one_to(ANN);
    report.says("Your orders, which came").says("| MARBLE F6").says("What happened in turns 1 and 2");
    report.keeps_silent_of("sealed");
}

#[test]
fn a_letter_with_commands_is_answered_at_once() {
    let referee = Referee::new();
    opened(&referee, "average", Seat::First);
    referee.sent_to(ANN);
    arrives(&referee, &referee.answer(ANN, &to_ann(&referee), "MARBLE F6\nSTATUS"));
    referee.block_on(sending::send_due(referee.office())).expect("it sends");
    referee.one_to(ANN).says("Your orders are sealed");
    referee.work();
    referee.one_to(ANN).says("The house (average) played").keeps_silent_of("Your orders are sealed");
}

#[test]
fn resigning_before_the_house_has_moved_brings_the_result_with_the_receipt() {
    let referee = Referee::new();
    let game_match = house_is_due(&referee);
    referee.sent_to(ANN);
    arrives(&referee, &referee.answer(ANN, &to_ann(&referee), "RESIGN CONFIRM"));
    referee.work();
    let [_, result] = &referee.sent_to(ANN)[..] else { panic!("the answer to RESIGN, and the result") };
    result.says("has won").says("Your orders are sealed").says("What happened in turns 1 and 2");
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn commands_do_not_change_the_turn_of_the_house() {
    let referee = Referee::new();
    let before = house_is_due(&referee);
    arrives(&referee, &referee.answer(ANN, &to_ann(&referee), "STATUS\nEXTEND 3 days"));
    let after = referee.find(&before.id);
    assert!(after.head.seq > before.head.seq, "the letter was ruled on");
    assert_eq!(turn(&referee, &before), turn(&referee, &after));
    referee.work();
    assert!(referee.all_to(ANN).iter().any(|sent| sent.text.contains("There is no deadline now")));
}

#[test]
fn the_gm_learns_that_there_is_no_deadline_on_the_houses_turn() {
    let referee = Referee::new();
    referee.write(GM, "GM LIST");
    let to_gm = referee.one_to(GM);
    let before = house_is_due(&referee);
    arrives(&referee, &referee.answer(GM, &to_gm, &format!("GM MATCH {} EXTEND 3 days", before.id)));
    let action = MatchAction::Act(Act::Extend { days: 3 });
    let extend = Instruction::Match { id: before.id.clone(), turn: None, action };
    let done = referee.block_on(instruct::carry_out(referee.office(), &extend)).expect("the store answers");
    assert!(!done.is_done());
    assert_eq!(referee.find(&before.id), before, "the match is unchanged");
    referee.work();
    referee.one_to(GM).says("Nothing was done").says("there is no deadline to move: it is the house's turn");
}

#[test]
fn the_house_uses_only_its_view_its_level_and_the_dice_of_the_match() {
    let referee = Referee::new();
    let game_match = house_is_due(&referee);
    let mut other = game_match.clone();
    other.players.first = "Somebody else".to_owned();
    (other.terms.days, other.opened_at, other.head.seq) = (1, referee.now(), 99);
    (other.missed, other.adjudicated) = (BySeat::new(1, 0), Vec::new());
    assert_eq!(turn(&referee, &other), turn(&referee, &game_match));
    let Some(HousePlay { orders, .. }) = turn(&referee, &game_match) else { panic!("it plays") };
    let view = board(&referee, &game_match.id).view(Seat::Second);
    let chosen =
        quad::choose(&view, Level::Average, Dice::new(game_match.key.dice(game_match.phase_no))).orders;
    assert_eq!(orders, chosen.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_ne!(game_match.key.dice(2), game_match.key.dice(3));
    let of_first =
        ledger::what_seat_saw(&entries(&referee, &game_match.id), Seat::First).expect("a sound ledger");
    assert_eq!(game_match.house_turn(&of_first, &house::play), None, "nothing is due from that seat");
    referee.work();
}

#[test]
fn the_house_agrees_to_extensions_declines_draws_and_gets_no_messages() {
    let referee = Referee::new();
    let game_match = opened(&referee, "average", Seat::First);
    let before = game_match.deadline.expect("Ann's days run");
    referee.reply(ANN, &to_ann(&referee), "EXTEND 3 days\nDRAW\nAGREE\nTELL Hello there\nEND\nSUBSTITUTE");
    let game_match = referee.find(&game_match.id);
    assert_eq!(
        (game_match.deadline.map(|moved| (moved - before).num_days()), game_match.draw_offer),
        (Some(3), None)
    );
    let answer = referee.last_to(ANN);
    answer.says("Agreed: the deadline has moved").says("the house (average) plays on");
    answer
        .says("The house (average) has not asked for anything")
        .says("the house (average) does not read messages");
    answer.says("The GM has been asked to find somebody to take over your seat");
    referee.sent_to(GM);
    referee.reply(ANN, &answer, "PROTEST It cheats.");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Paused);
    referee.reply(ANN, &answer, "MARBLE F6");
    referee.advance(1);
    referee.reply(GM, &referee.last_to(GM), &format!("GM MATCH {} RESUME", game_match.id));
    let game_match = referee.find(&game_match.id);
    assert_eq!(
        (game_match.stage, game_match.adjudicated.len()),
        (Stage::Running, 2),
        "the house has played on"
    );
}

#[test]
fn the_house_gets_no_reminders_but_its_opponent_does() {
    let referee = Referee::new();
    let game_match = opened(&referee, "easy", Seat::Second);
    referee.sent_to(ANN);
    referee.advance(24 * 6);
    assert!(
        referee.sent_to(ANN).iter().any(|sent| sent.text.contains("you have not filed any orders")),
        "a reminder"
    );
    let seats = entries(&referee, &game_match.id).into_iter().filter_map(|entry| match entry.fact {
        Fact::ReminderSent { seat, .. } => Some(vec![seat]),
        Fact::DeadlineMissed { seats, .. } | Fact::DeadlineSet { seats, .. } => Some(seats),
        _ => None,
    });
    assert!(seats.flatten().all(|seat| seat == Seat::Second));
}

#[test]
fn the_gm_can_replace_the_house_by_a_person_and_a_person_by_the_house() {
    let referee = Referee::new();
    let game_match = opened(&referee, "easy", Seat::First);
    referee.sent_to(ANN);
    let asks = |line: &str| {
        referee.write(GM, "GM LIST");
        let letter = referee.last_to(GM);
        referee.reply(GM, &letter, line);
        referee.last_to(GM)
    };
    asks(&format!("GM MATCH {} TOKEN second", game_match.id)).says("The house holds that seat");
    asks(&format!("GM MATCH {} REPLACE first house", game_match.id))
        .says("holds a seat of that match already");
    asks(&format!("GM MATCH {} REPLACE second {BO}", game_match.id)).says("Done");
    assert_eq!(referee.find(&game_match.id).house, BySeat::default());
    referee.one_to(ANN).says("given the seat of the house (easy) to bo");
    referee.one_to(BO).says("The GM has given you a seat");
    asks(&format!("GM MATCH {} REPLACE first house:master", game_match.id)).says("at the level master");
    asks(&format!("GM MATCH {} REPLACE first house:expert", game_match.id)).says("Done");
    let after = referee.find(&game_match.id);
    assert_eq!((after.house.first.as_deref(), after.adjudicated.len()), (Some("expert"), 1), "it has played");
    let to_bo = referee.sent_to(BO);
    to_bo[0].says("to the house (expert)");
    referee.one_to(ANN).says("to the house (expert)");
    referee.reply(BO, &to_bo[1], "MARBLE A2");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 3);
    let [id] = &asks(&format!("GM NEW quad {ANN} house:average trainer=on"))
        .text
        .split_whitespace()
        .filter(|word| word.starts_with("QD-"))
        .map(str::to_owned)
        .collect::<Vec<_>>()[..]
    else {
        panic!("a match opens")
    };
    assert_eq!(referee.find(id).house.second.as_deref(), Some("average"));
}

#[test]
fn the_house_plays_a_reopened_turn_again() {
    let referee = Referee::new();
    let game_match = opened(&referee, "average", Seat::First);
    referee.reply(ANN, &to_ann(&referee), "MARBLE F6");
    let action = MatchAction::Correct { turn: 2, reason: "another try".to_owned(), orders: None };
    let again = Instruction::Match { id: game_match.id.clone(), turn: None, action };
    referee.block_on(instruct::carry_out(referee.office(), &again)).expect("it is done");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.work();
    assert_eq!(
        (referee.find(&game_match.id).adjudicated.len(), referee.find(&game_match.id).house_due()),
        (2, None)
    );
}

#[test]
fn the_settle_time_is_for_the_houses_opponent_only() {
    let referee = Referee::with("settle_minutes = 30\n");
    let game_match = opened(&referee, "average", Seat::Second);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.reply(ANN, &to_ann(&referee), "MARBLE A2");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1, "Ann can still amend");
    referee.advance(1);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 3);
}

#[test]
fn a_dossier_shows_the_turns_of_the_house_which_a_third_party_finds_again() {
    let referee = Referee::new();
    let game_match = opened(&referee, "average", Seat::First);
    referee.reply(ANN, &to_ann(&referee), "MARBLE F6");
    referee.reply(ANN, &to_ann(&referee), "RESIGN CONFIRM");
    let head = referee.find(&game_match.id).head;
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let material = referee
        .block_on(dossier::material(referee.office(), &game_match.id, None, ""))
        .expect("the account's material");
    let page = account::text(&material, None).expect("worded").expect("a page");
    assert!(page.contains(", by the house\n") && page.contains("against the house (average)"), "{page}");
    let turn = |turn| {
        let page = account::text(&material, Some(turn)).expect("worded");
        page.expect("such a turn")
    };
    let by_the_house = |page: &str| page.contains(", by the house\n");
    assert_eq!([1, 2, 3].map(|no| by_the_house(&turn(no))), [false, true, false], "each turn by its number");
    let verdict = audited(files);
    assert!(verdict.is_sound(), "{verdict:#?}");
    assert_eq!(verdict.head, head);
}
