//! Everything stored about one match, for its account and for its dossier.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{bail, ensure};

use super::verify;
use super::withheld::{self, ruled_letters};
use crate::audit::account::{ArchivedDispatch, MatchArchive};
use crate::audit::dossier::{self, About, DossierForm, LetterRecord, SeatHolder};
use crate::daemon::waiting::run_blocking;
use crate::daemon::{Office, instruct, rulings};
use crate::desk::frame::stored::{both_seats, snapshot};
use crate::desk::gm::unseal::Unseal;
use crate::game::{BySeat, Seat};
use crate::ledger::Entry;
use crate::letter::Digest;
use crate::referee::{Act, Instruction, Match, MatchAction, Stage};
use crate::report::redraw;
use crate::store::{LetterStatus, NamedLetter, TokenRow};

/// Returns everything stored about a match. While the match runs, this includes what the rules hide, so a GM
/// must ask for it, and the ledger records the request and `what` it is for.
///
/// # Errors
/// Same as [`sealed::unseal`], or if there is no such match.
pub async fn material(
    office: &Office,
    match_id: &str,
    asked: Option<&Unseal>,
    what: &str,
) -> anyhow::Result<MatchArchive> {
    let id = match_id.to_ascii_uppercase();
    let row = rulings::match_row(office, &id).await?;
    let mut game_match = snapshot(&row.id, &row.snapshot)?;
    if game_match.stage != Stage::Over {
        withheld::unseal(office, std::slice::from_ref(&id), asked, what).await?;
        game_match = snapshot(&row.id, &rulings::match_row(office, &id).await?.snapshot)?;
    }
    let mut entries: Vec<Entry> = Vec::new();
    for row in office.store.entries(&id).await? {
        // Somebody may have ruled on the match since it was loaded.
        if row.seq <= game_match.head.seq {
            entries.push(serde_json::from_str(&row.json)?);
        }
    }
    let named: Vec<Digest> = entries.iter().flat_map(Entry::letters).collect();
    let mut letters = BTreeMap::new();
    let mut take = |row: NamedLetter| drop(letters.insert(row.digest, row.raw));
    office.store.letters_named(&named, &mut take).await?;
    let withheld = withheld::withhold(office, &game_match, &entries, &mut letters).await?;
    let posted = office.store.dispatches_of(&id).await?.into_iter().map(|(about, bytes)| ArchivedDispatch {
        message_id: about.message_id,
        recipient: about.recipient,
        kind: about.kind,
        seat: about.seat,
        created_at: about.created_at,
        sent_at: about.sent_at,
        bytes,
        withheld: false,
    });
    let dispatches = posted.collect();
    let mut archive = MatchArchive { game_match, entries, letters, withheld, dispatches };
    archive.withhold_answers();
    Ok(archive)
}

/// Returns the files of a match's dossier, by name. The arbiter's dossier holds reply tokens, so the tokens
/// of both seats are renewed first; the players get the new ones by letters that are not in the dossier.
///
/// # Errors
/// Same as [`material`], or if the match does not verify.
pub async fn dossier(
    office: &Office,
    match_id: &str,
    form: DossierForm,
    asked: Option<&Unseal>,
) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut material = material(office, match_id, asked, "the dossier").await?;
    let id = material.game_match.id.clone();
    if let Some(who) = office.store.forgotten_in(&id).await? {
        bail!("{id} has no dossier: the letters of {who}, who was forgotten, are withheld");
    }
    let verdict = verify::verify(office, &id, &|_| ()).await?;
    if let Some(finding) = verdict.findings.first() {
        bail!("{id} does not verify; {}: {}", finding.place, finding.what);
    }
    let seats = both_seats(&office.store.seats_of(std::slice::from_ref(&id)).await?, &id)?;
    let is_over = material.game_match.stage == Stage::Over;
    let players = BySeat::from_fn(|seat| {
        let name = seats[seat].player.name.clone();
        match form {
            DossierForm::Public => SeatHolder { name, addresses: Vec::new(), token: String::new() },
            DossierForm::Arbiter => SeatHolder {
                name,
                addresses: seats[seat].player.addresses.clone(),
                token: seats[seat].token.clone(),
            },
        }
    });
    let is_arbiters = form == DossierForm::Arbiter;
    if is_arbiters {
        material = redraw_pictures(material).await?;
    }
    // Load the pins before the tokens are renewed, or they would reveal the new ones.
    let pins = if is_arbiters { office.store.seat_pins(&id).await? } else { Vec::new() };
    match form {
        DossierForm::Public => withheld::keep_parts_only(office, &mut material).await?,
        DossierForm::Arbiter => renew_tokens(office, &material.game_match, &seats).await?,
    }
    let letters = letter_records(office, &material).await?;
    let is_whole = is_over && is_arbiters;
    let about = About {
        fogpost: dossier::FORMAT,
        form,
        club: office.config.club.name.clone(),
        match_id: id.clone(),
        over: is_over,
        players,
        pins,
        head: material.game_match.head,
        last_pins: material.game_match.pins.clone(),
        snapshot: is_whole.then(|| material.game_match.clone()),
    };
    Ok(dossier::files(&material, &letters, &about)?)
}

/// Gives both seats of a match new reply tokens, except seats of the house and of forgotten players.
async fn renew_tokens(office: &Office, game_match: &Match, seats: &BySeat<TokenRow>) -> anyhow::Result<()> {
    for seat in Seat::BOTH {
        let is_forgotten = seats[seat].player.addresses.is_empty();
        if is_forgotten || game_match.house[seat].is_some() {
            continue;
        }
        let action = MatchAction::Act(Act::RenewOwnToken(seat));
        let instruction = Instruction::Match { id: game_match.id.clone(), turn: None, action };
        let done = instruct::carry_out(office, &instruction).await?;
        ensure!(done.is_done(), "failed to renew the reply token of {}", game_match.players[seat]);
    }
    Ok(())
}

/// Returns the letters that the entries of a match name, oldest first.
async fn letter_records(office: &Office, material: &MatchArchive) -> anyhow::Result<Vec<LetterRecord>> {
    let mut seats: BTreeMap<Digest, Seat> = BTreeMap::new();
    let mut rows =
        office.store.letters(Some(LetterStatus::Ruled), Some(&material.game_match.id), "", u32::MAX).await?;
    seats.extend(rows.iter().filter_map(|row| Some((row.digest, row.seat.as_ref()?.1))));
    seats.extend(ruled_letters(&material.entries).map(|cause| (cause.letter, cause.seat)));
    // A letter about several matches is listed under one of them, and one that opened the match under none.
    let listed: BTreeSet<Digest> = rows.iter().map(|row| row.digest).collect();
    let named: BTreeSet<Digest> = material.entries.iter().flat_map(Entry::letters).collect();
    for digest in named.difference(&listed) {
        rows.extend(office.store.letters(None, None, &digest.to_string(), 1).await?);
    }
    rows.sort_by_key(|row| row.received_at);
    let records = rows.into_iter().map(|row| LetterRecord {
        letter: row.digest,
        received_at: row.received_at,
        seat: seats.get(&row.digest).copied(),
        withheld_until: material.withheld.get(&row.digest).map(|withheld| withheld.until.clone()),
        blacked_out: false,
    });
    Ok(records.collect())
}

/// Draws dropped pictures of our letters again, if this version of the program draws them exactly as they
/// were.
async fn redraw_pictures(mut material: MatchArchive) -> anyhow::Result<MatchArchive> {
    let drawing = move || {
        let MatchArchive { game_match, entries, dispatches, .. } = &mut material;
        for dispatch in dispatches {
            let Some(seat) = dispatch.seat else { continue };
            let whole = redraw(&dispatch.bytes, &dispatch.message_id, seat, game_match, entries);
            dispatch.bytes = whole.unwrap_or_else(|| std::mem::take(&mut dispatch.bytes));
        }
        material
    };
    run_blocking(drawing).await
}
