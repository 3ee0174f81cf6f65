//! The audit finds entries that were changed, removed or added.

use fogpost::audit::witness::PlayersMail;
use fogpost::audit::{AuditVerdict, Place};
use fogpost::daemon::audit::verify;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Cause, EntryCause, Fact};

use crate::audit::database::{cheat, entries, found, played, rewrite, seq_of};
use crate::referee::{ANN, Referee};

#[test]
fn an_opening_with_an_unknown_format_or_unknown_rules_is_found() {
    let unknown = [
        (7, 1, "format 7 of a ledger is not known; this program knows 1"),
        (1, 7, "version 7 of the rules of Quad is not known; this program knows 1"),
    ];
    for (new_format, new_rules, says) in unknown {
        let (referee, game_match) = played();
        let mut all = entries(&referee, &game_match.id);
        let Fact::MatchOpened { format, rules, .. } = &mut all[0].fact else {
            panic!("the first entry opens the match")
        };
        (*format, *rules) = (new_format, new_rules);
        rewrite(&referee, &game_match, all);
        let verdict = referee.verify(&game_match.id);
        assert_eq!(*found(&verdict), Place::Entry(1));
        assert_eq!(verdict.findings[0].what, says);
    }
}

#[test]
fn options_unknown_to_the_game_are_found() {
    for options in [r#"{"swap":"sideways"}"#, r#"{"gravity":"on"}"#] {
        let (referee, game_match) = played();
        let mut all = entries(&referee, &game_match.id);
        let Fact::MatchOpened { options: chosen, .. } = &mut all[0].fact else {
            panic!("the first entry opens the match")
        };
        *chosen = serde_json::from_str(options).expect("JSON");
        rewrite(&referee, &game_match, all);
        let verdict = referee.verify(&game_match.id);
        assert_eq!(*found(&verdict), Place::Entry(1));
        assert!(verdict.findings[0].what.contains("option"), "{verdict:#?}");
    }
}

#[test]
fn a_match_with_an_unknown_format_or_unknown_rules_is_not_continued() {
    for name in ["rules", "format"] {
        let referee = Referee::new();
        let game_match = referee.open(GameKind::Quad, &[]);
        let to_ann = referee.one_to(ANN);
        let change = format!(r#"UPDATE match SET snapshot = replace(snapshot, '"{name}":1', '"{name}":7')"#);
        cheat(&referee, &[&change]);
        referee.reply(ANN, &to_ann, "MARBLE E5");
        assert_eq!(
            entries(&referee, &game_match.id).len() as u64,
            game_match.head.seq,
            "nothing was decided"
        );
        assert!(referee.sent_to(ANN).is_empty());
    }
}

#[test]
fn a_removed_entry_is_found() {
    let (referee, game_match) = played();
    cheat(&referee, &["DELETE FROM entry WHERE seq = 5"]);
    let verdict = referee.verify(&game_match.id);
    assert_eq!(*found(&verdict), Place::Entry(5));
    assert!(verdict.findings[0].what.contains("missing"), "{verdict:#?}");
}

#[test]
fn a_removed_last_entry_is_found() {
    let (referee, game_match) = played();
    cheat(&referee, &[&format!("DELETE FROM entry WHERE seq = {}", game_match.head.seq)]);
    let verdict = referee.verify(&game_match.id);
    assert_eq!(*found(&verdict), Place::Entry(game_match.head.seq));
    assert!(verdict.findings[0].what.contains("missing"), "{verdict:#?}");
}

#[test]
fn two_swapped_entries_are_found() {
    let (referee, game_match) = played();
    cheat(
        &referee,
        &[
            "UPDATE entry SET seq = 99 WHERE seq = 4",
            "UPDATE entry SET seq = 4 WHERE seq = 5",
            "UPDATE entry SET seq = 5 WHERE seq = 99",
        ],
    );
    assert_eq!(*found(&referee.verify(&game_match.id)), Place::Entry(4));
}

#[test]
fn an_added_entry_is_found_although_the_chain_is_intact() {
    let (referee, game_match) = played();
    let mut all = entries(&referee, &game_match.id);
    let mut added = all.last().expect("an entry").clone();
    added.fact = Fact::MatchResumed { deadline: None };
    added.cause = EntryCause::Cause(Cause::Clock { phase: game_match.phase_no });
    added.salt = game_match.key.salt(game_match.head.seq + 1);
    all.push(added);
    rewrite(&referee, &game_match, all);
    let verdict = referee.verify(&game_match.id);
    assert!(
        verdict.findings.iter().any(|f| f.place == Place::Entry(game_match.head.seq + 1)),
        "{verdict:#?}"
    );
}

#[test]
fn a_changed_order_in_a_recomputed_chain_is_found() {
    let (referee, game_match) = played();
    let seq = seq_of(&referee, &game_match.id, "OrdersSealed");
    let mut all = entries(&referee, &game_match.id);
    let place = usize::try_from(seq - 1).expect("a place");
    let json = serde_json::to_string(&all[place]).expect("JSON").replace("MARBLE E5", "MARBLE E6");
    all[place] = serde_json::from_str(&json).expect("an entry");
    rewrite(&referee, &game_match, all);
    let verdict = referee.verify(&game_match.id);
    let finding =
        verdict.findings.iter().find(|f| f.place == Place::Entry(seq)).expect("a finding for the entry");
    assert!(finding.what.contains("body.orders"), "{verdict:#?}");
}

/// Restores the database from before Ann's letter, and lets the program rule on another one instead. All stored data
/// is then consistent; only the mail that players have reveals the change.
#[test]
fn a_consistently_rewritten_history_is_revealed_by_the_players_mail() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    let before = referee.folder().join("before.db");
    cheat(&referee, &[&format!("VACUUM INTO '{}'; UPDATE match SET version = version", before.display())]);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let witness = referee.raw_to(ANN).pop().expect("Ann has her report");
    let against = |referee: &Referee, witness: &[u8]| {
        referee
            .block_on(verify::verify_against(
                referee.office(),
                &[PlayersMail::read("ann.eml", witness)],
                None,
                &|_| (),
            ))
            .expect("the store answers")
    };
    assert!(against(&referee, &witness).iter().all(AuditVerdict::is_sound));
    referee.restart_after(|folder| {
        for name in ["fogpost.db-wal", "fogpost.db-shm"] {
            let _ = std::fs::remove_file(folder.join(name));
        }
        std::fs::copy(&before, folder.join("fogpost.db")).expect("copied");
        // The letter would be read again.
        std::fs::remove_dir_all(folder.join("mail/referee/.Processed")).expect("the letter is gone");
    });
    referee.reply(ANN, &to_ann, "MARBLE E6");
    assert!(referee.verify(&game_match.id).is_sound(), "nothing stored shows it");
    let verdicts = against(&referee, &witness);
    assert!(matches!(found(&verdicts[0]), Place::Mail(_)), "{verdicts:#?}");
    let forwarded =
        format!("From: x@y.example\n\n> {}", String::from_utf8_lossy(&witness).replace('\n', "\n> "));
    assert!(!against(&referee, forwarded.as_bytes())[0].is_sound());
}

#[test]
fn an_entry_before_the_first_is_found() {
    for number in [0, -1] {
        let (referee, game_match) = played();
        let add = format!(
            "INSERT INTO entry (match_id, seq, at, kind, json, hash) \
             SELECT match_id, {number}, at, kind, json, hash FROM entry WHERE match_id = '{}' AND seq = 1",
            game_match.id
        );
        cheat(&referee, &[&add]);
        let verdict = referee.verify(&game_match.id);
        assert!(!verdict.is_sound(), "{number}");
        match number {
            0 => assert_eq!(found(&verdict), &Place::Entry(0)),
            _ => assert!(verdict.findings[0].what.contains("-1"), "{verdict:#?}"),
        }
    }
}
