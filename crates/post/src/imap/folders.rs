//! The folders of a mailbox: their real names, found by the names that people write (RFC 3501, 6.3.8; RFC
//! 2342; RFC 6154).
//!
//! Servers name a folder in modified UTF-7, put all of a person's folders below `INBOX`, and separate levels
//! by a character of their own. The config names it as mail programs show it.
//!
//! The imap crate is not used for the lists, because it reads no name that is not UTF-8, and no NAMESPACE.
//!
//! Modified UTF-7, in which the names of folders are sent (RFC 3501, 5.1.3).
//!
//! The crate utf7-imap is not used, because it panics over a name that is not base64.

use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::command::{run_with, unless_refused};
use super::connection::Connection;
use super::response::{Response, Text, Token, Tokens};
use crate::Error;

/// Names of the spam folder on servers that do not mark it, in lower case.
const NAMES_OF_JUNK: [&str; 17] = [
    "junk",
    "spam",
    "junk e-mail",
    "junk email",
    "bulk mail",
    "bulk",
    "spamverdacht",
    "junk-e-mail",
    "courrier indésirable",
    "indésirables",
    "correo no deseado",
    "posta indesiderata",
    "lixo eletrônico",
    "ongewenste e-mail",
    "skräppost",
    "спам",
    "迷惑メール",
];

/// The folders that the server lists.
pub(super) struct Folders {
    listed: Vec<Folder>,
    /// The namespace of the person's own folders, such as `INBOX.`, and the character that separates levels.
    prefix: String,
    separator: Option<char>,
}

struct Folder {
    /// The name as the server writes it.
    raw: String,
    /// The name as people write it.
    name: String,
    separator: Option<char>,
    is_junk: bool,
    can_be_selected: bool,
}

impl Folders {
    /// Lists the folders. If the server refuses, none are known. `has` returns whether the server has a
    /// capability.
    pub(super) fn read(connection: &mut Connection, has: &dyn Fn(&str) -> bool) -> Result<Folders, Error> {
        let mut listed = list(connection, "LIST \"\" \"*\"")?;
        // Some servers mark the spam folder only when they are asked for marks (RFC 6154, 2).
        if has("SPECIAL-USE") && has("LIST-EXTENDED") && !listed.iter().any(|folder| folder.is_junk) {
            let marked = list(connection, "LIST \"\" \"*\" RETURN (SPECIAL-USE)")?;
            listed = if marked.is_empty() { listed } else { marked };
        }
        let mut namespace = None;
        if has("NAMESPACE") {
            let answer = run_with(connection, "NAMESPACE", |response| {
                namespace = namespace.take().or_else(|| read_namespace(response));
                Ok(())
            });
            unless_refused(answer)?;
        }
        Ok(Folders::new(listed, namespace))
    }

    fn new(listed: Vec<Folder>, namespace: Option<(String, Option<char>)>) -> Folders {
        let separator = listed.iter().find_map(|folder| folder.separator);
        let (prefix, separator) = namespace.unwrap_or_else(|| {
            // Without NAMESPACE, the names of the folders show whether there is a prefix.
            let below_inbox = separator.map(|separator| format!("INBOX{separator}"));
            let mut others = listed.iter().filter(|folder| !is_inbox(&folder.name)).peekable();
            let prefix = below_inbox.filter(|prefix| {
                others.peek().is_some() && others.all(|folder| starts_with(&folder.name, prefix))
            });
            (prefix.unwrap_or_default(), separator)
        });
        Folders { listed, prefix, separator }
    }

    /// Whether the server lists no folders.
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Returns the name by which the server knows this folder, if it lists it.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        let spellings = self.spellings(name);
        let by = |is_same: fn(&str, &str) -> bool| {
            spellings.iter().find_map(|spelling| {
                self.listed
                    .iter()
                    .filter(|folder| folder.can_be_selected)
                    .find(|folder| is_same(&folder.name, spelling) || is_same(&folder.raw, spelling))
            })
        };
        // Exact names come first, because two folders may differ only in case.
        let found = by(|a, b| a == b || is_inbox(a) && is_inbox(b))
            .or_else(|| by(|a, b| a.to_lowercase() == b.to_lowercase()));
        found.map(|folder| folder.raw.as_str())
    }

    /// Returns the name by which the server knows this folder, or would if it existed.
    pub(super) fn real_name(&self, name: &str) -> String {
        match self.find(name) {
            Some(raw) => raw.to_owned(),
            // The last spelling has the separator and the prefix of the server.
            None => self.spellings(name).last().map_or_else(|| encode(name), |last| encode(last)),
        }
    }

    /// Returns this folder's name below `INBOX`, where some servers have all folders without saying so.
    pub(super) fn below_inbox(&self, raw: &str) -> Option<String> {
        let prefix = format!("INBOX{}", self.separator.unwrap_or('.'));
        (!starts_with(raw, &prefix) && !is_inbox(raw)).then(|| prefix + raw)
    }

    /// Returns the spam folder, as people write its name: the one that the server marks, or one with a usual
    /// name.
    pub(super) fn junk(&self) -> Option<&str> {
        let marked = self.listed.iter().find(|folder| folder.is_junk && folder.can_be_selected);
        let usual = || {
            self.listed.iter().find(|folder| {
                let name = folder.name.to_lowercase();
                let name = name.strip_prefix(&self.prefix.to_lowercase()).unwrap_or(&name);
                NAMES_OF_JUNK.contains(&name)
            })
        };
        marked.or_else(usual).map(|folder| folder.name.as_str())
    }

    /// Returns the ways in which the server may write a name: as it is, with the server's separator, and
    /// within the namespace of the person's own folders.
    fn spellings(&self, name: &str) -> Vec<String> {
        let mut spellings = vec![name.to_owned()];
        if is_inbox(name) {
            return spellings;
        }
        let separated = match self.separator {
            Some(separator) => name.replace('/', &separator.to_string()),
            None => name.to_owned(),
        };
        let is_within = starts_with(&separated, &self.prefix);
        spellings.push(separated);
        if !is_within {
            let within: Vec<String> = spellings.iter().map(|name| format!("{}{name}", self.prefix)).collect();
            spellings.extend(within);
        }
        spellings
    }
}

fn list(connection: &mut Connection, command: &str) -> Result<Vec<Folder>, Error> {
    let mut listed = Vec::new();
    connection.expect_listings(true);
    let answer = run_with(connection, command, |response| {
        listed.extend(read_folder(response));
        Ok(())
    });
    connection.expect_listings(false);
    unless_refused(answer)?;
    Ok(listed)
}

fn is_inbox(name: &str) -> bool {
    name.eq_ignore_ascii_case("INBOX")
}

/// Whether a name begins with a prefix. The case of `INBOX` does not matter.
fn starts_with(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Reads `* LIST (\HasNoChildren \Junk) "/" "Junk"`.
fn read_folder(response: Response) -> Option<Folder> {
    let mut tokens = Tokens::new(response);
    tokens.word()?;
    tokens.word().filter(|word| word.eq_ignore_ascii_case(b"LIST"))?;
    let Token::Open = tokens.next()? else { return None };
    let mut attributes = Vec::new();
    loop {
        match tokens.next()? {
            Token::Close => break,
            Token::Word(attribute) => attributes.push(attribute.to_ascii_lowercase()),
            Token::Open | Token::String(_) => return None,
        }
    }
    let separator = name_of(tokens.next()?)?.chars().next();
    let raw = name_of(tokens.next()?)?;
    Some(Folder {
        name: decode(&raw),
        raw,
        separator,
        is_junk: has(&attributes, b"\\junk"),
        can_be_selected: !has(&attributes, b"\\noselect") && !has(&attributes, b"\\nonexistent"),
    })
}

fn has(attributes: &[Vec<u8>], attribute: &[u8]) -> bool {
    attributes.iter().any(|found| found == attribute)
}

/// Reads the first of the person's own namespaces: `* NAMESPACE (("INBOX." ".")) NIL NIL`.
fn read_namespace(response: Response) -> Option<(String, Option<char>)> {
    let mut tokens = Tokens::new(response);
    tokens.word()?;
    tokens.word().filter(|word| word.eq_ignore_ascii_case(b"NAMESPACE"))?;
    let (Token::Open, Token::Open) = (tokens.next()?, tokens.next()?) else { return None };
    let prefix = name_of(tokens.next()?)?;
    let separator = name_of(tokens.next()?)?.chars().next();
    Some((decode(&prefix), separator))
}

/// Returns the text of an atom or a string; `NIL` is empty.
fn name_of(token: Token) -> Option<String> {
    match token {
        Token::Word(word) if word.eq_ignore_ascii_case(b"NIL") => Some(String::new()),
        Token::Word(bytes) | Token::String(Text { bytes, .. }) => {
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        Token::Open | Token::Close => None,
    }
}

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &IMAP_MUTF7,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Writes a name as servers expect it: `Entw&APw-rfe` for `Entwürfe`.
pub(super) fn encode(name: &str) -> String {
    let mut encoded = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let (run, after) = rest.split_at(rest.find(|c| is_plain(c) != is_plain(first)).unwrap_or(rest.len()));
        if is_plain(first) {
            encoded.push_str(&run.replace('&', "&-"));
        } else {
            let utf16: Vec<u8> = run.encode_utf16().flat_map(u16::to_be_bytes).collect();
            encoded = format!("{encoded}&{}-", BASE64.encode(utf16));
        }
        rest = after;
    }
    encoded
}

/// Reads a name as servers send it. Malformed parts stay as they are.
pub(super) fn decode(name: &str) -> String {
    let mut decoded = String::new();
    let mut rest = name;
    while let Some((plain, shifted)) = rest.split_once('&') {
        decoded.push_str(plain);
        let run = shifted.split_once('-').and_then(|(run, after)| match run {
            "" => Some(("&".to_owned(), after)),
            run => Some((decode_run(run)?, after)),
        });
        let (text, after) = run.unwrap_or_else(|| ("&".to_owned(), shifted));
        decoded.push_str(&text);
        rest = after;
    }
    decoded + rest
}

fn decode_run(run: &str) -> Option<String> {
    let bytes = BASE64.decode(run).ok()?;
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    String::from_utf16(&units).ok().filter(|_| bytes.len() % 2 == 0)
}

fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_and_are_written_as_servers_write_them() {
        for (name, encoded) in [
            ("INBOX", "INBOX"),
            ("Courrier indésirable", "Courrier ind&AOk-sirable"),
            ("Spam-Кор", "Spam-&BBoEPgRA-"),
            ("Отправленные", "&BB4EQgQ,BEAEMAQyBDsENQQ9BD0ESwQ1-"),
            ("théâtre", "th&AOkA4g-tre"),
            ("A & B", "A &- B"),
            ("&é", "&-&AOk-"),
            ("🎲", "&2Dzfsg-"),
            ("", ""),
        ] {
            assert_eq!(encode(name), encoded);
            assert_eq!(decode(encoded), name);
        }
    }

    #[test]
    fn malformed_names_stay_as_they_are() {
        for name in ["a&b", "&", "&*-", "&AOk", "&AA-", "&2Dw-", "ü"] {
            assert_eq!(decode(name), name);
        }
    }
}
