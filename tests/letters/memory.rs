//! The memory that reading a letter takes.

use std::process::Command;
use std::{env, fs};

use fogpost::game::any::GameKind;
use fogpost::request::{Request, lines_of};

use super::read;
use super::worst_letters::SHAPES;

/// Maximum memory of this program while it reads a letter of the allowed size, the letter included.
const MAX_MEMORY_MB: usize = 150;

/// Set in the process that measures.
const ALONE: &str = "FOGPOST_ALONE";

#[test]
fn no_letter_of_the_allowed_size_takes_much_memory() {
    if env::var_os(ALONE).is_none() {
        // Measure in a process without the other tests, whose memory would be part of the peak.
        let name = "memory::no_letter_of_the_allowed_size_takes_much_memory";
        let mut measuring = Command::new(env::current_exe().expect("this program"));
        let measured = measuring.args(["--exact", name]).env(ALONE, "1").output().expect("it starts");
        let said = String::from_utf8_lossy(&measured.stdout);
        assert!(measured.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let mut wrong = String::new();
    for (name, build) in SHAPES {
        let raw = build();
        // Resets the peak.
        fs::write("/proc/self/clear_refs", "5").expect("Linux offers it");
        if let Ok(letter) = read(&raw) {
            let lines = lines_of(letter.new_text(Some("Turn 4\n")));
            let _ = Request::read(&lines, GameKind::QuadrantZ);
        }
        let peak = peak_mb();
        if peak > MAX_MEMORY_MB {
            wrong.push_str(&format!("{name}: {peak} MB\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn peak_mb() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux offers it");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak.and_then(|kb| kb.parse::<usize>().ok()).expect("a number") / 1000
}
