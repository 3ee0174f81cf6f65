//! `fogpost audit export`: the dossier of a match as a zip archive.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::audit::dossier::{CHECK_PROGRAM, DossierForm};
use crate::cli::arguments::UnsealingRequest;
use crate::daemon::Office;
use crate::daemon::audit::{book, dossier};
use crate::store::private;

/// Write a dossier that a third party can check with nothing but Python, or sha256sum and jq
#[derive(clap::Args)]
pub struct Args {
    /// Match, such as QZ-7K3M, or event, such as EV-SPRING; an event's book is written as text, one entry per
    /// line, with the program check.py beside it
    #[arg(value_name = "MATCH")]
    id: String,
    /// Archive to write; it must not exist yet
    #[arg(value_name = "FILE.zip")]
    file: PathBuf,
    /// Include the letters' bytes, addresses and reply tokens, for an arbiter and `audit check`; renews the
    /// tokens first
    #[arg(long)]
    arbiter: bool,
    #[command(flatten)]
    unsealing: UnsealingRequest,
}

impl Args {
    pub async fn run(self, office: &Office) -> anyhow::Result<ExitCode> {
        let name = self.file.display().to_string();
        let id = self.id.to_ascii_uppercase();
        if id.starts_with("EV-") {
            // Write canonical JSON, so that the `sha256sum` of a line is the `prev` of the next.
            let rows = book::rows(office, &id).await?;
            let mut out = private::create_new(&self.file).with_context(|| name.clone())?;
            for row in &rows {
                writeln!(out, "{}", row.json)?;
            }
            let program = self.check_program()?;
            println!(
                "{name}: {} entries; the book names players by number only. python3 {} {name} checks it",
                rows.len(),
                program.display()
            );
            return Ok(ExitCode::SUCCESS);
        }
        let out = private::create_new(&self.file).with_context(|| name.clone())?;
        let written = self.write(office, out).await;
        if written.is_err() {
            // An incomplete dossier is useless, and would be in the way of the next attempt.
            let _ = std::fs::remove_file(&self.file);
        }
        let files = written.with_context(|| name.clone())?;
        println!(
            "{name}: {files} files; python3 check.py checks them, and CHECK.txt explains how to do so by hand"
        );
        if self.arbiter {
            println!("The reply tokens in it are no longer valid; the players get new ones by letter");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the program that checks a book beside it, unless it is there.
    fn check_program(&self) -> anyhow::Result<PathBuf> {
        let program = self.file.with_file_name("check.py");
        if !program.exists() {
            std::fs::write(&program, CHECK_PROGRAM).with_context(|| program.display().to_string())?;
        }
        Ok(program)
    }

    async fn write(&self, office: &Office, out: File) -> anyhow::Result<usize> {
        let form = if self.arbiter { DossierForm::Arbiter } else { DossierForm::Public };
        let asked = self.unsealing.asked(&office.config.club.gm)?;
        let files = dossier::dossier(office, &self.id, form, asked.as_ref()).await?;
        let mut zip = ZipWriter::new(out);
        for (file, contents) in &files {
            zip.start_file(file.as_str(), SimpleFileOptions::default().unix_permissions(0o644))?;
            zip.write_all(contents)?;
        }
        zip.finish()?.sync_all()?;
        Ok(files.len())
    }
}
