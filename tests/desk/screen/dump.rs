use super::Browser;
use crate::desk::{ANN, BO, Desk};
use crate::events::{self, CY, DI, LEAGUE};
use fogpost::game::any::GameKind;

#[test]
fn dump() {
    let Ok(to) = std::env::var("SCREEN_DUMP") else { return };
    let save = |name: &str, text: &str| {
        let text = text
            .replace("href=\"/style.css", "href=\"style.css")
            .replace("href=\"/screen.css", "href=\"screen.css");
        std::fs::write(format!("{to}/{name}.html"), text).expect("written")
    };
    let desk = events::club("[screen]\nlisten = \"127.0.0.1:9119\"\n");
    events::announced(&desk, LEAGUE, &[ANN, BO, CY, DI]);
    desk.advance(24 * 4);
    let mut matches = Vec::new();
    for n in 0..8 {
        let opened = desk.open(GameKind::ALL[n % 4], &[]);
        let find = |a: &str| {
            desk.all_to(a).into_iter().rev().find(|s| s.subject.contains(&opened.id)).expect("letter")
        };
        let l = (find(ANN), find(BO));
        matches.push((opened, l.0, l.1));
    }
    desk.reply(ANN, &matches[5].1, "PROTEST My letter said something else.\nEND");
    desk.reply(BO, &matches[6].2, "I am in hospital since Monday, with a broken leg.");
    let all = events::matches(&desk, "EV-SPRING");
    desk.reply(ANN, &events::about(&desk, ANN, &all[0].id), "RESIGN CONFIRM");
    desk.reply(ANN, &matches[7].1, "MARBLE E5");
    desk.reply(ANN, &matches[4].1, "SETUP balanced");
    desk.reply(BO, &matches[4].2, "SETUP guard");
    desk.advance(24 * 7 + 12);
    let browser = Browser::of_gm(&desk);
    save("desk", &browser.get("/").text);
    save("match", &browser.get(&format!("/match/{}", matches[4].0.id)).text);
    save("match2", &browser.get(&format!("/match/{}", matches[1].0.id)).text);
    save("event", &browser.get("/event/EV-SPRING").text);
    save("person", &browser.get("/person/P-1").text);
    save("find", &browser.get("/find?q=players").text);
    save("login", &browser.get("/login?token=x").text);
    let page = browser.get(&format!("/match/{}", matches[4].0.id));
    let (token, guard) = (super::attribute_of(&page.text, "form"), super::attribute_of(&page.text, "guard"));
    let asked = browser.post(
        "/act",
        &[
            ("form", &token),
            ("guard", &guard),
            ("do", &format!("MATCH {} CORRECT 0 first It was misread.", matches[4].0.id)),
            ("below", "SETUP guard"),
        ],
    );
    save("ask", &asked.text);
    let page = browser.get("/");
    save("told", &{
        browser.press(&page, "Extend 3 days", &[]);
        browser.get("/").text
    });
    save("stale", &browser.press(&page, "Extend 3 days", &[]).text);
    let empty = Desk::new();
    save("empty", &Browser::of_gm(&empty).get("/").text);
    desk.untidy.set(true);
}
