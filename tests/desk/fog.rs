//! The law of fog: databases that differ only in what the rules still hide build byte-equal sites.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::game::record::lines;
use fogpost::referee::Match;

use crate::referee::{ANN, BO, Referee};
use crate::site::{build, files};
use fogpost_testing::random::{Random, dice};
use fogpost_testing::random_play::RandomPlay as _;

/// Clubs to play, each twice from the same point on.
const CLUBS: u64 = 3;

/// Filings to try in search of a legal one.
const TRIES: usize = 200;

/// Letters that change nothing visible to the public.
const HIDDEN: [&str; 6] =
    ["MARBLE Z99", "DRAW", "EXTEND 3 days", "CHECK\nnonsense", "TELL Good luck!\nEND", "POSITION"];

fn address(seat: Seat) -> &'static str {
    match seat {
        Seat::First => ANN,
        Seat::Second => BO,
    }
}

/// Answers the last letter about a match.
fn answer(referee: &Referee, seat: Seat, game_match: &Match, words: &str) {
    let letters = referee.all_to(address(seat));
    let last = letters.iter().rfind(|sent| sent.subject.contains(&game_match.id)).expect("a letter about it");
    referee.reply(address(seat), last, words);
}

/// Files random legal orders of a seat.
fn file(referee: &Referee, id: &str, seat: Seat, random: &mut Random) {
    let game_match = referee.find(id);
    let mut rng = dice(random.next());
    let orders = (0..TRIES).find_map(|_| {
        let orders = game_match.state.random_filing(seat, &mut rng).join("\n");
        game_match.state.seal(seat, &lines(&orders)).ok().map(|_| orders)
    });
    // An empty filing counts, too.
    answer(
        referee,
        seat,
        &game_match,
        &orders.filter(|orders| !orders.is_empty()).unwrap_or_else(|| "END".to_owned()),
    );
}

/// Plays a match up to this turn, with the letters of both seats in random order. Returns whether it is still
/// running.
fn play_to(referee: &Referee, id: &str, turn: u32, random: &mut Random) -> bool {
    for _ in 0..60 {
        let Some(due) = referee.find(id).due() else { return false };
        if due.turn >= turn {
            return true;
        }
        let mut seats = due.seats.to_vec();
        random.shuffle(&mut seats);
        for seat in seats {
            if referee.find(id).awaits(seat) {
                file(referee, id, seat, random);
            }
        }
    }
    panic!("{id} does not come to turn {turn}");
}

/// Sends hidden letters in a match, and some of the filings that are due, but not all.
fn hide(referee: &Referee, id: &str, random: &mut Random) {
    let game_match = referee.find(id);
    for _ in 0..2 {
        let seat = *random.pick(&Seat::BOTH);
        answer(referee, seat, &game_match, HIDDEN[random.below(HIDDEN.len())]);
    }
    let due = game_match.due().expect("it runs");
    if due.seats.len() > 1 && random.once_in(2) {
        file(referee, id, *random.pick(&due.seats), random);
    }
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(done.success());
}

/// Restores the club's folder from the copy.
fn put_back(folder: &Path, kept: &Path) {
    for entry in fs::read_dir(folder).expect("the club").flatten() {
        let path = entry.path();
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("it goes");
    }
    copy(&kept.join("."), folder);
}

#[test]
fn what_the_rules_hide_changes_no_byte_of_a_site() {
    for club in 0..CLUBS {
        let mut random = Random::new(club);
        let mut referee = Referee::new();
        let over = referee.open(GameKind::Quad, &[]);
        answer(&referee, Seat::First, &over, "RESIGN CONFIRM");
        let running: Vec<(String, u32)> = GameKind::ALL
            .iter()
            .map(|game| {
                let id = referee.open(*game, &[]).id;
                let turn = random.below(3) as u32;
                assert!(play_to(&referee, &id, turn, &mut random), "{id} is over early");
                (id, turn + 1 + random.below(3) as u32)
            })
            .collect();
        let kept = tempfile::tempdir().expect("a folder");
        referee.restart_after(|folder| copy(&folder.join("."), kept.path()));
        let mut sites = Vec::new();
        let mut states = Vec::new();
        while sites.len() < 2 {
            referee.restart_after(|folder| put_back(folder, kept.path()));
            if !running.iter().all(|(id, turn)| play_to(&referee, id, *turn, &mut random)) {
                continue;
            }
            running.iter().for_each(|(id, _)| hide(&referee, id, &mut random));
            let folder: PathBuf = kept.path().join(format!("site-{}", sites.len()));
            build(&referee, &folder);
            sites.push(files(&folder));
            fs::remove_dir_all(&folder).expect("it goes");
            states.push(running.iter().map(|(id, _)| referee.find(id).state).collect::<Vec<_>>());
        }
        let different = states[0].iter().zip(&states[1]).filter(|(one, other)| one != other).count();
        assert!(different > 1, "club {club}: only {different} matches differ");
        for (path, text) in &sites[0] {
            assert_eq!(Some(text), sites[1].get(path), "club {club}: {path}");
        }
        assert_eq!(sites[0].len(), sites[1].len(), "club {club}");
    }
}
