//! Converts the text of a letter, which is Markdown, to HTML.

use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd, html};

/// The URL of the board's picture within a letter (RFC 2392).
pub const BOARD: &str = "cid:board";

/// Ends a list. Without it, indented lines below a list would belong to its last item.
const END_OF_LIST: &str = "<!-- -->";

/// Converts a text to HTML. Escapes raw HTML and drops links and images, so that whatever players write stays text.
/// The one image that is kept is the board.
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

/// Inserts [`END_OF_LIST`] between each list and the indented lines below it.
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
    fn text_by_players_stays_text() {
        let page =
            html("Bo <script>alert(1)</script> [here](javascript:x) ![p](http://x/y.png)\n\n<b>x</b>\n");
        for bad in ["<script", "<b>", "href", "<img", "javascript"] {
            assert!(!page.contains(bad), "{bad} in {page}");
        }
    }

    #[test]
    fn the_board_is_the_only_image() {
        assert!(html("![The board](cid:board)\n").contains(r#"<img src="cid:board" alt="The board""#));
    }

    #[test]
    fn indented_lines_become_a_code_block() {
        for above in ["Form:", "- One,\n  and more.\n- Two."] {
            let page = html(&format!("{above}\n\n    | SHIP 1 TO B2\n    | HOLD\n"));
            assert!(page.contains("<pre><code>| SHIP 1 TO B2\n| HOLD\n</code></pre>"), "{page}");
            assert!(!page.contains("--"), "{page}");
        }
    }
}
