//! The club's players: their names in letters and ledgers, and their addresses.

use fogpost::daemon::instruct;
use fogpost::daemon::{Holder, NamedAddress, NewMatch};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;

use crate::positions::{kinds, quad};
use crate::referee::{ANN, BO, GM, Referee, Sent};

const CY: &str = "cy@players.example";
const EVE: &str = "eve@elsewhere.example";

/// Sends a letter from the GM and returns the answer.
fn ask(referee: &Referee, lines: &str) -> Sent {
    if referee.all_to(GM).is_empty() {
        referee.write(GM, "GM LIST");
    }
    let last = referee.all_to(GM).pop().expect("a letter with the GM's token");
    referee.sent_to(GM);
    referee.reply(GM, &last, lines);
    referee.sent_to(GM).into_iter().find(|sent| sent.in_reply_to.is_some()).expect("an answer")
}

#[test]
fn a_new_name_appears_in_open_matches_and_in_the_record() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    ask(&referee, &format!("CHECK\nGM PLAYER RENAME {ANN} Anna Archer"))
        .says("This would be done")
        .says("Ann (P-1) would be called Anna Archer");
    assert_eq!(referee.find(&game_match.id).players.first, "Ann");
    ask(&referee, &format!("GM PLAYER RENAME {ANN} Anna Archer"))
        .says("Anna Archer (P-1): ann@players.example");
    assert_eq!(referee.find(&game_match.id).players.first, "Anna Archer");
    for reader in [ANN, BO] {
        let told = referee.one_to(reader);
        told.says("Ann is now called Anna Archer").says(&format!("This is about {}", game_match.id));
    }
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    let renamed = entries.iter().find(|entry| entry.kind == "PlayerRenamed").expect("an entry");
    assert!(renamed.json.contains("The GM"), "{}", renamed.json);
    // Repeating it changes nothing.
    ask(&referee, &format!("GM PLAYER RENAME {ANN} Anna Archer\nGM LIST")).says("Anna Archer");
    assert!(referee.sent_to(BO).is_empty());
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.last_to(ANN);
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    let result = referee.last_to(BO);
    result.says("Anna Archer has won this match");
    assert!(result.attachments[0].1.contains("first = \"Anna Archer\""), "{}", result.attachments[0].1);
}

#[test]
fn a_name_has_at_most_forty_letters() {
    let referee = Referee::new();
    quad(&referee);
    let long = "An".repeat(21);
    for asked in [format!("GM PLAYER RENAME {ANN} {long}"), format!("GM PLAYER ADD {EVE} {long}")] {
        ask(&referee, &asked).says("A name is one line of at most 40 letters");
    }
    for asked in
        [format!("GM PLAYER RENAME {ANN} RESIGN CONFIRM"), format!("GM PLAYER ADD {EVE} Ship 1 hold")]
    {
        ask(&referee, &asked).says("A name must not read like an order or a command");
    }
    ask(&referee, "GM PLAYER ADD hold@x.example").says("player hold (P-3): hold@x.example");
    ask(&referee, "GM PLAYER ADD e5@x.example").says("a player (P-4): e5@x.example");
    ask(&referee, "GM PLAYER ADD star@x.example Bianca Star").says("Bianca Star (P-5): star@x.example");
    let stranger = format!("{}@x.example", "e".repeat(45));
    ask(&referee, &format!("GM PLAYER ADD {stranger}"))
        .says(&format!("{} (P-6):", "e".repeat(40)))
        .says(&stranger);
}

#[test]
fn a_merge_moves_seats_names_and_letters() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    ask(&referee, &format!("GM PLAYER ADD {EVE} Ann-Eve"));
    ask(&referee, &format!("CHECK\nGM PLAYER MERGE {ANN} INTO {EVE}"))
        .says("This would be done")
        .says("would get the addresses and 1 match");
    ask(&referee, &format!("GM PLAYER MERGE {ANN} INTO {EVE}"))
        .says(&format!("Ann-Eve (P-3): {EVE}, {ANN} Plays in {}", game_match.id));
    referee.one_to(EVE).says("Ann is now called Ann-Eve");
    // Both addresses are hers, and the first one gets the answers.
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let report = &referee.one_to(EVE);
    report.says("Your orders are sealed");
    assert!(referee.sent_to(ANN).is_empty());
    referee.reply(EVE, report, "STATUS");
    referee.one_to(EVE).says("Turn 2 waits for Bo");
    referee.last_to(BO).says("Turn 2 waits for your orders");
    ask(&referee, &format!("GM PLAYER MERGE {EVE} INTO {EVE}")).says("cannot become one player");
    ask(&referee, &format!("GM PLAYER MERGE nobody@x.example INTO {EVE}"))
        .says("Nobody has the address nobody@x.example");
}

#[test]
fn a_gm_writes_to_a_player_at_another_address() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    let change = format!("GM PLAYER ADDRESS Ann TO {EVE}");
    ask(&referee, &format!("CHECK\n{change}"))
        .says("This would be done")
        .says(&format!("Letters to Ann would go to {EVE}"));
    ask(&referee, &format!("GM PLAYER ADDRESS Ann TO {BO}")).says("is the address of Bo (P-2)");
    ask(&referee, &change).says(&format!("Ann (P-1): {EVE}, {ANN}"));
    for address in [EVE, ANN] {
        referee.one_to(address).says(&format!("From now on I write to you at {EVE}"));
    }
    // Both addresses are hers, and the first one gets the answers.
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.last_to(EVE).says("Your orders are sealed");
    referee.reply(BO, &to_bo, "STATUS");
    assert!(kinds(&referee, &game_match).iter().any(|kind| kind == "HolderPinned"));
    ask(&referee, &format!("GM PLAYER ADDRESS Ann REMOVE {ANN}")).says(&format!("Ann (P-1): {EVE}"));
    referee.last_to(ANN).says("This address was removed from yours");
    ask(&referee, &format!("GM PLAYER ADDRESS Ann REMOVE {EVE}")).says("is the only address of Ann");
}

#[test]
fn a_gm_who_plays_does_not_decide_where_letters_of_the_opponent_go() {
    let referee = Referee::with_gms("[[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n");
    let (_, _, to_bo) = quad(&referee);
    referee.write(BO, "GM LIST");
    let last = referee.last_to(BO);
    for act in ["TO", "REMOVE"] {
        let address = if act == "TO" { EVE } else { ANN };
        referee.reply(BO, &last, &format!("GM PLAYER ADDRESS Ann {act} {address}"));
        referee.last_to(BO).says("You play in a match with Ann, so another GM has to do this.");
    }
    assert!(!to_bo.text.is_empty() && referee.sent_to(EVE).is_empty());
}

#[test]
fn a_player_can_write_from_any_of_their_addresses() {
    let referee = Referee::new();
    ask(&referee, &format!("GM PLAYER ADD {EVE} Ann\nGM PLAYER ADD {ANN} Ann"));
    ask(&referee, &format!("GM PLAYER MERGE {EVE} INTO {ANN}"));
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(EVE, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.sent_to(ANN)[0].says("Your orders are sealed");
    assert!(referee.sent_to(EVE).is_empty(), "the first address gets the answers");
}

#[test]
fn a_check_adds_no_player() {
    let referee = Referee::new();
    let (game_match, _, _) = quad(&referee);
    let lines = format!("CHECK\nGM MATCH {} REPLACE first {EVE}\nGM NEW quad {EVE} {BO}", game_match.id);
    ask(&referee, &lines).says("This would be done");
    let eve = referee.block_on(referee.office().store.player_by_address(EVE)).expect("the store answers");
    assert_eq!(eve, None);
    ask(&referee, &format!("GM MATCH {} REPLACE first {BO}", game_match.id))
        .says("Bo holds a seat of that match already");
    ask(&referee, &format!("GM MATCH {} REPLACE first", game_match.id))
        .says("REPLACE needs a seat and a person");
}

#[test]
fn the_gm_rolls_back_and_corrects_by_letter() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let correct = format!("GM MATCH {} CORRECT 2 second It was misread.\nMARBLE A1\nEND", game_match.id);
    ask(&referee, &correct).says("the orders cannot stand").says("Line 2: A1 is a corner");
    let correct = correct.replace("MARBLE A1", "MARBLE B8");
    ask(&referee, &format!("CHECK\n{correct}")).says("This would be done");
    assert!(!kinds(&referee, &game_match).contains(&"CorrectionMade".to_owned()));
    ask(&referee, &correct).says("turn 3: waits for Ann");
    for reader in [ANN, BO] {
        referee.last_to(reader).says("This is a correction by the GM").says("> It was misread.").says("B8");
    }
    ask(&referee, &format!("GM MATCH {} ROLLBACK 2 Both agreed. TURN 3", game_match.id))
        .says("turn 2: waits for Bo");
    referee.last_to(ANN).says("turn 2 is open again").says("> Both agreed.");
    ask(&referee, &format!("GM MATCH {} ROLLBACK 2 Both agreed. TURN 3", game_match.id))
        .says("you meant turn 3, and turn 2 is open");
    ask(&referee, &format!("GM MATCH {} ROLLBACK 9 Both agreed.", game_match.id))
        .says("turn 9 was not adjudicated");
}

#[test]
fn our_lines_stay_short_with_the_longest_names() {
    let referee = Referee::new();
    let long = "Maximiliana Konstantin Featherstonehaugh";
    let game_match = referee.open(GameKind::Pacific, &[]);
    let invitation = referee.one_to(ANN);
    ask(
        &referee,
        &format!("GM PLAYER RENAME {ANN} {long}\nGM PLAYER RENAME {BO} {}", long.replace(' ', "-")),
    );
    referee.reply(ANN, &invitation, "STATUS\nEXTEND 2 days\nTELL hello\nEND\nABSENT 2026-05-17");
    ask(&referee, &format!("GM LIST\nGM MATCH {} PAUSE illness", game_match.id)).says(long);
    for reader in [ANN, BO, GM] {
        for sent in referee.all_to(reader) {
            let wide = sent.text.lines().find(|line| line.chars().count() >= 70);
            assert_eq!(wide, None, "{}", sent.text);
        }
    }
}

/// The next day's digest.
fn next_digest(referee: &Referee) -> Sent {
    referee.advance(26);
    referee.sent_to(GM).into_iter().find(|sent| sent.subject.starts_with("The day at")).expect("a digest")
}

#[test]
fn words_of_a_stranger_are_passed_on_to_the_gm_and_the_answer_says_so() {
    let referee = Referee::new();
    referee.write(CY, "How can I join?\nI have never played by mail.");
    referee
        .one_to(CY)
        .says("I am a program, and have passed your words to the GM, who reads them once a day.")
        .says("Send me the single word HELP");
    assert!(referee.sent_to(GM).is_empty());
    next_digest(&referee).says("How can I join? / I have never played by mail.").says(CY);
    referee.sent_to(CY);
    referee.write(CY, "Dear GM, is there a seat for me?");
    referee.one_to(CY).says("I am a program, and have passed your words to the GM.");
    referee.one_to(GM).says(&format!("{CY} wrote this")).says("> Dear GM, is there a seat for me?");
    referee.write(CY, "HELP");
    referee.one_to(CY).keeps_silent_of("passed your words");
}

#[test]
fn tell_gm_needs_no_token() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    referee.write(ANN, "TELL GM I have lost my old mailbox.");
    referee.one_to(ANN).says("passed your words to the GM.").keeps_silent_of("reply token");
    referee.one_to(GM).says("> I have lost my old mailbox.");
}

#[test]
fn orders_in_a_letter_without_a_token_never_reach_the_gm() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.write(ANN, "Dear GM, what about these?\nMARBLE E5\nSHIP 1 TO B2\nand also SHIP 2 HOLD");
    referee.one_to(ANN).says("Nothing was filed").says("passed your words to the GM");
    referee
        .one_to(GM)
        .says("> Dear GM")
        .says("(3 order lines)")
        .keeps_silent_of("E5")
        .keeps_silent_of("SHIP");
    referee.write(ANN, "TELL GM What about this one?\nMARBLE C4");
    referee.one_to(GM).says("> What about this one?").keeps_silent_of("C4");
    let answer = referee.one_to(ANN);
    answer.says("Nothing was filed").says("passed your words to the GM");
    assert_eq!(answer.token(), invitation.token(), "an answer to this letter counts");
}

#[test]
fn strangers_cannot_flood_the_gm_with_words() {
    let referee = Referee::new();
    for n in 0..30 {
        referee.write(&format!("cy{n}@players.example"), "Dear GM, hello!");
    }
    assert_eq!(referee.sent_to(GM).len(), 10);
    // Ten more letters wait for the next day.
    referee.untidy.set(true);
}

#[test]
fn the_gm_may_be_the_opponent_and_the_answer_says_so() {
    let referee = Referee::new();
    let seated = |name: &str, address: &str| NamedAddress {
        name: name.to_owned(),
        address: Address::parse(address).expect("an address"),
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: GameKind::Quad.choose(None).expect("options of the game"),
        players: BySeat::new(seated("Ann", ANN), seated("The GM", GM)).map(Holder::Player),
        terms: referee.office().config.terms.clone(),
    };
    referee.block_on(instruct::open(referee.office(), new)).expect("the match opens");
    referee.work();
    let invitation = referee.one_to(ANN);
    referee.sent_to(GM);
    referee.reply(ANN, &invitation, "Dear GM, I am ill.\nPlease wait.");
    referee.one_to(ANN).says("the GM has your words now").says("The GM is your opponent in this match.");
    referee.one_to(GM).says("> Dear GM, I am ill.");
    referee.reply(ANN, &invitation, "TELL GM Please wait.");
    referee
        .one_to(ANN)
        .says("Your words were passed on to the GM")
        .says("The GM is your opponent in this match.");
    referee.reply(ANN, &invitation, "CHECK\nMARBLE E5\nI have been in hospital.");
    referee.one_to(ANN).says("the GM has your words now").says("The GM is your opponent in this match.");
    referee.reply(ANN, &invitation, "MARBLE E5");
    referee.sent_to(ANN)[0].keeps_silent_of("The GM is your opponent");
}

#[test]
fn a_gm_names_people_by_name_number_or_address_in_letters() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let tell = |line: &str| ask(&referee, line);
    for named in ["bo", "P-2", BO, "Bo <bo@players.example>"] {
        tell(&format!("GM PLAYER SHOW {named}")).says("Bo (P-2): bo@players.example");
    }
    tell("GM PLAYER SHOW Nobody At All").says("Nobody is called Nobody At All");
    tell("GM PLAYER RENAME Bo Robert").says("Robert (P-2): bo@players.example");
    tell("GM PLAYER RENAME Robert TO Bo Baker the Elder")
        .says("Bo Baker the Elder (P-2): bo@players.example");
    tell("GM PLAYER RENAME P-2 To Nguyen").says("To Nguyen (P-2): bo@players.example");
    tell("GM PLAYER MERGE").says("INTO between them");
    tell("GM PLAYER RENAME bo").says("the new name");
}
