//! Setups (2): collects a fleet line by line, and finds the faults of lines and of the whole.
//!
//! Ready setups (`P-READY`): families of legal setups. The referee draws one.

use super::fleet::{Class, Ship, ShipKind, Square, Submarine, in_friendly_waters};
use super::order::{Order, ReadySetup};
use super::{Destroyers, Options};
use crate::game::{Dice, READY_ALONE, Seat};

/// Points for ships beyond the basic fleet (1.3).
pub(super) const PURCHASE: u32 = 25;
/// Submarines of a side (1.5), and how many of them may start in enemy waters (2.3).
pub(super) const SUBMARINES: usize = 5;
pub(super) const ABROAD: usize = 2;

/// A carrier as written: with its number, if one was given, and its squadron.
struct Carrier {
    no: Option<u16>,
    at: Square,
    squadron: Option<Square>,
}

/// The fleet of one side as far as it has been read.
pub struct SetupFleet<'a> {
    side: Seat,
    options: &'a Options,
    carriers: Vec<Carrier>,
    others: Vec<(Class, Square)>,
    submarines: Vec<(Option<u16>, Square)>,
}

impl<'a> SetupFleet<'a> {
    pub fn new(side: Seat, options: &'a Options) -> SetupFleet<'a> {
        SetupFleet { side, options, carriers: Vec::new(), others: Vec::new(), submarines: Vec::new() }
    }

    /// Adds a line of a setup. Ships on a faulty line count too, so that later lines and the totals are
    /// checked as they were meant, and every fault is reported at once (2.4).
    ///
    /// # Errors
    /// Returns everything that is wrong with the line, in plain sentences (2.1, 2.3).
    pub fn add(&mut self, order: &Order) -> Result<(), String> {
        let mut wrong = Vec::new();
        match order {
            Order::Carrier { no, at, squadron } => {
                if no.is_some() && self.carriers.iter().any(|carrier| carrier.no == *no) {
                    wrong.push(format!("There is a carrier V{} already.", no.unwrap_or_default()));
                }
                let squares: Vec<Square> = std::iter::once(*at).chain(*squadron).collect();
                self.check_squares(&squares, &mut wrong);
                if let Some(squadron) = squadron.filter(|squadron| squadron.king_steps(*at) > 1) {
                    wrong.push(format!(
                        "A squadron starts beside its carrier; {squadron} is not beside {at}."
                    ));
                }
                self.carriers.push(Carrier { no: *no, at: *at, squadron: *squadron });
            }
            Order::Ships { class, at } => {
                self.check_squares(at, &mut wrong);
                self.others.extend(at.iter().map(|at| (*class, *at)));
            }
            Order::Submarines(_) if !self.options.submarines => {
                wrong.push("This match is played without submarines.".to_owned());
            }
            Order::Submarines(placed) => {
                self.check_submarines(placed, &mut wrong);
                self.submarines.extend(placed);
            }
            // The referee replaces a ready setup with its lines, unless other lines accompany it.
            Order::Ready(_) => wrong.push(READY_ALONE.to_owned()),
            Order::Move { .. } | Order::Numbered { .. } | Order::Asw(_) | Order::Submarine(_) => {
                wrong.push("The match has not begun: first both sides set up their fleets.".to_owned());
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join(" ")) }
    }

    /// Clause 2.1: ships start in friendly waters, each on a square of its own.
    fn check_squares(&self, squares: &[Square], wrong: &mut Vec<String>) {
        for (i, at) in squares.iter().enumerate() {
            if !in_friendly_waters(self.side, *at) {
                let ranks = if self.side == Seat::First { "1 to 8" } else { "9 to 16" };
                wrong.push(format!("{at} is not in your waters, which are ranks {ranks}."));
            } else if squares[..i].contains(at) {
                wrong.push(format!("{at} is named twice."));
            } else if self.has_ship(*at) {
                wrong.push(format!("One of your ships stands on {at} already."));
            }
        }
    }

    fn has_ship(&self, at: Square) -> bool {
        self.others.iter().any(|(_, taken)| *taken == at)
            || self.carriers.iter().any(|carrier| carrier.at == at || carrier.squadron == Some(at))
    }

    /// Clause 2.3: no two submarines of a side share a square or a number.
    fn check_submarines(&self, placed: &[(Option<u16>, Square)], wrong: &mut Vec<String>) {
        for (i, (no, at)) in placed.iter().enumerate() {
            let mut before = self.submarines.iter().chain(&placed[..i]);
            if before.clone().any(|(_, taken)| taken == at) {
                wrong.push(format!("There is a submarine of yours on {at} already."));
            }
            if no.is_some() && before.any(|(other, _)| other == no) {
                wrong.push(format!("There is a submarine U{} already.", no.unwrap_or_default()));
            }
        }
    }

    fn count(&self, class: Class) -> usize {
        match class {
            Class::Carrier => self.carriers.len(),
            Class::Squadron => self.carriers.iter().filter(|carrier| carrier.squadron.is_some()).count(),
            Class::Battleship | Class::Cruiser | Class::Destroyer => {
                self.others.iter().filter(|(other, _)| *other == class).count()
            }
        }
    }

    /// Returns what is wrong with the setup as a whole (1.3, 2.1 to 2.3), in plain sentences.
    pub fn totals(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut spent = 0_u32;
        for class in Class::ALL {
            let placed = self.count(class);
            let basic = basic_fleet(class, self.options);
            if placed < basic {
                wrong.push(match class {
                    Class::Squadron if placed == 1 => {
                        format!("One of your carriers has a squadron; at least {basic} must.")
                    }
                    Class::Squadron => {
                        format!("{placed} of your carriers have a squadron; at least {basic} must.")
                    }
                    _ => {
                        let placed = count_of(placed, class.name());
                        format!("You have placed {placed}; the basic fleet has {basic}.")
                    }
                });
            }
            let bought = u32::try_from(placed.saturating_sub(basic)).unwrap_or(u32::MAX);
            spent = class.points().saturating_mul(bought).saturating_add(spent);
        }
        if spent > PURCHASE {
            wrong.push(format!("The ships beyond the basic fleet cost {spent} points; you have {PURCHASE}."));
        }
        let carriers: Vec<Option<u16>> = self.carriers.iter().map(|carrier| carrier.no).collect();
        wrong.extend(numbering_fault(&carriers, "carriers", 'V'));
        if self.options.submarines {
            if self.submarines.len() != SUBMARINES {
                let placed = count_of(self.submarines.len(), "submarine");
                wrong.push(format!("You have placed {placed}; a side has exactly {SUBMARINES}."));
            }
            let abroad = self.submarines.iter().filter(|(_, at)| !in_friendly_waters(self.side, *at)).count();
            if abroad > ABROAD {
                wrong.push(format!(
                    "{abroad} of your submarines start in the other side's waters; {ABROAD} at most may."
                ));
            }
            let submarines: Vec<Option<u16>> = self.submarines.iter().map(|(no, _)| *no).collect();
            wrong.extend(numbering_fault(&submarines, "submarines", 'U'));
        }
        wrong
    }

    /// Returns the ships, ordered by square, and the submarines, ordered by number.
    pub fn into_ships(self) -> (Vec<Ship>, Vec<Submarine>) {
        let mut ships: Vec<Ship> = self.others.iter().map(|(class, at)| plain_ship(*class, *at)).collect();
        for (no, carrier) in (1..).zip(&self.carriers) {
            let no = carrier.no.unwrap_or(no);
            ships.push(Ship { kind: ShipKind::Carrier { no }, at: carrier.at });
            let kind = ShipKind::Squadron { no, launched: false, leapt: false };
            ships.extend(carrier.squadron.map(|at| Ship { kind, at }));
        }
        ships.sort_unstable_by_key(|ship| ship.at);
        let numbered = (1..).zip(&self.submarines);
        let mut submarines: Vec<Submarine> =
            numbered.map(|(no, (given, at))| Submarine { no: given.unwrap_or(no), at: *at }).collect();
        submarines.sort_unstable_by_key(|submarine| submarine.no);
        (ships, submarines)
    }
}

/// `1 carrier`, `2 carriers`.
fn count_of(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Makes a ship of a class other than carrier or squadron, which have an order of their own.
fn plain_ship(class: Class, at: Square) -> Ship {
    let kind = match class {
        Class::Battleship => ShipKind::Battleship,
        Class::Cruiser => ShipKind::Cruiser,
        Class::Carrier | Class::Squadron | Class::Destroyer => ShipKind::Destroyer,
    };
    Ship { kind, at }
}

/// The number of ships of a class in the basic fleet (1.3).
pub fn basic_fleet(class: Class, options: &Options) -> usize {
    match class {
        Class::Carrier | Class::Squadron => 2,
        Class::Battleship | Class::Cruiser => 4,
        Class::Destroyer => usize::from(u8::from(options.destroyers)),
    }
}

/// Clause 2.1: either all are numbered, from 1 without gaps, or none is. (A repeated number is a fault of its
/// line.)
fn numbering_fault(numbers: &[Option<u16>], ships: &str, letter: char) -> Option<String> {
    let given: Vec<u16> = numbers.iter().copied().flatten().collect();
    if given.is_empty() {
        None
    } else if given.len() < numbers.len() {
        Some(format!(
            "Some of your {ships} have a number and some have none; write numbers at all or at none."
        ))
    } else {
        let highest = given.iter().copied().max().unwrap_or_default();
        let gap = (1..highest).find(|no| !given.contains(no));
        gap.map(|no| format!("Your {ships} are numbered from 1 without gaps, but there is no {letter}{no}."))
    }
}

/// The ships of a family, as South sees them.
struct Formation {
    /// Each with its squadron, if it has one.
    carriers: &'static [(&'static str, Option<&'static str>)],
    battleships: &'static str,
    cruisers: &'static str,
    destroyers: &'static str,
    /// One more, if the basic fleet has eight (`P-COUNT`).
    eighth_destroyer: &'static str,
}

/// Plain rows, with all purchase points spent on five battleships.
const LINE: Formation = Formation {
    carriers: &[("D2", Some("E3")), ("M2", Some("L3"))],
    battleships: "A1 F1 G1 H1 I1 J1 K1 O1 P1",
    cruisers: "C3 G3 J3 N3",
    destroyers: "B5 D5 F5 H5 K5 M5 O5",
    eighth_destroyer: "I5",
};

/// A third carrier with its squadron in the middle, the others far out, and one more battleship.
const WINGS: Formation = Formation {
    carriers: &[("C2", Some("D3")), ("N2", Some("M3")), ("H2", Some("I3"))],
    battleships: "A1 B1 H1 O1 P1",
    cruisers: "E2 F2 K2 L2",
    destroyers: "B4 C4 D4 H4 M4 N4 O4",
    eighth_destroyer: "I4",
};

/// Everything far back behind a screen, with four more cruisers and three more destroyers.
const DEEP: Formation = Formation {
    carriers: &[("G1", Some("G2")), ("J1", Some("J2"))],
    battleships: "E1 F1 K1 L1",
    cruisers: "D2 E2 F2 H2 I2 K2 L2 M2",
    destroyers: "B3 D3 F3 H3 I3 K3 M3 O3 C4 N4",
    eighth_destroyer: "P3",
};

impl ReadySetup {
    fn formation(self) -> &'static Formation {
        match self {
            ReadySetup::Line => &LINE,
            ReadySetup::Wings => &WINGS,
            ReadySetup::Deep => &DEEP,
        }
    }

    /// Draws a setup of this family for `side`: the ships as they are or mirrored, the submarines anywhere.
    pub fn draw(self, side: Seat, options: &Options, dice: &mut Dice) -> Vec<Order> {
        let is_mirrored = dice.below(2) == 1;
        let mut orders = self.formation().orders(side, options, is_mirrored);
        if options.submarines {
            orders.push(Order::Submarines((1..).map(Some).zip(submarines(side, dice)).collect()));
        }
        orders
    }
}

/// Returns a legal setup for `side`, the same each time.
pub fn sample_setup(side: Seat, options: &Options) -> Vec<Order> {
    let mut orders = LINE.orders(side, options, false);
    if options.submarines {
        let places = squares(side, false, "C7 H7 N7 E10 L10");
        orders.push(Order::Submarines((1..).map(Some).zip(places).collect()));
    }
    orders
}

impl Formation {
    /// The surface ships for `side`, mirrored from west to east if wanted.
    fn orders(&self, side: Seat, options: &Options, is_mirrored: bool) -> Vec<Order> {
        let place = |text: &str| squares(side, is_mirrored, text);
        let mut orders = Vec::new();
        for (no, (at, squadron)) in (1..).zip(self.carriers) {
            let squadron = squadron.and_then(|squadron| place(squadron).first().copied());
            let at = place(at).first().copied();
            orders.extend(at.map(|at| Order::Carrier { no: Some(no), at, squadron }));
        }
        let mut destroyers = place(self.destroyers);
        if options.destroyers == Destroyers::Eight {
            destroyers.extend(place(self.eighth_destroyer));
        }
        orders.push(Order::Ships { class: Class::Battleship, at: place(self.battleships) });
        orders.push(Order::Ships { class: Class::Cruiser, at: place(self.cruisers) });
        orders.push(Order::Ships { class: Class::Destroyer, at: destroyers });
        orders
    }
}

/// Reads squares as South sees them, and turns them for North.
fn squares(side: Seat, is_mirrored: bool, text: &str) -> Vec<Square> {
    let turned = |at: Square| {
        let file = if is_mirrored { 15 - at.file() } else { at.file() };
        let rank = if side == Seat::First { at.rank() } else { 15 - at.rank() };
        Square::new(file, rank)
    };
    text.split(' ').filter_map(Square::parse).filter_map(turned).collect()
}

/// Draws the squares of the five submarines (2.3), in any order: three in own waters, two in the enemy's.
fn submarines(side: Seat, dice: &mut Dice) -> Vec<Square> {
    let (mut friendly, mut enemy): (Vec<Square>, Vec<Square>) =
        Square::all().partition(|at| in_friendly_waters(side, *at));
    dice.shuffle(&mut friendly);
    dice.shuffle(&mut enemy);
    let mut drawn: Vec<Square> = friendly.into_iter().take(3).chain(enemy.into_iter().take(2)).collect();
    dice.shuffle(&mut drawn);
    drawn
}
