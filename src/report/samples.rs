//! Sample values for every letter, to try templates out with.

use chrono::{DateTime, Utc};

use super::{Club, TemplateError, Templates, word, word_alarm, word_for_stranger};
use crate::game::any::{Choices, Kind};
use crate::game::record::Ending;
use crate::game::{BySeat, Fault, Line, Phase, Seat};
use crate::ledger::{Desk, SealKey};
use crate::letter::Digest;
use crate::referee::{
    self, Adjudged, Again, Answer, Content, Dispatch, Match, Notice, Opening, Orders, Reader, Reply, Terms,
};

const CLUB: Club<'static> = Club { name: "The Fog Club", address: "referee@club.example" };

pub fn try_out(templates: &Templates) -> Result<(), TemplateError> {
    let at = DateTime::UNIX_EPOCH;
    for kind in Kind::ALL {
        let opening = Opening {
            id: format!("{}-0000", kind.prefix()),
            game: *kind,
            choices: Choices::default(),
            players: BySeat::new("Ann".to_owned(), "Bo".to_owned()),
            terms: Terms::default(),
            desk: Desk { address: CLUB.address.to_owned(), wording: Digest::from([0; 32]) },
            key: SealKey::new([0; 32]),
        };
        let mut m = referee::open(opening, "GM", at).after;
        try_match(templates, &m, at)?;
        m.state.close(Ending::Resign(Seat::First).outcome());
        m.stage = referee::Stage::Over;
        try_match(templates, &m, at)?;
    }
    for reply in replies() {
        if matches!(reply, Reply::Help { .. } | Reply::Games | Reply::Rules { .. }) {
            word_for_stranger(templates, &CLUB, &[reply], "Why.")?;
        }
    }
    word_alarm(templates, &CLUB, &[("QZ-0000".to_owned(), vec!["entry #1: a sentence".to_owned()])])?;
    word_for_stranger(templates, &CLUB, &[], "").map(|_| ())
}

fn try_match(templates: &Templates, m: &Match, at: DateTime<Utc>) -> Result<(), TemplateError> {
    for content in contents(m) {
        for seat in Seat::BOTH {
            let dispatch = Dispatch { to: Reader::Seat(seat), content: content.clone() };
            word(templates, &CLUB, m, &dispatch, "0000000000000000", at)?;
        }
    }
    for notice in notices() {
        let dispatch = Dispatch { to: Reader::Gm, content: Content::Notice(notice) };
        word(templates, &CLUB, m, &dispatch, "", at)?;
    }
    Ok(())
}

fn contents(m: &Match) -> Vec<Content> {
    let step =
        Adjudged { phase: m.due().map_or(Phase::Turn, |due| due.phase), turn: 1, state: m.state.clone() };
    let mut contents = vec![
        Content::Invitation,
        Content::Report { steps: vec![step], missed: Seat::BOTH.to_vec() },
        Content::Reminder,
        Content::Missed { seats: Seat::BOTH.to_vec() },
    ];
    contents.extend(notices().into_iter().map(Content::Notice));
    contents.extend(answers().into_iter().map(Content::Answer));
    contents
}

fn answers() -> Vec<Answer> {
    let fault = Fault::on(1, "A reason.").with_example("AN EXAMPLE");
    let written = vec![Line { no: 1, text: "A line".to_owned() }];
    let again = Again { title: "A report".to_owned(), lines: vec!["A line".to_owned()] };
    let orders = [
        Orders::None,
        Orders::Refused { faults: vec![fault.clone(), Fault::whole("All of it.")], check: true },
    ];
    let with_orders = orders.map(|orders| Answer { orders, quoted: written.clone(), ..Answer::default() });
    let mut answers = with_orders.to_vec();
    answers.push(Answer {
        to: Some(Digest::from([0; 32])),
        replies: replies(),
        faults: vec![fault],
        remarks: written,
        unread: Some("It is encrypted.".to_owned()),
        reports: vec![again],
        matches: vec!["QZ-0000".to_owned()],
        ..Answer::default()
    });
    answers
}

fn replies() -> Vec<Reply> {
    let day = chrono::NaiveDate::default();
    let mut replies = vec![
        Reply::Status,
        Reply::Report { turn: Some(1) },
        Reply::History,
        Reply::Help { topic: None },
        Reply::Games,
        Reply::Rules { game: None },
        Reply::Matches,
        Reply::Told,
        Reply::NoPress,
        Reply::Resigned,
        Reply::ResignUnconfirmed,
        Reply::DrawOffered,
        Reply::DrawAgreed,
        Reply::ExtensionAsked { days: 1 },
        Reply::ExtensionTooLong { most: 1 },
        Reply::ExtensionAgreed,
        Reply::NothingToAgree,
        Reply::AbsenceNoted { from: day, to: day },
        Reply::AbsenceRefused { most: 1 },
        Reply::SubstituteAsked,
        Reply::Protested,
        Reply::MatchOver,
        Reply::NotHere { command: "OPEN".to_owned() },
    ];
    replies.extend(Kind::ALL.iter().map(|kind| Reply::Rules { game: Some(kind.key().to_owned()) }));
    replies
}

fn notices() -> Vec<Notice> {
    let (by, day) = (Seat::First, chrono::NaiveDate::default());
    vec![
        Notice::DrawOffered { by },
        Notice::ExtensionAsked { by, days: 1 },
        Notice::Extended { days: 1 },
        Notice::Slid,
        Notice::Absent { seat: by, from: day, to: day },
        Notice::SubstituteAsked { by },
        Notice::Protested { by, text: Some("It was so.".to_owned()) },
        Notice::Paused { reason: "a reason".to_owned() },
        Notice::Resumed,
        Notice::Message { by, text: "Hello".to_owned() },
        Notice::Overdue { seats: vec![by], bouncing: vec![by] },
        Notice::Over { outcome: Ending::Draw.outcome() },
    ]
}
