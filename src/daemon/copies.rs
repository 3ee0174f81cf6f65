//! Letters that look like copies of earlier ones: the same Message-ID and sender. A copy that took another way has other
//! bytes but the same text, and is not ruled on again. Some mail programs keep the Message-ID of a letter that is changed
//! and sent again; such a letter is no copy, and is answered.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::daemon::decide::one_letter::ReadResult;
use crate::daemon::decide::settings::own_identity;
use crate::letter::{Digest, Letter};
use crate::store::{NewLetter, Store};

/// Maximum bytes of letters whose texts are compared. A few bytes of a stranger must not make us read megabytes again.
const MAX_COMPARED: usize = 100_000;

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
    /// At this place in the list.
    InList(usize),
}

/// Finds the letters that look like copies of stored ones, or of earlier ones in the list.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn look_alikes(store: &dyn Store, letters: &[NewLetter]) -> anyhow::Result<Vec<LookAlike>> {
    let stored = store.first_sent_as(letters).await?;
    let mut first_in_list: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (place, (letter, stored)) in letters.iter().zip(stored).enumerate() {
        if letter.message_id.is_empty() || letter.raw.len() > MAX_COMPARED {
            continue;
        }
        let (earlier, digest) = match stored {
            Some(digest) => (EarlierLetter::Stored(digest), digest),
            None => {
                let sent_as = (letter.sender.as_str(), letter.message_id.as_str());
                let first = *first_in_list.entry(sent_as).or_insert(place);
                (EarlierLetter::InList(first), letters[first].digest)
            }
        };
        if digest != letter.digest {
            found.push(LookAlike { place, earlier });
        }
    }
    Ok(found)
}

/// Returns the bytes of the earlier letter, unless they are deleted or too many.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn earlier_bytes(
    store: &dyn Store,
    letters: &[NewLetter],
    look_alike: LookAlike,
) -> anyhow::Result<Option<Vec<u8>>> {
    let raw = match look_alike.earlier {
        EarlierLetter::Stored(digest) => store.letter(digest).await?,
        EarlierLetter::InList(place) => Some(letters[place].raw.clone()),
    };
    Ok(raw.filter(|raw| raw.len() <= MAX_COMPARED))
}

/// Returns the digest of a letter's text if the earlier letter has another one. `read` parses a letter, or returns `None`
/// if that fails.
pub fn new_text(raw: &[u8], earlier: &[u8], read: impl Fn(&[u8]) -> Option<ReadResult>) -> Option<Digest> {
    let text = text_of(read(raw));
    (text != text_of(read(earlier))).then(|| Digest::of(text.as_bytes()))
}

/// Returns the words that a person wrote in a letter: servers break lines, and remove blanks at their ends. All letters
/// that cannot be read are alike.
fn text_of(letter: Option<ReadResult>) -> String {
    let Some(Ok(letter)) = letter else { return String::new() };
    let lines = letter.new_text(None).lines();
    lines.iter().flat_map(|line| line.text.split_whitespace()).collect::<Vec<_>>().join(" ")
}

/// Notes the text of a letter that only looks like a copy of an earlier one, outside the daemon.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn with_new_text(
    store: &dyn Store,
    config: &Config,
    letter: NewLetter,
) -> anyhow::Result<NewLetter> {
    let letters = [letter];
    let mut text = None;
    for look_alike in look_alikes(store, &letters).await? {
        if let Some(earlier) = earlier_bytes(store, &letters, look_alike).await? {
            let (own, limits) = (own_identity(config), config.letters.limits());
            text = new_text(&letters[0].raw, &earlier, |raw| Some(Letter::read(raw, &own, &limits)));
        }
    }
    let [letter] = letters;
    Ok(NewLetter { new_text: text, ..letter })
}
