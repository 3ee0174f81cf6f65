"""Quad, by the rules page `quad.md`; each function names its clause.

A point is a pair (file, rank), both from 1. At the end stands the generator of random matches.
"""

import re
import sys

from quantum import GARBAGE, Scribe, by_rank, name, square_named
from record import SEATS, Choice, order_lines, other, whole

SIZE = 11
MARBLES = 20
STARS = 6
OPTIONS = {"swap": Choice("off", "on"), "trainer": Choice("off", "on")}
CORNERS = [(1, 1), (SIZE, 1), (1, SIZE), (SIZE, SIZE)]
POINTS = [
    (file, rank) for rank in range(1, SIZE + 1) for file in range(1, SIZE + 1) if (file, rank) not in CORNERS
]


def squares_of_the_board():
    """2.2 Every square of points, of any size and at any tilt: its four points by rank, then file.

    A side (right, up) with right > 0 and up >= 0, turned to the left three times, gives every square once.
    """
    found = []
    for file, rank in POINTS:
        for right in range(1, SIZE):
            for up in range(SIZE):
                square = [
                    (file, rank),
                    (file + right, rank + up),
                    (file + right - up, rank + up + right),
                    (file - up, rank + right),
                ]
                if all(point in POINTS for point in square):
                    found.append(sorted(square, key=by_rank))
    return found


SQUARES = squares_of_the_board()
SQUARES_THROUGH = {point: [square for square in SQUARES if point in square] for point in POINTS}


def quads(marbles, point):
    """2.2, 2.3 The quads that these marbles make with this point."""
    having = set(marbles) | {point}
    return [square for square in SQUARES_THROUGH[point] if having.issuperset(square)]


def point_named(text):
    """1.1 The point called `C4`, None if the board has none of that name."""
    if not re.fullmatch("[A-K]([1-9]|1[01])", text):
        return None
    point = square_named(text)
    return point if point in POINTS else None


def pieces_of(order):
    """2.1 A line as a list of pairs, "star" or "marble" and a point, in the order written.

    `SWAP` is read as ("swap", None). None if the line is not understood.
    """
    words = order.split(" ")
    if words == ["SWAP"]:
        return [("swap", None)]
    if words[0] in ("STAR", "MARBLE"):
        pieces = [(words[0].lower(), point_named(word)) for word in words[1:]]
    else:
        kinds = ["star" if word.endswith("*") else "marble" for word in words]
        pieces = [(kind, point_named(word.removesuffix("*"))) for kind, word in zip(kinds, words)]
    if not pieces or any(point is None for kind, point in pieces):
        return None
    return pieces


class Match:
    """One match; see `record.py` for what it offers."""

    def __init__(self, options):
        self.swap = options["swap"] == "on"
        self.trainer = options["trainer"] == "on"
        self.turn = 0
        self.side = "first"
        self.marbles = {seat: [] for seat in SEATS}
        self.stars = {seat: [] for seat in SEATS}
        self.last = None
        self.quads = []
        self.result = None

    def due(self):
        """2 The side to move."""
        return None if self.result else {"phase": "move", "seats": [self.side]}

    def empty(self, point):
        """2.1 Whether nothing has been played on this point."""
        return not any(point in self.marbles[seat] + self.stars[seat] for seat in SEATS)

    def read(self, seat, orders):
        """2.1, 2.5 A filing: any number of stars, then one marble; or `SWAP`."""
        lines = order_lines(orders)
        understood = [(line, pieces_of(line.order)) for line in lines]
        faults = [line.fault("not understood") for line, pieces in understood if pieces is None]
        filing = {"swap": False, "stars": [], "marbles": []}
        counted = 0
        for line, pieces in understood:
            if pieces is None:
                continue
            counted += 1
            reasons = [self.complaint(seat, filing, *piece) for piece in pieces]
            reasons = [reason for reason in reasons if reason]
            if reasons:
                faults.append(line.fault(reasons[0]))
        if filing["swap"] and counted > 1:
            faults.append(whole("SWAP is given instead of a move, and once"))
        if not filing["swap"] and not filing["marbles"] and counted == len(lines):
            faults.append(whole("a turn has a marble"))
        return filing, faults

    def complaint(self, seat, filing, kind, point):
        """2.1, 2.5 What is wrong with the next piece, or None; the filing takes it up in any case."""
        if kind == "swap":
            filing["swap"] = True
            may = self.swap and seat == "second" and self.turn == 1
            return None if may else "no SWAP now"
        free = self.empty(point) and point not in filing["stars"] + filing["marbles"]
        had_marble = bool(filing["marbles"])
        filing[kind + "s"].append(point)
        if had_marble:
            return "the marble ends the turn"
        if kind == "star" and self.swap and self.turn == 0:
            return "the first turn has no stars"
        if kind == "star" and len(self.stars[seat]) + len(filing["stars"]) > STARS:
            return "more stars than are left"
        return None if free else "the point is not empty"

    def adjudicate(self, filings):
        """2 A turn."""
        filing = filings[self.side]
        if filing["swap"]:
            point = self.marbles["first"].pop()
        else:
            point = filing["marbles"][0]
            self.quads = sorted(quads(self.marbles[self.side], point), key=lambda quad: list(map(by_rank, quad)))
        self.stars[self.side] += filing["stars"]
        self.marbles[self.side].append(point)
        self.last = {"side": self.side, "stars": list(map(name, filing["stars"])), "marble": name(point)}
        self.turn += 1
        self.result = self.outcome()
        self.side = other(self.side)

    def outcome(self):
        """2.3 A quad wins; 2.4 after the last marbles, more stars unplayed."""
        if self.quads:
            return {"winner": self.side, "reason": "quad"}
        if any(len(self.marbles[seat]) < MARBLES for seat in SEATS):
            return None
        first, second = len(self.stars["first"]), len(self.stars["second"])
        if first == second:
            return {"winner": None, "reason": "drawn on stars"}
        return {"winner": "first" if first < second else "second", "reason": "stars"}

    def threats(self, seat):
        """3, 5 The points at which this side could complete a quad with its next marble."""
        if len(self.marbles[seat]) == MARBLES:
            return []
        own = set(self.marbles[seat])
        missing = [[point for point in square if point not in own] for square in SQUARES]
        lacking = {points[0] for points in missing if len(points) == 1}
        return [point for point in POINTS if point in lacking and self.empty(point)]

    def end(self, result):
        """The referee ends the match; the board stays."""
        self.result = result

    def state(self):
        """5 State as JSON."""
        state = {
            "turn": self.turn,
            "to_move": None if self.result else self.side,
            "marbles": {seat: list(map(name, self.marbles[seat])) for seat in SEATS},
            "stars": {seat: list(map(name, self.stars[seat])) for seat in SEATS},
            "left": {
                seat: {"marbles": MARBLES - len(self.marbles[seat]), "stars": STARS - len(self.stars[seat])}
                for seat in SEATS
            },
            "last": self.last,
            "quads": [list(map(name, quad)) for quad in self.quads],
        }
        if self.trainer:
            state["threats"] = {seat: list(map(name, self.threats(seat))) for seat in SEATS}
        return state

    def view(self, seat):
        """5 State and view are equal."""
        return self.state()


# Random matches


def random_options(rng):
    """Options of a random match; some are given at their defaults."""
    options = {}
    for option in OPTIONS:
        if rng.random() < 0.6:
            options[option] = rng.choice(["on", "on", "off"])
    return options


def written(rng, stars, marble):
    """2.1 The same pieces in one of their many notations."""
    stars = list(map(name, stars))
    marble = name(marble)
    style = rng.randrange(4)
    if style == 0:
        return " ".join([star + "*" for star in stars] + [marble])
    if style == 1:
        return "\n".join(([f"STAR {' '.join(stars)}"] if stars else []) + [f"MARBLE {marble}"])
    lines = [rng.choice([f"STAR {star}", f"{star}*"]) for star in stars]
    return "\n".join(lines + [rng.choice([f"MARBLE {marble}", marble])])


def chosen_turn(rng, match, style):
    """A turn: `style` says how often a side wins, blocks, attacks, and plays a star without need.

    With `double` set, it completes several quads at once where it can.
    """
    seat = match.side
    empty = [point for point in POINTS if match.empty(point)]
    winning = match.threats(seat)
    threatened = match.threats(other(seat))
    double = [point for point in winning if len(quads(match.marbles[seat], point)) > 1]
    if double and style["double"]:
        return [], rng.choice(double)
    if winning and rng.random() < style["win"]:
        return [], rng.choice(winning)
    safe = [point for point in empty if point not in winning] if style["win"] == 0 else empty
    left = 0 if match.swap and match.turn == 0 else STARS - len(match.stars[seat])
    stars = []
    while left > len(stars) and rng.random() < style["star"]:
        stars.append(rng.choice([point for point in empty if point not in stars]))
    blocks = [point for point in threatened if point not in stars]
    if rng.random() < style["block"]:
        while len(blocks) > 1 and left > len(stars):
            stars.append(blocks.pop())
    else:
        blocks = []
    free = [point for point in safe if point not in stars] or [point for point in empty if point not in stars]
    blocks = [point for point in blocks if point in free]
    if blocks:
        return stars, rng.choice(blocks)
    tries = rng.sample(free, min(6, len(free)))
    if rng.random() < style["attack"]:
        return stars, max(tries, key=lambda point: promise(match, seat, point))
    return stars, tries[0]


def promise(match, seat, point):
    """How many open squares with two marbles or more a marble here would extend."""
    theirs = match.marbles[other(seat)] + match.stars["first"] + match.stars["second"]
    open_squares = [square for square in SQUARES_THROUGH[point] if not any(corner in theirs for corner in square)]
    return sum(sum(corner in match.marbles[seat] for corner in square) >= 2 for square in open_squares)


def wrong_orders(scribe, seat):
    """Orders that are at fault, or hardly ever right by chance."""
    rng, match = scribe.rng, scribe.match
    taken = [point for point in POINTS if not match.empty(point)] or [(1, 1)]
    empty = [name(point) for point in POINTS if match.empty(point)]
    rng.shuffle(empty)
    one, two, three = empty[:3]
    bad = name(rng.choice(taken + CORNERS))
    return rng.choice(
        [
            lambda: f"MARBLE {bad}",
            lambda: f"STAR {bad}\nMARBLE {one}",
            lambda: f"{one}* {two}* {bad}",
            lambda: f"STAR {one} {two}",
            lambda: f"{one}*\n{two}*",
            lambda: f"{one} {two}",
            lambda: f"MARBLE {one}\nMARBLE {two}",
            lambda: f"MARBLE {one}\nSTAR {two}",
            lambda: f"{one}*\n{two}\n{three}*",
            lambda: f"STAR {one} {one}\nMARBLE {two}",
            lambda: f"STAR {one}\nMARBLE {one}",
            lambda: f"STAR {' '.join(empty[:7])}\n{empty[7]}",
            lambda: f"STAR {' '.join(empty[:4])}\nSTAR {' '.join(empty[4:8])}\n{empty[8]}",
            lambda: "\n".join(f"{point}*" for point in empty[:8]) + f"\n{empty[8]}",
            lambda: "SWAP",
            lambda: "SWAP",
            lambda: f"SWAP\nMARBLE {one}",
            lambda: f"STAR {one}\nSWAP",
            lambda: f"MARBLE {one}\n{rng.choice(GARBAGE)}",
            lambda: f"STAR {one} {rng.choice(['L1', 'A12', 'E0', 'MARBLE', '*'])}\nMARBLE {two}",
            lambda: f"MARBLE {bad}\nMARBLE {one}",
            lambda: rng.choice(["STAR", "MARBLE", "SWAP SWAP", f"BALL {one}", f"MARBLE {one}*"]),
            lambda: rng.choice(["", "# nothing", "\n\n"]),
        ]
    )()


def random_style(rng):
    """How one side plays."""
    return {
        "win": rng.choice([0, 0, 0.5, 0.9, 1]),
        "block": rng.choice([0, 0.8, 1]),
        "attack": rng.choice([0, 0.5, 0.9]),
        "star": rng.choice([0, 0.05, 0.3]),
        "double": False,
    }


def generate(rng):
    """One random match: its options and its filings."""
    options = random_options(rng)
    scribe = Scribe(rng, sys.modules[__name__], {key: choice.default for key, choice in OPTIONS.items()} | options)
    match = scribe.match
    styles = {seat: random_style(rng) for seat in SEATS}
    kind = rng.random()
    if kind < 0.15:
        patient = {"win": 0, "block": 0, "attack": 0.9, "double": True}
        styles = {seat: styles[seat] | patient for seat in SEATS}
    elif kind < 0.4:
        styles = {seat: styles["first"] | {"win": 0} for seat in SEATS}
    length = rng.choice([rng.randint(0, 40), 50, 50])
    ends_early = rng.random() < 0.3
    swaps = rng.random() < 0.6
    for _ in range(length):
        if match.due() is None:
            break
        scribe.file_badly(lambda seat: wrong_orders(scribe, seat), ["move", "setup", "turn"])
        if match.due() is None:
            break
        if match.swap and match.turn == 1 and swaps:
            scribe.file_spelt("second", "SWAP")
        else:
            scribe.file_spelt(match.side, written(rng, *chosen_turn(rng, match, styles[match.side])))
    if match.due() and ends_early:
        scribe.referee_ends()
    scribe.file_after_the_end(lambda seat: wrong_orders(scribe, seat))
    return options, scribe.filings
