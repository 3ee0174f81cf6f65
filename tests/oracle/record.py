"""Match records: reading, the loop over filings, and the lines of `replay --json`.

This follows the rules page `records.md`; each function names the paragraph it stands for. The games
themselves are modules of this folder, imported by name when a record asks for one.

What a game module offers
-------------------------

`OPTIONS`: a dict, name of the option -> `Choice`, `Limit`, `Flag` or `Text` (below). A match gets all options,
those left out of the record at their defaults.

`Match(options)`: one match, with

* `match.result`: None, or `{"winner": "first" | "second" | None, "reason": "..."}`.
* `match.due()`: None at the end, otherwise `{"phase": "turn", "seats": ["first", "second"]}` (a fresh dict;
  seats in the order first, second). Empty seats mean that the referee adjudicates by itself, with no filings
  (a pass).
* `match.read(seat, orders)`: reads the text of a filing for the phase that is due and returns
  `(filing, faults)`. `filing` is any value; it is handed back to `adjudicate` if it counts. `faults` is a list
  of `Fault`; if it is not empty, the filing is refused. Reading changes nothing in the match. Use
  `order_lines(orders)` to split the text.
* `match.adjudicate(filings)`: adjudicates the phase that is due. `filings` is a dict, seat -> filing, with
  exactly the seats that were due.
* `match.end(result)`: ends the match from outside the rules: `match.result = result`, the board stays, the lists
  of what happened this turn are cleared, and `due()` is None from then on.
* `match.state()`: the state as JSON values, after the last adjudication.
* `match.view(seat)`: what that seat sees, as JSON values, after the last adjudication.

`generate(rng)`: plays one random match with `rng` (a `random.Random`) and returns the pair
`(options, filings)`: the dict of options to write, and the list of filings as dicts with `seat`, `orders` and,
if it is to be written, `phase`. `Referee` (below) helps: `Referee(module, options).file(filing)` takes a
filing as `replay` does and returns the printed lines as dicts; its `match` is the match.
"""

import importlib
import json
import re
import tomllib
from typing import NamedTuple

SEATS = ("first", "second")
GAMES = {
    "quadrant-z": "quadrant_z",
    "pacific": "pacific",
    "quantum": "quantum",
    "quad": "quad",
}


def other(seat):
    """The opponent's seat."""
    return "second" if seat == "first" else "first"


# Options


class Choice:
    """An option with a few values; the first is the default."""

    def __init__(self, *values):
        self.values = values
        self.default = values[0]

    def accepts(self, value):
        return any(type(value) is type(known) and value == known for known in self.values)


class Limit:
    """An option that is a whole number from 1 to 999."""

    def __init__(self, default):
        self.default = default

    def accepts(self, value):
        return type(value) is int and 1 <= value <= 999


class Flag:
    """An option that is true or false."""

    def __init__(self, default):
        self.default = default

    def accepts(self, value):
        return type(value) is bool


class Text:
    """An option that is a text accepted by `check(text)`."""

    def __init__(self, default, check):
        self.default = default
        self.check = check

    def accepts(self, value):
        return type(value) is str and bool(self.check(value))


# Orders


class Fault(NamedTuple):
    """One fault of a filing. A fault of the filing as a whole has no line and no text."""

    line: int | None
    text: str
    reason: str


class Line(NamedTuple):
    """One line of orders that is not blank: its number from 1, its text as filed, and its normalized text."""

    number: int
    text: str
    order: str

    def fault(self, reason):
        return Fault(self.number, self.text, reason)


def whole(reason):
    """A fault of the filing as a whole."""
    return Fault(None, "", reason)


def capitals(text):
    """The letters a to z as capitals; every other character stays."""
    return re.sub("[a-z]+", lambda letters: letters.group().upper(), text)


def order_lines(orders):
    """The lines that are not blank ("Orders are read without regard to case ...").

    `order` is the line without its comment, in capitals, with single blanks.
    """
    lines = []
    for number, text in enumerate(orders.split("\n"), start=1):
        words = re.split(r"[ \t\r]+", text.split("#")[0].strip(" \t\r"))
        order = capitals(" ".join(words))
        if order:
            lines.append(Line(number, text.strip(" \t\r"), order))
    return lines


# The record file


class NoRecord(Exception):
    """Raised if the file is not a record; the message names the line."""


class Record(NamedTuple):
    """A parsed record: the game's module, every option, and the filings in order."""

    module: object
    options: dict
    filings: list


def line_of(text, pattern, nth=0):
    """The number of the nth line that matches the pattern, 1 if there is none (for messages)."""
    found = [n for n, line in enumerate(text.split("\n"), start=1) if re.match(pattern, line)]
    return found[nth] if nth < len(found) else 1


def read_record(data):
    """Reads the bytes of a record file ("What is no record ...")."""
    try:
        text = data.decode("utf-8")
        document = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise NoRecord(str(error).replace("\n", " "))
    if type(document.get("fogpost")) is not int or document["fogpost"] != 1:
        raise NoRecord(f"line {line_of(text, 'fogpost')}: fogpost = 1 is wanted")
    game = document.get("game")
    if not isinstance(game, str) or game not in GAMES:
        raise NoRecord(f"line {line_of(text, 'game')}: unknown game; known are {', '.join(GAMES)}")
    module = importlib.import_module(GAMES[game])
    check_keys(text, document)
    options = read_options(text, module, document.get("options", {}))
    filings = document.get("filings", [])
    if not isinstance(filings, list):
        raise NoRecord(f"line {line_of(text, 'filings')}: filings are a list of tables")
    for index, filing in enumerate(filings):
        complaint = check_filing(filing)
        if complaint:
            where = line_of(text, r"\[\[ *filings *\]\]", index)
            raise NoRecord(f"line {where}: {complaint}")
    return Record(module, options, filings)


def check_keys(text, document):
    """Checks that there are only keys of the format, and only names for the seats first and second."""
    for key in document:
        if key not in ("fogpost", "game", "seats", "options", "filings"):
            raise NoRecord(f"line {line_of(text, '.*' + re.escape(key))}: unknown key {key}")
    seats = document.get("seats", {})
    if not isinstance(seats, dict):
        raise NoRecord(f"line {line_of(text, 'seats')}: seats are a table")
    for seat, name in seats.items():
        if seat not in SEATS or not isinstance(name, str):
            raise NoRecord(f"line {line_of(text, seat)}: unknown seat {seat}")


def read_options(text, module, given):
    """Every option of the game, checked by name and value ("Options are checked ...")."""
    if not isinstance(given, dict):
        raise NoRecord(f"line {line_of(text, 'options')}: options are a table")
    options = {name: option.default for name, option in module.OPTIONS.items()}
    for name, value in given.items():
        where = line_of(text, r"(options\.)? *" + re.escape(name))
        if name not in module.OPTIONS:
            raise NoRecord(f"line {where}: unknown option {name}; known are {', '.join(module.OPTIONS)}")
        if not module.OPTIONS[name].accepts(value):
            raise NoRecord(f"line {where}: {name} cannot be {value!r}")
        options[name] = value
    return options


def check_filing(filing):
    """What is wrong with the form of a filing, or None."""
    if not isinstance(filing, dict):
        return "a filing is a table"
    for key, value in filing.items():
        if key not in ("seat", "phase", "orders") or not isinstance(value, str):
            return f"unknown key or value: {key}"
    if filing.get("seat") not in (*SEATS, "referee"):
        return "unknown seat"
    if "orders" not in filing:
        return "a filing without orders"
    if filing["seat"] == "referee" and referee_result(filing["orders"]) is None:
        return "unknown referee order"
    return None


def referee_result(orders):
    """The result that a referee order brings, None if it is unknown (`seat = "referee"` ...)."""
    lines = [line.order for line in order_lines(orders)]
    if lines == ["RESIGN FIRST"]:
        return {"winner": "second", "reason": "resigned"}
    if lines == ["RESIGN SECOND"]:
        return {"winner": "first", "reason": "resigned"}
    if lines == ["DRAW"]:
        return {"winner": None, "reason": "draw agreed"}
    if lines == ["ABANDON"]:
        return {"winner": None, "reason": "abandoned"}
    return None


# The loop over filings


class Referee:
    """Takes filings one by one and returns the lines that `replay --json` prints."""

    def __init__(self, module, options):
        self.match = module.Match(options)
        self.filed = {}
        self.adjudications = 0
        self.filings = 0

    def file(self, filing):
        """Accepts or refuses one filing. Returns the printed lines as dicts: none if it waits for the other side's."""
        index = self.filings
        self.filings += 1
        complaint = self.not_due(filing)
        if complaint:
            return [refusal(index, filing, [whole(complaint)])]
        if filing["seat"] == "referee":
            return [self.end(referee_result(filing["orders"]))]
        orders, faults = self.match.read(filing["seat"], filing["orders"])
        if faults:
            return [refusal(index, filing, faults)]
        self.filed[filing["seat"]] = orders
        return self.adjudicate_all()

    def not_due(self, filing):
        """Why the filing does not fit what is due, or None ("A wrong `phase`, or ...")."""
        due = self.match.due()
        if due is None:
            return "the match is over"
        if "phase" in filing and filing["phase"] != due["phase"]:
            return f"the phase that is due is {due['phase']}"
        if filing["seat"] != "referee" and filing["seat"] not in due["seats"]:
            return "nothing is due from this seat"
        return None

    def adjudicate_all(self):
        """Adjudicates as long as everything that is due has been filed, including passes of the referee."""
        lines = []
        due = self.match.due()
        while due is not None and all(seat in self.filed for seat in due["seats"]):
            filings, self.filed = self.filed, {}
            self.match.adjudicate(filings)
            lines.append(self.adjudicated(due["phase"]))
            due = self.match.due()
        return lines

    def end(self, result):
        """The referee ends the match; open filings lapse."""
        phase = self.match.due()["phase"]
        self.filed = {}
        self.match.end(result)
        return self.adjudicated(phase)

    def adjudicated(self, phase):
        """The line of an adjudication ("for each adjudication")."""
        self.adjudications += 1
        return {
            "adjudication": self.adjudications,
            "phase": phase,
            "state": self.match.state(),
            "views": {seat: self.match.view(seat) for seat in SEATS},
            "due": self.match.due(),
            "result": self.match.result,
        }


def refusal(index, filing, faults):
    """The line of a refused filing ("for a filing refused"); line faults first, in their order."""
    ordered = sorted(faults, key=lambda fault: (fault.line is None, fault.line or 0))
    return {"refused": index, "seat": filing["seat"], "faults": [fault._asdict() for fault in ordered]}


def replay(data):
    """Replays the bytes of a record: the printed lines as dicts, and the exit status (0 or 2).

    Raises NoRecord (exit status 1).
    """
    record = read_record(data)
    referee = Referee(record.module, record.options)
    lines = []
    for filing in record.filings:
        lines += json.loads(json.dumps(referee.file(filing)))
    return lines, 2 if any("refused" in line for line in lines) else 0


# Writing


def toml_text(text):
    """A text as a TOML value, over several lines if it has several."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r")
    escaped = escaped.replace("\t", "\\t")
    return f'"""\n{escaped}"""' if "\n" in text else f'"{escaped}"'


def toml_value(value):
    """A plain value in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else toml_text(value)


def write_record(game, options, filings):
    """The text of a record file."""
    lines = ["fogpost = 1", f'game = "{game}"', "[seats]", 'first = "Ann"', 'second = "Bo"', "[options]"]
    lines += [f"{name} = {toml_value(value)}" for name, value in options.items()]
    for filing in filings:
        lines += ["", "[[filings]]"]
        lines += [f"{key} = {toml_value(filing[key])}" for key in ("seat", "phase", "orders") if key in filing]
    return "\n".join(lines) + "\n"
