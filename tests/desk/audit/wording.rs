//! Letters from the club's own templates: the ledger records those templates, the players are told, and the audit names
//! them.

use std::path::Path;

use fogpost::game::any::GameKind;
use fogpost::ledger::Fact;

use crate::audit::database::entries;
use crate::referee::{ANN, BO, Referee, Sent};

const LYING_NEWS: &str = "- Nothing was seen.\n";
const CHANGED: &str = "The club has changed the words of these letters, in quad/news.txt.";
const BACK: &str = "The club has gone back to the program's own words";

/// Installs a template, or removes it.
pub fn put_template(folder: &Path, name: &str, source: Option<&str>) {
    let own = folder.join("own");
    let path = own.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    match source {
        Some(source) => std::fs::write(path, source).expect("written"),
        None => std::fs::remove_file(path).expect("removed"),
    }
    let config = folder.join("config.toml");
    let text = std::fs::read_to_string(&config).expect("the config");
    if !text.contains("[templates]") {
        std::fs::write(&config, format!("{text}\n[templates]\nfolder = \"own\"\n")).expect("written");
    }
}

/// A match in which the club told a lie about one turn. Also returns its name.
fn lied_about_a_turn() -> (Referee, String) {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.restart_after(|folder| put_template(folder, "quad/news.txt", Some(LYING_NEWS)));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.last_to(BO).says("Nothing was seen.").says(CHANGED);
    referee.last_to(ANN).says(CHANGED);
    referee.reply(ANN, &to_ann, "STATUS");
    referee.last_to(ANN).keeps_silent_of("The club has");
    referee.restart_after(|folder| put_template(folder, "quad/news.txt", None));
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    referee.last_to(ANN).says(BACK).keeps_silent_of("Nothing was seen.");
    referee.reply(BO, &to_bo, "STATUS");
    referee.last_to(BO).keeps_silent_of("The club has");
    (referee, game_match.id)
}

#[test]
fn a_template_for_one_turn_stands_in_the_ledger_is_told_to_both_sides_and_named_by_the_audit() {
    let (referee, id) = lied_about_a_turn();
    let changes = entries(&referee, &id).into_iter().filter_map(|entry| match entry.fact {
        Fact::MailIdentitySet { mail_identity, .. } => {
            Some(mail_identity.templates.into_keys().collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(changes.collect::<Vec<_>>(), [vec!["quad/news.txt".to_owned()], vec![]]);
    let verdict = referee.verify(&id);
    assert!(verdict.is_sound(), "{verdict:#?}");
    let named: Vec<_> =
        verdict.own_templates.iter().map(|(name, letters)| (name.as_str(), *letters)).collect();
    assert_eq!(named, [("quad/news.txt", 3)]);
}

#[test]
fn the_template_that_tells_of_replaced_templates_cannot_be_replaced() {
    let overrides = [("frame/wording.txt".to_owned(), "Nothing has changed.".to_owned())].into();
    let refused = fogpost::report::Templates::new(&overrides);
    assert!(refused.err().is_some_and(|error| error.to_string().contains("cannot be replaced")));
}

/// A desk with a match of Quantum, the letters that Ann and Bo answer, and this template of the club's own.
fn with_template(name: &str) -> (Referee, [Sent; 2]) {
    let mut referee = Referee::new();
    referee.open(GameKind::Quantum, &[]);
    let to_both = [ANN, BO].map(|address| referee.one_to(address));
    referee
        .restart_after(|folder| put_template(folder, name, Some("Subject: words\n\nWords of the club.\n")));
    (referee, to_both)
}

#[test]
fn templates_that_shape_no_letter_of_a_match_are_not_told_there() {
    for name in ["quad/news.txt", "gm/digest.txt", "club/stranger.txt"] {
        let (referee, [to_ann, _]) = with_template(name);
        referee.reply(ANN, &to_ann, "STATUS");
        referee.one_to(ANN).keeps_silent_of("The club has");
    }
}

#[test]
fn a_page_of_the_manual_is_told_as_any_other_template() {
    let (referee, [to_ann, _]) = with_template("help/orders.txt");
    referee.reply(ANN, &to_ann, "HELP orders");
    referee
        .one_to(ANN)
        .says("Words of the club.")
        .says("The club has changed the words of these letters, in help/orders.txt.");
}

/// Otherwise Ann's next letter would show that Bo has written.
#[test]
fn a_template_that_comes_and_goes_while_only_one_side_writes_is_told_to_that_side_alone() {
    let (mut referee, [to_ann, to_bo]) = with_template("quantum/news.txt");
    referee.reply(BO, &to_bo, "STATUS");
    referee.one_to(BO).says("in quantum/news.txt.");
    referee.restart_after(|folder| put_template(folder, "quantum/news.txt", None));
    referee.reply(ANN, &to_ann, "STATUS");
    referee.one_to(ANN).keeps_silent_of("The club has");
    referee.reply(BO, &to_bo, "MATCHES");
    referee.one_to(BO).says(BACK);
}

#[test]
fn hidden_files_and_backups_are_no_templates() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("match")).expect("a folder");
    for name in ["match/.report.txt.swp", "match/report.txt~"] {
        std::fs::write(folder.path().join(name), "{{").expect("written");
    }
    let templates = fogpost::daemon::templates(Some(folder.path())).expect("there is no template");
    assert!(templates.overrides().is_empty());
}
