//! A referee for games played by e-mail.
//!
//! Packages that know nothing of a club, in the order of reading:
//!
//! - [`game`]: the rules of the four games
//! - [`house`]: the computer player
//! - [`render`]: boards as PNG and SVG
//! - [`letter`]: bytes to a [`letter::Letter`]: its sender, a person or a machine, and the newly written text
//! - [`post`]: mail in, by IMAP, Maildir or standard input; mail out, by SMTP, sendmail or Maildir
//!
//! The rooms of the referee. Each uses only the packages and the rooms before it. Those down to [`audit`], and [`web`],
//! are the package `fogpost-core`: they take values and return values, so a turn needs neither mailbox nor database.
//!
//! - [`zone`]: time zones, and the edition of their rules
//! - [`language`]: the languages in which people write, and their phrases
//! - [`dialect`]: what `letter` must know of our correspondence
//! - [`request`]: that text to orders, commands and remarks
//! - [`ledger`]: the history of a match, facts in a chain of hashes
//! - [`referee`]: a letter, a deadline, or an act of a GM or of the house to a [`referee::Ruling`]
//! - [`club`]: what the club knows of its members: names, reliability, ratings
//! - [`report`]: what a reader may know to text, HTML and pictures
//! - [`audit`]: whether ledger, letters and sent mail agree; dossiers for third parties
//! - [`store`]: the database; all SQL
//! - [`web`]: the pages of the site, among them the replays
//! - [`config`]: the club's `config.toml`
//! - [`desk`]: decisions on letters, matches and people: rows in, changes out
//! - [`daemon`]: the loops that load rows, call the desk, commit its changes and send mail
//! - [`cli`]: the commands at the terminal
//!
//! A turn:
//!
//! ```
//! use std::sync::Arc;
//!
//! use fogpost::game::{BySeat, Seat, any::GameKind};
//! use fogpost::ledger::{Cause, LetterCause, SealKey};
//! use fogpost::letter::{Letter, Limits};
//! use fogpost::referee::{self, HouseDefaults, Matter, Opening};
//! use fogpost::report::{self, Letterhead, PictureCache, Templates, WordingInput};
//!
//! let at = "2026-05-14T09:12:00Z".parse()?;
//! let (address, house) = ("referee@club.example", HouseDefaults::UNSET);
//! let club = Letterhead { name: "The Fog Club", address, board_page: None, house };
//! let (players, key) = (BySeat::new("Ann", "Bo"), SealKey::new([7; 32]));
//! let opening = Opening::new("QD-7K3M", GameKind::Quad, players, club.address, key);
//! let own = opening.mail_identity.own_identity().expect("an address");
//! let opened = referee::open(opening, Cause::opening(None), at).after;
//!
//! // A letter arrives from Ann. Find the orders in it, and rule on them.
//! let raw = b"From: Ann <ann@example.org>\r\nSubject: Re: [QD-7K3M]\r\n\r\nMARBLE E6\r\n\r\n> old words\r\n";
//! let letter = Letter::read(raw, &own, &Limits::default()).expect("within the limits");
//! let cause = LetterCause::new(letter.digest, Seat::First, at);
//! let read = referee::prepare(&opened, cause, &letter, letter.new_text(None))?;
//! let ruling = referee::rule(&opened, &Matter::Letter(&read), at);
//! assert_eq!(ruling.after.awaited(), [Seat::Second]);
//!
//! // Word the letters: a report to each side, and Ann's begins with her receipt.
//! let (templates, pictures) = (Templates::new(&Default::default())?, PictureCache::default());
//! let (club, game_match, token) = (&club, &Arc::new(ruling.after), "0123456789abcdef");
//! let mut letters = Vec::new();
//! for dispatch in &ruling.dispatches {
//!     let input = WordingInput { club, game_match, dispatch, token, notes: &[], gm_plays: false, at };
//!     letters.push(report::word(&templates, &input, &pictures)?);
//! }
//! assert!(letters[0].text.contains("Your orders are sealed"));
//! assert_eq!(letters[1].subject, "[QD-7K3M] Turn 2: your move");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// Letters consist of many small strings that are allocated on one thread and freed on another. mimalloc is
/// made for that. A fuzz target counts allocations with its own.
#[cfg(not(fuzzing))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The support of tests and benches names the crate, wherever it is compiled.
#[cfg(test)]
extern crate self as fogpost;

pub use fogpost_core::{audit, club, dialect, language, ledger, referee, report, request, web, zone};
pub use fogpost_games::{game, house, render};
pub use fogpost_letter as letter;
pub use fogpost_post as post;

pub mod cli;
pub mod config;
pub mod daemon;
pub mod desk;
pub mod store;
