//! What the GM asks, by letter or at the terminal: one way for both. Each act upon a match is a ruling like any other.

use anyhow::{Context, bail};

use super::decide::lines_now;
use super::open::{fit_name, name_from, random, seat_row};
use super::parallel::side_by_side;
use super::people::no_player;
use super::settle::{Known, Working};
use super::{Holder, NamedAddress, NewMatch, Office, write};
use crate::game::{BySeat, Line, Seat};
use crate::ledger::{self, Entry, Fact, Source};
use crate::letter::{Address, Letter, Token};
use crate::referee::{
    self, Act, Cause, Correction, DispatchKind, HouseMatch, Instruction, InstructionFault, Listing, Match,
    MatchAction, Offer, OfferRejection, Stage,
};
use crate::report::envelope::AnsweredLetter;
use crate::report::{self, ClubLetter, GmItem, GmMatchSummary, GmResult};
use crate::request::{Party, Request};
use crate::store::{
    LetterDecision, LetterStatus, NewDispatch, Player, Settlement, StoreError, TokenRow, WaitingLetter,
};

/// The key under which the GM's reply token is remembered.
const GM_TOKEN: &str = "gm_token";

/// So often an instruction is tried anew when somebody else has changed the match meanwhile.
const TRIES: usize = 20;

impl Office {
    /// The reply token that every letter to the GM bears.
    pub(super) async fn gm_token(&self) -> anyhow::Result<String> {
        if let Some(token) = self.store.remembered(GM_TOKEN).await? {
            return Ok(token);
        }
        self.renew_gm_token().await
    }

    /// # Errors
    /// The database does not answer.
    pub async fn renew_gm_token(&self) -> anyhow::Result<String> {
        let token = Token::from_random(random()?).to_string();
        self.store.remember(GM_TOKEN, &token).await?;
        Ok(token)
    }

    pub(super) fn is_gm(&self, address: &Address) -> bool {
        let gm = &self.config.club.gm;
        gm.address == *address || gm.also.contains(address)
    }

    /// A letter to the GM.
    pub(super) async fn gm_dispatch(
        &self,
        plain: &ClubLetter,
        unique: &str,
        answered: Option<&AnsweredLetter>,
    ) -> anyhow::Result<NewDispatch> {
        let (token, gm) = (self.gm_token().await?, &self.config.club.gm);
        let page = report::word_club_letter(&self.templates, &self.stationery.club(), plain, &token)?;
        let message_id = self.stationery.message_id(&token, unique);
        let to = (gm.name.as_str(), gm.address.as_str());
        let bytes = self.plain_mail(page, &token, to, &message_id, answered)?;
        Ok(NewDispatch {
            message_id,
            recipient: gm.address.as_str().to_owned(),
            bytes,
            kind: if answered.is_some() { DispatchKind::Answer } else { DispatchKind::Notice },
            match_id: None,
            seat: None,
            answers: answered.map(|letter| letter.digest),
            asked: None,
        })
    }

    /// Carries out what the GM's letter asks and confirms each in one answer. Without his token
    /// nothing is done, and he is told to answer a letter that bears it.
    pub(super) async fn settle_gm(
        &self,
        waiting: &WaitingLetter,
        letter: &Letter,
        authentic: bool,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let lines = lines_now(letter);
        let text = super::answers::asked(&lines);
        let (asked, others) = referee::instructions(&lines);
        let request = Request::read(&others, |_| false);
        let mut items = Vec::new();
        let mut why = String::new();
        if authentic {
            for instructed in asked {
                let done = match instructed.parsed {
                    Err(InstructionFault { reason, example }) => GmResult::NotRead { says: reason, example },
                    Ok(instruction) => self.instruct(&instruction, request.check, known, settlement).await?,
                };
                items.push(GmItem { asked: instructed.line.text, done });
            }
        } else {
            why = "Nothing was done: your letter came without the GM's reply token. Please answer this letter, with the same lines.".to_owned();
        }
        let asker = self.asker(letter, authentic).await?;
        let mut replies = Vec::new();
        for command in request.commands.iter().filter(|_| !request.check) {
            replies.extend(self.for_anybody(&asker, &command.command, settlement).await?);
        }
        let plain =
            ClubLetter::GmAnswer { check: request.check, items, replies, remarks: request.remarks, why };
        let unique = format!("g.{}", &waiting.digest.to_string()[..24]);
        let mut dispatches =
            vec![self.gm_dispatch(&plain, &unique, Some(&AnsweredLetter::new(letter))).await?];
        self.hold_back(&mut dispatches, text, &known.shared.answers).await?;
        settlement.dispatches.extend(dispatches);
        let note = "a letter of the GM".to_owned();
        settlement.decided.push(LetterDecision {
            digest: waiting.digest,
            status: LetterStatus::Answered,
            note,
            seat: None,
        });
        Ok(())
    }

    /// Carries out one instruction from the terminal and commits.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn carry_out(&self, instruction: &Instruction) -> anyhow::Result<GmResult> {
        for _ in 0..TRIES {
            let mut known = Known::default();
            let mut settlement = Settlement { at: self.now(), ..Settlement::default() };
            let done = self.instruct(instruction, false, &mut known, &mut settlement).await?;
            known.put_on(&mut settlement)?;
            match self.store.commit(&settlement).await {
                Ok(()) => {
                    self.committed(&settlement);
                    return Ok(done);
                }
                Err(StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!("others change the same all the time; nothing was done")
    }

    /// What came of an instruction, in the words of the GM's letters.
    ///
    /// # Errors
    /// A template is at fault.
    pub fn tell(&self, done: &GmResult) -> anyhow::Result<String> {
        Ok(report::word_gm_result(&self.templates, done)?)
    }

    /// Carries out one instruction on the settlement; with `check`, only says what would be done.
    async fn instruct(
        &self,
        instruction: &Instruction,
        check: bool,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<GmResult> {
        match instruction {
            Instruction::Match { id, turn, action } => {
                self.on_match(id, *turn, action, check, known, settlement).await
            }
            Instruction::List(listing) => {
                Ok(GmResult::List { lines: self.listed(*listing, known, settlement).await? })
            }
            Instruction::New { game, first, second, options, days } => {
                let new = match self.new_match(game, [first, second], options, *days) {
                    Ok(_) if check => return Ok(GmResult::Would),
                    Ok(new) => new,
                    Err(no) => return Ok(GmResult::NoOffer { no }),
                };
                Ok(match self.open_into(&new, self.gm_source(), settlement).await {
                    Ok(game_match) => GmResult::Opened { id: game_match.id },
                    Err(error) if error.downcast_ref::<StoreError>().is_none() => {
                        GmResult::Refused { says: format!("{error:#}.") }
                    }
                    Err(error) => return Err(error),
                })
            }
            Instruction::PlayerAdd { address, name } => {
                let name = if name.is_empty() { name_from(address) } else { name.clone() };
                if let Err(says) = fit_name(&name) {
                    return Ok(GmResult::Refused { says });
                }
                if check {
                    return Ok(GmResult::Would);
                }
                let player = self.store.find_or_add_player(address.as_str(), &name, self.now()).await?;
                self.shown(&player).await
            }
            Instruction::PlayerShow(address) => match self.player_now(address, settlement).await? {
                Some(player) => self.shown(&player).await,
                None => Ok(no_player(address)),
            },
            Instruction::PlayerRename { address, name } => {
                let Some(player) = self.player_now(address, settlement).await? else {
                    return Ok(no_player(address));
                };
                if let Err(says) = fit_name(name) {
                    return Ok(GmResult::Refused { says });
                }
                let player = Player { name: name.clone(), ..player };
                if !check {
                    self.rename_in_matches(player.id, &player, known, settlement).await?;
                }
                self.change_player(player, check, settlement).await
            }
            Instruction::PlayerMerge { gone, into } => self.merge(gone, into, check, known, settlement).await,
            Instruction::PlayerBounceClear(address) => {
                let Some(player) = self.player_now(address, settlement).await? else {
                    return Ok(no_player(address));
                };
                if !check {
                    self.clear_bounces(&player, known, settlement).await?;
                }
                self.change_player(Player { bouncing: false, ..player }, check, settlement).await
            }
            Instruction::Digest => {
                Ok(GmResult::Digest { digest: self.digest_since(None, known, settlement).await? })
            }
        }
    }

    /// The match that the GM wants.
    fn new_match(
        &self,
        game: &str,
        parties: [&Party; 2],
        options: &[(String, String)],
        days: Option<u32>,
    ) -> Result<NewMatch, OfferRejection> {
        let offer = Offer::read(game, options, days)?;
        let [first, second] = parties;
        if first == second {
            return Err(OfferRejection::Yourself);
        }
        let holder = |party: &Party| match party {
            Party::Player(address) => {
                Ok(Holder::Player(NamedAddress { name: String::new(), address: address.clone() }))
            }
            Party::House(level) => self.config.house.level(offer.game, level.as_deref()).map(Holder::House),
        };
        let players = BySeat::new(holder(first)?, holder(second)?);
        let terms = offer.terms(&self.config.terms);
        let choices = match [&players.first, &players.second] {
            [Holder::House(level), _] | [_, Holder::House(level)] => {
                HouseMatch::read(game, Some(level.name), options, days)?.choices(level)
            }
            _ => offer.choices,
        };
        Ok(NewMatch { game: offer.game, choices, players, terms })
    }

    fn gm_source(&self) -> Source {
        Source::Gm { name: self.config.club.gm.name.clone(), act: None }
    }

    async fn on_match(
        &self,
        id: &str,
        turn: Option<u32>,
        action: &MatchAction,
        check: bool,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<GmResult> {
        let id = id.to_ascii_uppercase();
        let Some(working) = self.load(&id, known).await? else { return Ok(GmResult::NoMatch { id }) };
        let open = working.game_match.due().map(|due| due.turn);
        if turn.is_some() && turn != open {
            return Ok(GmResult::TurnPassed { id, turn: turn.unwrap_or_default(), open });
        }
        let mut successor = None;
        let act = match action {
            MatchAction::Act(Act::RenewToken(seat)) if working.game_match.house[*seat].is_some() => {
                let says = "The house holds that seat: it gets no letters, and needs no token.".to_owned();
                return Ok(GmResult::Refused { says });
            }
            MatchAction::Act(act) => act.clone(),
            MatchAction::Replace { seat, by: Party::House(level) } => {
                if working.game_match.house != BySeat::default() {
                    let says = "The house holds a seat of that match already.".to_owned();
                    return Ok(GmResult::Refused { says });
                }
                let level = match self.config.house.level(working.game_match.game, level.as_deref()) {
                    Ok(level) => level,
                    Err(no) => return Ok(GmResult::NoOffer { no }),
                };
                if !check {
                    successor = Some(self.house_player(level).await?);
                }
                let house = Some(level.name.to_owned());
                Act::Replace { seat: *seat, name: level.player_name(), house }
            }
            MatchAction::Replace { seat, by: Party::Player(address) } => {
                let holds = |player: &Player| player.addresses.iter().any(|own| own == address.as_str());
                if let Some(held) = Seat::BOTH.iter().find(|seat| holds(&working.seats[**seat].player)) {
                    let says =
                        format!("{} holds a seat of that match already.", working.game_match.players[*held]);
                    return Ok(GmResult::Refused { says });
                }
                let mut name = name_from(address);
                if !check {
                    let player = self.store.find_or_add_player(address.as_str(), &name, self.now()).await?;
                    name.clone_from(&player.name);
                    successor = Some(player);
                }
                Act::Replace { seat: *seat, name, house: None }
            }
            MatchAction::Correct { turn, reason, orders } => {
                Act::Correct(self.correction(&id, *turn, reason, orders.clone()).await?)
            }
        };
        if !check {
            return self.act_on(&id, &act, successor, known, settlement).await;
        }
        let name = &self.config.club.gm.name;
        let cause = Cause::Gm { name, phase_no: working.game_match.phase_no, act: &act };
        let ruling = self.rule(&working.game_match, &cause, self.now());
        Ok(ruling.rejection.map_or(GmResult::Would, |untaken| GmResult::Rejection { id, untaken }))
    }

    /// What the ledger says of the turns before one that is to be corrected.
    async fn correction(
        &self,
        id: &str,
        turn: u32,
        reason: &str,
        orders: Option<(Seat, Vec<Line>)>,
    ) -> anyhow::Result<Correction> {
        let rows = self.store.entries(id).await?;
        let entries =
            rows.iter().map(|row| serde_json::from_str(&row.json)).collect::<Result<Vec<Entry>, _>>()?;
        let Some(Fact::MatchOpened { options, .. }) = entries.first().map(|entry| &entry.fact) else {
            bail!("the ledger of match {id} does not begin with its opening")
        };
        Ok(Correction {
            turn,
            reason: reason.to_owned(),
            choices: options.clone(),
            decided: ledger::adjudications(&entries),
            orders,
        })
    }

    /// Rules on an act of the GM, and gives a seat to its new player or a new token where that is the act.
    pub(super) async fn act_on(
        &self,
        id: &str,
        act: &Act,
        successor: Option<Player>,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<GmResult> {
        let working = known.matches.get_mut(id).context("the match was loaded")?;
        let (name, now) = (&self.config.club.gm.name, self.now());
        let ruling = self.rule(
            &working.game_match,
            &Cause::Gm { name, phase_no: working.game_match.phase_no, act },
            now,
        );
        if let Some(untaken) = ruling.rejection {
            return Ok(GmResult::Rejection { id: id.to_owned(), untaken });
        }
        let mut former = None;
        if let Act::Replace { seat, .. } | Act::RenewToken(seat) = act {
            let row = &mut working.seats[*seat];
            let before = row.clone();
            row.token = Token::from_random(random()?).to_string();
            row.player = successor.unwrap_or_else(|| before.player.clone());
            settlement.seats.retain(|saved| (saved.match_id.as_str(), saved.seat) != (id, *seat));
            settlement.seats.push(seat_row(row));
            former = Some(before);
        }
        self.put(working, ruling, former.as_ref(), settlement).await?;
        Ok(GmResult::Match { line: self.gm_line(&working.game_match) })
    }

    /// Puts a ruling that no letter caused on the settlement.
    pub(super) async fn put(
        &self,
        working: &mut Working,
        mut ruling: referee::Ruling,
        former: Option<&TokenRow>,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let (entries, dispatches) =
            self.rows(&mut ruling, &working.seats, former, None, &settlement.entries, self.now()).await?;
        working.game_match = ruling.after;
        working.changed = true;
        settlement.entries.extend(entries);
        settlement.dispatches.extend(dispatches);
        Ok(())
    }

    /// The match as far as it is decided in this settlement.
    pub(super) async fn load<'a>(
        &self,
        id: &str,
        known: &'a mut Known,
    ) -> anyhow::Result<Option<&'a mut Working>> {
        if !known.matches.contains_key(id) {
            let seats = self.store.seats_of(&[id.to_owned()]).await.context("seats")?;
            known.matches.extend(self.working(seats).await?);
        }
        Ok(known.matches.get_mut(id))
    }

    async fn listed(
        &self,
        listing: Listing,
        known: &Known,
        settlement: &Settlement,
    ) -> anyhow::Result<Vec<GmMatchSummary>> {
        let mut lines = Vec::new();
        self.for_each_match(known, settlement, |game_match| {
            let wanted = match listing {
                Listing::All => game_match.stage != Stage::Over,
                Listing::Running => game_match.stage == Stage::Running,
                Listing::Late => self.is_late(game_match),
                Listing::Paused => game_match.stage == Stage::Paused,
                Listing::Protests => game_match.protest.is_some(),
            };
            if wanted {
                lines.push(self.gm_line(game_match));
            }
        })
        .await?;
        Ok(lines)
    }

    pub(super) fn is_late(&self, game_match: &Match) -> bool {
        game_match.stage == Stage::Running
            && (game_match.asked_gm || game_match.deadline.is_some_and(|deadline| deadline <= self.now()))
    }

    /// A match in a few words for the GM; nothing that is hidden from either side.
    pub(super) fn gm_line(&self, game_match: &Match) -> GmMatchSummary {
        let plain = super::anybody::match_line(game_match, Seat::First);
        let mut marks = Vec::new();
        let mut mark = |yes: bool, words: String| marks.extend(Some(words).filter(|_| yes));
        mark(game_match.asked_gm, "waits for your decision".to_owned());
        for seat in Seat::BOTH {
            mark(game_match.bouncing[seat], format!("letters to {} come back", game_match.players[seat]));
            mark(game_match.away[seat], format!("{} may be away", game_match.players[seat]));
            mark(game_match.protest == Some(seat), format!("{} protests", game_match.players[seat]));
        }
        GmMatchSummary {
            id: game_match.id.clone(),
            game_name: game_match.game.name(),
            names: [game_match.players.first.clone(), game_match.players.second.clone()],
            phase: plain.phase,
            awaited: plain.awaited,
            due_at: plain.due_at,
            marks,
        }
    }
}

impl Known {
    /// Puts the matches that were ruled on on the settlement.
    pub(super) fn put_on(&self, settlement: &mut Settlement) -> anyhow::Result<()> {
        let changed: Vec<&Working> = self.matches.values().filter(|working| working.changed).collect();
        for row in side_by_side(&changed, |working| write::match_row(&working.game_match, working.version)) {
            settlement.matches.push(row?);
        }
        Ok(())
    }
}
