//! What doctor says about the DNS of the sender's domain.

use fogpost_post::dns::{Answer, Records, is_reserved};

fn found(text: &str) -> Answer {
    Answer::Found(text.to_owned())
}

#[test]
fn a_domain_with_mx_spf_dmarc_and_one_dkim_key_has_no_fault() {
    let records = Records {
        mx: found("mx.club.org"),
        txt: found("some-verification=17v=spf1 mx -all"),
        dmarc: found("v=DMARC1; p=none"),
        dkim: vec![("fm1".to_owned(), Answer::Missing), ("fm2".to_owned(), found("v=DKIM1; k=rsa; p=MIGf"))],
    };
    assert_eq!(records.faults("club.org"), Vec::<String>::new());
}

#[test]
fn each_missing_record_is_named_with_one_that_would_do() {
    let records =
        Records { mx: Answer::Missing, txt: found("unrelated"), dmarc: Answer::Missing, dkim: Vec::new() };
    let faults = records.faults("club.org");
    for (fault, words) in faults.iter().zip(["no MX record", "v=spf1 mx -all", "_dmarc.club.org"]) {
        assert!(fault.contains(words), "{fault}");
    }
    assert_eq!(faults.len(), 3);
}

#[test]
fn keys_that_are_missing_or_revoked_are_named_unless_the_dns_is_silent_about_one() {
    let records = |dkim: [(&str, Answer); 2]| Records {
        mx: found("mx.club.org"),
        txt: found("v=spf1 mx -all"),
        dmarc: found("v=DMARC1; p=none"),
        dkim: dkim.map(|(selector, key)| (selector.to_owned(), key)).to_vec(),
    };
    let revoked = found("v=DKIM1; p=");
    let faults = records([("s1", Answer::Missing), ("s2", revoked)]).faults("club.org");
    let [fault] = faults.as_slice() else { panic!("{faults:?}") };
    assert!(fault.contains("no DKIM key at s1._domainkey.club.org or s2._domainkey.club.org"), "{fault}");
    let silent = records([("s1", Answer::Missing), ("s2", Answer::Unknown)]).faults("club.org");
    assert_eq!(silent, ["the DNS does not answer about club.org; try again later"]);
}

#[test]
fn silence_of_the_dns_is_no_proof_that_a_record_is_missing() {
    let records =
        Records { mx: Answer::Unknown, txt: Answer::Unknown, dmarc: Answer::Unknown, dkim: Vec::new() };
    assert_eq!(records.faults("club.org"), ["the DNS does not answer about club.org; try again later"]);
}

#[test]
fn reserved_domains_are_not_looked_up() {
    for (domain, reserved) in
        [("club.example", true), ("club.TEST", true), ("localhost", true), ("test.club.org", false)]
    {
        assert_eq!(is_reserved(domain), reserved, "{domain}");
    }
}
