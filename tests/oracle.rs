//! The rules once more, written from their pages in another language (tests/oracle): random records, replayed by
//! both, must come to the same to the last key. `python3 tests/oracle/compare.py --help` runs more of them.

use std::path::Path;
use std::process::Command;

use fogpost::game::any::GameKind;

fn agree(game: GameKind, from: u32, count: u32) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle");
    let out = Command::new("python3")
        .arg("-B")
        .arg(folder.join("compare.py"))
        .args(["--binary", env!("CARGO_BIN_EXE_fogpost"), "--game", game.key()])
        .args(["--from", &from.to_string(), "--count", &count.to_string()])
        .output()
        .expect("python3, which a machine for tests has");
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(said.contains(&count.to_string()), "{said}");
}

#[test]
fn quadrant_z_comes_to_the_same() {
    agree(GameKind::QuadrantZ, 0, 60);
}

#[test]
fn pacific_comes_to_the_same() {
    agree(GameKind::Pacific, 0, 60);
}

#[test]
fn quantum_comes_to_the_same() {
    agree(GameKind::Quantum, 0, 60);
}

#[test]
fn quad_comes_to_the_same() {
    agree(GameKind::Quad, 0, 60);
}
