//! The pages of the GM's screen: values in, HTML out. They show what both sides of a match may know. The daemon
//! loads the rows and serves the pages.

use chrono::{DateTime, TimeDelta, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::report::{TemplateError, Templates, format_duration, format_local};
use crate::zone::Zone;

pub mod agenda;
pub mod event;
pub mod forms;
pub mod game_match;
pub mod lists;
pub mod person;

/// The facts that every page of the screen shows.
pub struct PageFrame<'a> {
    pub templates: &'a Templates,
    pub club: &'a str,
    /// The name of the GM who has logged in.
    pub gm: &'a str,
    /// A secret that every form carries.
    pub form: &'a str,
    /// The outcome of the last act.
    pub told: Option<&'a str>,
    pub now: DateTime<Utc>,
    pub zone: Zone,
}

impl PageFrame<'_> {
    /// Renders a page whose own address is `here`.
    fn render(&self, template: &str, here: &str, page: Value) -> Result<String, TemplateError> {
        self.templates.render(
            template,
            context! {
                club => self.club, gm => self.gm, form => self.form, told => self.told, here => here,
                now => self.at(self.now), page => page,
            },
        )
    }

    fn at(&self, at: DateTime<Utc>) -> String {
        format_local(at, self.zone, self.now)
    }

    fn days_since(&self, at: DateTime<Utc>) -> i64 {
        (self.now - at).num_days()
    }

    /// Describes how long ago something was.
    fn ago(&self, at: DateTime<Utc>) -> String {
        match self.now - at {
            span if span < TimeDelta::minutes(1) => "just now".to_owned(),
            span => format!("{} ago", format_duration(span)),
        }
    }

    /// Returns the page that a login link opens, on which the GM confirms the login.
    ///
    /// # Errors
    /// [`TemplateError`] if the template cannot be rendered.
    pub fn login(&self, token: &str) -> Result<String, TemplateError> {
        self.render("screen/login.html", "", context! { token => token })
    }

    /// Returns a page that says why the requested one cannot be shown, in the template's text for `why` or in
    /// `text`, with a link back and a form with the fields `typed`, to send again.
    ///
    /// # Errors
    /// [`TemplateError`] if the template cannot be rendered.
    pub fn notice(
        &self,
        why: &str,
        text: &str,
        back: &str,
        typed: &[(String, String)],
    ) -> Result<String, TemplateError> {
        let paragraphs: Vec<&str> =
            text.split("\n\n").map(str::trim).filter(|part| !part.is_empty()).collect();
        let page =
            context! { why => why, paragraphs => Serde(paragraphs), back => back, typed => Serde(typed) };
        self.render("screen/notice.html", "", page)
    }

    /// Returns the page of a search's results: addresses and names.
    ///
    /// # Errors
    /// [`TemplateError`] if the template cannot be rendered.
    pub fn found(&self, words: &str, found: &[(String, String)]) -> Result<String, TemplateError> {
        self.render("screen/found.html", "", context! { words => words, found => Serde(found) })
    }
}
