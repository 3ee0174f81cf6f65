//! From a ruling's dispatch to a letter: the context of its template, its text, its HTML, its picture, its bytes.
//!
//! A letter to a seat is made from that seat's view and from what both may know, and from nothing else.

mod club_letter;
mod context;
pub mod envelope;
mod font;
mod markdown;
pub mod mime;
mod png;
mod raster;
mod samples;
pub mod sent;
mod svg;
mod template_context;
mod templates;
#[cfg(test)]
mod tests;
mod time;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use minijinja::value::Serde;

use crate::game::{Board, Seat};
use crate::referee::{Content, Dispatch, Match, Reader};
use template_context::{LazyView, TemplateContext};

pub use club_letter::{
    ClubLetter, FailedSend, GmDigest, GmItem, GmMatchSummary, GmResult, LetterSummary, RefusalCount,
};
pub use png::{PictureCache, png};
pub use svg::svg;
pub use templates::{COMPILED_IN, TOPICS, TemplateError, Templates};
pub use time::{format_duration, format_local};

/// The club as its letters name it.
#[derive(Clone, Debug)]
pub struct Club<'a> {
    pub name: &'a str,
    /// The referee's address.
    pub address: &'a str,
}

/// A worded letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordedLetter {
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The board as a PNG.
    pub picture: Option<Vec<u8>>,
    /// Files that go with it as text: name and contents.
    pub attachments: Vec<(String, String)>,
}

/// What a letter about a match is worded from, beside the templates.
#[derive(Clone, Copy, Debug)]
pub struct WordingInput<'a> {
    pub club: &'a Club<'a>,
    /// As the ruling left it that brought the dispatch.
    pub game_match: &'a Arc<Match>,
    pub dispatch: &'a Dispatch,
    /// The reply token of the seat that it goes to, or of the GM; empty for others.
    pub token: &'a str,
    pub at: DateTime<Utc>,
}

/// Words a letter about a match, and draws its board unless `pictures` holds it already.
///
/// # Errors
/// [`TemplateError`]: a template is at fault.
pub fn word(
    templates: &Templates,
    input: &WordingInput<'_>,
    pictures: &PictureCache,
) -> Result<WordedLetter, TemplateError> {
    let board = input.board();
    let mut page = input.frame(templates, board.as_ref()).page()?;
    page.picture = board.and_then(|board| pictures.png(&board.picture));
    Ok(page)
}

/// The text alone of what [`word`] makes.
///
/// # Errors
/// [`TemplateError`]: a template is at fault.
pub fn word_text(templates: &Templates, input: &WordingInput<'_>) -> Result<String, TemplateError> {
    Ok(input.frame(templates, input.board().as_ref()).text()?.1)
}

impl WordingInput<'_> {
    /// The board that the letter shows.
    fn board(&self) -> Option<Board> {
        match (self.dispatch.to, &self.dispatch.content) {
            (Reader::Seat(seat), Content::Invitation | Content::Succession | Content::Report { .. }) => {
                Some(self.game_match.state.board(seat))
            }
            _ => None,
        }
    }

    fn frame<'t>(&self, templates: &'t Templates, board: Option<&Board>) -> Frame<'t> {
        let name = match &self.dispatch.content {
            Content::Invitation => "invitation.txt",
            Content::Answer(_) => "answer.txt",
            Content::Report { .. } => "report.txt",
            Content::Reminder => "reminder.txt",
            Content::Missed { .. } => "missed.txt",
            Content::Succession => "succession.txt",
            Content::Notice(_) if self.dispatch.to == Reader::Gm => "gm.txt",
            Content::Notice(_) => "notice.txt",
        };
        let context = match self.dispatch.to {
            Reader::Seat(seat) => context::seat(self, seat, board),
            Reader::Former(seat) => context::former(self, seat),
            Reader::Gm => context::gm(self),
        };
        Frame { templates, name, context }
    }
}

/// Words a letter that is about no running match. `token` is the reader's reply token, or empty.
///
/// # Errors
/// [`TemplateError`]: a template is at fault.
pub fn word_club_letter(
    templates: &Templates,
    club: &Club<'_>,
    plain: &ClubLetter,
    token: &str,
) -> Result<WordedLetter, TemplateError> {
    Frame { templates, name: plain.template(), context: context::plain(club, plain, token) }.page()
}

/// What came of an instruction of the GM, as his letters say it.
///
/// # Errors
/// [`TemplateError`]: a template is at fault.
pub fn word_gm_result(templates: &Templates, done: &GmResult) -> Result<String, TemplateError> {
    Ok(tidy(&templates.render("gm-done.txt", minijinja::context! { done => Serde(done) })?))
}

/// Words what the GM is told at once when matches do not verify: of each its name and what is wrong.
///
/// # Errors
/// [`TemplateError`]: a template is at fault.
pub fn word_alarm(
    templates: &Templates,
    club: &Club<'_>,
    failed: &[(String, Vec<String>)],
) -> Result<WordedLetter, TemplateError> {
    Frame { templates, name: "alarm.txt", context: context::alarm(club, failed) }.page()
}

/// What happened in an adjudication as `seat` was told it.
///
/// # Errors
/// [`TemplateError`]: a template is at fault.
pub fn word_news(
    templates: &Templates,
    step: &crate::referee::Adjudication,
    names: &crate::game::BySeat<String>,
    seat: Seat,
) -> Result<String, TemplateError> {
    let name = format!("{}/news.txt", step.state.kind().key());
    templates.render(&name, context::news(step, names, LazyView::new(&step.state, seat), seat))
}

/// A letter's template within the frame that all our letters share.
struct Frame<'a> {
    templates: &'a Templates,
    name: &'static str,
    context: TemplateContext,
}

impl Frame<'_> {
    /// The subject and the text.
    fn text(&mut self) -> Result<(String, String), TemplateError> {
        let (subject, body) = self.body(false)?;
        self.context.set("subject", subject.as_str());
        self.context.set("body", body);
        let text = self.templates.render("letter.txt", self.context.clone())?;
        Ok((subject, text))
    }

    /// The body is worded twice, for the text and for the HTML; its first line is the subject.
    fn page(mut self) -> Result<WordedLetter, TemplateError> {
        let (subject, text) = self.text()?;
        let (_, rich) = self.body(true)?;
        // The one value that is HTML already: the template marks it so.
        self.context.set("body", markdown::html(&rich));
        let html = self.templates.render("letter.html", self.context)?;
        Ok(WordedLetter { subject, text, html, picture: None, attachments: Vec::new() })
    }

    fn body(&mut self, html: bool) -> Result<(String, String), TemplateError> {
        self.context.set("html", html);
        let worded = self.templates.render(self.name, self.context.clone())?;
        let worded = worded.trim_start();
        let (subject, body) = worded.split_once('\n').unwrap_or((worded, ""));
        let subject = subject.strip_prefix("Subject:").unwrap_or(subject).trim().to_owned();
        Ok((subject, tidy(body)))
    }
}

/// No blanks at the ends of lines, no more than one blank line together, none at the beginning or the end.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank_lines = 0;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() {
            blank_lines += 1;
            continue;
        }
        if blank_lines > 0 && !out.is_empty() {
            out.push('\n');
        }
        blank_lines = 0;
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Renders every letter with sample values: a club's own templates are tried out before they are needed.
///
/// # Errors
/// [`TemplateError`]: a template asks for what there is not, or runs away.
pub fn check_templates(templates: &Templates) -> Result<(), TemplateError> {
    samples::check_templates(templates)
}
