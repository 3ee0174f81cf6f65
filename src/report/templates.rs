//! The wording: templates compiled in, each of which a club may override by a file of the same name.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};

use crate::letter::Digest;

/// The filters `wrap` and `hang` break lines at this column.
const WIDTH: usize = 68;

/// A template may do this many steps before it is taken to run away.
const FUEL: u64 = 2_000_000;

macro_rules! compiled_in {
    ($($name:literal),+ $(,)?) => {
        /// Every template by name, as the program was built with it.
        pub const COMPILED_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/", $name)))),+];
    };
}

compiled_in![
    "letter.txt",
    "letter.html",
    "answer.txt",
    "invitation.txt",
    "missed.txt",
    "notice.txt",
    "reminder.txt",
    "report.txt",
    "stranger.txt",
    "gm.txt",
    "alarm.txt",
    "account.txt",
    "account.html",
    "again.txt",
    "faults.txt",
    "replies.txt",
    "rules.txt",
    "stands.txt",
    "where.txt",
    "quadrant-z/form.txt",
    "quadrant-z/knows.txt",
    "quadrant-z/news.txt",
    "quadrant-z/rules.txt",
    "pacific/form.txt",
    "pacific/knows.txt",
    "pacific/news.txt",
    "pacific/rules.txt",
    "quantum/form.txt",
    "quantum/knows.txt",
    "quantum/news.txt",
    "quantum/rules.txt",
    "quad/form.txt",
    "quad/knows.txt",
    "quad/news.txt",
    "quad/rules.txt",
    "games.txt",
    "help.txt",
    "help/orders.txt",
    "help/commands.txt",
    "help/time.txt",
    "help/challenge.txt",
    "help/gm.txt",
    "succession.txt",
    "gm-answer.txt",
    "gm-done.txt",
    "gm-digest.txt",
    "gm-digest-body.txt",
    "gm-line.txt",
    "gm-trouble.txt",
    "unproven.txt",
    "offer.txt",
    "challenge.txt",
    "offer-ended.txt",
    "no-house.txt",
];

/// The pages of the manual that HELP sends, each `help/NAME.txt`.
pub const TOPICS: [&str; 5] = ["orders", "commands", "time", "challenge", "gm"];

/// Why a letter could not be worded: a template is at fault.
#[derive(Debug, thiserror::Error)]
#[error("template {name}: {reason}")]
pub struct TemplateError {
    pub name: String,
    pub reason: String,
}

/// All templates, ready to be rendered.
pub struct Templates {
    environment: Environment<'static>,
    digest: Digest,
}

impl Templates {
    /// The templates compiled in, with those in `overrides` (by name) in the place of theirs.
    ///
    /// # Errors
    /// [`TemplateError`]: one of the overrides is no template, or bears a name that none of ours has.
    pub fn new(overrides: &BTreeMap<String, String>) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("the usual delimiters do not clash"));
        environment.add_filter("wrap", |text: &str| wrap(text, 0));
        environment.add_filter("hang", wrap);
        environment.add_filter("begins", begins);
        environment.add_filter("lines", |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>());
        for name in overrides.keys() {
            if !COMPILED_IN.iter().any(|(known, _)| known == name) {
                let known: Vec<_> = COMPILED_IN.iter().map(|(name, _)| *name).collect();
                let reason = format!("there is no template of this name; there are {}", known.join(", "));
                return Err(TemplateError { name: name.clone(), reason });
            }
        }
        let mut all = String::new();
        for (name, source) in COMPILED_IN {
            let source = overrides.get(*name).cloned().unwrap_or_else(|| (*source).to_owned());
            all.push_str(&format!("{name} {}\n{source}", source.len()));
            environment.add_template_owned(*name, source).map_err(|error| explain(name, &error))?;
        }
        Ok(Templates { environment, digest: Digest::of(all.as_bytes()) })
    }

    /// Of the names and texts of all templates.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Renders the template `name` with `context`.
    ///
    /// # Errors
    /// [`TemplateError`]: it asks for what is not there, or runs away.
    pub fn render(&self, name: &str, context: impl Into<Value>) -> Result<String, TemplateError> {
        let template = self.environment.get_template(name).map_err(|error| explain(name, &error))?;
        template.render(context).map_err(|error| explain(name, &error))
    }
}

/// A name as a sentence begins with it: of "the house" with a capital.
fn begins(name: &str) -> String {
    let mut rest = name.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

/// No line is broken before one of these: what comes back in a quote could be taken for a command.
const NEVER_FIRST: [&str; 26] = [
    "absent",
    "accept",
    "agree",
    "challenge",
    "check",
    "decline",
    "draw",
    "end",
    "extend",
    "games",
    "gm",
    "help",
    "history",
    "hold",
    "join",
    "matches",
    "open",
    "protest",
    "report",
    "resign",
    "rules",
    "status",
    "substitute",
    "tell",
    "turn",
    "wait",
];

/// Breaks lines, and sets those that follow the first in by `indent`.
fn wrap(text: &str, indent: usize) -> String {
    let mut glued = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if glued.ends_with(' ') && NEVER_FIRST.contains(&bare.as_str()) {
            glued.pop();
            glued.push('\u{a0}');
        }
        glued.push_str(word);
    }
    let indent = " ".repeat(indent);
    let options = textwrap::Options::new(WIDTH).subsequent_indent(&indent);
    textwrap::fill(&glued, options).replace('\u{a0}', " ")
}

/// The fault in one line, with the line of the template where it is known.
fn explain(name: &str, error: &minijinja::Error) -> TemplateError {
    // An include's fault lies in the template that was included.
    if let Some(inner) = std::error::Error::source(error).and_then(|inner| inner.downcast_ref()) {
        return explain(name, inner);
    }
    let line = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
    let reason = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    TemplateError { name: error.name().unwrap_or(name).to_owned(), reason: format!("{line}{reason}") }
}
