//! The club beyond single matches: every kind of letter about finding an opponent, and about ratings.

use fogpost::game::Line;
use fogpost::game::any::GameKind;
use fogpost::request::matches_named_in;

use crate::referee::{ANN, BO, GM, Referee, Sent};

/// The letters so far.
struct Letters {
    referee: Referee,
    text: String,
}

impl Letters {
    fn write(&mut self, from: &str, to: &Sent, body: &str) -> Vec<(String, Sent)> {
        let code = |line: &str| without_codes(line);
        self.text += &format!("==== {from} writes\n\n{}\n\n", code(body));
        self.referee.reply(from, to, body);
        self.collect()
    }

    fn collect(&mut self) -> Vec<(String, Sent)> {
        let mut all = Vec::new();
        for reader in [ANN, BO] {
            for sent in self.referee.sent_to(reader) {
                self.text +=
                    &format!("==== {reader} reads: {}\n{}\n", stable(&sent.subject), stable(&sent.text));
                all.push((reader.to_owned(), sent));
            }
        }
        all
    }

    /// Skips the letters so far.
    fn skip(&self) {
        self.referee.sent_to(ANN);
        self.referee.sent_to(BO);
    }
}

/// Replaces everything that differs between runs: names of matches, codes, tokens and hashes.
fn stable(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let named = matches_named_in(&Line::numbered(&lines));
    let text = named.iter().fold(text.to_owned(), |text, id| text.replace(id, &format!("{}-0000", &id[..2])));
    text.lines().map(without_codes).collect::<Vec<_>>().join("\n")
}

fn without_codes(line: &str) -> String {
    let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 0..words.len() {
        let is_after_verb =
            at > 0 && ["ACCEPT", "DECLINE", "NEVER", "JOIN", "CLOSE"].contains(&words[at - 1].as_str());
        let is_code =
            is_after_verb && words[at].chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        if is_hash(&words[at]) {
            words[at] = "(hash)".to_owned();
        } else if is_code && !words[at].is_empty() || line.starts_with("Reply token: ") && at == 2 {
            words[at] = "(code)".to_owned();
        }
    }
    words.join(" ")
}

#[track_caller]
fn of(letters: &[(String, Sent)], reader: &str, words: &str) -> Sent {
    let found = letters.iter().find(|(to, sent)| to == reader && sent.text.contains(words));
    found.unwrap_or_else(|| panic!("no letter to {reader} with {words:?}")).1.clone()
}

#[test]
fn the_letters_that_lead_from_one_match_to_the_next() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.last_to(ANN), referee.last_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &referee.last_to(BO), "MARBLE F6");
    let mut letters = Letters { referee, text: String::new() };
    letters.skip();
    letters.write(BO, &to_bo, "RESIGN CONFIRM");
    letters.write(ANN, &to_ann, "REMATCH days=3");
    let both = letters.write(BO, &to_bo, "REMATCH");
    letters.write(BO, &of(&both, BO, "You wanted"), "YES");
    letters.write(ANN, &to_ann, "CHALLENGE P-2 quantum rated=off");
    letters.write(BO, &to_bo, "CHALLENGE Anne quad");
    letters.write(BO, &to_bo, "OPEN quad times=3 reliable=90");
    letters.write(ANN, &to_ann, "GAMES");
    letters.write(ANN, &to_ann, "PROFILE\nPROFILE Bo\nRATINGS quad");
    letters.write(ANN, &to_ann, "BLOCK Bo");
    letters.write(BO, &to_bo, "CHALLENGE Ann quantum");
    letters.write(ANN, &to_ann, "UNBLOCK P-2");
    letters.referee.write(GM, "GM LIST");
    let gm = letters.referee.last_to(GM);
    let id = to_ann.subject[1..].split(']').next().expect("the name of the match").to_owned();
    letters.referee.reply(GM, &gm, &format!("GM MATCH {id} TERMS rated=off"));
    letters.collect();
    letters.referee.advance(1);
    letters.collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("club", letters.text));
}
