//! Verifies the DKIM signature of the sender's domain (RFC 6376; RFC 7489, 3.1.1).
//!
//! Whether a letter needs a signature is for the referee to decide.
//! [`letter::authentic`](fogpost_letter::authentic) reads the receiving server's report on the signatures.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use std::time::Instant;

use chrono::{DateTime, Utc};
use mail_auth::common::crypto::{Algorithm, HashAlgorithm};
use mail_auth::common::headers::Header;
use mail_auth::common::verify::{DomainKey, VerifySignature as _};
use mail_auth::dkim::{Canonicalization, DkimError, Signature};
use mail_auth::{
    AuthenticatedMessage, DkimResult, DnsError, Error, MessageAuthenticator, Parameters, ResolverCache, Txt,
};

use fogpost_letter::Address;
use fogpost_letter::authentic::{SignatureFault, are_aligned, provable};

/// Maximum keys in a cache.
const MAX_KEYS: usize = 1000;

/// Maximum signatures on a letter. One with more is not verified, because each costs a DNS query.
const MAX_SIGNATURES: usize = 10;

/// Maximum fields that a signature covers. Programs sign a few tens, some of them several times.
const MAX_SIGNED_FIELDS: usize = 200;

/// Size of a body, in bytes, above which it is hashed only once.
const LARGE: usize = 1_000_000;

/// The verdict on a letter's signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DkimVerdict {
    /// A valid signature of the From domain, or of another domain of the same organization, covers From and
    /// the whole body.
    Passed,
    /// There is no such signature, for this reason.
    NotPassed(SignatureFault),
    /// The DNS did not answer.
    TryLater,
}

/// Verifies letters, with a cache of public keys in front of the DNS.
pub struct Verifier<C = Keys> {
    authenticator: MessageAuthenticator,
    keys: C,
}

/// The DNS cannot be set up on this machine.
#[derive(Debug, thiserror::Error)]
#[error("the system's DNS settings cannot be used")]
pub struct NoResolver(#[source] Box<dyn std::error::Error + Send + Sync>);

impl Verifier<Keys> {
    /// Uses the system's name servers.
    ///
    /// # Errors
    /// Returns an error if the system's DNS settings cannot be read.
    pub fn system() -> Result<Verifier<Keys>, NoResolver> {
        let authenticator = MessageAuthenticator::new_system_conf().map_err(|e| NoResolver(e.into()))?;
        Ok(Verifier { authenticator, keys: Keys::default() })
    }
}

impl<C: ResolverCache<Box<str>, Txt>> Verifier<C> {
    /// Uses the resolver of `authenticator` for names that are not in `keys`.
    pub fn new(authenticator: MessageAuthenticator, keys: C) -> Verifier<C> {
        Verifier { authenticator, keys }
    }

    /// Verifies the raw bytes of a letter whose From is `from`, and which our mail server received at
    /// `received_at`: a letter that waits for us does not lose its proof.
    pub async fn verify(&self, raw: &[u8], from: &Address, received_at: DateTime<Utc>) -> DkimVerdict {
        const UNSIGNED: DkimVerdict = DkimVerdict::NotPassed(SignatureFault::Missing);
        let Some(raw) = provable(raw) else { return UNSIGNED };
        // Delivery programs store letters with line feeds, but they were signed as they travelled.
        let raw = &with_crlf_line_ends(raw);
        let (head, body) = raw.split_at(after_header(raw));
        // Parse only the header: mail-auth would hash the body once for each signature, even a stranger's.
        let Some(mut message) = AuthenticatedMessage::parse(head) else { return UNSIGNED };
        // With two senders, the signature of one could pass for the other's.
        let one_sender =
            matches!(message.from.as_slice(), [only] if Address::parse(only).as_ref() == Ok(from));
        if !one_sender || message.dkim_headers.len() > MAX_SIGNATURES {
            return UNSIGNED;
        }
        message.dkim_headers.retain(|header| may_count(&header.header, from));
        let mut fault = SignatureFault::Missing;
        if message.dkim_headers.iter().any(|header| is_expired(&header.header, received_at)) {
            fault = SignatureFault::Expired;
        }
        message.dkim_headers.retain(|header| !is_expired(&header.header, received_at));
        for header in &mut message.dkim_headers {
            // mail-auth would compare it with the current time. The hash covers the field as it was written.
            header.header.x = 0;
        }
        hash_body(&mut message, body);
        let outcomes =
            self.authenticator.verify_dkim(Parameters::new(&message).with_txt_cache(&self.keys)).await;
        let mut is_unanswered = false;
        for outcome in &outcomes {
            let Some(signature) = outcome.signature() else { continue };
            if !may_count(signature, from) {
                continue;
            }
            match outcome.result() {
                DkimResult::Pass if self.key_permits(signature).await => return DkimVerdict::Passed,
                DkimResult::Pass => fault = fault.max(SignatureFault::Invalid),
                DkimResult::TempError(_) => is_unanswered = true,
                DkimResult::Neutral(error) | DkimResult::Fail(error) | DkimResult::PermError(error) => {
                    fault = fault.max(fault_of(error));
                }
                DkimResult::None => {}
            }
        }
        if is_unanswered { DkimVerdict::TryLater } else { DkimVerdict::NotPassed(fault) }
    }

    /// Whether the key of a valid signature may be used for mail, and with its hash (RFC 6376, 3.6.1: `s=` and
    /// `h=`), which mail-auth does not check.
    async fn key_permits(&self, signature: &Signature) -> bool {
        let name = signature.domain_key();
        let Ok(key) = self.authenticator.txt_lookup::<DomainKey>(name.as_str(), Some(&self.keys)).await
        else {
            return false;
        };
        // mail-auth keeps only the names that it knows, so the record itself shows whether there are others.
        match self.authenticator.txt_raw_lookup(name.as_str()).await {
            Ok(record) => record_permits(&record),
            // The record was readable a moment ago. Go by what is known of it.
            Err(_) => key.has_flag(HashAlgorithm::Sha256) || !key.has_flag(HashAlgorithm::Sha1),
        }
    }
}

/// Returns what is wrong with a signature that could count.
fn fault_of(error: &Error) -> SignatureFault {
    match error {
        Error::Dkim(DkimError::FailedBodyHashMatch) => SignatureFault::Changed,
        Error::Dkim(DkimError::RevokedPublicKey) => SignatureFault::Revoked,
        Error::Dns(DnsError::RecordNotFound(_)) => SignatureFault::NoKey,
        _ => SignatureFault::Invalid,
    }
}

/// Whether a key's record permits SHA-256, which is the only hash that counts, and mail.
fn record_permits(record: &[u8]) -> bool {
    let record = String::from_utf8_lossy(record);
    let mut tags = record.split(';').filter_map(|tag| tag.split_once('='));
    tags.all(|(name, value)| {
        let mut items = value.split(':').map(str::trim);
        match name.trim() {
            "h" => items.any(|item| item.eq_ignore_ascii_case("sha256")),
            "s" => items.any(|item| item == "*" || item.eq_ignore_ascii_case("email")),
            _ => true,
        }
    })
}

/// Whether a signature had expired when the letter was received (RFC 6376, 3.5: `x=`), or was never valid.
fn is_expired(signature: &Signature, received_at: DateTime<Utc>) -> bool {
    let received_at = u64::try_from(received_at.timestamp()).unwrap_or(0);
    signature.x != 0 && (signature.x <= signature.t || signature.x <= received_at)
}

/// Replaces each line feed without a carriage return by both.
fn with_crlf_line_ends(raw: &[u8]) -> Cow<'_, [u8]> {
    let is_bare = |at: usize| at == 0 || raw[at - 1] != b'\r';
    if !memchr::memchr_iter(b'\n', raw).any(is_bare) {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len() + raw.len() / 16);
    let mut rest = 0;
    for end in memchr::memchr_iter(b'\n', raw).filter(|at| is_bare(*at)) {
        out.extend_from_slice(&raw[rest..end]);
        out.push(b'\r');
        rest = end;
    }
    out.extend_from_slice(&raw[rest..]);
    Cow::Owned(out)
}

/// Returns the body without the white space at its end, where a relaxed hash ignores blanks at the ends of
/// lines and then empty lines (RFC 6376, 3.4.4). mail-auth keeps a last line of blanks.
fn without_blank_end(body: &[u8]) -> Cow<'_, [u8]> {
    let kept = body.trim_ascii_end();
    match kept.len() {
        0 => Cow::Borrowed(kept),
        _ if body[kept.len()..] == *b"\r\n" => Cow::Borrowed(body),
        _ => Cow::Owned([kept, b"\r\n"].concat()),
    }
}

/// Returns where the body begins. The header is unambiguous, and so is the blank line that ends it.
fn after_header(letter: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', letter).map(|end| end + 1);
    let mut blank = ends.filter_map(|next| match letter[next..] {
        [b'\n', ..] => Some(next + 1),
        [b'\r', b'\n', ..] => Some(next + 2),
        _ => None,
    });
    blank.next().unwrap_or(letter.len())
}

/// Whether a signature, if it is valid, proves that the letter is from `from`.
fn may_count(signature: &Signature, from: &Address) -> bool {
    let covers_from = signature.h.iter().any(|name| name.eq_ignore_ascii_case("from"));
    // RFC 8301 3.1: SHA-1 proves nothing.
    let is_strong = signature.a != Algorithm::RsaSha1;
    // A signature with a length (`l=`) does not cover text that somebody appended.
    let covers_body = signature.l == 0;
    // mail-auth looks up each name among all fields.
    let is_short = signature.h.len() <= MAX_SIGNED_FIELDS;
    are_aligned(&signature.d, from.domain()) && covers_from && is_strong && covers_body && is_short
}

/// Hashes the body for the remaining signatures, in one pass for each canonicalization. For a large letter,
/// only signatures with the canonicalization of the first one count.
fn hash_body(message: &mut AuthenticatedMessage<'_>, body: &[u8]) {
    let first = message.dkim_headers.first().map(|header| header.header.cb);
    if body.len() > LARGE {
        message.dkim_headers.retain(|header| Some(header.header.cb) == first);
    }
    let headers = &message.dkim_headers;
    message.body_hashes.retain(|(cb, algorithm, length, _)| {
        headers.iter().any(|Header { header, .. }| {
            header.cb == *cb && HashAlgorithm::from(header.a) == *algorithm && header.l == *length
        })
    });
    for (cb, algorithm, length, hash) in &mut message.body_hashes {
        let body = match cb {
            Canonicalization::Relaxed => without_blank_end(body),
            Canonicalization::Simple => Cow::Borrowed(body),
        };
        *hash = algorithm.hash(cb.canonical_body(&body, *length)).as_ref().to_vec();
    }
}

/// A cache of public keys, each kept for the lifetime of its DNS record.
#[derive(Default)]
pub struct Keys(Mutex<HashMap<Box<str>, (Txt, Instant)>>);

impl ResolverCache<Box<str>, Txt> for Keys {
    fn get<Q>(&self, name: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let keys = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (key, valid_until) = keys.get(name)?;
        (*valid_until > Instant::now()).then(|| key.clone())
    }

    fn remove<Q>(&self, name: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let mut keys = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        keys.remove(name).map(|(key, _)| key)
    }

    fn insert(&self, name: Box<str>, key: Txt, valid_until: Instant) {
        let mut keys = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if keys.len() >= MAX_KEYS {
            let now = Instant::now();
            keys.retain(|_, (_, valid_until)| *valid_until > now);
        }
        // Strangers can make us look up any number of keys. Keys that do not fit are looked up again.
        if keys.len() < MAX_KEYS {
            keys.insert(name, (key, valid_until));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use mail_auth::common::crypto::Ed25519Key;
    use mail_auth::common::headers::HeaderWriter;
    use mail_auth::common::parse::TxtRecordParser;
    use mail_auth::dkim::DkimSigner;
    use mail_auth::hickory_resolver::config::{ResolverConfig, ResolverOpts};
    use mail_auth::hickory_resolver::proto::op::ResponseCode;

    use super::SignatureFault::{Changed, Expired, Invalid, Missing, NoKey, Revoked};
    use super::*;

    const UNSIGNED: DkimVerdict = DkimVerdict::NotPassed(Missing);

    const LETTER: &str =
        "From: Ann <ann@example.org>\r\nTo: referee@club.example\r\nSubject: x\r\n\r\nHOLD\r\n";

    /// Answers that all keys but the given ones do not exist.
    struct Known(Keys);

    impl ResolverCache<Box<str>, Txt> for Known {
        fn get<Q>(&self, name: &Q) -> Option<Txt>
        where
            Box<str>: Borrow<Q>,
            Q: Hash + Eq + ?Sized,
        {
            let missing = Txt::Error(Error::Dns(DnsError::RecordNotFound(ResponseCode::NXDomain)));
            Some(self.0.get(name).unwrap_or(missing))
        }

        fn remove<Q>(&self, _: &Q) -> Option<Txt>
        where
            Box<str>: Borrow<Q>,
            Q: Hash + Eq + ?Sized,
        {
            None
        }

        fn insert(&self, _: Box<str>, _: Txt, _: Instant) {}
    }

    fn received_at() -> DateTime<Utc> {
        DateTime::from_timestamp(1_794_000_000, 0).unwrap()
    }

    type Signer = DkimSigner<Ed25519Key, mail_auth::dkim::Done>;

    /// Signs the letter for `domain` over `headers`, and returns it with a verifier that knows the key.
    fn signed(letter: &str, domain: &str, headers: &[&str], whole: bool) -> (Vec<u8>, Verifier<Known>) {
        signed_with(letter, domain, headers, "", |signer| signer.body_length(!whole))
    }

    /// Like [`signed`], with further tags in the key's record and other settings of the signer.
    fn signed_with(
        letter: &str,
        domain: &str,
        headers: &[&str],
        tags: &str,
        set: impl Fn(Signer) -> Signer,
    ) -> (Vec<u8>, Verifier<Known>) {
        let key = Ed25519Key::from_pkcs8_der(&Ed25519Key::generate_pkcs8().unwrap()).unwrap();
        let public = STANDARD.encode(key.public_key());
        let record = DomainKey::parse(format!("v=DKIM1; k=ed25519; {tags}p={public}").as_bytes()).unwrap();
        let keys = Keys::default();
        let later = Instant::now() + Duration::from_secs(60);
        keys.insert(format!("s1._domainkey.{domain}.").into(), Txt::DomainKey(Arc::new(record)), later);
        let signer = DkimSigner::from_key(key).domain(domain).selector("s1");
        let signer = set(signer.headers(headers.iter().map(|name| name.to_string())));
        let raw = signer.sign(letter.as_bytes()).unwrap().to_header() + letter;
        let resolver = ResolverConfig::from_parts(None, vec![], vec![]);
        let authenticator = MessageAuthenticator::new(resolver, ResolverOpts::default()).unwrap();
        (raw.into_bytes(), Verifier::new(authenticator, Known(keys)))
    }

    async fn verdict(letter: &str, domain: &str, headers: &[&str], whole: bool) -> DkimVerdict {
        let (raw, verifier) = signed(letter, domain, headers, whole);
        verifier.verify(&raw, &Address::parse("ann@example.org").unwrap(), received_at()).await
    }

    #[tokio::test]
    async fn a_signature_of_the_from_domain_passes() {
        assert_eq!(verdict(LETTER, "example.org", &["From", "Subject"], true).await, DkimVerdict::Passed);
        assert_eq!(verdict(LETTER, "mail.example.org", &["From"], true).await, DkimVerdict::Passed);
    }

    #[tokio::test]
    async fn a_signature_of_another_domain_or_of_part_of_a_letter_does_not_pass() {
        assert_eq!(verdict(LETTER, "evil.example", &["From"], true).await, UNSIGNED);
        assert_eq!(verdict(LETTER, "example.org", &["Subject"], true).await, UNSIGNED);
        assert_eq!(verdict(LETTER, "example.org", &["From"], false).await, UNSIGNED);
        let two = LETTER.replace("Subject", "From: bo@example.net\r\nSubject");
        assert_eq!(verdict(&two, "example.org", &["From"], true).await, UNSIGNED);
    }

    #[tokio::test]
    async fn a_changed_or_unsigned_letter_does_not_pass() {
        let from = Address::parse("ann@example.org").unwrap();
        let (raw, verifier) = signed(LETTER, "example.org", &["From", "Subject"], true);
        let changed = String::from_utf8(raw).unwrap().replace("HOLD", "RESIGN CONFIRM");
        assert_eq!(
            verifier.verify(changed.as_bytes(), &from, received_at()).await,
            DkimVerdict::NotPassed(Changed)
        );
        assert_eq!(verifier.verify(LETTER.as_bytes(), &from, received_at()).await, UNSIGNED);
        assert_eq!(verifier.verify(b"", &from, received_at()).await, UNSIGNED);
        let (raw, _) = signed(LETTER, "example.org", &["From"], true);
        assert_eq!(
            verifier.verify(&raw, &from, received_at()).await,
            DkimVerdict::NotPassed(Invalid),
            "another key is published"
        );
    }

    #[tokio::test]
    async fn the_fault_of_a_signature_is_told() {
        let from = Address::parse("ann@example.org").unwrap();
        let (raw, verifier) = signed(LETTER, "example.org", &["From", "Subject"], true);
        let renamed = String::from_utf8(raw.clone()).unwrap().replace("Subject: x", "Subject: y");
        let verdict = verifier.verify(renamed.as_bytes(), &from, received_at()).await;
        assert_eq!(verdict, DkimVerdict::NotPassed(Invalid));
        let (of_subdomain, _) = signed(LETTER, "mail.example.org", &["From"], true);
        let verdict = verifier.verify(&of_subdomain, &from, received_at()).await;
        assert_eq!(verdict, DkimVerdict::NotPassed(NoKey));
        let revoked = Txt::Error(Error::Dkim(DkimError::RevokedPublicKey));
        verifier.keys.0.insert(
            "s1._domainkey.example.org.".into(),
            revoked,
            Instant::now() + Duration::from_secs(60),
        );
        let verdict = verifier.verify(&raw, &from, received_at()).await;
        assert_eq!(verdict, DkimVerdict::NotPassed(Revoked));
    }

    /// Changes a signed letter by `forge`, and asserts that it then proves nothing.
    #[track_caller]
    fn assert_unproven_after(letter: &str, forge: impl Fn(&str) -> String) {
        let (raw, verifier) = signed(letter, "example.org", &["From", "Subject"], true);
        let forged = forge(&String::from_utf8(raw).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let from = Address::parse("ann@example.org").unwrap();
        let verdict = runtime.block_on(verifier.verify(forged.as_bytes(), &from, received_at()));
        assert!(matches!(verdict, DkimVerdict::NotPassed(_)), "{forged:?}");
    }

    #[tokio::test]
    async fn a_signature_over_thousands_of_fields_does_not_pass() {
        let names = ["From"].into_iter().chain(std::iter::repeat_n("X-None", MAX_SIGNED_FIELDS));
        let names: Vec<&str> = names.collect();
        assert_eq!(verdict(LETTER, "example.org", &names[..30], true).await, DkimVerdict::Passed);
        assert_eq!(verdict(LETTER, "example.org", &names, true).await, UNSIGNED);
    }

    #[tokio::test]
    async fn a_large_letter_and_one_without_a_body_are_verified() {
        let (head, _) = LETTER.split_once("HOLD").unwrap();
        for letter in [format!("{head}{}", "SHIP 1 HOLD \r\n".repeat(100_000)), head.to_owned()] {
            assert_eq!(verdict(&letter, "example.org", &["From"], true).await, DkimVerdict::Passed);
        }
    }

    const FROM: &str = "From: Ann <ann@example.org>\r\n";

    #[test]
    fn a_letter_whose_header_ends_elsewhere_for_its_reader_proves_nothing() {
        // The parser ends the header at the form feed.
        assert_unproven_after(LETTER, |signed| {
            format!("{FROM}\u{c}\nRESIGN CONFIRM\n{}", signed.replace(FROM, ""))
        });
        // The reader ends all lines at carriage returns if one ends the first line.
        assert_unproven_after(LETTER, |signed| {
            format!("X: y\rFrom: Ann <ann@example.org>\r\rRESIGN CONFIRM\r\n{signed}")
        });
        assert_unproven_after(LETTER, |signed| format!("X: y\0\r\n{signed}"));
        assert_unproven_after(LETTER, |signed| format!("no field\n{signed}"));
    }

    #[test]
    fn a_letter_whose_lines_end_elsewhere_for_its_reader_proves_nothing() {
        // A relaxed hash of the body leaves the carriage return out; the reader begins a new line.
        let letter = LETTER.replace("HOLD", "Please do not RESIGN CONFIRM");
        assert_unproven_after(&letter, |signed| signed.replace(" RESIGN", "\r RESIGN"));
    }

    #[test]
    fn a_field_added_above_the_signed_one_of_its_name_proves_nothing() {
        assert_unproven_after(LETTER, |signed| format!("Subject: [QD-7K3M] Turn 4\r\n{signed}"));
        let typed = LETTER.replace("Subject", "Content-Type: text/plain\r\nSubject");
        assert_unproven_after(&typed, |signed| format!("Content-Type: text/html\r\n{signed}"));
    }

    #[tokio::test]
    async fn line_ends_and_an_envelope_line_that_a_delivery_program_changed_do_not_matter() {
        let (raw, verifier) = signed(LETTER, "example.org", &["From", "Subject"], true);
        let delivered = format!("From ann Mon\n{}", String::from_utf8(raw).unwrap().replace("\r\n", "\n"));
        let from = Address::parse("ann@example.org").unwrap();
        assert_eq!(verifier.verify(delivered.as_bytes(), &from, received_at()).await, DkimVerdict::Passed);
    }

    /// Signs a letter, changes it by `deliver`, and returns the verdict on it at `time`.
    async fn verdict_after(
        tags: &str,
        set: impl Fn(Signer) -> Signer,
        deliver: impl Fn(String) -> String,
        time: DateTime<Utc>,
    ) -> DkimVerdict {
        let (raw, verifier) = signed_with(LETTER, "example.org", &["From", "Subject"], tags, set);
        let delivered = deliver(String::from_utf8(raw).unwrap());
        verifier.verify(delivered.as_bytes(), &Address::parse("ann@example.org").unwrap(), time).await
    }

    #[tokio::test]
    async fn blank_lines_at_the_end_of_a_relaxed_body_do_not_matter() {
        for end in [" \r\n", "\t\r\n", "\r\n \t\r\n\r\n", " ", "\r\n\t"] {
            let verdict = verdict_after("", |signer| signer, |raw| raw + end, received_at()).await;
            assert_eq!(verdict, DkimVerdict::Passed, "{end:?}");
            let simple = |signer: Signer| signer.body_canonicalization(Canonicalization::Simple);
            let verdict = verdict_after("", simple, |raw| raw + end, received_at()).await;
            assert_eq!(verdict, DkimVerdict::NotPassed(Changed), "{end:?}");
        }
        let blank = LETTER.replace("HOLD", " \t ");
        assert_eq!(
            verdict(&blank.replace(" \t \r\n", ""), "example.org", &["From"], true).await,
            DkimVerdict::Passed
        );
    }

    #[tokio::test]
    async fn a_letter_stored_with_line_feeds_is_hashed_as_it_travelled() {
        use Canonicalization::{Relaxed, Simple};
        for (head, body) in [(Simple, Simple), (Simple, Relaxed), (Relaxed, Simple), (Relaxed, Relaxed)] {
            let set = |signer: Signer| signer.header_canonicalization(head).body_canonicalization(body);
            for line_end in ["\n", "\r\n"] {
                let deliver = |raw: String| raw.replace("\r\n", line_end);
                let verdict = verdict_after("", set, deliver, received_at()).await;
                assert_eq!(verdict, DkimVerdict::Passed, "{head:?} {body:?} {line_end:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_signature_expires_by_the_time_of_receipt() {
        let now = Utc::now();
        let for_a_day = |signer: Signer| signer.expiration(86_400);
        let received = |hours: i64| now + chrono::TimeDelta::hours(hours);
        for (hours, wanted) in [(1, DkimVerdict::Passed), (48, DkimVerdict::NotPassed(Expired))] {
            let verdict = verdict_after("", for_a_day, |raw| raw, received(hours)).await;
            assert_eq!(verdict, wanted, "{hours}");
        }
    }

    #[tokio::test]
    async fn a_key_may_be_restricted_to_a_hash_or_a_service() {
        for (tags, wanted) in
            [("h=sha1; ", DkimVerdict::NotPassed(Invalid)), ("h=sha1:sha256; s=email; ", DkimVerdict::Passed)]
        {
            assert_eq!(
                verdict_after(tags, |signer| signer, |raw| raw, received_at()).await,
                wanted,
                "{tags}"
            );
        }
        for (record, wanted) in [
            ("v=DKIM1; p=x", true),
            ("v=DKIM1; h=sha256; s=*; p=x", true),
            ("v=DKIM1; h = SHA1 : SHA256 ; s = other : email; p=x", true),
            ("v=DKIM1; h=sha512; p=x", false),
            ("v=DKIM1; h=sha1; p=x", false),
            ("v=DKIM1; s=tlsrpt; p=x", false),
            ("v=DKIM1; s=; p=x", false),
        ] {
            assert_eq!(record_permits(record.as_bytes()), wanted, "{record}");
        }
    }

    #[test]
    fn keys_are_kept_until_they_expire_and_only_up_to_the_maximum() {
        let keys = Keys::default();
        let missing = || Txt::Error(Error::Dns(DnsError::InvalidRecordType));
        let now = Instant::now();
        keys.insert("a.".into(), missing(), now + Duration::from_secs(60));
        keys.insert("b.".into(), missing(), now);
        assert!(keys.get("a.").is_some());
        assert!(keys.get("b.").is_none());
        for n in 0..2 * MAX_KEYS {
            keys.insert(format!("{n}.").into(), missing(), now + Duration::from_secs(60));
        }
        assert_eq!(keys.0.lock().unwrap().len(), MAX_KEYS);
        assert!(keys.remove("a.").is_some() && keys.get("a.").is_none());
    }
}
