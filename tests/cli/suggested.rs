//! Commands of the terminal that the program, its letters and its manuals suggest: each exists, with its
//! arguments.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::error::ErrorKind;
use fogpost::cli::Cli;

/// The files below a folder with one of these endings.
fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found.retain(|path| endings.iter().any(|ending| path.extension().is_some_and(|found| found == *ending)));
    found
}

/// The commands in a text: in backticks, or alone on a line that is set in.
fn commands(text: &str, is_program: bool) -> Vec<String> {
    // A command may be broken into two lines.
    let joined = text.replace("\n//! ", " ").replace("\n/// ", " ").replace("\\\n", " ");
    let quoted = joined.split('`').skip(1).step_by(2).map(str::to_owned);
    // Set in, a line of the program itself is code.
    let is_alone = |line: &&str| !is_program && line.starts_with("    ");
    let alone = text.lines().filter(is_alone).map(|line| line.trim().to_owned());
    let all = quoted.chain(alone.filter(|line| !line.contains('`')));
    let whole = all.map(|command| command.split_whitespace().collect::<Vec<_>>().join(" "));
    whole.filter_map(|command| command.strip_prefix("fogpost ").map(str::to_owned)).collect()
}

/// Replaces what stands for a value by a value of any kind.
fn filled(command: &str) -> String {
    let mut text = command.to_owned();
    // A comment, or a redirection of the shell.
    for end in [" #", " <", " >", " |"] {
        text.truncate(text.find(end).unwrap_or(text.len()));
    }
    for (open, close) in [("{{", "}}"), ("{", "}"), ("\" ~ ", " ~ \"")] {
        while let Some((before, rest)) = text.split_once(open) {
            let (_, after) = rest.split_once(close).unwrap_or(("", ""));
            text = format!("{before}1{after}");
        }
    }
    text
}

#[test]
fn every_command_that_is_suggested_exists() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    let folders = [
        ("src", &["rs", "txt"][..]),
        ("crates", &["rs", "txt", "md"]),
        ("templates", &["txt", "html"]),
        ("docs", &["md"]),
        ("deploy", &["service"]),
    ];
    for (folder, endings) in folders {
        for file in files(folder, endings) {
            let text = fs::read_to_string(&file).expect("text");
            for command in commands(&text, folder == "src" || folder == "crates") {
                seen += 1;
                let words = filled(&command);
                let parsed = Cli::try_parse_from(["fogpost"].into_iter().chain(words.split(' ')));
                // A command may be named without the arguments that it needs, or with a value that
                // stands for others.
                let is_wrong = parsed.is_err_and(|error| {
                    matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand)
                });
                if is_wrong {
                    wrong.push(format!("{}: fogpost {command}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty() && seen > 50, "of {seen}:\n{}", wrong.join("\n"));
}
