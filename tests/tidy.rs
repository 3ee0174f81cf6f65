//! The project's rules that neither the compiler nor clippy can check: which room imports which, what the core must not
//! use, how long a file may be, and that nothing is missing from a game, a template folder or a database.
//!
//! Reads the sources as text. `[lints]` in Cargo.toml and clippy.toml check the rest.

#[path = "tidy/calls.rs"]
mod calls;
#[path = "tidy/plans.rs"]
mod plans;
#[path = "support/referee.rs"]
mod referee;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fogpost::config::{Config, EXAMPLE};
use fogpost::game::any::GameKind;
use fogpost::report::COMPILED_IN;

use crate::calls::{Code, calls, circles, module_of};

/// Maximum length of a file, in lines.
const MAX_FILE_LINES: usize = 800;

/// The sources of the packages. The compiler holds the arrows between them.
const PACKAGES: &[&str] = &[
    "src",
    "crates/games/src",
    "crates/letter/src",
    "crates/core/src",
    "crates/post/src",
    "crates/testing/src",
];

/// The packages and rooms that `src/` uses, each with those that it may import. `lib.rs` and `main.rs` belong to none.
const ROOMS: &[(&str, &[&str])] = &[
    ("game", &[]),
    ("house", &["game"]),
    ("render", &["game"]),
    ("letter", &[]),
    ("post", &["letter"]),
    ("zone", &[]),
    ("language", &["game", "letter"]),
    ("dialect", &["letter", "language"]),
    ("request", &["game", "letter", "language", "dialect"]),
    ("ledger", &["game", "letter", "zone", "dialect", "request"]),
    ("referee", &["game", "house", "letter", "zone", "language", "dialect", "request", "ledger"]),
    ("club", &["game", "house", "letter", "ledger", "referee"]),
    ("report", &["game", "house", "render", "letter", "zone", "language", "ledger", "referee"]),
    ("audit", &["game", "house", "letter", "zone", "ledger", "referee", "club", "report"]),
    ("store", &["game", "letter", "post", "ledger", "referee", "club"]),
    ("web", &["game", "house", "letter", "zone", "ledger", "referee", "club", "report"]),
    ("config", &["game", "house", "letter", "referee", "store", "post"]),
    (
        "desk",
        &[
            "game", "house", "letter", "zone", "language", "dialect", "request", "ledger", "referee", "club",
            "report", "audit", "store", "post", "config",
        ],
    ),
    (
        "daemon",
        &[
            "game", "house", "letter", "zone", "dialect", "request", "ledger", "referee", "club", "report",
            "audit", "store", "web", "post", "config", "desk",
        ],
    ),
    (
        "cli",
        &[
            "game", "house", "letter", "zone", "dialect", "request", "ledger", "referee", "club", "report",
            "audit", "store", "web", "post", "config", "desk", "daemon",
        ],
    ),
];

/// The packages and rooms that take values and return values.
const CORE: &[&str] = &[
    "crates/games/src",
    "crates/letter/src",
    "crates/core/src/zone",
    "crates/core/src/language",
    "crates/core/src/dialect",
    "crates/core/src/request",
    "crates/core/src/ledger",
    "crates/core/src/referee",
    "crates/core/src/club",
    "crates/core/src/report",
    "crates/core/src/audit",
    "crates/core/src/web",
];

/// What the core must not use: the clock, network, files, environment, SQL, async, logging, randomness, and collections
/// with a random order. clippy.toml disallows a path in the whole crate only, and the shell needs these.
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

/// A Rust source with comments removed. Lines keep their numbers.
struct Source {
    /// Relative to the root of the repository.
    path: String,
    code: String,
}

impl Source {
    /// The room of `src/` that contains it: `config` for `src/config.rs` and everything in `src/config/`. The modules
    /// `game` and `house` of their package are rooms, too.
    fn room(&self) -> Option<&str> {
        let inner = ["src/", "crates/core/src/", "crates/games/src/"]
            .iter()
            .find_map(|folder| self.path.strip_prefix(folder))?;
        let room = inner.split(['/', '.']).next()?;
        (!["lib", "main"].contains(&room)).then_some(room)
    }

    /// The code before its test module, which may do what the core may not. Empty for a file of tests.
    fn code_without_tests(&self) -> &str {
        if is_of_tests(&self.path) {
            return "";
        }
        let inline = self.code.match_indices("#[cfg(test)]").find(|(at, _)| {
            let after = self.code[at + "#[cfg(test)]".len()..].trim_start();
            after.starts_with("mod") && after.find('{') < after.find(';')
        });
        inline.map_or(&self.code, |(at, _)| &self.code[..at])
    }

    /// `path:line: word` for each place where `word` starts a word or a path.
    fn places(&self, code: &str, word: &str) -> Vec<String> {
        let starts_word = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let found = code.match_indices(word).filter(|(at, _)| starts_word(*at));
        let line = |at: usize| 1 + code[..at].matches('\n').count();
        found.map(|(at, _)| format!("{}:{}: {word}", self.path, line(at))).collect()
    }

    /// The rooms that it imports from.
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

    /// See [`module_of`].
    fn module(&self) -> Vec<&str> {
        module_of(&self.path)
    }

    /// The paths that it names by `crate::` and `super::`, below its package.
    fn references(&self) -> Vec<Vec<&str>> {
        let code = self.code_without_tests();
        let mut found = Vec::new();
        for (at, _) in code.match_indices("crate::") {
            add_paths(Vec::new(), &code[at + "crate::".len()..], &mut found);
        }
        for (at, _) in code.match_indices("super::").filter(|(at, _)| !code[..*at].ends_with("super::")) {
            add_paths(self.module(), &code[at..], &mut found);
        }
        found
    }
}

/// Adds the paths that `text` starts with, such as `a::{b, c::d}`, below `base`.
fn add_paths<'a>(mut base: Vec<&'a str>, text: &'a str, found: &mut Vec<Vec<&'a str>>) {
    if let Some(group) = text.strip_prefix('{') {
        for item in items(group) {
            add_paths(base.clone(), item, found);
        }
        return;
    }
    let (name, rest) =
        text.split_at(text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()));
    match name {
        "super" => drop(base.pop()),
        name => base.push(name),
    }
    match rest.strip_prefix("::") {
        Some(rest) => add_paths(base, rest, found),
        None => found.push(base),
    }
}

/// The items of a group of imports, whose text starts behind its opening brace.
fn items(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                items.push(group[start..at].trim());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// The text with each line cut at `//`. This also cuts lines at the `//` of a URL, which hides nothing that these tests
/// look for.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `folder`, sorted. Panics if there is none: a check of nothing would always pass.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The path, relative to the root of the repository, and the text of each Rust file below `folder`.
fn texts(folder: &str) -> Vec<(String, String)> {
    let mut files = files(&root().join(folder));
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let read = |path: PathBuf| {
        let relative = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
        (relative, fs::read_to_string(&path).expect("a source file"))
    };
    files.into_iter().map(read).collect()
}

fn is_of_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

fn sources(folder: &str) -> Vec<Source> {
    let texts = texts(folder).into_iter();
    texts.map(|(path, text)| Source { path, code: without_comments(&text) }).collect()
}

fn assert_none(found: &[String], what: &str) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

/// The paths of the files below `folder`, relative to it.
fn names(folder: &str) -> BTreeSet<String> {
    let folder = root().join(folder);
    let name = |path: PathBuf| {
        path.strip_prefix(&folder).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    files(&folder).into_iter().map(name).collect()
}

/// The name of a game's folder.
fn folder_of(kind: &GameKind) -> String {
    kind.key().replace('-', "_")
}

/// The names of the folders in `folder`, but for `other`.
fn folders(folder: &str, other: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder of games").flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name != other).collect()
}

/// The table of clauses.
fn clauses() -> String {
    fs::read_to_string(root().join("docs/clauses.md")).expect("the table of clauses")
}

/// The section about `game` in the table of clauses.
fn section(clauses: &str, game: GameKind) -> &str {
    let heading = format!("\n## {}\n", game.name());
    let (_, after) = clauses.split_once(&heading).expect("each game has a section");
    after.split("\n## ").next().unwrap_or_default()
}

/// The words in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_core_is_pure() {
    let mut found = Vec::new();
    for source in CORE.iter().flat_map(|folder| sources(folder)) {
        let code = source.code_without_tests();
        found.extend(IMPURE.iter().flat_map(|word| source.places(code, word)));
    }
    assert_none(&found, "not for the core");
}

/// An audit derives the house's turns again on another machine: they may depend neither on the rounding of fractions nor
/// on time, threads, randomness, the order of a collection or the width of `usize`.
#[test]
fn the_house_calculates_in_integers_and_keeps_no_time() {
    let words = "f32 f64 Instant SystemTime Utc::now getrandom HashMap HashSet std::thread rayon usize::MAX";
    let mut found = Vec::new();
    for source in sources("crates/games/src/house") {
        found.extend(words.split(' ').flat_map(|word| source.places(&source.code, word)));
    }
    assert_none(&found, "not for the house");
}

#[test]
fn decisions_await_nothing_and_know_no_store() {
    let mut found = Vec::new();
    let plan = sources("src/daemon/sending").into_iter();
    let plan = plan.filter(|source| ["plan.rs", "account.rs"].iter().any(|name| source.path.ends_with(name)));
    for source in sources("src/desk").into_iter().chain(plan) {
        found.extend(forbidden_in_decisions(&source));
    }
    assert_none(&found, "a decision reads its context and nothing else");
}

/// Whatever makes a decision wait, or depend on more than its context.
fn forbidden_in_decisions(source: &Source) -> Vec<String> {
    let code = source.code_without_tests();
    let words = ["async", "tokio", "sqlx", "store::Database", "Office", "getrandom", "Utc::now"];
    let mut found: Vec<String> = words.iter().flat_map(|word| source.places(code, word)).collect();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let awaits = code.split(".await").skip(1).filter(|after| !after.starts_with(is_name)).count();
    found.extend((awaits > 0).then(|| format!("{}: {awaits} times .await", source.path)));
    let imports = source.references();
    let of_database = imports.iter().filter(|path| path.starts_with(&["store", "Database"]));
    found.extend(of_database.map(|path| format!("{}: {}", source.path, path.join("::"))));
    found
}

#[test]
fn a_decision_that_waits_or_knows_the_store_is_found() {
    let found = |code: &str| {
        let source = Source { path: "src/desk/gm/letter.rs".to_owned(), code: code.to_owned() };
        forbidden_in_decisions(&source).len()
    };
    assert_eq!(
        found("use crate::store::{LetterRow, Standing};\nfn decide() -> bool { game_match.awaited }"),
        0
    );
    let faulty = [
        "async fn decide() {}",
        "fn decide() { block_on(async { 1 }) }",
        "let row = load(key).await;",
        "let row = row.await?;",
        "use tokio::sync::Mutex;",
        "use sqlx::Row as _;",
        "use crate::store::{Claim, Database, LetterRow};",
        "fn decide(database: &crate::store::Database) {}",
        "let now = chrono::Utc::now();",
    ];
    for code in faulty {
        assert!(found(code) > 0, "{code}");
    }
    assert_eq!(found("#[cfg(test)]\nmod tests { async fn waits() { rest().await; } }"), 0);
}

#[test]
fn the_rooms_import_one_way() {
    let mut found = Vec::new();
    for source in ["src", "crates/core/src", "crates/games/src"].into_iter().flat_map(sources) {
        let Some(room) = source.room() else { continue };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            found.push(format!("{}: the room {room} is missing in ROOMS", source.path));
            continue;
        };
        let wrong =
            source.imports().into_iter().filter(|from| from != room && !allowed.contains(&from.as_str()));
        found.extend(wrong.map(|from| format!("{}: {room} imports {from}", source.path)));
    }
    assert_none(&found, "forbidden imports");
}

#[test]
fn the_rooms_are_listed_in_the_order_of_their_imports() {
    let place = |name: &str| ROOMS.iter().position(|(room, _)| *room == name);
    for (room, allowed) in ROOMS {
        for from in *allowed {
            assert!(place(from) < place(room), "{room} may import {from}, which is listed after it");
        }
    }
}

/// Counts a call as an import of what it calls.
#[test]
fn no_modules_import_each_other_in_a_circle() {
    for package in PACKAGES {
        assert_no_circle(package);
    }
}

fn assert_no_circle(package: &str) {
    let all = sources(package);
    let modules: BTreeSet<Vec<&str>> = all.iter().map(Source::module).collect();
    let files = texts(package);
    let rooms = code_of_rooms(&files);
    let calls: Vec<_> = rooms.iter().flat_map(|room| calls(room).into_keys()).collect();
    // For each module, the modules beside it that it or a module below it refers to.
    let mut uses: BTreeMap<&[&str], BTreeSet<&[&str]>> = BTreeMap::new();
    let references: Vec<_> =
        all.iter().map(|source| (source.module(), references_of(source, &calls))).collect();
    for (from, to) in references.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        if shared < from.len() && shared < to.len() && modules.contains(&to[..=shared]) {
            uses.entry(&from[..=shared]).or_default().insert(&to[..=shared]);
        }
    }
    let mut found = Vec::new();
    for start in uses.keys() {
        let mut reached: BTreeSet<&[&str]> = uses[start].clone();
        let mut next: Vec<&[&str]> = reached.iter().copied().collect();
        while let Some(module) = next.pop() {
            let further = uses.get(module).into_iter().flatten();
            next.extend(further.filter(|module| reached.insert(module)));
        }
        if reached.contains(start) {
            found.push(start.join("::"));
        }
    }
    assert_none(&found, &format!("modules of {package} that import themselves by way of others"));
}

#[test]
fn no_files_call_each_other_in_a_circle() {
    let mut found = Vec::new();
    for package in PACKAGES {
        let files = texts(package);
        found.extend(code_of_rooms(&files).iter().flat_map(|room| circles(&calls(room))));
    }
    assert_none(&found, "files that call each other in a circle");
}

/// The paths that a source names, and those of the functions and methods that it calls.
fn references_of<'a>(source: &'a Source, calls: &[(&str, &'a str)]) -> Vec<Vec<&'a str>> {
    let called = calls.iter().filter(|(from, _)| *from == source.path);
    let called = called.map(|(_, to)| [&module_of(to)[..], &["call"]].concat());
    source.references().into_iter().chain(called).collect()
}

/// The code of a package, by the modules at its top.
fn code_of_rooms(files: &[(String, String)]) -> Vec<Vec<Code<'_>>> {
    let mut rooms: BTreeMap<Option<&str>, Vec<Code<'_>>> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| !is_of_tests(path)) {
        rooms.entry(module_of(path).first().copied()).or_default().push(Code::read(path, text));
    }
    rooms.into_values().collect()
}

#[test]
fn games_do_not_use_each_other() {
    let mut found = Vec::new();
    for kind in GameKind::ALL {
        let folders = ["game", "house"].map(|room| format!("crates/games/src/{room}/{}", folder_of(kind)));
        for source in folders.iter().flat_map(|folder| sources(folder)) {
            for other in GameKind::ALL.iter().filter(|other| *other != kind) {
                found.extend(source.places(&source.code, &format!("{}::", folder_of(other))));
            }
        }
    }
    assert_none(&found, "one game uses another");
}

/// The inside of a game is public for benches and for the tests of its rules.
#[test]
fn only_the_house_sees_inside_a_game() {
    let games: BTreeSet<String> = GameKind::ALL.iter().map(folder_of).collect();
    let is_inside = |path: &&Vec<&str>| path.len() > 1 && path[0] == "game" && games.contains(path[1]);
    let mut found = Vec::new();
    for source in ["src", "crates/core/src"].into_iter().flat_map(sources) {
        let references = source.references();
        let inside = references.iter().filter(is_inside);
        found.extend(inside.map(|path| format!("{}: {}", source.path, path.join("::"))));
    }
    assert_none(&found, "a room names a game, past `game::any`");
}

#[test]
fn no_file_is_longer_than_the_limit() {
    let all = ["src", "crates", "tests", "benches", "fuzz/targets"].into_iter().flat_map(sources);
    let lines = all.map(|source| (source.code.lines().count(), source.path));
    let long = lines.filter(|(lines, _)| *lines > MAX_FILE_LINES);
    assert_none(&long.map(|(lines, path)| format!("{path}: {lines} lines")).collect::<Vec<_>>(), "too long");
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
    assert_eq!(numbers.len(), sqlite.len(), "two migrations have one number: {sqlite:?}");
}

#[test]
fn every_game_is_complete() {
    let games: BTreeSet<String> = GameKind::ALL.iter().map(folder_of).collect();
    // `any/` belongs to the enum over the games.
    assert_eq!(folders("crates/games/src/game", "any"), games);
    let played = folders("crates/games/src/house", "engine");
    assert!(played.is_subset(&games), "the house plays what is no game");
    let games: BTreeSet<&str> = GameKind::ALL.iter().map(|kind| kind.key()).collect();
    for game in &games {
        let mut templates: Vec<String> = names(&format!("templates/{game}")).into_iter().collect();
        // A page of advice is not required.
        templates.retain(|name| name != "strategy.txt");
        let needed = ["aim.txt", "form.txt", "knows.txt", "news.txt", "questions.txt", "rules.txt"];
        assert_eq!(templates, needed, "templates of {game}");
        assert!(!names(&format!("crates/games/tests/cases/{game}")).is_empty(), "{game} has no cases");
    }
}

#[test]
fn the_table_of_clauses_names_every_case_file() {
    let clauses = clauses();
    let is_case = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(".txt");
    let mut found = Vec::new();
    for kind in GameKind::ALL {
        let named: BTreeSet<&str> = quoted(section(&clauses, *kind)).filter(is_case).collect();
        let files = names(&format!("crates/games/tests/cases/{}", kind.key()));
        let cases: BTreeSet<&str> = files.iter().map(String::as_str).filter(is_case).collect();
        found.extend(cases.difference(&named).map(|name| format!("{kind}: {name} is not in the table")));
        found.extend(named.difference(&cases).map(|name| format!("{kind}: {name} does not exist")));
    }
    assert_none(&found, "docs/clauses.md and the case files differ");
}

#[test]
fn the_table_of_clauses_names_every_ruling() {
    let clauses = clauses();
    // `Z-MERGE`: the letter of a game and a word in capitals.
    let is_ruling =
        |word: &&str| word.split_once('-').is_some_and(|(game, name)| game.len() == 1 && name.len() > 1);
    let mut found = Vec::new();
    for kind in GameKind::ALL {
        let path = root().join("templates").join(kind.key()).join("rules.txt");
        let rules = fs::read_to_string(path).expect("the rules of a game");
        let words = rules.split(|c: char| !c.is_ascii_uppercase() && c != '-');
        let rulings: BTreeSet<&str> = words.filter(is_ruling).collect();
        assert!(!rulings.is_empty(), "the rules of {kind} name no ruling");
        let section = section(&clauses, *kind);
        let missing = rulings.iter().filter(|ruling| !section.contains(**ruling));
        found.extend(missing.map(|ruling| format!("{kind}: {ruling}")));
    }
    assert_none(&found, "rulings that docs/clauses.md does not name");
}

/// Names are files, such as `tests/tidy.rs`, and what a source file defines, such as `rules::capture`.
#[test]
fn the_table_of_clauses_names_only_what_exists() {
    let clauses = clauses();
    let all: Vec<Source> = ["src", "crates", "tests"].into_iter().flat_map(sources).collect();
    let kinds = ["fn", "struct", "enum", "type", "const"];
    let defines = |source: &Source, name: &str| {
        kinds.iter().any(|kind| !source.places(&source.code, &format!("{kind} {name}")).is_empty())
    };
    let exists = |word: &str| match word.split_once("::") {
        Some((file, name)) => {
            all.iter().any(|source| source.module().last() == Some(&file) && defines(source, name))
        }
        None => !word.contains('/') || root().join(word).exists(),
    };
    let missing: Vec<String> = quoted(&clauses).filter(|word| !exists(word)).map(str::to_owned).collect();
    assert_none(&missing, "docs/clauses.md names what does not exist");
}

/// Names come with their files: `settle_some` (`src/daemon/items.rs`), or `parse` in `request/command.rs`.
#[test]
fn guides_name_only_what_exists() {
    let mut missing = Vec::new();
    let mut checked = 0;
    for guide in ["CONTRIBUTING.md", "docs/architecture.md"] {
        let text = fs::read_to_string(root().join(guide)).expect("a guide");
        let parts: Vec<&str> = text.split('`').collect();
        for found in parts[1..].windows(3).step_by(2) {
            let (name, between, file) = (found[0], found[1].trim(), found[2]);
            if !file.ends_with(".rs") || !file.contains('/') {
                continue;
            }
            let folders = ["", "src", "crates/core/src"].map(|folder| root().join(folder));
            let code = folders.iter().find_map(|folder| fs::read_to_string(folder.join(file)).ok());
            let Some(code) = code else {
                missing.push(format!("{guide}: {file}"));
                continue;
            };
            let name = name.rsplit("::").next().unwrap_or_default();
            let mut words = code.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
            // A command such as `fogpost match extend` is no name in its file.
            if ["(", "in"].contains(&between) && !name.contains(' ') {
                checked += 1;
                missing
                    .extend((!words.any(|word| word == name)).then(|| format!("{guide}: {name} in {file}")));
            }
        }
    }
    assert!(checked > 50, "only {checked} names were found");
    assert_none(&missing, "guides name what does not exist");
}

#[test]
fn the_table_of_clauses_has_no_empty_cell() {
    let clauses = clauses();
    let rows = clauses.lines().filter(|line| line.starts_with('|'));
    let is_whole = |row: &&str| row.split('|').filter(|cell| !cell.trim().is_empty()).count() == 5;
    let faulty: Vec<String> = rows.filter(|row| !is_whole(row)).map(str::to_owned).collect();
    assert_none(&faulty, "rows of docs/clauses.md with an empty cell");
}

#[test]
fn games_have_distinct_names_and_prefixes() {
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
fn the_example_config_is_valid() {
    if let Err(error) = Config::parse(EXAMPLE, "config.example.toml") {
        panic!("{error}");
    }
}

#[test]
fn the_scanner_ignores_comments_and_tests() {
    let text = "use crate::{game::Seat, store}; // crate::post\n#[cfg(test)]\nmod tests { use crate::cli; }";
    let source = Source { path: "crates/games/src/game/x.rs".to_owned(), code: without_comments(text) };
    assert_eq!(source.room(), Some("game"));
    assert_eq!(source.imports().into_iter().collect::<Vec<_>>(), ["game", "store"]);
    assert_eq!(source.places(&source.code, "cli"), ["crates/games/src/game/x.rs:3: cli"]);
    assert_eq!(source.references(), [vec!["game", "Seat"], vec!["store"]]);
    let text = "use super::super::{y::{A, B}, z};\nlet c = super::C;".to_owned();
    let source = Source { path: "crates/games/src/game/x/mod.rs".to_owned(), code: text };
    assert_eq!(source.module(), ["game", "x"]);
    let expected = [vec!["y", "A"], vec!["y", "B"], vec!["z"], vec!["game", "C"]];
    assert_eq!(source.references(), expected);
}
