//! People who write about absences, bounces and trouble with mail are not taken for machines, and machines without a
//! mark are not taken for people.

use std::fs;

use fogpost::game::any::GameKind;
use fogpost::letter::{Certainty, Letter};
use fogpost::request::{Request, lines_of};

use super::support_doubt::{Answered, Marks, people, robots};
use super::{folder, read};

fn answered() -> Answered {
    Answered {
        reader: "ann@example.org".to_owned(),
        reply_to: "referee+k3m9q2w7x4t8v1zc@club.example".to_owned(),
        message_id: "k3m9q2w7x4t8v1zc.57@fogpost.club.example".to_owned(),
        subject: "[QZ-7K3M] Turn 4".to_owned(),
        text: fs::read_to_string(folder().join("ours/turn4.txt")).expect("our letter"),
    }
}

fn letter(raw: &str) -> Letter {
    read(raw.replace('\n', "\r\n").as_bytes()).unwrap_or_else(|why| panic!("{:?} in:\n{raw}", why.reason))
}

#[test]
fn no_letter_by_a_person_is_marked_or_met_by_silence() {
    let notes = people();
    assert!(notes.len() >= 300, "{} letters", notes.len());
    let (mut wrong, mut asked) = (Vec::new(), Vec::new());
    for (index, note) in notes.iter().enumerate() {
        // Bare, and in the form that this index has.
        for form in [0, index] {
            let found = letter(&note.by_a_person(form, &answered()));
            let Some(automatic) = found.automatic else { continue };
            let is_asked = automatic.certainty() == Certainty::Suspected && !note.is_fresh();
            let list = if is_asked { &mut asked } else { &mut wrong };
            list.push(format!("{} (form {}): {automatic}", note.name, form % 7));
        }
    }
    println!("people: {}; met by silence: {}; asked: {}", 2 * notes.len(), wrong.len(), asked.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), 2 * notes.len(), wrong.join("\n"));
    // Their writers are asked whether they wrote it, which is a nuisance.
    assert!(asked.len() * 10 <= notes.len() * 2, "{} are asked:\n{}", asked.len(), asked.join("\n"));
}

#[test]
fn fewer_than_two_in_a_hundred_machines_pass_for_people() {
    let notes = robots();
    assert!(2 * notes.len() >= 500, "{} letters", 2 * notes.len());
    let (mut passed, mut acted_on) = (Vec::new(), 0);
    for marks in [Marks::Usual, Marks::None] {
        for (index, note) in notes.iter().enumerate() {
            let found = letter(&note.by_a_machine(index, marks, &answered()));
            if found.automatic.is_none() {
                passed.push(format!("{} ({marks:?})", note.name));
                let lines = lines_of(found.new_text(Some(&answered().text)));
                acted_on += usize::from(!Request::read(&lines, GameKind::QuadrantZ).is_empty());
            }
        }
    }
    println!("machines: {}; pass for people: {}; acted on: {acted_on}", 2 * notes.len(), passed.len());
    assert_eq!(acted_on, 0);
    assert!(passed.len() * 50 < notes.len() * 2, "{} pass:\n{}", passed.len(), passed.join("\n"));
    assert!(!passed.iter().any(|name| name.ends_with("(Usual)")), "marked: {passed:?}");
}
