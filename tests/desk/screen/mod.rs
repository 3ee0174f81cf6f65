//! The GM's screen, as a browser sees it: logins, pages and forms.

mod acts;
mod door;
mod fog;
mod hostile;

use std::cell::RefCell;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, header};
use fogpost::config::Gm;
use fogpost::daemon::screen::respond;
use fogpost::daemon::screen::sessions::{Sessions, new_link};

use crate::referee::Referee;

pub const HOST: &str = "127.0.0.1:9119";

/// An answer: its status, its headers, and its text.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        assert!(plain(&self.text).contains(words), "{words:?} is not in {}:\n{}", self.status, self.text);
        self
    }

    #[track_caller]
    pub fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    pub fn to(&self) -> &str {
        self.headers.get(header::LOCATION).map_or("", |to| to.to_str().expect("a path"))
    }
}

/// The words of a page.
pub fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for c in html.chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            c if !in_tag => text.push(c),
            _ => {}
        }
    }
    unescaped(&text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unescaped(text: &str) -> String {
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")];
    marks.iter().fold(text.to_owned(), |text, (mark, c)| text.replace(mark, c))
}

/// A form on a page: its HTML, and its hidden fields.
pub struct Form {
    pub html: String,
    pub fields: Vec<(String, String)>,
}

/// The forms of a page.
pub fn forms(html: &str) -> Vec<Form> {
    let forms = html.split("<form ").skip(1).map(|rest| rest.split("</form>").next().unwrap_or_default());
    forms
        .map(|form| Form {
            html: form.to_owned(),
            fields: tags(form, "<input ")
                .filter(|tag| tag.contains("type=\"hidden\""))
                .map(|tag| (attribute(tag, "name"), attribute(tag, "value")))
                .collect(),
        })
        .collect()
}

fn tags<'a>(html: &'a str, tag: &'a str) -> impl Iterator<Item = &'a str> {
    html.split(tag).skip(1).map(|rest| rest.split('>').next().unwrap_or_default())
}

fn attribute(tag: &str, name: &str) -> String {
    let value = tag.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
    unescaped(value.unwrap_or_default())
}

/// The form with a button of this label, and the value of the button.
#[track_caller]
pub fn button(html: &str, label: &str) -> (Form, Option<(String, String)>) {
    let has = |form: &Form| form.html.contains(&format!(">{label}</button>"));
    let form = forms(html).into_iter().find(has).unwrap_or_else(|| panic!("no button {label}:\n{html}"));
    let pressed = form.html.split("<button").find(|rest| rest.contains(&format!(">{label}</button>")));
    let tag = form
        .html
        .split("<button")
        .find(|rest| rest.split_once('>').is_some_and(|(_, rest)| rest.starts_with(&format!("{label}<"))));
    let tag = tag.or(pressed).unwrap_or_default().split('>').next().unwrap_or_default().to_owned();
    let named = tag.contains("name=\"").then(|| (attribute(&tag, "name"), attribute(&tag, "value")));
    (form, named)
}

pub struct Browser<'a> {
    referee: &'a Referee,
    pub sessions: Arc<Sessions>,
    pub cookie: RefCell<String>,
}

impl<'a> Browser<'a> {
    pub fn new(referee: &'a Referee) -> Browser<'a> {
        Browser { referee, sessions: Arc::default(), cookie: RefCell::default() }
    }

    /// A browser in which the first GM has logged in.
    pub fn of_gm(referee: &'a Referee) -> Browser<'a> {
        let browser = Browser::new(referee);
        browser.log_in(referee.office().config.club.gm.first());
        browser
    }

    pub fn link(&self, gm: &Gm) -> String {
        self.referee.block_on(new_link(self.referee.office(), gm)).expect("the store answers")
    }

    pub fn log_in(&self, gm: &Gm) {
        let token = self.link(gm);
        self.post("/login", &[("token", &token)]).is(303);
        assert!(!self.cookie.borrow().is_empty());
    }

    /// Sends a request with these headers in place of the usual ones.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).expect("a request");
        self.referee.block_on(async {
            let response = respond(self.referee.shared_office(), Arc::clone(&self.sessions), request).await;
            let (parts, body) = response.into_parts();
            let text = to_bytes(body, 10_000_000).await.expect("a body");
            let text = String::from_utf8(text.to_vec()).expect("text");
            Answer { status: parts.status.as_u16(), headers: parts.headers, text }
        })
    }

    pub fn get(&self, path: &str) -> Answer {
        let cookie = self.cookie.borrow().clone();
        self.send("GET", path, &[("host", HOST), ("cookie", &cookie)], "")
    }

    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let (cookie, origin) = (self.cookie.borrow().clone(), format!("http://{HOST}"));
        let headers = [("host", HOST), ("cookie", cookie.as_str()), ("origin", origin.as_str())];
        let answer = self.send("POST", path, &headers, &body);
        if let Some(cookie) = answer.headers.get(header::SET_COOKIE) {
            let cookie = cookie.to_str().expect("text").split(';').next().expect("a pair");
            cookie.clone_into(&mut self.cookie.borrow_mut());
        }
        answer
    }

    /// Fills in the form of a page that has this button, and presses it.
    #[track_caller]
    pub fn press(&self, page: &Answer, label: &str, filled: &[(&str, &str)]) -> Answer {
        let (form, pressed) = button(&page.text, label);
        let mut fields = form.fields;
        fields.extend(filled.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        fields.extend(pressed);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.post(&attribute(&form.html, "action"), &fields)
    }

    /// Presses a button, and then the one that confirms it, if asked.
    #[track_caller]
    pub fn press_surely(&self, page: &Answer, label: &str, filled: &[(&str, &str)]) -> Answer {
        let mut answer = self.press(page, label, filled);
        while answer.status == 200 && answer.text.contains("name=\"sure\"") {
            let labels = answer.text.split("<button>").nth(2).or(answer.text.split("<button>").last());
            let label = labels.and_then(|rest| rest.split('<').next()).expect("a button").to_owned();
            answer = self.press(&answer, &unescaped(&label), &[]);
        }
        answer
    }
}

/// The value of the first hidden field of this name.
pub fn attribute_of(html: &str, name: &str) -> String {
    let fields = forms(html).into_iter().flat_map(|form| form.fields);
    fields.into_iter().find(|(own, _)| own == name).map(|(_, value)| value).unwrap_or_default()
}
