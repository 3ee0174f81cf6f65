//! Sample values for every letter, to try templates out with.

use std::sync::Arc;

use chrono::DateTime;

use super::templates::TOPICS;
use super::{
    Club, ClubLetter, FailedSend, GmDigest, GmItem, GmMatchSummary, GmResult, LetterSummary, RefusalCount,
    TemplateError, Templates, WordedLetter, WordingInput, word_alarm, word_club_letter,
};
use crate::game::any::{Choices, GameKind};
use crate::game::record::Ending;
use crate::game::{BySeat, Fault, Line, Phase, Seat};
use crate::ledger::{MailIdentity, SealKey, Source};
use crate::letter::Digest;
use crate::referee::{
    self, Adjudication, Answer, Content, Dispatch, DispatchKind, Match, MatchSummary, Notice, Offer,
    OfferRejection, OfferSummary, OpenSeat, Opening, Orders, PastReport, Reader, Rejection, Reply, Terms,
};

const CLUB: Club<'static> = Club { name: "The Fog Club", address: "referee@club.example" };

/// Names as long as they can be, one of a single word.
const ANN: &str = "Maximiliana Konstantin Featherstonehaugh";
const BO: &str = "Bo-Wolfeschlegelsteinhausenbergerdorffjr";

const TOKEN: &str = "0000000000000000";

pub fn check_templates(templates: &Templates) -> Result<(), TemplateError> {
    for kind in GameKind::ALL {
        let game_match = opened(*kind);
        let mut over = game_match.clone();
        over.state.close(Ending::Resign(Seat::First).outcome());
        over.stage = referee::Stage::Over;
        try_match(templates, &Arc::new(game_match))?;
        try_match(templates, &Arc::new(over))?;
    }
    for plain in plains() {
        word_club_letter(templates, &CLUB, &plain, "")?;
    }
    word_alarm(templates, &CLUB, &[("QZ-0000".to_owned(), vec!["entry #1: a sentence".to_owned()])])?;
    Ok(())
}

fn plains() -> Vec<ClubLetter> {
    let (by, to, code) = (ANN.to_owned(), BO.to_owned(), "7K3M9P".to_owned());
    let remarks = vec![Line { no: 1, text: "A line".to_owned() }];
    let plain = |reply| ClubLetter::Stranger {
        replies: vec![reply],
        remarks: remarks.clone(),
        why: "Why.".to_owned(),
    };
    let mut plains: Vec<ClubLetter> = offers().into_iter().chain(manual()).map(plain).collect();
    plains.push(ClubLetter::Stranger { replies: Vec::new(), remarks: Vec::new(), why: String::new() });
    let lapses = "Thu 21 May".to_owned();
    plains.push(ClubLetter::Challenge { by, offer: offer(), code: code.clone(), lapses });
    plains.push(ClubLetter::Declined { to: to.clone(), offer: offer() });
    plains.push(ClubLetter::Lapsed { to: Some(to), offer: offer(), code: code.clone() });
    plains.push(ClubLetter::Lapsed { to: None, offer: offer(), code });
    plains.extend(to_gm());
    plains
}

/// Letters to the GM.
fn to_gm() -> Vec<ClubLetter> {
    let text = |text: &str| text.to_owned();
    let line = GmMatchSummary {
        id: text("QU-0000"),
        game_name: "Quad",
        names: [text(ANN), text(BO)],
        phase: text("turn 1"),
        awaited: vec![text(ANN)],
        due_at: Some(text("Thu 21 May")),
        marks: vec![format!("letters to {ANN} come back")],
    };
    let letters =
        vec![LetterSummary { digest: text("0"), at: text("now"), sender: text("x"), note: text("y") }];
    let digest = GmDigest {
        since: text("Thu 21 May"),
        protests: vec![line.clone()],
        overdue: vec![line.clone()],
        late: vec![line.clone()],
        unread: vec![line.clone()],
        refused: vec![RefusalCount { id: text("QU-0000"), count: 1 }],
        failed: vec![FailedSend { recipient: text("x"), kind: DispatchKind::Report, error: text("no") }],
        set_aside: letters.clone(),
        ignored: letters,
        ..GmDigest::default()
    };
    let id = text("QU-0000");
    let untaken = [
        Rejection::Passed,
        Rejection::Over,
        Rejection::Already,
        Rejection::MustMove { seats: vec![Seat::First] },
        Rejection::Faulty { faults: vec![Fault::whole("No.")] },
        Rejection::NotDue { seat: Seat::First },
        Rejection::NoSuchTurn { turn: 1 },
        Rejection::NoDeadline,
    ];
    let mut done = untaken.map(|untaken| GmResult::Rejection { id: id.clone(), untaken }).to_vec();
    done.extend([
        GmResult::Match { line: line.clone() },
        GmResult::Would,
        GmResult::NoMatch { id: id.clone() },
        GmResult::TurnPassed { id: id.clone(), turn: 1, open: None },
        GmResult::TurnPassed { id: id.clone(), turn: 1, open: Some(2) },
        GmResult::List { lines: vec![line] },
        GmResult::List { lines: Vec::new() },
        GmResult::Opened { id: id.clone() },
        GmResult::NoOffer { no: OfferRejection::UnknownGame { name: text("chess") } },
        GmResult::NoOffer { no: OfferRejection::BadOption { reason: text("No.") } },
        GmResult::NoOffer { no: OfferRejection::Yourself },
        GmResult::NoOffer { no: no_house() },
        GmResult::NoOffer { no: no_level() },
        GmResult::Player { name: text(ANN), addresses: vec![], bouncing: true, matches: vec![id.clone()] },
        GmResult::NoPlayer { address: text("x") },
        GmResult::Refused { says: text("No.") },
        GmResult::NotRead { says: text("No."), example: "GM LIST\nEND" },
        GmResult::Digest { digest: None },
        GmResult::Digest { digest: Some(digest.clone()) },
    ]);
    let items = done.into_iter().map(|done| GmItem { asked: text("GM LIST"), done }).collect();
    let remarks = vec![Line { no: 1, text: text("A line") }];
    let error = text("no such user");
    vec![
        ClubLetter::GmAnswer { check: true, items, replies: manual(), remarks, why: text("Why.") },
        ClubLetter::GmAnswer {
            check: false,
            items: Vec::new(),
            replies: Vec::new(),
            remarks: Vec::new(),
            why: String::new(),
        },
        ClubLetter::Digest { digest },
        ClubLetter::GivenUp {
            recipient: text("x"),
            kind: DispatchKind::Report,
            match_id: Some(id.clone()),
            error,
        },
        ClubLetter::SetAside { digest: text("0123456789abcdef"), sender: text("x"), note: text("y") },
        ClubLetter::Unproven { match_id: id },
    ]
}

fn offer() -> OfferSummary {
    Offer { game: GameKind::Quad, choices: Choices::default(), days: Some(3), seat: Some(Seat::First) }
        .summary(&Terms::default())
}

fn no_house() -> OfferRejection {
    OfferRejection::NoHouse { game_name: "Quantum", plays: vec!["quad"] }
}

fn no_level() -> OfferRejection {
    let level = "grandmaster".to_owned();
    OfferRejection::NoLevel { level, game: "quad", game_name: "Quad", levels: vec!["easy", "expert"] }
}

/// Replies about offers.
fn offers() -> Vec<Reply> {
    let (to, code, lapses) = (BO.to_owned(), "7K3M9P".to_owned(), "Thu 21 May".to_owned());
    let open = OpenSeat { code: code.clone(), by: to.clone(), offer: offer(), lapses: lapses.clone() };
    let line = MatchSummary {
        id: "QU-0000".to_owned(),
        game_name: "Quad",
        foe: to.clone(),
        phase: "turn 1".to_owned(),
        awaited: vec![to.clone()],
        due: None,
        due_at: Some(lapses.clone()),
    };
    let whys = [
        OfferRejection::UnknownGame { name: "chess".to_owned() },
        OfferRejection::BadOption { reason: "No.".to_owned() },
        OfferRejection::Yourself,
        OfferRejection::Standing { code: code.clone() },
        OfferRejection::TooMany { most: 1 },
        OfferRejection::NoSuchCode { code: code.clone() },
        OfferRejection::HouseBusy { most: 1 },
        no_house(),
        no_level(),
        OfferRejection::Unproven,
    ];
    let mut replies = whys.map(|why| Reply::NoOffer { command: "OPEN", why }).to_vec();
    replies.extend([
        Reply::Games { seats: vec![open] },
        Reply::Matches { matches: Vec::new() },
        Reply::Matches { matches: vec![line] },
        Reply::Challenged { to, code: code.clone(), offer: offer(), lapses: lapses.clone() },
        Reply::Opened { code, offer: offer(), lapses },
        Reply::Joined { match_id: "QU-0000".to_owned() },
        Reply::Declined,
        Reply::CheckedOnly { command: "OPEN" },
    ]);
    replies
}

/// Replies that are pages of the manual.
fn manual() -> Vec<Reply> {
    let topics = TOPICS.iter().map(|topic| Reply::Help { topic: Some((*topic).to_owned()) });
    let rules = GameKind::ALL.iter().map(|kind| Reply::Rules { game: Some(kind.key().to_owned()) });
    let general = [Reply::Help { topic: None }, Reply::Rules { game: None }];
    topics.chain(rules).chain(general).collect()
}

fn try_match(templates: &Templates, game_match: &Arc<Match>) -> Result<(), TemplateError> {
    for content in contents(game_match) {
        for seat in Seat::BOTH {
            let dispatch = Dispatch { to: Reader::Seat(seat), content: content.clone() };
            page(templates, game_match, &dispatch, TOKEN)?;
        }
    }
    for notice in notices() {
        let former = Dispatch { to: Reader::Former(Seat::First), content: Content::Notice(notice.clone()) };
        page(templates, game_match, &former, "")?;
        let dispatch = Dispatch { to: Reader::Gm, content: Content::Notice(notice) };
        page(templates, game_match, &dispatch, "")?;
    }
    Ok(())
}

/// A match that was just opened.
fn opened(game: GameKind) -> Match {
    let opening = Opening {
        id: format!("{}-0000", game.prefix()),
        game,
        choices: Choices::default(),
        players: BySeat::new(ANN.to_owned(), BO.to_owned()),
        house: BySeat::default(),
        terms: Terms::default(),
        desk: MailIdentity {
            address: CLUB.address.to_owned(),
            wording: Digest::from([0; 32]),
            message_ids: String::new(),
        },
        key: SealKey::new([0; 32]),
    };
    referee::open(opening, Source::Clock, DateTime::UNIX_EPOCH).after
}

/// A letter without its picture, which no template has a part in.
fn page(
    templates: &Templates,
    game_match: &Arc<Match>,
    dispatch: &Dispatch,
    token: &str,
) -> Result<WordedLetter, TemplateError> {
    let input = WordingInput { club: &CLUB, game_match, dispatch, token, at: DateTime::UNIX_EPOCH };
    input.frame(templates, input.board().as_ref()).page()
}

fn contents(game_match: &Match) -> Vec<Content> {
    let step = Adjudication {
        phase: game_match.due().map_or(Phase::Turn, |due| due.phase),
        turn: 1,
        state: game_match.state.clone(),
    };
    let mut contents = vec![
        Content::Invitation,
        Content::Report {
            steps: vec![step],
            missed: Seat::BOTH.to_vec(),
            correction: Some("A reason.".to_owned()),
        },
        Content::Succession,
        Content::Reminder,
        Content::Missed { seats: Seat::BOTH.to_vec() },
    ];
    contents.extend(notices().into_iter().map(Content::Notice));
    contents.extend(answers().into_iter().map(|answer| Content::Answer(Box::new(answer))));
    contents
}

fn answers() -> Vec<Answer> {
    let fault = Fault::on(1, "A reason.").with_example("AN EXAMPLE");
    let written = vec![Line { no: 1, text: "A line".to_owned() }];
    let again = PastReport { title: "A report".to_owned(), lines: vec!["A line".to_owned()] };
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
        remarks: written.clone(),
        replaced: written,
        unread: Some("It is encrypted.".to_owned()),
        reports: vec![again],
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
        Reply::MessagePassed,
        Reply::NoPress,
        Reply::Resigned,
        Reply::ResignUnconfirmed,
        Reply::DrawOffered,
        Reply::DrawAgreed,
        Reply::ExtensionAsked { days: 1 },
        Reply::ExtensionTooLong { most: 1 },
        Reply::ExtensionAgreed,
        Reply::NothingToAgree,
        Reply::NoDeadline,
        Reply::HouseReadsNothing,
        Reply::HousePlaysOn,
        Reply::AbsenceNoted { from: day, to: day },
        Reply::AbsenceRefused { from: day, to: day, left: 1 },
        Reply::SubstituteAsked,
        Reply::Protested,
        Reply::MatchOver,
        Reply::NotHere { command: "OPEN".to_owned() },
    ];
    replies.extend(offers());
    replies.extend(manual());
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
        Notice::Extension { deadline: DateTime::UNIX_EPOCH },
        Notice::NoteOfGm { text: "A note.".to_owned() },
        Notice::FiledByGm { seat: by },
        Notice::Replaced { seat: by, from: ANN.to_owned(), to: BO.to_owned() },
        Notice::TokenRenewed { seat: by },
        Notice::Renamed { from: ANN.to_owned(), to: BO.to_owned() },
        Notice::Reopened { turn: 1, reason: "A reason.".to_owned() },
        Notice::Overdue { seats: vec![by], bouncing: vec![by] },
        Notice::Over { outcome: Ending::Draw.outcome() },
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::game::Syntax;
    use crate::request::Request;

    /// Wide lines of a letter, and those that are read when it comes back from a client that quotes without a prefix.
    fn faults(page: &crate::report::WordedLetter) -> Vec<String> {
        let lines: Vec<Line> =
            (1..).zip(page.text.lines()).map(|(no, text)| Line { no, text: text.to_owned() }).collect();
        let is_order =
            |line: &str| GameKind::ALL.iter().any(|kind| !matches!(kind.syntax(line), Err(Syntax::Unknown)));
        let read = Request::read(&lines, |line| is_order(line) && !line.starts_with("Line "));
        let (asked, _) = referee::instructions(&lines);
        let wide = lines.iter().filter(|line| line.text.chars().count() > 70);
        let mut faults: Vec<String> = wide.map(|line| format!("wide: {}", line.text)).collect();
        faults.extend(read.commands.iter().map(|asked| format!("{asked:?} in {}", page.subject)));
        faults.extend(read.faults.iter().map(|fault| format!("{fault:?} in {}", page.subject)));
        faults.extend(asked.iter().map(|asked| format!("read as the GM's: {asked:?}")));
        if read.check || read.wait || read.turn.is_some() {
            faults.push(format!("a word to the referee in {}:\n{}", page.subject, page.text));
        }
        faults
    }

    #[test]
    fn no_line_of_a_letter_to_anybody_or_the_gm_is_wide_or_is_read_when_it_comes_back() {
        let templates = Templates::new(&BTreeMap::new()).expect("the templates compiled in");
        let mut found = BTreeSet::new();
        for plain in plains() {
            let page = word_club_letter(&templates, &CLUB, &plain, TOKEN).expect("it is worded");
            found.extend(faults(&page));
        }
        for kind in GameKind::ALL {
            let game_match = opened(*kind);
            let mut over = game_match.clone();
            over.state.close(Ending::Resign(Seat::First).outcome());
            over.stage = referee::Stage::Over;
            let mut asked = game_match.clone();
            asked.asked_gm = true;
            for game_match in [game_match, asked, over].map(Arc::new) {
                for content in contents(&game_match) {
                    for to in [
                        Reader::Seat(Seat::First),
                        Reader::Seat(Seat::Second),
                        Reader::Former(Seat::Second),
                        Reader::Gm,
                    ] {
                        if !matches!((&content, to), (Content::Notice(_), _) | (_, Reader::Seat(_))) {
                            continue;
                        }
                        let dispatch = Dispatch { to, content: content.clone() };
                        let page = page(&templates, &game_match, &dispatch, TOKEN);
                        found.extend(faults(&page.expect("it is worded")));
                    }
                }
            }
        }
        assert!(found.is_empty(), "{}", found.into_iter().collect::<Vec<_>>().join("\n"));
    }
}
