//! Sample values for every letter, with which `doctor` and the tests render every template.

use std::sync::Arc;

use chrono::DateTime;
use serde::Deserialize;

use super::shown::shown_board;
use super::{
    ClubLetter, Letterhead, TemplateError, Templates, WordedLetter, WordingInput, topics, word_club_letter,
};
use crate::game::any::{AnySeen, Filing, GameKind};
use crate::game::record::Ending;
use crate::game::{BySeat, Fault, Line, Phase, Seat};
use crate::house;
use crate::ledger::{Cause, SealKey};
use crate::letter::{Digest, Limits, UnreadableReason};
use crate::referee::{
    self, Adjudication, Answer, Care, Content, Dispatch, HouseDefaults, LeftOut, Match, News, Notice,
    Opening, Orders, OtherPart, PartOutcome, Passing, PastReport, PastReports, Proposal, ProposalKind,
    Reader, Reply, Topic, Wishes,
};

const CLUB: Letterhead<'static> = Letterhead {
    name: "The Fog Club",
    address: "referee@club.example",
    board_page: Some("https://club.example/play/"),
    house: HouseDefaults::UNSET,
};

/// The longest names allowed, one of them a single word.
const ANN: &str = "Maximiliana Konstantin Featherstonehaugh";
const BO: &str = "Bo-Wolfeschlegelsteinhausenbergerdorffjr";

const TOKEN: &str = "0000000000000000";

/// Checks a club's own templates, so that a mistake in one is found before a letter needs it.
///
/// # Errors
/// [`TemplateError`] if a template uses a value that does not exist, or does not end.
pub fn check_templates(templates: &Templates) -> Result<(), TemplateError> {
    // The program's own templates are checked by its tests, not at every start.
    if templates.overrides().is_empty() { Ok(()) } else { render_samples(templates) }
}

/// Renders every letter with sample values.
fn render_samples(templates: &Templates) -> Result<(), TemplateError> {
    for letter in club_letters() {
        word_club_letter(templates, &CLUB, &letter, "")?;
    }
    let times = minijinja::context! {
        event => "EV-SPRING",
        own => minijinja::context! { first => "31 d 4 h", second => "2 d 0 h" },
        names => minijinja::context! { first => "Ann", second => "Bo" },
    };
    templates.render("match/own-time.txt", times)?;
    let event = minijinja::context! {
        id => "EV-SPRING", name => "Spring League", ends => "Sat 6 Jun, 20:00", unfinished => "less-time", missed => 3, gm => "Eva",
    };
    templates.render("match/of-event.txt", event)?;
    templates
        .render("match/replay.txt", minijinja::context! { url => "https://club.example/matches/QZ-0000/" })?;
    for kind in GameKind::ALL {
        let open = open_match(*kind);
        let over = resigned(open.clone());
        check_match(templates, &Arc::new(open))?;
        check_match(templates, &Arc::new(over))?;
    }
    Ok(())
}

/// Returns letters that are not about a match, to strangers, players and GMs.
fn club_letters() -> Vec<ClubLetter> {
    let mut letters: Vec<ClubLetter> = read(include_str!("samples/letters.json"));
    for letter in &mut letters {
        if let ClubLetter::GmAnswer { check: true, replies, .. } = letter {
            *replies = manual_pages();
        }
    }
    letters.extend(replies_to_anyone().into_iter().map(answer_to_stranger));
    let limits = Limits::default();
    letters.extend(UnreadableReason::ALL.iter().map(|reason| ClubLetter::unreadable(*reason, &limits)));
    letters
}

fn answer_to_stranger(reply: Reply) -> ClubLetter {
    ClubLetter::Stranger {
        replies: vec![reply],
        remarks: too_many_lines(),
        why: "Why.".to_owned(),
        question: None,
        commands_left_out: 1,
        passed_on: Some(Passing::AtOnce),
        asked_again: vec!["ACCEPT 7K3M9P".to_owned()],
        wishes_no_mail: false,
        wants_to_play: true,
        is_known: true,
    }
}

/// Returns more lines than a letter lists.
fn too_many_lines() -> Vec<Line> {
    Line::numbered(&["A line"; 50])
}

fn notices() -> Vec<Notice> {
    read(include_str!("samples/notices.json"))
}

/// Returns replies that even a sender without a seat can get.
fn replies_to_anyone() -> Vec<Reply> {
    let mut replies: Vec<Reply> = read(include_str!("samples/replies.json"));
    replies.extend(manual_pages());
    replies
}

fn replies_to_seats() -> Vec<Reply> {
    let mut replies: Vec<Reply> = read(include_str!("samples/seat-replies.json"));
    replies.extend(replies_to_anyone());
    replies
}

/// Parses samples into the program's own types, so that they cannot lack a field of a letter.
fn read<T: Deserialize<'static>>(samples: &'static str) -> T {
    serde_json::from_str(samples).expect("a test reads them")
}

/// Returns replies that are pages of the manual.
fn manual_pages() -> Vec<Reply> {
    let topics = topics().map(|topic| Reply::Help { topic: Some(topic.to_owned()) });
    let rules = GameKind::ALL.iter().map(|kind| Reply::Rules { game: Some(kind.key().to_owned()) });
    let general = [
        Reply::Help { topic: None },
        Reply::Help { topic: Some("captures".to_owned()) },
        Reply::Help { topic: Some("zeppelins".to_owned()) },
        Reply::Rules { game: None },
        Reply::rules(Some("quad strategy")),
        Reply::rules(Some("quadrant-z strategy")),
    ];
    topics.chain(rules).chain(general).collect()
}

/// Renders every letter to a seat.
fn check_seats(templates: &Templates, game_match: &Arc<Match>) -> Result<(), TemplateError> {
    for content in contents(game_match) {
        for seat in Seat::BOTH {
            let dispatch = Dispatch::new(Reader::Seat(seat), content.clone());
            word_without_picture(templates, game_match, &dispatch, TOKEN)?;
        }
    }
    Ok(())
}

/// Renders every letter about a match.
fn check_match(templates: &Templates, game_match: &Arc<Match>) -> Result<(), TemplateError> {
    check_seats(templates, game_match)?;
    for notice in notices() {
        let former = Dispatch::new(Reader::Former(Seat::First), Content::Notice(notice.clone()));
        word_without_picture(templates, game_match, &former, "")?;
        let dispatch = Dispatch::new(Reader::Gm, Content::Notice(notice));
        word_without_picture(templates, game_match, &dispatch, "")?;
    }
    Ok(())
}

/// Returns a new match.
fn open_match(game: GameKind) -> Match {
    let (id, players) = (format!("{}-0000", game.prefix()), BySeat::new(ANN, BO));
    let opening = Opening::new(&id, game, players, CLUB.address, SealKey::new([0; 32]));
    referee::open(opening, Cause::opening(None), DateTime::UNIX_EPOCH).after
}

/// Returns the match after First has resigned.
fn resigned(mut game_match: Match) -> Match {
    game_match.state.close(Ending::Resign(Seat::First).outcome());
    game_match.stage = referee::Stage::Over;
    game_match
}

/// Writes a letter without drawing its picture, which no template affects.
fn word_without_picture(
    templates: &Templates,
    game_match: &Arc<Match>,
    dispatch: &Dispatch,
    token: &str,
) -> Result<WordedLetter, TemplateError> {
    let input = WordingInput {
        club: &CLUB,
        game_match,
        dispatch,
        token,
        notes: &[],
        gm_plays: false,
        at: DateTime::UNIX_EPOCH,
    };
    input.draft(templates, shown_board(input.game_match, input.dispatch).as_ref())?.into_letter()
}

fn contents(game_match: &Match) -> Vec<Content> {
    let step = Adjudication {
        phase: game_match.due().map_or(Phase::Turn, |due| due.phase),
        turn: 1,
        before: game_match.state.clone(),
        filings: BySeat::default(),
        state: game_match.state.clone(),
    };
    let news = News {
        steps: vec![step],
        missed: Seat::BOTH.to_vec(),
        correction: Some("A reason.".to_owned()),
        conditions: read(include_str!("samples/conditions.json")),
        ..News::default()
    };
    let mut contents = vec![
        Content::Invitation,
        Content::Report { news: Box::new(news), receipt: Some(Box::default()), replaces: None },
        Content::Succession,
        Content::Reminder,
        Content::Missed { seats: Seat::BOTH.to_vec() },
    ];
    contents.extend(notices().into_iter().map(Content::Notice));
    contents.extend(
        answers(first_orders(game_match)).into_iter().map(|answer| Content::Answer(Box::new(answer))),
    );
    contents
}

/// Returns sample answers. `filing` holds orders for their match.
fn answers(filing: Option<Filing>) -> Vec<Answer> {
    let fault = Fault::on(1, "A reason.").with_example("AN EXAMPLE");
    let past_report = PastReport { title: "A report".to_owned(), lines: vec!["A line".to_owned()] };
    let past_reports = PastReports { reports: vec![past_report], left_out: 2 };
    let many_faults: Vec<Fault> = (1..=50).map(|_| fault.clone()).collect();
    let orders = [
        Orders::None,
        Orders::Refused {
            faults: vec![fault.clone(), Fault::whole("All of it.")],
            check: true,
            corrected: vec!["MARBLE E5".to_owned()],
        },
        Orders::Refused { faults: many_faults, check: false, corrected: Vec::new() },
        conditions(None),
        conditions(Some(Digest::from([0; 32]))),
    ];
    let filed = filing.into_iter().flat_map(|filing| {
        let sealed = |again| Orders::Sealed {
            filing: filing.clone(),
            sealed: Digest::from([0; 32]),
            wait: again,
            firm_at: again.then_some(DateTime::UNIX_EPOCH),
            asks: again,
            replaced: again,
            is_confirmed: !again,
            dropped: if again { filing.lines().to_vec() } else { Vec::new() },
        };
        [sealed(false), sealed(true), Orders::Checked { filing: filing.clone() }]
    });
    let with_orders = orders.into_iter().chain(filed).map(|orders| Answer {
        orders,
        quoted: Line::numbered(&["A line"]),
        ..Answer::default()
    });
    let mut answers: Vec<Answer> = with_orders.collect();
    for kind in [ProposalKind::Whole, ProposalKind::Rest, ProposalKind::Again] {
        let offered = Some(Proposal { orders: vec!["MARBLE E5".to_owned()], wait: false, kind });
        let fault = Fault::doubt(1, "A question mark.").with_correction("MARBLE E5");
        answers.push(Answer { offered: offered.clone(), faults: vec![fault.clone()], ..Answer::default() });
        let orders = Orders::Refused { faults: vec![fault], check: false, corrected: Vec::new() };
        answers.push(Answer { orders, offered, ..Answer::default() });
    }
    answers.push(Answer {
        to: Some(Digest::from([0; 32])),
        replies: replies_to_seats(),
        faults: vec![fault],
        remarks: too_many_lines(),
        replaced: too_many_lines(),
        unread: Some("It is encrypted.".to_owned()),
        attachments: vec!["orders.pdf".to_owned()],
        accepted_since: Some(DateTime::UNIX_EPOCH),
        passed_on: Some(Passing::InDigest),
        gm_is_opponent: true,
        cuts_text: true,
        instructs: true,
        others: vec![OtherPart { match_id: "QD-7K3M".to_owned(), outcome: PartOutcome::NotFiled }],
        reports: vec![PastReports::default(), past_reports],
        left_out: LeftOut { orders: 0, commands: 3, faults: 4 },
        ..Answer::default()
    });
    answers.push(Answer { remarks: Line::numbered(&["Until when? I am in New York."]), ..Answer::default() });
    answers.extend(wishes().into_iter().map(|wishes| Answer {
        remarks: Line::numbered(&["A line"]),
        passed_on: Some(Passing::InDigest),
        wishes: vec![wishes],
        ..Answer::default()
    }));
    answers
}

/// Returns every kind of wish, with acts and without.
fn wishes() -> Vec<Wishes> {
    let act = |line: &str| vec![line.to_owned()];
    let acts = [Vec::new(), vec![act("AN ACT"), act("ANOTHER")], vec![act("AGREE")]];
    let mut found = Vec::new();
    for acts in acts {
        for topic in Topic::ALL {
            found.push(Wishes {
                topic: Some(*topic),
                acts: acts.clone(),
                days: Some(3),
                ..Wishes::default()
            });
        }
        let absence = Wishes { topic: Some(Topic::Absence), acts, ..Wishes::default() };
        for care in [Care::Grief, Care::Illness] {
            found.push(Wishes { care: Some(care), ..absence.clone() });
            found.push(Wishes { care: Some(care), days: Some(7), ..absence.clone() });
        }
        found.push(Wishes { is_unclear: true, ..absence.clone() });
        found.push(Wishes { lacks_days: true, ..absence.clone() });
        found.push(Wishes { days_left: Some(0), ..absence });
    }
    let (about, acts) = (Some("turn".to_owned()), vec![act("AN ACT")]);
    found.push(Wishes { topic: Some(Topic::Rules), about, acts, ..Wishes::default() });
    found
}

/// Returns conditions that were sealed, or only checked.
fn conditions(sealed: Option<Digest>) -> Orders {
    let lines = vec!["IF E5 THEN F6".to_owned()];
    let firm_at = sealed.map(|_| DateTime::UNIX_EPOCH);
    Orders::Conditions { lines, sealed, firm_at, replaced: sealed.is_some(), wait: true }
}

/// Returns legal orders of the house's weakest level, if any are due from the first seat.
fn first_orders(game_match: &Match) -> Option<Filing> {
    let due = game_match.state.due().filter(|due| due.seats.contains(&Seat::First));
    let level = house::levels(game_match.game).first().filter(|_| due.is_some())?;
    let seen = AnySeen::begin(&game_match.state, Seat::First);
    let chosen = house::play(&seen, level, 0)?;
    game_match.state.seal(Seat::First, &Line::numbered(&chosen.orders)).ok()
}

#[cfg(test)]
mod tests;
