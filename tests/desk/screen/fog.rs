//! The screen hides what only one side may know and, from a GM with a seat, what that seat's letters do not
//! say.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;

use super::{Answer, Browser, forms, plain};
use crate::referee::{ANN, BO, Referee, absence_note};

/// A page without the secrets of its session.
fn page(browser: &Browser<'_>, path: &str) -> String {
    let Answer { text, status, .. } = browser.get(path);
    assert_eq!(status, 200, "{path}: {text}");
    let secrets: Vec<String> = forms(&text)
        .into_iter()
        .flat_map(|form| form.fields)
        .filter(|(name, _)| name == "form")
        .map(|(_, value)| value)
        .collect();
    secrets.iter().fold(text, |text, secret| text.replace(secret, ""))
}

/// Two different first filings of each side.
fn filings(game: GameKind) -> BothWays {
    match game {
        GameKind::QuadrantZ => [["SETUP balanced", "SETUP balanced"], ["SETUP raid", "SETUP guard"]],
        GameKind::Pacific => [["SETUP line", "SETUP line"], ["SETUP wings", "SETUP deep"]],
        GameKind::Quantum => [["D3-E4", ""], ["C3-D4", ""]],
        GameKind::Quad => [["MARBLE E5", ""], ["MARBLE C3", ""]],
    }
}

type BothWays = [[&'static str; 2]; 2];

#[test]
fn what_one_side_alone_may_know_changes_no_byte() {
    for game in GameKind::ALL {
        let mut seen: Vec<Vec<String>> = Vec::new();
        let mut positions = Vec::new();
        for lines in filings(*game) {
            let referee = Referee::new();
            let opened = referee.open(*game, &[]);
            let letters = [(ANN, referee.one_to(ANN)), (BO, referee.one_to(BO))];
            for ((address, to), line) in letters.iter().zip(lines) {
                referee.reply(address, to, line);
            }
            let browser = Browser::of_gm(&referee);
            let paths = ["/".to_owned(), format!("/match/{}", opened.id), "/person/P-1".to_owned()];
            seen.push(paths.iter().map(|path| page(&browser, path).replace(&opened.id, "ID")).collect());
            positions.push(referee.find(&opened.id).to_json());
        }
        assert_eq!(seen[0], seen[1], "{game}");
        let state = |n: usize| {
            serde_json::from_str::<serde_json::Value>(&positions[n]).expect("JSON")["state"].take()
        };
        assert_ne!(state(0), state(1), "{game}: what they hide differs");
    }
}

const KIM_AND_BO: &str = "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
    [[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n";

#[test]
fn a_gm_with_a_seat_sees_of_the_match_what_the_letters_told() {
    for game in GameKind::ALL {
        let referee = Referee::with_gms(KIM_AND_BO);
        let opened = referee.open(*game, &[]);
        let to_ann = referee.one_to(ANN);
        referee.advance(1);
        let browser = Browser::new(&referee);
        browser.log_in(&referee.office().config.club.gm.all()[1].clone());
        let paths = [format!("/match/{}", opened.id), "/person/P-1".to_owned(), "/".to_owned()];
        let look = || paths.iter().map(|path| page(&browser, path)).collect::<Vec<String>>();
        let before = look();
        assert!(
            before[0].contains("You play in this match")
                && plain(&before[1]).contains("You play against Ann")
        );
        let hidden = [
            "MARBLE Z99",
            "DRAW",
            "EXTEND 3 days",
            "CHECK\nnonsense",
            "I am in hospital since Monday, with a broken leg.",
            "SETTINGS receipts=off",
        ];
        for letter in hidden {
            referee.reply(ANN, &to_ann, letter);
            assert_eq!(look(), before, "{game}: {letter}");
        }
        // A GM without a seat who looks after the match reads what Ann wrote to the GM, and not how often she wrote.
        let kim = Browser::of_gm(&referee);
        let listed = page(&kim, &paths[1]);
        assert!(listed.contains("None to show.") && !listed.contains("sealed"), "{listed}");
        referee.receive(&absence_note(ANN, &to_ann));
        assert_eq!(look(), before, "{game}: an automatic letter");
        kim.get("/").says("Ann wrote to you about").says("may be away");
        kim.get(&paths[0]).says("May be away");
        referee.sent_to(ANN);
    }
}

/// Logins from the terminal do not prove which GM it is.
#[test]
fn when_a_seat_wrote_is_on_no_page_of_a_running_match() {
    for game in GameKind::ALL {
        let referee = Referee::new();
        let opened = referee.open(*game, &[]);
        let to_ann = referee.one_to(ANN);
        referee.advance(1);
        let browser = Browser::of_gm(&referee);
        let path = format!("/match/{}", opened.id);
        let before = page(&browser, &path);
        for letter in [
            "MARBLE Z99",
            "DRAW",
            "EXTEND 3 days",
            "CHECK\nnonsense",
            "I am in hospital since Monday, with a broken leg.",
        ] {
            referee.reply(ANN, &to_ann, letter);
            assert_eq!(page(&browser, &path), before, "{game}: {letter}");
        }
        referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
        browser.get(&path).says("a letter from Ann").says("Letter answered: Ann");
    }
}

#[test]
fn a_gm_with_a_seat_is_refused_what_would_show_more() {
    let referee = Referee::with_gms(KIM_AND_BO);
    let opened = referee.open(GameKind::QuadrantZ, &[]);
    let browser = Browser::new(&referee);
    browser.log_in(&referee.office().config.club.gm.all()[1].clone());
    let page = browser.get(&format!("/match/{}", opened.id));
    let orders = [("word", "first"), ("below", "SHIP 1 TO A1")];
    browser.press(&page, "File", &orders).is(409).says("another GM has to do this");
    browser.press(&page, "Send", &[("word", "first"), ("below", "Hi")]).is(409).says("another GM");
    browser.press(&page, "Renew", &[("word", "first")]).is(409).says("another GM");
    browser.press(&page, "Replace", &[("word", "first"), ("word", "x@players.example")]).is(409);
    assert!(referee.find(&opened.id).filed[Seat::First].is_none());
}
