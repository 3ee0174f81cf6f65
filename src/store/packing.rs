//! The stored form of sent letters: the text compressed, the picture apart from it.
//!
//! The ledger pins a letter by all its bytes, so reading returns exactly the bytes that were written: a picture is
//! taken out only if encoding it again gives the same characters.
//!
//! Letters of earlier versions stay as they are, because triggers forbid changing them, and are read in their own form.
//!
//! LZ4, because packing must not cost more than ruling: a compressor for deflate clears tables of 180 kB before each
//! letter of 3 kB, which also drives everything else out of the processor's cache.

use std::borrow::Cow;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use memchr::memmem::find;
use sqlx::FromRow;

use super::{Result, StoreError};

/// Whole bytes, as earlier versions stored all letters.
const WHOLE: i64 = 0;

/// Deflated text, with the picture in `dispatch_picture`, as an earlier version stored letters.
const DEFLATED: i64 = 1;

/// The text as one block of LZ4 after its length, and the picture in `dispatch_picture`.
const LZ4: i64 = 2;

/// How much longer than a block of LZ4 its text can be.
const MOST_EXPANDED: usize = 255;

/// The header field of a picture's part.
const PICTURE_FIELD: &[u8] = b"\r\nContent-Type: image/png\r\n";

/// Characters in a line of base64 (RFC 2045, section 6.8).
const LINE: usize = 76;

/// A letter as it is stored.
pub struct PackedLetter {
    pub form: i64,
    pub bytes: Vec<u8>,
    pub picture: Option<PackedPicture>,
}

/// A picture, and where its base64 belongs in the text.
pub struct PackedPicture {
    pub place: i64,
    pub bytes: Vec<u8>,
}

/// The columns `form` and `bytes` of `dispatch_raw`, and `place` and `picture` of `dispatch_picture`.
#[derive(FromRow)]
pub struct PackedColumns {
    form: i64,
    bytes: Vec<u8>,
    place: Option<i64>,
    picture: Option<Vec<u8>>,
}

/// Packs a letter; one that compression does not shorten stays whole.
pub fn pack(letter: &[u8]) -> PackedLetter {
    let (text, picture) = match take_picture_out(letter) {
        Some((text, picture)) => (Cow::Owned(text), Some(picture)),
        None => (Cow::Borrowed(letter), None),
    };
    let packed = compress_prepend_size(&text);
    if packed.len() < text.len() {
        PackedLetter { form: LZ4, bytes: packed, picture }
    } else {
        PackedLetter { form: WHOLE, bytes: letter.to_vec(), picture: None }
    }
}

/// Returns the letter's bytes.
///
/// # Errors
/// [`StoreError::Unsound`] if the columns were changed.
pub fn unpack(columns: PackedColumns) -> Result<Vec<u8>> {
    let mut letter = match columns.form {
        WHOLE => return Ok(columns.bytes),
        DEFLATED => inflate(&columns.bytes)?,
        LZ4 => decompress(&columns.bytes)?,
        other => return Err(StoreError::Unsound(format!("{other} is not a form of a stored letter"))),
    };
    if let (Some(place), Some(picture)) = (columns.place, columns.picture) {
        put_picture_back(&mut letter, place, &picture)?;
    }
    Ok(letter)
}

fn decompress(packed: &[u8]) -> Result<Vec<u8>> {
    // The library allocates this length before it reads the block.
    let length = packed.first_chunk().map(|length| u32::from_le_bytes(*length) as usize);
    match length.filter(|length| *length <= packed.len() * MOST_EXPANDED) {
        Some(_) => decompress_size_prepended(packed).map_err(|error| damaged(&error.to_string())),
        None => Err(damaged("it has no possible length")),
    }
}

fn inflate(deflated: &[u8]) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    DeflateDecoder::new(deflated).read_to_end(&mut text).map_err(|error| damaged(&error.to_string()))?;
    Ok(text)
}

fn damaged(why: &str) -> StoreError {
    StoreError::Unsound(format!("a stored letter cannot be decompressed: {why}"))
}

/// Splits a letter into its text and its first picture. Returns `None` if it has none, or if the picture's base64 is
/// not written as [`encode`] writes it.
fn take_picture_out(letter: &[u8]) -> Option<(Vec<u8>, PackedPicture)> {
    let field = find(letter, PICTURE_FIELD)?;
    // The field's own line break may be the first half of the empty line that ends the header.
    let header_end = field + PICTURE_FIELD.len() - 2;
    let start = header_end + find(&letter[header_end..], b"\r\n\r\n")? + 4;
    let end = start + find(&letter[start..], b"\r\n--")?;
    let bytes = decode(&letter[start..end])?;
    let text = [&letter[..start], &letter[end..]].concat();
    Some((text, PackedPicture { place: i64::try_from(start).ok()?, bytes }))
}

fn put_picture_back(text: &mut Vec<u8>, place: i64, picture: &[u8]) -> Result<()> {
    let place = usize::try_from(place).ok().filter(|place| *place <= text.len());
    let Some(place) = place else {
        return Err(StoreError::Unsound("a picture has no place in its letter".to_owned()));
    };
    text.splice(place..place, encode(picture));
    Ok(())
}

/// Decodes what [`encode`] has written, and nothing else: the decoder takes only the one base64 form of some bytes.
fn decode(lines: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::with_capacity(lines.len());
    let mut chunks = lines.chunks(LINE + 2).peekable();
    while let Some(chunk) = chunks.next() {
        let is_last = chunks.peek().is_none();
        joined.extend_from_slice(if is_last { chunk } else { chunk.strip_suffix(b"\r\n")? });
        if is_last && chunk.len() > LINE {
            return None;
        }
    }
    STANDARD.decode(joined).ok()
}

/// Encodes as base64 in lines of [`LINE`] characters, without a line break at the end.
fn encode(bytes: &[u8]) -> Vec<u8> {
    let encoded = STANDARD.encode(bytes);
    let mut lines = Vec::with_capacity(encoded.len() + encoded.len() / LINE * 2);
    for line in encoded.as_bytes().chunks(LINE) {
        if !lines.is_empty() {
            lines.extend_from_slice(b"\r\n");
        }
        lines.extend_from_slice(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    fn letter(picture: &[u8], line_end: &str) -> Vec<u8> {
        let body = String::from_utf8(encode(picture)).unwrap().replace("\r\n", line_end);
        let text = "The board is attached. ".repeat(40);
        format!(
            "Subject: x\r\n\r\n--=r=\r\n\r\n{text}\r\n--=r=\r\nContent-Disposition: inline\r\nContent-Type: image/png\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n{body}\r\n--=r=--\r\n"
        )
        .into_bytes()
    }

    fn unpacked(packed: PackedLetter) -> Result<Vec<u8>> {
        let (place, picture) = packed.picture.map(|picture| (picture.place, picture.bytes)).unzip();
        unpack(PackedColumns { form: packed.form, bytes: packed.bytes, place, picture })
    }

    /// The form of an earlier version.
    fn deflated(text: &[u8]) -> Vec<u8> {
        let mut deflated = DeflateEncoder::new(Vec::new(), Compression::fast());
        deflated.write_all(text).unwrap();
        deflated.finish().unwrap()
    }

    #[test]
    fn a_letter_comes_back_byte_for_byte() {
        let picture: Vec<u8> = (0..=255).cycle().take(5_000).collect();
        for length in [0, 1, 2, 3, 56, 57, 58, 114, 5_000] {
            let letter = letter(&picture[..length], "\r\n");
            let packed = pack(&letter);
            assert_eq!(packed.picture.as_ref().map(|picture| picture.bytes.len()), Some(length));
            assert!(packed.bytes.len() < 400, "{} bytes of text", packed.bytes.len());
            assert_eq!(unpacked(packed).unwrap(), letter);
        }
    }

    #[test]
    fn what_is_not_written_as_we_write_it_stays_in_the_text() {
        let odd = letter(&[7; 500], "\n");
        let packed = pack(&odd);
        assert!(packed.picture.is_none());
        assert_eq!(unpacked(packed).unwrap(), odd);
        let picture = encode(&[7; 500]);
        for wrong in
            [[&picture[..], b"\r\n"].concat(), [b"AAAA\r\n", &picture[..]].concat(), b"AAB=".to_vec()]
        {
            assert!(decode(&wrong).is_none_or(|bytes| encode(&bytes) == wrong));
        }
        for short in
            [&b""[..], b"x", b"\r\nContent-Type: image/png\r\n", b"\r\nContent-Type: image/png\r\n\r\n"]
        {
            let packed = pack(short);
            assert_eq!((packed.form, unpacked(packed).unwrap()), (WHOLE, short.to_vec()));
        }
    }

    #[test]
    fn letters_of_an_earlier_version_are_read() {
        let text = b"abc".repeat(100);
        let columns = PackedColumns { form: DEFLATED, bytes: deflated(&text), place: None, picture: None };
        assert_eq!(unpack(columns).unwrap(), text);
    }

    #[test]
    fn changed_columns_are_unsound() {
        let text = b"abc".repeat(100);
        let old = deflated(&text);
        let new = pack(&text).bytes;
        let too_long = [&u32::MAX.to_le_bytes(), &new[4..]].concat();
        for (form, bytes, place) in [
            (3, Vec::new(), None),
            (DEFLATED, Vec::new(), None),
            (DEFLATED, vec![0xff; 9], None),
            (DEFLATED, old[..old.len() - 1].to_vec(), None),
            (DEFLATED, old, Some(301)),
            (LZ4, Vec::new(), None),
            (LZ4, vec![0xff; 9], None),
            (LZ4, new[..new.len() - 1].to_vec(), None),
            (LZ4, too_long, None),
            (LZ4, new.clone(), Some(-1)),
            (LZ4, new.clone(), Some(301)),
        ] {
            let columns = PackedColumns { form, bytes, place, picture: Some(vec![1]) };
            assert!(unpack(columns).is_err());
        }
        let sound = PackedColumns { form: LZ4, bytes: new, place: None, picture: None };
        assert_eq!(unpack(sound).unwrap(), text);
    }
}
