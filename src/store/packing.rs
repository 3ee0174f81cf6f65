//! The stored form of letters: the text compressed, and our letters' pictures apart from it.
//!
//! Letters are short, and most of their text occurs in other letters, too. So each is compressed as if it
//! followed a typical letter of a player and reports of all games: 20 turns of Quadrant Z then take a third
//! of the space.

use std::cell::RefCell;
use std::sync::LazyLock;

use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::get_frame_content_size;

use super::columns::parse_digest;
use super::rows::{Record as _, Row, record};
use super::{Result, StoreError};
use crate::letter::pictures::{put_in, stand_in, take_out};

/// Text that letters have in common. No stored letter can be read without it, so it never changes.
const TYPICAL: &[u8] = include_bytes!("typical.eml");

/// Lower levels save no time; level 5 takes twice as long and saves 7 % of the space, level 9 five times and 15 %.
const LEVEL: i32 = 3;

/// Maximum ratio of a text to its compressed form: a block of 128 kB of one byte takes four bytes.
const MOST_EXPANDED: usize = 32 * 1024;

/// One of our letters as it is stored.
pub struct PackedDispatch {
    pub bytes: Vec<u8>,
    pub picture: Option<Vec<u8>>,
}

record! {
    /// The columns `bytes` of `dispatch_raw`, `picture` of `dispatch_picture`, and `dropped` of `dispatch`.
    pub struct PackedColumns {
        bytes: Vec<u8>,
        picture: Option<Vec<u8>>,
        dropped: Option<String>,
    }
}

/// Reads a packed letter.
pub fn read_packed(row: Row<'_>) -> Result<Vec<u8>> {
    unpack(&row.get::<Vec<u8>>("bytes")?)
}

/// Reads a packed letter. Damaged bytes are kept as they are: they make an unreadable letter, which does not
/// block others.
pub fn read_maybe_damaged(row: Row<'_>) -> Result<Vec<u8>> {
    let packed: Vec<u8> = row.get("bytes")?;
    Ok(unpack(&packed).unwrap_or(packed))
}

/// Reads one of our letters.
pub fn read_our_letter(row: Row<'_>) -> Result<Vec<u8>> {
    unpack_dispatch(PackedColumns::from_row(row)?)
}

/// [`TYPICAL`], prepared once. Deflate would have to scan it again for each letter, which takes longer than
/// packing the letter.
static ENCODER: LazyLock<EncoderDictionary<'static>> =
    LazyLock::new(|| EncoderDictionary::copy(TYPICAL, LEVEL));
static DECODER: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(TYPICAL));

thread_local! {
    static COMPRESSOR: RefCell<Compressor<'static>> =
        RefCell::new(Compressor::with_prepared_dictionary(&ENCODER).expect("a sound dictionary"));
    static DECOMPRESSOR: RefCell<Decompressor<'static>> =
        RefCell::new(Decompressor::with_prepared_dictionary(&DECODER).expect("a sound dictionary"));
}

/// Packs a received letter, or the text of one of ours, as a frame of zstd that states its length (RFC 8878).
pub fn pack(letter: &[u8]) -> Vec<u8> {
    let packed = COMPRESSOR.with_borrow_mut(|compressor| compressor.compress(letter));
    packed.expect("a buffer of the maximum size takes any bytes")
}

/// Returns the bytes that [`pack`] has packed.
///
/// # Errors
/// [`StoreError::Unsound`] if they were changed.
pub fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let damaged = || StoreError::Unsound("a stored letter cannot be decompressed".to_owned());
    let stated = get_frame_content_size(packed).ok().flatten().ok_or_else(damaged)?;
    // Check the length before allocating: a damaged one could ask for any amount.
    let possible = usize::try_from(stated).ok().filter(|length| *length <= packed.len() * MOST_EXPANDED);
    let length = possible.ok_or_else(damaged)?;
    DECOMPRESSOR
        .with_borrow_mut(|decompressor| decompressor.decompress(packed, length))
        .map_err(|_error| damaged())
}

/// Packs one of our letters.
pub fn pack_dispatch(letter: &[u8]) -> PackedDispatch {
    match take_out(letter) {
        Some((text, picture)) => PackedDispatch { bytes: pack(&text), picture: Some(picture) },
        None => PackedDispatch { bytes: pack(letter), picture: None },
    }
}

/// Returns the bytes of one of our letters. The digest of a dropped picture takes its place.
///
/// # Errors
/// [`StoreError::Unsound`] if the columns were changed.
pub fn unpack_dispatch(columns: PackedColumns) -> Result<Vec<u8>> {
    let text = unpack(&columns.bytes)?;
    let picture = match (columns.picture, columns.dropped) {
        (Some(picture), _) => picture,
        (None, Some(dropped)) => stand_in(parse_digest(&dropped)?).into_bytes(),
        (None, None) => return Ok(text),
    };
    put_in(&text, &picture)
        .ok_or_else(|| StoreError::Unsound("a picture has no place in its letter".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letter::Digest;
    use crate::letter::pictures::dropped_from;

    fn letter() -> Vec<u8> {
        let text = "The board is attached. ".repeat(40);
        format!(
            "Subject: x\r\n\r\n--=r=\r\n\r\n{text}\r\n--=r=\r\nContent-Type: image/png\r\n\r\niVBO\r\n--=r=--\r\n"
        )
        .into_bytes()
    }

    fn columns(bytes: Vec<u8>, picture: Option<Vec<u8>>, dropped: Option<&str>) -> PackedColumns {
        PackedColumns { bytes, picture, dropped: dropped.map(str::to_owned) }
    }

    #[test]
    fn a_letter_comes_back_byte_for_byte() {
        let packed = pack_dispatch(&letter());
        assert!(packed.picture.is_some() && packed.bytes.len() < 250, "{} bytes of text", packed.bytes.len());
        assert_eq!(unpack_dispatch(columns(packed.bytes, packed.picture, None)).unwrap(), letter());
        let noise: Vec<u8> =
            (0..100_000_u32).flat_map(|n| Digest::of(&n.to_le_bytes()).to_string().into_bytes()).collect();
        // A stranger can send incompressible bytes.
        let random: Vec<u8> =
            (0..10_000_u32).flat_map(|n| *Digest::of(&n.to_le_bytes()).as_bytes()).collect();
        for whole in
            [&b""[..], b"x", &[7; 100_000], TYPICAL, &noise, &random, &random[..31], &random[..40_000]]
        {
            assert_eq!(unpack(&pack(whole)).unwrap(), whole);
        }
    }

    #[test]
    fn stored_letters_can_be_read_for_ever() {
        let digest = Digest::of(TYPICAL).to_string();
        assert_eq!(digest, "dea49b1d9fa63596650238e17d94ac6bf31867b9bacd1b8e81a865400097160f");
    }

    #[test]
    fn a_letter_whose_picture_was_dropped_names_its_digest() {
        let PackedDispatch { bytes, picture } = pack_dispatch(&letter());
        let dropped = Digest::of(&picture.expect("a picture"));
        let read = unpack_dispatch(columns(bytes, None, Some(&dropped.to_string()))).unwrap();
        assert_eq!(dropped_from(&read), Some(dropped));
    }

    #[test]
    fn changed_columns_are_unsound() {
        let packed = pack(&b"abc".repeat(100));
        let cut = packed[..packed.len() - 1].to_vec();
        let longer = [&packed[..], b"x"].concat();
        // The length of 300 bytes follows the magic number and a byte of flags, less 256 (RFC 8878, 3.1.1.1).
        assert_eq!(packed[5..7], 44_u16.to_le_bytes());
        let of_length = |length: u16| [&packed[..5], &(length - 256).to_le_bytes(), &packed[7..]].concat();
        assert!(unpack(&of_length(300)).is_ok());
        for bytes in
            [Vec::new(), vec![0xff; 9], cut, longer, of_length(299), of_length(301), of_length(60_000)]
        {
            assert!(unpack(&bytes).is_err(), "{bytes:?}");
        }
        assert!(unpack_dispatch(columns(packed.clone(), Some(vec![1]), None)).is_err(), "it has no place");
        assert!(unpack_dispatch(columns(packed, None, Some("no digest"))).is_err());
    }
}
