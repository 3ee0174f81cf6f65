//! The page of a person: matches, absences, reliability, addresses, and the status of letters.

use chrono::{DateTime, Utc};
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use super::PageFrame;
use crate::club::reliability::Reliability;
use crate::report::TemplateError;

/// Everything that the page of a person shows.
#[derive(Clone, Debug)]
pub struct PersonRows {
    /// `P-12`.
    pub number: String,
    pub name: String,
    pub addresses: Vec<String>,
    pub bouncing: bool,
    pub blocked_since: Option<DateTime<Utc>>,
    pub reliability: Reliability,
    /// First and last days, in words.
    pub absences: Vec<String>,
    /// Running matches first, then finished ones, the latest first.
    pub matches: Vec<PersonMatch>,
    /// Letters from the person, the latest first, without those that a running match seals, unless a GM can accept
    /// them. `None` if the GM plays against them.
    pub letters: Option<Vec<LetterLine>>,
}

/// A match of the person.
#[derive(Clone, Debug, Serialize)]
pub struct PersonMatch {
    pub id: String,
    pub game: &'static str,
    pub foe: String,
    /// The open turn.
    pub turn: Option<u32>,
    pub result: Option<String>,
    pub is_over: bool,
    /// Whether it waits for the person.
    pub awaited: bool,
}

/// A letter from the person.
#[derive(Clone, Debug)]
pub struct LetterLine {
    /// `None` if a running match seals it.
    pub received_at: Option<DateTime<Utc>>,
    pub status: &'static str,
    pub match_id: Option<String>,
    /// The beginning of its digest, if a GM can accept the letter.
    pub accept: Option<String>,
}

/// Returns the page of a person.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn page(frame: &PageFrame<'_>, rows: &PersonRows) -> Result<String, TemplateError> {
    let letter = |letter: &LetterLine| {
        context! {
            at => letter.received_at.map(|at| frame.at(at)), status => letter.status, match_id => &letter.match_id, accept => &letter.accept,
        }
    };
    let letters = rows.letters.as_ref().map(|letters| letters.iter().map(letter).collect::<Vec<_>>());
    let page = context! {
        number => &rows.number, name => &rows.name, addresses => &rows.addresses, bouncing => rows.bouncing,
        blocked => rows.blocked_since.map(|at| frame.at(at)), absences => &rows.absences,
        owed => rows.reliability.owed, in_time => rows.reliability.in_time, lost => rows.reliability.lost,
        matches => Serde(&rows.matches), letters => letters,
    };
    frame.render("screen/person.html", &format!("/person/{}", rows.number), page)
}
