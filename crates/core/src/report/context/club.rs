//! Builds the contexts of letters that are not about a running match.

use minijinja::{Value, context};
use serde_json::json;

use super::lazy::TemplateContext;
use super::manual::manual;
use super::{MAX_LISTED, beyond, value};
use crate::referee::MAX_COMMANDS;
use crate::report::text::shorten_line;
use crate::report::{ClubLetter, Letterhead};

/// Returns the context of a letter that is not about a running match. Quoted lines are shortened.
pub fn for_club_letter(club: &Letterhead<'_>, letter: &ClubLetter, token: &str) -> TemplateContext {
    let mut own = match serde_json::to_value(letter).expect("a letter has string keys and plain values") {
        serde_json::Value::Object(fields) => fields,
        other => unreachable!("a letter is serialized as an object, not as {other}"),
    };
    let mut more_remarks = 0;
    let mut words = Vec::new();
    if let Some(serde_json::Value::Array(remarks)) = own.get_mut("remarks") {
        more_remarks = beyond(MAX_LISTED, remarks.len());
        remarks.truncate(MAX_LISTED);
        for remark in remarks {
            words.push(remark["text"].as_str().unwrap_or_default().to_owned());
            *remark = json!(shorten_line(remark["text"].as_str().unwrap_or_default()));
        }
    }
    let commands = own.get_mut("question").and_then(|question| question.get_mut("commands"));
    if let Some(serde_json::Value::Array(commands)) = commands {
        for command in commands {
            *command = json!(shorten_line(command.as_str().unwrap_or_default()));
        }
    }
    if let Some(serde_json::Value::Array(items)) = own.get_mut("items") {
        for item in items {
            item["asked"] = json!(shorten_line(item["asked"].as_str().unwrap_or_default()));
        }
    }
    let shared = [
        ("club", context! { name => club.name, address => club.address }),
        ("match", Value::from(())),
        ("manual", manual(letter.replies(), club.house)),
        ("more_remarks", Value::from(more_remarks)),
        ("asked_words", Value::from(words.join("\n"))),
        ("most_commands", Value::from(MAX_COMMANDS)),
        ("token", Some(token).filter(|token| !token.is_empty()).into()),
    ];
    TemplateContext::new(None).with(own.into_iter().map(|(name, field)| (name, value(field)))).with(shared)
}
