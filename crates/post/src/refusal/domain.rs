//! Refusals because the sender's domain is not authenticated: SPF (RFC 7208), DKIM (RFC 6376) or DMARC (RFC 7489)
//! did not pass. Only the owner of the domain can do something about them.

/// The details of enhanced codes X.7.Y for this: those of RFC 7372, Gmail's (support.google.com/a/answer/3726730),
/// and Microsoft's (learn.microsoft.com, non-delivery reports in Exchange Online).
const DETAILS: [u16; 12] = [20, 21, 22, 23, 24, 26, 27, 30, 32, 40, 509, 515];

const WORDS: [&str; 4] = ["spf", "dkim", "dmarc", "unauthenticated"];

/// Whether a refusal, in the words of a server or of a sendmail command, doubts the sender's domain.
pub fn doubts_domain(refusal: &str) -> bool {
    let text = refusal.to_lowercase();
    let is_detail = |code: &str| {
        let detail = code.strip_prefix("5.7.").or(code.strip_prefix("4.7."));
        detail.and_then(|detail| detail.parse().ok()).is_some_and(|detail| DETAILS.contains(&detail))
    };
    text.split(|c: char| !(c.is_alphanumeric() || c == '.')).any(is_detail)
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::doubts_domain;

    #[test]
    fn refusals_of_an_unauthenticated_domain_are_known_and_no_others() {
        for refusal in [
            "550 5.7.515 Access denied, sending domain FOG.EXAMPLE doesn't meet the required authentication level.",
            "550 5.7.26 Your email has been blocked because the sender is unauthenticated.",
            "421 4.7.27 This mail has been rate limited because SPF does not pass.",
            "550 5.7.1 Unauthenticated email from fog.example is not accepted due to domain's DMARC policy.",
            "550 5.7.509 Access denied, sending domain fog.example does not pass DMARC verification.",
            "the command ended with 69: msmtp: server message: 550-5.7.30 No DKIM signature",
            "550 SPF check failed",
            "554 5.7.5 Permanent error evaluating DMARC policy",
        ] {
            assert!(doubts_domain(refusal), "{refusal}");
        }
        for refusal in [
            "535 5.7.8 Authentication failed",
            "550 5.7.708 Access denied, traffic not accepted from this IP",
            "550 5.7.1 Our system has detected that this message is likely unsolicited mail.",
            "450 4.7.1 Greylisted",
            "550 5.1.26 no such user",
            "",
        ] {
            assert!(!doubts_domain(refusal), "{refusal}");
        }
    }
}
