//! Compares the games with an independent implementation in Python (tests/oracle), written from the rules pages. Both
//! replay random records and must agree in every key. `python3 tests/oracle/compare.py --help` tells how to run more.

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
fn quadrant_z_agrees_with_the_oracle() {
    agree(GameKind::QuadrantZ, 0, 60);
}

#[test]
fn pacific_agrees_with_the_oracle() {
    agree(GameKind::Pacific, 0, 60);
}

#[test]
fn quantum_agrees_with_the_oracle() {
    agree(GameKind::Quantum, 0, 60);
}

#[test]
fn quad_agrees_with_the_oracle() {
    agree(GameKind::Quad, 0, 60);
}
