//! Seals the tokens of a login for the database: ChaCha20-Poly1305 (RFC 8439) with a random nonce and a key that every
//! machine has in a file. Whoever reads the database alone cannot log in.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::post::Error;

const KEY_BYTES: usize = 32;

/// The first byte of what is sealed, so that another form can follow.
const FORM: u8 = 1;

/// Begins the data that is authenticated with the text; the name of the login follows.
const CONTEXT: &str = "fogpost login ";

/// The key that seals logins.
pub struct SealingKey(LessSafeKey);

impl SealingKey {
    /// Reads the key: 32 random bytes in base64.
    ///
    /// # Errors
    /// [`Error::Configuration`], naming the file, if it cannot be read or holds no key. The text of the file is not
    /// repeated.
    pub fn read(path: &Path) -> Result<SealingKey, Error> {
        let text = fs::read_to_string(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let what = "does not exist; copy it from the machine on which `fogpost login` made it, or, if no \
                            machine has it any more, log in again: fogpost login --new-key";
                fault(path, what)
            }
            _ => fault(path, &format!("cannot be read: {error}")),
        })?;
        let bytes = STANDARD.decode(text.trim()).unwrap_or_default();
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes)
            .map_err(|_| fault(path, "holds no key; it should hold 32 random bytes in base64"))?;
        Ok(SealingKey(LessSafeKey::new(key)))
    }

    /// Makes a new key in a file that only its owner may read.
    ///
    /// # Errors
    /// Returns an error if the file exists or cannot be written.
    pub fn create(path: &Path) -> Result<(), Error> {
        let cannot = |error: std::io::Error| fault(path, &format!("cannot be written: {error}"));
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(cannot)?;
        let text = STANDARD.encode(random::<KEY_BYTES>()?) + "\n";
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)
    }

    /// Seals a text under the name of its login, for which alone it can be opened.
    pub fn seal(&self, name: &str, text: Vec<u8>) -> Result<Vec<u8>, Error> {
        let nonce = random::<NONCE_LEN>()?;
        let mut sealed = text;
        let unique = Nonce::assume_unique_for_key(nonce);
        let done = self.0.seal_in_place_append_tag(unique, context(name), &mut sealed);
        done.map_err(|_| Error::Configuration("the login is too long to be sealed".to_owned()))?;
        Ok([&[FORM][..], &nonce, &sealed].concat())
    }

    /// Opens a text; `None` if it was sealed with another key or under another name, or is damaged.
    pub fn open(&self, name: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (form, rest) = sealed.split_first()?;
        let (nonce, text) = rest.split_first_chunk::<NONCE_LEN>()?;
        if *form != FORM {
            return None;
        }
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_in_place(nonce, context(name), &mut text).ok()?;
        Some(opened.to_vec())
    }
}

fn context(name: &str) -> Aad<Vec<u8>> {
    Aad::from(format!("{CONTEXT}{name}").into_bytes())
}

pub fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::io("the system gives no random numbers", std::io::Error::other(error)))?;
    Ok(bytes)
}

/// Words what is wrong with a key file.
pub fn fault(path: &Path, what: &str) -> Error {
    Error::Configuration(format!("oauth.secret_key_file {} {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_opened_with_its_key_and_under_its_name_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ours, other) = (folder.path().join("ours"), folder.path().join("other"));
        SealingKey::create(&ours).expect("written");
        SealingKey::create(&other).expect("written");
        assert!(SealingKey::create(&ours).is_err(), "a key is never replaced");
        let key = SealingKey::read(&ours).expect("a key");
        let sealed = key.seal("club", b"refresh-1".to_vec()).expect("sealed");
        assert!(!sealed.windows(7).any(|part| part == b"refresh"));
        assert_ne!(key.seal("club", b"refresh-1".to_vec()).expect("sealed"), sealed, "the nonce is random");
        assert_eq!(key.open("club", &sealed).as_deref(), Some(&b"refresh-1"[..]));
        assert_eq!(key.open("another club", &sealed), None);
        assert_eq!(SealingKey::read(&other).expect("a key").open("club", &sealed), None);
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert_eq!(key.open("club", &damaged), None, "byte {at}");
            assert_eq!(key.open("club", &sealed[..at]), None, "{at} bytes");
        }
    }

    #[test]
    fn a_file_without_a_key_is_named_and_its_text_is_not_repeated() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("club.key");
        for text in ["hunter2", "", "aHVudGVyMg=="] {
            fs::write(&path, text).expect("written");
            let error = SealingKey::read(&path).err().expect("no key").to_string();
            assert!(error.contains("oauth.secret_key_file") && error.contains("club.key"), "{error}");
            assert!(error.contains("32 random bytes in base64") && !error.contains("hunter2"), "{error}");
        }
        let error = SealingKey::read(&folder.path().join("none")).err().expect("no file").to_string();
        assert!(error.contains("none does not exist; copy it from the machine"), "{error}");
    }
}
