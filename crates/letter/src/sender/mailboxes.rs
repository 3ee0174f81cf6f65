//! Recognises the mailboxes of machines by their local part.

use crate::text::words::{DAEMONS, NO_REPLY};

/// Whether nobody reads the mailbox with this local part.
pub fn is_daemon(local: &str) -> bool {
    is_machine(local) || takes_no_reply(&local.to_lowercase()) || is_list_software(local)
}

/// Whether a machine writes for itself from the mailbox with this local part, and does not relay what people wrote.
pub fn is_machine(local: &str) -> bool {
    let local = local.to_lowercase();
    let listed = DAEMONS.any(|daemon| {
        local.strip_prefix(daemon).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '+', '=']))
    });
    listed
        // As in `post_master`.
        || DAEMONS.contains(&local.replace('_', ""))
        || local.starts_with("microsoftexchange")
        || local.starts_with("prvs=") && local.contains("bounce")
}

/// Whether mailing list software writes from the mailbox with this local part.
pub fn is_list_software(local: &str) -> bool {
    let local = local.to_lowercase();
    local.starts_with("owner-")
        || ["-bounces", "-owner", "-request"].iter().any(|end| local.ends_with(end))
        || local.contains("-bounces+")
}

/// Separators between the pieces of a local part.
const SEPARATORS: [char; 5] = ['.', '-', '_', '+', '='];

/// Whether a local part, or a piece of it, starts with words for "no reply": `do-not-reply` and
/// `club.noreply` do, `bruno.reply` and `autor.eply` do not.
fn takes_no_reply(local: &str) -> bool {
    let pieces = local.match_indices(SEPARATORS).map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(pieces)
        .take(16)
        .any(|start| NO_REPLY.any(|words| starts_with_words(&local[start..], words)))
}

/// Whether `local` starts with these words, with or without separators between them.
fn starts_with_words(local: &str, words: &str) -> bool {
    let mut rest = local;
    for word in words.split(' ') {
        let Some(after) = rest.strip_prefix(word) else { return false };
        rest = after.trim_start_matches(SEPARATORS);
    }
    true
}
