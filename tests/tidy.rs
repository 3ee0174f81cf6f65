//! The house kept in order: the core is pure, the rooms import one way, nothing is left half done, and what belongs
//! together is all there. It reads the sources; it runs nothing of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fogpost::config::{Config, EXAMPLE};
use fogpost::game::any::GameKind;
use fogpost::report::COMPILED_IN;

/// The longest file and the longest function, in lines.
const FILE: usize = 600;
const FUNCTION: usize = 80;

/// The rooms of `src/`, each with those that it may import. `lib.rs` and `main.rs` stand outside.
const ROOMS: &[(&str, &[&str])] = &[
    ("game", &[]),
    ("letter", &["game"]),
    ("request", &["game", "letter"]),
    ("ledger", &["game", "letter"]),
    ("referee", &["game", "letter", "request", "ledger"]),
    ("report", &["game", "letter", "ledger", "referee"]),
    ("audit", &["game", "letter", "ledger", "referee", "report"]),
    ("store", &["game", "letter"]),
    ("post", &["letter"]),
    ("config", &["game", "letter", "referee", "post"]),
    (
        "daemon",
        &["game", "letter", "request", "ledger", "referee", "report", "audit", "store", "post", "config"],
    ),
    (
        "cli",
        &[
            "game", "letter", "request", "ledger", "referee", "report", "audit", "store", "post", "config",
            "daemon",
        ],
    ),
];

/// Values in, values out.
const CORE: &[&str] = &["game", "letter", "request", "ledger", "referee", "report", "audit"];

/// What the core has no use for: clock, network, files, environment, SQL, async, logging, chance, and collections
/// whose order is chance.
const IMPURE: &[&str] = &[
    "tokio",
    "sqlx",
    "tracing",
    "async ",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime::now",
    "Utc::now",
    "Local::now",
    "Instant::now",
    "rand::",
    "getrandom",
    "HashMap",
    "HashSet",
    "println!",
    "print!",
    "static mut",
];

/// What stands for work that is not done, or for trust in the author.
const UNFINISHED: &[&str] = &["todo!", "unimplemented!", "dbg!", "unsafe "];

/// A Rust source without its comments and the insides of its literals; lines stay where they are.
struct Source {
    /// From the folder of the crate.
    path: String,
    code: String,
}

impl Source {
    fn read(path: &Path) -> Source {
        let text = fs::read_to_string(path).expect("a source file");
        let path = path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned();
        Source { path, code: bare(&text) }
    }

    /// The room of `src/` that it stands in: `game` for `src/game.rs` and for everything in `src/game/`.
    fn room(&self) -> Option<&str> {
        let inner = self.path.strip_prefix("src/")?;
        let room = inner.split(['/', '.']).next()?;
        (!["lib", "main"].contains(&room)).then_some(room)
    }

    /// Files of tests, and the modules of tests at the end of the others, may do what the core may not.
    fn code_without_tests(&self) -> &str {
        if self.path.ends_with("/tests.rs") || self.path.contains("/tests/") {
            return "";
        }
        let inline = self.code.match_indices("#[cfg(test)]").find(|(at, _)| {
            let after = self.code[at + "#[cfg(test)]".len()..].trim_start();
            after.starts_with("mod") && after.find('{') < after.find(';')
        });
        inline.map_or(&self.code, |(at, _)| &self.code[..at])
    }

    /// `path:line` of every place where `word` stands as a word of its own, or as the beginning of a path.
    fn places(&self, code: &str, word: &str) -> Vec<String> {
        let stands_alone = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let found = code.match_indices(word).filter(|(at, _)| stands_alone(*at));
        found.map(|(at, _)| format!("{}:{}: {word}", self.path, line_of(code, at))).collect()
    }

    /// The names of the rooms that it imports from.
    fn imports(&self) -> BTreeSet<String> {
        let code = self.code_without_tests();
        let mut rooms = BTreeSet::new();
        for (at, path) in code.match_indices("crate::") {
            let after = &code[at + path.len()..];
            let group = after.strip_prefix('{').and_then(|after| after.split_once('}'));
            let heads: Vec<&str> = match group {
                Some((group, _)) => group.split(',').collect(),
                None => vec![after],
            };
            for head in heads {
                let end = head.trim().find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = end.map_or(head.trim(), |end| &head.trim()[..end]);
                if ROOMS.iter().any(|(room, _)| *room == name) {
                    rooms.insert(name.to_owned());
                }
            }
        }
        rooms
    }

    /// `path:line` of every function longer than [`FUNCTION`] lines.
    fn long_functions(&self) -> Vec<String> {
        let mut long = Vec::new();
        for (at, word) in self.code.match_indices("fn ") {
            let before = self.code[..at].chars().next_back();
            let named = self.code[at + word.len()..].starts_with(|c: char| c.is_alphabetic() || c == '_');
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') || !named {
                continue;
            }
            let lines = self.body(at).map_or(0, |body| 1 + body.matches('\n').count());
            if lines > FUNCTION {
                long.push(format!("{}:{}: {lines} lines", self.path, line_of(&self.code, at)));
            }
        }
        long
    }

    /// The function that begins at `at`, to its closing brace; `None` if it is only declared.
    fn body(&self, at: usize) -> Option<&str> {
        let mut depth = 0_usize;
        // In `[u8; 4]` a semicolon ends nothing.
        let mut brackets = 0_usize;
        for (offset, c) in self.code[at..].char_indices() {
            match c {
                '[' | '(' => brackets += 1,
                ']' | ')' => brackets = brackets.saturating_sub(1),
                '{' => depth += 1,
                '}' if depth <= 1 => return Some(&self.code[at..=at + offset]),
                '}' => depth -= 1,
                ';' if depth == 0 && brackets == 0 => return None,
                _ => {}
            }
        }
        None
    }
}

fn line_of(code: &str, at: usize) -> usize {
    1 + code[..at].matches('\n').count()
}

/// The code with comments and the insides of strings and characters as blanks; line breaks stay.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let in_word = out.ends_with(is_word);
        let taken = literal(rest, in_word).unwrap_or(0);
        if taken > 0 {
            out.extend(rest[..taken].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[taken..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// The length of the comment or literal that `text` begins with.
fn literal(text: &str, in_word: bool) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(text.find("*/").map_or(text.len(), |end| end + 2));
    }
    if !in_word && let Some(raw) = text.strip_prefix('r').or_else(|| text.strip_prefix("br")) {
        let hashes = raw.bytes().take_while(|byte| *byte == b'#').count();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let opened = text.len() - raw.len() + hashes + 1;
            return Some(text[opened..].find(&close).map_or(text.len(), |end| opened + end + close.len()));
        }
    }
    if let Some(inside) = text.strip_prefix('"') {
        return Some(closed(inside, '"').map_or(text.len(), |end| end + 1));
    }
    let inside = text.strip_prefix('\'')?;
    let mut chars = inside.chars();
    // A lifetime has no second apostrophe behind its first character.
    match (chars.next()?, chars.next()) {
        ('\\', _) => closed(inside, '\'').map(|end| end + 1),
        (c, Some('\'')) => Some(c.len_utf8() + 2),
        _ => None,
    }
}

/// The length of `inside` up to and with the `quote` that ends it.
fn closed(inside: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `folder`, by name, if there is such a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn sources(folder: &str) -> Vec<Source> {
    let files = files(&root().join(folder));
    let rust = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| Source::read(path)).collect()
}

fn everything() -> Vec<Source> {
    ["src", "tests", "benches", "examples"].into_iter().flat_map(sources).collect()
}

fn assert_none(found: &[String], what: &str) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

/// The names of the files below `folder`, from there, with `/` between.
fn names(folder: &str) -> BTreeSet<String> {
    let folder = root().join(folder);
    let name = |path: PathBuf| {
        path.strip_prefix(&folder).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    files(&folder).into_iter().map(name).collect()
}

#[test]
fn the_core_is_pure() {
    let mut found = Vec::new();
    for source in sources("src") {
        if source.room().is_some_and(|room| CORE.contains(&room)) {
            let code = source.code_without_tests();
            found.extend(IMPURE.iter().flat_map(|word| source.places(code, word)));
        }
    }
    assert_none(&found, "not for the core");
}

#[test]
fn the_rooms_import_one_way() {
    let mut found = Vec::new();
    for source in sources("src") {
        let Some(room) = source.room() else { continue };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            found.push(format!("{}: the room {room} is not known here", source.path));
            continue;
        };
        let wrong =
            source.imports().into_iter().filter(|from| from != room && !allowed.contains(&from.as_str()));
        found.extend(wrong.map(|from| format!("{}: {room} imports {from}", source.path)));
    }
    assert_none(&found, "against the arrows");
}

#[test]
fn the_arrows_make_no_circle() {
    let place = |name: &str| ROOMS.iter().position(|(room, _)| *room == name);
    for (room, allowed) in ROOMS {
        for from in *allowed {
            assert!(place(from) < place(room), "{room} may import {from}, which stands behind it");
        }
    }
}

#[test]
fn the_games_know_nothing_of_each_other() {
    let mut found = Vec::new();
    let folder = |kind: &GameKind| kind.key().replace('-', "_");
    for kind in GameKind::ALL {
        for source in sources(&format!("src/game/{}", folder(kind))) {
            for other in GameKind::ALL.iter().filter(|other| *other != kind) {
                found.extend(source.places(&source.code, &format!("{}::", folder(other))));
            }
        }
    }
    assert_none(&found, "one game uses another");
}

#[test]
fn nothing_is_left_half_done() {
    let found = everything();
    let found =
        found.iter().flat_map(|source| UNFINISHED.iter().map(move |word| source.places(&source.code, word)));
    assert_none(&found.flatten().collect::<Vec<_>>(), "to be finished");
}

#[test]
fn no_file_is_long() {
    let long = everything().into_iter().map(|source| (source.path, source.code.lines().count()));
    let long = long.filter(|(_, lines)| *lines > FILE).map(|(path, lines)| format!("{path}: {lines} lines"));
    assert_none(&long.collect::<Vec<_>>(), "files too long");
}

#[test]
fn no_function_is_long() {
    let long: Vec<_> = everything().iter().flat_map(Source::long_functions).collect();
    assert_none(&long, "functions too long");
}

#[test]
fn every_template_is_compiled_in() {
    let compiled_in: BTreeSet<String> = COMPILED_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(compiled_in.len(), COMPILED_IN.len(), "a template is compiled in twice");
    assert_eq!(compiled_in, names("templates"));
}

#[test]
fn both_databases_have_the_same_migrations() {
    let (sqlite, postgres) = (names("migrations/sqlite"), names("migrations/postgres"));
    assert!(!sqlite.is_empty());
    assert_eq!(sqlite, postgres);
    let mut numbers: Vec<_> = sqlite.iter().map(|name| name.split('_').next().unwrap_or_default()).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), sqlite.len(), "two migrations of one number: {sqlite:?}");
}

#[test]
fn every_game_is_complete() {
    let folders: BTreeSet<String> = fs::read_dir(root().join("src/game"))
        .expect("the games")
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().replace('_', "-"))
        .collect();
    let games: BTreeSet<String> = GameKind::ALL.iter().map(|kind| kind.key().to_owned()).collect();
    assert_eq!(folders, games);
    for game in &games {
        let templates: Vec<String> = names(&format!("templates/{game}")).into_iter().collect();
        assert_eq!(templates, ["form.txt", "knows.txt", "news.txt", "rules.txt"], "templates of {game}");
        assert!(!names(&format!("tests/cases/{game}")).is_empty(), "{game} has no cases");
    }
}

#[test]
fn no_two_games_are_mistaken_for_each_other() {
    for (at, kind) in GameKind::ALL.iter().enumerate() {
        for other in &GameKind::ALL[at + 1..] {
            assert_ne!(kind.prefix(), other.prefix());
            assert_ne!(kind.name(), other.name());
        }
        assert_eq!(GameKind::parse(kind.key()), Some(*kind));
        assert_eq!(GameKind::parse(kind.name()), Some(*kind));
    }
}

#[test]
fn the_example_config_is_a_config() {
    if let Err(error) = Config::parse(EXAMPLE, "config.example.toml") {
        panic!("{error}");
    }
}

#[test]
fn the_scanner_sees_code_and_nothing_else() {
    let code = bare(
        "let a = \"// fn x() {\"; // dbg!\nlet c = '\"'; let b: &'a str = r#\"todo!\"#; /* unsafe */ fn y() {}",
    );
    assert!(!code.contains("dbg!") && !code.contains("todo!") && !code.contains("unsafe"), "{code}");
    assert!(code.contains("&'a str") && code.contains("fn y() {}") && !code.contains("fn x"), "{code}");
    let inside = format!("fn long(a: [u8; 4]) {{\n{}}}\nfn declared();\n", "{ 1; }\n".repeat(FUNCTION));
    let source = Source { path: "src/game/x.rs".to_owned(), code: inside };
    assert_eq!(source.long_functions(), [format!("src/game/x.rs:1: {} lines", FUNCTION + 2)]);
    let code = "use crate::{game::Seat, store};\n#[cfg(test)]\nmod tests { use crate::cli; }".to_owned();
    let source = Source { path: "src/game/x.rs".to_owned(), code };
    assert_eq!(source.imports().into_iter().collect::<Vec<_>>(), ["game", "store"]);
}
