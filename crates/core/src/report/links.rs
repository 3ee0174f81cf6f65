//! Links that answer a letter (`mailto:`, RFC 6068): they open the reader's mail program with the answer
//! already written. Only the HTML part has them. They are percent-encoded, so a quoted link is not read as
//! orders.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::context::TemplateContext;
use super::shown::brings_form;
use super::{ClubLetter, EventLetter, Letterhead, TemplateError, Templates, WordingInput};
use crate::game::{Line, Seat};
use crate::referee::{Content, EventLine, Match, Reader, Stage, Wishes};

/// A link under a letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerLink {
    label: String,
    href: String,
}

impl AnswerLink {
    /// Returns the link to the board, on which the letter can be composed.
    pub fn to_board(href: String) -> AnswerLink {
        AnswerLink { label: "Move on the board".to_owned(), href }
    }
}

/// Maximum bytes of a link: some mail programs cut links at 2,000.
pub const MAX_LINK: usize = 1900;

/// Percent-encodes all characters except letters, digits and these four.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The letter that opens when a reader follows a link.
pub struct LinkedLetter<'a> {
    pub club: &'a Letterhead<'a>,
    pub subject: &'a str,
    pub token: &'a str,
}

impl LinkedLetter<'_> {
    /// Returns the link that sends a command, for a destination that a template has written: the reader's token,
    /// a colon, and the command with `%20` for its spaces. Nobody else who is quoted in the letter knows the
    /// token, so a link in a quote leads nowhere.
    pub fn of_command(&self, destination: &str) -> Option<String> {
        let command = destination.strip_prefix(self.token)?.strip_prefix(':')?;
        (!self.token.is_empty()).then(|| self.href(&[&command.replace("%20", " ")]))
    }

    /// Returns the link to a letter with these lines, or without them if it would be too long.
    fn link(&self, label: &str, lines: &[&str]) -> AnswerLink {
        let whole = self.href(lines);
        let href = if whole.len() > MAX_LINK { self.href(&[]) } else { whole };
        AnswerLink { label: label.to_owned(), href }
    }

    /// Returns a link for each act that a letter seemed to wish for, labelled with its command.
    fn acts(&self, wishes: &Wishes) -> Vec<AnswerLink> {
        let named = |act: Vec<&str>| {
            let label = act.first().copied().unwrap_or_default().to_owned();
            self.link(&format!("Send {label}"), &act)
        };
        wishes.linked().map(named).collect()
    }

    fn href(&self, lines: &[&str]) -> String {
        let mut body = lines.join("\r\n");
        if !self.token.is_empty() {
            // A line below a signature's delimiter does not count as a remark.
            body.push_str(&format!("\r\n\r\n-- \r\nReply token: {}\r\n", self.token));
        }
        let encode = |text: &str| utf8_percent_encode(text, KEPT).to_string();
        let (local, domain) = self.club.address.rsplit_once('@').unwrap_or((self.club.address, ""));
        let to = format!("{}@{}", encode(local), encode(domain));
        format!("mailto:{to}?subject={}&body={}", encode(self.subject), encode(&body))
    }
}

/// Returns the links under a letter about a match: those that file the reader's orders, if they are due and
/// the letter asks for them; under a result, the link that offers a rematch.
///
/// # Errors
/// [`TemplateError`] if the form cannot be rendered.
pub fn for_match(
    templates: &Templates,
    input: &WordingInput<'_>,
    context: &TemplateContext,
    title: &str,
) -> Result<Vec<AnswerLink>, TemplateError> {
    let game_match = &**input.game_match;
    let Reader::Seat(seat) = input.dispatch.to else { return Ok(Vec::new()) };
    let subject = format!("[{}] {title}", game_match.id);
    let draft = LinkedLetter { club: input.club, subject: &subject, token: input.token };
    if game_match.stage == Stage::Over && matches!(input.dispatch.content, Content::Report { .. }) {
        return Ok(vec![draft.link("Play again", &["REMATCH"])]);
    }
    let wishes = input.dispatch.content.answer().map_or(&[][..], |answer| &answer.wishes);
    let mut links: Vec<AnswerLink> = wishes.iter().flat_map(|wishes| draft.acts(wishes)).collect();
    if !brings_form(game_match, &input.dispatch.content, seat) {
        return Ok(links);
    }
    let form = templates.render(&format!("{}/form.txt", game_match.game.key()), context.clone())?;
    let orders = orders_of_form(&form, game_match, seat);
    let orders: Vec<&str> = orders.iter().map(String::as_str).collect();
    links.push(draft.link("Answer with this form", &orders));
    // The seat may also file nothing, which a side that must move cannot.
    if game_match.state.missed(seat).is_some() {
        links.push(draft.link("Hold all", &["HOLD"]));
    }
    let check: Vec<&str> = std::iter::once("CHECK").chain(orders).collect();
    links.push(draft.link("Check only", &check));
    Ok(links)
}

/// Returns the first examples of a form, without bars. If they are not legal together, they are alternatives,
/// and only the first is taken, if it is legal.
fn orders_of_form(form: &str, game_match: &Match, seat: Seat) -> Vec<String> {
    let lines = form.lines().map(|line| line.trim_start().strip_prefix("| "));
    let block = lines.skip_while(Option::is_none).map_while(|line| line).map(|line| line.trim().to_owned());
    let mut block: Vec<String> = block.collect();
    if block.len() > 1 {
        block.retain(|line| line != "HOLD");
    }
    let stands = |orders: &[String]| {
        let lines: Vec<Line> = (1..).zip(orders).map(|(no, text)| Line { no, text: text.clone() }).collect();
        game_match.seal(seat, &lines).is_ok()
    };
    if !stands(&block) && block.len() > 1 && stands(&block[..1]) {
        block.truncate(1);
    }
    block
}

/// Returns the links under a letter that is not about a match: those that answer a challenge.
pub fn for_club_letter(club: &Letterhead<'_>, letter: &ClubLetter, token: &str) -> Vec<AnswerLink> {
    if let ClubLetter::Event { event, letter } = letter {
        return event_links(club, event, letter, token);
    }
    let ClubLetter::Challenge { code, offer, .. } = letter else { return Vec::new() };
    let subject = format!("A match of {}", offer.game_name);
    let draft = LinkedLetter { club, subject: &subject, token };
    vec![
        draft.link("Accept", &[&format!("ACCEPT {code}")]),
        draft.link("Decline", &[&format!("DECLINE {code}")]),
    ]
}

/// Returns the links under a letter about an event: the next step, as a line of the letter shows it.
fn event_links(
    club: &Letterhead<'_>,
    event: &EventLine,
    letter: &EventLetter,
    token: &str,
) -> Vec<AnswerLink> {
    let draft = LinkedLetter { club, subject: &event.name, token };
    let (label, line) = match letter {
        EventLetter::Cancelled { .. } => ("See other events", "EVENTS".to_owned()),
        EventLetter::Standings { standings, .. } => {
            ("See all standings", format!("STANDINGS {} {}", event.id, standings.season))
        }
        EventLetter::Started { .. }
        | EventLetter::Ending { .. }
        | EventLetter::Unreachable { .. }
        | EventLetter::Report { .. } => ("See the standings", format!("STANDINGS {}", event.id)),
        EventLetter::TooFew { .. } => {
            ("Move the opening", format!("GM EVENT {} EXTEND 7 days too few so far", event.id))
        }
        EventLetter::Unfinished { .. } => {
            ("Give more time", format!("GM EVENT {} EXTEND 14 days matches still run", event.id))
        }
    };
    vec![draft.link(label, &[&line])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::referee::HouseDefaults;

    #[test]
    fn a_link_that_would_be_too_long_comes_without_orders() {
        let house = HouseDefaults::UNSET;
        let address = "referee+x@club.example";
        let club = Letterhead { name: "The Fog Club", address, board_page: None, house };
        let draft = LinkedLetter { club: &club, subject: "[QD-7K3M] Turn 1", token: "0123456789abcdef" };
        let short = draft.link("Answer", &["MARBLE E5"]).href;
        assert_eq!(
            short,
            "mailto:referee%2Bx@club.example?subject=%5BQD-7K3M%5D%20Turn%201&body=MARBLE%20E5%0D%0A%0D%0A--%20\
             %0D%0AReply%20token%3A%200123456789abcdef%0D%0A"
        );
        let long = draft.link("Answer", &["SHIP 1 A1 TO B2"; 200]).href;
        assert!(long.len() <= MAX_LINK && long.contains("Reply%20token") && !long.contains("SHIP"), "{long}");
    }
}
