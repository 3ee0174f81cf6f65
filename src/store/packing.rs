//! The stored form of sent letters: the text compressed, the picture apart from it.
//!
//! The ledger pins a letter by all its bytes, so reading returns exactly the bytes that were written: a picture is
//! taken out only if encoding it again gives the same characters.
//!
//! Letters of earlier versions stay as they are, because triggers forbid changing them, and are read in their own form.
//!
//! zlib-rs rather than flate2, which pictures and dossiers use: its deflate takes half the time, and choosing it as
//! flate2's backend would change the bytes of every picture, which the audit draws again.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem::find;
use sqlx::FromRow;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use super::{Result, StoreError};

/// Whole bytes, as earlier versions stored all letters.
const WHOLE: i64 = 0;

/// Deflated text, with the picture in `dispatch_picture`.
const DEFLATED: i64 = 1;

/// The header field of a picture's part.
const PICTURE_FIELD: &[u8] = b"\r\nContent-Type: image/png\r\n";

/// Characters in a line of base64 (RFC 2045, section 6.8).
const LINE: usize = 76;

/// zlib's fastest level: packing a letter must not cost more than ruling on it.
const LEVEL: i32 = 1;

/// zlib's largest window, 32 kB.
const WINDOW_BITS: u8 = 15;

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

/// Packs letters. Keeps the compressor, whose tables are larger than most letters, from one to the next.
pub struct Packer(Deflate);

impl Packer {
    pub fn new() -> Packer {
        Packer(Deflate::new(LEVEL, false, WINDOW_BITS))
    }

    /// Packs a letter; one that compression does not shorten stays whole.
    pub fn pack(&mut self, letter: &[u8]) -> PackedLetter {
        let (text, picture) = match take_picture_out(letter) {
            Some((text, picture)) => (Cow::Owned(text), Some(picture)),
            None => (Cow::Borrowed(letter), None),
        };
        match self.deflate(&text) {
            Some(deflated) => PackedLetter { form: DEFLATED, bytes: deflated, picture },
            None => PackedLetter { form: WHOLE, bytes: letter.to_vec(), picture: None },
        }
    }

    /// Compresses a text; `None` if that does not shorten it.
    fn deflate(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        self.0.reset();
        let mut deflated = vec![0; text.len()];
        let status = self.0.compress(text, &mut deflated, DeflateFlush::Finish).ok()?;
        if status != Status::StreamEnd {
            return None;
        }
        deflated.truncate(usize::try_from(self.0.total_out()).ok()?);
        Some(deflated)
    }
}

/// Unpacks letters. Keeps the decompressor from one to the next.
pub struct Unpacker(Inflate);

impl Unpacker {
    pub fn new() -> Unpacker {
        Unpacker(Inflate::new(false, WINDOW_BITS))
    }

    /// Returns the letter's bytes.
    ///
    /// # Errors
    /// [`StoreError::Unsound`] if the columns were changed.
    pub fn unpack(&mut self, columns: PackedColumns) -> Result<Vec<u8>> {
        match columns.form {
            WHOLE => Ok(columns.bytes),
            DEFLATED => {
                let mut letter = self.inflate(&columns.bytes)?;
                if let (Some(place), Some(picture)) = (columns.place, columns.picture) {
                    put_picture_back(&mut letter, place, &picture)?;
                }
                Ok(letter)
            }
            other => Err(StoreError::Unsound(format!("{other} is not a form of a stored letter"))),
        }
    }

    fn inflate(&mut self, deflated: &[u8]) -> Result<Vec<u8>> {
        self.0.reset(false);
        let mut text = vec![0; deflated.len() * 4];
        loop {
            let (read, written) = (self.0.total_in() as usize, self.0.total_out() as usize);
            match self.0.decompress(&deflated[read..], &mut text[written..], InflateFlush::NoFlush) {
                Ok(Status::StreamEnd) => {
                    text.truncate(self.0.total_out() as usize);
                    return Ok(text);
                }
                Ok(Status::Ok | Status::BufError) if self.0.total_out() as usize == text.len() => {
                    text.resize(text.len() * 2 + 64, 0);
                }
                Ok(Status::Ok | Status::BufError) => return Err(damaged("it ends too early")),
                Err(error) => return Err(damaged(error.as_str())),
            }
        }
    }
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

    fn unpack(packed: PackedLetter) -> Result<Vec<u8>> {
        let (place, picture) = packed.picture.map(|picture| (picture.place, picture.bytes)).unzip();
        Unpacker::new().unpack(PackedColumns { form: packed.form, bytes: packed.bytes, place, picture })
    }

    #[test]
    fn a_letter_comes_back_byte_for_byte() {
        let picture: Vec<u8> = (0..=255).cycle().take(5_000).collect();
        for length in [0, 1, 2, 3, 56, 57, 58, 114, 5_000] {
            let letter = letter(&picture[..length], "\r\n");
            let packed = Packer::new().pack(&letter);
            assert_eq!(packed.picture.as_ref().map(|picture| picture.bytes.len()), Some(length));
            assert!(packed.bytes.len() < 400, "{} bytes of text", packed.bytes.len());
            assert_eq!(unpack(packed).unwrap(), letter);
        }
    }

    #[test]
    fn what_is_not_written_as_we_write_it_stays_in_the_text() {
        let odd = letter(&[7; 500], "\n");
        let packed = Packer::new().pack(&odd);
        assert!(packed.picture.is_none());
        assert_eq!(unpack(packed).unwrap(), odd);
        let picture = encode(&[7; 500]);
        for wrong in
            [[&picture[..], b"\r\n"].concat(), [b"AAAA\r\n", &picture[..]].concat(), b"AAB=".to_vec()]
        {
            assert!(decode(&wrong).is_none_or(|bytes| encode(&bytes) == wrong));
        }
        for short in
            [&b""[..], b"x", b"\r\nContent-Type: image/png\r\n", b"\r\nContent-Type: image/png\r\n\r\n"]
        {
            let packed = Packer::new().pack(short);
            assert_eq!((packed.form, unpack(packed).unwrap()), (WHOLE, short.to_vec()));
        }
    }

    #[test]
    fn changed_columns_are_unsound() {
        let deflated = Packer::new().pack(&b"abc".repeat(100)).bytes;
        let cut = deflated[..deflated.len() - 1].to_vec();
        let mut unpacker = Unpacker::new();
        for (form, bytes, place) in [
            (2, Vec::new(), None),
            (DEFLATED, Vec::new(), None),
            (DEFLATED, vec![0xff; 9], None),
            (DEFLATED, cut, None),
            (DEFLATED, deflated.clone(), Some(-1)),
            (DEFLATED, deflated.clone(), Some(301)),
        ] {
            let columns = PackedColumns { form, bytes, place, picture: Some(vec![1]) };
            assert!(unpacker.unpack(columns).is_err());
        }
        let sound = PackedColumns { form: DEFLATED, bytes: deflated, place: None, picture: None };
        assert_eq!(unpacker.unpack(sound).unwrap(), b"abc".repeat(100));
    }
}
