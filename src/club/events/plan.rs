//! The plan of an event: a few lines of TOML, in a file or in a GM's letter.

use chrono::{NaiveDate, TimeDelta};
use serde::{Deserialize, Serialize};
use strsim::jaro_winkler;
use toml::{Table, Value};

use crate::club::member::read_number;
use crate::game::any::{Choices, GameKind};
use crate::game::names::named_enum;
use crate::referee::{ForfeitRule, MAX_BANK, Substitute, Terms};

named_enum! {
    /// The rule by which one season leads to the next.
    pub enum Format {
        League = "league",
        Cup = "cup",
        Ladder = "ladder",
    }
}

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
    /// Such as `EV-SPRING`.
    pub id: String,
    pub name: String,
    pub game: GameKind,
    pub options: Choices,
    pub format: Format,
    pub section_size: usize,
    /// Matches of a pair: 1 or 2.
    pub games: usize,
    /// The day on which the first sections are drawn; `None`: as soon as `max_entrants` have entered.
    pub opens: Option<NaiveDate>,
    pub max_entrants: Option<usize>,
    pub season_days: u32,
    pub unfinished: Unfinished,
    /// Players who rise and fall across each border of a league.
    pub promote: usize,
    /// Players of each section of a cup who go on.
    pub advance: usize,
    /// Percentage of turns in time that an entrant needs.
    pub reliable: Option<u32>,
    /// The lowest and the highest rating of an entrant.
    pub rating: (Option<i64>, Option<i64>),
    pub rated: bool,
    pub days: Option<u32>,
    pub bank: Option<u32>,
    pub absence_days: Option<u32>,
    /// Numbers of players, the strongest first, for the first draw. Those who are not named follow.
    pub order: Vec<i64>,
}

/// A fault of a plan: its line, its key, and what would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFault {
    /// The number of the line, from 1; 0 if a key is missing.
    pub line: usize,
    pub says: String,
    pub example: String,
}

const KEYS: [&str; 20] = [
    "id",
    "name",
    "game",
    "format",
    "section_size",
    "games",
    "opens",
    "max_entrants",
    "season_days",
    "unfinished",
    "promote",
    "relegate",
    "advance",
    "reliable",
    "rating",
    "rated",
    "days",
    "bank",
    "absence_days",
    "order",
];

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
                let says = format!("this line cannot be read: {}", error.message().replace('\n', " "));
                return Err(vec![PlanFault { line, says, example: "format = \"league\"".to_owned() }]);
            }
        };
        let mut reader = Reader { text, table, faults: Vec::new() };
        reader.check_keys();
        let plan = reader.plan();
        if reader.faults.is_empty() { Ok(plan) } else { Err(reader.faults) }
    }

    /// Returns the terms of its matches, based on the club's.
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

    /// The fewest entrants with whom it begins.
    pub fn least(&self) -> usize {
        if self.section_size == 2 { 2 } else { 3 }
    }

    pub fn season(&self) -> TimeDelta {
        TimeDelta::days(i64::from(self.season_days))
    }

    /// Matches that one player has in a full section.
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

    fn check_keys(&mut self) {
        let unknown: Vec<String> =
            self.table.keys().filter(|key| !KEYS.contains(&key.as_str())).cloned().collect();
        for key in unknown {
            let near = KEYS
                .iter()
                .max_by(|one, other| jaro_winkler(one, &key).total_cmp(&jaro_winkler(other, &key)));
            self.fault(&key, "is no key of a plan", &format!("{} = …", near.unwrap_or(&"name")));
        }
    }

    fn string(&mut self, key: &str, example: &str) -> Option<String> {
        match self.table.get(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Some(_) => {
                self.fault(key, "takes a text in quotation marks", example);
                None
            }
            None => None,
        }
    }

    fn needed(&mut self, key: &str, example: &str) -> String {
        let found = self.string(key, example);
        if found.is_none() && !self.table.contains_key(key) {
            self.fault(key, "is missing", example);
        }
        found.unwrap_or_default()
    }

    fn number(&mut self, key: &str, (least, most): (u32, u32)) -> Option<u32> {
        let value = self.table.get(key)?.clone();
        let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let says = format!("is {value}; it takes a number from {least} to {most}");
            self.fault(key, says, &format!("{key} = {}", least.max(most.min(3))));
        }
        number
    }

    fn plan(&mut self) -> Plan {
        let id = self.id();
        let name = self.needed("name", "name = \"Spring League\"");
        if name.chars().count() > 60 || name.chars().any(char::is_control) {
            self.fault("name", "is one line of at most 60 letters", "name = \"Spring League\"");
        }
        let (game, options) = self.game();
        let format = self.one_of("format", Format::parse, Format::NAMES);
        let format = format.unwrap_or_else(|| {
            if !self.table.contains_key("format") {
                self.fault("format", "is missing", "format = \"league\"");
            }
            Format::League
        });
        let size = self.number("section_size", (2, MAX_SECTION as u32)).map(|size| size as usize);
        let section_size = size.unwrap_or(if format == Format::Ladder { 2 } else { 4 });
        if format == Format::Ladder && section_size != 2 {
            self.fault("section_size", "is 2 in a ladder", "section_size = 2");
        }
        let games = if game == GameKind::QuadrantZ { 1 } else { 2 };
        let season = match game {
            GameKind::Quad | GameKind::QuadrantZ => 90,
            GameKind::Pacific => 150,
            GameKind::Quantum => 180,
        };
        let (opens, max_entrants) = self.opening();
        let unfinished = self.one_of("unfinished", Unfinished::parse, Unfinished::NAMES);
        let (promote, advance) = self.movement(format, section_size);
        Plan {
            id,
            name,
            game,
            options,
            format,
            section_size,
            games: self.number("games", (1, 2)).map_or(games, |games| games as usize),
            opens,
            max_entrants,
            season_days: self.number("season_days", (14, 730)).unwrap_or(season),
            unfinished: unfinished.unwrap_or(Unfinished::LessTime),
            promote,
            advance,
            reliable: self.number("reliable", (1, 100)),
            rating: self.rating(),
            rated: self.on("rated"),
            days: self.number("days", (1, 60)),
            bank: self.number("bank", (0, MAX_BANK)),
            absence_days: self.number("absence_days", (0, 366)),
            order: self.order(),
        }
    }

    fn id(&mut self) -> String {
        let example = "id = \"EV-SPRING\"";
        let id = self.needed("id", example).to_ascii_uppercase();
        let rest = id.strip_prefix("EV-").unwrap_or_default();
        let fits = (1..=20).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-');
        if !id.is_empty() && !fits {
            self.fault("id", "is EV- and up to 20 letters, digits or hyphens", example);
        }
        id
    }

    fn game(&mut self) -> (GameKind, Choices) {
        let example = "game = \"quad swap=off\"";
        let written = self.needed("game", example);
        let at = written.split_whitespace().take_while(|word| !word.contains('=')).count();
        let words: Vec<&str> = written.split_whitespace().collect();
        let Some(game) = GameKind::parse(&words[..at].join(" ")) else {
            if !written.is_empty() {
                let keys: Vec<&str> = GameKind::ALL.iter().map(|game| game.key()).collect();
                self.fault("game", format!("names no game; there are {}", keys.join(", ")), example);
            }
            return (GameKind::Quad, Choices::default());
        };
        let options = words[at..].iter().filter_map(|word| word.split_once('='));
        match game.choose(options) {
            Ok(choices) => (game, choices),
            Err(why) => {
                self.fault("game", format!("has an option that does not fit: {why}"), example);
                (game, Choices::default())
            }
        }
    }

    fn one_of<T>(&mut self, key: &str, parse: fn(&str) -> Option<T>, names: &[&str]) -> Option<T> {
        let example = format!("{key} = \"{}\"", names[0]);
        let written = self.string(key, &example)?;
        let found = parse(&written);
        if found.is_none() {
            self.fault(key, format!("is `{written}`; it takes {}", names.join(" or ")), &example);
        }
        found
    }

    fn opening(&mut self) -> (Option<NaiveDate>, Option<usize>) {
        let example = "opens = 2027-03-01";
        let most = self.number("max_entrants", (2, MAX_ENTRANTS as u32)).map(|most| most as usize);
        let opens = match self.table.get("opens").cloned() {
            None => {
                self.fault("opens", "is missing: a day, or \"full\" with max_entrants", example);
                None
            }
            Some(Value::String(word)) if word == "full" => {
                if most.is_none() {
                    self.fault("opens", "is \"full\", which needs max_entrants", "max_entrants = 16");
                }
                None
            }
            Some(value) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let day = NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok();
                if day.is_none() {
                    self.fault("opens", format!("is {value}; it takes a day, or \"full\""), example);
                }
                day
            }
        };
        (opens, most)
    }

    fn movement(&mut self, format: Format, size: usize) -> (usize, usize) {
        let most = (size / 2).max(1) as u32;
        let promote = self.number("promote", (0, most));
        let relegate = self.number("relegate", (0, most));
        if let (Some(up), Some(down)) = (promote, relegate)
            && up != down
        {
            self.fault(
                "relegate",
                format!("is {down}, but as many fall as rise"),
                &format!("relegate = {up}"),
            );
        }
        let advance = self.number("advance", (1, 2)).unwrap_or(1) as usize;
        if format == Format::Cup && advance >= size {
            self.fault("advance", "is as many as a section has players", "advance = 1");
        }
        (promote.or(relegate).unwrap_or(1) as usize, advance)
    }

    /// Reads `"..1600"`, `"1400..1600"` or `"1500.."`.
    fn rating(&mut self) -> (Option<i64>, Option<i64>) {
        let example = "rating = \"1400..1600\"";
        let Some(written) = self.string("rating", example) else { return (None, None) };
        let side = |text: &str| match text.trim() {
            "" => Some(None),
            number => number.parse::<i64>().ok().map(Some),
        };
        let read = written.split_once("..").and_then(|(least, most)| Some((side(least)?, side(most)?)));
        read.unwrap_or_else(|| {
            self.fault("rating", format!("is `{written}`; it takes two figures with .. between"), example);
            (None, None)
        })
    }

    fn on(&mut self, key: &str) -> bool {
        match self.table.get(key) {
            None => true,
            Some(Value::Boolean(on)) => *on,
            Some(_) => {
                self.fault(key, "takes true or false", &format!("{key} = true"));
                true
            }
        }
    }

    /// Reads `["P-3", "P-1"]`.
    fn order(&mut self) -> Vec<i64> {
        let Some(value) = self.table.get("order").cloned() else { return Vec::new() };
        let words = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let numbers: Option<Vec<i64>> = words.iter().map(|word| read_number(word.as_str()?)).collect();
        numbers.filter(|_| value.is_array()).unwrap_or_else(|| {
            self.fault(
                "order",
                "takes numbers of players, the strongest first",
                "order = [\"P-3\", \"P-1\"]",
            );
            Vec::new()
        })
    }
}
