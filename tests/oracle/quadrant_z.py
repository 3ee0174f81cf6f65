"""Quadrant Z, from its rules page `quadrant-z.md`; the numbers in the text are that page's clauses.

Squares are texts such as "A3", quadrants are letters, seats are "first" and "second". The end of the file
(from `generate` on) plays random matches for tests and is no part of the rules.
"""

import re
import sys
from dataclasses import dataclass, field, replace

from record import SEATS, Choice, Limit, Referee, order_lines, other, whole

OPTIONS = {
    "layout": Choice("triangle", "block"),
    "damage": Choice("excess", "full"),
    "casualties": Choice("standing", "ask"),
    "turn_limit": Limit(40),
}


# 1 The galaxy

QUADRANTS = "ABCDEFGHIJKLMNOPQRSTUVWXY"
HOME_QUADRANT = {"first": "A", "second": "Y"}
HOME_SECTORS = {
    "triangle": {"first": "ABCFGK", "second": "YXWTSO"},
    "block": {"first": "ABCFGH", "second": "YXWTSR"},
}


def quadrant_of(square):
    """1.1: the quadrant in which a square lies."""
    return square[0]


def neighbours(quadrant):
    """1.1: the quadrants that share an edge with this one in the galaxy of 5 x 5 quadrants."""
    row, column = divmod(QUADRANTS.index(quadrant), 5)
    places = [(row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)]
    return [QUADRANTS[5 * r + c] for r, c in places if 0 <= r < 5 and 0 <= c < 5]


def adjacent(square, another):
    """1.3: whether two squares lie in one quadrant and share an edge."""
    edges = ("12", "21", "13", "31", "24", "42", "34", "43")
    return square[0] == another[0] and square[1] + another[1] in edges


@dataclass
class Star:
    """2.1, 2.2: a star as it stands in the galaxy, merged if both have placed it."""

    at: str
    value: int
    captured_by: str | None = None
    base_of: str | None = None


@dataclass(frozen=True)
class Ship:
    """2.3: a ship; its size is offence and defence together."""

    no: int
    offence: int
    defence: int
    at: str

    @property
    def size(self):
        return self.offence + self.defence


@dataclass
class Setup:
    """2: a setup as filed."""

    stars: dict = field(default_factory=dict)  # square -> value
    bases: list = field(default_factory=list)  # squares marked as the home base
    ships: dict = field(default_factory=dict)  # number -> Ship


@dataclass
class Turn:
    """3: the orders of one side for a turn, as filed."""

    builds: list = field(default_factory=list)  # Ships
    moves: dict = field(default_factory=dict)  # number -> square; None for HOLD
    captures: list = field(default_factory=list)  # squares
    losses: list | None = None  # None: the standing list stays


@dataclass
class Force:
    """3.4: the ships of one side that take part in one quadrant's combat, and its outcome for them."""

    ships: list
    offence: int
    defence: int
    damage: int = 0
    lost: list = field(default_factory=list)


@dataclass
class News:
    """3.3 to 3.5: what happened in one turn."""

    entries: dict = field(default_factory=lambda: {seat: [] for seat in SEATS})  # by the seat that entered
    intruders: dict = field(default_factory=lambda: {seat: {} for seat in SEATS})  # by the seat that intrudes
    standoffs: list = field(default_factory=list)
    battles: dict = field(default_factory=dict)  # quadrant -> seat -> Force
    captures: list = field(default_factory=list)


# 2 Setting up: reading

SQUARE = "([A-Y][1-4])"
NUMBER = "([0-9]{1,9})"
STAR = re.compile(f"STAR {SQUARE} {NUMBER}( BASE)?")
START = re.compile(f"SHIP {NUMBER}[: ]+{NUMBER}/{NUMBER}[: ]+(?:START[: ]+)?{SQUARE}")


class SetupReader:
    """2: reads the setup of one side; the other lines are checked as if a faulty one were absent."""

    def __init__(self, seat, sectors):
        self.seat = seat
        self.home = sectors[seat]
        self.enemy_home = sectors[other(seat)]
        self.neutral = [q for q in QUADRANTS if q not in self.home + self.enemy_home]
        self.setup = Setup()

    def read(self, orders):
        """2.5: the setup and all its faults."""
        faults = []
        for line in order_lines(orders):
            reason = self.read_line(line.order)
            if reason:
                faults.append(line.fault(reason))
        return self.setup, faults + [whole(reason) for reason in self.totals()]

    def read_line(self, order):
        """Adds one line to the setup, or returns what is wrong with it."""
        star = STAR.fullmatch(order)
        if star:
            return self.read_star(star[1], int(star[2]), star[3] is not None)
        ship = START.fullmatch(order)
        if ship:
            return self.read_ship(Ship(int(ship[1]), int(ship[2]), int(ship[3]), ship[4]))
        return "this is no order of a setup"

    def read_star(self, square, value, base):
        """2.1: the rules for each single star."""
        quadrant = quadrant_of(square)
        if quadrant in self.enemy_home:
            return "no stars in the opponent's home sector"
        if not 1 <= value <= (3 if quadrant in self.home else 2):
            return "a star has the value 1, 2 or 3 at home, 1 or 2 in the neutral sector"
        if square in self.setup.stars:
            return "there is a star of yours already"
        if base and quadrant != HOME_QUADRANT[self.seat]:
            return "the home base is in the home quadrant"
        self.setup.stars[square] = value
        if base:
            self.setup.bases.append(square)
        return None

    def read_ship(self, ship):
        """2.3, 2.4: the rules for each single ship."""
        if not 1 <= ship.no <= 99:
            return "ships are numbered from 1 to 99"
        if ship.no in self.setup.ships:
            return "there is a ship of this number already"
        if ship.size < 1:
            return "offence and defence are at least 1 together"
        if quadrant_of(ship.at) not in self.home:
            return "ships start in the own home sector"
        self.setup.ships[ship.no] = ship
        return None

    def totals(self):
        """2.1, 2.3: the rules for the setup as a whole."""
        faults = []
        stars = self.setup.stars
        home_values = [value for square, value in stars.items() if quadrant_of(square) in self.home]
        if sum(home_values) != 15:
            faults.append(f"the stars at home have a total of {sum(home_values)}, not 15")
        if home_values.count(3) > 2:
            faults.append("more than two stars of value 3")
        neutral_total = sum(stars.values()) - sum(home_values)
        if neutral_total != 30:
            faults.append(f"the stars in the neutral sector have a total of {neutral_total}, not 30")
        for quadrant in QUADRANTS:
            count = len([square for square in stars if quadrant_of(square) == quadrant])
            if count > 2:
                faults.append(f"{count} stars in quadrant {quadrant}")
            if count == 0 and quadrant in self.neutral:
                faults.append(f"no star in quadrant {quadrant}")
        if len(self.setup.bases) != 1:
            faults.append(f"{len(self.setup.bases)} home bases")
        points = sum(ship.size for ship in self.setup.ships.values())
        if points > 15:
            faults.append(f"{points} points of ships")
        if not self.setup.ships:
            faults.append("no ship")
        return faults


# 3.0 A turn: reading

BUILD = re.compile(f"BUILD {NUMBER}/{NUMBER} AT {SQUARE}")
MOVE = re.compile(f"SHIP {NUMBER}[: ]+(?:{SQUARE} )?TO {SQUARE}")
HOLD = re.compile(f"SHIP {NUMBER}[: ]+HOLD")
HOLD_ALL = re.compile("HOLD")
CAPTURE = re.compile(f"CAPTURE {SQUARE}")
LOSSES = re.compile("LOSSES (NONE|[0-9]{1,9}(?: [0-9]{1,9})*)")


class TurnReader:
    """3.0: reads the orders of one side: builds, then ships, then captures and LOSSES."""

    def __init__(self, match, seat):
        self.match = match
        self.seat = seat
        self.stock = match.stock[seat]
        self.ships = dict(match.ships[seat])  # those built in this filing come to it
        self.highest = match.highest[seat]
        self.turn = Turn()

    def read(self, orders):
        """The orders and all faults. Later passes see only the effects of the earlier ones' faultless lines."""
        lines = order_lines(orders)
        reasons = {}
        passes = [
            {BUILD: self.read_build},
            {MOVE: self.read_move, HOLD: self.read_hold, HOLD_ALL: self.read_hold_all},
            {CAPTURE: self.read_capture, LOSSES: self.read_losses},
        ]
        known = set()
        for readers in passes:
            for line in lines:
                for pattern, reader in readers.items():
                    words = pattern.fullmatch(line.order)
                    if words:
                        known.add(line.number)
                        reasons[line.number] = reader(words)
        for line in lines:
            if line.number not in known:
                reasons[line.number] = "this is no order of a turn"
        return self.turn, [line.fault(reasons[line.number]) for line in lines if reasons[line.number]]

    def read_build(self, words):
        """3.1 (and 2.4 for the number)."""
        ship = Ship(self.highest + 1, int(words[1]), int(words[2]), words[3])
        star = self.match.stars.get(ship.at)
        if ship.size < 1:
            return "offence and defence are at least 1 together"
        if quadrant_of(ship.at) != HOME_QUADRANT[self.seat]:
            return "ships are built in the home quadrant"
        if star is None or star.captured_by is not None:
            return "ships are built at a star that nobody has captured"
        if ship.size > self.stock:
            return f"this costs {ship.size}, and {self.stock} are left in stock"
        self.stock -= ship.size
        self.highest = ship.no
        self.ships[ship.no] = ship
        self.turn.builds.append(ship)
        return None

    def read_move(self, words):
        """3.2: to a square of a neighbouring quadrant, or to an adjacent square."""
        number, origin, to = int(words[1]), words[2], words[3]
        reason = self.ship_fault(number)
        if reason:
            return reason
        at = self.ships[number].at
        if origin is not None and origin != at:
            return f"ship {number} is at {at}"
        if quadrant_of(to) not in neighbours(quadrant_of(at)) and not adjacent(at, to):
            return f"ship {number} cannot move from {at} to {to}"
        self.turn.moves[number] = to
        return None

    def read_hold(self, words):
        """3.2: a ship that stays."""
        number = int(words[1])
        reason = self.ship_fault(number)
        if reason:
            return reason
        self.turn.moves[number] = None
        return None

    def read_hold_all(self, words):
        """3.2: `HOLD` alone neither removes nor gives an order."""
        return None

    def ship_fault(self, number):
        """3.0: whether this ship can be given an order, and has none yet."""
        if number not in self.ships:
            return f"you have no ship {number}"
        if number in self.turn.moves:
            return f"a second order for ship {number}"
        return None

    def read_capture(self, words):
        """3.5: legal if the ships that stay there, including those built there, are strong enough."""
        square = words[1]
        star = self.match.stars.get(square)
        if square in self.turn.captures:
            return f"a second CAPTURE of {square}"
        if star is None or star.captured_by is not None:
            return f"there is no star to capture at {square}"
        if star.base_of == self.seat:
            return "this is your own home base"
        staying = [s for s in self.ships.values() if s.at == square and self.turn.moves.get(s.no) is None]
        if sum(ship.offence for ship in staying) < star.value:
            return f"the ships staying at {square} have too little offence"
        self.turn.captures.append(square)
        return None

    def read_losses(self, words):
        """3.4: the standing list."""
        if self.match.options["casualties"] == "ask":
            return "no LOSSES in this match: you will be asked"
        if self.turn.losses is not None:
            return "a second LOSSES"
        numbers = [] if words[1] == "NONE" else [int(number) for number in words[1].split()]
        for number in numbers:
            if number not in self.ships:
                return f"you have no ship {number}"
        if len(set(numbers)) < len(numbers):
            return "a ship is named twice"
        self.turn.losses = numbers
        return None


# 3.4 Casualties: reading

LOSE = re.compile("LOSE ([A-Y])((?: [0-9]{1,9})+)")


def read_casualties(orders, forces):
    """3.4: `LOSE Q 3 1`; `forces` are those of the seat, by quadrant. Returns quadrant -> numbers."""
    choices, faults = {}, []
    for line in order_lines(orders):
        words = LOSE.fullmatch(line.order)
        if not words:
            faults.append(line.fault("this is no order for casualties"))
            continue
        quadrant, numbers = words[1], [int(number) for number in words[2].split()]
        reason = choice_fault(quadrant, numbers, choices, forces)
        if reason:
            faults.append(line.fault(reason))
        else:
            choices[quadrant] = numbers
    return choices, faults


def choice_fault(quadrant, numbers, choices, forces):
    """3.4: each quadrant once, with the seat's own ships that take part there, none twice."""
    if quadrant in choices:
        return f"quadrant {quadrant} is named twice"
    if quadrant not in forces:
        return f"no combat in quadrant {quadrant}"
    taking_part = [ship.no for ship in forces[quadrant].ships]
    for number in numbers:
        if number not in taking_part:
            return f"no ship {number} of yours takes part in quadrant {quadrant}"
    if len(set(numbers)) < len(numbers):
        return "a ship is named twice"
    return None


# 3.4 Combat


def taking_part(ships, enemies):
    """3.4: the ships with an enemy ship on their square or on an adjacent one."""
    return [s for s in ships if any(e.at == s.at or adjacent(e.at, s.at) for e in enemies)]


def make_force(ships, enemies):
    """3.4: offence, reduced for each ship that shares its square with no enemy, and defence."""
    fighting = taking_part(ships, enemies)
    enemy_squares = {enemy.at for enemy in enemies}
    apart = [ship for ship in fighting if ship.at not in enemy_squares]
    offence = max(0, sum(ship.offence for ship in fighting) - len(apart))
    return Force(fighting, offence, sum(ship.defence for ship in fighting))


def damage_by(offence, defence, option):
    """3.4, ruling Z-EXCESS."""
    if offence <= defence:
        return 0
    return offence - defence if option == "excess" else offence


def least_set(ships, damage):
    """3.4: the ships that are lost where the owner chose nothing.

    The set of least total size that covers the damage; then of fewest ships; then of least offence; then the
    one whose numbers, compared from the highest down, are higher. All, if none covers it.
    """
    best = {0: (0, 0, ())}  # total size -> count, offence, negative numbers from the highest ship down
    for ship in sorted(ships, key=lambda ship: -ship.no):
        for size, (count, offence, numbers) in list(best.items()):
            total = size + ship.size
            rank = (count + 1, offence + ship.offence, numbers + (-ship.no,))
            best[total] = min(best.get(total, rank), rank)
    covering = [size for size in best if size >= damage]
    if not covering:
        return list(ships)
    numbers = best[min(covering)][2]
    return [ship for ship in ships if -ship.no in numbers]


def lost_ships(ships, damage, order):
    """3.4: the ships that a side loses, those named in `order` first, until the damage is covered."""
    by_number = {ship.no: ship for ship in ships}
    lost = []
    for number in order:
        if number in by_number and sum(ship.size for ship in lost) < damage:
            lost.append(by_number[number])
    open_damage = damage - sum(ship.size for ship in lost)
    if open_damage > 0:
        lost += least_set([ship for ship in ships if ship not in lost], open_damage)
    return lost


def has_choice(force):
    """3.4: whether `LOSE` orders could make different sets of these ships be lost.

    If the ships without the smallest one cover the damage, then some set without that ship can be lost, and
    another one by naming it first. If they do not, every ship is needed.
    """
    if force.damage == 0:
        return False
    sizes = [ship.size for ship in force.ships]
    return sum(sizes) - min(sizes) >= force.damage


# 3 The match


class Match:
    """One match: what is on the board, what the sides know, and what is due."""

    def __init__(self, options):
        self.options = options
        self.sectors = HOME_SECTORS[options["layout"]]
        self.phase = "setup"
        self.asked = []
        self.result = None
        self.turn = 0
        self.stock = {seat: 0 for seat in SEATS}
        self.ships = {seat: {} for seat in SEATS}
        self.highest = {seat: 0 for seat in SEATS}
        self.stars = {}
        self.placed = {seat: {} for seat in SEATS}
        self.explored = {seat: set() for seat in SEATS}
        self.losses = {seat: [] for seat in SEATS}
        self.news = News()
        self.filed = {}
        self.stayed = {}
        self.views = {}

    # What is due

    def due(self):
        """The phases setup, turn, casualties."""
        if self.result is not None:
            return None
        seats = self.asked if self.phase == "casualties" else SEATS
        return {"phase": self.phase, "seats": list(seats)}

    def read(self, seat, orders):
        """Reads a filing for the phase that is due."""
        if self.phase == "setup":
            return SetupReader(seat, self.sectors).read(orders)
        if self.phase == "turn":
            return TurnReader(self, seat).read(orders)
        forces = {quadrant: sides[seat] for quadrant, sides in self.news.battles.items()}
        return read_casualties(orders, forces)

    def adjudicate(self, filings):
        """Adjudicates the phase that is due."""
        if self.phase == "setup":
            self.set_up(filings)
        elif self.phase == "turn":
            self.play_turn(filings)
        else:
            self.finish_turn(filings)

    def end(self, result):
        """records.md: an end from outside the rules; the lists of what happened this turn are empty."""
        self.result = result
        self.news = News()
        self.show_all()

    # 2 Setting up

    def set_up(self, setups):
        """2: both setups become the board; 2.2 ruling Z-MERGE."""
        for seat, setup in setups.items():
            self.placed[seat] = setup.stars
            self.ships[seat] = dict(setup.ships)
            self.highest[seat] = max(setup.ships)
            for square, value in setup.stars.items():
                if square in self.stars:
                    self.stars[square].value += value
                else:
                    self.stars[square] = Star(square, value)
            self.stars[setup.bases[0]].base_of = seat
        self.phase = "turn"
        self.show_all()

    # 3 A turn

    def play_turn(self, filings):
        """3: builds, moves, exploration and combat; then the rest, unless a side is asked for its casualties."""
        self.turn += 1
        self.filed = filings
        self.news = News()
        for seat in SEATS:
            self.build(seat, filings[seat])
        before = {seat: dict(self.ships[seat]) for seat in SEATS}
        for seat in SEATS:
            self.move(seat, filings[seat])
        self.explore(before)
        self.compute_combat()
        if self.options["casualties"] == "ask":
            self.asked = [seat for seat in SEATS if self.is_asked(seat)]
        if self.asked:
            self.phase = "casualties"
            self.show_casualties()
        else:
            self.finish_turn({})

    def build(self, seat, filing):
        """3.1 and 2.4."""
        for ship in filing.builds:
            self.stock[seat] -= ship.size
            self.highest[seat] = ship.no
            self.ships[seat][ship.no] = ship

    def move(self, seat, filing):
        """3.2; remembers which ships stayed (for 3.5)."""
        fleet = self.ships[seat]
        self.stayed[seat] = [number for number in fleet if filing.moves.get(number) is None]
        for number, to in filing.moves.items():
            if to is not None:
                fleet[number] = replace(fleet[number], at=to)
        if filing.losses is not None:
            self.losses[seat] = filing.losses

    def explore(self, before):
        """3.3, on the positions after movement."""
        for seat in SEATS:
            entered = {
                quadrant_of(ship.at)
                for number, ship in self.ships[seat].items()
                if quadrant_of(ship.at) != quadrant_of(before[seat][number].at)
            }
            self.explored[seat] |= entered
            neutral = [quadrant for quadrant in entered if self.is_neutral(quadrant)]
            self.explored[other(seat)].update(neutral)
            self.news.entries[seat] = sorted(neutral)
            for ship in self.ships[seat].values():
                if quadrant_of(ship.at) in self.sectors[other(seat)]:
                    sizes = self.news.intruders[seat]
                    sizes[ship.at] = sizes.get(ship.at, 0) + ship.size
        self.news.standoffs = [
            quadrant for quadrant in QUADRANTS if all(self.ships_in(seat, quadrant) for seat in SEATS)
        ]

    def is_neutral(self, quadrant):
        """1.2: whether it is in nobody's home sector."""
        return all(quadrant not in self.sectors[seat] for seat in SEATS)

    def ships_in(self, seat, quadrant):
        """The ships of a side in a quadrant, by number."""
        fleet = self.ships[seat]
        return [fleet[number] for number in sorted(fleet) if quadrant_of(fleet[number].at) == quadrant]

    def compute_combat(self):
        """3.4 up to the damage: no ship is lost yet."""
        for quadrant in self.news.standoffs:
            ships = {seat: self.ships_in(seat, quadrant) for seat in SEATS}
            forces = {seat: make_force(ships[seat], ships[other(seat)]) for seat in SEATS}
            if not forces["first"].ships:
                continue
            for seat in SEATS:
                offence = forces[other(seat)].offence
                forces[seat].damage = damage_by(offence, forces[seat].defence, self.options["damage"])
            self.news.battles[quadrant] = forces

    def is_asked(self, seat):
        """3.4: "A side is asked if its orders could make different sets of ships be lost."."""
        return any(has_choice(forces[seat]) for forces in self.news.battles.values())

    def finish_turn(self, choices):
        """3: losses, capture, victory. `choices`: seat -> quadrant -> numbers, of the seats asked."""
        self.phase, self.asked = "turn", []
        for seat in SEATS:
            self.take_losses(seat, choices.get(seat, {}))
        fallen_bases = self.capture()
        self.result = self.judge(fallen_bases)
        self.show_all()

    def take_losses(self, seat, choices):
        """3.4: the losses of one side; lost ships are struck from the standing list."""
        for quadrant, forces in self.news.battles.items():
            force = forces[seat]
            order = choices.get(quadrant, self.losses[seat])
            force.lost = lost_ships(force.ships, force.damage, order)
        for forces in self.news.battles.values():
            for ship in forces[seat].lost:
                del self.ships[seat][ship.no]
        self.losses[seat] = [number for number in self.losses[seat] if number in self.ships[seat]]

    # 3.5 Capture

    def capture(self):
        """3.5: makes the captures; returns the sides whose home base is captured."""
        fallen_bases = []
        for seat in SEATS:
            for square in self.filed[seat].captures:
                if self.can_capture(seat, square):
                    star = self.stars[square]
                    star.captured_by = seat
                    self.stock[seat] += star.value
                    ships = [ship for ship in self.ships[seat].values() if ship.at == square]
                    offence = sum(ship.offence for ship in ships)
                    self.news.captures.append(
                        {"by": seat, "at": square, "value": star.value, "offence": offence}
                    )
                    if star.base_of is not None:
                        fallen_bases.append(star.base_of)
        self.news.captures.sort(key=lambda capture: capture["at"])
        return fallen_bases

    def can_capture(self, seat, square):
        """3.5: enough of those that stood and stayed have survived, and no enemy is left (Z-CONTESTED)."""
        fleet = self.ships[seat]
        staying = [fleet[n] for n in self.stayed[seat] if n in fleet and fleet[n].at == square]
        enemies = [ship for ship in self.ships[other(seat)].values() if ship.at == square]
        return sum(ship.offence for ship in staying) >= self.stars[square].value and not enemies

    # 3.6 Victory

    def judge(self, fallen_bases):
        """3.6: the first that applies counts; None if the match goes on."""
        fallen = [seat for seat in SEATS if seat in fallen_bases or not self.ships[seat]]
        if len(fallen) == 1:
            reason = "base captured" if fallen[0] in fallen_bases else "fleet destroyed"
            return {"winner": other(fallen[0]), "reason": reason}
        if len(fallen) == 2:
            return self.decide_on_stars()
        for seat in SEATS:
            if 2 * len(self.captured(seat)) > len(self.stars):
                return {"winner": seat, "reason": "most stars"}
        open_stars = [s for s in self.stars.values() if s.captured_by is None and s.base_of is None]
        if not open_stars or self.turn == self.options["turn_limit"]:
            return self.decide_on_stars()
        return None

    def captured(self, seat):
        """The stars that a side has captured."""
        return [star for star in self.stars.values() if star.captured_by == seat]

    def score(self, seat):
        """4: stars captured and their total value."""
        stars = self.captured(seat)
        return {"stars": len(stars), "value": sum(star.value for star in stars)}

    def decide_on_stars(self):
        """3.6: more stars, then the higher total, else a draw."""
        ranks = {seat: (self.score(seat)["stars"], self.score(seat)["value"]) for seat in SEATS}
        for seat in SEATS:
            if ranks[seat] > ranks[other(seat)]:
                return {"winner": seat, "reason": "most stars"}
        return {"winner": None, "reason": "drawn on stars"}

    # 5 State and view

    def state(self):
        """5: what is on the board."""
        return {
            "turn": self.turn,
            "stock": dict(self.stock),
            "ships": {seat: self.ship_list(seat) for seat in SEATS},
            "stars": [
                {"at": s.at, "value": s.value, "captured_by": s.captured_by, "base_of": s.base_of}
                for s in sorted(self.stars.values(), key=lambda star: star.at)
            ],
        }

    def view(self, seat):
        """5: what a side sees, as made by the last adjudication."""
        return self.views[seat]

    def show_all(self):
        """Makes the views after a complete adjudication."""
        self.views = {seat: self.make_view(seat) for seat in SEATS}

    def show_casualties(self):
        """3.4: a seat that is asked sees its ships and battles; everything else is as in the turn before."""
        for seat in self.asked:
            self.views[seat] = {
                **self.views[seat],
                "ships": self.ship_list(seat),
                "battles": self.battle_list(seat),
            }

    def make_view(self, seat):
        """4, 5: the view of one side."""
        enemy = other(seat)
        sizes = self.news.intruders[enemy]
        view = {
            "turn": self.turn,
            "stock": self.stock[seat],
            "ships": self.ship_list(seat),
            "losses": list(self.losses[seat]),
            "stars": self.known_stars(seat),
            "entries": list(self.news.entries[enemy]),
            "intruders": [{"at": at, "size": sizes[at]} for at in sorted(sizes)],
            "standoffs": list(self.news.standoffs),
            "battles": self.battle_list(seat),
            "captures": list(self.news.captures),
            "score": {each: self.score(each) for each in SEATS},
        }
        if self.result is not None:
            view["enemy_ships"] = self.ship_list(enemy)
        return view

    def ship_list(self, seat):
        """5: ships by number."""
        fleet = self.ships[seat]
        return [
            {"no": ship.no, "offence": ship.offence, "defence": ship.defence, "at": ship.at}
            for _, ship in sorted(fleet.items())
        ]

    def battle_list(self, seat):
        """3.4 ruling Z-BATTLE-NEWS: own ships lost, and only the total size of what the enemy lost."""
        battles = []
        for quadrant, forces in sorted(self.news.battles.items()):
            own, enemy = forces[seat], forces[other(seat)]
            battles.append(
                {
                    "quadrant": quadrant,
                    "own": {
                        "offence": own.offence,
                        "defence": own.defence,
                        "damage": own.damage,
                        "lost": sorted(ship.no for ship in own.lost),
                    },
                    "enemy": {
                        "offence": enemy.offence,
                        "defence": enemy.defence,
                        "damage": enemy.damage,
                        "lost": sum(ship.size for ship in enemy.lost),
                    },
                }
            )
        return battles

    def known_stars(self, seat):
        """4, 5: the stars that a side knows, by square; at the end all of them."""
        stars = []
        for _, star in sorted(self.stars.items()):
            value = self.known_value(seat, star)
            if value is None:
                continue
            shown = {"at": star.at, "value": value, "captured_by": star.captured_by}
            if star.base_of == seat or (star.base_of is not None and self.result is not None):
                shown["base"] = True
            stars.append(shown)
        return stars

    def known_value(self, seat, star):
        """3.3, 5: the value of a star as a side knows it; None if it does not know the star."""
        explored = quadrant_of(star.at) in self.explored[seat]
        if self.result is not None or star.captured_by is not None or explored:
            return star.value
        return self.placed[seat].get(star.at)


# Random matches for tests

GIBBERISH = (
    "HELLO",
    "SHIP",
    "SHIP X HOLD",
    "SHIP 1 A3 TO Z9",
    "SHIP 1 A3 B2",
    "SHIP 1 3/2",
    "SHIP 0 HOLD",
    "SHIP -1 HOLD",
    "MOVE 1 TO B2",
    "CAPTURE",
    "CAPTURE A5",
    "CAPTURE A1 NOW",
    "BUILD 2 AT A1",
    "BUILD 2/ AT A1",
    "BUILD 2/1 A1",
    "BUILD 0/0 AT A1",
    "LOSSES X",
    "LOSSES NONE 1",
    "LOSSES -1",
    "LOSE A",
    "STAR",
    "STAR A1",
    "STAR A1 0",
    "STAR A1 ONE",
    "STAR A1 1 HOME",
    "STAR M1 3",
    "STAR A9 1",
    "SHIP 100 1/1 A1",
    "SHIP 1 1/1 M1",
    "SHIP 98 0/0 A1",
    "RESIGN FIRST",
    "HOLD FAST",
    "SHIPS 1 HOLD",
    "STAR A1 3 BASE",
    "STAR Y4 3 BASE",
    "LOSE Q 1",
    "LOSE M 1 2 3",
    "LOSSES 1",
    "LOSSES 1 1",
    "CAPTURE A1",
    "CAPTURE Y4",
    "SHIP 1 TO M1",
)


def generate(rng):
    """One random match: the options to write, and the filings."""
    return Generator(rng).play()


def distance(square, another):
    """The approximate number of moves between two squares."""
    row, column = divmod(QUADRANTS.index(square[0]), 5)
    to_row, to_column = divmod(QUADRANTS.index(another[0]), 5)
    quadrants = abs(row - to_row) + abs(column - to_column)
    if quadrants > 0:
        return quadrants
    return 0 if square == another else 1 if adjacent(square, another) else 2


def spell(rng, order):
    """The same order in another case, with more blanks or with a comment."""
    if rng.random() < 0.15:
        order = order.lower()
    elif rng.random() < 0.1:
        order = "".join(rng.choice([letter.upper(), letter.lower()]) for letter in order)
    if rng.random() < 0.1:
        order = re.sub(" ", lambda _: rng.choice([" ", "  ", "   ", "\t", " \t "]), order)
    if rng.random() < 0.08:
        order = rng.choice([" ", "   ", "\t"]) + order
    if rng.random() < 0.08:
        order += rng.choice(["  ", " # go", "# SHIP 1 HOLD", " #", "\t"])
    return order


def spell_all(rng, orders):
    """The text of a filing, with some blank lines and comments between the orders."""
    lines = []
    for order in orders:
        if rng.random() < 0.04:
            lines.append(rng.choice(["", "   ", "# a comment", "  # CAPTURE A1"]))
        lines.append(spell(rng, order))
    if len(lines) <= 1 and rng.random() < 0.5:
        return "".join(lines)
    return "\n".join(lines) + rng.choice(["", "\n", "\n\n", "\n"])


class Generator:
    """Plays one match against itself, knowing everything, mostly sensibly."""

    def __init__(self, rng):
        self.rng = rng
        self.options = self.random_options()
        # `peace`: each side collects its half of the stars, so that all of them are captured in the end.
        # `duel`: a few ships with high offence seek each other. `war`: everything.
        self.plan = rng.choices(["war", "duel", "peace"], [70, 20, 10])[0]
        if self.plan == "peace":
            self.options["turn_limit"] = rng.choice([200, 999])
        options = {name: self.options.get(name, option.default) for name, option in OPTIONS.items()}
        self.referee = Referee(sys.modules[__name__], options)
        self.match = self.referee.match
        self.filings = []
        self.appetite = {seat: self.random_appetite() for seat in SEATS}
        self.halves = {seat: set() for seat in SEATS}
        self.last_turn = 120
        self.ending = None
        if rng.random() < 0.12:
            self.ending = rng.choice(["stop", "stop", "RESIGN first", "RESIGN second", "DRAW", "ABANDON"])
            self.last_turn = rng.randint(0, 15)

    def random_options(self):
        """Some options, including some at their defaults."""
        rng, options = self.rng, {}
        for name in ("layout", "damage", "casualties"):
            if rng.random() < 0.8:
                options[name] = rng.choice(OPTIONS[name].values)
        if rng.random() < 0.5:
            options["turn_limit"] = rng.choice([1, 2, rng.randint(3, 12), rng.randint(13, 40), 40, 60, 999])
        return options

    def random_appetite(self):
        """How much a side wants stars, enemy ships and the enemy base."""
        rng = self.rng
        if self.plan == "duel":
            return {"stars": 0.1, "ships": 1.0, "base": 0.1}
        if self.plan == "peace":
            return {"stars": 1.0, "ships": 0.0, "base": 0.0}
        return rng.choice(
            [
                {"stars": 1.0, "ships": 0.2, "base": 0.05},
                {"stars": 1.0, "ships": 0.6, "base": 0.2},
                {"stars": 0.4, "ships": 1.0, "base": 0.2},
                {"stars": 0.5, "ships": 0.5, "base": 1.0},
                {"stars": 0.1, "ships": 0.1, "base": 3.0},
            ]
        )

    # The course of a match

    def play(self):
        """Files until the match is over or its time is up."""
        rng = self.rng
        while self.match.result is None:
            if self.match.turn >= self.last_turn and (self.match.turn > 0 or rng.random() < 0.5):
                self.stop()
                break
            seats = self.match.due()["seats"]
            rng.shuffle(seats)
            for seat in seats:
                self.file_some(seat)
            if self.match.turn == 0 and self.match.phase == "turn":
                self.share_stars()
        if self.match.result is not None and rng.random() < 0.15:
            self.file(rng.choice(["first", "second", "referee"]), ["DRAW"])
        return self.options, self.filings

    def stop(self):
        """An end from outside the rules, or none; sometimes in the middle of a phase."""
        if self.rng.random() < 0.4:
            self.file_some(self.match.due()["seats"][0], 0)
        if self.ending not in (None, "stop") and self.match.result is None:
            self.file("referee", [self.ending], self.rng.random() < 0.2)

    def file_some(self, seat, must_take=0.9):
        """One filing of a seat that counts, perhaps with faulty and replaced ones before it."""
        rng = self.rng
        if rng.random() < 0.02:
            self.file(rng.choice(SEATS), ["HOLD"], phase=rng.choice(["setup", "turn", "casualties", "move"]))
        if rng.random() < 0.02 and self.match.phase == "casualties":
            self.file(other(seat), ["HOLD"])
        if self.match.due() is None or seat not in self.match.due()["seats"]:
            return
        before = self.referee.adjudications
        opponent_open = other(seat) in self.match.due()["seats"] and other(seat) not in self.referee.filed
        if rng.random() < 0.06 and opponent_open:
            self.file(seat, self.orders(seat))
        if rng.random() < (0.3 if self.match.phase in ("setup", "casualties") else 0.1):
            self.file(seat, self.spoil(seat, self.orders(seat)))
        if must_take or rng.random() < 0.5:
            while self.referee.adjudications == before and seat not in self.referee.filed:
                self.file(seat, self.orders(seat), rng.random() < 0.15)

    def file(self, seat, orders, with_phase=False, phase=None):
        """Writes one filing and hands it to the referee."""
        text = spell_all(self.rng, orders)
        if seat == "referee" and "DRAW" not in orders:
            text = spell(self.rng, orders[0])
        filing = {"seat": seat, "orders": text}
        due = self.match.due()
        if phase is not None:
            filing["phase"] = phase
        elif with_phase and due is not None:
            filing["phase"] = due["phase"]
        self.filings.append(filing)
        self.referee.file(filing)

    def orders(self, seat):
        """Orders for the phase that is due."""
        if self.match.phase == "setup":
            return self.setup_orders(seat)
        if self.match.phase == "turn":
            return self.turn_orders(seat)
        return self.casualty_orders(seat)

    # Setup

    def setup_orders(self, seat):
        """A legal setup."""
        rng = self.rng
        home = self.match.sectors[seat]
        stars = self.random_home_stars(home, HOME_QUADRANT[seat])
        bases = [square for square in stars if quadrant_of(square) == HOME_QUADRANT[seat]]
        base = rng.choice(bases)
        neutral = [quadrant for quadrant in QUADRANTS if self.match.is_neutral(quadrant)]
        stars.update(self.random_neutral_stars(neutral))
        orders = [f"STAR {at} {value}" + (" BASE" if at == base else "") for at, value in stars.items()]
        orders += self.random_fleet(home)
        if rng.random() < 0.5:
            rng.shuffle(orders)
        return orders

    def random_home_stars(self, home, home_quadrant):
        """Stars of a total of 15, one of them in the home quadrant."""
        rng = self.rng
        stars = {home_quadrant + rng.choice("1234"): 1}
        while sum(stars.values()) < 15:
            at = rng.choice(list(stars)) if rng.random() < 0.6 else rng.choice(home) + rng.choice("1234")
            threes = list(stars.values()).count(3)
            if at in stars and stars[at] < (3 if threes < 2 else 2):
                stars[at] += 1
            elif at not in stars and len([star for star in stars if star[0] == at[0]]) < 2:
                stars[at] = 1
        return stars

    def random_neutral_stars(self, neutral):
        """Stars of a total of 30, one or two in each quadrant; few of them in peace."""
        rng = self.rng
        corner = rng.choice(["1234", "14", "23", "1"]) if self.plan != "peace" else "1"
        stars = {quadrant + rng.choice(corner): 1 for quadrant in neutral}
        raising = 1.0 if self.plan == "peace" else rng.choice([0.3, 0.6, 0.9])
        while sum(stars.values()) < 30:
            small = [at for at, value in stars.items() if value == 1]
            at = rng.choice(neutral) + rng.choice("1234")
            if small and rng.random() < raising:
                stars[rng.choice(small)] += 1
            elif at not in stars and len([star for star in stars if star[0] == at[0]]) < 2:
                stars[at] = 1
        return stars

    def random_fleet(self, home):
        """Ships for up to 15 points, mostly near the neutral sector."""
        rng, orders, points = self.rng, [], 15
        highest = {"duel": rng.randint(1, 4), "peace": 4}.get(self.plan, rng.randint(1, 15))
        numbers = list(range(1, 16))
        if rng.random() < 0.2:
            numbers = rng.sample(range(1, 100), 15)
        edge = [q for q in home if any(self.match.is_neutral(near) for near in neighbours(q))]
        places = [rng.choice(edge if rng.random() < 0.8 else home) + rng.choice("1234") for _ in range(5)]
        for number in numbers[:highest]:
            largest = {1: 15, 2: 8, 3: 6, 4: 5}.get(highest, rng.choice([1, 2, 3, 5]))
            size = min(points, rng.randint(max(1, largest - 3), largest))
            if size == 0 or (orders and rng.random() < 0.02):
                break
            offence = self.random_offence(size)
            points -= size
            at = rng.choice(places)
            orders.append(self.ship_start(number, offence, size - offence, at))
        return orders

    def random_offence(self, size):
        """How much of a ship's size is offence."""
        if self.plan == "peace" or (self.plan == "duel" and self.rng.random() < 0.6):
            return size
        return self.rng.randint(0 if self.rng.random() < 0.3 else (size + 1) // 2, size)

    def ship_start(self, number, offence, defence, at):
        """A ship's line, in either notation."""
        if self.rng.random() < 0.2:
            return f"SHIP {number}: {offence}/{defence}: Start: {at}"
        return f"SHIP {number} {offence}/{defence} {at}"

    # Turns

    def share_stars(self):
        """For peaceful matches: who captures which stars."""
        stars = [star for star in self.match.stars.values() if star.base_of is None]
        stars.sort(key=lambda star: distance(star.at, "A1") - distance(star.at, "Y4"))
        middle = (len(stars) + self.rng.choice([0, 1])) // 2
        self.halves = {
            "first": {star.at for star in stars[:middle]},
            "second": {star.at for star in stars[middle:]},
        }

    def turn_orders(self, seat):
        """Builds, moves, captures and losses, in any order."""
        rng = self.rng
        orders = self.build_orders(seat)
        builds = TurnReader(self.match, seat).read("\n".join(orders))[0].builds
        ships = list(self.match.ships[seat].values()) + builds
        captures = self.worth_capturing(seat, ships)
        staying = rng.random()
        for ship in ships:
            if ship.at in captures and rng.random() < 0.97:
                if rng.random() < 0.05:
                    orders.append(f"SHIP {ship.no} HOLD")
            elif rng.random() > 0.15 * staying:
                orders += self.move_orders(seat, ship)
        orders += [f"CAPTURE {at}" for at in captures if rng.random() < 0.97]
        if self.options.get("casualties") != "ask" and rng.random() < 0.15:
            orders.append(self.losses_order(ships))
        if rng.random() < 0.05:
            orders.append("HOLD")
        if rng.random() < 0.3:
            rng.shuffle(orders)
        return self.without_faults(seat, orders)

    def without_faults(self, seat, orders):
        """The orders without those that turn out to be faulty, like a capture without the ship that left."""
        faults = self.match.read(seat, "\n".join(orders))[1]
        faulty = {fault.line - 1 for fault in faults}
        return [order for index, order in enumerate(orders) if index not in faulty]

    def build_orders(self, seat):
        """New ships, if there is something in stock."""
        rng, stock, orders = self.rng, self.match.stock[seat], []
        sites = [
            star.at
            for star in self.match.stars.values()
            if quadrant_of(star.at) == HOME_QUADRANT[seat] and star.captured_by is None
        ]
        while stock > 0 and sites and rng.random() < 0.5:
            size = rng.randint(1, stock)
            offence = self.random_offence(size)
            orders.append(f"BUILD {offence}/{size - offence} AT {rng.choice(sites)}")
            stock -= size
        return orders

    def wanted_stars(self, seat):
        """The stars that a side would like to capture."""
        stars = [s for s in self.match.stars.values() if s.captured_by is None and s.base_of != seat]
        if self.plan == "peace":
            return [star for star in stars if star.at in self.halves[seat]]
        return stars

    def worth_capturing(self, seat, ships):
        """The squares where the ships that are there could capture a star."""
        squares = []
        for star in self.wanted_stars(seat):
            offence = sum(ship.offence for ship in ships if ship.at == star.at)
            if offence >= star.value and self.rng.random() < max(0.3, self.appetite[seat]["stars"]):
                squares.append(star.at)
        return squares

    def move_orders(self, seat, ship):
        """One step towards what this ship wants most, or any legal step."""
        rng = self.rng
        target = self.target(seat, ship)
        places = [q + n for q in neighbours(quadrant_of(ship.at)) for n in "1234"]
        places += [quadrant_of(ship.at) + n for n in "1234" if adjacent(ship.at, quadrant_of(ship.at) + n)]
        if target is None or rng.random() < 0.05:
            to = rng.choice(places)
        elif target == ship.at:
            return []
        else:
            to = min(places, key=lambda place: (distance(place, target), rng.random()))
        form = rng.random()
        if form < 0.5:
            return [f"SHIP {ship.no} {ship.at} TO {to}"]
        return [f"SHIP {ship.no}: {ship.at} to {to}" if form < 0.65 else f"SHIP {ship.no} TO {to}"]

    def target(self, seat, ship):
        """The square to which a ship goes."""
        appetite = self.appetite[seat]
        weighed = []
        for star in self.wanted_stars(seat):
            weight = appetite["base"] if star.base_of else appetite["stars"]
            if weight > 0 and ship.offence > 0:
                reach = 1 if ship.offence >= star.value else 3
                weighed.append(((distance(ship.at, star.at) + 0.5) * reach / weight, star.at))
        for enemy in self.match.ships[other(seat)].values():
            if appetite["ships"] > 0:
                weighed.append(((distance(ship.at, enemy.at) + 1) / appetite["ships"], enemy.at))
        if not weighed:
            return None
        self.rng.shuffle(weighed)
        weighed.sort(key=lambda pair: pair[0])
        return weighed[min(len(weighed) - 1, int(self.rng.expovariate(1.5)))][1]

    def losses_order(self, ships):
        """A standing list."""
        numbers = [ship.no for ship in ships]
        chosen = self.rng.sample(numbers, self.rng.randint(0, len(numbers)))
        return "LOSSES " + (" ".join(map(str, chosen)) or "NONE")

    def casualty_orders(self, seat):
        """Choices for some of the battles."""
        rng, orders = self.rng, []
        for quadrant, forces in self.match.news.battles.items():
            numbers = [ship.no for ship in forces[seat].ships]
            if rng.random() < 0.7:
                chosen = rng.sample(numbers, rng.randint(1, len(numbers)))
                orders.append(f"LOSE {quadrant} " + " ".join(map(str, chosen)))
        return orders

    # Faults

    def spoil(self, seat, orders):
        """The orders with faults, except by chance."""
        rng, orders = self.rng, list(orders)
        for _ in range(rng.choice([1, 1, 1, 2, 3, 5])):
            kind = rng.random()
            if kind < 0.2 and orders:
                orders.insert(rng.randint(0, len(orders)), rng.choice(orders))
            elif kind < 0.3 and orders:
                orders.pop(rng.randrange(len(orders)))
            elif kind < 0.5:
                orders.insert(rng.randint(0, len(orders)), rng.choice(GIBBERISH))
            else:
                orders.insert(rng.randint(0, len(orders)), self.wrong_order(seat))
        return orders

    def wrong_order(self, seat):
        """An order for the phase that is due, probably a faulty one."""
        rng = self.rng
        if self.match.phase == "setup":
            return self.wrong_setup_order(seat)
        if self.match.phase == "casualties":
            return self.wrong_choice(seat)
        makers = [self.wrong_move, self.wrong_build, self.wrong_capture, self.wrong_losses]
        return rng.choice(makers)(seat)

    def any_square(self):
        """Any square of the galaxy."""
        return self.rng.choice(QUADRANTS) + self.rng.choice("1234")

    def wrong_setup_order(self, seat):
        """One star or ship too many, or one in the wrong place."""
        rng = self.rng
        if rng.random() < 0.6:
            base = rng.choice(["", "", " BASE"])
            return f"STAR {self.any_square()} {rng.randint(0, 4)}{base}"
        number = rng.choice([0, 1, 2, 3, 99, 100])
        return self.ship_start(number, rng.randint(0, 3), rng.randint(0, 3), self.any_square())

    def wrong_move(self, seat):
        """A ship that may not be there, or goes too far, or stays where it is."""
        rng = self.rng
        if rng.random() < 0.3:
            number = rng.randint(1, self.match.highest[seat] + 2)
            return rng.choice([f"SHIP {number} TO {self.any_square()}", f"SHIP {number} HOLD"])
        ship = rng.choice(list(self.match.ships[seat].values()))
        near = quadrant_of(ship.at) + rng.choice("1234")
        to = rng.choice([self.any_square(), near, ship.at])
        origin = rng.choice(["", f" {ship.at}", f" {self.any_square()}"])
        return f"SHIP {ship.no}{origin} TO {to}"

    def wrong_build(self, seat):
        """A ship that costs too much or is in the wrong place."""
        rng, stock = self.rng, self.match.stock[seat]
        place = rng.choice([HOME_QUADRANT[seat] + rng.choice("1234"), self.any_square()])
        offence = rng.randint(0, stock + 1)
        return f"BUILD {offence}/{rng.randint(0, 2)} AT {place}"

    def wrong_capture(self, seat):
        """A capture on some square of interest."""
        rng = self.rng
        places = [ship.at for ship in self.match.ships[seat].values()]
        places += [star.at for star in self.match.stars.values() if star.base_of or star.captured_by]
        return f"CAPTURE {rng.choice(places + [self.any_square()])}"

    def wrong_losses(self, seat):
        """A LOSSES list with unknown ships, or a second one."""
        rng = self.rng
        numbers = list(self.match.ships[seat]) + [rng.randint(1, self.match.highest[seat] + 2)]
        return "LOSSES " + " ".join(str(rng.choice(numbers)) for _ in range(rng.randint(1, 3)))

    def wrong_choice(self, seat):
        """A choice of casualties with unknown ships or wrong quadrants."""
        rng = self.rng
        quadrants = list(self.match.news.battles) + self.match.news.standoffs + [rng.choice(QUADRANTS)]
        numbers = list(self.match.ships[seat]) + [99]
        chosen = " ".join(str(rng.choice(numbers)) for _ in range(rng.randint(1, 3)))
        return f"LOSE {rng.choice(quadrants)} {chosen}"
