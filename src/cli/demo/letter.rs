//! What a correspondent reads in a letter from the referee.

use mail_parser::MessageParser;

/// A letter from the referee, as a mail program shows it.
pub struct RefereeLetter {
    pub subject: String,
    pub text: String,
    pub reply_to: String,
    pub message_id: String,
}

impl RefereeLetter {
    pub fn parse(raw: &[u8]) -> Option<RefereeLetter> {
        let mail = MessageParser::default().parse(raw)?;
        Some(RefereeLetter {
            subject: mail.subject()?.to_owned(),
            text: mail.body_text(0)?.into_owned(),
            reply_to: mail.reply_to()?.first()?.address()?.to_owned(),
            message_id: mail.message_id()?.to_owned(),
        })
    }
}

/// Returns the first run of example orders in a letter: lines that begin with `| `.
pub fn examples(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.trim().strip_prefix("| "))
        .skip_while(Option::is_none)
        .map_while(|order| order.map(str::to_owned))
        .collect()
}
