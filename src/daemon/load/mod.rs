//! Loads the rows that letters or a decision need, in a few queries for all of them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use chrono::TimeDelta;

use super::Office;
use super::waiting::run_blocking;
use crate::club::events::event::Event;
use crate::config::Gm;
use crate::desk::frame::codes::LAPSE;
use crate::desk::frame::parallel::par_map;
use crate::desk::frame::rows::{Key, LoadedEvent, LoadedMatch, LoadedRows};
use crate::desk::matches::applicants::APPLICANT;
use crate::desk::outbox::budgets::seat_subject;
use crate::desk::outbox::gms;
use crate::ledger::book::BookEntry;
use crate::ledger::{Delivery, Entry};
use crate::letter::{Digest, Token};
use crate::referee::{DispatchKind, MatchOverview};
use crate::report::sent::plain_text;
use crate::store::{
    BudgetKey, EntryRow, EventRow, MatchRow, RESTORED, RESTORES, RestoredBackup, Restoring, SnapshotRow,
    TokenRow,
};

pub mod digest;
pub mod read;

/// Returns the keys of one kind.
macro_rules! keys {
    ($keys:expr, $kind:ident) => {
        $keys.iter().filter_map(|key| match key {
            Key::$kind(key) => Some(key.clone()),
            _ => None,
        })
    };
}

/// Returns the empty rows of a new decision.
pub async fn new_rows(office: &Office) -> anyhow::Result<LoadedRows> {
    let gms = office.config.club.gm.all();
    let mut keys: Vec<String> = gms.iter().map(gms::token_key).collect();
    keys.extend([CLUB_SECRET, RESTORED, RESTORES].map(str::to_owned));
    let stored: BTreeMap<String, String> = office.store.remembered_among(&keys).await?.into_iter().collect();
    let secret = match stored.get(CLUB_SECRET) {
        Some(secret) => secret.clone(),
        None => {
            let new = Digest::from(random()?).to_string();
            office.store.remember_first(CLUB_SECRET, &new).await?
        }
    };
    let restored = stored.get(RESTORED).and_then(|value| Restoring::read(value));
    let restores = RestoredBackup::list(stored.get(RESTORES).map(String::as_str))?;
    // What came after the first restore of a backup was never lost.
    let first = restores.iter().rfind(|restore| !restore.again).map(|restore| restore.at);
    Ok(LoadedRows {
        secret: *secret.parse::<Digest>().context("failed to read the club's secret")?.as_bytes(),
        gm_tokens: tokens_of_gms(office, &stored).await?,
        own_addresses: own_addresses(office).await?,
        restored_at: restored.and_then(Restoring::decided_until).min(first),
        restores,
        ..LoadedRows::new(office.now(), random()?)
    })
}

/// The key under which the club's secret is remembered, from which the codes, names, tokens and keys follow that a
/// letter brings about.
const CLUB_SECRET: &str = "club secret";

/// Replaces a GM's reply token, and voids the old one.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn renew_gm_token(office: &Office, gm: &Gm) -> anyhow::Result<()> {
    let token = Token::from_random(random()?).to_string();
    Ok(office.store.remember(&gms::token_key(gm), &token).await?)
}

/// Number of a player's rated results to load: PROFILE shows ten changes.
const SHOWN_RATINGS: u32 = 10;

/// Period in which a match lost by missed turns counts against a player.
const LOST_WITHIN: TimeDelta = TimeDelta::days(365);

/// Period in which matches lost by missed turns matter for entering an event: the year between two
/// vanishings, plus the time for which the second one has consequences.
const LOSSES_WITHIN: TimeDelta = TimeDelta::days(500);

/// Loads the rows under these keys, and keeps those that are loaded already.
pub async fn load(office: &Office, mut lacking: Vec<Key>, loaded: &mut LoadedRows) -> anyhow::Result<()> {
    let mut known = BTreeSet::new();
    lacking.retain(|key| known.insert(key.clone()));
    load_matches_and_mail(office, &lacking, loaded).await?;
    load_people(office, &lacking, loaded).await?;
    load_for_gms(office, &lacking, loaded).await
}

/// Adds matches whose rows are already loaded.
pub async fn load_match_rows(
    office: &Office,
    rows: Vec<MatchRow>,
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let seats = office.store.seats_of(&ids).await.context("failed to load the seats")?;
    read_matches(office, rows.into_iter().map(SnapshotRow::from).collect(), seats, loaded).await
}

/// Loads every match without its snapshot: a club may have more snapshots than fit into memory.
async fn load_overviews(office: &Office) -> anyhow::Result<Vec<MatchOverview>> {
    let mut overviews = Vec::new();
    office.store.list_matches(None, &mut |game_match| overviews.push(game_match)).await?;
    Ok(overviews)
}

/// Logs a match whose snapshot cannot be read or whose rules this program does not know.
pub fn log_unusable(match_id: &str, error: &anyhow::Error) {
    tracing::error!(match_id, error = format!("{error:#}"), "this program cannot rule on the match");
}

/// Returns random bytes from the system.
///
/// # Errors
/// Returns an error if the system gives none.
pub fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes)
}

/// Returns the reply tokens for letters to the GMs, in the order of the config, and creates missing ones.
pub async fn gm_tokens(office: &Office) -> anyhow::Result<Vec<String>> {
    let keys: Vec<String> = office.config.club.gm.all().iter().map(gms::token_key).collect();
    let stored = office.store.remembered_among(&keys).await?.into_iter().collect();
    tokens_of_gms(office, &stored).await
}

async fn tokens_of_gms(office: &Office, stored: &BTreeMap<String, String>) -> anyhow::Result<Vec<String>> {
    let mut tokens = Vec::new();
    for gm in office.config.club.gm.all() {
        let own = gms::token_key(gm);
        let token = match stored.get(&own) {
            Some(token) => token.clone(),
            None => {
                // Another daemon may create one at the same time; the first one stored counts.
                let new = Token::from_random(random()?).to_string();
                office.store.remember_first(&own, &new).await?
            }
        };
        tokens.push(token);
    }
    Ok(tokens)
}

/// Prefix of the keys under which the club's addresses are remembered.
const ADDRESS_KEYS: &str = "club address ";

/// Returns the addresses that the club has, or had, and remembers the present one: letters from before a move to another
/// address are answered at the old one.
async fn own_addresses(office: &Office) -> anyhow::Result<BTreeSet<String>> {
    let remembered = office.store.remembered_under(ADDRESS_KEYS).await?.into_iter();
    let mut all: BTreeSet<String> =
        remembered.filter_map(|(key, _)| Some(key.strip_prefix(ADDRESS_KEYS)?.to_owned())).collect();
    let present = office.config.club.address.as_str();
    if all.insert(present.to_owned()) {
        office.store.remember(&format!("{ADDRESS_KEYS}{present}"), "").await?;
    }
    Ok(all)
}

async fn load_matches_and_mail(
    office: &Office,
    lacking: &[Key],
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    let mut budgets: BTreeSet<String> = keys!(lacking, Budget).collect();
    load_tokens(office, keys!(lacking, Token).collect(), &mut budgets, loaded).await?;
    load_budgets(office, budgets, loaded).await?;
    load_matches(office, keys!(lacking, Match).collect(), loaded).await?;
    for player in keys!(lacking, MatchesOf) {
        let matches = office.store.matches_of(player).await?;
        loaded.matches_of.insert(player, matches);
    }
    load_names(office, keys!(lacking, Name).collect(), loaded).await?;
    for id in keys!(lacking, Entries) {
        let entries = ledger_entries(office, &id).await?;
        loaded.entries.insert(id, entries);
    }
    for id in keys!(lacking, Reports) {
        let mut sent = office.store.dispatches_of(&id).await?;
        sent.retain(|(about, _)| about.kind == DispatchKind::Report);
        loaded.reports.insert(id, sent);
    }
    load_texts(office, keys!(lacking, Text).collect(), loaded).await?;
    let mut dispatches: BTreeSet<String> = keys!(lacking, Dispatch).collect();
    load_return_ids(office, keys!(lacking, ReturnId).collect(), &mut dispatches, loaded).await?;
    load_dispatches(office, dispatches, loaded).await
}

async fn load_people(office: &Office, lacking: &[Key], loaded: &mut LoadedRows) -> anyhow::Result<()> {
    // Look players up before adding any: a letter may ask for a player first, and add them later.
    load_players(office, keys!(lacking, Player).collect(), loaded).await?;
    for (address, name) in keys!(lacking, NewPlayer) {
        let player = office.store.find_or_add_player(&address, &name, loaded.at).await?;
        // The first name counts, as if the players were added one by one.
        loaded.seated.entry(address).or_insert(player);
    }
    if lacking.contains(&Key::PlayerNames) {
        loaded.listed_players = Some(office.store.listed_players().await?);
    }
    if lacking.contains(&Key::Applicants) {
        loaded.applicants = Some(office.store.remembered_under(APPLICANT).await?);
    }
    load_club(office, lacking, loaded).await?;
    load_senders(office, keys!(lacking, Sender).collect(), loaded).await?;
    for (inviter, invited) in keys!(lacking, Declined) {
        let found = office.store.has_declined(&inviter, &invited).await?;
        loaded.declined.insert((inviter, invited), found);
    }
    for player in keys!(lacking, UnprovenOf) {
        let rows = office.store.unproven_letters(player, loaded.at - LAPSE).await?;
        loaded.unproven.entry(player).or_insert(rows);
    }
    for gm in keys!(lacking, UnprovenOfGm) {
        let rows = office.store.unproven_letters_of_gm(&gm, loaded.at - LAPSE).await?;
        loaded.unproven_of_gm.entry(gm).or_insert(rows);
    }
    for code in keys!(lacking, UnprovenUnder) {
        let rows = office.store.unproven_under(&code, loaded.at - LAPSE).await?;
        loaded.unproven_under.entry(code).or_insert(rows);
    }
    for player in keys!(lacking, ChangesOf) {
        let rows = office.store.changes_of(player, loaded.at - LAPSE).await?;
        loaded.changes.entry(player).or_insert(rows);
    }
    for code in keys!(lacking, Change) {
        let found = office.store.change_under(&code).await?;
        loaded.changes_by_code.entry(code).or_insert(found);
    }
    for code in keys!(lacking, Invitation) {
        let found = office.store.invitation(&code).await?;
        loaded.invitations.entry(code).or_insert(found);
    }
    if lacking.contains(&Key::OpenInvitations) {
        loaded.open_invitations = Some(office.store.open_invitations(None).await?);
    }
    Ok(())
}

async fn load_players(office: &Office, asked: Vec<String>, loaded: &mut LoadedRows) -> anyhow::Result<()> {
    if asked.is_empty() {
        return Ok(());
    }
    let addresses: Vec<String> = asked.iter().map(|address| address.to_ascii_lowercase()).collect();
    let found = office.store.players_by_address(&addresses).await?;
    for (asked, address) in asked.into_iter().zip(&addresses) {
        let player = found.iter().find(|player| player.addresses.contains(address));
        loaded.players.entry(asked).or_insert_with(|| player.cloned());
    }
    Ok(())
}

/// Loads rows about players and offers.
async fn load_club(office: &Office, lacking: &[Key], loaded: &mut LoadedRows) -> anyhow::Result<()> {
    for player in keys!(lacking, Reliability) {
        let found = office.store.reliability(player, loaded.at - LOST_WITHIN).await?;
        loaded.reliability.entry(player).or_insert(found);
    }
    for (player, game) in keys!(lacking, Ratings) {
        let rows = office.store.ratings_of(player, game, SHOWN_RATINGS).await?;
        loaded.ratings.entry((player, game)).or_insert(rows);
    }
    for pair in keys!(lacking, RatedOpenings) {
        let opened = office.store.rated_openings(pair, loaded.at - TimeDelta::days(365)).await?;
        loaded.rated_openings.entry(pair).or_insert(opened);
    }
    load_events(office, lacking, loaded).await?;
    for game in keys!(lacking, RatingList) {
        let rows = office.store.ratings_in(game).await?;
        loaded.rating_lists.entry(game).or_insert(rows);
    }
    for id in keys!(lacking, Rematches) {
        let rows = office.store.rematches_of(&id).await?;
        loaded.rematches.entry(id).or_insert(rows);
    }
    for code in keys!(lacking, TakenFrom) {
        let rows = office.store.taken_from(&code).await?;
        loaded.taken_from.entry(code).or_insert(rows);
    }
    Ok(())
}

async fn load_events(office: &Office, lacking: &[Key], loaded: &mut LoadedRows) -> anyhow::Result<()> {
    for id in keys!(lacking, Event) {
        let found = load_event(office, &id).await?;
        loaded.events.entry(id).or_insert(found);
    }
    if lacking.contains(&Key::EventList) {
        loaded.event_list = Some(office.store.events().await?);
    }
    for player in keys!(lacking, Losses) {
        let found = office.store.losses_by_missed_turns(player, loaded.at - LOSSES_WITHIN).await?;
        loaded.losses.entry(player).or_insert(found);
    }
    Ok(())
}

/// Loads the rows that only GMs ask for.
async fn load_for_gms(office: &Office, lacking: &[Key], loaded: &mut LoadedRows) -> anyhow::Result<()> {
    for prefix in keys!(lacking, Letters) {
        let found = digest::letters_with(office, &prefix).await?;
        loaded.letters.insert(prefix, found);
    }
    if lacking.contains(&Key::Overviews) {
        loaded.overviews = Some(load_overviews(office).await?);
    }
    if lacking.contains(&Key::Ended) {
        loaded.ended = Some(digest::matches_ended_lately(office, loaded.at).await?);
    }
    for readers in keys!(lacking, Readers) {
        let players = digest::readers_of_announcements(office, readers).await?;
        loaded.readers_of.insert(readers, players);
    }
    for since in keys!(lacking, Digest) {
        loaded.digest = Some(digest::load_digest(office, since).await?);
    }
    Ok(())
}

/// Loads the seats with these tokens, and their matches. Adds the seats to `budgets`, as they may get an
/// answer.
async fn load_tokens(
    office: &Office,
    tokens: BTreeSet<String>,
    budgets: &mut BTreeSet<String>,
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    if tokens.is_empty() {
        return Ok(());
    }
    let tokens = Vec::from_iter(tokens);
    // The query returns both seats of each match, so that the match can be loaded without another query for
    // seats.
    let seats = office.store.seats_by_token(&tokens).await.context("failed to load the reply tokens")?;
    for row in seats.iter().filter(|row| tokens.binary_search(&row.token).is_ok()) {
        budgets.insert(seat_subject(&row.match_id, row.seat));
        loaded.tokens.insert(row.token.clone(), Some(row.clone()));
    }
    for token in tokens {
        loaded.tokens.entry(token).or_default();
    }
    load_matches_of_seats(office, seats, loaded).await
}

async fn load_matches(office: &Office, ids: Vec<String>, loaded: &mut LoadedRows) -> anyhow::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let seats = office.store.seats_of(&ids).await.context("failed to load the seats")?;
    load_matches_of_seats(office, seats, loaded).await?;
    for id in ids {
        loaded.matches.entry(id).or_default();
    }
    Ok(())
}

async fn load_matches_of_seats(
    office: &Office,
    seats: Vec<TokenRow>,
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    let ids: BTreeSet<String> = seats.iter().map(|row| row.match_id.clone()).collect();
    let rows = office.store.snapshots(&Vec::from_iter(ids)).await.context("failed to load the matches")?;
    read_matches(office, rows, seats, loaded).await
}

async fn load_names(office: &Office, names: Vec<String>, loaded: &mut LoadedRows) -> anyhow::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    for row in office.store.snapshots(&names).await? {
        loaded.names.insert(row.id, true);
    }
    for name in names {
        loaded.names.entry(name).or_insert(false);
    }
    Ok(())
}

/// Returns the entries of a match's ledger.
///
/// # Errors
/// Returns an error if the database does not answer, or if an entry cannot be read.
pub async fn ledger_entries(office: &Office, match_id: &str) -> anyhow::Result<Vec<Entry>> {
    read_entries(match_id, &office.store.entries(match_id).await?)
}

/// Reads the entries of a ledger.
pub fn read_entries(match_id: &str, rows: &[EntryRow]) -> anyhow::Result<Vec<Entry>> {
    let entries: Result<Vec<Entry>, _> = rows.iter().map(|row| serde_json::from_str(&row.json)).collect();
    entries.with_context(|| format!("failed to read the ledger of {match_id}"))
}

/// Loads the text of our letters, without the rest: a picture takes 20 to 60 kB.
async fn load_texts(office: &Office, ids: Vec<String>, loaded: &mut LoadedRows) -> anyhow::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let found = office.store.texts_by_message_id(&ids).await.context("failed to load our letters")?;
    let texts = run_blocking(move || par_map(&found, |(id, bytes)| (id.clone(), plain_text(bytes)))).await?;
    loaded.texts.extend(texts);
    Ok(())
}

/// Finds the dispatches with these return paths, and adds them to the dispatches to load.
async fn load_return_ids(
    office: &Office,
    ids: Vec<String>,
    dispatches: &mut BTreeSet<String>,
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    for (id, message_id) in office.store.message_ids_by_return_id(&ids).await? {
        dispatches.insert(message_id.clone());
        loaded.return_ids.entry(id).or_insert(Some(message_id));
    }
    for id in ids {
        loaded.return_ids.entry(id).or_default();
    }
    Ok(())
}

async fn load_dispatches(
    office: &Office,
    ids: BTreeSet<String>,
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let ids = Vec::from_iter(ids);
    for row in office.store.dispatches_named(&ids).await? {
        loaded.dispatches.entry(row.message_id.clone()).or_insert(Some(row));
    }
    for id in ids {
        loaded.dispatches.entry(id).or_default();
    }
    Ok(())
}

async fn load_senders(
    office: &Office,
    addresses: Vec<String>,
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    if addresses.is_empty() {
        return Ok(());
    }
    for address in &addresses {
        loaded.senders.entry(address.clone()).or_default();
    }
    for (address, standing) in
        office.store.standings(&addresses).await.context("failed to load the standings")?
    {
        loaded.senders.entry(address).or_default().standing = standing;
    }
    for (address, question) in
        office.store.questions(&addresses).await.context("failed to load the questions")?
    {
        loaded.senders.entry(address).or_default().questions.push(question);
    }
    Ok(())
}

async fn load_budgets(
    office: &Office,
    subjects: BTreeSet<String>,
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    let missing = subjects.into_iter().filter(|subject| !loaded.budgets.contains_key(subject));
    let subjects: Vec<String> = missing.collect();
    if subjects.is_empty() {
        return Ok(());
    }
    let since = loaded.at - TimeDelta::days(2);
    let counts = office.store.budgets(&subjects, since).await.context("failed to load the budgets")?;
    for subject in subjects {
        loaded.budgets.entry(subject).or_default();
    }
    for (BudgetKey { subject, kind, period }, used) in counts {
        loaded.budgets.entry(subject).or_default().insert((kind, period), used);
    }
    Ok(())
}

/// Reads the snapshots of matches, and adds the deliveries in them since their last entries. A snapshot that
/// cannot be read counts as missing, so that only letters about it fail.
async fn read_matches(
    office: &Office,
    rows: Vec<SnapshotRow>,
    seats: Vec<TokenRow>,
    loaded: &mut LoadedRows,
) -> anyhow::Result<()> {
    let rows = rows.into_iter().filter(|row| !loaded.matches.contains_key(&row.id));
    let rows: Vec<SnapshotRow> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let mut delivered: BTreeMap<String, Vec<Delivery>> = BTreeMap::new();
    for (id, delivery) in
        office.store.unlisted_deliveries(&ids).await.context("failed to load the deliveries")?
    {
        delivered.entry(id).or_default().push(delivery);
    }
    let mut by_match: BTreeMap<String, Vec<TokenRow>> = BTreeMap::new();
    for seat in seats {
        by_match.entry(seat.match_id.clone()).or_default().push(seat);
    }
    let with_rest = rows.into_iter().map(|row| {
        let seats = by_match.remove(&row.id).unwrap_or_default();
        let delivered = delivered.remove(&row.id).unwrap_or_default();
        (row, seats, delivered)
    });
    let with_rest: Vec<_> = with_rest.collect();
    let read = run_blocking(move || {
        par_map(&with_rest, |(row, seats, delivered)| {
            let loaded = LoadedMatch::of(row, seats, delivered.clone());
            (row.id.clone(), loaded.inspect_err(|error| log_unusable(&row.id, error)).ok())
        })
    });
    loaded.matches.extend(read.await?);
    Ok(())
}

/// Returns an event as its book records it, or `None` if there is no such event.
///
/// # Errors
/// Returns an error if the database does not answer, or if the book cannot be read.
pub async fn load_event(office: &Office, id: &str) -> anyhow::Result<Option<LoadedEvent>> {
    // Load the row before the book: if the book grows in between, the version is outdated and the commit
    // fails.
    let Some(row) = office.store.event(id).await? else { return Ok(None) };
    let rows = office.store.book(id).await?;
    let merged = office.store.merged_players().await?;
    let entries: Result<Vec<BookEntry>, _> = rows.iter().map(|row| serde_json::from_str(&row.json)).collect();
    let entries = entries.with_context(|| format!("failed to read the book of {id}"))?;
    let event = Event::fold(&entries, &|player| merged.get(&player).copied().unwrap_or(player));
    let event = event.with_context(|| format!("failed to read the book of {id}"))?;
    Ok(Some(LoadedEvent { event, told: row.told, version: row.version }))
}

/// Describes the stage of an event to people. Its row does not tell entries from the time between two seasons.
///
/// # Errors
/// Same as [`load_event`].
pub async fn stage_in_words(office: &Office, row: &EventRow) -> anyhow::Result<&'static str> {
    let loaded = load_event(office, &row.id).await?;
    Ok(loaded.map_or(row.stage.as_str(), |loaded| loaded.event.stage_in_words()))
}
