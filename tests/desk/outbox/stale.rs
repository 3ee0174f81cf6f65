//! Letters that become outdated while they cannot be sent: reminders lapse, and digests are combined into
//! one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use fogpost::game::any::GameKind;
use fogpost::referee::DispatchKind;
use tempfile::TempDir;

use crate::positions::{self, kinds, quad};
use crate::referee::{ANN, BO, GM, Referee};

/// A sendmail that delivers to the desk's Maildirs, but fails while a file `….shut` lies beside it.
const SENDMAIL: &str = r#"#!/bin/sh
[ -e "$0.shut" ] && { echo "the post is shut" >&2; exit 75; }
box="MAIL/$5"
mkdir -p "$box/new" "$box/cur" "$box/tmp"
cat > "$box/new/$$.$(date +%N)"
"#;

/// A desk whose sendmail can be made to fail.
struct Post {
    referee: Referee,
    shut: PathBuf,
    _folder: TempDir,
}

impl Post {
    fn new() -> Post {
        Post::with("")
    }

    /// A desk with additional terms of matches.
    fn with(terms: &str) -> Post {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("sendmail");
        let referee =
            Referee::with(&format!("{terms}[outbox.sendmail]\ncommand = \"{}\"\n", program.display()));
        let mail = referee.folder().join("mail").display().to_string();
        fs::write(&program, SENDMAIL.replace("MAIL", &mail)).expect("the command");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is executable");
        let shut = folder.path().join("sendmail.shut");
        Post { referee, shut, _folder: folder }
    }

    fn shut(&self) {
        fs::write(&self.shut, "").expect("a file");
    }

    /// Lets sendmail work again, and returns the subjects of the letters to Ann and to Bo that are then sent.
    fn open(&self) -> [Vec<String>; 2] {
        fs::remove_file(&self.shut).expect("a file");
        self.referee.advance(1);
        [ANN, BO].map(|reader| self.referee.sent_to(reader).into_iter().map(|sent| sent.subject).collect())
    }
}

#[test]
fn no_bank_day_is_taken_while_the_letter_that_opened_the_turn_waits_in_the_outbox() {
    let post = Post::with("bank = 3\ndays = 1\nforfeit_after = 9\n");
    post.shut();
    let game_match = post.referee.open(GameKind::Quad, &[]);
    post.referee.advance(3 * 24);
    let taken = |referee: &Referee| {
        kinds(referee, &referee.find(&game_match.id)).iter().filter(|kind| *kind == "BankDayTaken").count()
    };
    assert_eq!(taken(&post.referee), 0);
    post.open();
    post.referee.advance(6 * 24);
    assert_eq!(taken(&post.referee), 3, "once the letter has left, days are taken");
}

fn reminders(subjects: &[String]) -> usize {
    subjects.iter().filter(|subject| subject.contains(": reminder, due ")).count()
}

#[test]
fn a_reminder_that_is_still_true_is_sent_late() {
    let post = Post::new();
    let (game_match, _, _) = quad(&post.referee);
    post.referee.advance(5 * 24 + 7);
    post.shut();
    post.referee.advance(2);
    assert!(kinds(&post.referee, &game_match).contains(&"ReminderSent".to_owned()));
    let [to_ann, _] = post.open();
    assert_eq!((to_ann.len(), reminders(&to_ann)), (1, 1), "{to_ann:?}");
}

#[test]
fn a_reminder_lapses_once_its_seat_has_filed_or_its_phase_is_closed() {
    let post = Post::new();
    let (game_match, to_ann, to_bo) = positions::quadrant_z(&post.referee);
    post.referee.advance(5 * 24 + 7);
    post.referee.sent_to(ANN);
    post.referee.sent_to(BO);
    post.shut();
    post.referee.advance(2);
    let sent = kinds(&post.referee, &game_match).iter().filter(|kind| *kind == "ReminderSent").count();
    assert_eq!(sent, 2);
    post.referee.reply(ANN, &to_ann, "HOLD");
    let [to_ann_now, to_bo_now] = post.open();
    assert_eq!((reminders(&to_ann_now), reminders(&to_bo_now)), (0, 1), "{to_ann_now:?} {to_bo_now:?}");
    assert_eq!(to_ann_now.len(), 1, "the receipt, as it was: {to_ann_now:?}");
    post.shut();
    post.referee.advance(36);
    post.referee.reply(BO, &to_bo, "HOLD");
    let [to_ann_now, to_bo_now] = post.open();
    assert_eq!((reminders(&to_ann_now), reminders(&to_bo_now)), (0, 0), "{to_ann_now:?} {to_bo_now:?}");
    assert_eq!((to_ann_now.len(), to_bo_now.len()), (1, 1), "the reports");
    let unsent =
        post.referee.block_on(post.referee.office().store.list_dispatches(true, 9)).expect("the outbox");
    assert!(unsent.is_empty(), "what has lapsed needs nobody's attention: {unsent:?}");
}

#[test]
fn a_reminder_lapses_once_its_deadline_has_moved() {
    let post = Post::new();
    let (_, to_ann, to_bo) = quad(&post.referee);
    post.referee.advance(5 * 24 + 7);
    post.shut();
    post.referee.advance(2);
    post.referee.reply(ANN, &to_ann, "EXTEND 3 days");
    post.referee.reply(BO, &to_bo, "AGREE");
    let [to_ann, _] = post.open();
    assert_eq!(reminders(&to_ann), 0, "{to_ann:?}");
    // The reminder for the new deadline is sent.
    post.referee.advance(3 * 24);
    let later = post.referee.sent_to(ANN).into_iter().map(|sent| sent.subject).collect::<Vec<_>>();
    assert_eq!(reminders(&later), 1, "{later:?}");
}

#[test]
fn digests_of_a_player_that_wait_become_one() {
    let post = Post::new();
    let (_, to_ann, _) = quad(&post.referee);
    post.referee.reply(ANN, &to_ann, "SETTINGS digest=daily");
    post.referee.sent_to(ANN);
    post.shut();
    post.referee.advance(3 * 24);
    let [to_ann, _] = post.open();
    assert_eq!(to_ann, ["A match waits for your orders"]);
}

#[test]
fn digests_of_a_gm_that_wait_become_one_about_the_whole_time() {
    let post = Post::new();
    // The first period begins with the club.
    post.referee.work();
    post.shut();
    let first = post.referee.open(GameKind::Quad, &[]);
    post.referee.advance(30);
    let second = post.referee.open(GameKind::Quad, &[]);
    post.referee.advance(24);
    let waiting =
        post.referee.block_on(post.referee.office().store.list_dispatches(true, 99)).expect("the outbox");
    assert_eq!(
        waiting
            .iter()
            .filter(|row| row.recipient == GM && row.waiting && row.kind == DispatchKind::Notice)
            .count(),
        1,
        "{waiting:#?}"
    );
    post.open();
    // Besides, the GM hears that letters are refused.
    let mut digests = post.referee.sent_to(GM);
    digests.retain(|sent| sent.subject.starts_with("The day at"));
    assert_eq!(digests.len(), 1);
    digests[0].says(&first.id).says(&second.id);
    post.referee.advance(24);
    assert!(post.referee.sent_to(GM).iter().all(|sent| !sent.text.contains(&first.id)), "told once");
}
