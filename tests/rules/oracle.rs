//! Compares the games with an independent implementation in Python (tests/oracle), written from the rules pages. Both
//! replay random records and must agree in every key. `python3 tests/oracle/compare.py --help` tells how to run more.

use std::path::Path;
use std::process::Command;
use std::thread;

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
fn every_game_agrees_with_the_oracle() {
    thread::scope(|scope| {
        for &game in GameKind::ALL {
            scope.spawn(move || agree(game, 0, 60));
        }
    });
}
