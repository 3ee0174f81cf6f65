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
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
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

/// Deflated text that continues the dictionary of its match, and the picture in `dispatch_picture`.
pub const SHARED: i64 = 3;

/// Maximum bytes of a text that a dictionary takes in. A report is about as long, a letter with its quote half as long, so
/// that a letter and two reports are within reach of deflate, 32 kB.
const MAX_SHARED: usize = 12_500;

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

/// The columns `form` and `bytes` of `dispatch_raw`, `place` and `picture` of `dispatch_picture`, and the dictionary of the
/// match.
#[derive(FromRow)]
pub struct PackedColumns {
    form: i64,
    bytes: Vec<u8>,
    place: Option<i64>,
    picture: Option<Vec<u8>>,
    dictionary: Option<Vec<u8>>,
}

impl PackedColumns {
    /// The same letter without its picture, and its picture.
    pub fn without_picture(self) -> (PackedColumns, Option<Vec<u8>>) {
        let picture = self.picture;
        (PackedColumns { place: None, picture: None, ..self }, picture)
    }
}

/// A text that the letters of a match have in common.
pub struct Dictionary {
    text: Vec<u8>,
}

impl Dictionary {
    /// Makes a dictionary of typical letters.
    pub fn of(letters: &[&[u8]]) -> Dictionary {
        let text = letters.iter().flat_map(|letter| &letter[..letter.len().min(MAX_SHARED)]);
        Dictionary { text: text.copied().collect() }
    }

    /// The dictionary as it is stored: the length of its text and the beginning of a deflated stream.
    pub fn packed(&self) -> Result<Vec<u8>> {
        let length = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        Ok([&length.to_le_bytes()[..], &self.deflate(&[])?.0].concat())
    }

    /// Packs a text as the rest of the stream.
    pub fn pack(&self, text: &[u8]) -> Result<Vec<u8>> {
        Ok(self.deflate(text)?.1)
    }

    /// Deflates the dictionary and the text after it. The library sets no dictionary of its own without zlib, but a
    /// stream that is flushed after the dictionary can be cut there.
    fn deflate(&self, text: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        let mut deflate = || -> std::io::Result<Vec<u8>> {
            encoder.write_all(&self.text)?;
            encoder.flush()?;
            let cut = encoder.get_ref().len();
            encoder.write_all(text)?;
            encoder.try_finish()?;
            Ok(encoder.get_mut().split_off(cut))
        };
        let rest = deflate().map_err(|error| damaged(&error.to_string()))?;
        Ok((encoder.finish().map_err(|error| damaged(&error.to_string()))?, rest))
    }
}

/// Returns a text that was packed after a dictionary.
///
/// # Errors
/// [`StoreError::Unsound`] if the columns were changed.
pub fn unpack_shared(dictionary: Option<&[u8]>, bytes: &[u8]) -> Result<Vec<u8>> {
    let (length, beginning) = dictionary
        .and_then(|dictionary| dictionary.split_first_chunk())
        .ok_or_else(|| damaged("its match has no dictionary"))?;
    let length = u32::from_le_bytes(*length) as usize;
    let mut text = Vec::new();
    let stream = beginning.chain(bytes);
    DeflateDecoder::new(stream).read_to_end(&mut text).map_err(|error| damaged(&error.to_string()))?;
    if text.len() < length {
        return Err(damaged("its dictionary is longer than it"));
    }
    Ok(text.split_off(length))
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
        SHARED => unpack_shared(columns.dictionary.as_deref(), &columns.bytes)?,
        other => return Err(StoreError::Unsound(format!("{other} is not a form of a stored letter"))),
    };
    if let (Some(place), Some(picture)) = (columns.place, columns.picture) {
        put_picture_back(&mut letter, place, &picture)?;
    }
    Ok(letter)
}

/// Returns the bytes of a received letter.
///
/// # Errors
/// [`StoreError::Unsound`] if the columns were changed.
pub fn unpack_letter(form: i64, bytes: Vec<u8>, dictionary: Option<Vec<u8>>) -> Result<Vec<u8>> {
    match form {
        WHOLE => Ok(bytes),
        SHARED => unpack_shared(dictionary.as_deref(), &bytes),
        other => Err(StoreError::Unsound(format!("{other} is not a form of a received letter"))),
    }
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
        unpack(PackedColumns { form: packed.form, bytes: packed.bytes, place, picture, dictionary: None })
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
        let columns = PackedColumns {
            form: DEFLATED,
            bytes: deflated(&text),
            place: None,
            picture: None,
            dictionary: None,
        };
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
            let columns = PackedColumns { form, bytes, place, picture: Some(vec![1]), dictionary: None };
            assert!(unpack(columns).is_err());
        }
        let sound = PackedColumns { form: LZ4, bytes: new, place: None, picture: None, dictionary: None };
        assert_eq!(unpack(sound).unwrap(), text);
    }

    #[test]
    fn a_letter_is_packed_with_what_others_say() {
        let letters: Vec<Vec<u8>> = (0..9).map(|number| letter(&[], &format!("{number}\r\n"))).collect();
        let dictionary = Dictionary::of(&[&letters[4], &[7; 40_000]]);
        let stored = dictionary.packed().unwrap();
        for letter in letters.iter().chain([&Vec::new(), &vec![9; 100_000]]) {
            let packed = dictionary.pack(letter).unwrap();
            assert!(packed.len() < 400, "{} bytes", packed.len());
            assert_eq!(&unpack_shared(Some(&stored), &packed).unwrap(), letter);
            assert!(unpack_shared(None, &packed).is_err());
            assert!(unpack_shared(Some(&[0xff; 4]), &packed).is_err());
        }
        assert!(dictionary.pack(&letters[0]).unwrap().len() < 60);
    }
}
