//! `fogpost audit verify --anchors`: proves from players' own mails what the club's anchors prove.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;

use crate::audit::{AnchorVerdict, AnchorWitness};
use crate::cli::arguments::read_file;
use crate::cli::output::print_json;
use crate::daemon::Office;
use crate::letter::Digest;

/// Maximum bytes of a player's mail.
pub const MAX_MAIL_BYTES: u64 = 64 * 1024 * 1024;

/// Reads mails and hashes, checks them, and prints what they prove.
pub async fn run(evidence: &[PathBuf], json: bool, office: &Office) -> anyhow::Result<ExitCode> {
    let mut witnesses = Vec::new();
    for path in evidence {
        let name = path.display().to_string();
        let witness = match name.parse::<Digest>() {
            Ok(hash) => office.witness_of_hash(hash).await?,
            Err(_) => AnchorWitness::of_mail(&name, &read_file(path, MAX_MAIL_BYTES)?),
        };
        ensure!(!witness.is_empty(), "{name}: neither an anchor nor the head of a ledger of this club");
        witnesses.push(witness);
    }
    let verdict = office.verify_anchors(witnesses).await?;
    if json {
        print_json(&verdict);
    } else {
        show(&verdict);
    }
    Ok(if verdict.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(verdict: &AnchorVerdict) {
    for told in &verdict.told {
        let (day, root, names) = (told.anchor.day, told.anchor.root, told.told_by.join(", "));
        println!("anchor of {day}: {root} (CLUB #{}), as told by {names}", told.entry);
    }
    for dated in &verdict.entries {
        let by = if dated.is_told { "a letter tells its anchor" } else { "by the club's book alone" };
        println!(
            "{} entry #{} ({}) existed by {} (CLUB #{}): {by}",
            dated.match_id, dated.entry, dated.hash, dated.day, dated.anchor
        );
    }
    for line in &verdict.later {
        println!("{} {}: no anchor covers it yet", line.match_id, line.hash);
    }
    verdict.findings.iter().for_each(|finding| println!("NOT SOUND: {}: {}", finding.place, finding.what));
}
