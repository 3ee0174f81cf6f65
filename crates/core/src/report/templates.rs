//! The templates: they are compiled in, and a club's file of the same path overrides one.
//!
//! A template's folder shows its purpose: `match/` holds the letters to seats, `commands/` the answers to
//! commands, which anybody may get, `help/` the manual, `club/` and `gm/` the letters to people outside
//! matches and to GMs, `frame/` the parts around every letter, `account/` the account of a match; each game
//! has a folder of its own.

use std::collections::BTreeMap;

use chrono::DateTime;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Output, State, UndefinedBehavior, Value, escape_formatter};
use textwrap::WordSplitter;

use crate::referee::COMMAND_WORDS;

/// The column at which the filters `wrap` and `hang` break lines.
const WIDTH: usize = 68;

/// Maximum steps of a template, because a club's own template may loop forever.
const FUEL: u64 = 2_000_000;

/// The name and source of every template, sorted by name, as `build.rs` finds them in `templates/`.
pub const COMPILED_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// Whether a club's own template may replace this one. It may not replace the sentence that announces own
/// templates, or the account, with which readers compare own templates with the program's.
fn is_replaceable(name: &str) -> bool {
    name != "frame/wording.txt"
        && !["account/", "site/", "screen/"].iter().any(|folder| name.starts_with(folder))
}

/// Returns the pages of the manual that HELP sends, each `help/NAME.txt`.
pub fn topics() -> impl Iterator<Item = &'static str> {
    COMPILED_IN.iter().filter_map(|(name, _)| name.strip_prefix("help/")?.strip_suffix(".txt"))
}

/// A mistake in a template that kept a letter from being worded.
#[derive(Debug, thiserror::Error)]
#[error("template {name}: {reason}")]
pub struct TemplateError {
    pub name: String,
    pub reason: String,
}

/// All templates, parsed.
pub struct Templates {
    environment: Environment<'static>,
    /// The club's own templates.
    overrides: BTreeMap<String, String>,
}

impl Templates {
    /// Parses the compiled-in templates. A source in `overrides` replaces the template of the same name.
    ///
    /// # Errors
    /// [`TemplateError`] if an override has a syntax error or an unknown name.
    pub fn new(overrides: &BTreeMap<String, String>) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        // A misspelt name in a club's template is an error rather than a gap in a letter.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        environment.set_formatter(escape);
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("the default delimiters are valid"));
        environment.add_filter("wrap", |text: &str| wrap(text, 0));
        environment.add_filter("hang", wrap);
        environment.add_filter("begins", capitalized);
        environment.add_filter("about", about);
        environment.add_filter("answering", super::answering::answering);
        environment.add_filter("perhaps", super::answering::perhaps);
        environment.add_filter("asks_too", super::answering::asks_too);
        environment.add_filter("answering_questions", super::answering::answering_questions);
        environment.add_filter("utc", utc);
        environment.add_filter("number", number_of);
        environment.add_filter("lines", |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>());
        for name in overrides.keys() {
            if !COMPILED_IN.iter().any(|(known, _)| known == name) {
                let known: Vec<_> = COMPILED_IN.iter().map(|(name, _)| *name).collect();
                let reason =
                    format!("there is no template of this name; the templates are {}", known.join(", "));
                return Err(TemplateError { name: name.clone(), reason });
            }
        }
        let mut overrides = overrides.clone();
        overrides.retain(|name, source| !COMPILED_IN.iter().any(|(own, same)| own == name && same == source));
        if let Some(name) = overrides.keys().find(|name| !is_replaceable(name)) {
            let reason = match name.starts_with("site/") || name.starts_with("screen/") {
                true => "pages of the site and of the screen cannot be replaced",
                false => "it discloses what replaced templates say, and cannot be replaced",
            };
            return Err(TemplateError { name: name.clone(), reason: reason.to_owned() });
        }
        for (name, source) in COMPILED_IN {
            let source = overrides.get(*name).cloned().unwrap_or_else(|| (*source).to_owned());
            environment.add_template_owned(*name, source).map_err(|error| explain(name, &error))?;
        }
        Ok(Templates { environment, overrides })
    }

    /// Returns the program's own templates, regardless of the club's.
    pub fn of_program() -> Templates {
        Templates::new(&BTreeMap::new()).expect("the compiled-in templates are valid")
    }

    /// Returns the club's own templates, by name.
    pub fn overrides(&self) -> &BTreeMap<String, String> {
        &self.overrides
    }

    /// Renders the template `name` with `context`.
    ///
    /// # Errors
    /// [`TemplateError`] if it uses a value that does not exist, or does not end.
    pub fn render(&self, name: &str, context: impl Into<Value>) -> Result<String, TemplateError> {
        let template = self.environment.get_template(name).map_err(|error| explain(name, &error))?;
        template.render(context).map_err(|error| explain(name, &error))
    }
}

/// Escapes a value, but leaves slashes as they are: Roundcube quotes a link as it stands in the source, and one with
/// `&#x2f;` leads nowhere.
fn escape(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    let text = value.as_str().filter(|_| !value.is_safe() && matches!(state.auto_escape(), AutoEscape::Html));
    let Some(text) = text else { return escape_formatter(out, state, value) };
    for (no, piece) in text.split('/').enumerate() {
        if no > 0 {
            out.write_str("/")?;
        }
        escape_formatter(out, state, &Value::from(piece))?;
    }
    Ok(())
}

/// Formats a time of the ledger.
fn utc(time: &str) -> String {
    let parsed = DateTime::parse_from_rfc3339(time);
    parsed.map_or_else(|_| time.to_owned(), |at| at.to_utc().format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// Returns the number in `Bo (P-12)`, or the whole text if there is none.
fn number_of(player: &str) -> String {
    let number = player.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    number.unwrap_or(player).to_owned()
}

/// Capitalizes the first letter, for a name such as "the house" at the start of a sentence.
fn capitalized(name: &str) -> String {
    let mut rest = name.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

/// Words that begin an order.
const ORDER_WORDS: [&str; 29] = [
    "ASW",
    "BATTLESHIP",
    "BATTLESHIPS",
    "BUILD",
    "CAPTURE",
    "CARRIER",
    "CARRIERS",
    "CRUISER",
    "CRUISERS",
    "DESTROYER",
    "DESTROYERS",
    "FIRE",
    "HOLD",
    "LOSE",
    "LOSSES",
    "MARBLE",
    "MARBLES",
    "MOVE",
    "PASS",
    "SHIP",
    "SONAR",
    "SQUADRON",
    "SQUADRONS",
    "STAR",
    "STARS",
    "SUBMARINE",
    "SUBMARINES",
    "SUBS",
    "SWAP",
];

/// Whether no line may break before this word. If the letter came back unquoted, a line that begins with it
/// would be read as a command or an order.
fn begins_order_or_command(word: &str) -> bool {
    let mut known = COMMAND_WORDS.iter().chain(&ORDER_WORDS);
    known.any(|known| known.eq_ignore_ascii_case(word))
}

/// Wraps paragraphs at their spaces and line breaks, but keeps a line break at the end, and indents all lines but the
/// first. A match's name stays whole, so that a reader can copy it and search for it.
fn wrap(text: &str, indent: usize) -> String {
    let paragraphs =
        text.trim_end_matches('\n').split("\n\n").map(|paragraph| wrap_paragraph(paragraph, indent));
    let end = if text.ends_with('\n') { "\n" } else { "" };
    paragraphs.collect::<Vec<_>>().join("\n\n") + end
}

fn wrap_paragraph(text: &str, indent: usize) -> String {
    let mut glued = String::with_capacity(text.len());
    for word in text.replace('\n', " ").split_inclusive(' ') {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if glued.ends_with(' ') && begins_order_or_command(bare) {
            // textwrap does not break a line at a no-break space.
            glued.pop();
            glued.push('\u{a0}');
        }
        glued.push_str(word);
    }
    let indent = " ".repeat(indent);
    // A link that sends a command must stay whole; the GM reads only its label.
    let options = textwrap::Options::new(WIDTH)
        .subsequent_indent(&indent)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(!text.contains(":GM%20"));
    textwrap::fill(&glued, options).replace('\u{a0}', " ")
}

/// Describes an error in one line, with the template's line number if it is known.
fn explain(name: &str, error: &minijinja::Error) -> TemplateError {
    // An error in an included template is reported for that template.
    if let Some(inner) = std::error::Error::source(error).and_then(|inner| inner.downcast_ref()) {
        return explain(name, inner);
    }
    let line = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
    let reason = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    TemplateError { name: error.name().unwrap_or(name).to_owned(), reason: format!("{line}{reason}") }
}

/// Maximum lines of a page to show about a word.
const MAX_ABOUT: usize = 20;

/// Returns the sections of a page of rules whose heading contains all of these words or, if there are none,
/// the paragraphs that contain them, each below its heading.
fn about(page: &str, words: &str) -> String {
    // "capturing" is found by "capture".
    let stem = |word: &str| {
        let kept = word.chars().count().saturating_sub(2).max(4);
        word.chars().take(kept).collect::<String>().to_lowercase()
    };
    let stems: Vec<String> = words.split_whitespace().map(stem).collect();
    let holds_all = |text: &str| {
        let text = text.to_lowercase();
        stems.iter().all(|stem| text.contains(stem.as_str()))
    };
    let is_heading = |paragraph: &str| paragraph.lines().nth(1).is_some_and(|line| line.starts_with("---"));
    let title = |paragraph: &str| paragraph.lines().next().unwrap_or_default().to_owned();
    let paragraphs = || page.split("\n\n").map(|paragraph| paragraph.trim_matches('\n'));
    let has_section = paragraphs().any(|paragraph| is_heading(paragraph) && holds_all(&title(paragraph)));
    let mut found: Vec<&str> = Vec::new();
    let mut heading = "";
    let mut lines = 0;
    for paragraph in paragraphs() {
        if is_heading(paragraph) {
            heading = paragraph;
            continue;
        }
        let searched = if has_section { title(heading) } else { format!("{} {paragraph}", title(heading)) };
        if !holds_all(&searched) || lines > MAX_ABOUT {
            continue;
        }
        if !heading.is_empty() && !found.contains(&heading) {
            found.push(heading);
        }
        lines += paragraph.lines().count();
        found.push(paragraph);
    }
    found.join("\n\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    use super::*;

    impl Templates {
        /// Returns the program's own templates, and a set to which rendering adds the name of each template
        /// used.
        pub(in crate::report) fn noting() -> (Templates, Arc<Mutex<BTreeSet<String>>>) {
            let mut templates = Templates::of_program();
            let rendered = Arc::new(Mutex::new(BTreeSet::new()));
            let noted = Arc::clone(&rendered);
            templates.environment.add_function("note", move |name: String| {
                noted.lock().expect("no test has failed").insert(name);
                String::new()
            });
            for (name, source) in COMPILED_IN {
                let source = format!("{{{{ note({name:?}) }}}}{source}");
                templates.environment.add_template_owned(*name, source).expect("a compiled-in template");
            }
            (templates, rendered)
        }
    }

    #[test]
    fn the_lines_of_a_paragraph_become_one_and_paragraphs_stay_apart() {
        assert_eq!(
            wrap("You win\nwith four marbles.\n\nThe rest\nfollows.\n", 0),
            "You win with four marbles.\n\nThe rest follows.\n"
        );
        assert_eq!(wrap("You win\nwith four marbles.", 0), "You win with four marbles.");
    }

    #[test]
    fn a_match_keeps_its_name_on_one_line() {
        for before in 0..=WIDTH {
            let text = format!("{} QZ-7K3M is over.", "x".repeat(before));
            assert!(wrap(&text, 2).contains("QZ-7K3M"), "{}", wrap(&text, 2));
        }
    }
}
