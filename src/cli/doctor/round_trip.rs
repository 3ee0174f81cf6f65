//! `fogpost doctor --send`: sends a letter to the club's own address, and reports its arrival.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use chrono::Utc;

use crate::config::Config;
use crate::dialect::DOCTOR_SUBJECT;
use crate::letter::authentic::{AuthenticationResults, topmost_results};
use crate::post::FoundLetter;
use crate::post::dkim::{DkimVerdict, Verifier};
use crate::post::outbox::{Outbox, Outgoing};

/// Maximum time between two checks of the mailbox, which grows up to this because providers count logins.
const MAX_PAUSE: Duration = Duration::from_secs(15);

/// The methods by which receivers check a sender.
const METHODS: [&str; 3] = ["spf", "dkim", "dmarc"];

/// A letter that came back.
pub struct Arrival {
    pub after: Duration,
    letter: FoundLetter,
    results: Option<AuthenticationResults>,
    /// The verdict on its DKIM signature, since many servers do not check mail to themselves.
    signature: DkimVerdict,
}

/// Sends a letter to the club's own address and waits until it is in the mailbox.
///
/// # Errors
/// Returns an error if it cannot be sent, or does not arrive within `limit`.
pub async fn round_trip(config: &Config, limit: Duration) -> anyhow::Result<Arrival> {
    let mut random = [0; 12];
    getrandom::fill(&mut random).context("the system provides no random numbers")?;
    let unique: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let message_id = format!("doctor.{unique}@{}", config.club.message_id_domain());
    let to = config.club.address.as_str();
    let bytes = test_letter(to, &message_id);
    let outbox = Outbox::new(config.outbox.way.clone())?;
    let letter = Outgoing { return_path: Some(config.club.return_path().as_str()), to, bytes: &bytes };
    let sent = outbox.send(&letter).await;
    outbox.close().await;
    sent.context("the mail server did not accept the letter")?;
    let began = Instant::now();
    let mut pause = Duration::from_secs(1);
    loop {
        if let Some(letter) = config.inbox.find(message_id.clone()).await? {
            let after = began.elapsed();
            let signature = match Verifier::system() {
                Ok(verifier) => verifier.verify(&letter.raw, &config.club.address, Utc::now()).await,
                Err(_) => DkimVerdict::TryLater,
            };
            let results = topmost_results(&letter.raw);
            return Ok(Arrival { after, letter, results, signature });
        }
        if began.elapsed() + pause > limit {
            let seconds = limit.as_secs();
            bail!(
                "the mail server accepted the letter, but it is not in the mailbox after {seconds} seconds"
            );
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Returns an automatic letter with one of our Message-IDs, so that a running daemon does not answer it.
fn test_letter(address: &str, message_id: &str) -> Vec<u8> {
    let date = Utc::now().to_rfc2822();
    format!(
        "From: <{address}>\r\nTo: <{address}>\r\nSubject: {DOCTOR_SUBJECT}\r\nDate: {date}\r\n\
         Message-ID: <{message_id}>\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\r\n\
         `fogpost doctor --send` wrote this letter to see whether mail arrives. It can be deleted.\r\n"
    )
    .into_bytes()
}

impl Arrival {
    /// Describes how long the letter took and where it was found.
    pub fn found(&self) -> String {
        let FoundLetter { folder, .. } = &self.letter;
        format!("back after {:.1} seconds, in {folder}{}", self.after.as_secs_f64(), self.verdicts())
    }

    /// Returns the error that kept the letter from being moved to the processed letters.
    pub fn unfiled(&self) -> Option<&str> {
        self.letter.unfiled.as_deref()
    }

    fn verdicts(&self) -> String {
        let Some(results) = &self.results else {
            return match self.signature {
                DkimVerdict::Passed => "; its DKIM signature is valid".to_owned(),
                DkimVerdict::NotPassed(_) | DkimVerdict::TryLater => String::new(),
            };
        };
        let verdicts: Vec<String> =
            METHODS.iter().map(|method| format!("{method} {}", value(results, method))).collect();
        format!("; {} says: {}", results.authserv_id, verdicts.join(", "))
    }

    /// Returns warnings about problems that may keep letters from reaching other people.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.letter.is_spam {
            warnings.push(
                "the club's own letter was classified as spam; players may not see its letters".to_owned(),
            );
        }
        match &self.results {
            None => {
                warnings.push(
                    "the receiving server says nothing about SPF, DKIM and DMARC; many do not check mail to \
                     themselves. A letter to another provider shows it"
                        .to_owned(),
                );
                if matches!(self.signature, DkimVerdict::NotPassed(_)) {
                    warnings.push(advice("dkim").to_owned());
                }
            }
            Some(results) => {
                let failed = METHODS.iter().filter(|method| value(results, method) != "pass");
                warnings.extend(failed.map(|method| advice(method).to_owned()));
            }
        }
        warnings
    }
}

fn value<'a>(results: &'a AuthenticationResults, method: &str) -> &'a str {
    // A letter can have several signatures; one that passes is enough.
    let mut of_method = results.results.iter().filter(|result| result.method == method);
    let first = of_method.next().map_or("not checked", |result| &result.value);
    if of_method.any(|result| result.value == "pass") { "pass" } else { first }
}

fn advice(method: &str) -> &'static str {
    match method {
        "spf" => "SPF did not pass: the sender's domain does not name the server that sent the letter",
        "dkim" => "DKIM did not pass: let the mail server sign letters (OpenDKIM, rspamd); fogpost does not",
        _ => "DMARC did not pass: it needs SPF or DKIM of the domain in From",
    }
}
