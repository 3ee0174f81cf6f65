//! Neither people's names nor a GM's input can create an element of a page.

use fogpost::daemon::instruct;
use fogpost::daemon::{Holder, NamedAddress, NewMatch};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;

use super::{Browser, button};
use crate::referee::{ANN, BO, Referee};

const HOSTILE: &str = "</p><script>alert(1)</script><img src=x onerror=\"alert(1)\">'\"&{{ 7*7 }}";

/// The elements of a page, by their names.
fn elements(html: &str) -> Vec<String> {
    let starts = html.split('<').skip(1);
    starts.map(|rest| rest.split([' ', '>', '\n']).next().unwrap_or_default().to_owned()).collect()
}

#[track_caller]
fn is_harmless(path: &str, html: &str) {
    let elements = elements(html);
    for strange in ["script", "img", "style", "iframe", "object", "svg"] {
        assert!(!elements.iter().any(|element| element == strange), "{path}: {strange}\n{html}");
    }
    assert!(!html.contains("49}}") && !html.contains("onerror=\""), "{path}");
}

#[test]
fn hostile_names_and_words_create_no_element() {
    let names = [HOSTILE.to_owned(), format!("<b>{}", "Ä".repeat(300))];
    let referee = Referee::new();
    let office = referee.office();
    let seated = |name: &str, address: &str| {
        let address = Address::parse(address).expect("an address");
        Holder::Player(NamedAddress { name: name.to_owned(), address })
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: GameKind::Quad.choose([]).expect("options"),
        players: BySeat::new(seated("Ann", ANN), seated("Bo", BO)),
        terms: office.config.terms.clone(),
    };
    let id = referee.block_on(instruct::open(office, new)).expect("it opens").id;
    referee.work();
    // An imported database may contain such a name.
    let sql = format!("UPDATE player SET name = '{}' WHERE id = 1", names[0].replace('\'', "''"));
    referee.change_database(Box::leak(sql.into_boxed_str()));
    let sql = format!(
        "UPDATE match SET first_name = '{}', second_name = '{}'",
        names[0].replace('\'', "''"),
        names[1]
    );
    referee.change_database(Box::leak(sql.into_boxed_str()));
    let escaped = names.each_ref().map(|name| serde_json::to_string(name).expect("text").replace('\'', "''"));
    let sql = format!(
        "UPDATE match SET snapshot = replace(replace(snapshot, '\"first\":\"Ann\"', '\"first\":{}'), '\"second\":\"Bo\"', '\"second\":{}')",
        escaped[0], escaped[1]
    );
    referee.change_database(Box::leak(sql.into_boxed_str()));
    assert_eq!(referee.find(&id).players.first, names[0]);
    referee.set_clock(24 * 8);
    let browser = Browser::of_gm(&referee);
    for path in ["/", &format!("/match/{id}"), "/person/P-1", "/person/P-2", "/find?q=%3Cscript%3E"] {
        is_harmless(path, &browser.get(path).text);
    }
    assert!(browser.get("/").text.contains("&lt;script&gt;"));
    let page = browser.get(&format!("/match/{id}"));
    let long = "<i>".repeat(100);
    for filled in [HOSTILE, &long] {
        for label in ["Record", "Extend", "Change", "Pause"] {
            let answer = browser.press(&page, label, &[("word", filled)]);
            is_harmless(label, &answer.text);
            is_harmless(label, &browser.get("/").text);
        }
        for field in ["guard", "back", "do", "below", "form", "sure", "unknown"] {
            is_harmless(field, &browser.press(&page, "Record", &[("word", "x"), (field, filled)]).text);
        }
        let asked = browser.press(
            &browser.get(&format!("/match/{id}")),
            "Show what would follow",
            &[("word", "1"), ("word", filled)],
        );
        is_harmless("ask", &asked.text);
        is_harmless(
            "login",
            &browser
                .get(&format!(
                    "/login?token={}",
                    form_urlencoded::byte_serialize(filled.as_bytes()).collect::<String>()
                ))
                .text,
        );
    }
    let (form, _) = button(&browser.get(&format!("/match/{id}")).text, "Send");
    assert!(form.html.contains("&lt;script&gt;"));
    referee.untidy.set(true);
}
