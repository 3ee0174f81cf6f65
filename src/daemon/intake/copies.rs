//! Letters that look like copies of earlier ones: the same Message-ID and sender. A copy that took another
//! route has other bytes but the same text, and is not ruled on again. Some mail programs keep the Message-ID
//! when a letter is changed and sent again. Such a letter is not a copy, and is answered.
//!
//! Makes the row of a letter from its bytes.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mail_parser::{Message, MessageParser};

use crate::config::Config;
use crate::desk::door::sender::ReadResult;
use crate::desk::frame::club::own_identity;
use crate::ledger::truncate_to_millis;
use crate::letter::printable::is_printable;
use crate::letter::{Address, Digest, Letter, Limits, OwnIdentity, Token, bounded_head, tokens_in_text};
use crate::post::FetchedLetter;
use crate::store::{Database, FROM_SPAM, NewLetter};

/// Maximum characters of a header field to store.
const MAX_FIELD: usize = 200;

/// Maximum bytes of a letter to search for reply tokens before it is stored, and the maximum number of
/// tokens.
const MAX_SCANNED_BYTES: usize = 20_000;
const MAX_TOKENS: usize = 16;

/// Returns the row of a letter. Reads only the fields that identify a duplicate or that lists show.
pub fn new_letter(fetched: FetchedLetter) -> NewLetter {
    let row = row_of(&fetched);
    NewLetter { raw: fetched.raw, ..row }
}

/// Returns the row of a letter without its bytes, so that rows made in parallel do not copy them.
pub fn row_of(fetched: &FetchedLetter) -> NewLetter {
    let head = bounded_head(&fetched.raw, &Limits::default());
    let parsed = MessageParser::default().parse_headers(&head);
    let message_id = parsed.as_ref().and_then(|mail| mail.message_id()).unwrap_or_default();
    let (sender, subject) = parsed.as_ref().map(sender_and_subject).unwrap_or_default();
    let place = if fetched.is_spam { FROM_SPAM } else { "" };
    NewLetter {
        digest: Digest::of(&fetched.raw),
        raw: Vec::new(),
        message_id: one_line(message_id),
        new_text: None,
        sender,
        subject,
        received_at: truncate_to_millis(fetched.received_at),
        origin: format!("{place}{}", fetched.origin),
        tokens: Vec::new(),
        is_from_gm: false,
    }
}

/// Returns the sender and the subject of a letter, as lists show them.
pub fn listed_fields(raw: &[u8]) -> (String, String) {
    let head = bounded_head(raw, &Limits::default());
    MessageParser::default().parse_headers(&head).as_ref().map(sender_and_subject).unwrap_or_default()
}

/// Returns the reply tokens that are visible without decoding the letter: those `in_header`, or else in the
/// beginning of an unencoded text. They only decide the order of work, so finding them must be cheap.
pub fn visible_tokens(raw: &[u8], in_header: &[Token], own: &OwnIdentity) -> Vec<String> {
    let mut tokens = in_header.to_vec();
    if tokens.is_empty() {
        let beginning = &raw[..raw.len().min(MAX_SCANNED_BYTES)];
        tokens.extend(
            tokens_in_text(&String::from_utf8_lossy(beginning), own.dialect).into_iter().take(MAX_TOKENS),
        );
    }
    tokens.iter().map(ToString::to_string).collect()
}

/// Returns a header field as lists show it.
pub fn one_line(field: &str) -> String {
    field.chars().filter(|c| is_printable(*c)).take(MAX_FIELD).collect()
}

fn sender_and_subject(mail: &Message<'_>) -> (String, String) {
    let sender = mail.from().and_then(|from| from.first()?.address()).unwrap_or_default();
    // The sender is looked up among the players' addresses, which are stored in this form.
    let sender = match Address::parse(sender) {
        Ok(address) => one_line(address.as_str()),
        Err(_) => one_line(sender).to_ascii_lowercase(),
    };
    (sender, one_line(mail.subject().unwrap_or_default()))
}

/// Maximum bytes of an earlier letter with which any letter is compared. A larger one is compared only with a
/// letter of at least half its size: a few bytes from a stranger must not make us read megabytes again, and
/// no copy shrinks that much.
const ALWAYS_COMPARED: usize = 100_000;

/// A letter of a list that has the Message-ID and sender of an earlier one.
#[derive(Clone, Copy, Debug)]
pub struct LookAlike {
    /// Its place in the list.
    pub place: usize,
    earlier: EarlierLetter,
}

#[derive(Clone, Copy, Debug)]
enum EarlierLetter {
    Stored(Digest),
    /// The letter at this place in the list.
    InList(usize),
    /// A letter so much larger that this one cannot be a copy of it.
    MuchLarger,
}

/// The letter of which another one looks like a copy.
pub enum Original {
    Bytes(Vec<u8>),
    /// See [`EarlierLetter::MuchLarger`].
    MuchLarger,
}

/// Finds the letters that look like copies of stored ones, or of earlier ones in the list.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn look_alikes(store: &Database, letters: &[NewLetter]) -> anyhow::Result<Vec<LookAlike>> {
    let stored = store.first_sent_as(letters).await?;
    let mut first_in_list: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (place, (letter, stored)) in letters.iter().zip(stored).enumerate() {
        if letter.message_id.is_empty() {
            continue;
        }
        let (earlier, digest, bytes) = match stored {
            Some((digest, bytes)) => (EarlierLetter::Stored(digest), digest, bytes),
            None => {
                let sent_as = (letter.sender.as_str(), letter.message_id.as_str());
                let first = *first_in_list.entry(sent_as).or_insert(place);
                (EarlierLetter::InList(first), letters[first].digest, letters[first].raw.len() as u64)
            }
        };
        if digest == letter.digest {
            continue;
        }
        let most = ALWAYS_COMPARED.max(letter.raw.len() * 2) as u64;
        let earlier = if bytes > most { EarlierLetter::MuchLarger } else { earlier };
        found.push(LookAlike { place, earlier });
    }
    Ok(found)
}

/// Returns the earlier letter, or `None` if its bytes are deleted. The later one then counts as a copy.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn original(
    store: &Database,
    letters: &[NewLetter],
    look_alike: LookAlike,
) -> anyhow::Result<Option<Original>> {
    Ok(match look_alike.earlier {
        EarlierLetter::Stored(digest) => store.letter(digest).await?.map(Original::Bytes),
        EarlierLetter::InList(place) => Some(Original::Bytes(letters[place].raw.clone())),
        EarlierLetter::MuchLarger => Some(Original::MuchLarger),
    })
}

/// Returns the digest of a letter's text, unless the earlier letter has the same text. `read` parses a
/// letter, or returns `None` if that fails.
pub fn new_text(
    raw: &[u8],
    original: &Original,
    read: impl Fn(&[u8]) -> Option<ReadResult>,
) -> Option<Digest> {
    let text = text_of(read(raw));
    let is_copy = match original {
        Original::Bytes(earlier) => text == text_of(read(earlier)),
        Original::MuchLarger => false,
    };
    (!is_copy).then(|| Digest::of(text.as_bytes()))
}

/// For use outside the daemon: notes the text of a letter that only looks like a copy of an earlier one.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn with_new_text(
    store: &Database,
    config: &Config,
    letter: NewLetter,
) -> anyhow::Result<NewLetter> {
    let letters = [letter];
    let mut text = None;
    for look_alike in look_alikes(store, &letters).await? {
        if let Some(original) = original(store, &letters, look_alike).await? {
            let own = own_identity(config);
            let limits = config.letters.limits();
            // A letter on which the parser panics is stored all the same, and set aside later.
            let read = |raw: &[u8]| catch_unwind(AssertUnwindSafe(|| Letter::read(raw, &own, &limits))).ok();
            text = new_text(&letters[0].raw, &original, read);
        }
    }
    let [letter] = letters;
    Ok(NewLetter { new_text: text, ..letter })
}

/// Returns the words that a person wrote in a letter, ignoring white space: servers rewrap lines and strip
/// trailing blanks. All unreadable letters count as equal.
fn text_of(letter: Option<ReadResult>) -> String {
    let Some(Ok(letter)) = letter else { return String::new() };
    let lines = letter.new_text(None).lines;
    lines.iter().flat_map(|line| line.text.split_whitespace()).collect::<Vec<_>>().join(" ")
}
