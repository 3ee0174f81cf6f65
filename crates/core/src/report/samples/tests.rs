use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::dialect::own_subjects;
use crate::game::Syntax;
use crate::game::condition::ConditionNews;
use crate::letter::Digest;
use crate::report::COMPILED_IN;
use crate::request::Request;

/// Returns lines that are too wide, and lines that would be read as orders or commands if a mail program
/// quoted the letter without a prefix.
fn faults(letter: &WordedLetter) -> Vec<String> {
    let lines: Vec<Line> =
        (1..).zip(letter.text.lines()).map(|(no, text)| Line { no, text: text.to_owned() }).collect();
    let is_order =
        |line: &str| GameKind::ALL.iter().any(|kind| !matches!(kind.syntax(line), Err(Syntax::Unknown)));
    let request = Request::read(&lines, |line: &str| is_order(line) && !line.starts_with("Line "));
    let (instructions, _) = referee::instructions(&lines);
    let wide = lines.iter().filter(|line| line.text.chars().count() > 70 && !is_board_link(&line.text));
    let mut faults: Vec<String> = wide.map(|line| format!("wide: {}", line.text)).collect();
    faults.extend(misplaced_headings(&letter.text));
    let glued = lines.iter().filter(|line| has_glued_sentences(&line.text));
    faults.extend(glued.map(|line| format!("no blank between sentences: {}", line.text)));
    let subject = &letter.subject;
    faults.extend(request.commands.iter().map(|command| format!("read as {command:?}: {subject}")));
    faults.extend(request.faults.iter().map(|fault| format!("read as {fault:?}: {subject}")));
    faults.extend(instructions.iter().map(|instruction| format!("read as {instruction:?}: {subject}")));
    if request.check || request.wait || request.turn.is_some() {
        faults.push(format!("read as CHECK, WAIT or TURN: {subject}\n{}", letter.text));
    }
    faults
}

/// Whether this is the one line that may be long: a link that is broken leads nowhere.
fn is_board_link(line: &str) -> bool {
    line.starts_with("To move on the board: https://club.example/play/#") && line.len() <= 2000
}

/// Returns headings that follow a line of text: the HTML would make a heading of the whole paragraph.
fn misplaced_headings(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.len() > 2 && line.bytes().all(|byte| byte == b'-');
    let found = lines.windows(3).filter(|three| is_rule(three[2]) && !three[0].is_empty());
    found.map(|three| format!("not a heading of its own: {} / {}", three[0], three[1])).collect()
}

/// Whether a sentence begins right after the full stop of another one.
fn has_glued_sentences(line: &str) -> bool {
    let chars: Vec<char> = line.chars().collect();
    chars.windows(3).any(|three| three[0].is_lowercase() && three[1] == '.' && three[2].is_uppercase())
}

fn assert_none(faults: BTreeSet<String>) {
    assert!(faults.is_empty(), "{}", faults.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn club_letters_are_narrow_and_hold_no_order_or_command() {
    let templates = Templates::new(&BTreeMap::new()).expect("our templates parse");
    let mut found = BTreeSet::new();
    for letter in club_letters() {
        let worded = word_club_letter(&templates, &CLUB, &letter, TOKEN);
        found.extend(faults(&worded.expect("it is worded")));
    }
    assert_none(found);
}

#[test]
fn letters_about_a_match_are_narrow_and_hold_no_order_or_command() {
    let templates = Templates::new(&BTreeMap::new()).expect("our templates parse");
    let mut found = BTreeSet::new();
    for kind in GameKind::ALL {
        let open = open_match(*kind);
        let asked = Match { asked_gm: true, ..open.clone() };
        let over = resigned(open.clone());
        for game_match in [open, asked, over].map(Arc::new) {
            for dispatch in dispatches(&game_match) {
                let worded = word_without_picture(&templates, &game_match, &dispatch, TOKEN);
                let worded = worded.expect("it is worded");
                let players = [Seat::First, Seat::Second].map(|seat| game_match.players[seat].as_str());
                let reply = format!("Re: {}", worded.subject);
                found.extend(
                    own_subjects(&reply, &players).map(|own| format!("no words of ours: {own}: {reply}")),
                );
                // A reminder ends with a date, and the subject of a letter to the GM has no title.
                let added = format!("{reply} - stop");
                let is_seen = own_subjects(&added, &players).eq(["- stop"])
                    || reply.contains("due ")
                    || !worded.subject.contains(": ");
                found.extend((!is_seen).then(|| format!("an end that is not known: {reply}")));
                found.extend(faults(&worded));
            }
        }
    }
    assert_none(found);
}

#[test]
fn no_line_is_broken_into_a_command_wherever_a_name_stands_in_it() {
    let templates = Templates::new(&BTreeMap::new()).expect("our templates parse");
    let mut found = BTreeSet::new();
    // Only contents that name a player depend on the name.
    let mut named = open_match(GameKind::Quad);
    named.players = BySeat::new("Quentin".to_owned(), "Quentin".to_owned());
    let named = Arc::new(named);
    let is_named: Vec<bool> = contents(&named)
        .into_iter()
        .map(|content| {
            let dispatch = Dispatch::new(Reader::Seat(Seat::First), content);
            let worded = word_without_picture(&templates, &named, &dispatch, TOKEN).expect("it is worded");
            worded.text.contains("Quentin")
        })
        .collect();
    assert!(is_named.contains(&true));
    // Names that players may have. A growing first word moves the rest through the line.
    for command in ["RESIGN CONFIRM", "WITHDRAW", "TELL GM", "match QD-7K3M", "Hold"] {
        for length in (1..40 - command.len()).step_by(3) {
            let name = format!("{} {command}", "x".repeat(length));
            let mut game_match = open_match(GameKind::Quad);
            game_match.players = BySeat::new(name.clone(), name.clone());
            let game_match = Arc::new(game_match);
            for (content, _) in contents(&game_match).into_iter().zip(&is_named).filter(|(_, named)| **named)
            {
                let dispatch = Dispatch::new(Reader::Seat(Seat::First), content);
                let worded = word_without_picture(&templates, &game_match, &dispatch, TOKEN);
                let worded = worded.expect("it is worded");
                let lines: Vec<&str> = worded.text.lines().collect();
                let read = Request::read(&Line::numbered(&lines), |_: &str| false);
                found.extend(read.commands.iter().map(|command| format!("{name}: {command:?}")));
                found.extend(read.sections.iter().map(|section| format!("{name}: MATCH {section}")));
                found.extend(read.faults.iter().map(|fault| format!("{name}: {}", fault.reason)));
            }
        }
    }
    assert_none(found);
}

/// Sends every content to each reader who may get it: only notices go to readers without a seat.
fn dispatches(game_match: &Match) -> Vec<Dispatch> {
    let mut dispatches = Vec::new();
    for content in contents(game_match) {
        let mut readers = vec![Reader::Seat(Seat::First), Reader::Seat(Seat::Second)];
        if matches!(content, Content::Notice(_)) {
            readers.extend([Reader::Former(Seat::Second), Reader::Gm]);
        }
        dispatches.extend(readers.into_iter().map(|to| Dispatch::new(to, content.clone())));
    }
    dispatches
}

/// Whether a club can replace a template.
fn is_replaceable(name: &str) -> bool {
    Templates::new(&BTreeMap::from([(name.to_owned(), String::new())])).is_ok()
}

#[test]
fn the_seats_are_told_of_the_templates_that_shape_their_letters() {
    let mut game_match = open_match(GameKind::Quad);
    let (templates, rendered) = Templates::noting();
    for at in [game_match.clone(), resigned(game_match.clone())] {
        check_seats(&templates, &Arc::new(at)).expect("they render");
    }
    let shaping = rendered.lock().expect("nobody else holds it");
    assert!(shaping.contains("match/report.txt") && !shaping.contains("gm/digest.txt"));
    for name in shaping.iter().filter(|name| is_replaceable(name)) {
        game_match.mail_identity.templates = BTreeMap::from([(name.clone(), Digest::from([0; 32]))]);
        let is_told = !game_match.own_templates().is_empty();
        let is_page = ["/aim.txt", "/rules.txt", "/strategy.txt"].iter().any(|page| name.ends_with(page));
        let is_of_other_game = is_page && name != "commands/rules.txt";
        assert!(is_told || is_of_other_game, "{name}");
    }
}

#[test]
fn the_samples_render_the_template_of_every_letter() {
    let (templates, rendered) = Templates::noting();
    render_samples(&templates).expect("they render");
    let rendered = rendered.lock().expect("nobody else holds it");
    let names = COMPILED_IN.iter().map(|(name, _)| *name);
    let missed: Vec<_> = names.filter(|name| is_replaceable(name) && !rendered.contains(*name)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn a_mistake_in_a_clubs_own_template_is_found() {
    for name in ["match/report.txt", "gm/digest-body.txt"] {
        let faulty = BTreeMap::from([(name.to_owned(), "{{ missing }}".to_owned())]);
        let found = check_templates(&Templates::new(&faulty).expect("it can be parsed"));
        assert!(found.is_err_and(|error| error.name == name), "{name}");
    }
}

/// Whether samples have exactly the fields of the program's own values, under the names that templates use.
fn are_complete<T: Deserialize<'static> + serde::Serialize>(samples: &'static str) -> bool {
    let given: serde_json::Value = read(samples);
    serde_json::to_value(read::<T>(samples)).expect("plain values") == given
}

#[test]
fn samples_hold_every_value_that_a_letter_offers_and_no_other() {
    assert!(are_complete::<Vec<ClubLetter>>(include_str!("letters.json")));
    assert!(are_complete::<Vec<Reply>>(include_str!("replies.json")));
    assert!(are_complete::<Vec<Reply>>(include_str!("seat-replies.json")));
    assert!(are_complete::<Vec<Notice>>(include_str!("notices.json")));
    assert!(are_complete::<Vec<ConditionNews>>(include_str!("conditions.json")));
}
