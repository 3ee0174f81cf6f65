//! Sample values for every letter, with which `doctor` and the tests render every template.

mod answers;
mod changes;
mod conditions;
mod digest;
mod notices;
mod offers;

use std::sync::Arc;

use chrono::DateTime;

use self::answers::answers;
use self::digest::{gm_digest, gm_match_summary};
use self::offers::{match_summary, no_house, no_level, offer, offer_replies};
use notices::notices;

use super::templates::TOPICS;
use super::{
    AskedSender, Club, ClubLetter, FailedMatch, GmItem, GmResult, SeenTurn, TemplateError, Templates,
    UnprovenSummary, WordedLetter, WordingInput, word_alarm, word_club_letter,
};
use crate::game::any::{AnySeen, Choices, Filing, GameKind};
use crate::game::record::Ending;
use crate::game::{BySeat, Fault, Line, Phase, Seat};
use crate::ledger::{MailIdentity, SealKey, Source};
use crate::letter::{Limits, UnreadableReason};
use crate::referee::{
    self, Adjudication, ClaimRejection, Content, Dispatch, DispatchKind, HouseDefaults, Match,
    OfferRejection, Opening, Passing, Reader, Rejection, Reply, SettingFault, SettingFaultKind, Terms,
};

const CLUB: Club<'static> =
    Club { name: "The Fog Club", address: "referee@club.example", house: HouseDefaults::UNSET };

/// The longest names allowed, one of them a single word.
const ANN: &str = "Maximiliana Konstantin Featherstonehaugh";
const BO: &str = "Bo-Wolfeschlegelsteinhausenbergerdorffjr";

const TOKEN: &str = "0000000000000000";

const MATCH_ID: &str = "QU-0000";
const DAY: &str = "Thu 21 May";

/// Implements [`super::check_templates`].
pub fn check_templates(templates: &Templates) -> Result<(), TemplateError> {
    for letter in club_letters() {
        word_club_letter(templates, &CLUB, &letter, "")?;
    }
    let findings = vec!["entry #1: a sentence".to_owned()];
    let failed = [true, false].map(|is_paused| FailedMatch {
        id: "QZ-0000".to_owned(),
        is_paused,
        findings: findings.clone(),
    });
    word_alarm(templates, &CLUB, &failed)?;
    for kind in GameKind::ALL {
        let open = open_match(*kind);
        let over = resigned(open.clone());
        check_match(templates, &Arc::new(open))?;
        check_match(templates, &Arc::new(over))?;
    }
    Ok(())
}

fn club_letters() -> Vec<ClubLetter> {
    let code = || "7K3M9P".to_owned();
    let mut letters: Vec<ClubLetter> =
        offer_replies().into_iter().chain(manual_pages()).map(answer_to_stranger).collect();
    letters.extend([
        ClubLetter::Stranger {
            replies: Vec::new(),
            remarks: Vec::new(),
            why: String::new(),
            question: Some(question()),
            commands_left_out: 0,
            passed_on: Some(Passing::AtOnce),
        },
        ClubLetter::Challenge { by: ANN.to_owned(), offer: offer(), code: code(), lapses: DAY.to_owned() },
        ClubLetter::Declined { to: BO.to_owned(), offer: offer() },
        ClubLetter::Lapsed { to: Some(BO.to_owned()), offer: offer(), code: code() },
        ClubLetter::Lapsed { to: None, offer: offer(), code: code() },
        unproven(false, 0),
        unproven(true, 3),
        ClubLetter::PlayerDigest { matches: vec![match_summary()] },
        ClubLetter::Absent {
            name: ANN.to_owned(),
            days: vec![(DAY.to_owned(), DAY.to_owned())],
            matches: vec![MATCH_ID.to_owned()],
        },
        ClubLetter::Renamed { from: ANN.to_owned(), to: BO.to_owned(), matches: vec![MATCH_ID.to_owned()] },
        ClubLetter::Blocked { gm: "gm@club.example".to_owned() },
        ClubLetter::Newcomer { address: "newcomer@players.example".to_owned() },
        ClubLetter::words("newcomer@players.example", "How can I join?"),
        ClubLetter::Suspected { match_id: Some(MATCH_ID.to_owned()) },
        ClubLetter::Suspected { match_id: None },
    ]);
    let limits = Limits::default();
    letters.extend(UnreadableReason::ALL.map(|reason| ClubLetter::unreadable(reason, &limits)));
    letters.extend(gm_letters());
    letters.extend(changes::letters());
    letters
}

fn unproven(unsigned: bool, more: usize) -> ClubLetter {
    let asks = vec!["SHIP 1 TO A2".to_owned(), "RESIGN".to_owned()].into_iter().take(more.min(2));
    ClubLetter::Unproven {
        letter: UnprovenSummary {
            match_id: MATCH_ID.to_owned(),
            at: DAY.to_owned(),
            address: "ann@elsewhere.example".to_owned(),
            unsigned,
            asks: asks.collect(),
            more,
        },
        code: "7K3M9P2Q4R".to_owned(),
    }
}

fn answer_to_stranger(reply: Reply) -> ClubLetter {
    ClubLetter::Stranger {
        replies: vec![reply],
        remarks: too_many_lines(),
        why: "Why.".to_owned(),
        question: None,
        commands_left_out: 1,
        passed_on: Some(Passing::AtOnce),
    }
}

fn question() -> AskedSender {
    AskedSender {
        code: "7K3M9P2X".to_owned(),
        commands: vec!["CHALLENGE bo@players.example quadrant-z days=7".to_owned()],
        lapses: DAY.to_owned(),
    }
}

/// More lines than a letter lists.
fn too_many_lines() -> Vec<Line> {
    (1..=50).map(|no| Line { no, text: "A line".to_owned() }).collect()
}

fn one_line() -> Vec<Line> {
    vec![Line { no: 1, text: "A line".to_owned() }]
}

/// Letters to the GM.
fn gm_letters() -> Vec<ClubLetter> {
    let items = gm_results().into_iter().map(|done| GmItem { asked: "GM LIST".to_owned(), done });
    vec![
        ClubLetter::GmAnswer {
            check: true,
            items: items.collect(),
            replies: manual_pages(),
            remarks: one_line(),
            why: "Why.".to_owned(),
            commands_left_out: 2,
        },
        ClubLetter::GmAnswer {
            check: false,
            items: Vec::new(),
            replies: Vec::new(),
            remarks: Vec::new(),
            why: String::new(),
            commands_left_out: 0,
        },
        ClubLetter::Digest { digest: Box::new(gm_digest()) },
        ClubLetter::GivenUp {
            recipient: "x".to_owned(),
            kind: DispatchKind::Report,
            match_id: Some(MATCH_ID.to_owned()),
            error: "no such user".to_owned(),
            is_undeliverable: true,
        },
        ClubLetter::SetAside {
            digest: "0123456789abcdef".to_owned(),
            sender: "x".to_owned(),
            note: "y".to_owned(),
            attempts: 3,
        },
        ClubLetter::Announcement { gm: ANN.to_owned(), game_name: None, lines: vec!["A line.".to_owned()] },
        ClubLetter::Announcement {
            gm: ANN.to_owned(),
            game_name: Some("Quad"),
            lines: vec!["A line.".to_owned()],
        },
        ClubLetter::LowSpace { free_mb: 7, min_free_mb: 200 },
        ClubLetter::AuditReport { checked: 3, faults: Vec::new() },
        ClubLetter::AuditReport {
            checked: 3,
            faults: vec![("QD-7K3M".to_owned(), vec!["entry #3: it was changed".to_owned()])],
        },
        ClubLetter::HouseStuck { match_id: MATCH_ID.to_owned() },
        ClubLetter::CannotSend {
            since: DAY.to_owned(),
            error: "550 5.4.5 Daily user sending limit exceeded".to_owned(),
            waiting: 40,
        },
        ClubLetter::GmUnsigned { at: DAY.to_owned() },
    ]
}

fn gm_results() -> Vec<GmResult> {
    let id = || MATCH_ID.to_owned();
    let rejections = [
        Rejection::Passed,
        Rejection::Over,
        Rejection::Already,
        Rejection::MustMove { seats: vec![Seat::First] },
        Rejection::Faulty { faults: vec![Fault::whole("No.")] },
        Rejection::NotDue { seat: Seat::First },
        Rejection::NoSuchTurn { turn: 1 },
        Rejection::TooManyDays { left: 1 },
        Rejection::NoDeadline,
    ];
    let mut results = rejections.map(|untaken| GmResult::Rejection { id: id(), untaken }).to_vec();
    results.extend([
        GmResult::Match { line: gm_match_summary() },
        GmResult::Would,
        GmResult::NoMatch { id: id() },
        GmResult::TurnPassed { id: id(), turn: 1, open: None },
        GmResult::TurnPassed { id: id(), turn: 1, open: Some(2) },
        GmResult::List { lines: vec![gm_match_summary()] },
        GmResult::List { lines: Vec::new() },
        GmResult::Opened { id: id() },
        GmResult::NoOffer { no: OfferRejection::UnknownGame { name: "chess".to_owned() } },
        GmResult::NoOffer { no: OfferRejection::BadOption { reason: "No.".to_owned() } },
        GmResult::NoOffer { no: OfferRejection::Yourself },
        GmResult::NoOffer { no: no_house() },
        GmResult::NoOffer { no: no_level() },
        GmResult::NoOffer {
            no: OfferRejection::HouseAgainstItself { game: "quad", levels: ["easy", "expert"] },
        },
        GmResult::Player {
            name: ANN.to_owned(),
            addresses: vec![],
            bouncing: true,
            blocked: true,
            matches: vec![id()],
        },
        GmResult::NoPlayer { address: "x".to_owned() },
        GmResult::Announced { readers: 1, lines: vec!["A line.".to_owned()], check: true },
        GmResult::Announced { readers: 7, lines: vec!["A line.".to_owned()], check: false },
        GmResult::Accepted { letter: "0123456789ab".to_owned(), sender: BO.to_owned() },
        GmResult::Refused { says: "No.".to_owned() },
        GmResult::NotRead { says: "No.".to_owned(), example: "GM LIST\nEND" },
        GmResult::Voided {
            id: id(),
            turn: 1,
            seen: vec![SeenTurn { turn: 1, by: ANN.to_owned(), lines: vec!["- A line.".to_owned()] }],
        },
        GmResult::Digest { digest: None },
        GmResult::Digest { digest: Some(Box::new(gm_digest())) },
    ]);
    results
}

/// Every fault of a setting.
fn settings_refused() -> Reply {
    let kinds = [
        SettingFaultKind::UnknownName,
        SettingFaultKind::UnknownZone,
        SettingFaultKind::OneOfTwo { words: ["text", "html"] },
        SettingFaultKind::Hours,
        SettingFaultKind::NameTaken,
        SettingFaultKind::UnfitName,
        SettingFaultKind::TooMany { most: 20 },
    ];
    let fault = |why| SettingFault { written: format!("name={ANN}"), why, example: "format=text".to_owned() };
    Reply::SettingsRefused { faults: kinds.into_iter().map(fault).collect() }
}

/// Replies that are pages of the manual.
fn manual_pages() -> Vec<Reply> {
    let topics = TOPICS.iter().map(|topic| Reply::Help { topic: Some((*topic).to_owned()) });
    let rules = GameKind::ALL.iter().map(|kind| Reply::Rules { game: Some(kind.key().to_owned()) });
    let general = [
        Reply::Help { topic: None },
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
            let dispatch = Dispatch { to: Reader::Seat(seat), content: content.clone() };
            word_without_picture(templates, game_match, &dispatch, TOKEN)?;
        }
    }
    Ok(())
}

/// Renders every letter about a match.
fn check_match(templates: &Templates, game_match: &Arc<Match>) -> Result<(), TemplateError> {
    check_seats(templates, game_match)?;
    for notice in notices() {
        let former = Dispatch { to: Reader::Former(Seat::First), content: Content::Notice(notice.clone()) };
        word_without_picture(templates, game_match, &former, "")?;
        let dispatch = Dispatch { to: Reader::Gm, content: Content::Notice(notice) };
        word_without_picture(templates, game_match, &dispatch, "")?;
    }
    Ok(())
}

/// A new match.
fn open_match(game: GameKind) -> Match {
    let opening = Opening {
        id: format!("{}-0000", game.prefix()),
        game,
        choices: Choices::default(),
        players: BySeat::new(ANN.to_owned(), BO.to_owned()),
        house: BySeat::default(),
        terms: Terms::default(),
        settings: BySeat::default(),
        desk: MailIdentity {
            address: CLUB.address.to_owned(),
            procedure: referee::PROCEDURE,
            message_ids: String::new(),
            tzdata: "2026a".to_owned(),
            templates: Default::default(),
        },
        key: SealKey::new([0; 32]),
        holders: None,
        lot: None,
    };
    referee::open(opening, Source::Clock, DateTime::UNIX_EPOCH).after
}

/// The match after First has resigned.
fn resigned(mut game_match: Match) -> Match {
    game_match.state.close(Ending::Resign(Seat::First).outcome());
    game_match.stage = referee::Stage::Over;
    game_match
}

/// Words a letter without drawing its picture, which no template affects.
fn word_without_picture(
    templates: &Templates,
    game_match: &Arc<Match>,
    dispatch: &Dispatch,
    token: &str,
) -> Result<WordedLetter, TemplateError> {
    let input = WordingInput { club: &CLUB, game_match, dispatch, token, at: DateTime::UNIX_EPOCH };
    input.draft(templates, super::board(input.game_match, input.dispatch).as_ref()).into_letter()
}

fn contents(game_match: &Match) -> Vec<Content> {
    let step = Adjudication {
        phase: game_match.due().map_or(Phase::Turn, |due| due.phase),
        turn: 1,
        before: game_match.state.clone(),
        filings: BySeat::default(),
        state: game_match.state.clone(),
    };
    let mut contents = vec![
        Content::Invitation,
        Content::Report {
            steps: vec![step],
            missed: Seat::BOTH.to_vec(),
            correction: Some("A reason.".to_owned()),
            filed: Box::default(),
            conditions: conditions::news(),
            receipt: Some(Box::default()),
        },
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

/// Returns orders that can stand now, if any are due from the first seat: those of the house's weakest level.
fn first_orders(game_match: &Match) -> Option<Filing> {
    let due = game_match.state.due().filter(|due| due.seats.contains(&Seat::First));
    let level = game_match.game.levels().first().filter(|_| due.is_some())?;
    let chosen = AnySeen::begin(&game_match.state, Seat::First).play(level, 0)?;
    game_match.state.seal(Seat::First, &Line::numbered(&chosen.orders)).ok()
}

const CLAIM_REJECTIONS: [ClaimRejection; 7] = [
    ClaimRejection::OpponentIsHouse,
    ClaimRejection::AgreedToHouse,
    ClaimRejection::SenderVanished,
    ClaimRejection::Paused,
    ClaimRejection::GmDecides,
    ClaimRejection::LossIsAutomatic,
    ClaimRejection::NotVanished,
];

fn replies() -> Vec<Reply> {
    let day = chrono::NaiveDate::default();
    let mut replies = vec![
        Reply::Status,
        Reply::Report { turn: Some(1) },
        Reply::History,
        Reply::Repeated,
        Reply::MessagePassed,
        Reply::MessageHeldBack,
        Reply::MessageUndeliverable,
        Reply::RequestHeldBack,
        Reply::TakenTogether,
        Reply::NoPress,
        Reply::Withdrawn,
        Reply::NothingToWithdraw,
        Reply::PassedToGm,
        Reply::WhichMatch { command: "DRAW" },
        Reply::NeedsOwnToken { command: "RESIGN" },
        Reply::Resigned,
        Reply::ResignUnconfirmed,
        Reply::DrawOffered,
        Reply::DrawAgreed,
        Reply::ExtensionAsked { days: 1 },
        Reply::ExtensionOfVanished,
        Reply::ExtensionTooLong { most: 1 },
        Reply::ExtensionAgreed,
        Reply::NothingToAgree,
        Reply::Claimed,
        Reply::SubstituteAgreed,
        Reply::Hint { orders: vec!["MARBLE E5".to_owned()] },
        Reply::NoHints { levels: true },
        Reply::NoHints { levels: false },
        Reply::NoHintNow,
        Reply::NoDeadline,
        Reply::HouseReadsNothing,
        Reply::HousePlaysOn,
        Reply::AbsenceNoted { from: day, to: day, begins: DAY.to_owned(), ends: DAY.to_owned() },
        Reply::AbsenceRefused { from: day, to: day, left: 1 },
        Reply::SubstituteAsked,
        Reply::Protested,
        Reply::ProtestPassedOn,
        Reply::MatchOver,
        Reply::NotHere { command: "OPEN".to_owned() },
    ];
    replies.extend(CLAIM_REJECTIONS.map(|why| Reply::NothingToClaim { why }));
    replies.extend(offer_replies());
    replies.extend(manual_pages());
    replies
}

#[cfg(test)]
mod tests;
