//! What stands for a picture that is not kept any more.

use super::Digest;

const BEFORE: &str = "This picture was dropped. Its SHA-256 is ";

/// Returns the text that is kept instead of a picture with this digest.
pub fn stand_in(picture: Digest) -> String {
    format!("{BEFORE}{picture}")
}

/// Returns the digest of the picture that these bytes stand for, if they do.
pub fn stands_for(bytes: &[u8]) -> Option<Digest> {
    std::str::from_utf8(bytes.strip_prefix(BEFORE.as_bytes())?).ok()?.parse().ok()
}
