//! `fogpost audit import`: a finished match of another club, checked and then stored.
//!
//! A dossier may come from anybody, so its size is limited before anything is unpacked.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use memchr::memmem;
use zip::ZipArchive;

use crate::audit::dossier;
use crate::cli::arguments::read_file;
use crate::daemon::Office;

/// Check a dossier and import the finished match into this club's database
#[derive(clap::Args)]
pub struct Args {
    /// Dossier written by audit export
    #[arg(value_name = "DOSSIER.zip")]
    file: PathBuf,
}

/// Maximum bytes of a dossier. One of a match of 20 turns has 1 MB.
const MAX_ARCHIVE_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum bytes of an unpacked dossier, which is held in memory.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Maximum files in a dossier, one for each letter in or out.
const MAX_FILES: usize = 20_000;

/// Maximum bytes of a file's name.
const MAX_NAME_BYTES: usize = 200;

/// Begins the description of each file in an archive's central directory.
const ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";

impl Args {
    pub async fn run(self, office: &Office) -> anyhow::Result<ExitCode> {
        let name = self.file.display().to_string();
        let archive = read_file(&self.file, MAX_ARCHIVE_BYTES)?;
        let files = unpack(archive).with_context(|| name.clone())?;
        let brought = dossier::read(files).map_err(anyhow::Error::msg).with_context(|| name.clone())?;
        let club = brought.club.clone();
        let verdict = office.take_dossier(brought).await.with_context(|| name)?;
        println!("{} of {club} is sound and was imported: {} entries", verdict.match_id, verdict.entries);
        verdict.unable.iter().for_each(|what| println!("  {what}"));
        Ok(ExitCode::SUCCESS)
    }
}

fn unpack(archive: Vec<u8>) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    // Count before the library builds a table of them, whatever number the archive claims.
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
            "a file has a strange name"
        );
        let size = file.size();
        let mut contents = Vec::new();
        let unpacked = file.take(size + 1).read_to_end(&mut contents);
        // The library checks the size itself for some methods of compression.
        ensure!(
            unpacked.is_ok_and(|length| length as u64 == size),
            "{name} is damaged, or has another length than the archive says"
        );
        files.insert(name, contents);
    }
    Ok(files)
}
