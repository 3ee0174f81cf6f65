//! Words letters: from a dispatch to its template context, text, HTML, picture and bytes.
//!
//! A letter to a seat is made only from that seat's view and from what both sides may know.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use context::{LazyView, TemplateContext};
use links::{AnswerLink, LinkedLetter};
use minijinja::Value;
use minijinja::value::Serde;
use shown::shown_board;

use crate::game::any::GameKind;
use crate::game::picture::Picture;
use crate::game::{Board, BySeat, Seat};
use crate::referee::{
    Adjudication, Content, Dispatch, HouseDefaults, LetterFormat, Match, Reader, Reply, WordingNews,
};

mod answering;
mod club_letter;
mod context;
pub mod gm_digest;
mod links;
mod mail;
mod markdown;
mod samples;
mod sheet;
mod shown;
mod templates;
mod text;

pub use crate::render::{PictureCache, png, svg, text_width};
pub use club_letter::{
    AskedSender, BehindMatch, ChangeLetter, ClubLetter, EndingMatch, EventLetter, FailedCheck, GmItem,
    GmResult, GmUnprovenSummary, HeldSeat, LostMatch, RefusedPerson, SeenTurn, StartedMatch, Trouble,
    UnprovenSummary,
};
pub use context::{Position, word_position};
pub use gm_digest::{GmDigest, GmMatchSummary, GmMeant};
pub use mail::{envelope, mime, pin, redraw, sent};
pub use samples::check_templates;
pub use templates::{COMPILED_IN, TemplateError, Templates, topics};
pub use text::{count_of, excerpt, format_duration, format_local, format_with_year, isolated, wrap_lines};

/// The club as its letters name it.
#[derive(Clone, Debug)]
pub struct Letterhead<'a> {
    pub name: &'a str,
    /// The referee's address.
    pub address: &'a str,
    /// The URL of the page on which a reader composes letters, if letters link it.
    pub board_page: Option<&'a str>,
    pub house: HouseDefaults,
}

/// A letter in words, with no addresses or headers yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordedLetter {
    pub subject: String,
    pub text: String,
    /// Empty if the reader wants plain text alone.
    pub html: String,
    /// The board, or a figure of the rules, as a PNG.
    pub picture: Option<Vec<u8>>,
    /// Attached text files: name and contents.
    pub attachments: Vec<(String, String)>,
}

/// The values from which a letter about a match is worded.
#[derive(Clone, Copy, Debug)]
pub struct WordingInput<'a> {
    pub club: &'a Letterhead<'a>,
    /// The match after the ruling that made the dispatch.
    pub game_match: &'a Arc<Match>,
    pub dispatch: &'a Dispatch,
    /// The reply token of the recipient's seat, or of the GM; empty for anybody else.
    pub token: &'a str,
    /// Sentences that the club adds to a first letter or a result.
    pub notes: &'a [String],
    /// Whether a GM plays in the match: every GM reads the letter.
    pub gm_plays: bool,
    pub at: DateTime<Utc>,
}

/// Writes a letter about a match, and draws its board unless `pictures` already holds it.
///
/// # Errors
/// [`TemplateError`] if a template cannot be rendered.
pub fn word(
    templates: &Templates,
    input: &WordingInput<'_>,
    pictures: &PictureCache,
) -> Result<WordedLetter, TemplateError> {
    let board = shown_board(input.game_match, input.dispatch);
    let mut draft = input.draft(templates, board.as_ref())?;
    if input.is_text_only() {
        let (subject, text) = draft.subject_and_text()?;
        return Ok(WordedLetter { subject, text, ..WordedLetter::default() });
    }
    let title = context::title(input.game_match);
    draft.links = links::for_match(templates, input, &draft.context, &title)?;
    draft.links.splice(0..0, draft.board_link.clone().map(AnswerLink::to_board));
    let mut letter = draft.into_letter()?;
    letter.picture = board.and_then(|board| pictures.png(&board.picture)).or(letter.picture);
    Ok(letter)
}

/// Draws the figure of the first page of rules among the replies that has one, and returns it with its game. `own` is
/// the game of the match. A letter carries one picture; other figures appear as text.
fn figure(replies: &[Reply], own: Option<GameKind>) -> Option<(GameKind, Picture)> {
    replies.iter().find_map(|reply| {
        let Reply::Rules { game } = reply else { return None };
        let kind =
            game.as_ref().map_or(own, |key| GameKind::ALL.iter().copied().find(|kind| kind.key() == key))?;
        Some((kind, kind.figure()?))
    })
}

impl WordingInput<'_> {
    fn is_text_only(&self) -> bool {
        match self.dispatch.to {
            Reader::Seat(seat) => self.game_match.settings[seat].format == LetterFormat::Text,
            Reader::Former(_) | Reader::Gm => false,
        }
    }

    fn draft<'t>(
        &self,
        templates: &'t Templates,
        board: Option<&Board>,
    ) -> Result<LetterDraft<'t>, TemplateError> {
        let name = match &self.dispatch.content {
            Content::Invitation => "match/invitation.txt",
            Content::Answer(_) => "match/answer.txt",
            Content::Report { .. } => "match/report.txt",
            Content::Reminder => "match/reminder.txt",
            Content::Missed { .. } => "match/missed.txt",
            Content::Succession => "match/succession.txt",
            Content::Notice(_) if self.dispatch.to == Reader::Gm => "gm/notice.txt",
            Content::Notice(_) => "match/notice.txt",
        };
        let context = match self.dispatch.to {
            Reader::Seat(seat) => context::for_seat(self, seat, board),
            Reader::Former(seat) => context::for_former(self, seat),
            Reader::Gm => context::for_gm(self),
        };
        let new_templates = self.new_templates();
        let board_width = board.map_or(0, |board| board.picture.width);
        let figure = match &self.dispatch.content {
            Content::Answer(answer) if board.is_none() => figure(&answer.replies, Some(self.game_match.game)),
            _ => None,
        };
        let board_link = sheet::link(templates, self, &context)?;
        Ok(LetterDraft {
            templates,
            name,
            context,
            board_link,
            links: Vec::new(),
            writer: None,
            board_width,
            figure,
            new_templates,
        })
    }

    /// Returns the club's own templates, if this letter announces that they have changed.
    fn new_templates(&self) -> Option<Vec<String>> {
        let Reader::Seat(seat) = self.dispatch.to else { return None };
        let tells = self.game_match.wording_news[seat] == WordingNews::InLastLetters;
        tells.then(|| self.game_match.own_templates().into_keys().collect())
    }
}

/// Writes a letter that is not about a running match. `token` is the recipient's reply token, or empty.
///
/// # Errors
/// [`TemplateError`] if a template cannot be rendered.
pub fn word_club_letter(
    templates: &Templates,
    club: &Letterhead<'_>,
    letter: &ClubLetter,
    token: &str,
) -> Result<WordedLetter, TemplateError> {
    LetterDraft {
        templates,
        name: letter.template(),
        context: context::for_club_letter(club, letter, token),
        board_link: None,
        links: links::for_club_letter(club, letter, token),
        writer: Some((club, token)),
        board_width: 0,
        figure: figure(letter.replies(), None),
        new_templates: None,
    }
    .into_letter()
}

/// Counts the words of a digest, except those that it quotes from people.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn own_words(templates: &Templates, digest: &GmDigest) -> Result<usize, TemplateError> {
    let context = minijinja::context! { digest => Serde(digest), terminal => false, html => false };
    let text = templates.render("gm/digest-body.txt", context)?;
    Ok(text.split_whitespace().count().saturating_sub(digest.quoted_words()))
}

/// Returns the text of the result of one of the GM's instructions, for the terminal. Commands in it are those
/// of the command line.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn word_gm_result(templates: &Templates, result: &GmResult) -> Result<String, TemplateError> {
    let context = minijinja::context! { done => Serde(result), terminal => true, html => false };
    let text = templates.render("gm/done.txt", context)?;
    Ok(normalize_blanks(&text))
}

/// Converts a page of the manual to HTML, without its title and with its headings one level down. `figure` is the
/// address and the width of its figure.
pub fn page_html(text: &str, figure: Option<(&str, u32)>) -> String {
    let mut html = markdown::html(text, figure.map_or(0, |(_, width)| width), None);
    if let Some((address, _)) = figure {
        html = html.replace(markdown::BOARD, address);
    }
    let body = html.split_once("</h1>").map_or(html.as_str(), |(_, body)| body);
    // What is too wide for a telephone scrolls by keys, too. A caption repeats the words that describe its picture.
    let body =
        body.replace("<pre>", "<pre tabindex=\"0\">").replace("<small>", "<small aria-hidden=\"true\">");
    body.replace("<h2>", "<h3>").replace("</h2>", "</h3>")
}

/// Returns the text of the news of one adjudication for `seat`.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn word_news(
    templates: &Templates,
    step: &Adjudication,
    names: &BySeat<String>,
    seat: Seat,
) -> Result<String, TemplateError> {
    let name = format!("{}/news.txt", step.state.kind().key());
    templates.render(&name, context::for_news(step, names, LazyView::after(step, seat, None), seat))
}

/// Maximum bytes of a letter's text, and of its HTML. Transfer encodings add two thirds at most, so that a
/// letter stays below 200 kB, apart from its picture and the record.
const MAX_TEXT: usize = 48_000;
const MAX_HTML: usize = 64_000;

/// A letter's own template and its context, to be rendered inside the frame that all letters share.
struct LetterDraft<'a> {
    templates: &'a Templates,
    name: &'static str,
    context: TemplateContext,
    /// The link to the board, on which the letter can be composed.
    board_link: Option<String>,
    /// Links below the HTML.
    links: Vec<AnswerLink>,
    /// The club and the reader's token, if commands in the letter are links.
    writer: Option<(&'a Letterhead<'a>, &'a str)>,
    /// The width at which the board is shown, if there is one.
    board_width: u32,
    /// The figure of the rules that is shown in place of a board, and its game.
    figure: Option<(GameKind, Picture)>,
    /// The club's own templates, if the letter announces that they have changed.
    new_templates: Option<Vec<String>>,
}

impl LetterDraft<'_> {
    /// Renders the letter's own template twice, because some templates word their HTML differently.
    fn into_letter(mut self) -> Result<WordedLetter, TemplateError> {
        if let Some((game, figure)) = &self.figure {
            self.context.set("figure", game.key());
            self.board_width = figure.width;
        }
        let (subject, text) = self.subject_and_text()?;
        let (_, markdown) = self.subject_and_body(true)?;
        let (lead, rest) = split_lead(&markdown);
        let letter = self.writer.map(|(club, token)| LinkedLetter { club, subject: &subject, token });
        let (html, is_cut) = bounded_html(rest, self.board_width, letter.as_ref());
        self.context.set("cut", is_cut);
        self.context.set("links", Value::from(Serde(std::mem::take(&mut self.links))));
        // `frame/letter.html` marks these two values as safe, and no others.
        self.context.set("lead", bounded_html(lead, self.board_width, letter.as_ref()).0);
        self.context.set("body", html);
        let mut html = self.templates.render("frame/letter.html", self.context.clone())?;
        if let Some(notice) = self.notice()? {
            let end = html.rfind("</body>").unwrap_or(html.len());
            html.insert_str(end, &markdown::html(&notice, 0, None));
        }
        let picture = self.figure.and_then(|(_, figure)| png(&figure));
        Ok(WordedLetter { subject, text, html, picture, attachments: Vec::new() })
    }

    fn subject_and_text(&mut self) -> Result<(String, String), TemplateError> {
        self.context.set("board_link", self.board_link.as_deref());
        let (subject, body) = self.subject_and_body(false)?;
        let kept = cut(&body, MAX_TEXT);
        self.context.set("subject", subject.as_str());
        self.context.set("cut", kept.len() < body.len());
        let (lead, rest) = split_lead(kept);
        self.context.set("lead", lead);
        self.context.set("body", rest);
        let mut text = self.templates.render("frame/letter.txt", self.context.clone())?;
        if let Some(notice) = self.notice()? {
            text = format!("{}\n\n{notice}", text.trim_end());
        }
        Ok((subject, text))
    }

    /// Says that the club has replaced templates. It is outside all replaceable templates, so that none can
    /// suppress it.
    fn notice(&self) -> Result<Option<String>, TemplateError> {
        let Some(names) = &self.new_templates else { return Ok(None) };
        self.templates.render("frame/wording.txt", minijinja::context! { names => names }).map(Some)
    }

    /// Renders the letter's own template, whose first line is the subject.
    fn subject_and_body(&mut self, html: bool) -> Result<(String, String), TemplateError> {
        self.context.set("html", html);
        let rendered = self.templates.render(self.name, self.context.clone())?;
        let rendered = rendered.trim_start();
        let (subject, body) = rendered.split_once('\n').unwrap_or((rendered, ""));
        let subject = subject.strip_prefix("Subject:").unwrap_or(subject).trim().to_owned();
        Ok((subject, normalize_blanks(body)))
    }
}

/// Converts a body to HTML of at most [`MAX_HTML`] bytes. Also returns whether it had to be cut.
fn bounded_html(markdown: &str, board_width: u32, letter: Option<&LinkedLetter<'_>>) -> (String, bool) {
    let mut most = MAX_TEXT;
    loop {
        let kept = cut(markdown, most);
        let html = markdown::html(kept, board_width, letter);
        if html.len() <= MAX_HTML || kept.is_empty() {
            return (html, kept.len() < markdown.len());
        }
        // Escaping makes some texts several times as long.
        most /= 2;
    }
}

/// Splits a body into its first paragraph and the rest. The first paragraph says what happened; it comes
/// above the marker line, because mailboxes show it beside the subject. It keeps the lines to send that follow it, and what
/// it announces with a colon, unless that is long: the marker counts only in the first lines of a quote.
fn split_lead(body: &str) -> (&str, &str) {
    let mut lead = body.find("\n\n").unwrap_or(body.len());
    loop {
        let next = body[lead..].trim_start_matches('\n');
        if !body[..lead].ends_with(':') && !next.starts_with(TO_SEND) {
            break;
        }
        let start = body.len() - next.len();
        let end = start + next.find("\n\n").unwrap_or(next.len());
        if body[..end].lines().count() > MAX_LEAD || end <= lead {
            break;
        }
        lead = end;
    }
    (body[..lead].trim_end(), body[lead..].trim_start_matches('\n'))
}

/// The beginning of a line that a letter shows to be sent.
const TO_SEND: &str = "    | ";

/// Maximum lines above the marker.
const MAX_LEAD: usize = 10;

/// Returns the start of a text, at most `most` bytes, up to the end of a paragraph or, without one, a line.
fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let start = &text[..text.floor_char_boundary(most)];
    let end = start.rfind("\n\n").or_else(|| start.rfind('\n')).map_or(0, |at| at + 1);
    &start[..end]
}

/// Removes spaces at the ends of lines and blank lines at both ends of the text, and reduces several blank
/// lines to one: a template's tags leave them behind.
fn normalize_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after_blank = false;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() {
            after_blank = true;
            continue;
        }
        if after_blank && !out.is_empty() {
            out.push('\n');
        }
        after_blank = false;
        out.push_str(line);
        out.push('\n');
    }
    out
}
