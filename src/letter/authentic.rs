//! What the receiving server says of a letter's origin: Authentication-AuthenticationResults (RFC 8601).
//!
//! Only the topmost fields of the trusted server count. Anybody can write such a field into a letter; the server
//! that takes the letter in puts its own above.

use super::address::Address;
use super::header::Header;

/// What was said of the DKIM signature of the From domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedDkim {
    /// A signature of the From domain, or of one above or below it, passed.
    Passed,
    /// There are results, but none that passed for that domain.
    NotPassed,
    /// The trusted server says nothing.
    Nothing,
}

/// Whether the field is one that [`reported_dkim`] looks at.
pub fn is_trace(name: &str) -> bool {
    matches!(name, "received" | "authentication-results")
}

pub fn reported_dkim(trace: &[Header], authserv_id: &str, from: &Address) -> ReportedDkim {
    let mut told = ReportedDkim::Nothing;
    let mut begun = false;
    for header in trace {
        let results = (header.name == "authentication-results")
            .then(|| AuthenticationResults::parse(&header.value))
            .flatten();
        match results.filter(|results| results.authserv_id.eq_ignore_ascii_case(authserv_id)) {
            Some(results) => {
                begun = true;
                for result in results.of("dkim") {
                    let passed =
                        result.value == "pass" && result.domain().is_some_and(|d| aligned(d, from.domain()));
                    if passed {
                        return ReportedDkim::Passed;
                    }
                    told = ReportedDkim::NotPassed;
                }
            }
            // What stands below the server's own fields was there before it.
            None if begun => break,
            None => {}
        }
    }
    told
}

/// Relaxed alignment (RFC 7489 3.1.1), with "the same organisation" taken for: equal, or one below the other, and
/// no top-level domain.
pub fn aligned(signer: &str, from: &str) -> bool {
    let (signer, from) = (signer.trim_end_matches('.').to_lowercase(), from.to_lowercase());
    let below = |inner: &str, outer: &str| {
        inner.strip_suffix(outer).is_some_and(|rest| rest.ends_with('.')) && outer.contains('.')
    };
    signer == from || below(&signer, &from) || below(&from, &signer)
}

/// One Authentication-AuthenticationResults field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationResults {
    pub authserv_id: String,
    pub results: Vec<MethodResult>,
}

/// One method's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodResult {
    pub method: String,
    pub value: String,
    /// `ptype.property` and value, names in lower case.
    pub properties: Vec<(String, String)>,
}

impl AuthenticationResults {
    /// Reads a field's value; `None` if it is not of that form (RFC 8601 2.2).
    pub fn parse(value: &str) -> Option<AuthenticationResults> {
        let words = words(value);
        let mut groups = words.split(|word| *word == Word::Mark(';'));
        let authserv_id = match groups.next()?.first()? {
            Word::Text(id) => id.clone(),
            Word::Mark(_) => return None,
        };
        Some(AuthenticationResults { authserv_id, results: groups.filter_map(MethodResult::parse).collect() })
    }

    fn of(&self, method: &str) -> impl Iterator<Item = &MethodResult> {
        self.results.iter().filter(move |result| result.method == method)
    }
}

impl MethodResult {
    fn parse(words: &[Word]) -> Option<MethodResult> {
        let mut pairs = Vec::new();
        let mut rest = words;
        while let [Word::Text(name), after @ ..] = rest {
            // `method/version = value`
            let after = match after {
                [Word::Mark('/'), Word::Text(_), after @ ..] => after,
                _ => after,
            };
            match after {
                [Word::Mark('='), Word::Text(value), more @ ..] => {
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

    /// The signing domain: `header.d`, or the domain of `header.i` where that is all that is told.
    fn domain(&self) -> Option<&str> {
        self.property("header.d").or_else(|| Some(self.property("header.i")?.rsplit_once('@')?.1))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Text(String),
    Mark(char),
}

/// The words and marks of a value, comments left out, quoted strings opened.
fn words(value: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chars = value.chars().peekable();
    let mut word = String::new();
    while let Some(c) = chars.next() {
        let ends = matches!(c, ';' | '=' | '/' | '(' | '"') || c.is_whitespace();
        // In a property's value `/` and `=` are characters like others (selectors, base64 excerpts).
        let inside =
            matches!(c, '=' | '/') && !word.is_empty() && matches!(words.last(), Some(Word::Mark('=')));
        if ends && !inside && !word.is_empty() {
            words.push(Word::Text(std::mem::take(&mut word)));
        }
        match c {
            '(' => {
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
            '"' => {
                let mut text = String::new();
                loop {
                    match chars.next() {
                        Some('\\') => text.extend(chars.next()),
                        Some('"') | None => break,
                        Some(c) => text.push(c),
                    }
                }
                words.push(Word::Text(text));
            }
            _ if inside => word.push(c),
            ';' | '=' | '/' => words.push(Word::Mark(c)),
            c if c.is_whitespace() => {}
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(Word::Text(word));
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(fields: &[(&str, &str)]) -> ReportedDkim {
        let header = |(name, value): &(&str, &str)| Header { name: (*name).into(), value: (*value).into() };
        let from = Address::parse("ann@example.org").unwrap();
        reported_dkim(&fields.iter().map(header).collect::<Vec<_>>(), "mx.club.example", &from)
    }

    const AR: &str = "authentication-results";

    #[test]
    fn a_pass_of_the_from_domain_counts() {
        for value in [
            "mx.club.example; dkim=pass header.d=example.org",
            "MX.club.example 1; spf=fail smtp.mailfrom=x.y; dkim=pass (2048-bit key; ok) header.d=Example.ORG header.i=@x",
            "mx.club.example;dkim = pass reason=\"good; really\" header.i=@mail.example.org header.s=s/1 header.b=a=b/c",
            "mx.club.example; dkim/1=pass header.d=mail.example.org",
            "mx.club.example; dkim=fail header.d=example.org; dkim=pass header.d=example.org",
        ] {
            assert_eq!(told(&[(AR, value)]), ReportedDkim::Passed, "{value}");
        }
    }

    #[test]
    fn anything_else_does_not() {
        for value in [
            "mx.club.example; dkim=pass header.d=evil.org",
            "mx.club.example; dkim=pass header.d=org",
            "mx.club.example; dkim=pass header.d=notexample.org",
            "mx.club.example; dkim=fail header.d=example.org",
            "mx.club.example; dkim=pass (header.d=example.org)",
            "mx.club.example; dkim=neutral reason=\"dkim=pass header.d=example.org\"",
            "mx.club.example; dkim=pass",
        ] {
            assert_eq!(told(&[(AR, value)]), ReportedDkim::NotPassed, "{value}");
        }
        for value in [
            "mx.club.example; none",
            "other.example; dkim=pass header.d=example.org",
            "",
            "; dkim=pass",
            "mx.club.example; spf=pass",
        ] {
            assert_eq!(told(&[(AR, value)]), ReportedDkim::Nothing, "{value}");
        }
    }

    #[test]
    fn only_the_topmost_fields_of_the_own_server_count() {
        let forged = (AR, "mx.club.example; dkim=pass header.d=example.org");
        let fail = (AR, "mx.club.example; dkim=fail header.d=example.org");
        let spf = (AR, "mx.club.example; spf=pass");
        let received = ("received", "from x by y");
        assert_eq!(told(&[received, spf, forged]), ReportedDkim::Passed);
        assert_eq!(told(&[received, fail, received, forged]), ReportedDkim::NotPassed);
        assert_eq!(told(&[spf, received, forged]), ReportedDkim::Nothing);
        assert_eq!(told(&[spf, (AR, "other; none"), forged]), ReportedDkim::Nothing);
    }

    proptest! {
        #[test]
        fn reading_results_never_panics(value in "(dkim|=|pass|;|/|\\(|\\)|\"|\\\\| |header.d|a.b|@){0,40}") {
            let _ = AuthenticationResults::parse(&value);
        }
    }
}
