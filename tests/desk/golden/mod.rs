//! One whole match of each game: every letter to each seat as its player reads it. `cargo insta review` or
//! `INSTA_UPDATE=always` accepts a changed letter; nothing is written if `CI` is set.

mod club;
mod events;
mod pacific;
mod quad;
mod quadrant_z;
mod quantum;

use std::collections::BTreeMap;

use fogpost::game::any::GameKind;
use fogpost::game::{Outcome, Seat};

use crate::referee::{ANN, BO, Referee, Sent};

/// A match and the text of all of its letters so far.
struct Play {
    referee: Referee,
    id: String,
    text: String,
    /// The last letter to each player, which they answer.
    last: BTreeMap<&'static str, Sent>,
}

impl Play {
    fn open(game: GameKind, options: &[(&str, &str)]) -> Play {
        let referee = Referee::new();
        let id = referee.open(game, options).id;
        let mut play = Play { referee, id, text: String::new(), last: BTreeMap::new() };
        play.collect();
        play
    }

    fn ann(&mut self, body: &str) {
        self.write(ANN, body);
    }

    fn bo(&mut self, body: &str) {
        self.write(BO, body);
    }

    fn write(&mut self, from: &'static str, body: &str) {
        self.text += &format!("==== {} writes\n\n{}\n\n", name(from), body.trim());
        self.referee.reply(from, &self.last[from], body);
        self.collect();
    }

    /// Appends the letters that went out.
    fn collect(&mut self) {
        for address in [ANN, BO] {
            for sent in self.referee.sent_to(address) {
                let text = self.stable(&sent);
                self.text += &format!("==== {} reads: {text}\n", name(address));
                self.last.insert(address, sent);
            }
        }
    }

    /// Replaces everything that differs between runs: the match's name, the token and the hashes.
    fn stable(&self, sent: &Sent) -> String {
        let text = format!("{}\n\n{}", sent.subject, sent.text);
        let text =
            text.replace(&self.id, &format!("{}-0000", &self.id[..2])).replace(sent.token(), "(token)");
        let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lines = text.lines().map(|line| match line.split(' ').next_back().filter(|word| is_hash(word)) {
            Some(hash) => line.replace(hash, "(hash)"),
            None => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// Checks how the match ended, and compares its letters with the golden file of this name.
    #[track_caller]
    fn ends(self, file: &str, reason: &str, winner: Option<Seat>) {
        let outcome = self.referee.find(&self.id).state.outcome();
        let ended = outcome.as_ref().map(|Outcome { winner, reason }| (*winner, reason.to_string()));
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(file, self.text));
        assert_eq!(ended, Some((winner, reason.to_owned())));
    }
}

fn name(address: &str) -> &'static str {
    if address == ANN { "Ann" } else { "Bo" }
}
