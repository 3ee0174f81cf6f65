//! Letters on which the program hangs, panics or dies.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use fogpost::daemon::loops::run;
use fogpost::daemon::suspects;
use fogpost::daemon::{Moment, Office, Trap};
use fogpost::letter::Digest;
use fogpost::post::ShutdownSignal;
use fogpost::store::{LetterStatus, NewLetter};

use crate::desk::{ANN, BO, Desk, GM};
use crate::positions::quad;

const EVE: &str = "eve@elsewhere.example";

/// Time limit for one letter. Long enough for letters without a trap even on a busy machine and beside other
/// tests, whose CPU time counts as if it were the program's.
const DEADLINE: Duration = Duration::from_secs(5);

/// Holds threads until it is dropped, so that a test can end.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn hold(&self) {
        let open = self.0.0.lock().expect("the gate");
        drop(self.0.1.wait_while(open, |open| !*open).expect("the gate"));
    }

    /// Like [`Gate::hold`], but keeps a processor busy.
    fn hold_busily(&self) {
        while !*self.0.0.lock().expect("the gate") {
            std::hint::spin_loop();
        }
    }
}

/// Opens a gate at the end of a test, whether it fails or not.
struct OpenOnDrop(Gate);

impl Drop for OpenOnDrop {
    fn drop(&mut self) {
        *self.0.0.0.lock().expect("the gate") = true;
        self.0.0.1.notify_all();
    }
}

/// Calls `trap` for letters that contain the word `trap`.
fn plant(desk: &mut Desk, step: Moment, trap: impl Fn() + Send + Sync + 'static) {
    let planted: Arc<Trap> = Arc::new(move |at, raw| {
        if at == step && raw.windows(4).any(|window| window == b"trap") {
            trap();
        }
    });
    desk.office_mut().set_trap(planted, DEADLINE);
}

fn stranger(who: &str, text: &str) -> String {
    format!("From: {who}@elsewhere.example\nMessage-ID: <{who}.{}@x>\n\n{text}\n", text.len())
}

/// Returns the status of the letter from this sender.
fn status_of(desk: &Desk, sender: &str) -> LetterStatus {
    let letters = desk.letters();
    letters.iter().find(|row| row.sender.starts_with(sender)).expect("a letter").status
}

#[test]
fn a_letter_that_hangs_is_set_aside_and_blocks_nobody() {
    let waits: [fn(&Gate); 2] = [Gate::hold, Gate::hold_busily];
    for (step, hold) in [Moment::Read, Moment::Decide].into_iter().zip(waits) {
        let mut desk = Desk::new();
        let (_, to_ann, _) = quad(&desk);
        let gate = Gate::default();
        let held = gate.clone();
        plant(&mut desk, step, move || hold(&held));
        let _open = OpenOnDrop(gate);
        desk.put(&stranger("eve", "HELP trap"));
        desk.put(&desk.answer(ANN, &to_ann, "MARBLE E5"));
        desk.put(&stranger("di", "HELP"));
        desk.work();
        desk.sent_to(ANN)[0].says("Your orders are sealed");
        desk.one_to("di@elsewhere.example");
        assert_eq!(status_of(&desk, "eve"), LetterStatus::SetAside);
        let told = desk.one_to(GM);
        told.says("could not be ruled on and was set aside").says(EVE).says("took longer than 5 seconds");
    }
}

#[test]
fn a_letter_that_panics_is_set_aside_after_three_attempts_and_blocks_nobody() {
    for step in [Moment::Read, Moment::Decide] {
        let mut desk = Desk::new();
        let (_, to_ann, _) = quad(&desk);
        let tries = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&tries);
        plant(&mut desk, step, move || {
            counted.fetch_add(1, Ordering::Relaxed);
            panic!("planted");
        });
        desk.put(&stranger("eve", "HELP trap"));
        desk.put(&desk.answer(ANN, &to_ann, "MARBLE E5"));
        desk.work();
        desk.sent_to(ANN)[0].says("Your orders are sealed");
        assert_eq!(status_of(&desk, "eve"), LetterStatus::SetAside);
        assert_eq!(tries.load(Ordering::Relaxed), 3);
        desk.one_to(GM).says("in three attempts").says(EVE);
    }
}

/// Records, as a daemon does before it reads letters, that a daemon called `run` is working on these. That
/// daemon then dies.
fn die_at(desk: &Desk, run: &str, letters: &[Digest]) {
    desk.block_on(desk.office().store.note_in_work(run, letters)).expect("it is noted");
}

/// Stores the letters in the mailbox without reading them, like a daemon that dies in between.
fn take_in(desk: &Desk, raw: &str) -> Digest {
    let letter = fetched(desk, raw);
    let digest = letter.digest;
    desk.block_on(desk.office().store.insert_letters(&[letter])).expect("it is stored");
    digest
}

#[test]
fn a_letter_on_which_the_program_died_twice_is_set_aside_unread_at_the_third_start() {
    let mut desk = Desk::new();
    let letter = take_in(&desk, &stranger("eve", "HELP trap"));
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    plant(&mut desk, Moment::Read, move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    for run in ["first", "second"] {
        die_at(&desk, run, &[letter]);
    }
    desk.work();
    assert_eq!(status_of(&desk, "eve"), LetterStatus::SetAside);
    assert_eq!(reads.load(Ordering::Relaxed), 0, "it is not read again");
    desk.one_to(GM).says("could not be ruled on in two attempts").says("the program ended while it worked");
    assert!(desk.sent_to(EVE).is_empty());
    let left = desk.block_on(desk.office().store.letters_in_work()).expect("the store answers");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_letter_on_which_the_program_died_twice_is_ruled_on_if_another_process_survives_it() {
    for (program, status) in [("/bin/true", LetterStatus::Answered), ("/bin/false", LetterStatus::SetAside)] {
        let mut desk = Desk::new();
        let letter = take_in(&desk, &stranger("eve", "HELP"));
        suspects::try_letters_by(desk.office_mut(), program.into(), "config.toml".into());
        for run in ["first", "second"] {
            die_at(&desk, run, &[letter]);
        }
        desk.work();
        assert_eq!(status_of(&desk, "eve"), status, "{program}");
    }
}

/// A letter as the mailbox hands it over.
fn fetched(desk: &Desk, raw: &str) -> NewLetter {
    let raw = raw.replace('\n', "\r\n").into_bytes();
    let (size, received_at, origin) = (raw.len() as u64, desk.now(), "a test".to_owned());
    fogpost::daemon::new_letter(fogpost::post::FetchedLetter {
        raw,
        received_at,
        arrivals: Vec::new(),
        origin,
        cut: false,
        size,
        is_spam: false,
    })
}

#[test]
fn letters_that_were_in_work_when_the_program_was_killed_are_ruled_on() {
    let desk = Desk::new();
    let letters: Vec<Digest> =
        ["ed", "flo", "guy"].iter().map(|who| take_in(&desk, &stranger(who, "HELP"))).collect();
    // Letters that were in work together are not blamed, however often the program is killed.
    for run in ["first", "second", "third", "fourth"] {
        die_at(&desk, run, &letters);
    }
    die_at(&desk, "fifth", &letters[..1]);
    desk.work();
    for who in ["ed", "flo", "guy"] {
        assert_eq!(status_of(&desk, who), LetterStatus::Answered, "{who}");
    }
}

#[test]
fn the_program_ends_soon_although_a_ruling_hangs() {
    let mut desk = Desk::new();
    let gate = Gate::default();
    let (held, reached) = (gate.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&reached);
    let planted: Arc<Trap> = Arc::new(move |_, raw| {
        if raw.windows(4).any(|window| window == b"trap") {
            counted.fetch_add(1, Ordering::Relaxed);
            held.hold();
        }
    });
    desk.office_mut().set_trap(planted, Duration::from_secs(3600));
    let _open = OpenOnDrop(gate);
    take_in(&desk, &stranger("eve", "HELP trap"));
    let office: Arc<Office> = desk.shared_office();
    let (stopper, shutdown) = ShutdownSignal::new();
    let took = desk.block_on(async {
        let running = tokio::spawn(run::run(office, shutdown));
        while reached.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let began = Instant::now();
        stopper.stop();
        running.await.expect("no panic").expect("a clean end");
        began.elapsed()
    });
    // A shutdown waits three seconds, however long a ruling takes; the rest is room for a busy machine.
    assert!(took < Duration::from_secs(60), "{took:?}");
    desk.untidy.set(true);
    assert_eq!(status_of(&desk, "eve"), LetterStatus::Waiting);
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn letters_set_aside_bring_one_alarm_an_hour_and_then_their_number() {
    let mut desk = Desk::new();
    plant(&mut desk, Moment::Decide, || panic!("the trap"));
    for n in 0..20 {
        desk.put(&stranger("eve", &format!("HELP trap {}", "x".repeat(n))));
    }
    desk.work();
    let told = desk.sent_to(GM);
    let [told] = &told[..] else { panic!("{} alarms", told.len()) };
    told.says("A letter could not be ruled on").keeps_silent_of("more letter");
    desk.advance(4);
    let told = desk.sent_to(GM);
    let [told] = &told[..] else { panic!("{} alarms", told.len()) };
    told.says("19 more letters were set aside since my last letter about that");
    // Those letters are counted no longer, and the next alarm comes at once.
    desk.put(&stranger("eve", "HELP trap once more"));
    desk.work();
    desk.one_to(GM).says("A letter could not be ruled on").keeps_silent_of("more letter");
    // An alarm in a later hour mentions the earlier letters.
    desk.put(&stranger("eve", "HELP trap and again"));
    desk.work();
    assert!(desk.sent_to(GM).is_empty());
    desk.sleep(1);
    desk.put(&stranger("eve", "HELP trap for the last time"));
    desk.work();
    desk.one_to(GM).says("A letter could not be ruled on").says("1 more letter was set aside");
}
