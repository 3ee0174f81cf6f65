//! From the text of a letter to its HTML: our texts are Markdown that reads well as it is.

use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd, html};

/// The address of the board's picture within a letter.
pub const BOARD: &str = "cid:board";

/// Ends a list where indented lines that follow would else belong to its last item.
const END_OF_LIST: &str = "<!-- -->";

/// The HTML of a text. Nothing in it can bring in markup, a link or an outside resource: what players wrote stays
/// text.
pub fn html(text: &str) -> String {
    let text = with_lists_ended(text);
    let mut depth_of_dropped_image = 0_u32;
    let events = Parser::new(&text).filter_map(|event| match event {
        Event::Html(markup) if markup.trim_end() == END_OF_LIST => None,
        Event::Html(markup) | Event::InlineHtml(markup) => Some(Event::Text(markup)),
        Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link) => None,
        Event::Start(Tag::Image { ref dest_url, .. }) if **dest_url != *BOARD => {
            depth_of_dropped_image += 1;
            None
        }
        Event::End(TagEnd::Image) if depth_of_dropped_image > 0 => {
            depth_of_dropped_image -= 1;
            None
        }
        Event::SoftBreak => Some(Event::Text(CowStr::Borrowed("\n"))),
        other => Some(other),
    });
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, events);
    out
}

/// The text with each list ended before the indented lines below it.
fn with_lists_ended(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut in_list, mut blank) = (false, false);
    for line in text.split_inclusive('\n') {
        if in_list && blank && line.starts_with("    ") {
            out.push_str(END_OF_LIST);
            out.push_str("\n\n");
            in_list = false;
        } else if !line.starts_with(char::is_whitespace) {
            in_list = line.starts_with("- ");
        }
        blank = line.trim().is_empty();
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_players_write_stays_text() {
        let page =
            html("Bo <script>alert(1)</script> [here](javascript:x) ![p](http://x/y.png)\n\n<b>x</b>\n");
        for bad in ["<script", "<b>", "href", "<img", "javascript"] {
            assert!(!page.contains(bad), "{bad} in {page}");
        }
    }

    #[test]
    fn the_board_is_the_only_picture() {
        assert!(html("![The board](cid:board)\n").contains(r#"<img src="cid:board" alt="The board""#));
    }

    #[test]
    fn indented_lines_are_kept_as_they_are() {
        for above in ["Form:", "- One,\n  and more.\n- Two."] {
            let page = html(&format!("{above}\n\n    | SHIP 1 TO B2\n    | HOLD\n"));
            assert!(page.contains("<pre><code>| SHIP 1 TO B2\n| HOLD\n</code></pre>"), "{page}");
            assert!(!page.contains("--"), "{page}");
        }
    }
}
