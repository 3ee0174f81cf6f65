//! Loads the rows that letters or a decision need, in a few queries for all of them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use chrono::{DateTime, TimeDelta, Utc};

use super::gm_lists::WantedByGms;
use crate::config::Gm;
use crate::daemon::Office;
use crate::daemon::decide::budgets::seat_subject;
use crate::daemon::decide::context::{AnswerText, LoadedMatch, RecentAnswer, RulingContext};
use crate::daemon::decide::proof::LAPSE;
use crate::daemon::decide::summary::Summary;
use crate::daemon::decide::undecided::Wanted;
use crate::daemon::parallel::{par_map, run_blocking};
use crate::ledger::{Delivery, Entry};
use crate::letter::Token;
use crate::referee::{DispatchKind, MatchOverview};
use crate::report::sent::plain_text;
use crate::store::{BudgetKey, MatchRow, SnapshotRow, TokenRow};

/// Prefix of the keys under which the GMs' tokens are remembered.
const GM_TOKEN: &str = "gm_token";

impl Office {
    /// Creates a context without rows.
    pub async fn new_context(&self) -> anyhow::Result<RulingContext> {
        Ok(RulingContext::new(self.now(), random()?, self.gm_tokens().await?))
    }

    /// Returns the reply token that letters to each GM carry, in the order of the config, and creates missing ones.
    async fn gm_tokens(&self) -> anyhow::Result<Vec<String>> {
        let stored = self.store.remembered_under(GM_TOKEN).await?;
        let mut tokens = Vec::new();
        for gm in self.config.club.gm.all() {
            let own = gm_token_key(gm);
            let token = match stored.iter().find(|(key, _)| *key == own) {
                Some((_, token)) => token.clone(),
                None => {
                    // Another daemon may create one at the same time; the first one stored counts.
                    let new = Token::from_random(random()?).to_string();
                    self.store.remember_first(&own, &new).await?
                }
            };
            tokens.push(token);
        }
        Ok(tokens)
    }

    /// Replaces a GM's reply token, and voids the old one.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn renew_gm_token(&self, gm: &Gm) -> anyhow::Result<String> {
        let token = Token::from_random(random()?).to_string();
        self.store.remember(&gm_token_key(gm), &token).await?;
        Ok(token)
    }

    /// Adds the wanted rows to the context, and keeps the rows that it already has.
    pub async fn load(&self, wanted: Wanted, context: &mut RulingContext) -> anyhow::Result<()> {
        let Wanted {
            tokens,
            matches,
            names,
            entries,
            reports,
            texts,
            mut dispatches,
            return_ids,
            addresses,
            seated,
            player_names,
            matches_of,
            unproven_of,
            changes_of,
            change_codes,
            invitations,
            open_invitations,
            mut readers,
            senders,
            mut budgets,
            declined,
            summaries,
            letters,
            ended,
            readers_of,
            digest_since,
        } = wanted;
        self.load_tokens(tokens, &mut readers, &mut budgets, context).await?;
        self.load_matches(matches, context).await?;
        self.load_matches_of(matches_of, context).await?;
        self.load_names(names, context).await?;
        self.load_ledgers(entries, context).await?;
        self.load_reports(reports, context).await?;
        self.load_texts(texts, context).await?;
        self.load_return_ids(return_ids, &mut dispatches, context).await?;
        self.load_dispatches(dispatches, context).await?;
        // Look players up before adding any: a letter may ask for a player first, and add them later.
        self.load_players(addresses, context).await?;
        self.add_players(seated, context).await?;
        if player_names && context.player_names.is_none() {
            context.player_names = Some(self.store.player_names().await?);
        }
        self.load_answers(readers, context).await?;
        self.load_senders(senders, context).await?;
        self.load_budgets(budgets, context).await?;
        for (inviter, invited) in declined {
            let found = self.store.has_declined(&inviter, &invited).await?;
            context.declined.insert((inviter, invited), found);
        }
        for player in unproven_of {
            let rows = self.store.unproven_letters(player, context.at - LAPSE).await?;
            context.unproven.entry(player).or_insert(rows);
        }
        self.load_changes(changes_of, change_codes, context).await?;
        for code in invitations {
            let found = self.store.invitation(&code).await?;
            context.invitations.entry(code).or_insert(found);
        }
        if open_invitations && context.open_invitations.is_none() {
            context.open_invitations = Some(self.store.open_invitations(None).await?);
        }
        let of_gms = WantedByGms { letters, summaries, ended, readers_of, digest_since };
        self.load_for_gms(of_gms, context).await
    }

    /// Loads the seats of tokens, with their matches. Their players may get an answer, so it adds them to `readers`,
    /// and the seats to `budgets`.
    async fn load_tokens(
        &self,
        tokens: BTreeSet<String>,
        readers: &mut BTreeSet<String>,
        budgets: &mut BTreeSet<String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        if tokens.is_empty() {
            return Ok(());
        }
        let tokens = Vec::from_iter(tokens);
        let seats = self.store.seats_by_token(&tokens).await.context("reply tokens")?;
        for row in seats.iter().filter(|row| tokens.binary_search(&row.token).is_ok()) {
            readers.extend(row.player.addresses.first().cloned());
            budgets.insert(seat_subject(&row.match_id, row.seat));
            context.tokens.insert(row.token.clone(), Some(row.clone()));
        }
        for token in tokens {
            context.tokens.entry(token).or_default();
        }
        self.load_matches_of_seats(seats, context).await
    }

    async fn load_matches(&self, ids: BTreeSet<String>, context: &mut RulingContext) -> anyhow::Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let seats = self.store.seats_of(&Vec::from_iter(ids.iter().cloned())).await.context("seats")?;
        self.load_matches_of_seats(seats, context).await?;
        for id in ids {
            context.matches.entry(id).or_default();
        }
        Ok(())
    }

    async fn load_matches_of_seats(
        &self,
        seats: Vec<TokenRow>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        let ids: BTreeSet<String> = seats.iter().map(|row| row.match_id.clone()).collect();
        let rows = self.store.snapshots(&Vec::from_iter(ids)).await.context("matches")?;
        self.read_matches(rows, seats, context).await
    }

    /// Adds matches whose rows are already loaded.
    pub async fn load_match_rows(
        &self,
        rows: Vec<MatchRow>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        let seats = self.store.seats_of(&ids).await.context("seats")?;
        self.read_matches(rows.into_iter().map(SnapshotRow::from).collect(), seats, context).await
    }

    async fn load_matches_of(
        &self,
        players: BTreeSet<i64>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        for player in players {
            let matches = self.store.matches_of(player).await?;
            context.matches_of.insert(player, matches);
        }
        Ok(())
    }

    async fn load_names(&self, names: BTreeSet<String>, context: &mut RulingContext) -> anyhow::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let names = Vec::from_iter(names);
        for row in self.store.snapshots(&names).await? {
            context.names.insert(row.id, true);
        }
        for name in names {
            context.names.entry(name).or_insert(false);
        }
        Ok(())
    }

    async fn ledger_entries(&self, match_id: &str) -> anyhow::Result<Vec<Entry>> {
        let rows = self.store.entries(match_id).await?;
        rows.iter().map(|row| Ok(serde_json::from_str(&row.json)?)).collect()
    }

    async fn load_ledgers(&self, ids: BTreeSet<String>, context: &mut RulingContext) -> anyhow::Result<()> {
        for id in ids {
            let entries = self.ledger_entries(&id).await?;
            context.entries.insert(id, entries);
        }
        Ok(())
    }

    async fn load_reports(&self, ids: BTreeSet<String>, context: &mut RulingContext) -> anyhow::Result<()> {
        for id in ids {
            let mut sent = self.store.dispatches_of(&id).await?;
            sent.retain(|(about, _)| about.kind == DispatchKind::Report);
            context.reports.insert(id, sent);
        }
        Ok(())
    }

    /// Loads the text of our letters, without the rest: a picture takes 20 to 60 kB.
    async fn load_texts(&self, ids: BTreeSet<String>, context: &mut RulingContext) -> anyhow::Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = Vec::from_iter(ids);
        let found = self.store.texts_by_message_id(&ids).await.context("our letters")?;
        let texts =
            run_blocking(move || par_map(&found, |(id, bytes)| (id.clone(), plain_text(bytes)))).await?;
        context.texts.extend(texts);
        context.no_texts.extend(ids.into_iter().filter(|id| !context.texts.contains_key(id)));
        Ok(())
    }

    /// Finds the dispatches with these return paths, and adds them to the dispatches to load.
    async fn load_return_ids(
        &self,
        ids: BTreeSet<String>,
        dispatches: &mut BTreeSet<String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = Vec::from_iter(ids);
        for (id, message_id) in self.store.message_ids_by_return_id(&ids).await? {
            dispatches.insert(message_id.clone());
            context.return_ids.entry(id).or_insert(Some(message_id));
        }
        for id in ids {
            context.return_ids.entry(id).or_default();
        }
        Ok(())
    }

    async fn load_dispatches(
        &self,
        ids: BTreeSet<String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = Vec::from_iter(ids);
        for row in self.store.dispatches_named(&ids).await? {
            context.dispatches.entry(row.message_id.clone()).or_insert(Some(row));
        }
        for id in ids {
            context.dispatches.entry(id).or_default();
        }
        Ok(())
    }

    async fn load_players(
        &self,
        addresses: BTreeSet<String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        for address in addresses {
            let found = self.store.player_by_address(&address).await?;
            context.players.entry(address).or_insert(found);
        }
        Ok(())
    }

    async fn add_players(
        &self,
        seated: BTreeMap<String, String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        for (address, name) in seated {
            let player = self.store.find_or_add_player(&address, &name, context.at).await?;
            context.seated.entry(address).or_insert(player);
        }
        Ok(())
    }

    async fn load_answers(
        &self,
        readers: BTreeSet<String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        let missing = readers.into_iter().filter(|reader| !context.answers.contains_key(reader));
        let readers: Vec<String> = missing.collect();
        if readers.is_empty() {
            return Ok(());
        }
        let since = context.at - TimeDelta::hours(1);
        let rows = self.store.answers_to(&readers, since).await.context("answers")?;
        for reader in readers {
            context.answers.entry(reader).or_default();
        }
        for row in rows {
            let text = AnswerText::InDatabase(row.message_id);
            let answer = RecentAnswer { seat: row.seat, asked: row.asked, text };
            context.answers.entry(row.recipient).or_default().push(answer);
        }
        Ok(())
    }

    async fn load_senders(
        &self,
        addresses: BTreeSet<String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        if addresses.is_empty() {
            return Ok(());
        }
        let addresses = Vec::from_iter(addresses);
        for address in &addresses {
            context.senders.entry(address.clone()).or_default();
        }
        for (address, standing) in self.store.standings(&addresses).await.context("standings")? {
            context.senders.entry(address).or_default().standing = standing;
        }
        for (address, question) in self.store.questions(&addresses).await.context("questions")? {
            context.senders.entry(address).or_default().question = Some(question);
        }
        Ok(())
    }

    async fn load_changes(
        &self,
        players: BTreeSet<i64>,
        codes: BTreeSet<String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        for player in players {
            let rows = self.store.changes_of(player, context.at - LAPSE).await?;
            context.changes.entry(player).or_insert(rows);
        }
        for code in codes {
            let found = self.store.change_under(&code).await?;
            context.changes_by_code.entry(code).or_insert(found);
        }
        Ok(())
    }

    async fn load_budgets(
        &self,
        subjects: BTreeSet<String>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        let missing = subjects.into_iter().filter(|subject| !context.budgets.contains_key(subject));
        let subjects: Vec<String> = missing.collect();
        if subjects.is_empty() {
            return Ok(());
        }
        let since = context.at - TimeDelta::days(2);
        let counts = self.store.budgets(&subjects, since).await.context("budgets")?;
        for subject in subjects {
            context.budgets.entry(subject).or_default();
        }
        for (BudgetKey { subject, kind, period }, used) in counts {
            context.budgets.entry(subject).or_default().insert((kind, period), used);
        }
        Ok(())
    }

    /// Reads the snapshots of matches, and adds the deliveries in them since their last entries. A snapshot that cannot
    /// be read counts as missing, so that only letters about it fail.
    async fn read_matches(
        &self,
        rows: Vec<SnapshotRow>,
        seats: Vec<TokenRow>,
        context: &mut RulingContext,
    ) -> anyhow::Result<()> {
        let rows = rows.into_iter().filter(|row| !context.matches.contains_key(&row.id));
        let rows: Vec<SnapshotRow> = rows.collect();
        if rows.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        let mut delivered: BTreeMap<String, Vec<Delivery>> = BTreeMap::new();
        for (id, delivery) in self.store.unlisted_deliveries(&ids).await.context("deliveries")? {
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
        let loaded = run_blocking(move || {
            par_map(&with_rest, |(row, seats, delivered)| {
                let loaded = LoadedMatch::of(row, seats, delivered.clone());
                (row.id.clone(), loaded.inspect_err(|error| log_unusable(&row.id, error)).ok())
            })
        });
        context.matches.extend(loaded.await?);
        Ok(())
    }

    /// Sums up every match. The rows stream, without snapshots: a club may have more matches than fit into memory.
    pub async fn load_summaries(&self, now: DateTime<Utc>) -> anyhow::Result<Vec<Summary>> {
        let mut summaries = Vec::new();
        let mut sum_up = |game_match: MatchOverview| summaries.push(Summary::of(&game_match, now));
        self.store.list_matches(None, &mut sum_up).await?;
        Ok(summaries)
    }
}

/// Logs a match whose snapshot cannot be read or whose rules this program does not know.
pub fn log_unusable(match_id: &str, error: &anyhow::Error) {
    tracing::error!(match_id, error = format!("{error:#}"), "this program cannot rule on the match");
}

/// Returns the key under which a GM's reply token is remembered.
fn gm_token_key(gm: &Gm) -> String {
    format!("{GM_TOKEN} {}", gm.address)
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
