//! The closed enum over the games, and what the rest of the program may ask of any of them.
//!
//! A new game is one line in [`games!`]: what it lacks does not compile.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Board, BySeat, Due, Fault, Game, HouseLevel, Line, Numbered, OptionRule, Options, Outcome, Sealed, Seat,
    Syntax, Values,
};

macro_rules! games {
    ($($variant:ident => $game:ty),+ $(,)?) => {
        /// Which game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($variant),+ }

        impl Kind {
            pub const ALL: &'static [Kind] = &[$(Kind::$variant),+];

            fn rulebook(self) -> &'static dyn Rulebook {
                match self { $(Kind::$variant => &Book::<$game>(std::marker::PhantomData)),+ }
            }

            /// A match of this game before anything was filed.
            pub fn start(self, choices: &Choices) -> AnyState {
                match self {
                    $(Kind::$variant => AnyState::$variant(Held(<$game>::start(&options::<$game>(choices))))),+
                }
            }

            /// The same under this version of the rules.
            ///
            /// # Errors
            /// A sentence: the version is not known.
            pub fn start_under(self, rules: u32, choices: &Choices) -> Result<AnyState, String> {
                self.knows_rules(rules)?;
                if rules == self.rules() {
                    return Ok(self.start(choices));
                }
                Ok(match self {
                    $(Kind::$variant => {
                        AnyState::$variant(Held(<$game>::start_under(rules, &options::<$game>(choices))))
                    }),+
                })
            }
        }

        /// The state of a match of any game. Its JSON names the game.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "game", content = "state", rename_all = "kebab-case")]
        pub enum AnyState { $($variant(Held<$game>)),+ }

        impl AnyState {
            pub fn kind(&self) -> Kind {
                match self { $(AnyState::$variant(_) => Kind::$variant),+ }
            }

            fn position_of(&self) -> &dyn Position {
                match self { $(AnyState::$variant(held) => held),+ }
            }

            fn position_of_mut(&mut self) -> &mut dyn Position {
                match self { $(AnyState::$variant(held) => held),+ }
            }
        }
    };
}

games! {
    QuadrantZ => super::quadrant_z::QuadrantZ,
    Pacific => super::pacific::Pacific,
    Quantum => super::quantum::Quantum,
    Quad => super::quad::Quad,
}

/// Options chosen for one match, by name: only those that differ from the game's defaults. [`Kind::choose`] makes
/// them, so each is known and has a value that the game takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Choices(BTreeMap<String, String>);

impl Choices {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// The orders of one seat for one phase, checked and held unseen; one canonical line for each order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Filing(Vec<String>);

impl Filing {
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    fn of<O: Display>(sealed: &Sealed<O>) -> Filing {
        Filing(sealed.orders().iter().map(O::to_string).collect())
    }
}

/// A filing that does not fit the state it was sealed for: somebody has changed one of the two.
#[derive(Debug, thiserror::Error)]
#[error("the orders sealed for {seat} cannot stand in this state: {}", .faults.first().map_or("", |f| f.reason.as_str()))]
pub struct Unsound {
    pub seat: Seat,
    pub faults: Vec<Fault>,
}

/// What a game says of itself, without any match.
trait Rulebook {
    fn key(&self) -> &'static str;
    fn name(&self) -> &'static str;
    fn prefix(&self) -> &'static str;
    fn rules(&self) -> u32;
    fn earlier_rules(&self) -> &'static [u32];
    fn sides(&self) -> BySeat<&'static str>;
    fn option_rules(&self) -> &'static [OptionRule];
    fn set_option(&self, choices: &Choices) -> Result<Choices, String>;
    fn syntax(&self, line: &str) -> Result<(), Syntax>;
    fn replaced(&self, lines: &[Line]) -> Vec<Line>;
    fn house(&self) -> (u32, &'static [HouseLevel]);
}

struct Book<G>(std::marker::PhantomData<G>);

impl<G: Game> Rulebook for Book<G> {
    fn key(&self) -> &'static str {
        G::KEY
    }
    fn name(&self) -> &'static str {
        G::NAME
    }
    fn prefix(&self) -> &'static str {
        G::PREFIX
    }
    fn rules(&self) -> u32 {
        G::RULES
    }
    fn earlier_rules(&self) -> &'static [u32] {
        G::EARLIER_RULES
    }
    fn sides(&self) -> BySeat<&'static str> {
        G::SIDES
    }
    fn option_rules(&self) -> &'static [OptionRule] {
        <G::Options as Options>::RULES
    }
    fn set_option(&self, choices: &Choices) -> Result<Choices, String> {
        let (mut chosen, default) = (G::Options::default(), G::Options::default());
        for (name, value) in choices.iter() {
            chosen.set(name, value)?;
        }
        let differing = self.option_rules().iter().map(|rule| rule.name);
        let differing = differing.filter(|name| chosen.get(name) != default.get(name));
        Ok(Choices(differing.map(|name| (name.to_owned(), chosen.get(name))).collect()))
    }
    fn syntax(&self, line: &str) -> Result<(), Syntax> {
        G::parse(line).map(|_| ())
    }
    fn replaced(&self, lines: &[Line]) -> Vec<Line> {
        let read: Vec<_> = lines.iter().map(|line| G::parse(&line.text).unwrap_or_default()).collect();
        let replaced = |at: usize| {
            let again = |order| read[at + 1..].iter().flatten().any(|after| G::replaces(after, order));
            !read[at].is_empty() && read[at].iter().all(again)
        };
        (0..lines.len()).filter(|at| replaced(*at)).map(|at| lines[at].clone()).collect()
    }
    fn house(&self) -> (u32, &'static [HouseLevel]) {
        G::HOUSE.map_or((0, &[]), |house| (house.version, house.levels))
    }
}

impl Kind {
    /// As in records and on the command line: `quadrant-z`.
    pub fn key(self) -> &'static str {
        self.rulebook().key()
    }

    /// As people write it: `Quadrant Z`.
    pub fn name(self) -> &'static str {
        self.rulebook().name()
    }

    /// The beginning of match names: `QZ`.
    pub fn prefix(self) -> &'static str {
        self.rulebook().prefix()
    }

    /// The version of the rules by which new matches are played.
    pub fn rules(self) -> u32 {
        self.rulebook().rules()
    }

    /// Checks that a match that is played by this version of the rules can be ruled on.
    ///
    /// # Errors
    /// A sentence that names the version, and those that are known.
    pub fn knows_rules(self, rules: u32) -> Result<(), String> {
        let known: Vec<u32> = self.rulebook().earlier_rules().iter().copied().chain([self.rules()]).collect();
        if known.contains(&rules) {
            return Ok(());
        }
        let listed = known.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
        Err(format!(
            "version {rules} of the rules of {} is not known; this program knows {listed}",
            self.name()
        ))
    }

    pub fn sides(self) -> BySeat<&'static str> {
        self.rulebook().sides()
    }

    pub fn option_rules(self) -> &'static [OptionRule] {
        self.rulebook().option_rules()
    }

    /// The game called `text`: its key or its name, in any case, blanks and hyphens alike.
    pub fn parse(text: &str) -> Option<Kind> {
        let plain = |text: &str| text.trim().replace([' ', '_'], "-").to_ascii_lowercase();
        let wanted = plain(text);
        Kind::ALL.iter().copied().find(|kind| wanted == kind.key() || wanted == plain(kind.name()))
    }

    /// Checks options by name and value.
    ///
    /// # Errors
    /// A sentence that names the option and what would do.
    pub fn choose<'a>(self, wanted: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Choices, String> {
        let mut choices = BTreeMap::new();
        for (name, value) in wanted {
            let name = name.to_ascii_lowercase();
            let Some(rule) = self.option_rules().iter().find(|rule| rule.name == name) else {
                let known: Vec<_> = self.option_rules().iter().map(|rule| rule.name).collect();
                return Err(format!("{} has no option `{name}`; it has {}", self.name(), known.join(", ")));
            };
            let value = rule
                .values
                .read(value)
                .map_err(|would_do| format!("option `{name}` cannot be `{value}`; it takes {would_do}"))?;
            if choices.insert(name.clone(), value).is_some() {
                return Err(format!("option `{name}` is given twice"));
            }
        }
        self.rulebook().set_option(&Choices(choices))
    }

    /// The same for a match against the house: its level's own options hold unless others are given.
    ///
    /// # Errors
    /// As for [`Kind::choose`].
    pub fn choose_at(self, level: &HouseLevel, wanted: &[(&str, &str)]) -> Result<Choices, String> {
        let given = |name: &str| wanted.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let own = level.options.iter().copied().filter(|(name, _)| !given(name));
        self.choose(wanted.iter().copied().chain(own))
    }

    /// The levels at which the house plays it, the weakest first; none: it does not.
    pub fn levels(self) -> &'static [HouseLevel] {
        self.rulebook().house().1
    }

    /// The level of this name, in any case.
    pub fn level(self, name: &str) -> Option<&'static HouseLevel> {
        self.levels().iter().find(|level| name.eq_ignore_ascii_case(level.name))
    }

    /// The version of the house that plays it; see [`super::House::version`].
    pub fn house_version(self) -> u32 {
        self.rulebook().house().0
    }

    /// All options with the values in force under `choices`.
    pub fn options_in_force(self, choices: &Choices) -> BTreeMap<&'static str, String> {
        let value = |rule: &OptionRule| choices.0.get(rule.name).cloned().unwrap_or(rule.default.to_owned());
        self.option_rules().iter().map(|rule| (rule.name, value(rule))).collect()
    }

    /// Reads one line of orders, to see whether it is one.
    ///
    /// # Errors
    /// [`Syntax`]: it is no order, or not a whole one.
    pub fn syntax(self, line: &str) -> Result<(), Syntax> {
        self.rulebook().syntax(line)
    }

    /// Those of the lines of one letter whose place a later one takes: of two orders for one ship, the first.
    pub fn replaced(self, lines: &[Line]) -> Vec<Line> {
        self.rulebook().replaced(lines)
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let kind = Kind::ALL.iter().copied().find(|kind| kind.key() == key);
        kind.ok_or_else(|| serde::de::Error::custom(format!("no game `{key}`")))
    }
}

impl Values {
    /// The value as the game writes it.
    fn read(&self, value: &str) -> Result<String, String> {
        match self {
            Values::OneOf(values) => {
                let found = values.iter().find(|known| known.eq_ignore_ascii_case(value));
                found.map(|known| (*known).to_owned()).ok_or_else(|| values.join(" or "))
            }
            Values::Limit => match value.parse::<u32>() {
                Ok(limit @ 1..=999) => Ok(limit.to_string()),
                _ => Err("a whole number from 1 to 999".to_owned()),
            },
            Values::Text(_) => Ok(value.to_owned()),
        }
    }
}

impl Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::OneOf(values) => f.write_str(&values.join(" | ")),
            Values::Limit => f.write_str("1 to 999"),
            Values::Text(words) => f.write_str(words),
        }
    }
}

fn options<G: Game>(choices: &Choices) -> G::Options {
    let mut options = G::Options::default();
    for (name, value) in choices.iter() {
        options.set(name, value).expect("Kind::choose has tried every value of Choices");
    }
    options
}

/// A state of the game `G`.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct Held<G: Game>(G::State);

impl<G: Game> Clone for Held<G> {
    fn clone(&self) -> Self {
        Held(self.0.clone())
    }
}

impl<G: Game> fmt::Debug for Held<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<G: Game> PartialEq for Held<G> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// What any state answers; see [`Game`] for each.
trait Position {
    fn due(&self) -> Option<Due>;
    fn outcome(&self) -> Option<Outcome>;
    fn close(&mut self, outcome: Outcome);
    fn position(&self) -> Value;
    fn options(&self) -> BTreeMap<&'static str, String>;
    fn view(&self, viewer: Seat) -> Value;
    fn extra(&self, viewer: Seat) -> Value;
    fn board(&self, viewer: Seat) -> Board;
    fn seal(&self, seat: Seat, lines: &[Line]) -> Result<Filing, Vec<Fault>>;
    fn missed(&self, seat: Seat) -> Option<Filing>;
    fn adjudicate(&mut self, filed: &BySeat<Option<Filing>>) -> Result<(), Unsound>;
    fn house(&self, seat: Seat, level: &HouseLevel, dice: u64) -> Option<Vec<String>>;
    fn random_filing(&self, seat: Seat, rng: &mut dyn FnMut(u32) -> u32) -> Vec<String>;
}

impl<G: Game> Position for Held<G> {
    fn due(&self) -> Option<Due> {
        G::due(&self.0)
    }

    fn outcome(&self) -> Option<Outcome> {
        G::outcome(&self.0)
    }

    fn close(&mut self, outcome: Outcome) {
        self.0 = G::close(&self.0, outcome);
    }

    fn position(&self) -> Value {
        G::position(&self.0)
    }

    fn options(&self) -> BTreeMap<&'static str, String> {
        let options = G::options(&self.0);
        <G::Options as Options>::RULES.iter().map(|rule| (rule.name, options.get(rule.name))).collect()
    }

    fn view(&self, viewer: Seat) -> Value {
        serde_json::to_value(G::view(&self.0, viewer)).expect("a view has string keys and plain values")
    }

    fn extra(&self, viewer: Seat) -> Value {
        G::extra(&G::view(&self.0, viewer))
    }

    fn board(&self, viewer: Seat) -> Board {
        G::board(&G::view(&self.0, viewer))
    }

    fn seal(&self, seat: Seat, lines: &[Line]) -> Result<Filing, Vec<Fault>> {
        seal::<G>(&G::view(&self.0, seat), lines).map(|sealed| Filing::of(&sealed))
    }

    fn missed(&self, seat: Seat) -> Option<Filing> {
        G::missed(&G::view(&self.0, seat)).map(|sealed| Filing::of(&sealed))
    }

    fn adjudicate(&mut self, filed: &BySeat<Option<Filing>>) -> Result<(), Unsound> {
        let mut sealed = BySeat::new(None, None);
        for (seat, filing) in filed.iter() {
            let Some(filing) = filing else { continue };
            let lines: Vec<_> =
                (1..).zip(&filing.0).map(|(no, text)| Line { no, text: text.clone() }).collect();
            let checked = seal::<G>(&G::view(&self.0, seat), &lines);
            sealed[seat] = Some(checked.map_err(|faults| Unsound { seat, faults })?);
        }
        self.0 = G::adjudicate(&self.0, &sealed);
        Ok(())
    }

    fn house(&self, seat: Seat, level: &HouseLevel, dice: u64) -> Option<Vec<String>> {
        G::HOUSE.map(|house| (house.play)(&G::view(&self.0, seat), level, dice))
    }

    fn random_filing(&self, seat: Seat, rng: &mut dyn FnMut(u32) -> u32) -> Vec<String> {
        G::random_filing(&G::view(&self.0, seat), rng)
    }
}

/// Reads and checks `lines`: syntax faults and illegal orders together, each line at most once.
fn seal<G: Game>(view: &G::View, lines: &[Line]) -> Result<Sealed<G::Order>, Vec<Fault>> {
    let (mut orders, mut faults) = (Vec::new(), Vec::new());
    for line in lines {
        match G::parse(&line.text) {
            Ok(read) => orders.extend(read.into_iter().map(|order| Numbered { line: line.no, order })),
            Err(Syntax::Unknown) => {
                faults.push(Fault::on(line.no, format!("This is no order of {}.", G::NAME)));
            }
            Err(Syntax::Malformed { reason, example }) => {
                faults.push(Fault::on(line.no, reason).with_example(example));
            }
        }
    }
    let all_read = faults.is_empty();
    match G::check(view, &orders) {
        Ok(sealed) if all_read => return Ok(sealed),
        Ok(_) => {}
        Err(illegal) => faults.extend(illegal.into_iter().filter(|fault| all_read || !fault.missing)),
    }
    faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    faults.dedup_by(|later, earlier| later.line.is_some() && later.line == earlier.line);
    Err(faults)
}

impl AnyState {
    /// What the match waits for; `None` once it is over.
    pub fn due(&self) -> Option<Due> {
        self.position_of().due()
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.position_of().outcome()
    }

    /// Ends the match from outside the rules.
    pub fn close(&mut self, outcome: Outcome) {
        self.position_of_mut().close(outcome);
    }

    /// The `state` of the rules page as JSON.
    pub fn position(&self) -> Value {
        self.position_of().position()
    }

    /// All options with the values in force.
    pub fn options(&self) -> BTreeMap<&'static str, String> {
        self.position_of().options()
    }

    /// What `viewer` may know, as the JSON of the rules page.
    pub fn view(&self, viewer: Seat) -> Value {
        self.position_of().view(viewer)
    }

    /// What the templates are told besides the view.
    pub fn extra(&self, viewer: Seat) -> Value {
        self.position_of().extra(viewer)
    }

    /// The board as `viewer` may know it.
    pub fn board(&self, viewer: Seat) -> Board {
        self.position_of().board(viewer)
    }

    /// The board with everything open.
    pub fn open_board(&self) -> Board {
        let mut open = self.clone();
        if open.outcome().is_none() {
            open.close(Outcome { winner: None, reason: super::Reason::Abandoned });
        }
        open.board(Seat::First)
    }

    /// Reads and checks the orders of `seat` against what it can see.
    ///
    /// # Errors
    /// Every fault: those of lines in the order of the lines, then those of the whole filing.
    pub fn seal(&self, seat: Seat, lines: &[Line]) -> Result<Filing, Vec<Fault>> {
        let due = self.due().filter(|due| due.seats.contains(&seat));
        if due.is_none() {
            return Err(vec![Fault::whole(match self.due() {
                None => "The match is over.".to_owned(),
                Some(due) => format!("Nothing is due from {seat} in the phase {}.", due.phase),
            })]);
        }
        self.position_of().seal(seat, lines)
    }

    /// What the rules take as filed for a seat that is due and sent nothing; `None` where it must move itself.
    pub fn missed(&self, seat: Seat) -> Option<Filing> {
        self.due().filter(|due| due.seats.contains(&seat)).and_then(|_| self.position_of().missed(seat))
    }

    /// Decides the phase that is due, once every seat that is due has filed.
    ///
    /// # Errors
    /// [`Unsound`]: a filing was not sealed for this state. The state stays as it is.
    pub fn adjudicate(&mut self, filed: &BySeat<Option<Filing>>) -> Result<(), Unsound> {
        self.position_of_mut().adjudicate(filed)
    }

    /// What the house files for `seat` at the level of this name, from what that seat sees and nothing else; `None`
    /// where it has no such level, or nothing is due from there.
    pub fn house(&self, seat: Seat, level: &str, dice: u64) -> Option<Vec<String>> {
        let level = self.kind().level(level)?;
        self.due().filter(|due| due.seats.contains(&seat))?;
        self.position_of().house(seat, level, dice)
    }

    /// Random play for tests and benchmarks: order lines for the phase that is due from `seat`, lively and mostly
    /// legal. `rng(n)` gives a number below `n`.
    pub fn random_filing(&self, seat: Seat, rng: &mut dyn FnMut(u32) -> u32) -> Vec<String> {
        self.position_of().random_filing(seat, rng)
    }
}
