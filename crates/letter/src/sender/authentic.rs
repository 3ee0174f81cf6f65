//! Proof of a letter's sender: whether the letter allows any, and the receiving server's
//! Authentication-Results (RFC 8601).
//!
//! Only the fields above the topmost Received field are from the receiving server. A sender can forge
//! everything below it, Received fields included.

use std::str::Chars;

use serde::{Deserialize, Serialize};

use crate::mail::address::{Address, ascii_domain};
use crate::mail::header::{self, Header};

/// Returns the letter as all programs read it, or `None` if they may read it differently. In that case a
/// signature, or another server's word, proves nothing: it may be about another header or text than the one
/// we read.
///
/// A bare carriage return rules out proof in the body too: mail-auth leaves it out of the hash, and our
/// reader ends a line there.
pub fn provable(raw: &[u8]) -> Option<&[u8]> {
    let letter = header::without_envelope_line(raw);
    (!header::has_bare_return(raw) && header::is_unambiguous(letter)).then_some(letter)
}

/// Why no signature proves a letter's sender, the vaguest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignatureFault {
    /// There is no signature of the From domain, or none that could count.
    Missing,
    /// The signature had expired when the letter was received (RFC 6376, 3.5: `x=`).
    Expired,
    /// No key is published for it.
    NoKey,
    /// Its key was revoked (RFC 6376, 3.6.1: an empty `p=`).
    Revoked,
    /// It does not fit the header, or its key may not be used so.
    Invalid,
    /// The body is not the one that was signed.
    Changed,
    /// The DNS did not answer.
    NoAnswer,
}

/// The reported DKIM result for the From domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedDkim {
    /// A signature of the From domain, or of another domain of the same organization, passed.
    Passed,
    /// There are results, but no signature of that domain passed.
    NotPassed,
    /// The trusted server reports nothing.
    Nothing,
}

/// Whether [`reported_dkim`] needs the field.
pub fn is_trace(name: &str) -> bool {
    matches!(name, "received" | "authentication-results")
}

/// Returns the DKIM result for `from` that the server `authserv_id` reports in `trace`, topmost field first.
pub fn reported_dkim(trace: &[Header], authserv_id: &str, from: &Address) -> ReportedDkim {
    // Without a Received field, nothing shows which fields arrived with the letter.
    let Some(received) = trace.iter().position(|header| header.name == "received") else {
        return ReportedDkim::Nothing;
    };
    let mut reported = ReportedDkim::Nothing;
    for header in trace[..received].iter().filter(|header| header.name == "authentication-results") {
        let Some(results) = AuthenticationResults::parse(&header.value) else { continue };
        if !results.authserv_id.eq_ignore_ascii_case(authserv_id) {
            continue;
        }
        for result in results.of("dkim") {
            if result.value == "pass" && result.domain().is_some_and(|d| are_aligned(d, from.domain())) {
                return ReportedDkim::Passed;
            }
            reported = ReportedDkim::NotPassed;
        }
    }
    reported
}

/// Returns the topmost results that the receiving server reports, whichever server that is. Use it only for a
/// letter of our own that came back: strangers can forge them.
pub fn topmost_results(raw: &[u8]) -> Option<AuthenticationResults> {
    let raw = &header::with_line_feeds(raw);
    let fields = header::headers(header::head(raw));
    let before = fields.iter().take_while(|field| field.name != "received");
    before
        .filter(|field| field.name == "authentication-results")
        .find_map(|field| AuthenticationResults::parse(&field.value))
}

/// Whether two domains are aligned, in the relaxed mode of RFC 7489 3.1.1: they are equal, or they have the
/// same organizational domain (3.2), which is one label more than a public suffix.
pub fn are_aligned(signer: &str, from: &str) -> bool {
    let comparable = |domain: &str| ascii_domain(domain).unwrap_or_else(|| domain.to_ascii_lowercase());
    let (signer, from) = (comparable(signer.trim_end_matches('.')), comparable(from));
    signer == from || organization(&signer).is_some_and(|signer| Some(signer) == organization(&from))
}

/// Returns the organizational domain, in Unicode like the list of public suffixes, or `None` for a domain
/// that is a public suffix itself.
fn organization(domain: &str) -> Option<String> {
    // A name that has no ASCII form is none. Its Unicode form would turn look-alikes into each other.
    if !domain.is_ascii() {
        return None;
    }
    let (domain, _) = idna::domain_to_unicode(domain);
    Some(psl::domain_str(&domain)?.to_owned())
}

/// A parsed Authentication-Results field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationResults {
    pub authserv_id: String,
    pub results: Vec<MethodResult>,
}

/// The result of one authentication method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodResult {
    pub method: String,
    pub value: String,
    /// `ptype.property`, in lower case, and its value.
    pub properties: Vec<(String, String)>,
}

impl AuthenticationResults {
    /// Parses a field's value (RFC 8601 2.2), or returns `None` if it has another form.
    pub fn parse(value: &str) -> Option<AuthenticationResults> {
        let lexemes = lex(value);
        let mut groups = lexemes.split(|lexeme| *lexeme == Lexeme::Mark(';'));
        let authserv_id = match groups.next()? {
            [Lexeme::Text(id)] => id.clone(),
            // Fields of other versions must be ignored (RFC 8601 2.2).
            [Lexeme::Text(id), Lexeme::Text(version)] if version == "1" => id.clone(),
            _ => return None,
        };
        Some(AuthenticationResults { authserv_id, results: groups.filter_map(MethodResult::parse).collect() })
    }

    fn of(&self, method: &str) -> impl Iterator<Item = &MethodResult> {
        self.results.iter().filter(move |result| result.method == method)
    }
}

impl MethodResult {
    fn parse(lexemes: &[Lexeme]) -> Option<MethodResult> {
        let mut pairs = Vec::new();
        let mut rest = lexemes;
        while let [Lexeme::Text(name), after @ ..] = rest {
            // `method/version = value`
            let after = match after {
                [Lexeme::Mark('/'), Lexeme::Text(_), after @ ..] => after,
                _ => after,
            };
            match after {
                [Lexeme::Mark('='), Lexeme::Text(value), more @ ..] => {
                    pairs.push((name.to_ascii_lowercase(), value.clone()));
                    rest = more;
                }
                _ => return None,
            }
        }
        let mut pairs = pairs.into_iter();
        let (method, value) = pairs.next()?;
        Some(MethodResult { method, value: value.to_ascii_lowercase(), properties: pairs.collect() })
    }

    fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns the signing domain: `header.d` or, without it, the domain of `header.i`.
    fn domain(&self) -> Option<&str> {
        self.property("header.d").or_else(|| Some(self.property("header.i")?.rsplit_once('@')?.1))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Lexeme {
    Text(String),
    /// One of `;`, `=` and `/`.
    Mark(char),
}

/// Splits a value into words and marks, without comments and the quotes of quoted strings.
fn lex(value: &str) -> Vec<Lexeme> {
    let mut lexemes = Vec::new();
    let mut chars = value.chars();
    let mut word = String::new();
    while let Some(c) = chars.next() {
        let ends_word = matches!(c, ';' | '=' | '/' | '(' | '"') || c.is_whitespace();
        // In the value of a property, `/` and `=` are ordinary characters (selectors, base64 excerpts).
        let in_value =
            matches!(c, '=' | '/') && !word.is_empty() && matches!(lexemes.last(), Some(Lexeme::Mark('=')));
        if ends_word && !in_value && !word.is_empty() {
            lexemes.push(Lexeme::Text(std::mem::take(&mut word)));
        }
        match c {
            '(' => skip_comment(&mut chars),
            '"' => lexemes.push(Lexeme::Text(quoted_string(&mut chars))),
            _ if in_value => word.push(c),
            ';' | '=' | '/' => lexemes.push(Lexeme::Mark(c)),
            c if c.is_whitespace() => {}
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        lexemes.push(Lexeme::Text(word));
    }
    lexemes
}

/// Skips the rest of a comment, nested ones included (RFC 5322 3.2.2).
fn skip_comment(chars: &mut Chars<'_>) {
    let mut depth = 1;
    while depth > 0 {
        match chars.next() {
            Some('(') => depth += 1,
            Some(')') => depth -= 1,
            Some('\\') => drop(chars.next()),
            Some(_) => {}
            None => break,
        }
    }
}

/// Reads the rest of a quoted string (RFC 5322 3.2.4).
fn quoted_string(chars: &mut Chars<'_>) -> String {
    let mut text = String::new();
    loop {
        match chars.next() {
            Some('\\') => text.extend(chars.next()),
            Some('"') | None => return text,
            Some(c) => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reported(fields: &[(&str, &str)]) -> ReportedDkim {
        let header = |(name, value): &(&str, &str)| Header { name: (*name).into(), value: (*value).into() };
        let from = Address::parse("ann@example.org").unwrap();
        let mut trace: Vec<Header> = fields.iter().map(header).collect();
        trace.push(header(&("received", "from x by y")));
        reported_dkim(&trace, "mx.club.example", &from)
    }

    const AR: &str = "authentication-results";

    #[test]
    fn a_passing_signature_of_the_from_domain_counts() {
        for value in [
            "mx.club.example; dkim=pass header.d=example.org",
            "MX.club.example 1; spf=fail smtp.mailfrom=x.y; dkim=pass (2048-bit key; ok) header.d=Example.ORG header.i=@x",
            "mx.club.example;dkim = pass reason=\"good; really\" header.i=@mail.example.org header.s=s/1 header.b=a=b/c",
            "mx.club.example; dkim/1=pass header.d=mail.example.org",
            "mx.club.example; dkim=fail header.d=example.org; dkim=pass header.d=example.org",
        ] {
            assert_eq!(reported(&[(AR, value)]), ReportedDkim::Passed, "{value}");
        }
    }

    #[test]
    fn no_other_result_counts_as_passed() {
        for value in [
            "mx.club.example; dkim=pass header.d=evil.org",
            "mx.club.example; dkim=pass header.d=org",
            "mx.club.example; dkim=pass header.d=notexample.org",
            "mx.club.example; dkim=fail header.d=example.org",
            "mx.club.example; dkim=pass (header.d=example.org)",
            "mx.club.example; dkim=neutral reason=\"dkim=pass header.d=example.org\"",
            "mx.club.example; dkim=pass",
        ] {
            assert_eq!(reported(&[(AR, value)]), ReportedDkim::NotPassed, "{value}");
        }
        for value in [
            "mx.club.example; none",
            "other.example; dkim=pass header.d=example.org",
            "",
            "; dkim=pass",
            "mx.club.example; spf=pass",
        ] {
            assert_eq!(reported(&[(AR, value)]), ReportedDkim::Nothing, "{value}");
        }
    }

    #[test]
    fn only_fields_of_the_trusted_server_above_the_first_received_count() {
        let forged = (AR, "mx.club.example; dkim=pass header.d=example.org");
        let fail = (AR, "mx.club.example; dkim=fail header.d=example.org");
        let spf = (AR, "mx.club.example; spf=pass");
        let arc = ("arc-authentication-results", "i=1; mx.club.example; dkim=pass header.d=example.org");
        let received = ("received", "from x by mx.club.example");
        assert_eq!(reported(&[received, forged]), ReportedDkim::Nothing);
        assert_eq!(reported(&[received, spf, forged]), ReportedDkim::Nothing);
        assert_eq!(reported(&[fail, received, forged]), ReportedDkim::NotPassed);
        assert_eq!(reported(&[spf, received, forged]), ReportedDkim::Nothing);
        assert_eq!(reported(&[arc, received]), ReportedDkim::Nothing);
        assert_eq!(reported(&[(AR, "other; none"), forged]), ReportedDkim::Passed, "two servers of the club");
        let from = Address::parse("ann@example.org").unwrap();
        let unreceived = [Header { name: AR.into(), value: forged.1.into() }];
        assert_eq!(reported_dkim(&unreceived, "mx.club.example", &from), ReportedDkim::Nothing);
    }

    #[test]
    fn only_version_1_and_the_whole_name_of_the_server_count() {
        for value in [
            "mx.club.example 2; dkim=pass header.d=example.org",
            "mx.club.example evil; dkim=pass header.d=example.org",
            "mx.club.example = 1; dkim=pass header.d=example.org",
            "mx.club.example.evil.example; dkim=pass header.d=example.org",
            "(mx.club.example) evil.example; dkim=pass header.d=example.org",
        ] {
            assert_eq!(reported(&[(AR, value)]), ReportedDkim::Nothing, "{value}");
        }
        let commented = "(x) \"mx.club.example\" (y) 1 (z); dkim=pass header.d=example.org";
        assert_eq!(reported(&[(AR, commented)]), ReportedDkim::Passed);
    }

    #[test]
    fn letters_that_look_alike_do_not_align() {
        assert!(are_aligned("Example.ORG.", "example.org"));
        assert!(!are_aligned("\u{212a}ellers.example", "kellers.example"));
    }

    #[test]
    fn domains_of_one_organization_align() {
        for (signer, from) in [
            ("mail.example.org", "example.org"),
            ("example.org", "players.example.org"),
            ("mta.example.org", "players.example.org"),
            ("a.b.example.co.uk", "c.example.co.uk"),
            ("co.uk", "co.uk"),
            ("xn--mnchen-3ya.example", "mail.m\u{fc}nchen.example"),
        ] {
            assert!(are_aligned(signer, from), "{signer} {from}");
        }
        for (signer, from) in [
            ("co.uk", "example.co.uk"),
            ("other.co.uk", "example.co.uk"),
            ("org", "example.org"),
            ("ann.github.io", "bo.github.io"),
            ("a.xn--55qx5d.cn", "b.xn--55qx5d.cn"),
            ("example.net", "example.org"),
        ] {
            assert!(!are_aligned(signer, from), "{signer} {from}");
        }
    }

    proptest! {
        #[test]
        fn parsing_results_never_panics(value in "(dkim|=|pass|;|/|\\(|\\)|\"|\\\\| |header.d|a.b|@){0,40}") {
            let _ = AuthenticationResults::parse(&value);
        }
    }
}
