//! Checks of pages: valid HTML, headings in order, names for pictures, and links that lead somewhere.

use std::collections::{BTreeMap, BTreeSet};

use html5gum::{Token, Tokenizer};

/// Elements without an end tag.
const VOID: [&str; 5] = ["meta", "link", "input", "img", "br"];

/// The contents of a page.
#[derive(Default)]
struct Page {
    faults: Vec<String>,
    ids: Vec<String>,
    links: Vec<String>,
    headings: Vec<u8>,
}

fn read(html: &str) -> Page {
    let mut page = Page::default();
    let mut open: Vec<String> = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for token in Tokenizer::new(html) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = text(&tag.name);
                let value = |key: &str| tag.attributes.get(key.as_bytes()).map(|value| text(value));
                page.ids.extend(value("id"));
                page.links.extend([value("href"), value("src")].into_iter().flatten());
                if let [b'h', level @ b'1'..=b'6'] = name.as_bytes() {
                    page.headings.push(level - b'0');
                }
                let is_picture = value("role").as_deref() == Some("img") || name == "img";
                let elsewhere = value("aria-labelledby").map(|id| format!("#{id}"));
                page.links.extend(elsewhere.clone());
                let label = value("aria-label").or_else(|| value("alt")).or(elsewhere);
                if is_picture && label.is_none_or(|label| label.trim().is_empty()) {
                    page.faults.push(format!("<{name}> has no text in its place"));
                }
                if !tag.self_closing && !VOID.contains(&name.as_str()) {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                let name = text(&tag.name);
                match open.pop() {
                    Some(last) if last == name => {}
                    last => page.faults.push(format!("</{name}> ends {last:?}")),
                }
            }
            Token::Error(error) => page.faults.push(error.value.to_string()),
            Token::String(_) | Token::Comment(_) | Token::Doctype(_) => {}
        }
    }
    page.faults.extend(open.iter().map(|name| format!("<{name}> does not end")));
    page
}

/// Fails if a page of a site has a fault. `files` holds all files by path.
pub fn assert_sound(files: &BTreeMap<String, String>) {
    let pages: BTreeMap<&str, Page> = files
        .iter()
        .filter(|(path, _)| path.ends_with(".html"))
        .map(|(path, html)| (path.as_str(), read(html)))
        .collect();
    for (path, page) in &pages {
        assert!(page.faults.is_empty(), "{path}: {:?}", page.faults);
        let unique: BTreeSet<&String> = page.ids.iter().collect();
        assert_eq!(unique.len(), page.ids.len(), "{path}: an id twice");
        let levels = &page.headings;
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{path}: {levels:?}");
        assert!(levels[0] == 1 && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{path}: {levels:?}");
        for link in page.links.iter().filter(|link| !link.starts_with("mailto:")) {
            let (target, id) = link.split_once('#').map_or((link.as_str(), None), |(to, id)| (to, Some(id)));
            let target = if target.is_empty() { (*path).to_owned() } else { resolved(path, target) };
            assert!(files.contains_key(&target), "{path} links {link}");
            if let Some(id) = id {
                assert!(pages[target.as_str()].ids.iter().any(|own| own == id), "{path} links {link}");
            }
        }
    }
}

/// The path to which a link on a page leads.
fn resolved(page: &str, link: &str) -> String {
    let mut place: Vec<&str> = page.split('/').collect();
    place.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(place.pop()),
            part => place.push(part),
        }
    }
    place.join("/")
}
