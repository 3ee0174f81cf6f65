//! The knowledge of the program that reads the letters: the form of requests to it, and the marks of its own letters.

/// The conventions between a program and the people who write to it.
///
/// This package finds out what is new in a letter and whether a person wrote it. Both depend on conventions that it does
/// not have itself: people send requests, machines never do; and a quotation of the program's own letter is recognised by
/// its marks even where the letter is not at hand.
///
/// Examples in the program's letters stand behind `| `, so that they differ from the same line written by a person.
#[derive(Debug)]
pub struct Dialect {
    /// Whether a line has the form of a request, such as an order.
    pub is_request: fn(&str) -> bool,
    /// Whether a line begins like a request, whatever follows it, such as an attribution that a mail program joined to
    /// it.
    pub begins_like_request: fn(&str) -> bool,
    /// Whether a line, in lower case, holds words that people write to this program and machines do not.
    pub is_on_topic: fn(&str) -> bool,
    /// The words of the line at the top of each of the program's letters, in lower case and joined by blanks; empty
    /// if they have none.
    pub marker: &'static str,
    /// The label before the reply token at the end of each of them, in lower case; empty if they have none.
    pub token_label: &'static str,
    /// Whether a line, in lower case, may follow the reply token in them.
    pub is_closing: fn(&str) -> bool,
    /// The header field that each of them has, in lower case; empty if they have none.
    pub loop_field: &'static str,
}

impl Dialect {
    /// The dialect of a program without conventions: nothing is a request, and its letters have no marks.
    pub const NONE: Dialect = Dialect {
        is_request: |_| false,
        begins_like_request: |_| false,
        is_on_topic: |_| false,
        marker: "",
        token_label: "",
        is_closing: |_| false,
        loop_field: "",
    };
}

/// Equal if they are the same one: a program has one.
impl PartialEq for Dialect {
    fn eq(&self, other: &Dialect) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Dialect {}

#[cfg(test)]
pub mod example {
    use super::Dialect;

    /// A dialect for tests: a request is a line in capitals, with digits or not.
    pub static DIALECT: Dialect = Dialect {
        is_request,
        begins_like_request: |line| line.split(' ').next().is_some_and(is_request),
        is_on_topic: |line| line.contains("my turn") || line.contains("my orders"),
        marker: "write your orders above this line",
        token_label: "reply token:",
        is_closing: |line| line.ends_with("the referee:"),
        loop_field: "x-fogpost-loop",
    };

    fn is_request(line: &str) -> bool {
        line.bytes().any(|b| b.is_ascii_uppercase()) && !line.bytes().any(|b| b.is_ascii_lowercase())
    }
}
