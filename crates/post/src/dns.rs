//! DNS records of the domain from which letters are sent: its mail servers (MX), its senders (SPF), their
//! keys (DKIM), and the policy on forgeries (DMARC).

use std::time::Duration;

use mail_auth::common::cache::NoCache;
use mail_auth::{DnsError, MX, MessageAuthenticator, RecordSet};
use tokio::time::timeout;

/// Time limit for one query.
const QUERY_LIMIT: Duration = Duration::from_secs(10);

/// Top-level domains that the DNS does not have (RFC 2606).
const RESERVED: [&str; 4] = ["example", "invalid", "localhost", "test"];

/// The answer to one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The records' text.
    Found(String),
    Missing,
    /// The DNS does not answer.
    Unknown,
}

/// The records of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records {
    pub mx: Answer,
    /// The TXT records of the domain itself, SPF among them (RFC 7208).
    pub txt: Answer,
    /// The TXT records of `_dmarc` (RFC 7489).
    pub dmarc: Answer,
    /// The TXT records of `SELECTOR._domainkey` for each known selector (RFC 6376).
    pub dkim: Vec<(String, Answer)>,
}

/// Whether the DNS cannot know the domain.
pub fn is_reserved(domain: &str) -> bool {
    let top = domain.rsplit('.').next().unwrap_or_default();
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(top))
}

impl Records {
    /// Queries the system's name servers for the records, and for the DKIM keys of these selectors. Returns
    /// `None` if the system has no name servers.
    pub async fn of(domain: &str, selectors: Vec<String>) -> Option<Records> {
        let dns = MessageAuthenticator::new_system_conf().ok()?;
        let dmarc = format!("_dmarc.{domain}");
        let (mx, txt, dmarc) = tokio::join!(mx(&dns, domain), txt_of(&dns, domain), txt_of(&dns, &dmarc));
        let mut dkim = Vec::new();
        for selector in selectors {
            let key = txt_of(&dns, &key_name(&selector, domain)).await;
            dkim.push((selector, key));
        }
        Some(Records { mx, txt, dmarc, dkim })
    }

    /// Returns sentences about missing records and their consequences.
    pub fn faults(&self, domain: &str) -> Vec<String> {
        let mut faults = Vec::new();
        if self.mx == Answer::Missing {
            faults.push(format!("{domain} has no MX record, so answers may not arrive"));
        }
        if self.txt.lacks("v=spf1") {
            faults.push(format!(
                "{domain} has no SPF record; publish one that names the servers that send for it (v=spf1 mx -all)"
            ));
        }
        if self.dmarc.lacks("v=DMARC1") {
            faults.push(format!(
                "{domain} has no DMARC record, which large providers expect; publish v=DMARC1; p=none at \
                 _dmarc.{domain}"
            ));
        }
        faults.extend(self.fault_of_keys(domain));
        let keys = self.dkim.iter().map(|(_, key)| key);
        if keys.chain([&self.mx, &self.txt, &self.dmarc]).any(|answer| *answer == Answer::Unknown) {
            faults.push(format!("the DNS does not answer about {domain}; try again later"));
        }
        faults
    }

    /// Returns a sentence if no key is published. A provider uses one of its selectors at a time, so one key
    /// is enough.
    fn fault_of_keys(&self, domain: &str) -> Option<String> {
        let none_holds = self.dkim.iter().all(|(_, key)| match key {
            Answer::Found(text) => !holds_key(text),
            Answer::Missing => true,
            Answer::Unknown => false,
        });
        if self.dkim.is_empty() || !none_holds {
            return None;
        }
        let names: Vec<String> = self.dkim.iter().map(|(selector, _)| key_name(selector, domain)).collect();
        Some(format!(
            "there is no DKIM key at {}, so signatures of the letters prove nothing; publish the record that your mail \
             server or provider gives you",
            names.join(" or ")
        ))
    }
}

/// Returns the DNS name under which a key is published (RFC 6376 3.6.2.1).
fn key_name(selector: &str, domain: &str) -> String {
    format!("{selector}._domainkey.{domain}")
}

/// Whether a key record has a key; an empty one is revoked (RFC 6376 3.6.1).
fn holds_key(record: &str) -> bool {
    record.split(';').filter_map(|tag| tag.trim().strip_prefix("p=")).any(|key| !key.trim().is_empty())
}

impl Answer {
    /// Whether it is certain that no record has this tag.
    fn lacks(&self, tag: &str) -> bool {
        match self {
            Answer::Found(text) => !text.contains(tag),
            Answer::Missing => true,
            Answer::Unknown => false,
        }
    }
}

async fn mx(dns: &MessageAuthenticator, domain: &str) -> Answer {
    let query = dns.mx_lookup(domain, None::<&NoCache<Box<str>, RecordSet<MX>>>);
    answer(query, |records| {
        let hosts = records.rrset.iter().flat_map(|record| record.exchanges.iter());
        hosts.map(|host| host.trim_end_matches('.')).collect::<Vec<_>>().join(" ")
    })
    .await
}

async fn txt_of(dns: &MessageAuthenticator, domain: &str) -> Answer {
    answer(dns.txt_raw_lookup(domain), |bytes| String::from_utf8_lossy(&bytes).into_owned()).await
}

async fn answer<T>(
    query: impl Future<Output = mail_auth::Result<T>>,
    text: impl FnOnce(T) -> String,
) -> Answer {
    match timeout(QUERY_LIMIT, query).await {
        Ok(Ok(found)) => Answer::Found(text(found)),
        Ok(Err(mail_auth::Error::Dns(DnsError::RecordNotFound(_)))) => Answer::Missing,
        Ok(Err(_)) | Err(_) => Answer::Unknown,
    }
}
