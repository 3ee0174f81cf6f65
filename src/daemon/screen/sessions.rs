//! Access to the screen: links that log in once, and sessions.
//!
//! A link is remembered in the database, because `fogpost screen` is a separate process; sessions are in
//! memory, so that no copy of the database holds one, and a restart ends them all. Both are stored only as
//! digests of their secrets.

use std::collections::VecDeque;
use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};

use super::super::{Office, load};
use crate::config::Gm;
use crate::letter::Digest;

/// Time for which a link logs in.
const LINK_LASTS: TimeDelta = TimeDelta::minutes(5);

/// Time for which a session lasts, in seconds.
pub const SESSION_SECONDS: i64 = 12 * 60 * 60;

/// Maximum sessions; a new one replaces the oldest.
const MAX_SESSIONS: usize = 16;

/// Maximum forms of a session that are remembered after they were carried out.
const MAX_DONE: usize = 100;

/// Prefix of the keys under which links are remembered, each with its GM's name and its end.
const LINK_KEYS: &str = "screen login ";

/// Draws a secret of 128 bits, in hexadecimal digits.
fn draw() -> anyhow::Result<String> {
    let bytes: [u8; 16] = load::random()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn link_key(secret: &str) -> String {
    format!("{LINK_KEYS}{}", Digest::of(secret.as_bytes()))
}

/// Makes the secret of a link that logs a GM in once. Voids the GM's earlier links and all expired ones.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn new_link(office: &Office, gm: &Gm) -> anyhow::Result<String> {
    for (key, value) in office.store.remembered_under(LINK_KEYS).await? {
        if read_link(&value).is_none_or(|(name, until)| name == gm.name || until <= office.now()) {
            office.store.forget(&key).await?;
        }
    }
    let secret = draw()?;
    let value = serde_json::to_string(&(&gm.name, office.now() + LINK_LASTS))?;
    office.store.remember(&link_key(&secret), &value).await?;
    Ok(secret)
}

fn read_link(value: &str) -> Option<(String, DateTime<Utc>)> {
    serde_json::from_str(value).ok()
}

/// A GM who has logged in.
#[derive(Clone, Debug)]
pub struct GmSession {
    id: Digest,
    /// The secret that its forms must contain. The number of the page follows, so that a form that is sent twice differs
    /// from the same act chosen again.
    pub form: String,
    pages: u64,
    /// The name of the GM.
    pub gm: String,
    until: DateTime<Utc>,
    /// The outcome of the last act, until a page has shown it.
    told: Option<String>,
    /// The digests of the last forms that were carried out.
    done: VecDeque<Digest>,
}

impl GmSession {
    /// Whether a form with this value of `form` is from one of its pages.
    pub fn has_form(&self, form: &str) -> bool {
        secret_of(form).is_some_and(|found| secret_of(&self.form) == Some(found))
    }
}

fn secret_of(form: &str) -> Option<Digest> {
    form.split_once('.').map(|(secret, _)| Digest::of(secret.as_bytes()))
}

/// All sessions. They outlive a reload of the config.
#[derive(Default)]
pub struct Sessions(Mutex<Vec<GmSession>>);

impl Sessions {
    fn kept<T>(&self, work: impl FnOnce(&mut Vec<GmSession>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Exchanges the secret of a link for a session, whose secret it returns for the cookie. Returns `None` if the
    /// link is wrong or has expired. Nobody guesses 128 bits, so wrong links are not counted: a limit would only let
    /// any process of this machine lock the GM out.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn log_in(&self, office: &Office, secret: &str) -> anyhow::Result<Option<String>> {
        let now = office.now();
        let found = office.store.take_remembered(&link_key(secret)).await?;
        let found = found.as_deref().and_then(read_link).filter(|(_, until)| now < *until);
        let Some((gm, _)) = found else { return Ok(None) };
        let secret = draw()?;
        let form = draw()?;
        let until = now + TimeDelta::seconds(SESSION_SECONDS);
        let session = GmSession {
            id: Digest::of(secret.as_bytes()),
            form,
            pages: 0,
            gm,
            until,
            told: None,
            done: VecDeque::new(),
        };
        self.kept(|kept| {
            kept.retain(|session| now < session.until);
            if kept.len() >= MAX_SESSIONS {
                kept.remove(0);
            }
            kept.push(session);
        });
        Ok(Some(secret))
    }

    /// Returns the session with this secret, for one page.
    pub fn find(&self, secret: &str, now: DateTime<Utc>) -> Option<GmSession> {
        let id = Digest::of(secret.as_bytes());
        self.kept(|kept| {
            let session = kept.iter_mut().find(|session| session.id == id && now < session.until)?;
            session.pages += 1;
            let form = format!("{}.{}", session.form, session.pages);
            Some(GmSession { form, ..session.clone() })
        })
    }

    pub fn log_out(&self, session: &GmSession) {
        self.kept(|kept| kept.retain(|other| other.id != session.id));
    }

    /// Keeps the outcome of an act for the next page.
    pub fn tell(&self, session: &GmSession, text: String) {
        self.kept(|kept| {
            kept.iter_mut().filter(|other| other.id == session.id).for_each(|other| {
                other.told = Some(text.clone());
            })
        });
    }

    /// Notes that a form was carried out.
    pub fn note_done(&self, session: &GmSession, form: Digest) {
        self.kept(|kept| {
            let Some(session) = kept.iter_mut().find(|other| other.id == session.id) else { return };
            session.done.push_back(form);
            if session.done.len() > MAX_DONE {
                session.done.pop_front();
            }
        });
    }

    /// Whether a form was carried out before.
    pub fn is_done(&self, session: &GmSession, form: Digest) -> bool {
        self.kept(|kept| kept.iter().any(|other| other.id == session.id && other.done.contains(&form)))
    }

    /// Takes the outcome of the last act.
    pub fn take_told(&self, session: &GmSession) -> Option<String> {
        self.kept(|kept| kept.iter_mut().find(|other| other.id == session.id)?.told.take())
    }
}
