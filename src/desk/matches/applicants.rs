//! Applicants: newcomers who wait to be admitted, in a club whose GM admits them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::outbox::budgets;
use crate::desk::outbox::gms::{self, GmTopic};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::letter::{Address, Digest};
use crate::referee::{DispatchKind, OfferRejection, Reply};
use crate::report::{ClubLetter, GmResult};
use crate::store::Player;

/// The beginning of the keys under which applicants are remembered. A digest of the address follows. The value of one
/// who is no longer waiting is empty.
pub const APPLICANT: &str = "applicant ";

/// Maximum applicants who wait at a time, and maximum commands of each.
const MAX_APPLICANTS: usize = 200;
const MAX_LINES: usize = 10;

/// A newcomer who waits to be admitted. The address is proven to be theirs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applicant {
    pub address: String,
    pub name: String,
    /// The commands that nobody carried out, as written.
    pub lines: Vec<String>,
    pub since: DateTime<Utc>,
}

impl Applicant {
    /// Reads remembered values. Returns the applicants who still wait, the one who has waited longest first.
    pub fn read_all(remembered: &[(String, String)]) -> Vec<Applicant> {
        let read = remembered.iter().filter_map(|(_, value)| serde_json::from_str(value).ok());
        let mut found: Vec<Applicant> = read.collect();
        found.sort_by(|a, b| (a.since, &a.address).cmp(&(b.since, &b.address)));
        found
    }
}

/// Returns everybody who waits, as this transaction leaves them so far.
pub fn all(desk: &Desk<'_>) -> Decided<Vec<Applicant>> {
    let mut remembered = desk.rows.applicants()?.to_vec();
    for (key, value) in desk.added(|changes| &changes.remembered) {
        if key.starts_with(APPLICANT) {
            remembered.retain(|(stored, _)| stored != key);
            remembered.push((key.clone(), value.clone()));
        }
    }
    Ok(Applicant::read_all(&remembered))
}

/// If a command was refused because its sender has to be admitted first, lets them wait for that, and tells the GM of
/// each once.
pub fn note_if_refused(desk: &mut Desk<'_>, asker: &Asker, reply: &Reply, line: &str) -> Decided<()> {
    if !matches!(reply, Reply::NoOffer { why: OfferRejection::NeedsApproval, .. }) {
        return Ok(());
    }
    let waiting = all(desk)?;
    let known = waiting.iter().find(|applicant| applicant.address == asker.from);
    if known.is_none() && waiting.len() >= MAX_APPLICANTS {
        tracing::warn!(waiting = waiting.len(), "too many people wait to be admitted to note another");
        return Ok(());
    }
    let mut applicant = known.cloned().unwrap_or_else(|| Applicant {
        address: asker.from.clone(),
        name: asker.name.clone(),
        lines: Vec::new(),
        since: desk.at(),
    });
    if applicant.lines.len() < MAX_LINES && !applicant.lines.iter().any(|known| known == line) {
        applicant.lines.push(line.to_owned());
    }
    if known.is_none() {
        let Applicant { address, name, lines, since } = applicant.clone();
        let unique = format!("n.{}.{}", digest_of(&address), since.timestamp());
        let letter = ClubLetter::Newcomer { address, name, lines };
        for dispatch in gms::gm_letters(desk, &letter, &unique, GmTopic::Club)? {
            // If there is no room now, the digest tells the GM.
            budgets::send_once_for_others(desk, dispatch)?;
        }
    }
    let value = serde_json::to_string(&applicant).expect("texts are JSON");
    desk.draft.changes.remembered.push((key_of(&applicant.address), value));
    Ok(())
}

/// Tells an applicant who has just been registered, and repeats what they wrote.
pub fn admit(desk: &mut Desk<'_>, applicant: &Applicant, player: &Player) -> Decided<()> {
    let letter = ClubLetter::Admitted { name: player.name.clone(), lines: applicant.lines.clone() };
    settle(desk, applicant, &letter)
}

/// Declines an applicant, and tells them so.
pub fn decline(desk: &mut Desk<'_>, address: &Address, words: &str, check: bool) -> Decided<GmResult> {
    let Some(applicant) = of(desk, address)? else {
        return Ok(GmResult::refused(format!("Nobody with the address {address} waits to be admitted.")));
    };
    if check {
        return Ok(GmResult::would(format!(
            "{} would be told that they are not admitted.",
            applicant.address
        )));
    }
    let gm = gms::acting_gm(desk).address.as_str().to_owned();
    settle(desk, &applicant, &ClubLetter::NotAdmitted { words: words.to_owned(), gm })?;
    Ok(GmResult::NotAdmitted { address: applicant.address, name: applicant.name })
}

/// Returns the applicant with this address.
pub fn of(desk: &Desk<'_>, address: &Address) -> Decided<Option<Applicant>> {
    Ok(all(desk)?.into_iter().find(|applicant| applicant.address == address.as_str()))
}

fn settle(desk: &mut Desk<'_>, applicant: &Applicant, letter: &ClubLetter) -> Decided<()> {
    let Applicant { address, name, .. } = applicant;
    let unique = format!("admission.{}.{}", digest_of(address), desk.at().timestamp_millis());
    let to = PlainEnvelope { name, address, unique: &unique, kind: DispatchKind::Notice };
    mail::send(desk, letter, &to)?;
    desk.draft.changes.remembered.push((key_of(address), String::new()));
    Ok(())
}

/// Returns the key of an applicant. It does not show the address, because the key stays when the applicant is forgotten.
fn key_of(address: &str) -> String {
    format!("{APPLICANT}{}", digest_of(address))
}

fn digest_of(address: &str) -> String {
    Digest::of(address.as_bytes()).to_string()[..24].to_owned()
}
