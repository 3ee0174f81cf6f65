//! The largest letters that a stranger can write, in the shapes that take the most memory or time to read.

/// Bytes of each body: just below `letters.max_bytes`.
const BYTES: usize = 9_900_000;

/// A name, and the letter's bytes.
pub type Shape = (&'static str, fn() -> Vec<u8>);

/// All shapes, the ten most demanding ones first.
pub const SHAPES: &[Shape] = &[
    ("HTML: line feeds in <pre>", || html("<pre>", "\n")),
    ("HTML: line feeds in a quoted <pre>", || html("<blockquote type=cite><pre>", "\n")),
    ("HTML: line feeds in 99 parts", || parts("text/html", "\n")),
    ("HTML: vertical tabs", || html("<pre>", "\u{b}")),
    ("HTML: next lines (U+0085)", || html("<p>", "\u{85}")),
    ("HTML: line separators (U+2028)", || html("<p>", "\u{2028}")),
    ("HTML: encoded line feeds", || html("<pre>", "&#10;")),
    ("HTML: a charset that triples its size", || {
        let mut euros = letter("text/html; charset=windows-1252", "8bit", "");
        euros.resize(BYTES, 0x80);
        euros
    }),
    ("text: form feeds", || plain("\u{c}")),
    ("text: short words", || plain("a ")),
    ("HTML: line breaks", || html("", "<br>")),
    ("HTML: paragraphs of a letter", || html("", "<p>a")),
    ("HTML: short words", || html("", "a ")),
    ("HTML: line feeds in base64", || letter("text/html", "base64", &filled("", "CgoKCgoKCgoK"))),
    ("HTML: short words in 99 parts", || parts("text/html", "a ")),
    ("text: line feeds", || plain("\n")),
    ("text: line separators (U+2028)", || plain("\u{2028}")),
    ("text: tabs", || plain("\t\n")),
    ("text: lines of a letter", || plain("a\n")),
    ("text: quotes", || plain("> a\n")),
    ("text: flowed lines", || letter("text/plain; format=flowed", "8bit", &filled("", "a \n"))),
    ("text: short words in 99 parts", || parts("text/plain", "a ")),
    ("text: line feeds in quoted-printable", || letter("text/plain", "quoted-printable", &filled("", "=0A"))),
    ("text: short words, as many as allowed", || {
        letter("text/plain", "8bit", &format!("{}\n", "a ".repeat(50)).repeat(9_500))
    }),
    ("text: short words, and the same in HTML", || {
        let part = |kind: &str| format!("--b\nContent-Type: text/{kind}\n\n{}\n", "a ".repeat(240_000));
        let both = format!("{}{}--b--\n", part("plain"), part("html"));
        letter("multipart/alternative; boundary=b", "8bit", &both)
    }),
    ("text: types of letters in an endless block", || block("message/rfc822", "a\n")),
    ("text: types of files in an endless block", || block("image/png", ":\n")),
    ("lines of an old Macintosh", || {
        letter("text/plain", "8bit", &filled("", "a\r")).into_iter().filter(|byte| *byte != b'\n').collect()
    }),
];

fn html(start: &str, piece: &str) -> Vec<u8> {
    letter("text/html; charset=utf-8", "8bit", &filled(start, piece))
}

fn plain(piece: &str) -> Vec<u8> {
    letter("text/plain; charset=utf-8", "8bit", &filled("", piece))
}

/// A text that looks like a header with many types and without an end.
fn block(kind: &str, piece: &str) -> Vec<u8> {
    let types = format!("Content-Type: {kind}\n").repeat(390);
    letter("text/plain; charset=utf-8", "8bit", &filled(&types, piece))
}

fn filled(start: &str, piece: &str) -> String {
    format!("{start}{}", piece.repeat((BYTES - start.len()) / piece.len()))
}

fn parts(kind: &str, piece: &str) -> Vec<u8> {
    let start = if kind == "text/html" { "<pre>" } else { "" };
    let part = format!("--b\nContent-Type: {kind}\n\n{start}{}\n", piece.repeat(BYTES / 100 / piece.len()));
    letter("multipart/mixed; boundary=b", "8bit", &format!("{}--b--\n", part.repeat(99)))
}

fn letter(content_type: &str, encoding: &str, body: &str) -> Vec<u8> {
    format!(
        "From: Eve <eve@stranger.example>\r\nTo: referee@club.example\r\nSubject: Hello\r\n\
         Content-Type: {content_type}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n{body}"
    )
    .into_bytes()
}
