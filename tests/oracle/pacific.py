"""War in the Pacific, by the rules page `pacific.md`; each function names its clause.

A square is a pair (file, rank), both from 1. The generator of random matches is at the end.
"""

import re
import sys
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass

from quantum import DIAGONAL, GARBAGE, SIDEWAYS, Scribe, by_rank, name, square_named, step
from record import SEATS, Choice, Flag, Limit, order_lines, other, whole

SIZE = 16
SUBMARINES = 5
PURCHASE = 25
PRICES = {"V": 10, "S": 10, "B": 5, "C": 4, "D": 3}
WORDS = {"BATTLESHIP": "B", "CRUISER": "C", "DESTROYER": "D"}
EIGHT = SIDEWAYS + DIAGONAL
KNIGHT = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
OPTIONS = {
    "destroyers": Choice(7, 8),
    "submarines": Flag(True),
    "squadron_leap": Choice("once", "always"),
    "torpedo": Choice("exact", "within"),
    "quiet_limit": Limit(50),
}
SQUARE = "([A-P](?:1[0-6]|[1-9]))"
NUMBER = "([1-9][0-9]*)"


@dataclass
class Ship:
    """1.2 A surface ship; the number only for carriers and squadrons."""

    side: str
    kind: str
    at: tuple
    no: int | None = None
    launched: bool = False
    leapt: bool = False


@dataclass
class Submarine:
    """1.5 A submarine."""

    side: str
    no: int
    at: tuple


# The board


def on_board(square):
    """1.1 Files a..p, ranks 1..16."""
    return 1 <= square[0] <= SIZE and 1 <= square[1] <= SIZE


def friendly(side, square):
    """1.1 P-WATERS: South's waters are ranks 1 to 8, North's 9 to 16."""
    return (square[1] <= 8) == (side == "first")


def distance(one, two):
    """King's steps between two squares."""
    return max(abs(one[0] - two[0]), abs(one[1] - two[1]))


def area(corner):
    """3.6 The four squares of the area with this south-west corner."""
    return [step(corner, (right, up)) for right in (0, 1) for up in (0, 1)]


def is_corner(square):
    """3.6 A south-west corner is on A..O, 1..15."""
    return square[0] < SIZE and square[1] < SIZE


def nearest(square, corner):
    """3.6 King's steps from a square to the nearest square of the area."""
    return min(distance(square, inside) for inside in area(corner))


# 2 Setting up


def read_setup(seat, orders, options):
    """2 A setup: `(ships, submarines)` and the faults.

    The ships of every line that is understood count, whatever else is wrong with them.
    """
    setup = Setup(seat, options)
    for line in order_lines(orders):
        setup.take(line)
    setup.faults += [whole(reason) for reason in setup.totals()]
    setup.number(setup.carriers)
    setup.number(setup.submarines)
    carriers = [Ship(seat, "V", at, no) for no, at, squadron in setup.carriers]
    squadrons = [Ship(seat, "S", squadron, no) for no, at, squadron in setup.carriers if squadron]
    submarines = [Submarine(seat, no, at) for no, at in setup.submarines]
    return (carriers + squadrons + setup.others, submarines), setup.faults


class Setup:
    """2 Reads a setup line by line."""

    def __init__(self, seat, options):
        self.seat = seat
        self.options = options
        self.carriers = []  # [number or None, square, squadron's square or None]
        self.submarines = []  # [number or None, square]
        self.others = []
        self.taken = set()
        self.faults = []

    def take(self, line):
        """2.1 One line."""
        carrier = re.fullmatch(f"CARRIER (?:V{NUMBER} )?{SQUARE}(?: SQUADRON {SQUARE})?", line.order)
        ships = re.fullmatch(f"(BATTLESHIP|CRUISER|DESTROYER)((?: {SQUARE})+)", line.order)
        submarines = re.fullmatch(f"SUBMARINE((?: (?:U{NUMBER} )?{SQUARE})+)", line.order)
        if carrier:
            reasons = self.take_carrier(carrier)
        elif ships:
            reasons = self.take_ships(WORDS[ships[1]], ships[2].split())
        elif submarines and self.options["submarines"]:
            reasons = self.take_submarines(re.findall(f"(?:U{NUMBER} )?{SQUARE}", submarines[1]))
        else:
            reasons = ["not understood"]
        if reasons:
            self.faults.append(line.fault(reasons[0]))

    def take_carrier(self, found):
        """2.1 A carrier, and the squadron next to it if there is one."""
        no = int(found[1]) if found[1] else None
        at = square_named(found[2])
        squadron = square_named(found[3]) if found[3] else None
        reasons = self.place(at)
        if no is not None and no in [carrier[0] for carrier in self.carriers]:
            reasons.append("that number is there already")
        if squadron:
            reasons += self.place(squadron)
            if distance(at, squadron) != 1:
                reasons.append("a squadron stands next to its carrier")
        self.carriers.append([no, at, squadron])
        return reasons

    def take_ships(self, kind, squares):
        """2.1 Ships of another class."""
        reasons = []
        for at in map(square_named, squares):
            reasons += self.place(at)
            self.others.append(Ship(self.seat, kind, at))
        return reasons

    def place(self, at):
        """2.1 Every ship on a square of its own in friendly waters."""
        reasons = [] if friendly(self.seat, at) else ["not in friendly waters"]
        if at in self.taken:
            reasons.append("the square is taken")
        self.taken.add(at)
        return reasons

    def take_submarines(self, pairs):
        """2.3 Submarines, no two on one square."""
        reasons = []
        for number, square in pairs:
            no, at = int(number) if number else None, square_named(square)
            if at in [placed for before, placed in self.submarines]:
                reasons.append("a submarine is there already")
            if no is not None and no in [before for before, placed in self.submarines]:
                reasons.append("that number is there already")
            self.submarines.append([no, at])
        return reasons

    def totals(self):
        """2.1 to 2.3 What is wrong with the setup as a whole."""
        squadrons = sum(squadron is not None for no, at, squadron in self.carriers)
        count = Counter(ship.kind for ship in self.others) + Counter(V=len(self.carriers), S=squadrons)
        basic = {"V": 2, "S": 2, "B": 4, "C": 4, "D": self.options["destroyers"]}
        for kind in PRICES:
            if count[kind] < basic[kind]:
                yield f"{kind}: {count[kind]}, fewer than the basic fleet"
        points = sum(PRICES[kind] * max(0, count[kind] - basic[kind]) for kind in PRICES)
        if points > PURCHASE:
            yield f"the purchase is {points} points"
        outside = [at for no, at in self.submarines if not friendly(self.seat, at)]
        if len(outside) > 2:
            yield "more than two submarines outside friendly waters"
        if self.options["submarines"] and len(self.submarines) != SUBMARINES:
            yield "all five submarines are placed, and no more"
        for numbered in (self.carriers, self.submarines):
            numbers = {entry[0] for entry in numbered}
            if numbers != {None} and numbers != set(range(1, len(numbers) + 1)):
                yield "numbers stand at all of them, from 1 without gaps, or at none"

    def number(self, entries):
        """2.1 Numbers left out are assigned in the order written."""
        for no, entry in enumerate(entries, start=1):
            entry[0] = entry[0] or no


# 3 and 4 The match


class Match:
    """One match; see `record.py` for what it offers."""

    def __init__(self, options):
        self.options = options
        self.ships = []
        self.submarines = []
        self.phase = "setup"
        self.side = "first"
        self.round = 1
        self.quiet = 0
        self.news = []
        self.log = []
        self.result = None

    def due(self):
        """2, 3, 4 What is due, and from whom."""
        if self.result:
            return None
        seats = list(SEATS)
        if self.phase == "surface":
            seats = [self.side] if self.can_order(self.side) else []
        elif self.phase == "submarines":
            seats = [seat for seat in SEATS if self.submarines_of(seat)]
        return {"phase": self.phase, "seats": seats}

    def ship_at(self, square):
        """The ship on this square, or None."""
        for ship in self.ships:
            if ship.at == square:
                return ship
        return None

    def ships_of(self, side, kind=None):
        """The ships of a side, all or of one class."""
        return [ship for ship in self.ships if ship.side == side and kind in (None, ship.kind)]

    def submarines_of(self, side):
        """The submarines of a side."""
        return [submarine for submarine in self.submarines if submarine.side == side]

    def squadron_of(self, carrier):
        """1.4 The carrier's own squadron while it is in the game, or None."""
        return next((ship for ship in self.ships_of(carrier.side, "S") if ship.no == carrier.no), None)

    # Surface moves

    def targets(self, ship):
        """3.1 to 3.4 Every square to which this ship may move."""
        if ship.kind == "V":
            return [step(ship.at, way) for way in EIGHT if self.carrier_can_move(ship, way)]
        if ship.kind == "B":
            return self.slides(ship, SIDEWAYS)
        if ship.kind == "C":
            aside = [step(ship.at, way) for way in SIDEWAYS]
            empty = [square for square in aside if on_board(square) and not self.ship_at(square)]
            return self.slides(ship, DIAGONAL) + empty
        if ship.kind == "D":
            return self.leaps(ship)
        return self.slides(ship, EIGHT) + (self.leaps(ship) if self.can_leap(ship) else [])

    def slides(self, ship, ways):
        """3.1 As rook, bishop and queen, blocked by any ship; the last square may hold an enemy."""
        found = []
        for way in ways:
            square = step(ship.at, way)
            while on_board(square) and not self.ship_at(square):
                found.append(square)
                square = step(square, way)
            if on_board(square) and self.ship_at(square).side != ship.side:
                found.append(square)
        return found

    def leaps(self, ship):
        """3.1, 3.3 As a knight."""
        return [square for square in (step(ship.at, way) for way in KNIGHT) if self.open_to(ship, square)]

    def open_to(self, ship, square):
        """3.1 No ship leaves the board or moves onto a friendly ship."""
        there = self.ship_at(square)
        return on_board(square) and (there is None or there.side != ship.side)

    def can_leap(self, squadron):
        """3.3 P-LEAP."""
        return self.options["squadron_leap"] == "always" or not squadron.leapt

    def carried(self, carrier):
        """3.4 The squadron that goes with its carrier, or None."""
        squadron = self.squadron_of(carrier)
        return squadron if squadron and not squadron.launched else None

    def carrier_can_move(self, carrier, way):
        """3.4 P-ESCORT: a king's move, if the squadron can follow."""
        target = step(carrier.at, way)
        squadron = self.carried(carrier)
        if squadron is None:
            return self.open_to(carrier, target)
        follows = step(squadron.at, way)
        if not on_board(follows) or (self.ship_at(follows) and follows != carrier.at):
            return False
        return target == squadron.at or self.open_to(carrier, target)

    def can_attack(self, side, corner):
        """3.6 An anti-submarine attack: a ship other than a squadron within 2 squares of the area."""
        ships = [ship for ship in self.ships_of(side) if ship.kind != "S"]
        return self.options["submarines"] and is_corner(corner) and any(nearest(ship.at, corner) <= 2 for ship in ships)

    def can_order(self, side):
        """3.7 Whether this side has a legal move or attack."""
        corners = [(file, rank) for file in range(1, SIZE) for rank in range(1, SIZE)]
        if any(self.targets(ship) for ship in self.ships_of(side)):
            return True
        return any(self.can_attack(side, corner) for corner in corners)

    def read(self, seat, orders):
        """2, 3, 4 A filing for the phase that is due."""
        if self.phase == "setup":
            return read_setup(seat, orders, self.options)
        understand = self.surface_order if self.phase == "surface" else self.submarine_order
        lines = order_lines(orders)
        faults = []
        filing = None
        count = 0
        for line in lines:
            order, reason = understand(seat, line.order)
            if reason:
                faults.append(line.fault(reason))
            if order:
                filing = order
                count += 1
        if count > 1:
            faults.append(whole("one order is allowed"))
        if not lines and self.phase == "surface":
            faults.append(whole("a move must be made"))
        return filing, faults

    def surface_order(self, seat, text):
        """3 One line of a surface turn: the order (None if it is not understood), and what is wrong with it."""
        move = re.fullmatch(f"(?:MOVE )?(?:([VSBCD]) ?)?{SQUARE}(?: | TO | ?[-X] ?|){SQUARE}", text)
        attack = re.fullmatch(f"ASW {SQUARE}", text)
        if attack:
            corner = square_named(attack[1])
            return ("asw", corner), None if self.can_attack(seat, corner) else "no such attack"
        if not move:
            return None, "not understood"
        origin, target = square_named(move[2]), square_named(move[3])
        ship = self.ship_at(origin)
        order = ("move", origin, target)
        if ship is None or ship.side != seat:
            return order, "no ship of yours is there"
        if move[1] and move[1] != ship.kind:
            return order, "the ship there is of another class"
        return order, None if target in self.targets(ship) else "no legal move"

    def submarine_order(self, seat, text):
        """4 One line of a submarine turn: the order (None if it is not understood), and what is wrong with it."""
        if text in ("SUBS PASS", "PASS"):
            return ("pass",), None
        move = re.fullmatch(f"U{NUMBER} (?:{SQUARE}|TO) {SQUARE}", text)
        attack = re.fullmatch(f"U{NUMBER} (FIRE|SONAR) {SQUARE}", text)
        if not move and not attack:
            return None, "not understood"
        no = int((move or attack)[1])
        submarine = next((own for own in self.submarines_of(seat) if own.no == no), None)
        square = square_named((move or attack)[3])
        order = ("move" if move else attack[2].lower(), no, square)
        if submarine is None:
            return order, "no such submarine"
        if move and move[2] and square_named(move[2]) != submarine.at:
            return order, "the submarine is elsewhere"
        may = {"move": self.can_dive, "fire": self.can_fire, "sonar": self.can_listen}[order[0]]
        return order, None if may(submarine, square) else f"no legal {order[0]}"

    def can_dive(self, submarine, square):
        """4.1 Like a queen, 1 to 3 squares, not onto a friendly submarine."""
        right, up = square[0] - submarine.at[0], square[1] - submarine.at[1]
        straight = right == 0 or up == 0 or abs(right) == abs(up)
        friends = [own.at for own in self.submarines_of(submarine.side)]
        return straight and 1 <= distance(square, submarine.at) <= 3 and square not in friends

    def can_fire(self, submarine, square):
        """4.2 P-TORPEDO: at an enemy surface ship, not a squadron, 2 king's steps away."""
        ship = self.ship_at(square)
        if ship is None or ship.side == submarine.side or ship.kind == "S":
            return False
        steps = distance(square, submarine.at)
        return steps == 2 or (steps < 2 and self.options["torpedo"] == "within")

    def can_listen(self, submarine, corner):
        """4.3 Sonar within 2 king's steps of the nearest square of the area."""
        return is_corner(corner) and nearest(submarine.at, corner) <= 2

    # Adjudication

    def adjudicate(self, filings):
        """Adjudicates the phase that is due."""
        self.news = []
        if self.phase == "setup":
            for seat in SEATS:
                ships, submarines = filings[seat]
                self.ships += ships
                self.submarines += submarines
            self.phase = "surface"
        elif self.phase == "surface":
            self.surface_turn(filings.get(self.side))
        else:
            self.submarine_turn(filings)

    def surface_turn(self, order):
        """3 A move, an attack, or a pass."""
        if order is None:
            self.news.append({"event": "pass", "side": self.side})
        elif order[0] == "move":
            self.move(order[1], order[2])
        else:
            self.attack_area("asw", self.side, order[1])
        self.quiet += 1
        self.settle_quiet()
        self.result = self.fleet_defeated()
        if self.result:
            return
        if self.side == "first":
            self.side = "second"
        elif self.submarines:
            self.phase = "submarines"
        else:
            self.next_round()

    def move(self, origin, target):
        """3.1 to 3.5 A ship moves, and sinks what is on the square."""
        ship = self.ship_at(origin)
        event = {"event": "move", "side": self.side, "from": name(origin), "to": name(target), "sunk": None}
        self.news.append(event)
        way = target[0] - origin[0], target[1] - origin[1]
        squadron = self.carried(ship) if ship.kind == "V" else None
        if squadron:
            squadron.at = step(squadron.at, way)
            event["squadron_to"] = name(squadron.at)
        victim = self.ship_at(target)
        ship.at = target
        if ship.kind == "S":
            ship.launched = True
            ship.leapt = ship.leapt or way in KNIGHT
        if victim:
            event["sunk"] = victim.kind
            self.sink(victim)

    def sink(self, ship):
        """3.5 P-FATE: a ship is sunk; with a carrier a squadron may go."""
        self.ships.remove(ship)
        if ship.kind != "V":
            return
        squadron = self.squadron_of(ship)
        if squadron is None or squadron.launched:
            if len(self.ships_of(ship.side, "S")) <= len(self.ships_of(ship.side, "V")):
                return
            launched = [other for other in self.ships_of(ship.side, "S") if other.launched]
            squadron = squadron or min(launched, key=lambda other: other.no)
        self.ships.remove(squadron)
        self.news.append({"event": "squadron_lost", "side": ship.side, "at": name(squadron.at)})

    def attack_area(self, event, side, corner):
        """3.6, 4.3 Reports the attack, and returns the enemy submarines that are hit; ASW sinks them at once."""
        enemies = self.submarines_of(other(side))
        hit = [submarine for submarine in enemies if submarine.at in area(corner)]
        contact = any(nearest(submarine.at, corner) == 1 for submarine in enemies)
        self.news.append(
            {"event": event, "side": side, "area": name(corner), "sunk": len(hit), "contact": contact}
        )
        if event == "asw":
            self.submarines = [submarine for submarine in self.submarines if submarine not in hit]
        return hit

    def submarine_turn(self, filings):
        """4.4 P-SUBTURN: simultaneous attacks, then the moves of the submarines that are left."""
        for seat in self.due()["seats"]:
            self.write_log(seat, filings[seat])
        orders = {seat: order for seat, order in filings.items() if order and order[0] != "pass"}
        shots = [self.ship_at(orders[seat][2]) for seat in SEATS if seat in orders and orders[seat][0] == "fire"]
        for victim in shots:
            self.news.append(
                {"event": "torpedo", "side": other(victim.side), "at": name(victim.at), "sunk": victim.kind}
            )
            self.sink(victim)
        hit = []
        for seat in SEATS:
            if seat in orders and orders[seat][0] == "sonar":
                hit += self.attack_area("sonar", seat, orders[seat][2])
        self.submarines = [submarine for submarine in self.submarines if submarine not in hit]
        for submarine in self.submarines:
            order = orders.get(submarine.side)
            if order and order[:2] == ("move", submarine.no):
                submarine.at = order[2]
        self.settle_quiet()
        self.result = self.fleet_defeated()
        if not self.result:
            self.next_round()

    def write_log(self, seat, order):
        """4.6 Every submarine order is kept, an empty filing as a pass."""
        text = "SUBS PASS"
        if order and order[0] == "move":
            submarine = next(own for own in self.submarines_of(seat) if own.no == order[1])
            text = f"U{order[1]} {name(submarine.at)} {name(order[2])}"
        elif order and order[0] != "pass":
            text = f"U{order[1]} {order[0].upper()} {name(order[2])}"
        self.log.append({"round": self.round, "side": seat, "order": text})

    def settle_quiet(self):
        """5.3, 6 `quiet` restarts at 0 when anything was sunk, submarines included."""
        if any(event.get("sunk") for event in self.news):
            self.quiet = 0

    def next_round(self):
        """5.3, 6 Ends the round: checks the limit, then South is to move."""
        if self.quiet >= 2 * self.options["quiet_limit"]:
            self.result = self.points_afloat()
            return
        self.round += 1
        self.phase = "surface"
        self.side = "first"

    # 5 The end

    def fleet_defeated(self):
        """5.1 A side with no ship left on the surface, squadrons aside, is defeated."""
        defeated = [seat for seat in SEATS if all(ship.kind == "S" for ship in self.ships_of(seat))]
        if not defeated:
            return None
        return {"winner": other(defeated[0]) if len(defeated) == 1 else None, "reason": "fleet defeated"}

    def points_afloat(self):
        """5.3 P-QUIET: the side with more points afloat."""
        first, second = (sum(PRICES[ship.kind] for ship in self.ships_of(seat)) for seat in SEATS)
        winner = None if first == second else "first" if first > second else "second"
        return {"winner": winner, "reason": "points afloat"}

    def end(self, result):
        """The referee ends the match; the board stays, and the news is cleared."""
        self.result = result
        self.news = []

    # 6 State and view as JSON

    def state(self):
        """6 `state`."""
        to_move = self.side if self.phase == "surface" else "both"
        return {
            "round": self.round,
            "to_move": None if self.result else to_move,
            "ships": {seat: self.ships_told(seat) for seat in SEATS},
            "submarines": {seat: self.submarines_told(seat) for seat in SEATS},
            "quiet": self.quiet,
        }

    def ships_told(self, seat):
        """6 The ships of a side, in the order A1, B1, ... P1, A2, ..."""
        told = []
        for ship in sorted(self.ships_of(seat), key=lambda ship: by_rank(ship.at)):
            entry = {"class": ship.kind, "at": name(ship.at)}
            if ship.kind in "VS":
                entry["no"] = ship.no
            if ship.kind == "S":
                entry |= {"launched": ship.launched, "leapt": ship.leapt}
            told.append(entry)
        return told

    def submarines_told(self, seat):
        """6 The submarines of a side, by number."""
        own = sorted(self.submarines_of(seat), key=lambda submarine: submarine.no)
        return [{"no": submarine.no, "at": name(submarine.at)} for submarine in own]

    def view(self, seat):
        """6 The state with only the number of enemy submarines, and the news; at the end everything, and the log."""
        view = self.state() | {"news": self.news}
        if self.result:
            return view | {"log": self.log}
        submarines = self.submarines_told(other(seat))
        return view | {"submarines": view["submarines"] | {other(seat): len(submarines)}}


# Random matches: setups


def random_options(rng):
    """Options of a random match; some are set to their defaults."""
    options = {}
    for option in ("destroyers", "squadron_leap", "torpedo"):
        if rng.random() < 0.5:
            options[option] = rng.choice(OPTIONS[option].values)
    if rng.random() < 0.5:
        options["submarines"] = rng.random() < 0.5
    if rng.random() < 0.4:
        options["quiet_limit"] = rng.choice([1, 2, 3, 5, 20, 50, 999])
    return options


class Draft:
    """A random setup: squares, and the lines that order them."""

    def __init__(self, rng, seat, options, front):
        self.rng = rng
        self.seat = seat
        self.front = front
        self.taken = set()
        self.count = {"V": 2, "S": 2, "B": 4, "C": 4, "D": options["destroyers"]}
        self.purchase()
        while not self.place_carriers():
            self.taken = set()
        self.others = {kind: [self.square() for _ in range(self.count[kind])] for kind in "BCD"}
        self.submarines = self.place_submarines() if options["submarines"] else []

    def purchase(self):
        """1.3 Ships for up to 25 points."""
        left = self.rng.choice([0, PURCHASE, PURCHASE, PURCHASE])
        while left >= 3 and self.rng.random() < 0.95:
            kind = self.rng.choice("VVSSBCD")
            if PRICES[kind] <= left and (kind != "S" or self.count["S"] < self.count["V"]):
                self.count[kind] += 1
                left -= PRICES[kind]

    def square(self):
        """A free square in friendly waters, near the enemy if `front` is set."""
        while True:
            far = self.rng.randint(1, 8) if not self.front else self.rng.choice([5, 6, 6, 7, 7, 8, 8])
            at = self.rng.randint(1, SIZE), far if self.seat == "first" else SIZE + 1 - far
            if at not in self.taken:
                self.taken.add(at)
                return at

    def place_carriers(self):
        """2.1 Places carriers, with squadrons next to the first ones. Returns whether there was room."""
        self.carriers = []
        for number in range(self.count["V"]):
            at = self.square()
            squadron = None
            if number < self.count["S"]:
                beside = [step(at, way) for way in EIGHT]
                free = [s for s in beside if on_board(s) and friendly(self.seat, s) and s not in self.taken]
                if not free:
                    return False
                squadron = self.rng.choice(free)
                self.taken.add(squadron)
            self.carriers.append((at, squadron))
        return True

    def place_submarines(self):
        """2.3 Five submarines, up to two of them anywhere."""
        placed = set()
        outside = self.rng.choice([0, 1, 2, 2])
        while len(placed) < SUBMARINES:
            at = self.rng.randint(1, SIZE), self.rng.randint(1, SIZE)
            if friendly(self.seat, at):
                placed.add(at)
            elif outside and at not in placed:
                placed.add(at)
                outside -= 1
        return self.rng.sample(sorted(placed), SUBMARINES)

    def lines(self):
        """2.1 The setup as lines of orders, in a random order."""
        lines = self.carrier_lines() + self.submarine_lines()
        for word, kind in WORDS.items():
            squares = list(map(name, self.others[kind]))
            while squares:
                several = self.rng.choice([1, 2, len(squares), len(squares)])
                lines.append(" ".join([word, *squares[:several]]))
                squares = squares[several:]
        self.rng.shuffle(lines)
        return lines

    def numbers(self, letter, several):
        """2.1 Numbers for all of them in any order, or for none."""
        if self.rng.random() < 0.4:
            return [""] * several
        numbers = [f"{letter}{no} " for no in range(1, several + 1)]
        if self.rng.random() < 0.4:
            self.rng.shuffle(numbers)
        return numbers

    def carrier_lines(self):
        """2.1 One carrier per line."""
        lines = []
        for number, (at, squadron) in zip(self.numbers("V", len(self.carriers)), self.carriers):
            lines.append(f"CARRIER {number}{name(at)}" + (f" SQUADRON {name(squadron)}" if squadron else ""))
        return lines

    def submarine_lines(self):
        """2.1 One or several submarines per line."""
        numbers = self.numbers("U", len(self.submarines))
        pieces = [number + name(at) for number, at in zip(numbers, self.submarines)]
        lines = []
        while pieces:
            several = self.rng.choice([1, 2, 5, 5])
            lines.append(" ".join(["SUBMARINE", *pieces[:several]]))
            pieces = pieces[several:]
        return lines


def setup_at_fault(rng, seat, options):
    """A setup with one fault or two (which may by chance be none)."""
    lines = Draft(rng, seat, options, False).lines()
    for _ in range(rng.choice([1, 1, 2])):
        spoil(rng, seat, lines)
    return "\n".join(lines)


def spoil(rng, seat, lines):
    """Puts a fault into a setup."""
    if not lines:
        return
    at = rng.randrange(len(lines))
    words = lines[at].split(" ")
    foreign = name((rng.randint(1, SIZE), rng.randint(9, SIZE) if seat == "first" else rng.randint(1, 8)))
    kind = rng.randrange(12)
    if kind == 0:
        del lines[at]
    elif kind == 9:
        lines[at] = re.sub("SQUADRON .*", f"SQUADRON {random_square(rng)}", lines[at])
    elif kind == 10:
        far = rng.choice([line for line in lines if line.startswith("CARRIER")] or ["CARRIER A1"])
        lines[lines.index(far) if far in lines else at] = far.split(" SQUADRON")[0]
    elif kind == 11:
        lines[:] = [line for line in lines if not line.startswith("SUBMARINE")]
        lines.append("SUBMARINE " + " ".join(random_square(rng) for _ in range(rng.choice([4, 5, 5, 6]))))
    elif kind == 1:
        lines.append(lines[at])
    elif kind == 2:
        lines.insert(at, rng.choice([*GARBAGE, "CARRIER", "BATTLESHIP V1 D2", "CRUISER SHIPS A1", "SUBMARINE U6 G5"]))
    elif kind == 3:
        words[-1] = foreign
        lines[at] = " ".join(words)
    elif kind == 4:
        words[-1] = rng.choice(lines).split(" ")[-1]
        lines[at] = " ".join(words)
    elif kind == 5:
        words[-1] = rng.choice(["Q3", "A17", "A0", "V1", "U2", "B"])
        lines[at] = " ".join(words)
    elif kind == 6:
        lines.append(rng.choice(["DESTROYER", "BATTLESHIP", "SUBMARINE", "CARRIER V4"]) + f" {foreign}")
    elif kind == 7:
        lines[at] = re.sub(" [VU]([0-9])", lambda found: f" {found[0][1]}{rng.randint(1, 6)}", lines[at], count=1)
    else:
        lines[at] = re.sub(" [VU][0-9]", "", lines[at], count=1)
        lines.append(f"DESTROYER {' '.join(name((file, 2 if seat == 'first' else 15)) for file in range(1, 11))}")


# Random matches: surface turns


def armed(match, seat):
    """The ships of a side that keep it from defeat."""
    return [ship for ship in match.ships_of(seat) if ship.kind != "S"]


def moves(match, seat):
    """Every legal move of a side on the surface, as a ship and a square."""
    return [(ship, target) for ship in match.ships_of(seat) for target in match.targets(ship)]


def corners_around(square, steps):
    """The corners of the areas whose nearest square is at most this many king's steps from a square."""
    beside = range(-1 - steps, steps + 1)
    corners = [step(square, (right, up)) for up in beside for right in beside]
    return [corner for corner in corners if on_board(corner) and is_corner(corner)]


def attacks(match, seat):
    """3.6 Every legal anti-submarine attack of a side, as the corner of its area."""
    corners = {corner for ship in match.ships_of(seat) for corner in corners_around(ship.at, 2)}
    return [corner for corner in sorted(corners, key=by_rank) if match.can_attack(seat, corner)]


def written_move(rng, ship, target):
    """3 A move in one of its notations."""
    origin, target = name(ship.at), name(target)
    if rng.random() < 0.3:
        origin = ship.kind + origin
    return rng.choice(["MOVE ", "", "", ""]) + origin + rng.choice([" ", "-", " TO "]) + target


def chosen_surface(rng, match, style):
    """An order for a surface turn; `style` says how often a side takes, hunts, approaches and so on."""
    seat = match.side
    if rng.random() < style["asw"]:
        corner = chosen_attack(rng, match, seat, style["knows"])
        if corner:
            return f"ASW {name(corner)}"
    choices = [move for move in moves(match, seat) if not style["spares"] or not spared(match, *move)]
    if not choices:
        return f"ASW {name(chosen_attack(rng, match, seat, 0))}"
    takes = [move for move in choices if match.ship_at(move[1]) and match.ship_at(move[1]).side != seat]
    if takes and rng.random() < style["takes"]:
        carriers = [move for move in takes if match.ship_at(move[1]).kind == "V"]
        return written_move(rng, *rng.choice(carriers if carriers and rng.random() < 0.7 else takes))
    quiet = [move for move in choices if move not in takes] or choices
    for kind in (move for move in "VS" if rng.random() < 0.15):
        own = [move for move in quiet if move[0].kind == kind]
        if own:
            return written_move(rng, *rng.choice(own))
    if rng.random() < style["nears"]:
        enemies = armed(match, other(seat))
        tries = rng.sample(quiet, min(12, len(quiet)))
        return written_move(rng, *min(tries, key=lambda move: min(distance(move[1], ship.at) for ship in enemies)))
    return written_move(rng, *rng.choice(quiet))


def spared(match, ship, target):
    """Whether this move would sink the enemy's last ship."""
    victim = match.ship_at(target)
    return victim is not None and [victim] == armed(match, other(ship.side))


def chosen_attack(rng, match, seat, knows):
    """The area of an attack: with the probability `knows`, one that hits or gives contact. None if there is none."""
    near = [corner for enemy in match.submarines_of(other(seat)) for corner in corners_around(enemy.at, 1)]
    useful = [corner for corner in near if match.can_attack(seat, corner)]
    if useful and rng.random() < knows:
        return rng.choice(useful)
    corners = corners_around(rng.choice(armed(match, seat)).at, 2)
    return rng.choice(corners) if match.options["submarines"] else None


# Random matches: submarine turns


def shots(match, seat):
    """4.2 Every legal shot of a side, as a submarine and a ship."""
    return [
        (own, ship) for own in match.submarines_of(seat) for ship in match.ships if match.can_fire(own, ship.at)
    ]


def dives(match, seat):
    """4.1 Every legal move of a side's submarines."""
    found = []
    for own in match.submarines_of(seat):
        squares = [step(own.at, way, times) for way in EIGHT for times in (1, 2, 3)]
        found += [(own, square) for square in squares if on_board(square) and match.can_dive(own, square)]
    return found


def chosen_dive(rng, match, seat, hunts=False):
    """A move in one of its notations, often to two squares from an enemy ship or submarine."""
    own, square = rng.choice(dives(match, seat))
    enemies = (hunts and match.submarines_of(other(seat))) or armed(match, other(seat))
    if rng.random() < 0.8:
        tries = dives(match, seat)
        rng.shuffle(tries)
        own, square = min(tries, key=lambda dive: min(abs(distance(dive[1], ship.at) - 2) for ship in enemies))
    return f"U{own.no} " + rng.choice([name(own.at), "TO"]) + f" {name(square)}"


def chosen_sonar(rng, match, seat, knows):
    """A sonar attack: with the probability `knows`, one that hits or gives contact."""
    every = [(own, corner) for own in match.submarines_of(seat) for corner in corners_around(own.at, 2)]
    enemies = [corner for enemy in match.submarines_of(other(seat)) for corner in corners_around(enemy.at, 1)]
    useful = [choice for choice in every if choice[1] in enemies]
    own, corner = rng.choice(useful if useful and rng.random() < knows else every)
    return f"U{own.no} SONAR {name(corner)}"


def chosen_dive_or_attack(rng, match, seat, style):
    """An order for a submarine turn."""
    if rng.random() < style["idle"]:
        return rng.choice(["", "PASS", "SUBS PASS", "SUBS PASS"])
    possible = shots(match, seat)
    if style["spares"]:
        last = armed(match, other(seat))
        if len(last) == 1 and len(armed(match, seat)) == 1:
            return chosen_finish(rng, match, seat)
        possible = [shot for shot in possible if [shot[1]] != last]
    if possible and rng.random() < style["takes"]:
        own, ship = rng.choice(possible)
        return f"U{own.no} FIRE {name(ship.at)}"
    if rng.random() < style["sonar"]:
        return chosen_sonar(rng, match, seat, style["knows"])
    return chosen_dive(rng, match, seat, style["hunts"])


def chosen_finish(rng, match, seat):
    """Each side has one ship left: they fire as soon as both can."""
    if all(shots(match, each) for each in SEATS):
        own, ship = rng.choice(shots(match, seat))
        return f"U{own.no} FIRE {name(ship.at)}"
    return "SUBS PASS" if shots(match, seat) else chosen_dive(rng, match, seat)


# Random matches: faulty orders


def wrong_orders(scribe, seat):
    """Faulty orders, which are rarely legal by chance."""
    rng, match = scribe.rng, scribe.match
    if match.phase == "setup":
        return setup_at_fault(rng, seat, match.options)
    if match.phase == "submarines" and match.submarines_of(seat):
        return wrong_dive(rng, match, seat)
    return wrong_move(rng, match, seat)


def random_square(rng):
    """Any square of the board."""
    return name((rng.randint(1, SIZE), rng.randint(1, SIZE)))


def wrong_move(rng, match, seat):
    """A faulty surface order."""
    own = [ship for ship in match.ships_of(seat)] or [Ship(seat, "D", (1, 1))]
    enemies = [ship for ship in match.ships_of(other(seat))] or [Ship(seat, "D", (1, 1))]
    good = [f"{name(ship.at)} {name(target)}" for ship, target in moves(match, seat)] or ["A1 A2"]
    held = [ship for ship in own if ship.kind in "VC"] or own
    leapers = [ship for ship in own if ship.leapt] or [ship for ship in own if ship.kind in "CD"] or own
    ship = rng.choice(own)
    near = rng.choice([ship.at for ship in own if ship.kind != "S"] or [(8, 8)])
    return rng.choice(
        [
            lambda: f"{name(ship.at)} {random_square(rng)}",
            lambda: f"{name(ship.at)} TO {name(rng.choice(own).at)}",
            lambda: f"{name(ship.at)}-{name(rng.choice(enemies).at)}",
            lambda: f"{name(rng.choice(enemies).at)} {random_square(rng)}",
            lambda: f"{rng.choice('VSBCD')}{rng.choice(good)}",
            lambda: written_step(rng, rng.choice(held), EIGHT),
            lambda: written_step(rng, rng.choice(held), EIGHT),
            lambda: written_step(rng, rng.choice(leapers), KNIGHT),
            lambda: f"ASW {random_square(rng)}",
            lambda: f"ASW {name(step(near, (rng.randint(-5, 5), rng.randint(-5, 5))))}",
            lambda: rng.choice(["ASW P4", "ASW D16", "ASW", "ASW K7 L7", "MOVE ASW K7", "SUBS PASS", "U1 TO K7"]),
            lambda: f"{rng.choice(good)}\n{rng.choice(good)}",
            lambda: f"{rng.choice(good)}\nASW {random_square(rng)}",
            lambda: f"{rng.choice(good)}\n{rng.choice(GARBAGE)}",
            lambda: f"MOVE MOVE {rng.choice(good)}",
            lambda: rng.choice(["", "# nothing", "\n\n"]),
        ]
    )()


def written_step(rng, ship, ways):
    """A step in any direction, on the board or off it."""
    return f"{name(ship.at)} {name(step(ship.at, rng.choice(ways)))}"


def wrong_dive(rng, match, seat):
    """A faulty submarine order."""
    own = rng.choice(match.submarines_of(seat))
    friend = rng.choice(match.submarines_of(seat))
    ships = [ship for ship in match.ships if distance(ship.at, own.at) <= 3] or [*match.ships, own]
    gone = rng.choice([no for no in range(0, 8) if no not in [each.no for each in match.submarines_of(seat)]])
    good = [f"U{sub.no} TO {name(square)}" for sub, square in dives(match, seat)]
    apart = [step(own.at, (rng.randint(-5, 5), rng.randint(-5, 5))) for _ in range(8)]
    there = name(next((square for square in apart if on_board(square)), own.at))
    return rng.choice(
        [
            lambda: f"U{own.no} {name(own.at)} {there}",
            lambda: f"U{own.no} TO {there}",
            lambda: f"U{own.no} TO {name(friend.at)}",
            lambda: f"U{own.no} {random_square(rng)} {there}",
            lambda: f"U{own.no} FIRE {name(rng.choice(ships).at)}",
            lambda: f"U{own.no} FIRE {name(rng.choice(ships).at)}",
            lambda: f"U{own.no} FIRE {there}",
            lambda: f"U{own.no} SONAR {there}",
            lambda: f"U{own.no} SONAR {rng.choice(['P5', 'B16', 'Q1'])}",
            lambda: f"U{gone} TO {there}",
            lambda: f"U{gone} SONAR {there}",
            lambda: f"{rng.choice(good)}\nSUBS PASS",
            lambda: f"{rng.choice(good)}\n{rng.choice(good)}",
            lambda: f"{rng.choice(good)}\n{rng.choice(GARBAGE)}",
            lambda: rng.choice(["PASS", "PASS PASS", "SUBS", "ASW K7", "U1", "FIRE K7", "U1 HOLD", "SUBS PASS\nSUBS PASS"]),
        ]
    )()


# Random matches: the whole


def random_style(rng):
    """How one side plays."""
    return {
        "takes": rng.choice([0, 0.3, 0.8, 1]),
        "nears": rng.choice([0, 0.5, 0.9]),
        "asw": rng.choice([0, 0.05, 0.3]),
        "sonar": rng.choice([0.05, 0.2, 0.5]),
        "knows": rng.choice([0, 0.5, 1]),
        "idle": rng.choice([0, 0.1, 0.5]),
        "spares": False,
        "hunts": False,
    }


def random_styles(rng, options):
    """How both play, and for how many filings."""
    styles = {seat: random_style(rng) for seat in SEATS}
    kind = rng.random()
    if kind < 0.25:
        styles[rng.choice(SEATS)] |= {"takes": 1, "nears": 0.9, "asw": 0, "idle": 0}
        return styles, 900
    if kind < 0.35 and options["submarines"]:
        bold = {"takes": 1, "nears": 0.9, "asw": 0, "sonar": 0, "idle": 0, "spares": True}
        return {seat: styles[seat] | bold for seat in SEATS}, 1500
    if kind < 0.45 and options["submarines"]:
        hunter = {"takes": 0.2, "asw": 0.5, "sonar": 0.6, "knows": 1, "idle": 0, "hunts": True}
        return {"first": styles["first"] | hunter, "second": styles["second"] | rng.choice([{}, hunter])}, 400
    if kind < 0.6:
        return {seat: styles[seat] | {"takes": 0} for seat in SEATS}, rng.randint(20, 100)
    return styles, rng.choice([rng.randint(0, 20), rng.randint(20, 300)])


def play_phase(scribe, styles, fronts):
    """Files what is due, sometimes twice if both sides have to file."""
    rng, match = scribe.rng, scribe.match
    due = match.due()
    for seat in rng.sample(due["seats"], len(due["seats"])):
        again = len(due["seats"]) == 2 and scribe.chance(0.12)
        for _ in range(2 if again else 1):
            if match.phase == "setup":
                orders = "\n".join(Draft(rng, seat, match.options, fronts[seat]).lines())
            elif match.phase == "surface":
                orders = chosen_surface(rng, match, styles[seat])
            else:
                orders = chosen_dive_or_attack(rng, match, seat, styles[seat])
            scribe.file_spelt(seat, orders)
            if match.due() != due:
                return


def generate(rng):
    """One random match: its options and its filings."""
    options = random_options(rng)
    every = {option: choice.default for option, choice in OPTIONS.items()} | options
    scribe = Scribe(rng, sys.modules[__name__], every)
    match = scribe.match
    styles, length = random_styles(rng, every)
    fronts = {seat: rng.random() < 0.7 for seat in SEATS}
    ends_early = rng.random() < 0.15
    for _ in range(rng.choice([0, 0, 3, 12])):
        scribe.file("first", scribe.spelt(setup_at_fault(rng, "first", every)))
    while match.due() and len(scribe.filings) < length:
        scribe.file_badly(lambda seat: wrong_orders(scribe, seat), ["setup", "surface", "submarines", "turn"])
        if match.due():
            play_phase(scribe, styles, fronts)
    if match.due() and ends_early:
        scribe.referee_ends()
    scribe.file_after_the_end(lambda seat: wrong_orders(scribe, seat))
    return options, scribe.filings


def perft(match, depth):
    """The number of sequences of that many surface orders, by their kinds: `m` is a move and `a` an attack."""
    if depth == 0 or match.phase != "surface":
        return Counter({"": 1})
    side = match.side
    orders = [("move", ship.at, target) for ship, target in moves(match, side)]
    orders += [("asw", corner) for corner in attacks(match, side)]
    total = Counter()
    for order in orders:
        after = deepcopy(match)
        after.adjudicate({side: order})
        for kinds, number in perft(after, depth - 1).items():
            total[order[0][0] + kinds] += number
    return total
