use super::*;
use crate::Address;
use crate::mail::dialect::example::DIALECT;
use crate::mail::limits::{Limits, LineBudget};
use crate::text::lines::plain_lines;

const LETTER: &str = "## write your orders above this line ##\n\nTurn 4 was adjudicated. You saw nothing.\n\n    | SHIP 1 TO B2\n\nIt is due on Saturday.\n\nReply token: 0123456789abcdef\n";

fn read(text: &str, with_ours: bool) -> Vec<String> {
    read_with(text, with_ours.then_some(LETTER))
}

/// Reads a text that answers this letter of ours, if we still have it.
fn read_with(text: &str, ours: Option<&str>) -> Vec<String> {
    let own = Address::parse("referee@club.example").unwrap();
    let correspondents = Correspondents { own: &own, dialect: &DIALECT, sender: "ann smith" };
    let own_letter = ours.map(OwnLetter::new);
    let mut budget = LineBudget::new(&Limits::default());
    let lines = plain_lines(text, false, false, &mut budget).expect("few lines");
    new_lines(&lines, own_letter.as_ref(), correspondents).into_iter().map(str::to_owned).collect()
}

const HEADER: &str =
    "From: Referee <referee@club.example>\nSent: Friday\nTo: Ann <ann@example.org>\nSubject: Turn 4\n\n";

#[test]
fn text_above_below_and_inside_a_quote_is_new() {
    for with_ours in [true, false] {
        let quoted =
            "> ## write your orders above this line ##\n>\n> Turn 4 was adjudicated. You saw nothing.\n";
        assert_eq!(read(&format!("A\n\nReferee wrote:\n{quoted}"), with_ours), ["A"]);
        assert_eq!(read(&format!("Referee wrote:\n{quoted}\nB\n> It is due\nC"), with_ours), ["B", "", "C"]);
        assert_eq!(read(&format!("A\n\n{HEADER}{LETTER}"), with_ours), ["A"]);
        assert_eq!(read(&format!("{HEADER}{LETTER}\nB"), with_ours), ["B"]);
    }
    let between = LETTER.replace("It is due", "SHIP 2 TO B4\nIt is due");
    assert_eq!(read(&format!("A\n\n{HEADER}{between}"), true), ["A", "", "SHIP 2 TO B4"]);
}

#[test]
fn nothing_below_the_frame_of_another_letter_is_new() {
    let own_old = "From: Ann <ann@example.org>\nSent: Thursday\nTo: Referee <referee@club.example>\nSubject: Turn 4\n\nSHIP 9 TO C1\n\n";
    for with_ours in [true, false] {
        assert_eq!(read(&format!("A\n\n{own_old}{HEADER}{LETTER}"), with_ours), ["A"]);
        assert_eq!(read(&format!("A\n\n{HEADER}{LETTER}\n{own_old}"), with_ours), ["A"]);
        assert_eq!(read("A\n\nOn 19.11.2026 at 9:00 Ann wrote:\n\nSHIP 9 TO C1", with_ours), ["A"]);
        let nested = "A\n> q\nOn 19.11.2026 at 9:00 Ann <ann@example.org> wrote:\n\nSHIP 9 TO C1";
        assert_eq!(read(nested, with_ours), ["A"]);
        assert_eq!(read("A\n---------- Forwarded message ---------\nSHIP 9 TO C1", with_ours), ["A"]);
    }
}

#[test]
fn an_order_glued_to_an_attribution_is_kept() {
    let glued = "SHIP 2 HOLD On Sun, 3 May 2026 at 10:00, Referee <referee@club.example> wrote:";
    for with_ours in [true, false] {
        let quoted = LETTER.lines().map(|line| format!("> {line}\n")).collect::<String>();
        assert_eq!(read(&format!("A\n{glued}\n{quoted}"), with_ours), ["A", glued]);
    }
    let usual = "On Sun, 3 May 2026 at 10:00, Referee <referee@club.example> wrote:";
    assert_eq!(read(&format!("A\n{usual}\n> q"), false), ["A"]);
}

#[test]
fn words_typed_into_an_attribution_are_kept() {
    let quoted = LETTER.lines().map(|line| format!("> {line}\n")).collect::<String>();
    for (before, attribution) in [
        ("SHIP 1 TO B2", "On 2026-11-29 11:30, The Referee wrote:"),
        ("HOLD", "On Sun, 29 Nov 2026 at 11:30, Referee <referee@club.example> wrote:"),
        ("SHIP 1 TO B2", "Am 29.11.2026 um 11:30 schrieb Referee:"),
        ("Back in a week.", "Le 29/11/2026 à 11:30, Referee a écrit :"),
        ("Thanks, see you soon", "El 29/11/2026 a las 11:30, Referee escribió:"),
    ] {
        assert_eq!(read(&format!("A\n{before}{attribution}\n\n{quoted}"), true), ["A", before]);
        assert_eq!(read(&format!("A\n{attribution}\n\n{quoted}"), true), ["A"]);
    }
    for name in ["Jim McDonald", "FogClub Referee", "The GMXClub", "eBay", "Dr. MacArthur, FogClub"] {
        let attribution = format!("On 29 Nov 2026 at 11:30, {name} <referee@club.example> wrote:");
        assert_eq!(read(&format!("A\n\n{attribution}\n{quoted}"), true), ["A"]);
        let attribution = format!("{name} <referee@club.example> wrote on 29 Nov 2026 at 11:30:");
        assert_eq!(read(&format!("A\n\n{attribution}\n{quoted}"), true), ["A"]);
    }
}

#[test]
fn words_typed_into_the_first_line_of_a_quote_are_kept() {
    let quoted = LETTER.lines().map(|line| format!("> {line}\n")).collect::<String>();
    for before in ["SHIP 1 TO B2", "HOLD", "See you soon.", "Ja, gerne"] {
        for with_ours in [true, false] {
            assert_eq!(read(&format!("A\n{before}{quoted}"), with_ours), ["A", before]);
            assert_eq!(
                read(&format!("A\n{before}> Turn 4: your report\n{quoted}"), with_ours),
                ["A", before]
            );
        }
    }
    for line in ["SHIP 1 A1-> B2", "SHIP 1 A1 => B2", "A1 > B2"] {
        assert_eq!(read(&format!("{line}\n{quoted}"), true), [line]);
    }
    let only_line = "Back on Sunday> Turn 4 was adjudicated. You saw nothing.";
    assert_eq!(read(only_line, true), ["Back on Sunday"]);
    assert_eq!(read("SHIP 1 TO B2> C3\n\nThanks", true), ["SHIP 1 TO B2> C3", "", "Thanks"]);
}

#[test]
fn a_list_of_the_links_of_a_quote_is_no_text_of_a_person() {
    let ours = format!("{LETTER}\nThe site: https://club.example/matches/QZ-7K3M\n");
    let quoted = ours.lines().map(|line| format!("> {line}\n")).collect::<String>();
    let read = |below: &str| read_with(&format!("A\n\nReferee wrote:\n{quoted}\nB\n\n{below}"), Some(&ours));
    for list in [
        "Links:\n------\n[1] \nhttps://club.example/matches/QZ-7K3M",
        "Links:\n------\n[1] https://club.example/matches/QZ-7K3M\n[2] mailto:referee@club.example",
        "References\n----------\n1. https://club.example/site/other",
        "Verweise:\n\n  [1]: https://club.example/\n  [2]: https://club.example/matches/QZ-7K3M",
    ] {
        assert_eq!(read(list), ["A", "", "B"], "{list}");
    }
    for (list, kept) in [
        ("Links:\n------\n[1] \nhttps://elsewhere.example/", "https://elsewhere.example/"),
        ("Friends:\n1. mailto:bo@players.example", "1. mailto:bo@players.example"),
        ("SHIP 1 TO B2\n[1] https://club.example/", "SHIP 1 TO B2"),
        ("I saw you there\n[1] https://club.example/", "I saw you there"),
        ("Links:\n2 3", "2 3"),
    ] {
        assert!(read(list).iter().any(|line| line == kept), "{list}");
    }
}

#[test]
fn an_address_on_three_lines_and_a_rule_in_an_unknown_language_belong_to_the_quote() {
    let dressed =
        "A\n\nOn Fri, 20 Nov 2026 at 11:00 Referee <\nmailto:referee@club.example\n> wrote:\n> Turn 4\nB";
    assert_eq!(read(dressed, false), ["A", "", "B"]);
    for with_ours in [true, false] {
        let ruled = format!("A\n\n---- Mesaĝo originala ----\n\n{LETTER}");
        assert_eq!(read(&ruled, with_ours), ["A"]);
    }
    assert_eq!(read("--- my orders ---\nA", false), ["--- my orders ---", "A"]);
}

#[test]
fn signatures_and_footers_are_dropped() {
    assert_eq!(read("A\n-- \nAnn\nHOLD the line\n> q\nB", false), ["A", "", "B"]);
    assert_eq!(read("A\n\nSent from my iPhone\n\nB", false), ["A", "", "B"]);
    assert_eq!(read("A\nVon meinem iPhone gesendet", false), ["A"]);
    assert_eq!(
        read("A\n_______________________________________________\nGames mailing list\nhttp://x", false),
        ["A"]
    );
    assert_eq!(read("von meiner Seite ist alles gut", false), ["von meiner Seite ist alles gut"]);
}

/// Claws and Sylpheed write such attributions. Their second line has most words of our footer.
#[test]
fn an_attribution_that_names_us_is_no_line_of_our_letter() {
    let ours = format!("{LETTER}The Club of Games, the referee: referee@club.example\n");
    let quoted = ours.lines().map(|line| format!("> {line}\n")).collect::<String>();
    for attribution in [
        "On Fri, 20 Nov 2026 11:00:00 +0000\n\"The Club of Games\" <referee@club.example> wrote:",
        "On Fri, 20 Nov 2026 11:00:00 +0000 (UTC)\n\"The Club of Games\" <referee+0123@club.example>\nwrote:",
        "On Fri, 20 Nov 2026\n11:00:00 +0100 The Club of Games, the referee\n<referee@club.example> wrote:",
        "Am Fri, 20 Nov 2026 11:00:00 +0100\nschrieb The Club of Games <referee@club.example>:",
        "Le Fri, 20 Nov 2026 11:00:00 +0100,\nThe Club of Games <referee@club.example> a écrit :",
    ] {
        let text = format!("A\nThanks!\n\n{attribution}\n\n{quoted}");
        assert_eq!(read_with(&text, Some(&ours)), ["A", "Thanks!"], "{attribution}");
        assert_eq!(read_with(&text, None), ["A", "Thanks!"], "{attribution}");
    }
}

#[test]
fn notes_about_the_parts_of_a_letter_are_no_words() {
    for note in [
        "Non-text part: image/png",
        "[1:text/plain Hide]",
        "[2:text/html Show Save:noname (4kB)]",
        "[2. image/png; board.png]...",
        "[-- Attachment #1 --]",
        "[-- Type: text/plain, Encoding: 7bit, Size: 1K --]",
        "   [ Part 2, Text/HTML (charset: UTF-8)  45 lines. ]\n   [ Unable to print this part. ]",
        "<#part type=\"image/png\" filename=\"board.png\">\n<#/part>",
    ] {
        assert_eq!(read(&format!("A\n\nReferee wrote:\n\n{note}\n> q\n"), false), ["A"], "{note}");
        assert_eq!(read(&format!("A\n> q\n\n{note}\n"), false), ["A"], "{note}");
    }
    for words in [
        "[I hope so]",
        "[ and hope ]",
        "Did you get my image/png: it is large",
        "Note: text/plain is what I send",
        "his/her: text/",
    ] {
        assert_eq!(read(&format!("A\n{words}"), false), ["A", words]);
    }
}

#[test]
fn data_of_a_quoted_part_are_no_words() {
    let data = "iVBORw0KGgoAAAANSUhEUgAAAyAAAAMgCAMAAADsrvZaAAAAmVBMVEX19/j///9mdIDP1t3c4ufp\np0+F87A6KRwl5h5uvT7e\n";
    assert_eq!(read(&format!("A\n{data}HOLD"), false), ["A", "", "HOLD"]);
}

#[test]
fn a_raw_letter_below_new_text_is_a_quote() {
    let fields = "Return-Path: <referee@club.example>\nReceived: from x\n by y\nFrom: Referee <referee@club.example>\nTo: Ann\nSubject: Turn 4\nContent-Type: multipart/alternative;\n boundary=b\n\n";
    let part = "--b\nContent-Type: text/plain\n\n";
    let mailbox = "From referee@club.example Fri Nov 20 11:00:00 2026\n";
    let html = "--b\nContent-Type: text/html\n\n<p>Turn 4 was=\n adjudicated.</p>\n--b--\n";
    for with_ours in [true, false] {
        for raw in [
            format!("{mailbox}{LETTER}"),
            format!("{mailbox}From: Referee <referee@club.example>\n\n{LETTER}"),
            format!("From: Referee <referee@club.example>\n\n{LETTER}"),
            format!("{fields}{LETTER}"),
            format!("{mailbox}{fields}{part}{LETTER}"),
        ] {
            assert_eq!(read(&format!("A\n\n{raw}"), with_ours), ["A"], "{raw}");
            let behind_tabs: String = raw.lines().map(|line| format!("\t{line}\n")).collect();
            assert_eq!(read(&format!("A\n\n{behind_tabs}"), with_ours), ["A"], "{raw}");
        }
    }
    assert_eq!(read(&format!("A\n\n{mailbox}{fields}{part}{LETTER}{html}"), false), ["A"]);
    let one_field = format!("A\n\n\tContent-Type: text/plain;\n\t charset=utf-8\n\t{LETTER}");
    for with_ours in [true, false] {
        assert_eq!(read(&one_field, with_ours)[..1], ["A"]);
        assert_eq!(read(&one_field, with_ours).iter().find(|line| line.contains("Content")), None);
    }
    assert_eq!(read("A\nContent-Type: is that of use?\n> q", true), ["A", "Content-Type: is that of use?"]);
}

/// A mail server's banner stands where a person may write as well, so only one that was answered before is dropped.
#[test]
fn a_line_between_the_header_and_our_letter_is_dropped_only_if_an_answer_listed_it() {
    for banner in [
        "Caution: external sender. Do not click links.",
        "Sie erhalten nicht oft E-Mails von dieser Adresse.",
        "External email\nThink before you click.",
        "Yes",
        "We are away until Monday.",
    ] {
        let text = format!("A\n\n{HEADER}{banner}\n\n{LETTER}");
        let words: Vec<&str> = banner.lines().collect();
        assert_eq!(read(&text, true), [&["A", ""], &words[..]].concat(), "{banner}");
        let listed: String = words.iter().map(|line| format!("    > {line}\n")).collect();
        let answered = format!("{LETTER}\nNot read as orders:\n\n{listed}");
        assert_eq!(read_with(&text, Some(&answered)), ["A"], "{banner}");
    }
    assert_eq!(read(&format!("{HEADER}SHIP 1 TO B2\n\n{LETTER}"), true), ["SHIP 1 TO B2"]);
}

#[test]
fn an_order_that_is_indented_like_the_attribution_below_it_is_read() {
    let attribution = "On Fri, 20 Nov 2026 at 11:00 Referee <referee@club.example> wrote:";
    let two_lines = "On Fri, 20 Nov 2026 11:00:00 +0000\n    Referee <referee@club.example> wrote:";
    for with_ours in [true, false] {
        for attribution in [attribution, two_lines, "Referee wrote:"] {
            for prefix in ["", "> "] {
                let quoted: String = LETTER.lines().map(|line| format!("    {prefix}{line}\n")).collect();
                for ending in ["", "\nThanks, Ann\n"] {
                    let text = format!("    SHIP 1 TO B2\n    HOLD\n\n    {attribution}\n\n{quoted}{ending}");
                    let read = read(&text, with_ours);
                    assert_eq!(&read[..2], ["    SHIP 1 TO B2", "    HOLD"], "{text}");
                    assert!(!read.join("\n").contains("B2\nIt is"), "{text}");
                }
            }
        }
    }
}

#[test]
fn an_earlier_letter_that_is_indented_without_a_frame_stays_a_quote() {
    let quoted: String = LETTER.lines().map(|line| format!("    {line}\n")).collect();
    let earlier = format!(
        "    SHIP 9 TO C1\n\n    On Fri, 20 Nov 2026 at 11:00 Referee <referee@club.example> wrote:\n\n{quoted}"
    );
    for with_ours in [true, false] {
        assert_eq!(read(&format!("A\n\n{earlier}"), with_ours), ["A"]);
        assert_eq!(read(&format!("{earlier}\nA\n"), with_ours), ["A"]);
    }
}

#[test]
fn labels_that_a_person_types_before_squares_are_new_text() {
    for text in ["From: C3\nTo: C4", "From: A1\nTo: B2\nSubject: none", "From C3\nTo C4"] {
        let quoted = "> Turn 4 was adjudicated. You saw nothing.\n";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(read(&format!("{text}\n\nReferee wrote:\n{quoted}"), true)[..2], lines[..2]);
    }
}
