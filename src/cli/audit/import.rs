//! `fogpost audit import`: a finished match of another club, checked and then stored.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use zip::ZipArchive;

use crate::audit::dossier;
use crate::daemon::Office;

/// Check a dossier and import the finished match into this club's database
#[derive(clap::Args)]
pub struct Args {
    /// Dossier written by audit export
    #[arg(value_name = "DOSSIER.zip")]
    file: PathBuf,
}

/// Maximum bytes of an unpacked dossier, which is held in memory.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

impl Args {
    pub async fn run(self, office: &Office) -> anyhow::Result<ExitCode> {
        let name = self.file.display().to_string();
        let files = self.unpack().with_context(|| name.clone())?;
        let brought = dossier::read(files).map_err(anyhow::Error::msg).with_context(|| name.clone())?;
        let club = brought.about.club.clone();
        let verdict = office.take_dossier(brought).await.with_context(|| name)?;
        println!("{} of {club} is sound and was imported: {} entries", verdict.match_id, verdict.entries);
        Ok(ExitCode::SUCCESS)
    }

    fn unpack(&self) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        let mut zip = ZipArchive::new(File::open(&self.file)?)?;
        let mut files = BTreeMap::new();
        let mut left = MAX_BYTES;
        for index in 0..zip.len() {
            let file = zip.by_index(index)?;
            let name = file.name()?.into_owned();
            let mut contents = Vec::new();
            let read = file.take(left + 1).read_to_end(&mut contents)? as u64;
            ensure!(read <= left, "it unpacks to more than {MAX_BYTES} bytes");
            left -= read;
            files.insert(name, contents);
        }
        Ok(files)
    }
}
