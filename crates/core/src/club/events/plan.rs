//! The plan of an event: a few lines of TOML, in a file or in a GM's letter.

use chrono::{NaiveDate, TimeDelta};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::keys::{self, Format, KEYS};
use crate::club::member::read_number;
use crate::game::any::{Choices, GameKind};
use crate::game::named_enum;
use crate::referee::{ForfeitRule, MAX_BANK, PlanFault, Substitute, Terms};

named_enum! {
    /// The rule for matches that are not over when the season ends.
    pub enum Unfinished {
        LessTime = "less-time",
        Gm = "gm",
    }
}

/// A checked plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The event's ID, such as `EV-SPRING`.
    pub id: String,
    pub name: String,
    pub game: GameKind,
    pub options: Choices,
    pub format: Format,
    pub section_size: usize,
    /// Matches of a pair: 1 or 2.
    pub games: usize,
    /// The day on which the first sections are drawn; `None` if they are drawn as soon as `max_entrants` have
    /// entered.
    pub opens: Option<NaiveDate>,
    pub max_entrants: Option<usize>,
    pub season_days: u32,
    pub unfinished: Unfinished,
    /// Players who rise and fall across each border of a league.
    pub promote: usize,
    /// Players of each section of a cup who go on.
    pub advance: usize,
    /// Minimum percentage of turns in time that an entrant needs.
    pub reliable: Option<u32>,
    /// The lowest and the highest rating of an entrant.
    pub rating: (Option<i64>, Option<i64>),
    pub rated: bool,
    pub days: Option<u32>,
    pub bank: Option<u32>,
    pub absence_days: Option<u32>,
    /// Numbers of players, the strongest first, for draws by strength. Unlisted players follow, by figure.
    pub order: Vec<i64>,
}

/// Maximum entrants of an event, and players in a section.
pub const MAX_ENTRANTS: usize = 1000;
const MAX_SECTION: usize = 16;

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// Returns all faults.
    pub fn read(text: &str) -> Result<Plan, Vec<PlanFault>> {
        let table: Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(error) => {
                let line = error.span().map_or(0, |span| 1 + text[..span.start].matches('\n').count());
                return Err(vec![unreadable(text, line, error.message())]);
            }
        };
        let mut reader = Reader { text, table, faults: Vec::new() };
        let plan = reader.plan();
        reader.check_keys();
        if reader.faults.is_empty() { Ok(plan) } else { Err(reader.faults) }
    }

    /// Returns the terms of the event's matches, based on the club's.
    pub fn terms(&self, club: &Terms) -> Terms {
        Terms {
            days: self.days.unwrap_or(club.days),
            bank: self.bank.unwrap_or(club.bank),
            absence_days: self.absence_days.unwrap_or(club.absence_days),
            forfeit: ForfeitRule::Lose,
            substitute: Substitute::None,
            rated: self.rated,
            advance: false,
            event: Some(self.id.clone()),
            ..club.clone()
        }
    }

    /// Returns the minimum number of entrants.
    pub fn least(&self) -> usize {
        if self.section_size == 2 { 2 } else { 3 }
    }

    pub fn season(&self) -> TimeDelta {
        TimeDelta::days(i64::from(self.season_days))
    }

    /// Returns the number of matches of one player in a full section.
    pub fn matches_each(&self) -> usize {
        (self.section_size - 1) * self.games
    }
}

/// Reads the keys of a plan, and notes their faults.
struct Reader<'a> {
    text: &'a str,
    table: Table,
    faults: Vec<PlanFault>,
}

impl Reader<'_> {
    fn fault(&mut self, key: &str, says: impl Into<String>, example: &str) {
        let is_key = |line: &&str| line.split('=').next().is_some_and(|name| name.trim() == key);
        let line = self.text.lines().position(|line| is_key(&line)).map_or(0, |at| at + 1);
        self.faults.push(PlanFault {
            line,
            says: format!("`{key}` {}", says.into()),
            example: example.to_owned(),
        });
    }

    /// Notes unknown keys, before all other faults.
    fn check_keys(&mut self) {
        let others = std::mem::take(&mut self.faults);
        let is_unknown = |key: &&String| KEYS.iter().all(|known| known.name != *key);
        let unknown: Vec<String> = self.table.keys().filter(is_unknown).cloned().collect();
        for key in unknown {
            let near = keys::nearest(&key);
            self.fault(&key, "is no key of a plan", &format!("{} = {}", near.name, near.value));
        }
        self.faults.extend(others);
    }

    /// Reads the value of a key. If it is invalid, notes what the key takes.
    fn take<T>(
        &mut self,
        key: &'static str,
        (takes, example): (&str, &str),
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.table.get(key)?;
        let found = read(value);
        if found.is_none() {
            let shown = value.as_str().map_or_else(|| value.to_string(), |text| format!("`{text}`"));
            self.fault(key, format!("is {shown}; it takes {takes}"), example);
        }
        found
    }

    /// Reads the value of a required key.
    fn needed<T>(
        &mut self,
        key: &'static str,
        (takes, example): (&str, &str),
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        if !self.table.contains_key(key) {
            self.fault(key, format!("is missing; it takes {takes}"), example);
        }
        self.take(key, (takes, example), read)
    }

    fn number(&mut self, key: &'static str, (least, most): (u32, u32)) -> Option<u32> {
        let takes = format!("a number from {least} to {most}");
        let example = format!("{key} = {}", least.max(most.min(3)));
        let read = |value: &Value| u32::try_from(value.as_integer()?).ok();
        self.take(key, (&takes, &example), |value| {
            read(value).filter(|number| (least..=most).contains(number))
        })
    }

    fn size(&mut self, key: &'static str, bounds: (usize, usize)) -> Option<usize> {
        self.number(key, (bound(bounds.0), bound(bounds.1))).map(|size| size as usize)
    }

    fn plan(&mut self) -> Plan {
        let id = self.needed("id", ("EV- and up to 20 letters, digits or hyphens", "id = \"EV-SPRING\""), id);
        let name = self.needed("name", ("one line of at most 60 letters", "name = \"Spring League\""), name);
        let (game, options) = self.game();
        let formats = Format::NAMES.join(" or ");
        let format =
            self.needed("format", (&formats, "format = \"league\""), |value| Format::parse(value.as_str()?));
        let format = format.unwrap_or(Format::League);
        let (least, most) = if format == Format::Ladder { (2, 2) } else { (2, MAX_SECTION) };
        let section_size = self.size("section_size", (least, most)).unwrap_or(most.min(4));
        let games = if game == GameKind::QuadrantZ { 1 } else { 2 };
        let season = match game {
            GameKind::Quad | GameKind::QuadrantZ => 90,
            GameKind::Pacific => 150,
            GameKind::Quantum => 180,
        };
        let (opens, max_entrants) = self.opening();
        let rules = (Unfinished::NAMES.join(" or "), "unfinished = \"less-time\"");
        let unfinished =
            self.take("unfinished", (&rules.0, rules.1), |value| Unfinished::parse(value.as_str()?));
        let (promote, advance) = self.movement(format, section_size);
        let order = ("numbers of players, the strongest first", "order = [\"P-3\", \"P-1\"]");
        Plan {
            id: id.unwrap_or_default(),
            name: name.unwrap_or_default(),
            game,
            options,
            format,
            section_size,
            games: self.size("games", (1, 2)).unwrap_or(games),
            opens,
            max_entrants,
            season_days: self.number("season_days", (14, 730)).unwrap_or(season),
            unfinished: unfinished.unwrap_or(Unfinished::LessTime),
            promote,
            advance,
            reliable: self.number("reliable", (1, 100)),
            rating: self
                .take("rating", ("two figures with .. between", "rating = \"1400..1600\""), rating)
                .unwrap_or_default(),
            rated: self.take("rated", ("true or false", "rated = true"), Value::as_bool).unwrap_or(true),
            days: self.number("days", (1, 60)),
            bank: self.number("bank", (0, MAX_BANK)),
            absence_days: self.number("absence_days", (0, 366)),
            order: self.take("order", order, players).unwrap_or_default(),
        }
    }

    fn game(&mut self) -> (GameKind, Choices) {
        let games: Vec<&str> = GameKind::ALL.iter().map(|game| game.key()).collect();
        let takes = format!("a game ({}) and its options", games.join(", "));
        let example = "game = \"quad swap=off\"";
        let read = |value: &Value| {
            let words: Vec<&str> = value.as_str()?.split_whitespace().collect();
            let at = words.iter().take_while(|word| !word.contains('=')).count();
            let options = words[at..].iter().filter_map(|word| word.split_once('='));
            let game = GameKind::parse(&words[..at].join(" "))?;
            Some((game, game.choose(options).map_err(|why| why.to_string())))
        };
        match self.needed("game", (&takes, example), read) {
            Some((game, Ok(choices))) => (game, choices),
            Some((game, Err(why))) => {
                self.fault("game", format!("has an option that does not fit: {why}"), example);
                (game, Choices::default())
            }
            None => (GameKind::Quad, Choices::default()),
        }
    }

    fn opening(&mut self) -> (Option<NaiveDate>, Option<usize>) {
        let most = self.size("max_entrants", (2, MAX_ENTRANTS));
        let opens =
            self.needed("opens", ("a day as year-month-day, or \"full\"", "opens = 2027-03-01"), |value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let day = NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok();
                (day.is_some() || text == "full").then_some(day)
            });
        if opens == Some(None) && most.is_none() {
            self.fault("opens", "is \"full\", which needs max_entrants", "max_entrants = 16");
        }
        (opens.flatten(), most)
    }

    fn movement(&mut self, format: Format, size: usize) -> (usize, usize) {
        let most = (size / 2).max(1);
        let promote = self.size("promote", (0, most));
        let relegate = self.size("relegate", (0, most));
        if let (Some(up), Some(down)) = (promote, relegate)
            && up != down
        {
            let says = format!("is {down}, but as many fall as rise");
            self.fault("relegate", says, &format!("relegate = {up}"));
        }
        let advance = self.size("advance", (1, 2)).unwrap_or(1);
        if format == Format::Cup && advance >= size {
            self.fault("advance", "is as many as a section has players", "advance = 1");
        }
        (promote.or(relegate).unwrap_or(1), advance)
    }
}

fn bound(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// Says what is wrong with a line that is no TOML: how the key in it is written, if there is one.
fn unreadable(text: &str, line: usize, message: &str) -> PlanFault {
    let written = text.lines().nth(line.saturating_sub(1)).and_then(|line| line.split_once('='));
    let key = written.and_then(|(name, _)| KEYS.iter().find(|key| key.name == name.trim()));
    let Some(key) = key else {
        let says = format!("this line cannot be read: {}", message.replace('\n', " "));
        return PlanFault { line, says, example: "format = \"league\"".to_owned() };
    };
    let how = match key.value.as_bytes() {
        [b'"', ..] => "it stands between quotation marks",
        _ if key.name == "opens" => "a day is written as year-month-day",
        _ => "it is written as in the example",
    };
    PlanFault {
        line,
        says: format!("the value of `{}` cannot be read; {how}", key.name),
        example: format!("{} = {}", key.name, key.value),
    }
}

fn id(value: &Value) -> Option<String> {
    let id = value.as_str()?.trim().to_ascii_uppercase();
    let rest = id.strip_prefix("EV-").unwrap_or_default();
    let is_fit = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-';
    ((1..=20).contains(&rest.len()) && rest.bytes().all(is_fit)).then_some(id)
}

fn name(value: &Value) -> Option<String> {
    let name = value.as_str()?.trim();
    let fits = (1..=60).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    fits.then(|| name.to_owned())
}

/// Reads `"..1600"`, `"1400..1600"` or `"1500.."`.
fn rating(value: &Value) -> Option<(Option<i64>, Option<i64>)> {
    let (least, most) = value.as_str()?.split_once("..")?;
    Some((limit(least)?, limit(most)?))
}

fn limit(text: &str) -> Option<Option<i64>> {
    match text.trim() {
        "" => Some(None),
        number => number.parse::<i64>().ok().map(Some),
    }
}

/// Reads `["P-3", "P-1"]`.
fn players(value: &Value) -> Option<Vec<i64>> {
    value.as_array()?.iter().map(|word| read_number(word.as_str()?)).collect()
}
