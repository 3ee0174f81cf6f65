//! The person's own lines in the HTML elements that mail programs put around the introduction of a quote.
//!
//! Thunderbird, as installed, puts text that is typed above the attribution into the attribution's element, and other
//! programs have one element for the attribution and the quote below it. What stands before the attribution in such an
//! element is the person's, and so is what stands below the quote that the attribution introduces.

use std::ops::Range;

use super::frame::{Correspondents, Frame, FrameFinder};
use super::frame_line::{COLONS, FrameKind};
use crate::text::lines::{Layer, TextLine};

/// Maximum lines above an attribution in the element of the whole quote. If there are more, a quote whose attribution
/// is in an unknown language may begin with them.
const MAX_ABOVE: usize = 20;

/// Replaces the layers of introductions and of containers: by that of quotes, or by none for the person's lines.
pub fn settle(lines: &mut [TextLine], correspondents: Correspondents<'_>) {
    if !lines.iter().any(|line| is_unsettled(line.layer)) {
        return;
    }
    let text: Vec<Option<String>> = lines
        .iter()
        .map(|line| (is_unsettled(line.layer) || line.is_blank()).then(|| line.text.clone()))
        .collect();
    let finder = FrameFinder::new(text.iter().map(Option::as_deref).collect(), correspondents);
    let mut at = 0;
    // Whether an attribution in a container has introduced the quote above, which has an element of its own.
    let mut is_below_quote = false;
    while at < lines.len() {
        if !is_unsettled(lines[at].layer) {
            is_below_quote &= lines[at].layer == Layer::Quoted || lines[at].is_blank();
            at += 1;
            continue;
        }
        let run = run_from(lines, at);
        let frame = run.clone().find_map(|at| Some((at, finder.frame(at)?)));
        let is_quote_below = lines[run.end..]
            .iter()
            .find(|line| !line.is_blank())
            .is_some_and(|line| line.layer == Layer::Quoted);
        let is_introduction = lines[run.clone()].iter().any(|line| line.layer == Layer::Introduction);
        let quoted = if is_introduction {
            quoted_in_introduction(lines, &run, frame, is_quote_below)
        } else if is_below_quote && frame.is_none() {
            run.end..run.end
        } else {
            quoted_in_container(lines, &run, frame, is_quote_below)
        };
        for at in run.clone() {
            lines[at].layer = if quoted.contains(&at) { Layer::Quoted } else { Layer::Unmarked };
        }
        is_below_quote = is_quote_below && frame.is_some_and(|(_, frame)| ends_at(lines, frame.end, run.end));
        at = run.end;
    }
}

fn is_unsettled(layer: Layer) -> bool {
    matches!(layer, Layer::Introduction | Layer::Container)
}

/// Returns the lines from `at` that are in such elements, and the blank ones between them.
fn run_from(lines: &[TextLine], at: usize) -> Range<usize> {
    let belongs = |line: &&TextLine| is_unsettled(line.layer) || line.is_blank();
    let reach = lines[at..].iter().take_while(belongs).count();
    let last = lines[at..at + reach].iter().rposition(|line| !line.is_blank()).unwrap_or(0);
    at..at + last + 1
}

/// Whether nothing but blank lines stands from `from` to `end`.
fn ends_at(lines: &[TextLine], from: usize, end: usize) -> bool {
    from >= end || lines[from..end].iter().all(TextLine::is_blank)
}

/// Returns the lines of an introduction that are not the person's: those from the attribution on or, if it is in an
/// unknown language, the last one above the quote.
fn quoted_in_introduction(
    lines: &[TextLine],
    run: &Range<usize>,
    frame: Option<(usize, Frame)>,
    is_quote_below: bool,
) -> Range<usize> {
    match frame {
        Some((at, _)) => at..run.end,
        None if is_quote_below => run.end - 1..run.end,
        None if lines[run.end - 1].text.trim_end().ends_with(COLONS) => run.end - 1..run.end,
        None => run.end..run.end,
    }
}

/// Returns the lines of a container that are not the person's. Below an attribution they are, unless the quote has an
/// element of its own.
fn quoted_in_container(
    lines: &[TextLine],
    run: &Range<usize>,
    frame: Option<(usize, Frame)>,
    is_quote_below: bool,
) -> Range<usize> {
    let Some((at, frame)) = frame else { return run.clone() };
    let introduces_element = is_quote_below && ends_at(lines, frame.end, run.end);
    let above = &lines[run.start..at];
    let may_be_quote =
        above.len() > MAX_ABOVE || above.iter().any(|line| line.text.trim_end().ends_with(COLONS));
    let is_certain = frame.kind != FrameKind::LikelyAttribution && !may_be_quote;
    if introduces_element || is_certain { at..run.end } else { run.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;
    use crate::mail::dialect::example::DIALECT;
    use crate::mail::limits::{Limits, LineBudget};
    use crate::text::html;

    fn new_lines(html: &str) -> Vec<String> {
        let own = Address::parse("referee@club.example").unwrap();
        let correspondents = Correspondents { own: &own, dialect: &DIALECT, sender: "" };
        let mut budget = LineBudget::new(&Limits::default());
        let mut lines = html::read(html, &mut budget).expect("few lines").lines;
        settle(&mut lines, correspondents);
        assert!(!lines.iter().any(|line| is_unsettled(line.layer)), "{html}");
        let new = lines.into_iter().filter(|line| line.layer == Layer::Unmarked && !line.is_blank());
        new.map(|line| line.text).collect()
    }

    const WROTE: &str = "On 11/28/26 15:44, The Club wrote:";
    const QUOTE: &str = "<blockquote type=cite><p>Turn 4</p><blockquote>C4</blockquote></blockquote>";

    #[test]
    fn text_above_an_attribution_in_its_element_is_the_persons() {
        for (element, end) in [
            ("<div class=moz-cite-prefix>", "</div>"),
            ("<p id=reply-intro>", "</p>"),
            ("<div class=gmail_quote><div class=gmail_attr>", "</div>"),
            ("<div class=protonmail_quote>", ""),
        ] {
            for (typed, found) in [
                ("", &[][..]),
                ("A1<br>", &["A1"]),
                ("A1<br><br>B2<br>", &["A1", "B2"]),
                ("Thanks!<br>", &["Thanks!"]),
            ] {
                let html = format!("{element}{typed}{WROTE}<br>{end}{QUOTE}<p>below</p>");
                assert_eq!(new_lines(&html), [found, &["below"]].concat(), "{html}");
            }
            let two = format!("{element}A1{end}<p></p>{element}{WROTE}{end}{QUOTE}");
            assert_eq!(new_lines(&two)[0], "A1", "{two}");
        }
        assert_eq!(new_lines("<div class=moz-cite-prefix>A1</div><p>B2</p>"), ["A1", "B2"]);
    }

    #[test]
    fn an_attribution_in_an_unknown_language_is_the_last_line_above_the_quote() {
        for attribution in ["La 28a de novembro, The Club skribis:", "The Club, 28/11"] {
            let html = format!("<div class=moz-cite-prefix>A1<br>{attribution}</div>{QUOTE}");
            assert_eq!(new_lines(&html), ["A1"]);
        }
    }

    #[test]
    fn a_quote_without_an_element_of_its_own_ends_with_its_container() {
        let container = |inside: &str| format!("<p>A1</p><div id=yahoo_quoted_1>{inside}</div><p>B2</p>");
        let older = format!("<div>C3</div><div>{WROTE}</div><div>D4</div>");
        for inside in [
            format!("<div>{WROTE}</div><div>C3</div>{QUOTE}<div>D4</div>"),
            format!("<div>{WROTE}</div>{older}"),
            format!("<div>La 28a de novembro, Ann skribis:</div>{older}"),
            "<div>C3</div>".to_owned(),
        ] {
            assert_eq!(new_lines(&container(&inside)), ["A1", "B2"], "{inside}");
        }
        assert_eq!(new_lines(&container(&format!("<div>Z9</div><div>{WROTE}</div>C3"))), ["A1", "Z9", "B2"]);
    }
}
