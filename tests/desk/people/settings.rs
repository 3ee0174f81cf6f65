//! SETTINGS: players' choices for their letters, and their effects.

use fogpost::game::any::GameKind;

use crate::positions::{kinds, quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee};

#[test]
fn settings_alone_shows_them_all() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS");
    let told = referee.one_to(ANN);
    told.says("Your settings:").says("| zone=Europe/Berlin").says("| format=html").says("| receipts=all");
    told.says("| digest=off").says("| reminders=48,12").says("| challenges=on").says("| name=Ann");
}

#[test]
fn several_settings_are_changed_in_one_letter() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(
        ANN,
        &to_ann,
        "SETTINGS zone = america/new_york receipts=faults\nSettings: reminders=12, 48 name=Änne Li",
    );
    let told = referee.one_to(ANN);
    told.says("Your settings are changed").says("| zone=America/New_York").says("| receipts=faults");
    told.says("| reminders=48,12").says("| name=Änne Li").says("| format=html");
}

#[test]
fn one_setting_that_cannot_stand_leaves_all_as_they_are() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    for (faulty, says) in [
        ("zone=Berlin", "| SETTINGS zone=Europe/Berlin"),
        ("zone=Mars/Crater", "| SETTINGS zone=Europe/Berlin"),
        ("format=pdf", "This setting is text or html."),
        ("receipts=none", "| SETTINGS receipts=faults"),
        ("digest=weekly", "| SETTINGS digest=daily"),
        ("reminders=soon", "| SETTINGS reminders=48,12"),
        ("reminders=0", "each from 1 to 720"),
        ("challenges=maybe", "This setting is off or on."),
        ("colour=red", "There is no such setting"),
        ("format", "This setting is text or html."),
    ] {
        referee.reply(ANN, &to_ann, &format!("SETTINGS format=text\nSETTINGS {faulty}"));
        referee.one_to(ANN).says("No setting was changed").says(&format!("> {faulty}")).says(says);
    }
    referee.reply(ANN, &to_ann, "SETTINGS");
    referee.one_to(ANN).says("| format=html");
    assert!(!kinds(&referee, &game_match).contains(&"PlayerSet".to_owned()));
}

#[test]
fn settings_can_be_changed_twenty_times_a_day() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let switch = |n: u32| {
        referee.reply(ANN, &to_ann, &format!("SETTINGS reminders={}", 12 + n));
        referee.one_to(ANN)
    };
    for n in 0..20 {
        switch(n).says("Your settings are changed");
    }
    switch(20).says("you have changed them 20 times today").says("again tomorrow");
    referee.reply(ANN, &to_ann, "SETTINGS challenges=off format=text");
    referee.one_to(ANN).says("No setting was changed");
    referee.reply(ANN, &to_ann, "SETTINGS");
    referee.one_to(ANN).says("| reminders=31").says("| challenges=on").says("| format=html");
    assert_eq!(kinds(&referee, &game_match).iter().filter(|kind| *kind == "PlayerSet").count(), 20);
    referee.advance(24);
    switch(21).says("Your settings are changed");
}

#[test]
fn prose_about_settings_is_a_remark() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "settings are nice here");
    referee.one_to(ANN).says("Your words:").keeps_silent_of("No setting");
}

#[test]
fn times_are_shown_in_the_players_zone_with_its_name() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS zone=America/New_York");
    referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "STATUS\nMATCHES");
    referee.one_to(ANN).says("due Thu 14 May, 14:00 EDT").keeps_silent_of("CEST");
    referee.reply(BO, &to_bo, "STATUS");
    referee.one_to(BO).says("due Thu 14 May, 20:00 CEST");
}

#[test]
fn settings_hold_in_all_matches_of_the_player() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let other = referee.open(GameKind::Quantum, &[]);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "SETTINGS zone=America/New_York");
    assert_eq!(kinds(&referee, &other).last().map(String::as_str), Some("PlayerSet"));
    let opened_later = referee.open(GameKind::Quad, &[]);
    referee.last_to(ANN).says("14:00 EDT");
    assert_eq!(referee.find(&opened_later.id).settings, referee.find(&other.id).settings);
}

#[test]
fn whoever_wants_text_gets_letters_of_text_alone() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS format=text");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.sent_to(ANN);
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    let raw = referee.raw_to(ANN).pop().expect("the result");
    let raw = String::from_utf8_lossy(&raw);
    assert!(!raw.contains("text/html") && !raw.contains("image/png"), "{raw}");
    let result = referee.one_to(ANN);
    result.says("You have won this match");
    assert_eq!(result.attachments.len(), 1, "the record");
    assert_eq!(referee.last_to(BO).pictures, 1);
}

#[test]
fn without_receipts_the_report_repeats_the_orders_and_when_they_came() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS receipts=faults");
    referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "SHIP 1 HOLD");
    assert!(referee.sent_to(ANN).is_empty(), "a plain receipt");
    referee.reply(ANN, &to_ann, "SHIP 9 TO A1");
    referee.one_to(ANN).says("No order in this letter was filed");
    referee.reply(ANN, &to_ann, "SHIP 1 HOLD\nthank you");
    referee.one_to(ANN).says("You also wrote this");
    referee.advance(1);
    referee.reply(BO, &to_bo, "HOLD");
    referee.one_to(ANN).says("Your orders, which came Thu 7 May, 12:00 CEST:").says("| SHIP 1 HOLD");
    referee.one_to(BO).keeps_silent_of("which came").says("Your orders are sealed");
}

#[test]
fn reminders_come_at_the_hours_that_the_player_has_chosen() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS reminders=72");
    referee.sent_to(ANN);
    referee.reply(BO, &to_bo, "SETTINGS reminders=off");
    referee.sent_to(BO);
    // The turn is due on Thu 14 May, 20:00 CEST: in a week and eight hours.
    referee.advance(4 * 24 + 7);
    assert!(referee.sent_to(ANN).is_empty());
    referee.advance(2);
    referee.one_to(ANN).says("you have not filed any orders for turn 1 yet");
    referee.advance(2 * 24 + 22);
    assert!(referee.sent_to(ANN).is_empty() && referee.sent_to(BO).is_empty());
}

#[test]
fn whoever_has_filed_is_not_reminded() {
    let referee = Referee::new();
    let (_, to_ann, _) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS reminders=72");
    referee.reply(ANN, &to_ann, "HOLD");
    referee.sent_to(ANN);
    referee.sent_to(BO);
    referee.advance(7 * 24);
    assert!(referee.sent_to(ANN).is_empty());
    assert_eq!(referee.sent_to(BO).len(), 2);
}

#[test]
fn a_daily_digest_tells_what_waits_and_takes_the_place_of_reminders() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let other = referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "SETTINGS digest=daily reminders=48,2");
    referee.one_to(ANN).says("| digest=daily");
    referee.advance(24);
    let told = referee.one_to(ANN);
    assert_eq!(told.subject, "2 matches wait for your orders");
    told.says(&game_match.id).says(&other.id).says("due Thu 14 May, 20:00 CEST");
    // Six more digests are sent; the last one is sent on the day of the deadline, but more than two hours
    // before it.
    referee.advance(6 * 24 + 5);
    let subjects: Vec<String> = referee.sent_to(ANN).into_iter().map(|sent| sent.subject).collect();
    assert_eq!(subjects.len(), 6, "{subjects:?}");
    assert!(subjects.iter().all(|subject| subject.contains("wait")), "{subjects:?}");
    referee.advance(2);
    let reminders = referee.sent_to(ANN);
    assert_eq!(reminders.len(), 2, "the next digest would come after the deadlines");
    reminders[0].says("you have not filed any orders");
    assert!(kinds(&referee, &game_match).contains(&"ReminderLeftToDigest".to_owned()));
    referee.advance(1);
    referee.reply(ANN, &to_ann, "SETTINGS digest=off");
    referee.sent_to(ANN);
    referee.advance(24);
    assert!(referee.sent_to(ANN).iter().all(|sent| !sent.subject.contains("wait for")));
}

#[test]
fn a_digest_is_not_sent_if_nothing_waits() {
    let referee = Referee::new();
    let (_, _, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "SETTINGS digest=daily");
    referee.one_to(BO);
    referee.advance(3 * 24);
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn a_new_name_is_told_to_each_opponent_in_one_letter() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let other = referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "SETTINGS name=Anna Archer");
    referee.one_to(ANN).says("| name=Anna Archer");
    let told = referee.one_to(BO);
    assert_eq!(told.subject, "Ann is now called Anna Archer");
    told.says(&game_match.id).says(&other.id);
    for id in [&game_match.id, &other.id] {
        assert_eq!(referee.find(id).players.first, "Anna Archer");
    }
}

#[test]
fn a_name_that_is_anothers_or_harmful_is_refused() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let long = "An".repeat(21);
    for (nth, (name, says)) in [
        ("Bo", "Somebody here goes by this name"),
        ("b o", "Somebody here goes by this name"),
        // The first character is Cyrillic.
        ("Во", "Somebody here goes by this name"),
        ("B0", "Somebody here goes by this name"),
        ("B\u{1d52}", "Somebody here goes by this name"),
        ("Bo\u{b2}", "Somebody here goes by this name"),
        ("H0use", "Somebody here goes by this name"),
        ("Bo (P-2)", "no player's number"),
        ("=HYPERLINK(1)", "begins with no =, +, - or @"),
        ("\u{2605}", "letters or digits"),
        ("The GM", "Somebody here goes by this name"),
        ("The Test Club", "Somebody here goes by this name"),
        ("Team Test Club", "Somebody here goes by this name"),
        ("Ann (GM)", "Somebody here goes by this name"),
        ("your Referee", "Somebody here goes by this name"),
        ("The H0use", "Somebody here goes by this name"),
        ("second", "an order or a command"),
        ("QD-7K3M", "an order or a command"),
        (long.as_str(), "at most 40 letters"),
        ("ann@players.example", "not an address"),
        ("Resign confirm", "an order or a command"),
        ("MARBLE E5", "an order or a command"),
        ("Ann of E5", "an order or a command"),
        ("", "at most 40 letters"),
    ]
    .into_iter()
    .enumerate()
    {
        if nth == 15 {
            // So many changes a day are the limit.
            referee.advance(24);
            referee.sent_to(ANN);
        }
        referee.reply(ANN, &to_ann, &format!("SETTINGS name={name}"));
        referee.one_to(ANN).says("No setting was changed").says(says).says("| SETTINGS name=Ann");
    }
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn without_a_token_no_setting_is_changed_before_our_question_is_answered() {
    let referee = Referee::new();
    let (game_match, _, _) = quad(&referee);
    referee.write(ANN, "SETTINGS format=text name=Eve");
    let question = referee.one_to(ANN);
    question.says("Was it you who wrote this?").says("> SETTINGS format=text name=Eve");
    assert!(referee.sent_to(BO).is_empty() && referee.sent_to(GM).is_empty());
    assert_eq!(referee.find(&game_match.id).players.first, "Ann");
    let code = question.text.lines().find_map(|line| line.trim().strip_prefix("| ")).expect("a line");
    referee.reply(ANN, &question, code);
    referee.one_to(ANN).says("| format=text").says("| name=Eve");
    // It counts in the running match, too.
    assert_eq!(referee.find(&game_match.id).players.first, "Eve");
    referee.one_to(BO).says("Eve");
}

#[test]
fn somebody_who_is_no_player_has_no_settings() {
    let referee = Referee::new();
    for line in ["SETTINGS", "SETTINGS zone=Europe/Paris"] {
        referee.write("zed@elsewhere.example", line);
        referee.one_to("zed@elsewhere.example").says("You have no settings yet");
    }
}

#[test]
fn an_absence_is_answered_with_both_instants_in_the_players_zone() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS zone=Asia/Tokyo");
    referee.reply(ANN, &to_ann, "ABSENT 2026-05-15");
    referee.last_to(ANN).says("from Fri 15 May 2026, 00:00 JST to Sat 16 May 2026, 00:00 JST");
    // The deadline on Thu 14 May, 20:00 CEST is a Friday in Tokyo.
    referee.reply(ANN, &to_ann, "STATUS");
    referee.last_to(ANN).says("It is due Sat 16 May, 03:00 JST");
    let deadline = referee.find(&game_match.id).deadline.expect("a deadline");
    assert_eq!(deadline.to_rfc3339(), "2026-05-15T18:00:00+00:00");
}

#[test]
fn a_refused_name_counts_among_the_changes_of_a_day() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for n in 0..20 {
        referee.reply(ANN, &to_ann, &format!("SETTINGS name=Bo{}", "!".repeat(n)));
    }
    // Repeated answers are delayed.
    referee.advance(2);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "SETTINGS name=Anna");
    referee.one_to(ANN).says("you have changed them 20 times today");
}

#[test]
fn of_too_many_settings_in_a_letter_none_is_taken() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let lines = "SETTINGS zone=Asia/Tokyo\n".repeat(20) + "SETTINGS format=text";
    referee.reply(ANN, &to_ann, &lines);
    referee.one_to(ANN).says("No setting was changed").says("can change 20 settings at most");
    referee.reply(ANN, &to_ann, "SETTINGS");
    referee.one_to(ANN).says("zone=Europe/Berlin");
}
