//! Calls between the files of a room, found in their text, and the circles that they close.
//!
//! Two kinds of calls count: of a free function that another file defines (`budgets::slot(…)`, or `slot(…)` where it is
//! imported), and of a method of a type whose methods are spread over several files. The type of a receiver is unknown,
//! so other calls than of `self` count only if the room has one method of that name.

use std::collections::{BTreeMap, BTreeSet};

/// Methods of collections and iterators, which are called on values of any type.
const ORDINARY: &[&str] = &["drain", "extend", "find", "get", "insert", "iter", "len", "push", "take"];

/// A call in the first file of what the second one defines, and its text.
type Calls<'a> = BTreeMap<(&'a str, &'a str), &'a str>;

/// The name of a type, and the file that defines it where others define one of the same name.
type Type<'a> = (&'a str, &'a str);

/// What calls are read from: the code of a file, without comments, strings and tests.
pub struct Code<'a> {
    path: &'a str,
    /// The path of its module below the crate.
    module: Vec<&'a str>,
    words: Vec<&'a str>,
    /// For each word, the type in whose `impl` it stands.
    within: Vec<Option<&'a str>>,
    functions: BTreeSet<&'a str>,
    types: BTreeSet<&'a str>,
    /// The type and the name of each method, of traits too. Those of traits have no type.
    methods: Vec<(Option<&'a str>, &'a str)>,
    /// Names that are imported, with their paths below the crate.
    imports: BTreeMap<&'a str, Vec<&'a str>>,
}

/// The path of a file's module below its package: `desk`, `gm` for both `src/desk/gm.rs` and `src/desk/gm/mod.rs`.
pub fn module_of(path: &str) -> Vec<&str> {
    let inner = path.split_once("src/").map_or(path, |(_, inner)| inner).trim_end_matches(".rs");
    inner.split('/').filter(|name| !["lib", "main", "mod"].contains(name)).collect()
}

impl<'a> Code<'a> {
    pub fn read(path: &'a str, text: &'a str) -> Code<'a> {
        let module = module_of(path);
        let words = without_tests(words(text));
        let mut code = Code {
            path,
            module,
            within: vec![None; words.len()],
            words,
            functions: BTreeSet::new(),
            types: BTreeSet::new(),
            methods: Vec::new(),
            imports: BTreeMap::new(),
        };
        code.read_items();
        code.read_imports();
        code
    }

    fn word(&self, at: usize) -> &'a str {
        self.words.get(at).copied().unwrap_or_default()
    }

    fn before(&self, at: usize, back: usize) -> &'a str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    /// Fills `within`, `functions`, `types` and `methods`.
    fn read_items(&mut self) {
        let mut at = 0;
        while at < self.words.len() {
            let starts_item = ["", "}", "{", ";", "]", "unsafe", "pub", ")"].contains(&self.before(at, 1));
            match self.words[at] {
                "impl" | "trait" if starts_item => at = self.read_methods(at),
                "fn" => {
                    self.functions.insert(self.word(at + 1));
                    at += 1;
                }
                "struct" | "enum" => {
                    self.types.insert(self.word(at + 1));
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// The file that defines a type named here, if several files of the room define a type of this name: `None` if it
    /// is unknown which.
    fn definer(&self, room: &[Code<'a>], owner: &str) -> Option<&'a str> {
        let mut definers = room.iter().filter(|code| code.types.contains(owner));
        if definers.clone().count() < 2 {
            return Some("");
        }
        if self.types.contains(owner) {
            return Some(self.path);
        }
        let (_, module) = self.imports.get(owner)?.split_last()?;
        definers.find(|code| code.module.starts_with(module)).map(|code| code.path)
    }

    /// Reads the `impl` or `trait` at `start`, and returns where it ends.
    fn read_methods(&mut self, start: usize) -> usize {
        let open = start + self.words[start..].iter().position(|word| *word == "{").unwrap_or(0);
        let head = &self.words[start..open];
        let of_trait = head[0] == "trait" || head.contains(&"for");
        let owner = type_of(head).filter(|_| head[0] == "impl");
        let mut depth = 0;
        for at in open..self.words.len() {
            match self.words[at] {
                "{" => depth += 1,
                "}" => depth -= 1,
                "fn" if depth == 1 => {
                    self.methods.push((owner.filter(|_| !of_trait), self.word(at + 1)));
                }
                _ => {}
            }
            self.within[at] = owner;
            if depth == 0 {
                return at + 1;
            }
        }
        self.words.len()
    }

    fn read_imports(&mut self) {
        for at in 0..self.words.len() {
            if self.words[at] == "use" && self.word(at + 1) != "<" {
                let end = self.words[at..].iter().position(|word| *word == ";").map_or(at, |end| at + end);
                let tree = self.words[at + 1..end.max(at + 1)].to_vec();
                self.import(None, &tree);
            }
        }
    }

    /// Adds the names that a tree of imports such as `a::{b, c as d}` brings, below `base`.
    fn import(&mut self, base: Option<Vec<&'a str>>, tree: &[&'a str]) {
        match tree {
            ["{", inner @ .., "}"] => {
                let mut depth = 0;
                let parts = inner.split(|word| {
                    depth += i32::from(*word == "{") - i32::from(*word == "}");
                    depth == 0 && *word == ","
                });
                parts.for_each(|part| self.import(base.clone(), part));
            }
            [name, "::", rest @ ..] => {
                let base = self.step(base, name);
                self.import(Some(base), rest);
            }
            ["self"] => {
                if let Some(base) = base
                    && let Some(name) = base.last()
                {
                    self.imports.insert(name, base.clone());
                }
            }
            [name] | [_, "as", name] => {
                let path = self.step(base, tree[0]);
                self.imports.insert(name, path);
            }
            _ => {}
        }
    }

    /// The path one name below `base`, or where `name` starts a path.
    fn step(&self, base: Option<Vec<&'a str>>, name: &'a str) -> Vec<&'a str> {
        let parent = |mut path: Vec<&'a str>| {
            path.pop();
            path
        };
        match (base, name) {
            (None, "crate") => Vec::new(),
            (None, "self") => self.module.clone(),
            (None, "super") => parent(self.module.clone()),
            (None, name) => {
                self.imports.get(name).cloned().unwrap_or_else(|| [&self.module[..], &[name]].concat())
            }
            (Some(base), "super") => parent(base),
            (Some(base), name) => [&base[..], &[name]].concat(),
        }
    }

    /// The path below the crate of the function called by the name at `at`.
    fn called(&self, at: usize) -> Option<Vec<&'a str>> {
        let mut first = at;
        while self.before(first, 1) == "::" && first >= 2 {
            first -= 2;
        }
        if first == at {
            return self.imports.get(self.words[at]).cloned();
        }
        let names = self.words[first..=at].iter().filter(|word| **word != "::");
        names.fold(None, |base, name| Some(self.step(base, name)))
    }
}

/// The type that the head of an `impl` names.
fn type_of<'a>(head: &[&'a str]) -> Option<&'a str> {
    let start = head.iter().position(|word| *word == "for").unwrap_or(0) + 1;
    let mut depth = 0;
    let mut last = None;
    for word in &head[start..] {
        match *word {
            "<" => depth += 1,
            ">" => depth -= 1,
            "where" => break,
            "::" | "&" | "mut" | "'" => {}
            word if depth == 0 => last = Some(word),
            _ => {}
        }
    }
    last
}

/// The words of Rust code: names, numbers, `::`, and other characters one by one. Strings, characters, lifetimes and
/// comments are left out.
fn words(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if is_name(first) {
            rest.find(|c| !is_name(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        rest = match word {
            "/" if after.starts_with('/') => after.split_once('\n').map_or("", |(_, after)| after),
            "r" | "br" if after.starts_with(['"', '#']) => after_raw_string(after),
            "\"" => after_quote(after, '"'),
            // A lifetime, or a character: the latter ends with another quotation mark.
            "'" if after.starts_with('\\') || after.chars().nth(1) == Some('\'') => after_quote(after, '\''),
            "'" => after.trim_start_matches(is_name),
            word => {
                if !word.trim().is_empty() {
                    words.push(word);
                }
                after
            }
        };
    }
    words
}

fn after_quote(text: &str, end: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == end && !escaped {
            return &text[at + c.len_utf8()..];
        }
        escaped = c == '\\' && !escaped;
    }
    ""
}

fn after_raw_string(text: &str) -> &str {
    let inner = text.trim_start_matches('#');
    let end = format!("\"{}", "#".repeat(text.len() - inner.len()));
    match inner.strip_prefix('"').and_then(|inner| inner.split_once(&end)) {
        Some((_, after)) => after,
        // A raw name.
        None => inner,
    }
}

/// The words before the test module.
fn without_tests(mut words: Vec<&str>) -> Vec<&str> {
    let marks = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let found =
        words.windows(marks.len() + 2).position(|window| window.starts_with(&marks) && window[9] == "{");
    words.truncate(found.unwrap_or(words.len()));
    words
}

/// The calls between the files of one room.
pub fn calls<'a>(room: &'a [Code<'a>]) -> Calls<'a> {
    let of_type = |code: &Code<'a>, owner: &'a str| code.definer(room, owner).map(|definer| (owner, definer));
    let mut files: BTreeMap<Type, BTreeSet<&str>> = BTreeMap::new();
    // For each name of a method, the types and the files that define it.
    let mut methods: BTreeMap<&str, Vec<(Option<Type>, &str)>> = BTreeMap::new();
    for code in room {
        for (owner, name) in &code.methods {
            let owner = owner.and_then(|owner| of_type(code, owner));
            if let Some(owner) = owner {
                files.entry(owner).or_default().insert(code.path);
            }
            methods.entry(name).or_default().push((owner, code.path));
        }
    }
    let of_method = |name: &str, receiver: Option<Type>| {
        let all = methods.get(name)?;
        let of_receiver = all.iter().find(|(owner, _)| receiver.is_some() && *owner == receiver);
        let only = all.first().filter(|_| all.len() == 1 && receiver.is_none() && !ORDINARY.contains(&name));
        let (owner, path) = of_receiver.or(only)?;
        owner.is_some_and(|owner| files[&owner].len() > 1).then_some(*path)
    };
    let of_function = |path: Vec<&'a str>| {
        let (name, module) = path.split_last()?;
        let file = room.iter().find(|code| code.module == module)?;
        file.functions.contains(name).then_some(file.path)
    };
    let mut calls = BTreeMap::new();
    for code in room {
        for (at, name) in code.words.iter().enumerate() {
            let is_call = code.word(at + 1) == "(" || (code.word(at + 1) == "::" && code.word(at + 2) == "<");
            if !is_call {
                continue;
            }
            let callee = match (code.before(at, 1), code.before(at, 2)) {
                ("fn", _) => None,
                (".", "self") | ("::", "Self") => {
                    code.within[at].and_then(|owner| of_method(name, of_type(code, owner)))
                }
                (".", _) => of_method(name, None),
                ("::", owner) if owner.starts_with(char::is_uppercase) => {
                    of_method(name, of_type(code, owner))
                }
                _ => code.called(at).and_then(of_function),
            };
            if let Some(callee) = callee.filter(|callee| *callee != code.path) {
                calls.entry((code.path, callee)).or_insert(*name);
            }
        }
    }
    calls
}

/// The calls that lie on a circle of calls.
pub fn circles(calls: &Calls) -> Vec<String> {
    let reaches = |from: &str, to: &str| {
        let mut reached = BTreeSet::from([from]);
        let mut next = vec![from];
        while let Some(file) = next.pop() {
            let called = calls.keys().filter(|(caller, _)| *caller == file).map(|(_, callee)| *callee);
            next.extend(called.filter(|callee| reached.insert(callee)));
        }
        reached.contains(to)
    };
    let on_circle = calls.iter().filter(|((from, to), _)| reaches(to, from));
    on_circle.map(|((from, to), name)| format!("{from} calls {name} of {to}")).collect()
}

#[test]
fn words_leave_out_comments_strings_and_lifetimes() {
    let text = r##"a::b('{', "{\"", r#"{"}"#) // {
        fn c<'a>(d: &'a str) { '\'' }"##;
    let expected = "a :: b ( , , ) fn c < > ( d : & str ) { }";
    assert_eq!(words(text), expected.split(' ').collect::<Vec<_>>());
}

#[cfg(test)]
fn sample(files: &[(&'static str, &'static str)]) -> Vec<String> {
    let room: Vec<Code> = files.iter().map(|(path, text)| Code::read(path, text)).collect();
    circles(&calls(&room))
}

#[test]
fn circles_of_free_functions_are_found() {
    let a = (
        "src/desk/a.rs",
        "use super::b::{self, two as second};\npub fn one() { second(); b::three::<u8>(); }",
    );
    let b = ("src/desk/b.rs", "pub fn two() { crate::desk::c::four() }\npub fn three<T>() {}");
    let c = ("src/desk/c.rs", "pub fn four() { super::a::one(); }");
    let all = [
        "src/desk/a.rs calls second of src/desk/b.rs",
        "src/desk/b.rs calls four of src/desk/c.rs",
        "src/desk/c.rs calls one of src/desk/a.rs",
    ];
    assert_eq!(sample(&[a, b, c]), all);
    assert!(sample(&[a, b]).is_empty());
    let harmless =
        ("src/desk/c.rs", "pub fn four() {}\n#[cfg(test)]\nmod tests { fn t() { super::super::a::one() } }");
    assert!(sample(&[a, b, harmless]).is_empty());
}

#[test]
fn circles_of_methods_of_one_type_are_found() {
    let a = ("src/desk/a.rs", "impl<'a> Desk<'a> { pub fn one(&self) { self.two() } }");
    let b = ("src/desk/b.rs", "impl Desk<'_> { pub(super) fn two(&self) { self.rows.three() } }");
    let c = ("src/desk/c.rs", "impl Desk<'_> { async fn three(&self) { Self::one(self) } }");
    assert_eq!(sample(&[a, b, c]).len(), 3);
    assert_eq!(sample(&[a, b]), [""; 0]);
    // Another method of that name makes it unknown whose is called, but not on `self`.
    let other = ("src/desk/d.rs", "impl Rows { fn three(&self) {} }");
    assert_eq!(sample(&[a, b, c, other]), [""; 0]);
    let other = ("src/desk/d.rs", "trait Named { fn two(&self); }");
    assert_eq!(sample(&[a, b, c, other]).len(), 3);
    // A type of one file is named where it is used.
    let a = ("src/desk/a.rs", "impl A { fn one(b: B) { b.two() } }");
    let b = ("src/desk/b.rs", "impl B { fn two(&self, a: A) { a.one() } }");
    assert_eq!(sample(&[a, b]), [""; 0]);
    // Types of one name in two games are two types.
    let a = ("src/house/quad/a.rs", "struct Play; impl Play { fn one(&self) { } }");
    let b = ("src/house/quad/b.rs", "use super::a::Play; impl Play { fn two(&self) { self.one() } }");
    let c = ("src/house/quantum/c.rs", "struct Play; impl Play { fn three(&self) { self.two() } }");
    assert_eq!(sample(&[a, b, c]), [""; 0]);
    let a = ("src/house/quad/a.rs", "struct Play; impl Play { fn one(&self) { self.two() } }");
    assert_eq!(sample(&[a, b, c]).len(), 2);
}
