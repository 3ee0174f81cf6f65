//! Letters on which the program hangs, panics or dies.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use fogpost::daemon::{FaultInjection, Moment, Office, loops, suspects};
use fogpost::letter::Digest;
use fogpost::post::ShutdownSignal;
use fogpost::store::{LetterStatus, NewLetter};

use crate::positions::quad;
use crate::referee::{ANN, BO, GM, Referee};

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
fn plant(referee: &mut Referee, step: Moment, trap: impl Fn() + Send + Sync + 'static) {
    let planted: Arc<FaultInjection> = Arc::new(move |at, raw| {
        if at == step && raw.windows(4).any(|window| window == b"trap") {
            trap();
        }
    });
    referee.office_mut().set_fault_injection(planted, DEADLINE);
}

fn stranger(who: &str, text: &str) -> String {
    format!("From: {who}@elsewhere.example\nMessage-ID: <{who}.{}@x>\n\n{text}\n", text.len())
}

/// Returns the status of the letter from this sender.
fn status_of(referee: &Referee, sender: &str) -> LetterStatus {
    let letters = referee.letters();
    letters.iter().find(|row| row.sender.starts_with(sender)).expect("a letter").status
}

#[test]
fn a_letter_that_hangs_is_set_aside_and_blocks_nobody() {
    let waits: [fn(&Gate); 2] = [Gate::hold, Gate::hold_busily];
    for (step, hold) in [Moment::Read, Moment::Decide].into_iter().zip(waits) {
        let mut referee = Referee::new();
        let (_, to_ann, _) = quad(&referee);
        let gate = Gate::default();
        let held = gate.clone();
        plant(&mut referee, step, move || hold(&held));
        let _open = OpenOnDrop(gate);
        referee.put(&stranger("eve", "HELP trap"));
        referee.put(&referee.answer(ANN, &to_ann, "MARBLE E5"));
        referee.put(&stranger("di", "HELP"));
        referee.work();
        referee.sent_to(ANN)[0].says("Your orders are sealed");
        referee.one_to("di@elsewhere.example");
        assert_eq!(status_of(&referee, "eve"), LetterStatus::SetAside);
        let told = referee.one_to(GM);
        told.says("could not be ruled on and was set aside").says(EVE).says("took longer than 5 seconds");
    }
}

#[test]
fn a_letter_that_panics_is_set_aside_after_three_attempts_and_blocks_nobody() {
    for step in [Moment::Read, Moment::Decide] {
        let mut referee = Referee::new();
        let (_, to_ann, _) = quad(&referee);
        let tries = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&tries);
        plant(&mut referee, step, move || {
            counted.fetch_add(1, Ordering::Relaxed);
            panic!("planted");
        });
        referee.put(&stranger("eve", "HELP trap"));
        referee.put(&referee.answer(ANN, &to_ann, "MARBLE E5"));
        referee.work();
        referee.sent_to(ANN)[0].says("Your orders are sealed");
        assert_eq!(status_of(&referee, "eve"), LetterStatus::SetAside);
        assert_eq!(tries.load(Ordering::Relaxed), 3);
        referee.one_to(GM).says("in three attempts").says(EVE);
    }
}

/// Records, as a daemon does before it reads letters, that a daemon called `run` is working on these. That
/// daemon then dies.
fn die_at(referee: &Referee, run: &str, letters: &[Digest]) {
    referee.block_on(referee.office().store.note_in_work(run, letters)).expect("it is noted");
}

/// Stores the letters in the mailbox without reading them, like a daemon that dies in between.
fn take_in(referee: &Referee, raw: &str) -> Digest {
    let letter = fetched(referee, raw);
    let digest = letter.digest;
    referee.block_on(referee.office().store.insert_letters(&[letter])).expect("it is stored");
    digest
}

#[test]
fn a_letter_on_which_the_program_died_twice_is_set_aside_unread_at_the_third_start() {
    let mut referee = Referee::new();
    let letter = take_in(&referee, &stranger("eve", "HELP trap"));
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    plant(&mut referee, Moment::Read, move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    for run in ["first", "second"] {
        die_at(&referee, run, &[letter]);
    }
    referee.work();
    assert_eq!(status_of(&referee, "eve"), LetterStatus::SetAside);
    assert_eq!(reads.load(Ordering::Relaxed), 0, "it is not read again");
    referee
        .one_to(GM)
        .says("could not be ruled on in two attempts")
        .says("the program ended while it worked");
    assert!(referee.sent_to(EVE).is_empty());
    let left = referee.block_on(referee.office().store.letters_in_work()).expect("the store answers");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_letter_on_which_the_program_died_twice_is_ruled_on_if_another_process_survives_it() {
    for (program, status) in [("/bin/true", LetterStatus::Answered), ("/bin/false", LetterStatus::SetAside)] {
        let mut referee = Referee::new();
        let letter = take_in(&referee, &stranger("eve", "HELP"));
        suspects::try_letters_by(referee.office_mut(), program.into(), "config.toml".into());
        for run in ["first", "second"] {
            die_at(&referee, run, &[letter]);
        }
        referee.work();
        assert_eq!(status_of(&referee, "eve"), status, "{program}");
    }
}

/// A letter as the mailbox hands it over.
pub fn fetched(referee: &Referee, raw: &str) -> NewLetter {
    let raw = raw.replace('\n', "\r\n").into_bytes();
    let (size, received_at, origin) = (raw.len() as u64, referee.now(), "a test".to_owned());
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
    let referee = Referee::new();
    let letters: Vec<Digest> =
        ["ed", "flo", "guy"].iter().map(|who| take_in(&referee, &stranger(who, "HELP"))).collect();
    // Letters that were in work together are not blamed, however often the program is killed.
    for run in ["first", "second", "third", "fourth"] {
        die_at(&referee, run, &letters);
    }
    die_at(&referee, "fifth", &letters[..1]);
    referee.work();
    for who in ["ed", "flo", "guy"] {
        assert_eq!(status_of(&referee, who), LetterStatus::Answered, "{who}");
    }
}

#[test]
fn the_program_ends_soon_although_a_ruling_hangs() {
    let mut referee = Referee::new();
    let gate = Gate::default();
    let (held, reached) = (gate.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&reached);
    let planted: Arc<FaultInjection> = Arc::new(move |_, raw| {
        if raw.windows(4).any(|window| window == b"trap") {
            counted.fetch_add(1, Ordering::Relaxed);
            held.hold();
        }
    });
    referee.office_mut().set_fault_injection(planted, Duration::from_secs(3600));
    let _open = OpenOnDrop(gate);
    take_in(&referee, &stranger("eve", "HELP trap"));
    let office: Arc<Office> = referee.shared_office();
    let (stopper, shutdown) = ShutdownSignal::new();
    let took = referee.block_on(async {
        let running = tokio::spawn(loops::run(office, shutdown));
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
    referee.untidy.set(true);
    assert_eq!(status_of(&referee, "eve"), LetterStatus::Waiting);
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn letters_set_aside_bring_one_alarm_an_hour_and_then_their_number() {
    let mut referee = Referee::new();
    plant(&mut referee, Moment::Decide, || panic!("the trap"));
    for n in 0..20 {
        referee.put(&stranger("eve", &format!("HELP trap {}", "x".repeat(n))));
    }
    referee.work();
    let told = referee.sent_to(GM);
    let [told] = &told[..] else { panic!("{} alarms", told.len()) };
    told.says("A letter could not be ruled on").keeps_silent_of("more letter");
    referee.advance(4);
    let told = referee.sent_to(GM);
    let [told] = &told[..] else { panic!("{} alarms", told.len()) };
    told.says("19 more letters were set aside since my last letter about that");
    // Those letters are counted no longer, and the next alarm comes at once.
    referee.put(&stranger("eve", "HELP trap once more"));
    referee.work();
    referee.one_to(GM).says("A letter could not be ruled on").keeps_silent_of("more letter");
    // An alarm in a later hour mentions the earlier letters.
    referee.put(&stranger("eve", "HELP trap and again"));
    referee.work();
    assert!(referee.sent_to(GM).is_empty());
    referee.sleep(1);
    referee.put(&stranger("eve", "HELP trap for the last time"));
    referee.work();
    referee.one_to(GM).says("A letter could not be ruled on").says("1 more letter was set aside");
}
