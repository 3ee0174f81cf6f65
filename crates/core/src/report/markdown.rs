//! Converts the text of a letter, which is Markdown, to HTML.

use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd, html};

use super::links::LinkedLetter;

/// The URL of the picture, a board or a figure, within a letter (RFC 2392).
pub const BOARD: &str = "cid:board";

/// Ends a list. Without it, indented lines below a list would belong to its last item.
const END_OF_LIST: &str = "<!-- -->";

/// Converts a text to HTML. Escapes raw HTML and drops links and images, so that everything that players
/// write stays text. The only image kept is the board, at most `board_width` CSS pixels wide, with its
/// alternative text as a caption; the only links kept are those that send a command in `letter`.
pub fn html(text: &str, board_width: u32, letter: Option<&LinkedLetter<'_>>) -> String {
    let text = with_lists_ended(text);
    let mut depth_of_dropped_image = 0_u32;
    let mut caption: Option<String> = None;
    let mut in_link = false;
    let mut events = Vec::new();
    for event in Parser::new(&text) {
        match event {
            Event::Html(markup) if markup.trim_end() == END_OF_LIST => {}
            Event::Html(markup) | Event::InlineHtml(markup) => events.push(Event::Text(markup)),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let command = letter.and_then(|letter| letter.of_command(&dest_url));
                in_link = command.is_some();
                if let Some(href) = command {
                    events.push(Event::Start(Tag::Link { link_type, dest_url: href.into(), title, id }));
                }
            }
            // Links contain no links.
            Event::End(TagEnd::Link) if in_link => {
                in_link = false;
                events.push(event);
            }
            Event::End(TagEnd::Link) => {}
            Event::Start(Tag::Image { ref dest_url, .. }) if **dest_url == *BOARD => {
                caption = Some(String::new());
                events.push(event);
            }
            Event::Start(Tag::Image { .. }) => depth_of_dropped_image += 1,
            Event::End(TagEnd::Image) if depth_of_dropped_image > 0 => depth_of_dropped_image -= 1,
            Event::End(TagEnd::Image) => {
                events.extend([event, Event::InlineHtml(CAPTION.into())]);
                events.push(Event::Text(caption.take().unwrap_or_default().into()));
                events.push(Event::InlineHtml(CAPTION_END.into()));
            }
            // No `<code>`: Thunderbird writes bars around it in the text of an answer, and joins its lines.
            Event::Start(Tag::CodeBlock(_)) => events.push(Event::Html("<pre>".into())),
            Event::End(TagEnd::CodeBlock) => events.push(Event::Html("</pre>\n".into())),
            Event::Code(words) => events.push(Event::Text(words)),
            Event::SoftBreak if caption.is_some() => {
                caption.get_or_insert_default().push(' ');
                events.push(Event::Text(CowStr::Borrowed(" ")));
            }
            Event::SoftBreak => events.push(Event::Text(CowStr::Borrowed("\n"))),
            Event::Text(ref words) => {
                if let Some(caption) = &mut caption {
                    caption.push_str(words);
                }
                events.push(event);
            }
            other => events.push(other),
        }
    }
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, events.into_iter());
    with_board_styled(&out, board_width)
}

const CAPTION: &str = "<br>\n<small>";
const CAPTION_END: &str = "</small>";

/// Gives the board's picture the size at which it is shown, which is half its width and height in pixels, and the board
/// in characters below it a class of its own. The attribute is for mail programs that ignore styles, and the style for
/// small screens.
fn with_board_styled(html: &str, width: u32) -> String {
    let image = format!(r#"<img src="{BOARD}""#);
    let style = format!(r#"{image} width="{width}" style="width:{width}px;max-width:100%;height:auto""#);
    let below = |class: &str| format!("{CAPTION_END}</p>\n<pre{class}>");
    html.replace(&image, &style).replace(&below(""), &below(" class=\"board\""))
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
        let page = html(
            "Bo <script>alert(1)</script> [here](javascript:x) ![p](http://x/y.png)\n\n<b>x</b>\n",
            700,
            None,
        );
        for bad in ["<script", "<b>", "href", "<img", "javascript"] {
            assert!(!page.contains(bad), "{bad} in {page}");
        }
    }

    #[test]
    fn the_board_is_the_only_image() {
        let page = html("![The board of\nA & B](cid:board)\n\n![other](cid:other)\n", 700, None);
        let shown = r#"<img src="cid:board" width="700" style="width:700px;max-width:100%;height:auto" alt="The board of A &amp; B" />"#;
        assert!(page.contains(shown), "{page}");
        assert!(page.contains("<small>The board of A &amp; B</small>"), "its caption tells the same: {page}");
        assert_eq!(page.matches("<img").count(), 1, "{page}");
        let page = html(
            "![The board](cid:board)\n\n      A B\n    1 . .\n\n    | HOLD\n\nForm:\n\n    | HOLD\n",
            700,
            None,
        );
        assert!(page.contains("<pre class=\"board\">  A B\n1 . .\n\n| HOLD\n</pre>"), "{page}");
        assert!(page.contains("<p>Form:</p>\n<pre>| HOLD"), "{page}");
    }

    #[test]
    fn indented_lines_become_preformatted_text_without_code() {
        for above in ["Form:", "- One,\n  and more.\n- Two."] {
            let page = html(&format!("{above}\n\n    | SHIP 1 TO B2\n    | HOLD\n"), 700, None);
            assert!(page.contains("<pre>| SHIP 1 TO B2\n| HOLD\n</pre>"), "{page}");
            assert!(!page.contains("--"), "{page}");
        }
    }
}
