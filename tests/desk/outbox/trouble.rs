//! Failures: permanently rejected mail, letters that cannot be ruled on, signatures that cannot be checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use fogpost::daemon::sending::resend::{self, Resent};
use fogpost::daemon::status::{SILENT_AFTER, Status};
use fogpost::game::any::GameKind;
use fogpost::post::dkim::{Keys, Verifier};
use fogpost::referee::DispatchKind;
use fogpost::store::{Changes, DispatchFilter, LetterStatus, NewDispatch, Urgency};
use mail_auth::common::crypto::Ed25519Key;
use mail_auth::common::headers::HeaderWriter;
use mail_auth::common::parse::TxtRecordParser;
use mail_auth::common::verify::DomainKey;
use mail_auth::dkim::DkimSigner;
use mail_auth::hickory_resolver::config::{ResolverConfig, ResolverOpts};
use mail_auth::{MessageAuthenticator, ResolverCache, Txt};

use crate::positions::{kinds, quad};
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// A sendmail that delivers to the desk's Maildirs, but rejects mail to Bo.
const SENDMAIL: &str = r#"#!/bin/sh
[ "$5" = bo@players.example ] && { echo "550 no such user" >&2; exit 67; }
box="MAIL/$5"
mkdir -p "$box/new" "$box/cur" "$box/tmp"
cat > "$box/new/$$.$(date +%N)"
"#;

#[test]
fn permanently_rejected_mail_is_given_up_and_the_gm_told_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("sendmail");
    let referee = Referee::with(&format!("[outbox.sendmail]\ncommand = \"{}\"\n", program.display()));
    let mail = referee.folder().join("mail").display().to_string();
    fs::write(&program, SENDMAIL.replace("MAIL", &mail)).expect("the command");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, executable).expect("it is executable");
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.work();
    let letters = referee.sent_to(ANN);
    let [to_ann, moved] = &letters[..] else { panic!("an invitation, and that the deadline has moved") };
    moved.says("A letter to Bo could not be delivered");
    let told = referee.one_to(GM);
    assert_eq!(told.subject, "A letter could not be sent");
    told.says("to bo@players.example")
        .says(&format!("what invitation in {}", game_match.id))
        .says("550 no such user");
    told.says("moved by the grace").says("| GM PLAYER BOUNCE-CLEAR bo@players.example");
    assert!(referee.find(&game_match.id).bouncing.second, "the seat is protected");
    referee.reply(ANN, to_ann, "MARBLE E5");
    referee.advance(28);
    let letters = referee.sent_to(GM);
    let digests: Vec<_> = letters.iter().filter(|sent| sent.subject.starts_with("The day at")).collect();
    let [digest] = digests[..] else { panic!("one digest") };
    digest.says("- Bo: mail comes back; given up (");
    referee.advance(24);
    let later = referee.sent_to(GM);
    assert!(
        later.iter().all(|sent| !sent.text.contains("mail comes back")),
        "a digest has told it: {later:?}"
    );
}

#[test]
fn a_letter_that_cannot_be_ruled_on_is_set_aside_after_three_attempts_and_blocks_no_other() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.restart_after(|folder| {
        let own = folder.join("own");
        fs::create_dir_all(own.join("match")).expect("a folder");
        let answer = include_str!("../../../templates/match/answer.txt");
        let faulty = "{% if answer.remarks|length > 2 %}{{ nothing.of.the.kind }}{% endif %}";
        fs::write(own.join("match/answer.txt"), format!("{answer}{faulty}")).expect("a template");
        let config = fs::read_to_string(folder.join("config.toml")).expect("the config");
        let config = format!("{config}\n[templates]\nfolder = \"own\"\n");
        fs::write(folder.join("config.toml"), config).expect("the config");
    });
    let invitation = referee.one_to(ANN);
    referee.put(&referee.answer(ANN, &invitation, "one\ntwo\nthree\nMARBLE A1"));
    referee.put(&referee.answer(ANN, &invitation, "STATUS"));
    referee.work();
    referee.work();
    referee.one_to(ANN).says("Turn 1 waits for your orders");
    let statuses: Vec<LetterStatus> = referee.letters().iter().map(|letter| letter.status).collect();
    assert!(
        statuses.contains(&LetterStatus::SetAside) && statuses.contains(&LetterStatus::Ruled),
        "{statuses:?}"
    );
    let told = referee.one_to(GM);
    assert_eq!(told.subject, "A letter was set aside");
    told.says("could not be ruled on in three attempts").says(ANN).says("fogpost letters --raw");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    referee.sleep(1);
    referee.advance(25);
    referee.last_to(GM).says("Letters set aside").says(ANN);
}

/// The key pair of RFC 8463, appendix A.2.
const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const RECORD: &str = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).expect("digits"));
    digits.map(|two| u8::from_str_radix(two, 16).expect("a byte")).collect()
}

fn signed(letter: &str) -> String {
    let letter = letter.replace('\n', "\r\n");
    let key = Ed25519Key::from_seed_and_public_key(&bytes(SEED), &bytes(KEY)).expect("a key");
    let signer =
        DkimSigner::from_key(key).domain("players.example").selector("s1").headers(["From", "Subject"]);
    let header = signer.sign(letter.as_bytes()).expect("it is signed").to_header();
    (header + &letter).replace("\r\n", "\n")
}

/// A verifier without a DNS server. If `knows_key`, it has the players' key in its cache.
fn verifier(knows_key: bool) -> Verifier {
    let resolver = ResolverConfig::from_parts(None, vec![], vec![]);
    let authenticator = MessageAuthenticator::new(resolver, ResolverOpts::default()).expect("a resolver");
    let keys = Keys::default();
    if knows_key {
        let record = DomainKey::parse(RECORD.as_bytes()).expect("a record");
        let later = Instant::now() + Duration::from_secs(600);
        keys.insert("s1._domainkey.players.example.".into(), Txt::DomainKey(Arc::new(record)), later);
    }
    Verifier::new(authenticator, keys)
}

#[test]
fn while_dns_fails_a_letter_waits_and_its_sender_is_not_late() {
    let mut referee = Referee::with("days = 1\n[letters]\nrequire_dkim = true\n");
    referee.office_mut().verify_by(verifier(false));
    let (game_match, to_ann, _) = quad(&referee);
    referee.advance(30);
    referee.sent_to(ANN);
    referee.receive(&signed(&referee.answer(ANN, &to_ann, "MARBLE E5")));
    assert_eq!(referee.last_status(), LetterStatus::Waiting);
    // Move past the deadline and the grace.
    referee.advance(20);
    let waiting = referee.find(&game_match.id);
    assert_eq!((waiting.missed.first, waiting.adjudicated.len()), (0, 0));
    referee
        .one_to(ANN)
        .says("waits")
        .says("the name server with the key to it does not answer")
        .says(&format!("The deadline of {} waits for it", game_match.id))
        .keeps_silent_of("MARBLE");
    // A code of ours proves more than a signature, and does not wait for one.
    referee.reply("ann@holiday.example", &to_ann, "TELL GM Hello from the sea");
    let notice = referee.one_to(ANN);
    let confirm =
        notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM ")).expect("a code");
    referee.receive(&signed(&referee.answer(ANN, &to_ann, &format!("CONFIRM {confirm}"))));
    assert_eq!(referee.last_status(), LetterStatus::Answered);
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("You confirmed the letter from")), "{letters:#?}");
    referee.office_mut().verify_by(verifier(true));
    referee.advance(1);
    let ruled = referee.find(&game_match.id);
    assert_eq!((ruled.missed.first, ruled.adjudicated.len()), (0, 1));
    referee.sent_to(ANN)[0].says("Your orders are sealed");
}

#[test]
fn a_letter_that_cannot_be_verified_for_three_days_is_ignored() {
    let mut referee = Referee::with("[letters]\nrequire_dkim = true\n");
    referee.office_mut().verify_by(verifier(false));
    let (game_match, to_ann, _) = quad(&referee);
    referee.receive(&signed(&referee.answer(ANN, &to_ann, "MARBLE E5")));
    referee.advance(3 * 24 + 1);
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    assert!(referee.sent_to(BO).is_empty());
    referee
        .last_to(ANN)
        .says("I could not verify that you sent it")
        .says("gave no answer about its signature");
    let after = referee.find(&game_match.id);
    assert_eq!(after.adjudicated.len(), 0);
    assert!(after.deadline.expect("a deadline") - referee.now() > TimeDelta::days(3));
    assert!(!kinds(&referee, &game_match).contains(&"OrdersSealed".to_owned()));
}

/// A desk whose sendmail rejects mail to Bo until the returned file exists.
fn rejecting(folder: &Path) -> (Referee, PathBuf) {
    let program = folder.join("sendmail");
    let referee = Referee::with(&format!("[outbox.sendmail]\ncommand = \"{}\"\n", program.display()));
    let mail = referee.folder().join("mail").display().to_string();
    let script = SENDMAIL.replace("MAIL", &mail).replace("] && {", "] && [ ! -e \"$0.open\" ] && {");
    fs::write(&program, script).expect("the command");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, executable).expect("it is executable");
    (referee, folder.join("sendmail.open"))
}

fn complains_of(referee: &Referee, words: &str) -> bool {
    let office = referee.office();
    let quota = &office.config.outbox.quota;
    let status = Status::of(&office.store, &office.config.database, quota, referee.now(), SILENT_AFTER);
    let faults = referee.block_on(status).expect("the store answers").faults;
    faults.iter().any(|fault| fault.contains(words))
}

fn complains_of_given_up(referee: &Referee) -> bool {
    complains_of(referee, "given up")
}

#[test]
fn a_provider_that_refuses_the_clubs_domain_is_told_once_a_day_while_it_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let (referee, open) = rejecting(folder.path());
    let words = "550 5.7.26 Your email has been blocked because the sender is unauthenticated.";
    let program = folder.path().join("sendmail");
    let script = fs::read_to_string(&program).expect("the command");
    fs::write(&program, script.replace("550 no such user", words).replace("exit 67", "exit 69"))
        .expect("the command");
    referee.open(GameKind::Quad, &[]);
    referee.work();
    let told = |referee: &Referee| -> Vec<Sent> {
        let letters = referee.sent_to(GM).into_iter();
        letters.filter(|sent| sent.subject == "A mail server keeps refusing letters").collect()
    };
    referee.advance(11);
    assert!(told(&referee).is_empty(), "it may be a matter of hours");
    for hours in [2, 23, 24] {
        referee.advance(hours);
        let letters = told(&referee);
        let [letter] = &letters[..] else { panic!("one letter a day: {letters:#?}") };
        letter.says("- Bo, bo@players.example: 1 letter waits since").says("550 5.7.26 Your email");
        letter.says("SPF").says("DKIM").says("DMARC").says("`fogpost doctor --send`");
    }
    assert!(complains_of(&referee, "550 5.7.26 Your email has been blocked"));
    fs::write(&open, "").expect("a file");
    referee.advance(30);
    assert_eq!(referee.sent_to(BO).len(), 1);
    assert!(told(&referee).is_empty() && !complains_of(&referee, "to be sent"));
    referee.sent_to(ANN);
}

#[test]
fn what_was_given_up_is_sent_again_as_it_is_and_what_was_taken_as_a_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let (referee, open) = rejecting(folder.path());
    referee.open(GameKind::Quad, &[]);
    referee.work();
    assert!(complains_of_given_up(&referee));
    let seen = referee.block_on(referee.office().store.mark_given_up_seen()).expect("the store answers");
    assert!(seen == 1 && !complains_of_given_up(&referee));
    fs::write(&open, "").expect("a file");
    let resend = |filter: DispatchFilter| {
        referee.block_on(resend::resend(referee.office(), &filter)).expect("the store answers")
    };
    let resent = resend(DispatchFilter { only_given_up: true, ..DispatchFilter::default() });
    assert_eq!(resent, Resent { queued: 1, ..Resent::default() });
    referee.work();
    let invitation = referee.one_to(BO);
    let resent = resend(DispatchFilter { recipient: Some(BO.to_owned()), ..DispatchFilter::default() });
    assert_eq!(resent, Resent { copied: 1, ..Resent::default() });
    referee.work();
    let copy = referee.one_to(BO);
    assert_eq!((&copy.subject, &copy.text), (&invitation.subject, &invitation.text));
    assert_ne!(copy.message_id, invitation.message_id);
    assert!(referee.raw_to(BO).iter().any(|raw| raw.starts_with(b"Resent-Date: ")));
}

#[test]
fn clearing_a_bounce_sends_what_was_given_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let (referee, open) = rejecting(folder.path());
    referee.open(GameKind::Quad, &[]);
    referee.work();
    let told = referee.one_to(GM);
    fs::write(&open, "").expect("a file");
    referee.reply(GM, &told, "GM PLAYER BOUNCE-CLEAR bo@players.example");
    assert_eq!(referee.sent_to(BO).len(), 1);
}

#[test]
fn a_letter_that_was_given_up_is_told_however_many_others_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let (referee, _) = rejecting(folder.path());
    referee.open(GameKind::Quad, &[]);
    let waiting = (0..60).map(|number| NewDispatch {
        message_id: format!("w{number}@club.example"),
        recipient: ANN.to_owned(),
        bytes: b"Subject: x\r\n\r\nHello\r\n".to_vec(),
        kind: DispatchKind::Notice,
        match_id: None,
        seat: None,
        answers: None,
        reminds: None,
        return_id: None,
        due: Some(referee.now() + TimeDelta::hours(30)),
        replaces: None,
        urgency: Urgency::Notice,
        pin: None,
    });
    let changes = Changes { at: referee.now(), dispatches: waiting.collect(), ..Changes::default() };
    referee.block_on(referee.office().store.commit(&changes)).expect("the store answers");
    referee.advance(28);
    let letters = referee.sent_to(GM);
    let digest = letters.iter().find(|sent| sent.subject.starts_with("The day at")).expect("a digest");
    digest.says("Letters that may go unread: 1").says("- Bo: mail comes back; given up (");
    referee.advance(4);
}

#[test]
fn an_offer_that_cannot_be_read_does_not_stop_the_clock() {
    let referee = Referee::with("days = 1\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.reply(ANN, &referee.sent_to(ANN)[0], "CHALLENGE cy@players.example quad");
    // The audit names the offer.
    referee.untidy.set(true);
    referee.change_database("UPDATE invitation SET offer = '{}', lapses_at = created_at + 3600000");
    referee.advance(48);
    assert_eq!(referee.find(&game_match.id).missed.first, 1);
    let open = referee.block_on(referee.office().store.open_invitations(None)).expect("the store answers");
    assert!(open.is_empty(), "it is closed");
}
