//! What letters say beside their orders: a thousand letters as people write them, in every language. The writers of
//! `beside.toml` and `beside-blind.toml` did not see the lists of words; those were extended by the letters since.

use fogpost::game::Line;
use fogpost::game::any::GameKind;
use fogpost::letter::{Letter, Limits};
use fogpost::request::{Beside, Request, Writer, lines_of};
use serde::Deserialize;

use crate::own;

/// Maximum letters of courtesies, out of a hundred, whose orders wait.
const MOST_DELAYED: usize = 10;

/// Minimum letters with a sign, out of a hundred, whose sign is seen; the others count as other words.
const FEWEST_SIGNS: usize = 95;

#[derive(Deserialize)]
struct Corpus {
    letter: Vec<Sample>,
}

#[derive(Clone, Deserialize)]
struct Sample {
    language: String,
    /// `nothing`, `words` or `sign`.
    says: String,
    text: String,
}

impl Sample {
    /// What is read beside the order. If the letter leaves a doubt, its writer is asked anyway.
    fn read(&self) -> (Beside, bool) {
        let head = "From: ann@players.example\r\nSubject: Re: [QD-AAAA] Turn 1\r\n\
                    Content-Type: text/plain; charset=utf-8\r\n\r\n";
        let raw = format!("{head}{}", self.text);
        let letter = Letter::read(raw.as_bytes(), &own(), &Limits::default()).expect("a letter");
        let request = Request::read(&lines_of(letter.new_text(None)), GameKind::Quad);
        // The name on a letter is in its writer's script.
        let names = ["Ann Adams", "Bob Baker", "Энн", "アン・アダムス"];
        let writer = Writer { names: &names, ..Writer::STRANGER };
        (request.beside(writer), !request.doubts.is_empty() || !request.faults.is_empty())
    }
}

/// What a letter with a marble and this text says, if the opponent has this name.
fn read(text: &str, foe: &str) -> Beside {
    let lines = Line::numbered(&format!("{text}\nMARBLE G7").lines().collect::<Vec<_>>());
    Request::read(&lines, GameKind::Quad).beside(Writer { names: &["Ann", foe], ..Writer::STRANGER })
}

#[test]
fn a_name_makes_no_denial_a_courtesy() {
    assert_eq!(read("Thank you, Noa!", "Noa"), Beside::Nothing);
    assert_eq!(read("No, thank you.", "Noa"), Beside::Sign);
    assert_eq!(read("Stop!", "Stoppard"), Beside::Sign);
}

/// Only below a sign-off is a line a name that nobody bears.
#[test]
fn a_word_alone_at_the_end_is_no_name() {
    let lines = Line::numbered(&["MARBLE G7", "", "Example"]);
    let writer = Writer { names: &["Ann", "Bob"], ..Writer::STRANGER };
    assert_eq!(Request::read(&lines, GameKind::Quad).beside(writer), Beside::Words);
}

#[test]
fn a_long_greeting_hides_nothing() {
    assert_eq!(read("Good morning dear Mr Bob,", "Bob"), Beside::Nothing);
    assert!(read("Hello hello good morning hello hello good morning, DO NOT PLAY", "Bob") > Beside::Nothing);
}

/// Letters of the language that was added last, whose lists were written without an archive of letters.
#[test]
fn swedish_courtesies_wait_at_no_time_and_what_takes_back_waits() {
    let corpus: Corpus = toml::from_str(include_str!("beside.toml")).expect("a corpus");
    let swedish = || corpus.letter.iter().filter(|sample| sample.language == "sv");
    for sample in swedish() {
        let (beside, is_asked) = sample.read();
        let waits = is_asked || beside > Beside::Nothing;
        assert_eq!(waits, sample.says != "nothing", "{beside:?}, asked {is_asked}: {}", sample.text);
    }
    assert_eq!(swedish().filter(|sample| sample.says == "nothing").count(), 20);
    assert_eq!(swedish().filter(|sample| sample.says == "sign").count(), 15);
}

fn shown<'a>(samples: impl Iterator<Item = &'a Sample>) -> String {
    samples.map(|sample| format!("[{}] {}\n", sample.language, sample.text)).collect()
}

/// Courtesies delay few orders, and no order is played at once beside words that may take it back.
#[test]
fn letters_of_people_say_what_they_say() {
    let corpora = [include_str!("beside.toml"), include_str!("beside-blind.toml")];
    let letters = corpora.map(|corpus| toml::from_str::<Corpus>(corpus).expect("a corpus").letter).concat();
    let read: Vec<(&Sample, Beside, bool)> = letters
        .iter()
        .map(|sample| {
            let (beside, is_asked) = sample.read();
            (sample, beside, is_asked)
        })
        .collect();
    let of =
        |is_courtesy: bool| read.iter().filter(move |(sample, ..)| (sample.says == "nothing") == is_courtesy);
    let unseen = of(false).filter(|(_, beside, is_asked)| *beside == Beside::Nothing && !is_asked);
    let unseen = shown(unseen.map(|(sample, ..)| *sample));
    assert!(unseen.is_empty(), "played at once:\n{unseen}");
    let all = of(true).count();
    let delayed = || of(true).filter(|(_, beside, is_asked)| *beside > Beside::Nothing || *is_asked);
    let count = delayed().count();
    let text = || shown(delayed().map(|(sample, ..)| *sample));
    assert!(count * 100 <= all * MOST_DELAYED, "{count} of {all} wait:\n{}", text());
    let signs: Vec<_> = read.iter().filter(|(sample, ..)| sample.says == "sign").collect();
    let missed = || signs.iter().filter(|(_, beside, is_asked)| *beside < Beside::Sign && !is_asked);
    let seen = signs.len() - missed().count();
    let text = || shown(missed().map(|(sample, ..)| *sample));
    assert!(seen * 100 >= signs.len() * FEWEST_SIGNS, "{seen} of {} are seen:\n{}", signs.len(), text());
}
