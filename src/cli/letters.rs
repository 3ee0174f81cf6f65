//! `fogpost letters`: lists incoming letters, prints one byte for byte, or lists unsent mail.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde_json::json;

use super::arguments::{ActingGm, Output, UnsealingRequest, address_of, person, whom};
use super::instruct::carry_out;
use super::output::{list_time, print_json, print_list, put, put_text};
use crate::daemon::audit::withheld;
use crate::daemon::instruct::Fog;
use crate::daemon::sending::resend::{self, MAX_RESENT, Resent};
use crate::daemon::{Office, Unseal, instruct, items};
use crate::letter::Digest;
use crate::referee::{Instruction, is_digest_prefix};
use crate::report::{count_of, excerpt};
use crate::request::Whom;
use crate::store::{DispatchFilter, DispatchRow, LetterFilter, LetterRow, LetterStatus};
use crate::zone::Zone;

/// List incoming letters with their status, print one, or accept one
///
/// The contents and the time of a letter in a running match are shown only with --unseal and --gm. If a GM plays
/// in it, its letters are not even listed without them.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the letter whose digest begins with this, byte for byte
    #[arg(long, value_name = "DIGEST")]
    raw: Option<String>,
    /// List the referee's unsent mail instead, waiting or given up
    #[arg(long, conflicts_with_all = ["raw", "match_id", "from", "since", "status"])]
    unsent: bool,
    /// Only letters that were ruled on in this match
    #[arg(long = "match", value_name = "MATCH")]
    match_id: Option<String>,
    /// Only letters from this person: name, a part of it, number or address
    #[arg(long, value_name = "PLAYER", value_parser = whom)]
    from: Option<Whom>,
    /// Only letters received since this day (in UTC) or time, such as 2026-05-07; without --unseal this leaves out
    /// sealed letters, whose time the rules hide
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<DateTime<Utc>>,
    /// Only letters with this status
    #[arg(long, value_parser = status)]
    status: Option<LetterStatus>,
    /// Maximum number of lines, newest first
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    unsealing: UnsealingRequest,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Rule on a letter that was taken for automatic mail, exceeded a limit, or was set aside
    ///
    /// This overrules the classification of the letter, never the identity of its sender.
    Accept {
        /// Beginning of the letter's digest, as `fogpost letters` lists it
        digest: String,
        #[command(flatten)]
        gm: ActingGm,
        #[command(flatten)]
        output: Output,
    },
    /// Rule on a letter and discard the ruling: the daemon runs this for a letter that may have crashed it
    #[command(hide = true)]
    Try {
        /// The letter's digest
        digest: Digest,
    },
    /// Show letters of the referee, and send them again after asking
    ///
    /// A letter that was given up is sent unchanged. A letter that the mail server accepted is sent as a
    /// copy, with a new Message-ID and Resent- fields.
    Resend {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        unsealing: UnsealingRequest,
        /// Send without asking
        #[arg(long)]
        yes: bool,
        /// Only show what would be sent
        #[arg(long, conflicts_with = "yes")]
        check: bool,
    },
    /// List the letters of the referee that were given up
    GivenUp {
        /// Acknowledge them, so that `fogpost status` no longer complains
        #[arg(long)]
        seen: bool,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
#[group(required = true, multiple = true)]
struct Which {
    /// Only letters about this match
    #[arg(long = "match", value_name = "MATCH")]
    match_id: Option<String>,
    /// Only letters to this person: name, a part of it, number or address
    #[arg(long, value_name = "PLAYER", value_parser = whom)]
    to: Option<Whom>,
    /// Only the letter with this number, as `fogpost letters resend --check` lists it
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i64).range(1..))]
    number: Option<i64>,
    /// Only letters that were given up
    #[arg(long)]
    given_up: bool,
    /// Only letters written since this day (in UTC) or time, such as 2026-05-07 or 2026-05-07T18:00:00Z
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<DateTime<Utc>>,
}

fn since(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(at) = text.parse::<DateTime<Utc>>() {
        return Ok(at);
    }
    let day = text.parse::<NaiveDate>().map_err(|_| "try 2026-05-07 or 2026-05-07T18:00:00Z".to_owned())?;
    Ok(day.and_time(NaiveTime::MIN).and_utc())
}

fn status(text: &str) -> Result<LetterStatus, String> {
    LetterStatus::parse(text).ok_or_else(|| format!("known statuses are {}", LetterStatus::NAMES.join(", ")))
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| {
            match &self.command {
                Some(Command::Accept { digest, gm, output }) => {
                    return accept(office, digest, gm, *output).await;
                }
                Some(Command::Try { digest }) => {
                    items::try_letter(office, *digest).await?;
                    return Ok(ExitCode::SUCCESS);
                }
                Some(Command::Resend { which, unsealing, yes, check }) => {
                    let asked = unsealing.asked(&office.config.club.gm)?;
                    return resend(office, which, asked.as_ref(), *yes, *check).await;
                }
                Some(Command::GivenUp { seen, json }) => return list_given_up(office, *seen, *json).await,
                None => {}
            }
            let asked = self.unsealing.asked(&office.config.club.gm)?;
            match &self.raw {
                Some(prefix) => raw(office, prefix, asked.as_ref()).await?,
                None if self.unsent => {
                    let unsent = office.store.list_dispatches(true, self.limit).await?;
                    let fog = instruct::fog_at_terminal(office).await?;
                    let unsent = unsent.into_iter().filter(|row| !tells_of_letters(row, &fog));
                    print_unsent(office, &unsent.collect::<Vec<_>>(), self.json)
                }
                None => self.list(office, asked.as_ref()).await?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    async fn list(&self, office: &Office, asked: Option<&Unseal>) -> anyhow::Result<()> {
        let filter = self.filter(office).await?;
        let fog = instruct::fog_at_terminal(office).await?;
        let hiding = if asked.is_some() { &Fog::default() } else { &fog };
        let mut listed = self.found(office, &filter, hiding, asked.is_some()).await?;
        if asked.is_some() {
            unseal_listed(office, &mut listed, asked).await?;
        }
        if self.json {
            listed.iter().for_each(|letter| print_json(&as_json(letter)));
            return Ok(());
        }
        let head = ["letter", "received", "from", "subject", "status", "seat", "note"];
        let zone = office.config.terms.zone;
        let rows = listed.iter().map(|letter| columns(letter, zone, office.now())).collect();
        print_list(&head, rows, "No letter fits.");
        if listed.iter().any(Listed::is_sealed) {
            println!(
                "Letters of running matches are sealed: --unseal REASON --gm NAME shows their contents."
            );
        }
        // Say so whether or not there are any such letters.
        if asked.is_none() && !fog.matches.is_empty() {
            let ids: Vec<&str> = fog.matches.iter().map(String::as_str).collect();
            println!(
                "Letters of running matches in which a GM plays ({}) are not listed: --unseal REASON --gm NAME \
                 lists them.",
                ids.join(", ")
            );
        }
        Ok(())
    }

    /// Returns which letters are to be listed.
    async fn filter(&self, office: &Office) -> anyhow::Result<LetterFilter> {
        let match_id = self.match_id.as_ref().map(|id| id.to_ascii_uppercase());
        if let Some(id) = &match_id
            && office.store.snapshots(std::slice::from_ref(id)).await?.is_empty()
        {
            bail!("there is no match {id}; `fogpost match list` lists them all");
        }
        let senders = match &self.from {
            None => Vec::new(),
            Some(whom) => match (person(whom, &office.store.players().await?), whom) {
                (Ok(player), _) => player.addresses.clone(),
                // Strangers write, too.
                (Err(_), Whom::Address(address)) => vec![address.to_string()],
                (Err(nobody), Whom::Named(_)) => bail!("{nobody}"),
            },
        };
        Ok(LetterFilter {
            status: self.status,
            match_id,
            senders,
            since: self.since,
            ..LetterFilter::default()
        })
    }

    /// Finds the letters to list, each with the running matches that seal it.
    async fn found(
        &self,
        office: &Office,
        filter: &LetterFilter,
        fog: &Fog,
        is_unsealing: bool,
    ) -> anyhow::Result<Vec<Listed>> {
        let mut sealed: BTreeMap<Digest, Vec<String>> = BTreeMap::new();
        let (mut listed, mut most) = (Vec::new(), self.limit);
        loop {
            let letters = office.store.find_letters(filter, most).await?;
            let is_all = letters.len() < most as usize;
            listed.clear();
            for letter in letters {
                let sealed_by = match sealed.get(&letter.digest) {
                    Some(known) => known.clone(),
                    None => withheld::matches_sealing(office, &letter).await?,
                };
                sealed.insert(letter.digest, sealed_by.clone());
                // To choose by the time would tell the time.
                let tells_time = self.since.is_some() && !sealed_by.is_empty() && !is_unsealing;
                if !tells_time && !fog.hides_arrival(&sealed_by, letter.status) {
                    listed.push(Listed { letter, sealed_by });
                }
            }
            // Hidden letters take nobody's place in the list: that would show how many there are.
            let missing = self.limit.saturating_sub(u32::try_from(listed.len()).unwrap_or(u32::MAX));
            if is_all || missing == 0 {
                return Ok(listed);
            }
            most = most.saturating_add(missing);
        }
    }
}

/// Whether a letter of ours would show a GM who plays in its match how often the other seat writes. A letter
/// that was given up is shown all the same, because somebody has to act on it.
fn tells_of_letters(row: &DispatchRow, fog: &Fog) -> bool {
    row.given_up_at.is_none() && row.match_id.as_ref().is_some_and(|id| fog.matches.contains(id))
}

fn print_unsent(office: &Office, dispatches: &[DispatchRow], json: bool) {
    if json {
        dispatches.iter().for_each(|dispatch| print_json(&unsent_as_json(dispatch)));
        return;
    }
    let rows = dispatches.iter().map(|dispatch| {
        vec![
            dispatch.id.to_string(),
            list_time(dispatch.created_at, office.config.terms.zone, office.now()),
            dispatch.recipient.clone(),
            dispatch.kind.to_string(),
            dispatch.match_id.clone().unwrap_or_default(),
            state(dispatch).to_owned(),
            dispatch.tries.to_string(),
            dispatch.error.clone(),
        ]
    });
    let head = ["number", "written", "to", "kind", "match", "state", "tries", "error"];
    print_list(&head, rows.collect(), "No letter of the referee fits.");
}

fn state(dispatch: &DispatchRow) -> &'static str {
    match dispatch.sent_at {
        Some(_) => "sent",
        None if dispatch.given_up_at.is_some() => "given up",
        None => "waiting",
    }
}

/// Asks a question, and returns whether the next line of standard input begins with `y`.
fn ask_yes_or_no(question: &str) -> anyhow::Result<bool> {
    eprint!("{question} [y/N] ");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("failed to read standard input")?;
    Ok(line.trim_start().starts_with(['y', 'Y']))
}

async fn resend(
    office: &Office,
    which: &Which,
    asked: Option<&Unseal>,
    yes: bool,
    check: bool,
) -> anyhow::Result<ExitCode> {
    let recipient = match &which.to {
        None => None,
        Some(whom) => Some(address_of(whom, &office.store.players().await?).map_err(anyhow::Error::msg)?),
    };
    let filter = DispatchFilter {
        match_id: which.match_id.as_ref().map(|id| id.to_ascii_uppercase()),
        recipient: recipient.map(|address| address.to_string()),
        id: which.number,
        only_given_up: which.given_up,
        since: which.since,
    };
    let found = resend::find(office, &filter).await?;
    let rows: Vec<DispatchRow> = found.into_iter().map(|(row, _)| row).collect();
    let fog = instruct::fog_at_terminal(office).await?;
    let telling = rows.iter().filter(|row| tells_of_letters(row, &fog));
    let sealing: BTreeSet<String> = telling.filter_map(|row| row.match_id.clone()).collect();
    withheld::unseal(office, &Vec::from_iter(sealing), asked, "the list of the referee's letters").await?;
    print_unsent(office, &rows, false);
    let number = rows.iter().filter(|row| row.sent_at.is_some() || row.given_up_at.is_some()).count();
    let letters = count_of(number, "letter", "letters");
    if number == 0 || check {
        println!("{letters} would be sent again; nothing was done.");
        return Ok(ExitCode::SUCCESS);
    }
    if !yes && !ask_yes_or_no(&format!("Send {letters} again?"))? {
        println!("Nothing was sent.");
        return Ok(ExitCode::FAILURE);
    }
    let Resent { queued, copied, without_picture, waiting } = resend::resend(office, &filter).await?;
    println!(
        "{queued} given up before and {copied} sent before are queued again; {waiting} were waiting already."
    );
    if without_picture > 0 {
        println!(
            "{without_picture} go without their picture: it was deleted, and cannot be drawn again exactly."
        );
    }
    if queued + copied + waiting >= MAX_RESENT as usize {
        println!("These are the newest {MAX_RESENT}; narrow the choice to reach others.");
    }
    Ok(ExitCode::SUCCESS)
}

async fn list_given_up(office: &Office, seen: bool, json: bool) -> anyhow::Result<ExitCode> {
    let filter = DispatchFilter { only_given_up: true, ..DispatchFilter::default() };
    let found = office.store.find_dispatches(&filter, MAX_RESENT).await?;
    let rows: Vec<DispatchRow> = found.into_iter().map(|(row, _)| row).collect();
    print_unsent(office, &rows, json);
    if rows.len() >= MAX_RESENT as usize && !json {
        println!("These are the newest {MAX_RESENT}.");
    }
    if seen {
        office.store.mark_given_up_seen().await?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn accept(office: &Office, digest: &str, gm: &ActingGm, output: Output) -> anyhow::Result<ExitCode> {
    ensure!(
        is_digest_prefix(digest),
        "{digest} is not the beginning of a letter's digest; `fogpost letters` lists them"
    );
    let instruction = Instruction::AcceptLetter { digest: digest.to_ascii_lowercase() };
    carry_out(office, gm, &instruction, output).await
}

fn unsent_as_json(dispatch: &DispatchRow) -> serde_json::Value {
    json!({
        "message_id": dispatch.message_id,
        "created_at": dispatch.created_at,
        "to": dispatch.recipient,
        "kind": dispatch.kind,
        "match": dispatch.match_id,
        "tries": dispatch.tries,
        "given_up": dispatch.given_up_at.is_some(),
        "error": dispatch.error,
    })
}

/// A letter, and the running matches that seal it.
struct Listed {
    letter: LetterRow,
    sealed_by: Vec<String>,
}

impl Listed {
    fn is_sealed(&self) -> bool {
        !self.sealed_by.is_empty()
    }
}

/// Unseals letters for a GM.
async fn unseal_listed(office: &Office, listed: &mut [Listed], asked: Option<&Unseal>) -> anyhow::Result<()> {
    let sealing: BTreeSet<String> = listed.iter().flat_map(|letter| letter.sealed_by.clone()).collect();
    withheld::unseal(office, &Vec::from_iter(sealing), asked, "the list of letters").await?;
    listed.iter_mut().for_each(|letter| letter.sealed_by.clear());
    Ok(())
}

fn columns(listed: &Listed, zone: Zone, now: DateTime<Utc>) -> Vec<String> {
    let Listed { letter, sealed_by } = listed;
    let digest = letter.digest.to_string()[..12].to_owned();
    let status = letter.status.as_str().to_owned();
    if listed.is_sealed() {
        let (sender, matches) = (letter.sender.clone(), sealed_by.join(" "));
        return vec![
            digest,
            "(sealed)".to_owned(),
            sender,
            "(sealed)".to_owned(),
            status,
            matches,
            String::new(),
        ];
    }
    vec![
        digest,
        list_time(letter.received_at, zone, now),
        letter.sender.clone(),
        letter.subject.chars().take(40).collect(),
        status,
        letter.seat.as_ref().map(|(id, seat)| format!("{id} {seat}")).unwrap_or_default(),
        // A person's words can be long; the JSON has them in full.
        note(letter).chars().take(80).collect(),
    ]
}

fn as_json(listed: &Listed) -> serde_json::Value {
    let Listed { letter, sealed_by } = listed;
    if listed.is_sealed() {
        return json!({
            "letter": letter.digest,
            "from": letter.sender,
            "status": letter.status.as_str(),
            "sealed_by": sealed_by,
        });
    }
    json!({
        "letter": letter.digest,
        "received_at": letter.received_at,
        "from": letter.sender,
        "subject": letter.subject,
        "size": letter.size,
        "status": letter.status.as_str(),
        "match": letter.seat.as_ref().map(|(id, _)| id),
        "seat": letter.seat.as_ref().map(|(_, seat)| seat),
        "note": letter.note,
        "bytes_deleted_at": letter.bytes_deleted_at,
    })
}

/// Explains why a letter has its status, and whether its bytes were deleted.
fn note(letter: &LetterRow) -> String {
    match (letter.bytes_deleted_at, excerpt(&letter.note)) {
        (None, note) => note,
        (Some(_), note) if note.is_empty() => "bytes deleted".to_owned(),
        (Some(_), note) => format!("{note} (bytes deleted)"),
    }
}

async fn raw(office: &Office, prefix: &str, asked: Option<&Unseal>) -> anyhow::Result<()> {
    ensure!(
        !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "name the letter by the first digits of its digest; `fogpost letters` lists them"
    );
    let store = &office.store;
    let found = store.letters(None, None, &prefix.to_ascii_lowercase(), 2).await?;
    let letter = match &found[..] {
        [one] => one,
        [] => bail!("no letter's digest begins with {prefix}"),
        _ => bail!("several letters' digests begin with {prefix}; give more digits"),
    };
    if let Some(at) = letter.bytes_deleted_at {
        bail!(
            "the bytes of letter {} were deleted on {}, because it caused no entry in a ledger",
            letter.digest,
            at.date_naive()
        );
    }
    let raw = store.letter(letter.digest).await?.context("the letter's bytes are missing")?;
    let digest = &letter.digest.to_string()[..12];
    let sealing = withheld::matches_sealing(office, letter).await?;
    if !sealing.is_empty() && asked.is_none() {
        bail!(
            "the letter is sealed, because {} is not over; to read it, write `fogpost letters --raw {digest} --unseal \
             REASON --gm NAME`: both players read that with the result",
            sealing.join(", ")
        );
    }
    withheld::unseal(office, &sealing, asked, &format!("letter {digest}")).await?;
    // A terminal would obey the escape sequences in it.
    match std::io::stdout().is_terminal() {
        true => put_text(&String::from_utf8_lossy(&raw).replace("\r\n", "\n")),
        false => put(&raw),
    }
    Ok(())
}
