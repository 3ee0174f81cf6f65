//! The link to the page on which a reader composes a letter. The board as the seat may know it, and where the letter
//! goes, travel in the fragment of the link, which browsers send to no server.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::{Compress, Compression, FlushCompress, Status};
use serde::Serialize;

use super::context::{TemplateContext, title};
use super::links::MAX_LINK;
use super::shown::{brings_form, shows_board};
use super::{TemplateError, Templates, WordingInput};
use crate::game::Seat;
use crate::game::condition::Conditions;
use crate::game::sheet::{MarkWeight, SheetBody};
use crate::referee::{Content, Match, Orders, Reader};

/// Everything that the page shows and writes. The keys are short because they travel in a link.
#[derive(Serialize)]
struct Sheet<'a> {
    /// The version of the format. A page refuses one that it does not know.
    v: u8,
    /// The match, the players, what is open, when it is due, and the club.
    t: [&'a str; 5],
    /// The deadline in Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<i64>,
    /// Address, reply token and subject of the letter, and its first lines.
    m: (&'a str, &'a str, String, Vec<String>),
    /// The lines that are filed for this phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    f: Vec<String>,
    #[serde(flatten)]
    body: SheetBody,
}

/// Ways to shorten a sheet whose link would be too long, in the order in which they are tried.
const CUTS: [fn(&mut Sheet<'_>); 5] = [
    |_| (),
    |sheet| sheet.f.clear(),
    |sheet| sheet.body.names.clear(),
    |sheet| sheet.body.marks.retain(|mark| mark.weight > MarkWeight::Memory),
    |sheet| sheet.body.marks.retain(|mark| mark.weight > MarkWeight::Plain),
];

/// Returns the link of a letter that asks for orders, or for conditions while the other side is to move. `None` if the
/// club or the reader wants none, or if the position is too large for a link.
///
/// # Errors
/// [`TemplateError`] if the head of the page cannot be rendered.
pub fn link(
    templates: &Templates,
    input: &WordingInput<'_>,
    context: &TemplateContext,
) -> Result<Option<String>, TemplateError> {
    let (Some(page), Reader::Seat(seat)) = (input.club.board_page, input.dispatch.to) else {
        return Ok(None);
    };
    let game_match = &**input.game_match;
    if game_match.settings[seat].without_board_link
        || !asks_for_lines(game_match, &input.dispatch.content, seat)
    {
        return Ok(None);
    }
    let Some(body) = game_match.state.sheet(seat, game_match.memories.as_ref()) else { return Ok(None) };
    let head = templates.render("frame/board.txt", context.clone())?;
    let mut head = head.lines().map(str::trim);
    let mut next = || head.next().unwrap_or_default();
    let mut sheet = Sheet {
        v: 1,
        t: [&game_match.id, next(), next(), next(), input.club.name],
        d: game_match.deadline.map(|deadline| deadline.timestamp()),
        m: (
            input.club.address,
            input.token,
            format!("[{}] {}", game_match.id, title(game_match)),
            first_lines(game_match, seat),
        ),
        f: filed_lines(game_match, seat),
        body,
    };
    for cut in CUTS {
        cut(&mut sheet);
        let link = format!("{page}#{}", payload(&sheet));
        if link.len() <= MAX_LINK {
            return Ok(Some(link));
        }
    }
    Ok(None)
}

/// Whether the letter asks its reader for lines, or answers some, which may be replaced. A reminder asks, too, but comes
/// after a letter with the link.
fn asks_for_lines(game_match: &Match, content: &Content, seat: Seat) -> bool {
    match content {
        Content::Reminder => false,
        Content::Answer(answer) => {
            let is_open = game_match.due().is_some() && !matches!(answer.orders, Orders::None);
            is_open || brings_form(game_match, content, seat)
        }
        content => shows_board(game_match, content, seat),
    }
}

/// Returns the line that keeps a letter from counting in another turn. Conditions name no turn.
fn first_lines(game_match: &Match, seat: Seat) -> Vec<String> {
    let due = game_match.due().filter(|due| due.seats.contains(&seat));
    due.map(|due| format!("TURN {}", due.turn)).into_iter().collect()
}

/// Returns what the seat has filed: orders for the open phase, or conditions for those after it.
fn filed_lines(game_match: &Match, seat: Seat) -> Vec<String> {
    match &game_match.filed[seat] {
        Some(filed) => filed.filing.lines().to_vec(),
        None => game_match.conditions[seat].as_ref().map(Conditions::lines).unwrap_or_default(),
    }
}

/// Writes a sheet as base64url of raw deflate of JSON.
fn payload(sheet: &Sheet<'_>) -> String {
    let mut json = serde_json::to_string(sheet).expect("texts and numbers can be written");
    loop {
        // Deflate adds at most a few bytes to a text that cannot be compressed.
        let mut deflated = Vec::with_capacity(json.len() + 64);
        let mut deflate = Compress::new(Compression::best(), false);
        let done = deflate.compress_vec(json.as_bytes(), &mut deflated, FlushCompress::Finish);
        debug_assert!(matches!(done, Ok(Status::StreamEnd)), "{done:?}");
        let payload = URL_SAFE_NO_PAD.encode(deflated);
        // Programs that make links of addresses leave out a sign at their end.
        if payload.ends_with(|last: char| last.is_ascii_alphanumeric()) {
            return payload;
        }
        json.push(' ');
    }
}
