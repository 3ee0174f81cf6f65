//! A referee for games played by e-mail.
//!
//! The modules follow the path of a letter: [`post`] fetches its bytes, [`letter`] parses them, [`request`] tells
//! orders from remarks, [`referee`] rules on them by the rules of a [`game`] and records that in the [`ledger`],
//! [`report`] words the answers, [`store`] keeps everything, and the loops of [`daemon`] connect them.
//!
//! A whole turn, from a letter's bytes to its answers, without a mailbox or a database:
//!
//! ```
//! use std::sync::Arc;
//!
//! use chrono::{DateTime, Utc};
//! use fogpost::game::{BySeat, Seat, any::GameKind};
//! use fogpost::ledger::{Cause, LetterCause, MailIdentity, SealKey};
//! use fogpost::letter::{Address, Digest, Letter, Limits, OwnIdentity};
//! use fogpost::referee::{self, HouseDefaults, Matter, Opening, Terms};
//! use fogpost::report::{self, Club, PictureCache, Templates, WordingInput};
//!
//! let at: DateTime<Utc> = "2026-05-14T09:12:00Z".parse()?;
//! let opening = Opening {
//!     id: "QD-7K3M".to_owned(),
//!     game: GameKind::Quad,
//!     choices: GameKind::Quad.choose([("trainer", "on")])?,
//!     players: BySeat::new("Ann".to_owned(), "Bo".to_owned()),
//!     house: BySeat::default(),
//!     terms: Terms::default(),
//!     settings: BySeat::default(),
//!     desk: MailIdentity {
//!         address: "referee@club.example".to_owned(),
//!         procedure: referee::PROCEDURE,
//!         message_ids: "fogpost.club.example".to_owned(),
//!         tzdata: "2026a".to_owned(),
//!         templates: Default::default(),
//!     },
//!     key: SealKey::new([7; 32]),
//!     holders: None,
//!     lot: None,
//! };
//! let opened = referee::open(opening, Cause::opening(None), at).after;
//!
//! // A letter arrives from Ann.
//! let raw = b"From: Ann <ann@example.org>\r\nSubject: Re: [QD-7K3M] Turn 1\r\n\r\nMARBLE E6\r\n\r\n> old words\r\n";
//! let own = OwnIdentity {
//!     address: Address::parse("referee@club.example")?,
//!     message_id_domain: "fogpost.club.example".to_owned(),
//!     return_path: None,
//! };
//! let letter = Letter::read(raw, &own, &Limits::default()).expect("within the limits");
//!
//! // Find the orders in it and rule on them.
//! let cause = LetterCause::new(letter.digest, Seat::First, at);
//! let read = referee::prepare(&opened, cause, &letter, letter.new_text(None))?;
//! let ruling = referee::rule(&opened, &Matter::Letter(&read), at);
//! assert_eq!(ruling.after.awaited(), [Seat::Second]);
//!
//! // Word the letters: a report to each side, and Ann's begins with her receipt.
//! let templates = Templates::new(&Default::default())?;
//! let house = HouseDefaults::UNSET;
//! let club = Club { name: "The Fog Club", address: "referee@club.example", house };
//! let (club, game_match, token) = (&club, &Arc::new(ruling.after), "0123456789abcdef");
//! let pictures = PictureCache::default();
//! let word = |dispatch| {
//!     report::word(&templates, &WordingInput { club, game_match, dispatch, token, at }, &pictures)
//! };
//! let letters = ruling.dispatches.iter().map(word).collect::<Result<Vec<_>, _>>()?;
//! assert!(letters[0].text.contains("Your orders are sealed"));
//! assert_eq!(letters[1].subject, "[QD-7K3M] Turn 2: your move");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// Letters consist of many small strings that are allocated on one thread and freed on another. mimalloc is made for
/// that. A fuzz target counts allocations with its own.
#[cfg(not(fuzzing))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub mod audit;
pub mod cli;
pub mod config;
pub mod daemon;
pub mod desk;
pub mod game;
pub mod house;
pub mod ledger;
pub mod letter;
pub mod post;
pub mod referee;
pub mod report;
pub mod request;
pub mod store;
