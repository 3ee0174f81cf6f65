//! A GM's letter in plain words: what it is about, and the lines that may do what it says. Nothing is done.
//!
//! The people, matches, events, games and addresses that it names decide what is shown; its other words only choose
//! among the lines. So a letter in words that no language lists still gets its match.

use chrono::{Days, NaiveDate};

use crate::club::names::NamedPlayer;
use crate::desk::events::shown;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::summary::is_on;
use crate::desk::outbox::fog;
use crate::game::any::GameKind;
use crate::game::{Line, Seat};
use crate::language::{GmWords, LANGUAGES, Phrases, Topic, Word, fold, sentences};
use crate::letter::{Address, split_words};
use crate::referee::{EventLine, Listing, MatchOverview, Stage};
use crate::report::{GmMatchSummary, GmMeant};
use crate::request::{Beside, Request, Writer, matches_named_in, wish};

/// Maximum matches, and events, that an answer shows.
const MAX_SHOWN: usize = 6;

/// Maximum matches of a list that the letter asks for.
const MAX_LISTED: usize = 40;

/// Maximum words that name all players.
const MAX_NAMES: usize = 4;

/// Days of an extension, if the letter names none.
const DAYS: u32 = 3;

/// Days from now until a new event begins, if the GM changes nothing.
const DAYS_UNTIL_EVENT: u64 = 14;

/// One of the lists of words in which GMs write.
type WordsOf = fn(&GmWords) -> &Phrases;

/// Acts on a match, with the words that may mean them; the first of an act whose words occur stands first.
const ACTS: [(MatchLine, WordsOf); 8] = [
    (MatchLine::Extend, |words| &words.extend),
    (MatchLine::Pause, |words| &words.pause),
    (MatchLine::Tell, |words| &words.tell),
    (MatchLine::Rollback, |words| &words.rollback),
    (MatchLine::Forfeit, |words| &words.forfeit),
    (MatchLine::Abandon, |words| &words.abandon),
    (MatchLine::Replace, |words| &words.replace),
    (MatchLine::Adjudicate, |words| &words.adjudicate),
];

/// Lists of matches, with the words that ask for them.
const LISTS: [(Listing, WordsOf); 5] = [
    (Listing::Late, |words| &words.late),
    (Listing::Due, |words| &words.due),
    (Listing::Paused, |words| &words.paused),
    (Listing::Protests, |words| &words.protests),
    (Listing::Ended, |words| &words.ended),
];

/// Formats of events other than a league, with the words for them.
const FORMATS: [(&str, WordsOf); 2] = [("cup", |words| &words.cup), ("ladder", |words| &words.ladder)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchLine {
    Extend,
    Pause,
    Tell,
    Rollback,
    Forfeit,
    Abandon,
    Replace,
    Adjudicate,
}

/// A GM's words, and the people of the club whom they name.
struct Reader<'a> {
    remarks: &'a [Line],
    words: Vec<Word>,
    people: Vec<NamedPlayer>,
    games: Vec<GameKind>,
    addresses: Vec<Address>,
    today: NaiveDate,
    /// The match of the letter that it answers.
    thread: Option<String>,
}

/// Returns what a GM's words may be about. `None` if the letter also has commands, or no words. `thread` is the match of
/// the letter that it answers.
pub fn meant(desk: &Desk<'_>, request: &Request, thread: Option<String>) -> Decided<Option<GmMeant>> {
    if !request.is_empty() || request.remarks.is_empty() {
        return Ok(None);
    }
    let everybody = desk.named_people()?;
    let names: Vec<&str> = everybody.iter().map(|player| player.name.as_str()).collect();
    if request.beside(Writer { names: &names, ..Writer::STRANGER }) == Beside::Nothing {
        return Ok(Some(GmMeant { is_courtesy: true, ..GmMeant::default() }));
    }
    let reader = Reader { thread, ..Reader::new(&request.remarks, everybody, desk.at().date_naive()) };
    if let Some(text) = reader.announcement() {
        return Ok(Some(GmMeant { acts: vec![text], ..GmMeant::default() }));
    }
    if let Some(deputy) = reader.deputy(desk)? {
        return Ok(Some(GmMeant { deputy: Some(deputy), ..GmMeant::default() }));
    }
    let mut meant = reader.events(desk)?;
    if meant.events.is_empty() && meant.acts.is_empty() && meant.lines.is_empty() {
        meant = reader.matches(desk)?;
    }
    Ok(Some(meant))
}

impl Reader<'_> {
    fn new(remarks: &[Line], everybody: Vec<NamedPlayer>, today: NaiveDate) -> Reader<'_> {
        let written: Vec<&str> = remarks.iter().flat_map(|line| split_words(&line.text)).collect();
        let words: Vec<Word> = written.iter().map(|word| Word::new(fold(word), 0, 0)).collect();
        let is_name = |name: &str| written.iter().any(|word| word.eq_ignore_ascii_case(name));
        // A name is written with a capital, so that "will" means nobody.
        let is_first = |name: &str| written.contains(&name);
        let people = everybody.into_iter().filter(|player| {
            let names: Vec<&str> = split_words(&player.name).collect();
            names.iter().all(|name| is_name(name)) || names.first().is_some_and(|name| is_first(name))
        });
        let games = GameKind::ALL.iter().copied().filter(|game| {
            let first = game.key().split('-').next().unwrap_or_default();
            words.iter().any(|word| word.text == first)
        });
        let pieces = remarks.iter().flat_map(|line| line.text.split_whitespace());
        let bare = pieces.map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()));
        let addresses =
            bare.filter(|piece| piece.contains('@')).filter_map(|piece| Address::parse_given(piece).ok());
        let (people, games, addresses) = (people.collect(), games.collect(), addresses.collect());
        Reader { remarks, words, people, games, addresses, today, thread: None }
    }

    /// Whether the letter has words of this list in one of the languages.
    fn has(&self, list: WordsOf) -> bool {
        LANGUAGES.iter().any(|language| list(&language.gm).any_in(&self.words))
    }

    /// Whether the letter has words for an act on a match.
    fn acts(&self) -> bool {
        ACTS.iter().any(|(_, words)| self.has(*words))
    }

    fn asks(&self) -> bool {
        self.asks_for_facts() || sentences(self.remarks).iter().any(|sentence| sentence.is_question)
    }

    /// Whether a sentence begins with a word such as "who" or "which".
    fn asks_for_facts(&self) -> bool {
        let begins = |words: &[Word]| LANGUAGES.iter().any(|language| language.gm.asks.begins_at(words, 0));
        sentences(self.remarks).iter().any(|sentence| begins(&sentence.words))
    }

    /// Returns the lines of a `GM ANNOUNCE` with what the letter wants all players to know.
    fn announcement(&self) -> Option<Vec<String>> {
        let tells = self.has(|words| &words.tell) || self.has(|words| &words.announce);
        if !tells || self.asks_for_facts() || !self.people.is_empty() || !self.addresses.is_empty() {
            return None;
        }
        let text = if self.has(|words| &words.everybody) { self.text_for_all() } else { None }?;
        let readers = if let [game] = self.games[..] { game.key() } else { "all" };
        let lines = text.into_iter().filter(|line| !line.is_empty()).take(MAX_LISTED);
        Some(
            std::iter::once(format!("GM ANNOUNCE {readers}"))
                .chain(lines)
                .chain(["END".to_owned()])
                .collect(),
        )
    }

    /// Returns the text behind the words for all players, or all of it in languages without blanks between words.
    fn text_for_all(&self) -> Option<Vec<String>> {
        let names_all = |words: &[Word], at: usize| {
            LANGUAGES.iter().any(|language| language.gm.everybody.begins_at(words, at))
        };
        let all = sentences(self.remarks);
        let named = all.iter().find_map(|sentence| {
            let words = &sentence.words;
            let at = (0..words.len()).find(|at| names_all(words, *at))?;
            // A phrase such as "all players" may take several words.
            let last = (at..words.len().min(at + MAX_NAMES)).rev().find(|last| {
                LANGUAGES.iter().any(|language| {
                    let phrase = words[at..=*last].iter().map(|word| word.text.as_str()).collect::<Vec<_>>();
                    language.gm.everybody.is_phrase(&phrase)
                })
            });
            words.get(last.unwrap_or(at))
        });
        let trimmed = |line: &Line| line.text.trim().to_owned();
        let Some(word) = named else { return Some(self.remarks.iter().map(trimmed).collect()) };
        let first = self.remarks.get(word.line)?.text.get(word.end..)?;
        let first = first.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '"');
        let first = wish::without_linking_words(first);
        let mut letters = first.chars();
        let first = letters.next().map(|c| c.to_uppercase().chain(letters).collect::<String>());
        let more = self.remarks.get(word.line + 1..).unwrap_or_default().iter().map(trimmed);
        let text: Vec<String> = first.into_iter().chain(more).collect();
        text.iter().any(|line| line.contains(char::is_alphanumeric)).then_some(text)
    }

    /// Returns the address of somebody unknown who is to do the GM's work, perhaps while the GM is away.
    fn deputy(&self, desk: &Desk<'_>) -> Decided<Option<String>> {
        let [address] = &self.addresses[..] else { return Ok(None) };
        let is_away = || {
            let spoken = wish::read_remarks(self.remarks, "", false, self.today);
            spoken.topic.into_iter().chain(spoken.also).any(|topic| topic == Topic::Absence)
        };
        let is_meant = self.people.is_empty()
            && desk.player(address.as_str())?.is_none()
            && (self.has(|words| &words.deputy) || is_away());
        Ok(is_meant.then(|| address.to_string()))
    }

    /// Returns the match of the letter that this one answers, if the words may be about it: whoever they name plays in it,
    /// and they want something done, or it is paused and they ask nothing.
    fn match_of_thread<'m>(&self, all: &'m [MatchOverview]) -> Option<&'m MatchOverview> {
        let thread = self.thread.as_ref()?;
        let game_match = all.iter().find(|game_match| game_match.id.eq_ignore_ascii_case(thread))?;
        let is_meant = self.people.iter().all(|player| seat_of(game_match, player).is_some())
            && (self.games.is_empty() || self.games.contains(&game_match.game))
            && (self.acts() && !self.asks_for_facts() || !self.asks() && game_match.stage == Stage::Paused);
        is_meant.then_some(game_match)
    }

    /// Returns the number of days that the letter names.
    fn days(&self) -> Option<u32> {
        let units: [(WordsOf, u32); 2] = [(|words| &words.week, 7), (|words| &words.day, 1)];
        let is_unit = |at: usize, list: WordsOf| {
            LANGUAGES.iter().any(|language| list(&language.gm).begins_at(&self.words, at))
        };
        (0..self.words.len()).find_map(|at| {
            let (_, unit) = units.iter().find(|(list, _)| is_unit(at, *list))?;
            let before = self.words[at.saturating_sub(2)..at].iter().rev();
            let number = before.filter_map(|word| wish::number(&word.text)).next();
            number.or((*unit == 7).then_some(1)).map(|number| number * unit).filter(|days| *days > 0)
        })
    }

    /// Returns the events that the letter speaks of, with lines about them.
    fn events(&self, desk: &Desk<'_>) -> Decided<GmMeant> {
        let mut found = GmMeant::default();
        let open = desk.open_events()?;
        let names = |id: &str, name: &str| {
            let names_id = self.remarks.iter().any(|line| line.text.to_ascii_uppercase().contains(id));
            names_id
                || split_words(name)
                    .map(fold)
                    .any(|word| word.len() > 4 && self.words.iter().any(|said| said.text == word))
        };
        let (named, others): (Vec<_>, Vec<_>) =
            open.iter().partition(|loaded| names(&loaded.event.plan.id, &loaded.event.plan.name));
        if named.is_empty() && !self.has(|words| &words.events) {
            return Ok(found);
        }
        let wants_new =
            named.is_empty() && (self.has(|words| &words.new) || self.games.len() == 1) && !self.asks();
        if wants_new {
            self.new_event(&mut found);
            return Ok(found);
        }
        let shown = if named.is_empty() { others } else { named };
        for loaded in shown.into_iter().take(MAX_SHOWN) {
            let event: EventLine = shown::line(desk, &loaded.event, None, None);
            self.event_acts(&event, &mut found);
            found.events.push(event);
        }
        if found.events.is_empty() {
            found.lines.push("EVENTS".to_owned());
        }
        Ok(found)
    }

    fn event_acts(&self, event: &EventLine, found: &mut GmMeant) {
        let id = &event.id;
        found.lines.push(format!("STANDINGS {id}"));
        let verb = if self.has(|words| &words.strike) { "STRIKE" } else { "ENTER" };
        let people = self.people.iter().take(MAX_SHOWN);
        found
            .acts
            .extend(people.map(|player| vec![format!("GM EVENT {id} {verb} {} the reason", player.name)]));
        if self.has(|words| &words.postpone) {
            let days = self.days().unwrap_or(DAYS_UNTIL_EVENT as u32);
            found.acts.push(vec![format!("GM EVENT {id} EXTEND {days} days the reason")]);
        }
        if self.has(|words| &words.cancel) {
            found.acts.push(vec![format!("GM EVENT {id} CANCEL the reason")]);
        }
        if event.stage == "entries" && self.has(|words| &words.open) {
            found.acts.push(vec![format!("GM EVENT {id} OPEN")]);
        }
    }

    /// Offers the plan of a new event, and to enter those whom the letter names.
    fn new_event(&self, found: &mut GmMeant) {
        let format =
            FORMATS.iter().find(|(_, words)| self.has(*words)).map_or("league", |(format, _)| *format);
        let game = self.games.first().copied().unwrap_or(GameKind::Quad);
        let opens = self.today + Days::new(DAYS_UNTIL_EVENT);
        let name = format!("{} {format}", game.name());
        let id = format!("EV-{}-{}", game.key().split('-').next().unwrap_or_default(), format)
            .to_ascii_uppercase();
        let mut plan = vec![
            "GM EVENT NEW".to_owned(),
            format!("id = \"{id}\""),
            format!("name = \"{name}\""),
            format!("game = \"{}\"", game.key()),
            format!("format = \"{format}\""),
            format!("opens = {opens}"),
        ];
        plan.extend(self.days().map(|days| format!("days = {days}")));
        plan.push("END".to_owned());
        found.acts.push(plan);
        let people = self.people.iter().take(MAX_LISTED);
        let enter: Vec<String> =
            people.map(|player| format!("GM EVENT {id} ENTER {} They asked for it.", player.name)).collect();
        found.acts.extend((!enter.is_empty()).then_some(enter));
    }

    /// Returns the matches and people that the letter speaks of, with lines about them.
    fn matches(&self, desk: &Desk<'_>) -> Decided<GmMeant> {
        let mut found = GmMeant::default();
        let all = desk.overviews()?;
        let named = matches_named_in(self.remarks);
        let is_named =
            |game_match: &&MatchOverview| named.iter().any(|id| id.eq_ignore_ascii_case(&game_match.id));
        let mut meant: Vec<&MatchOverview> = all.iter().filter(is_named).collect();
        let is_known = |id: &String| all.iter().any(|known| known.id.eq_ignore_ascii_case(id));
        found.unknown = named.iter().filter(|id| !is_known(id)).cloned().collect();
        let is_running = |game_match: &&MatchOverview| game_match.stage != Stage::Over;
        // "Start the clock again for Ann and Bo's Quad" is no wish for another match.
        let plays_on = all.iter().filter(is_running).any(|game_match| {
            self.games.contains(&game_match.game)
                && self.people.len() > 1
                && self.people.iter().all(|player| seat_of(game_match, player).is_some())
        });
        self.person_acts(desk, plays_on || !meant.is_empty(), &mut found)?;
        let of_all = self.people.is_empty() && self.has(|words| &words.everybody) && self.acts();
        if meant.is_empty() && found.acts.is_empty() && of_all && !self.asks() {
            meant = all.iter().filter(is_running).collect();
        }
        if meant.is_empty() && found.acts.is_empty() && found.unknown.is_empty() {
            meant.extend(self.match_of_thread(&all));
        }
        let mut candidates = meant.clone();
        if meant.is_empty() && found.acts.is_empty() && !self.people.is_empty() {
            let is_meant = |game_match: &&MatchOverview| {
                is_running(game_match) && (self.games.is_empty() || self.games.contains(&game_match.game))
            };
            candidates = all.iter().filter(is_meant).collect();
            let plays = |game_match: &&&MatchOverview| {
                self.people.iter().all(|player| seat_of(game_match, player).is_some())
            };
            meant = candidates.iter().filter(plays).copied().collect();
        }
        let succeeded = self.successions(desk, &candidates, &mut found)?;
        let most = if of_all { MAX_LISTED } else { MAX_SHOWN };
        let acts = meant.iter().take(most).flat_map(|game_match| self.match_acts(game_match));
        found.acts.extend(acts);
        let goes_back = self.has(|words| &words.rollback);
        let is_first =
            |game_match: &&&MatchOverview| game_match.due.as_ref().is_some_and(|due| due.turn == 0);
        found.nothing_adjudicated =
            meant.iter().filter(|_| goes_back).find(is_first).map(|found| found.id.clone());
        if meant.is_empty() {
            meant = succeeded;
        }
        let fog = fog::of_acting_gm(desk)?;
        let line = |game_match: &MatchOverview| -> GmMatchSummary { fog.line(game_match.clone(), desk.at()) };
        found.matches = meant.iter().take(MAX_SHOWN).map(|game_match| line(game_match)).collect();
        found.more = meant.len().saturating_sub(MAX_SHOWN);
        if found.matches.is_empty() && found.acts.is_empty() && (self.asks() || !self.people.is_empty()) {
            let asked = LISTS
                .iter()
                .find(|(_, words)| self.has(*words))
                .map_or(Listing::All, |(listing, _)| *listing);
            let listed: Vec<&MatchOverview> =
                all.iter().filter(|game_match| is_on(game_match, asked, desk.at())).collect();
            found.more = listed.len().saturating_sub(MAX_LISTED);
            found.list = Some(asked.to_string());
            found.matches = listed.into_iter().take(MAX_LISTED).map(line).collect();
        }
        Ok(found)
    }

    /// Returns the matches in which one of two people whom the letter names plays, and offers the other that seat.
    fn successions<'m>(
        &self,
        desk: &Desk<'_>,
        candidates: &[&'m MatchOverview],
        found: &mut GmMeant,
    ) -> Decided<Vec<&'m MatchOverview>> {
        let [one, other] = &self.people[..] else { return Ok(Vec::new()) };
        let mut meant = Vec::new();
        for game_match in candidates.iter().take(MAX_SHOWN) {
            let seats = (seat_of(game_match, one), seat_of(game_match, other));
            let (seat, successor) = match seats {
                (Some(seat), None) => (seat, other),
                (None, Some(seat)) => (seat, one),
                (Some(_), Some(_)) | (None, None) => continue,
            };
            if let Some((_, address)) = desk.reachable(successor.id)? {
                found.acts.push(vec![format!("GM MATCH {} REPLACE {seat} {address}", game_match.id)]);
                meant.push(*game_match);
            }
        }
        Ok(meant)
    }

    /// Offers what the letter may want done about people: to block or add one, or to open a match of two.
    fn person_acts(&self, desk: &Desk<'_>, names_match: bool, found: &mut GmMeant) -> Decided<()> {
        let blocks = self.has(|words| &words.block);
        for address in self.addresses.iter().take(MAX_SHOWN) {
            let is_known = desk.player(address.as_str())?.is_some();
            let name = self.name_before(address);
            let owner = self.owner_of(&name).filter(|_| !is_known && self.addresses.len() == 1);
            found.acts.push(vec![match (blocks, is_known, owner) {
                (true, ..) => format!("GM PLAYER BLOCK {address}"),
                (false, true, _) => format!("GM PLAYER SHOW {address}"),
                (false, false, Some(owner)) => format!("GM PLAYER ADDRESS {owner} TO {address}"),
                (false, false, None) => format!("GM PLAYER ADD {address} {name}").trim_end().to_owned(),
            }]);
        }
        if blocks && !names_match {
            found
                .acts
                .extend(self.people.iter().map(|player| vec![format!("GM PLAYER BLOCK {}", player.name)]));
        }
        if let ([first, second], [game], true, false) =
            (&self.people[..], &self.games[..], self.has(|words| &words.new), names_match)
        {
            let (one, other) = (desk.reachable(first.id)?, desk.reachable(second.id)?);
            if let (Some((_, one)), Some((_, other))) = (one, other) {
                let days = self.days().map(|days| format!(" days={days}")).unwrap_or_default();
                found.acts.push(vec![format!("GM NEW {} {one} {other}{days}", game.key())]);
            }
        }
        Ok(())
    }

    /// Returns the only player whom the letter names, if a new address may be theirs: no other name stands before it.
    fn owner_of(&self, name_before: &str) -> Option<&str> {
        let [player] = &self.people[..] else { return None };
        let is_theirs = |word: &str| {
            split_words(&player.name).any(|name| fold(name) == fold(word))
                || LANGUAGES.iter().any(|language| language.words.empty.contains(&word.to_lowercase()))
        };
        split_words(name_before).all(is_theirs).then_some(player.name.as_str())
    }

    /// Returns the words with capitals that stand before an address: a name.
    fn name_before(&self, address: &Address) -> String {
        let line = self.remarks.iter().find(|line| line.text.contains(address.as_str()));
        let before =
            line.and_then(|line| line.text.split_once(address.as_str())).map_or("", |(before, _)| before);
        let words: Vec<&str> = before
            .split(|c: char| c.is_whitespace() || ",:;<>()".contains(c))
            .filter(|word| !word.is_empty())
            .collect();
        // "Add Carl Moss": the first word of a line has its capital from the sentence.
        let words = if words.len() > 2 { &words[1..] } else { &words[..] };
        let capitals = words.iter().rev().take_while(|word| word.starts_with(char::is_uppercase)).count();
        words[words.len() - capitals.min(3)..].join(" ")
    }

    /// Returns the lines that may do what the letter wants in this match.
    fn match_acts(&self, game_match: &MatchOverview) -> Vec<Vec<String>> {
        if game_match.stage == Stage::Over {
            return vec![vec![format!("GM MATCH {} ANNUL the reason", game_match.id)]];
        }
        let mut asked: Vec<MatchLine> =
            ACTS.iter().filter(|(_, words)| self.has(*words)).map(|(act, _)| *act).collect();
        let is_paused = game_match.stage == Stage::Paused;
        let is_open = !self.asks() && !wish::denies(self.remarks);
        // Whatever is decided about a protest, the match goes on then.
        if is_paused
            && !self.asks()
            && self.has(|words| &words.protests)
            && !asked.contains(&MatchLine::Pause)
        {
            asked.insert(0, MatchLine::Pause);
        }
        if asked.is_empty() && is_open {
            asked = match is_paused {
                true => vec![MatchLine::Pause],
                false => vec![MatchLine::Extend, MatchLine::Pause, MatchLine::Tell],
            };
        }
        let mut lines: Vec<String> =
            asked.into_iter().filter_map(|act| self.match_line(game_match, act)).collect();
        if lines.is_empty() && is_paused && is_open {
            lines.extend(self.match_line(game_match, MatchLine::Pause));
        }
        lines.into_iter().map(|line| vec![line]).collect()
    }

    fn match_line(&self, game_match: &MatchOverview, act: MatchLine) -> Option<String> {
        let named: Vec<Seat> = self.people.iter().filter_map(|player| seat_of(game_match, player)).collect();
        let seat = match named[..] {
            [seat] => Some(seat),
            _ => None,
        };
        // Whoever wins is named, too.
        let wins = self.has(|words| &words.wins);
        let loser = seat.map(|seat| if wins { seat.other() } else { seat });
        let what = match act {
            MatchLine::Extend => {
                let days = self.days().unwrap_or(DAYS);
                format!("EXTEND {days} day{}", if days == 1 { "" } else { "s" })
            }
            MatchLine::Pause if game_match.stage == Stage::Paused => "RESUME".to_owned(),
            MatchLine::Pause => "PAUSE the reason".to_owned(),
            MatchLine::Tell => {
                let reader = seat.map_or("both".to_owned(), |seat| seat.to_string());
                format!("TELL {reader} {}", self.message()?)
            }
            MatchLine::Rollback => {
                let turn = game_match.due.as_ref()?.turn.checked_sub(1)?;
                format!("ROLLBACK {turn} the reason")
            }
            MatchLine::Forfeit => format!("FORFEIT {}", loser.unwrap_or(Seat::First)),
            MatchLine::Abandon if wins => return None,
            MatchLine::Abandon => "ABANDON".to_owned(),
            MatchLine::Replace => format!("REPLACE {} name@example.org", seat.unwrap_or(Seat::First)),
            MatchLine::Adjudicate => "ADJUDICATE".to_owned(),
        };
        Some(format!("GM MATCH {} {what}", game_match.id))
    }

    /// Returns the words for a player: those behind a name and a colon or comma.
    fn message(&self) -> Option<&str> {
        self.remarks.iter().find_map(|line| {
            let (before, after) = line.text.split_once([':', ','])?;
            let named = split_words(before).last()?;
            let is_named =
                self.people.iter().any(|player| split_words(&player.name).any(|name| name == named));
            Some(after.trim()).filter(|after| is_named && !after.is_empty())
        })
    }
}

fn seat_of(game_match: &MatchOverview, player: &NamedPlayer) -> Option<Seat> {
    Seat::BOTH.into_iter().find(|seat| game_match.players[*seat] == player.name)
}
