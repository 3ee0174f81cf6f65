"""Quantum, by the rules page `quantum.md`; each function names its clause.

A square is a pair (file, rank), both from 1. The generator of random matches is at the end, with `Scribe`, which
spells and files orders, both correct and faulty ones; the games on other square boards use it, too.
"""

import re
import sys
from typing import NamedTuple

from record import Choice, Limit, Referee, Text, order_lines, other, whole

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SIZE = 8
TOWER = 6
SIDEWAYS = [(0, 1), (1, 0), (0, -1), (-1, 0)]
DIAGONAL = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
DIRECTIONS = {"S": SIDEWAYS, "C": DIAGONAL, "Q": SIDEWAYS + DIAGONAL}


def good_array(text):
    """1.2 One to three ranks of eight characters, `.` for an empty square, and at least one piece."""
    ranks = text.split("/")
    return len(ranks) <= 3 and all(re.fullmatch("[SCQ.]{8}", rank) for rank in ranks) and set(text) & set("SCQ")


OPTIONS = {
    "array": Text("SSSSSSSS/CCCCCCCC/QQQQQQQQ", good_array),
    "jump": Choice("off", "on"),
    "quiet_limit": Limit(50),
}


class Stack(NamedTuple):
    """1.3 A stack: the colour and kind of its top piece, and its height."""

    side: str
    kind: str
    height: int

    def is_tower(self):
        """2.1 Height 6 or more."""
        return self.height >= TOWER


def name(square):
    """`D3`; a square off the board gets a name that no square has."""
    return LETTERS[square[0] - 1] + str(square[1])


def square_named(text):
    """The square called `D3`."""
    return LETTERS.index(text[0]) + 1, int(text[1:])


def by_rank(square):
    """The order A1, B1, ... A2, ..."""
    return square[1], square[0]


def on_board(square):
    """1.1 Files a..h, ranks 1..8."""
    return 1 <= square[0] <= SIZE and 1 <= square[1] <= SIZE


def step(square, direction, times=1):
    """The square this many steps away."""
    return square[0] + direction[0] * times, square[1] + direction[1] * times


def starting_board(array):
    """1.2 N-ARRAY: first's ranks from its own edge, second's mirrored along the same files."""
    board = {}
    for rank, row in enumerate(array.split("/"), start=1):
        for file, kind in enumerate(row, start=1):
            if kind != ".":
                board[file, rank] = Stack("first", kind, 1)
                board[file, SIZE + 1 - rank] = Stack("second", kind, 1)
    return board


def can_land(board, side, square):
    """2.2 Where a move may end: an empty square, or an enemy stack of height 5 or less."""
    if square not in board:
        return on_board(square)
    return board[square].side != side and not board[square].is_tower()


def destinations(board, origin, jump):
    """2.1 to 2.3 Every square to which the stack on this one may move."""
    stack = board[origin]
    if stack.is_tower():
        return []
    found = []
    for direction in DIRECTIONS[stack.kind]:
        for distance in range(1, stack.height + 1):
            target = step(origin, direction, distance)
            if can_land(board, stack.side, target):
                found.append(target)
            if target in board or not on_board(target):
                break
        if jump and jumps(board, origin, direction):
            found.append(step(origin, direction, 2))
    return found


def jumps(board, origin, direction):
    """2.3 A single piece jumps over an adjacent single piece of its own colour."""
    stack = board[origin]
    over = board.get(step(origin, direction))
    return (
        stack.height == 1
        and over is not None
        and over.side == stack.side
        and over.height == 1
        and can_land(board, stack.side, step(origin, direction, 2))
    )


def moves(board, side, jump):
    """2 Every legal move of a side, as pairs of squares."""
    own = [square for square in sorted(board, key=by_rank) if board[square].side == side]
    return [(origin, target) for origin in own for target in destinations(board, origin, jump)]


def after(board, origin, target):
    """2.2 The board after a move; a stack that lands on another adds the heights up."""
    moved = dict(board)
    stack = moved.pop(origin)
    below = moved[target].height if target in moved else 0
    moved[target] = stack._replace(height=stack.height + below)
    return moved


def towers(board, side):
    """2.1, 3.1 The number of towers of this colour."""
    return sum(stack.side == side and stack.is_tower() for stack in board.values())


class Match:
    """One match; see `record.py` for what it offers."""

    def __init__(self, options):
        self.jump = options["jump"] == "on"
        self.quiet_limit = options["quiet_limit"]
        self.board = starting_board(options["array"])
        self.turn = 0
        self.side = "first"
        self.quiet = 0
        self.last = None
        self.result = None

    def due(self):
        """2, 2.4 The side to move, or nobody if the referee passes for it."""
        if self.result:
            return None
        seats = [self.side] if moves(self.board, self.side, self.jump) else []
        return {"phase": "move", "seats": seats}

    def read(self, seat, orders):
        """2 One move, `D3 E4` or `D3-E4`."""
        lines = order_lines(orders)
        if not lines:
            return None, [whole("a move must be made")]
        faults = []
        read = []
        for line in lines:
            found = re.fullmatch("([A-H][1-8])( | ?- ?)([A-H][1-8])", line.order)
            if not found:
                faults.append(line.fault("not understood"))
                continue
            move = square_named(found[1]), square_named(found[3])
            read.append(move)
            if move not in moves(self.board, seat, self.jump):
                faults.append(line.fault("no legal move"))
        if len(read) > 1:
            faults.append(whole("one move a turn"))
        return (read[0] if read else None), faults

    def adjudicate(self, filings):
        """2, 2.4 A turn: the move that was filed, or a pass."""
        origin, target, stacked = None, None, False
        if self.side in filings:
            origin, target = map(name, filings[self.side])
            stacked = filings[self.side][1] in self.board
            self.board = after(self.board, *filings[self.side])
        self.last = {"side": self.side, "from": origin, "to": target, "stacked": stacked}
        self.turn += 1
        self.quiet = 0 if stacked else self.quiet + 1
        self.side = other(self.side)
        self.result = self.outcome()

    def outcome(self):
        """3.0 Three towers, then nothing can be stacked any more, then the limit."""
        first, second = towers(self.board, "first"), towers(self.board, "second")
        for side, number in (("first", first), ("second", second)):
            if number >= 3:
                return {"winner": side, "reason": "three towers"}
        stalled = self.is_stalled()
        if not stalled and self.quiet < 2 * self.quiet_limit:
            return None
        if first == second:
            return {"winner": None, "reason": "drawn on towers"}
        return {"winner": "first" if first > second else "second", "reason": "more towers"}

    def is_stalled(self):
        """3.2 N-STALL: neither side can move, or one has no stack below height 6."""
        low = {stack.side for stack in self.board.values() if not stack.is_tower()}
        return len(low) < 2 or not any(moves(self.board, side, self.jump) for side in low)

    def end(self, result):
        """The referee ends the match; the board stays."""
        self.result = result

    def state(self):
        """4 State as JSON."""
        stacks = [
            {"at": name(square), "side": stack.side, "kind": stack.kind, "height": stack.height}
            for square, stack in sorted(self.board.items(), key=lambda item: by_rank(item[0]))
        ]
        return {
            "turn": self.turn,
            "to_move": None if self.result else self.side,
            "stacks": stacks,
            "towers": {side: towers(self.board, side) for side in ("first", "second")},
            "quiet": self.quiet,
            "last": self.last,
        }

    def view(self, seat):
        """4 State and view are equal."""
        return self.state()


# Random matches


REMARKS = ["", " best of luck", " U1 K7", " \"so\" it goes", " D3 E4", "# noted", " für später \\o/"]
GARBAGE = ["HELLO", "MOVE", "D3", "??", "D3 TO", "RESIGN", "D3 E4 F5", "Z9 A1", "E2=E4", "*", "A0 A1", "-", "ＡＳＷ"]


class Scribe:
    """Files the orders of a random match with a referee, spelt in many ways, and keeps the filings."""

    def __init__(self, rng, module, options):
        self.rng = rng
        self.referee = Referee(module, options)
        self.match = self.referee.match
        self.filings = []
        self.tidy = rng.random() < 0.3
        self.faulty = rng.choice([0, 0.05, 0.12, 0.2])
        self.names_phase = rng.choice([0, 0, 0.5, 1])

    def chance(self, probability):
        """True with this probability."""
        return self.rng.random() < probability

    def file(self, seat, orders, **more):
        """Files the orders as they are."""
        filing = {"seat": seat, **more, "orders": orders}
        self.filings.append(filing)
        return self.referee.file(filing)

    def file_spelt(self, seat, orders):
        """Files the orders in some spelling, with the phase or without."""
        due = self.match.due()
        phase = {"phase": due["phase"]} if due and self.chance(self.names_phase) else {}
        return self.file(seat, self.spelt(orders), **phase)

    def spelt(self, orders):
        """The same orders with other cases and blanks, with comments and blank lines."""
        if self.tidy:
            return orders
        lines = []
        for line in orders.split("\n"):
            if self.chance(0.08):
                lines.append(self.rng.choice(["", "  ", "#" + self.rng.choice(REMARKS)]))
            lines.append(self.spelt_line(line))
        if self.chance(0.1):
            lines.append(self.rng.choice(["", "# that is all"]))
        return "\n".join(lines)

    def spelt_line(self, line):
        """One line in another spelling."""
        how = self.rng.choice([str, str, str.lower, str.title, str.swapcase])
        words = how(line).split(" ")
        text = words[0]
        for word in words[1:]:
            text += self.rng.choice([" ", " ", " ", "  ", "   ", "\t", " \t "]) + word
        if self.chance(0.15):
            text = self.rng.choice([" ", "\t", "    "]) + text
        if self.chance(0.15):
            text += self.rng.choice([" ", "\t", "\r"])
        if self.chance(0.1):
            text += self.rng.choice([" #", "#"]) + self.rng.choice(REMARKS)
        return text

    def file_badly(self, wrong, phases):
        """Sometimes makes a filing that is refused; `wrong(seat)` returns faulty orders."""
        if not self.chance(self.faulty):
            return
        due = self.match.due()
        seat = self.rng.choice(due["seats"] or ["first", "second"])
        kind = self.rng.randrange(10)
        if kind == 0:
            self.file_spelt(other(seat), wrong(other(seat)))
        elif kind == 1:
            unlike = [phase for phase in phases if phase != due["phase"]]
            self.file(self.rng.choice([seat, "referee"]), "DRAW", phase=self.rng.choice(unlike))
        elif kind == 2:
            self.file_spelt(seat, self.rng.choice(GARBAGE))
        else:
            self.file_spelt(seat, wrong(seat))

    def referee_ends(self):
        """The referee ends the match."""
        order = self.rng.choice(["RESIGN first", "RESIGN second", "DRAW", "ABANDON"])
        self.file_spelt("referee", order)

    def file_after_the_end(self, wrong):
        """Sometimes makes filings that come too late."""
        while not self.match.due() and self.chance(0.25):
            seat = self.rng.choice(["first", "second", "referee"])
            self.file_spelt(seat, "DRAW" if seat == "referee" else wrong(seat))


def random_array(rng):
    """An array of one to three ranks, from a single piece to full."""
    while True:
        filled = rng.choice([0.08, 0.2, 0.4, 0.7, 1])
        kinds = rng.choice(["SCQ", "SC", "CCQ", "C", "S", "Q"])
        ranks = rng.randint(1, 3)
        rows = ["".join(rng.choice(kinds) if rng.random() < filled else "." for _ in range(8)) for _ in range(ranks)]
        if good_array("/".join(rows)):
            return "/".join(rows)


def random_options(rng):
    """Options of a random match; some are set to their defaults."""
    options = {}
    if rng.random() < 0.6:
        options["array"] = rng.choice([random_array(rng), random_array(rng), OPTIONS["array"].default])
    if rng.random() < 0.6:
        options["jump"] = rng.choice(["on", "on", "off"])
    if rng.random() < 0.6:
        options["quiet_limit"] = rng.choice([1, 2, 4, 8, 15, 30, 50, 999])
    return options


def small_array(rng):
    """An array from which all the pieces may end in one stack or two, so that neither side can move."""
    pieces = rng.choice([3, 3, 4, 4, 5])
    return "".join(rng.sample([rng.choice("QQQS") for _ in range(pieces)] + ["."] * (8 - pieces), 8))


def merging_move(rng, match):
    """A move that stops both sides, else one that stacks below a tower, else one that comes nearer."""
    choices = moves(match.board, match.side, match.jump)
    rng.shuffle(choices)
    boards = {move: after(match.board, *move) for move in choices}
    for move, board in boards.items():
        if not moves(board, "first", match.jump) and not moves(board, "second", match.jump):
            return move
    low = [move for move in choices if not boards[move][move[1]].is_tower()] or choices
    stackings = [move for move in low if move[1] in match.board]
    if stackings and rng.random() < 0.9:
        return stackings[0]
    enemies = [square for square, stack in match.board.items() if stack.side != match.side] or [(4, 4)]
    return min(low, key=lambda move: min(sum(abs(a - b) for a, b in zip(move[1], enemy)) for enemy in enemies))


def chosen_move(rng, match, eager):
    """A move: towers and stackings are preferred with the probability `eager`."""
    board = match.board
    choices = moves(board, match.side, match.jump)
    stackings = [move for move in choices if move[1] in board]
    building = [move for move in stackings if board[move[0]].height + board[move[1]].height >= TOWER]
    far = [move for move in choices if max(abs(move[0][0] - move[1][0]), abs(move[0][1] - move[1][1])) > 1]
    for liked in (building, stackings, far):
        if liked and rng.random() < eager:
            return rng.choice(liked)
    return rng.choice(choices)


def wrong_orders(scribe, seat):
    """Faulty orders, which are rarely legal by chance."""
    rng, match = scribe.rng, scribe.match
    squares = [name((file, rank)) for file in range(1, 9) for rank in range(1, 9)]
    own = [name(square) for square in match.board if match.board[square].side == seat] or squares
    enemy = [name(square) for square in match.board if match.board[square].side != seat] or squares
    legal = [f"{name(a)} {name(b)}" for a, b in moves(match.board, seat, match.jump)] or ["A1 A2"]
    return rng.choice(
        [
            lambda: f"{rng.choice(own)} {rng.choice(squares)}",
            lambda: f"{rng.choice(own)}-{rng.choice(own)}",
            lambda: f"{rng.choice(own)} {rng.choice(enemy)}",
            lambda: f"{rng.choice(enemy)} {rng.choice(squares)}",
            lambda: f"{rng.choice(squares)} {rng.choice(squares)}",
            lambda: f"{rng.choice(legal)}\n{rng.choice(legal)}",
            lambda: f"{rng.choice(legal)}\n{rng.choice(GARBAGE)}",
            lambda: f"{rng.choice(legal)} {rng.choice(squares)}",
            lambda: f"{rng.choice(own)} I9",
            lambda: rng.choice(["", "# nothing", "\n\n"]),
        ]
    )()


def generate(rng):
    """One random match: its options and its filings."""
    options = random_options(rng)
    merges = rng.random() < 0.2
    if merges:
        options["array"] = small_array(rng)
    scribe = Scribe(rng, sys.modules[__name__], {key: choice.default for key, choice in OPTIONS.items()} | options)
    match = scribe.match
    eager = {"first": rng.choice([0, 0.3, 0.7, 0.95]), "second": rng.choice([0, 0.3, 0.7, 0.95])}
    length = rng.choice([rng.randint(0, 12), rng.randint(10, 80), 250])
    ends_early = rng.random() < 0.12
    for _ in range(length):
        if match.due() is None:
            break
        scribe.file_badly(lambda seat: wrong_orders(scribe, seat), ["move", "setup", "turn"])
        if match.due() is None:
            break
        origin, target = merging_move(rng, match) if merges else chosen_move(rng, match, eager[match.side])
        scribe.file_spelt(match.side, name(origin) + rng.choice([" ", "-"]) + name(target))
    if match.due() and ends_early:
        scribe.referee_ends()
    scribe.file_after_the_end(lambda seat: wrong_orders(scribe, seat))
    return options, scribe.filings


def perft(board, side, jump, depth):
    """The number of sequences of that many moves (without checking for an end of the match)."""
    choices = moves(board, side, jump)
    if depth == 1:
        return len(choices)
    return sum(perft(after(board, *move), other(side), jump, depth - 1) for move in choices)
