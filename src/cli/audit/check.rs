//! `fogpost audit check`: audits an arbiter's dossier without the club or its database.
//!
//! A dossier may come from anybody, so its size is limited before anything is unpacked.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, ensure};
use memchr::memmem;
use zip::ZipArchive;

use super::verify;
use crate::audit::dossier::Dossier;
use crate::cli::arguments::read_file;
use crate::daemon::instruct::Fog;
use crate::house;
use crate::letter::printable::printable_text;

/// Check an arbiter's dossier of a finished match: walk its ledger, repeat every ruling from the letters in
/// it, and compare. Needs neither a config nor a database
///
/// Exit status: 0 sound; 1 wrong; 2 not a dossier that can be checked this way.
#[derive(clap::Args)]
pub struct Args {
    /// Dossier written by `audit export --arbiter`
    #[arg(value_name = "DOSSIER.zip")]
    file: PathBuf,
    /// Print the verdict as a JSON object
    #[arg(long)]
    json: bool,
}

/// Maximum bytes of a dossier. A match of 20 turns takes 1 MB.
const MAX_ARCHIVE_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum bytes of an unpacked dossier, which is held in memory.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Maximum files in a dossier, one for each letter in or out.
const MAX_FILES: usize = 20_000;

/// Maximum bytes of a file's name.
const MAX_NAME_BYTES: usize = 200;

/// The first bytes of each file's description in an archive's central directory.
const ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";

/// The bits of a Unix mode for the type of a file, and their value for a regular file. Archives from other
/// systems have none.
const KIND_OF_FILE: u32 = 0o170_000;
const REGULAR_FILE: u32 = 0o100_000;

/// The exit status for a file that is not a dossier, or that cannot be checked.
const NOT_CHECKED: u8 = 2;

impl Args {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let dossier = match self.read() {
            Ok(dossier) => dossier,
            Err(error) => {
                eprintln!("fogpost: {}", printable_text(&format!("{error:#}")));
                return Ok(ExitCode::from(NOT_CHECKED));
            }
        };
        let verdict = dossier.check(Arc::new(house::play));
        verify::show(&verdict, &Fog::default(), self.json);
        Ok(if verdict.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn read(&self) -> anyhow::Result<Dossier> {
        let archive = read_file(&self.file, MAX_ARCHIVE_BYTES)?;
        let files = unpack(archive).with_context(|| self.file.display().to_string())?;
        Dossier::read(files).map_err(anyhow::Error::msg).with_context(|| self.file.display().to_string())
    }
}

fn unpack(archive: Vec<u8>) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    // Count the entries before the library builds a table of them, regardless of the number that the archive
    // claims.
    let entries = memmem::find_iter(&archive, ENTRY_SIGNATURE).take(MAX_FILES + 1).count();
    ensure!(entries <= MAX_FILES, "it holds more than {MAX_FILES} files");
    let mut zip = ZipArchive::new(Cursor::new(archive))?;
    let mut claimed = 0_u64;
    for index in 0..zip.len() {
        claimed = claimed.saturating_add(zip.by_index_raw(index)?.size());
    }
    ensure!(claimed <= MAX_BYTES, "it unpacks to more than {} MB", MAX_BYTES / 1024 / 1024);
    let mut files = BTreeMap::new();
    for index in 0..zip.len() {
        let file = zip.by_index(index)?;
        let name = file.name()?.into_owned();
        ensure!(
            name.len() <= MAX_NAME_BYTES && !name.contains(char::is_control),
            "a file has an invalid name"
        );
        if file.is_dir() {
            continue;
        }
        let kind = file.unix_mode().unwrap_or_default() & KIND_OF_FILE;
        ensure!(kind == 0 || kind == REGULAR_FILE, "{name} is a link or a device, not a file");
        let size = file.size();
        let mut contents = Vec::new();
        let unpacked = file.take(size + 1).read_to_end(&mut contents);
        // The library checks the size itself for some methods of compression.
        ensure!(
            unpacked.is_ok_and(|length| length as u64 == size),
            "{name} is damaged, or its length is not the one that the archive states"
        );
        ensure!(files.insert(name.clone(), contents).is_none(), "{name} is in it twice");
    }
    Ok(files)
}
