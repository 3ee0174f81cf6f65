#!/usr/bin/env python3
"""Checks a dossier: python3 check.py [FOLDER] [LETTER.eml ...]
or the book of an event: python3 check.py BOOK [LETTER.eml ...]

FOLDER is the folder into which you unpacked the dossier; without it, the one in which this program lies. It needs
Python 3.6 or later and nothing else, and asks nothing of the network. It tells you what it checked, what is withheld and
so could not be checked, and what is wrong. Whoever made the dossier could have changed the program in it: if you are to
judge, take crates/core/src/audit/check.py from a release of fogpost.

If you name letters of the referee from your own mailbox, saved as files, it also checks that the ledger line in them
is on the chain of this dossier. That is the strongest check of all: nobody can rewrite the letters that you have.

Exit status: 0 nothing is wrong, 1 something is wrong, 2 this is not a dossier that the program can read.

A book is the file that "fogpost audit export EV-SPRING BOOK" writes. The letters that state its head end their
account of the event with a line such as "Book EV-SPRING sha256".

CHECK.txt explains each step, and how to do it by hand.
"""

import email
import hashlib
import json
import os
import re
import stat
import sys
from email import policy

ZERO = "0" * 64

# Maximum faults of one step to print in full.
MOST_TOLD = 5

# The most bytes of a file, and the most files. A dossier of a long match has some hundred files, the largest of 2 MB.
MAX_BYTES = 32 << 20
MAX_FILES = 20000


class NoDossier(Exception):
    """The files cannot be read as a dossier."""


def sha256(contents):
    return hashlib.sha256(contents).hexdigest()


def count(number, one, many=None):
    return "%d %s" % (number, one if number == 1 else many or one + "s")


def contents_of(path, name, flags=0):
    """The bytes of a regular file of a bounded size."""
    try:
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        flags |= os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise NoDossier("%s is a folder, a pipe or a device, not a file" % name)
            if about.st_size > MAX_BYTES:
                raise NoDossier("%s is larger than %d MB" % (name, MAX_BYTES >> 20))
            return file.read(MAX_BYTES)
    except OSError as error:
        raise NoDossier("%s cannot be read: %s" % (name, error.strerror))


def kind_of(name):
    """The mode of a file, or None. No part of its path may be a link, which could lead anywhere."""
    place = ""
    for part in name.split("/"):
        if part in ("", ".", "..") or os.sep in part or "\0" in part:
            raise NoDossier("the dossier names %s, which is no file within it" % name)
        place = os.path.join(place, part)
        try:
            mode = os.lstat(place).st_mode
        except OSError:
            return None
        if stat.S_ISLNK(mode):
            raise NoDossier("%s is a link, not a file" % place)
    return mode


def is_there(name):
    """Whether the dossier has this file."""
    return kind_of(name) is not None


def read(name):
    """The bytes of a file of the dossier."""
    if kind_of(name) is None:
        raise NoDossier("%s is missing" % name)
    return contents_of(name, name, getattr(os, "O_NOFOLLOW", 0))


def lines_of(name):
    """The lines of a text file. Only a line feed ends a line."""
    contents = read(name)
    try:
        text = contents.decode("utf-8")
    except UnicodeDecodeError:
        raise NoDossier("%s is not a text" % name)
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def values_of(name):
    """The JSON values in the lines of a file."""
    values = []
    for number, line in enumerate(lines_of(name), 1):
        try:
            values.append(parsed(line))
        except ValueError:
            raise NoDossier("%s, line %d cannot be read" % (name, number))
    return values


def parsed(text):
    return json.loads(text, parse_int=whole_number)


def whole_number(digits):
    """A number. Limits its digits, because Python takes very long to read millions of them."""
    if len(digits) > 20:
        raise ValueError("a number is too long")
    return int(digits)


def is_digest(value):
    return isinstance(value, str) and re.match(r"[0-9a-f]{64}\Z", value) is not None


def below(value, *keys):
    """The value below these keys of nested objects. An empty object if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return {} if value is None else value


def letter_of(entry):
    """The cause in the first entry of a ruling on a letter. Empty for other entries."""
    letter = below(entry, "cause", "letter")
    return letter if isinstance(letter, dict) else {}


def named_by(entry):
    """The letters that an entry names, by their digests: its cause, and the letters that prove other facts in it."""
    # What the referee does because of a letter in another match, such as one that announces an absence.
    act = below(entry, "cause", "program", "act", "of")
    found = [letter_of(entry), act if isinstance(act, dict) else {}]
    digests = [of.get(name) for of in found for name in ("letter", "confirmed_by")]
    digests.append(below(entry, "body", "lot", "offer") or None)
    return [digest for digest in digests if digest is not None]


class Report:
    """The findings, printed step by step."""

    def __init__(self):
        self.wrong = 0
        self.withheld = []

    def step(self, title, faults, good):
        if not faults:
            say(title, good)
            return
        self.wrong += len(faults)
        say(title, "WRONG")
        for fault in faults[:MOST_TOLD]:
            tell("    - %s" % fault)
        if len(faults) > MOST_TOLD:
            tell("    - and %d more" % (len(faults) - MOST_TOLD))

    def withhold(self, what):
        self.withheld.append(what)


def tell(line):
    """Prints a line. Whoever made the dossier chose the names in it: nothing in them may control the terminal."""
    print("".join(c if c.isprintable() else "\ufffd" for c in line))


def say(title, text):
    words, line = text.split(), "%s: " % title
    for word in words:
        if len(line) + len(word) > 78:
            tell(line.rstrip())
            line = "    "
        line += word + " "
    tell(line.rstrip())


class Dossier:
    def __init__(self):
        try:
            self.about = parsed(read("about.json").decode("utf-8"))
        except ValueError:
            raise NoDossier("about.json cannot be read")
        if not isinstance(self.about, dict) or self.about.get("fogpost") != 1:
            raise NoDossier("about.json: the format of this dossier is unknown to this program")
        self.form = self.about["form"]
        self.match = self.about["match"]
        self.over = self.about["over"]
        self.last_pins = self.about["last_pins"]
        self.head = self.about["head"]
        self.texts = lines_of("entries.jsonl")
        self.entries = values_of("entries.jsonl")
        self.hashes = lines_of("entries.sha256")
        self.letters = {record["letter"]: record for record in values_of("letters.jsonl")}
        self.sent = values_of("sent.jsonl")

    def names(self):
        """The players' names, as the ledger has them."""
        players = self.entries[0].get("body", {}).get("players", {}) if self.entries else {}
        return "%s against %s" % (players.get("first", "?"), players.get("second", "?"))

    def of_kind(self, *kinds):
        return [entry for entry in self.entries if entry.get("kind") in kinds]


def check_files(report):
    """The files are those that were packed. The list alone proves nothing: whoever changes a file can change it too."""
    faults, listed = [], set()
    lines = lines_of("SHA256SUMS")
    if len(lines) > MAX_FILES:
        raise NoDossier("SHA256SUMS names more than %d files" % MAX_FILES)
    for line in lines:
        digest, _, name = line.partition("  ")
        listed.add(name)
        if not is_there(name):
            faults.append("the file %s is missing" % name)
        elif sha256(read(name)) != digest:
            faults.append("the file %s was changed after the dossier was made" % name)
    seen = 0
    for folder in ("letters", "parts", "sent"):
        for path, folders, names in os.walk(folder):
            seen += len(folders) + len(names)
            if seen > MAX_FILES:
                raise NoDossier("it holds more than %d files" % MAX_FILES)
            for name in names:
                full = "/".join(os.path.join(path, name).split(os.sep))
                if full not in listed:
                    faults.append("the file %s was added after the dossier was made" % full)
    report.step("Files", faults, "%s are as they were packed." % count(len(listed), "file"))


def check_chain(report, dossier):
    faults, previous = [], ZERO
    if len(dossier.hashes) != len(dossier.entries):
        faults.append("entries.sha256 has another number of lines than entries.jsonl")
    for number, (text, entry) in enumerate(zip(dossier.texts, dossier.entries), 1):
        digest = sha256(text.encode("utf-8"))
        if number <= len(dossier.hashes) and dossier.hashes[number - 1] != digest:
            faults.append("entry %d was changed: its hash does not match" % number)
        if entry.get("seq") != number:
            faults.append("entry %d bears another number" % number)
        if entry.get("match") != dossier.match:
            faults.append("entry %d is of another match" % number)
        if entry.get("prev") != previous:
            faults.append("entry %d does not follow the one before it: an entry was changed, removed or added" % number)
        if number > 1 and str(entry.get("at")) < str(dossier.entries[number - 2].get("at")):
            faults.append("entry %d is dated before the one that it follows" % number)
        previous = digest
    if not dossier.entries:
        faults.append("the ledger is empty")
    elif dossier.entries[0].get("kind") != "MatchOpened":
        faults.append("the ledger does not begin with the opening of the match")
    if dossier.head and dossier.head != {"seq": len(dossier.entries), "hash": previous}:
        faults.append("the ledger does not end with the entry that about.json names: some were removed or added")
    good = "%s form one chain. The last has the hash %s." % (count(len(dossier.entries), "entry", "entries"), previous)
    report.step("Ledger", faults, good)


def check_letters(report, dossier):
    faults, checked, withheld = [], 0, {}
    named = {str(digest): True for entry in dossier.entries for digest in named_by(entry)}
    for digest in named:
        name = "letters/%s.eml" % digest
        if not is_digest(digest):
            faults.append("an entry names a letter by something that is no digest")
        elif is_there(name):
            if sha256(read(name)) == digest:
                checked += 1
            else:
                faults.append("the letter %s was changed" % digest)
        elif digest not in dossier.letters:
            faults.append("the letter %s is missing" % digest)
        else:
            why = why_withheld(dossier, digest)
            if why is None:
                faults.append("the letter %s is missing" % digest)
            else:
                withheld.setdefault(why, []).append(digest)
    for digest in dossier.letters:
        if digest not in named:
            faults.append("the letter %s is listed, but no entry names it" % digest)
    good = "%s checked" % count(checked, "letter")
    if withheld:
        good += ", %d withheld" % sum(map(len, withheld.values()))
    report.step("Letters received", faults, good + ".")
    for why, digests in sorted(withheld.items()):
        report.withhold("%s, %s" % (count(len(digests), "letter received", "letters received"), why))


def why_withheld(dossier, digest):
    """The reason why a letter's bytes are not here, or None if they should be."""
    record = dossier.letters[digest]
    if record.get("withheld_until"):
        return "until %s" % " and ".join("%s ends" % name for name in record["withheld_until"])
    return "because this is the public form" if dossier.form == "public" else None


def check_parts(report, dossier):
    faults, checked, unpinned, black = [], 0, 0, 0
    letters = [letter_of(entry) for entry in dossier.entries]
    pinned = {letter.get("letter"): letter["part"] for letter in letters if "part" in letter}
    for digest, record in dossier.letters.items():
        name = "parts/%s.txt" % digest
        if not is_digest(digest) or not is_there(name):
            continue
        if record.get("blacked_out"):
            black += 1
        elif digest not in pinned:
            unpinned += 1
        elif sha256(read(name)) == pinned[digest]:
            checked += 1
        else:
            faults.append("the part of the letter %s was changed" % digest)
    if checked + unpinned + black == 0 and not faults:
        return
    report.step("Parts of letters", faults, "%s checked." % count(checked, "part"))
    if unpinned:
        report.withhold("%s, which only the whole letter would prove" % count(unpinned, "text of a letter", "texts of letters"))
    if black:
        report.withhold("%s, in which something is blacked out" % count(black, "text of a letter", "texts of letters"))


def check_key(report, dossier):
    """The secret was drawn at the opening, and all salts come from it."""
    if not is_there("key.txt"):
        if dossier.over:
            report.step("Secret", ["the file key.txt is missing, although the match is over"], "")
        else:
            report.withhold("the secret of the match, and with it the origin of salts and dice, until the match ends")
        return
    faults = []
    try:
        keys = [bytes.fromhex(line) for line in lines_of("key.txt")]
    except ValueError:
        raise NoDossier("key.txt cannot be read")
    first = dossier.entries[0].get("body", {}).get("key") if dossier.entries else None
    pins = [first] + [entry["body"]["key"] for entry in dossier.of_kind("CorrectionMade") if entry["body"].get("key")]
    if [sha256(key) for key in keys] != pins:
        faults.append("key.txt does not hold the secret that the ledger pins")
        report.step("Secret", faults, "")
        return
    place = 0
    for entry in dossier.entries:
        number = entry.get("seq")
        if not isinstance(number, int) or not 0 <= number < 2**63:
            continue
        if sha256(keys[place] + number.to_bytes(8, "big"))[:32] != entry.get("salt"):
            faults.append("entry %d: its salt does not come from the secret" % number)
        if entry.get("kind") == "CorrectionMade" and entry["body"].get("key"):
            place += 1
    report.step("Secret", faults, "it was fixed when the match was opened, and all salts come from it.")


def check_lot(report, dossier):
    """The secret, and seats that were drawn, come from the key of the offer and the letter that took it up."""
    lot = dossier.entries[0].get("body", {}).get("lot") if dossier.entries else None
    if lot is None:
        return
    if not is_there("lot.txt"):
        if dossier.over:
            report.step("Lot", ["the file lot.txt is missing, although the match is over"], "")
        else:
            report.withhold("the key from which the secret of the match comes, until the match ends")
        return
    try:
        key = bytes.fromhex("".join(lines_of("lot.txt")))
        letter = bytes.fromhex(below(dossier.entries[0], "cause", "program", "act", "of").get("letter") or "")
        secret = bytes.fromhex(lines_of("key.txt")[0])
    except ValueError:
        raise NoDossier("lot.txt cannot be read")
    faults = []
    if sha256(key) != lot["key"]:
        faults.append("lot.txt does not hold the key that the ledger pins")
    elif sha256(key + letter) != secret.hex():
        faults.append("the secret of the match does not come from that key and the letter that opened the match")
    elif lot["seat"] and lot["seat"] != ("second" if secret[-1] & 1 else "first"):
        faults.append("the seats are not those that were drawn")
    good = "the secret comes from the key of the offer and the letter that took it up. " \
           "The offer told the SHA-256 of the key: %s." % lot["key"]
    report.step("Lot", faults, good)


def check_seals(report, dossier):
    faults, sealed = [], dossier.of_kind("OrdersSealed", "ConditionsSealed")
    for entry in sealed:
        body = entry["body"]
        lines = body.get("orders") or body.get("conditions") or []
        text = "".join(line + "\n" for line in [entry.get("salt", "")] + lines)
        if sha256(text.encode("utf-8")) != body.get("sealed"):
            faults.append("entry %s: these are not the orders that were sealed" % entry.get("seq"))
    good = "%s agree with the digests that the receipts show." % count(len(sealed), "sealed filing")
    report.step("Sealed orders", faults, good)


def check_orders(report, dossier):
    """Each phase was adjudicated on the last orders that each seat had sealed for it."""
    faults, compared, others, filed = [], 0, 0, {}
    for entry in dossier.entries:
        kind, body = entry.get("kind"), entry.get("body") or {}
        if kind == "OrdersSealed":
            filed[body.get("seat")] = body
        elif kind in ("OrdersWithdrawn", "PlayerReplaced"):
            filed.pop(body.get("seat"), None)
        elif kind == "CorrectionMade":
            filed = {}
        elif kind == "TurnAdjudicated":
            for seat, orders in sorted((body.get("filings") or {}).items()):
                if orders is None:
                    continue
                own = filed.get(seat)
                if own is None or (own.get("turn"), own.get("phase")) != (body.get("turn"), body.get("phase")):
                    others += 1
                elif own.get("orders") == orders:
                    compared += 1
                else:
                    place = (entry.get("seq"), seat)
                    faults.append("entry %s: the %s side's orders are not those that it sealed last" % place)
                filed.pop(seat, None)
    good = "%s adjudicated as they were sealed" % count(compared, "filing was", "filings were")
    if others:
        good += "; %s made by the referee (a missed turn, the house, or the GM)" % count(others, "was", "were")
    report.step("Adjudications", faults, good + ".")


def check_states(report, dossier):
    faults, adjudications, states = [], dossier.of_kind("TurnAdjudicated"), lines_of("states.jsonl")
    if len(states) != len(adjudications):
        faults.append("states.jsonl has another number of lines than there were adjudications")
    for number, (entry, state) in enumerate(zip(adjudications, states), 1):
        if sha256(state.encode("utf-8")) != entry["body"].get("state"):
            faults.append("the position after adjudication %d was changed" % number)
    faults += differing_positions(states)
    good = "%s agree with the ledger. Whether the rules lead from one to the next, a program that knows them can " \
           "tell from record.toml; positions.jsonl has the positions in the form of the rules." % \
           count(len(states), "position")
    report.step("Positions", faults, good)


def differing_positions(states):
    """The positions in the form of the rules, compared with the states as far as both have the same names."""
    faults, positions = [], values_of("positions.jsonl")
    if len(positions) != len(states):
        return ["positions.jsonl has another number of lines than states.jsonl"]
    for number, (state, position) in enumerate(zip(states, positions), 1):
        try:
            inner = parsed(state).get("state", {})
        except ValueError:
            continue
        for name in PLAIN_FIELDS:
            if name in inner and name in position and inner[name] != position[name]:
                faults.append("positions.jsonl, line %d differs from the state in '%s'" % (number, name))
    return faults


# The names that the stored state and the form of the rules have in common.
PLAIN_FIELDS = ("turn", "to_move")


# Stands for a picture that is no longer kept.
DROPPED = re.compile(rb"This picture was dropped. Its SHA-256 is ([0-9a-f]{64})\Z")


def canonical(contents):
    """The canonical form of a letter: its header fields, text, HTML, and the SHA-256 of each file, as RFC 8785."""
    form = {"header": header_fields(contents), "text": "", "files": []}
    for part in email.message_from_bytes(contents, policy=policy.compat32).walk():
        if part.is_multipart():
            continue
        payload, kind = part.get_payload(decode=True) or b"", part.get_content_type()
        key = {"text/plain": "text", "text/html": "html"}.get(kind)
        if key and part.get("Content-Disposition") is None and not form.get(key):
            form[key] = with_line_feeds(payload.decode(part.get_content_charset("utf-8"), "replace"))
            continue
        name = part.get_filename() or (part.get("Content-ID") or "").strip().strip("<>")
        if part.get_content_maintype() == "text":
            text = payload.decode(part.get_content_charset("utf-8"), "replace")
            payload = with_line_feeds(text).encode("utf-8")
        dropped = DROPPED.match(payload)
        form["files"].append({"name": name, "sha256": dropped.group(1).decode("ascii") if dropped else sha256(payload)})
    if not form.get("html"):
        form.pop("html", None)
    text = json.dumps(form, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogateescape")


def with_line_feeds(text):
    return text.replace("\r\n", "\n").rstrip("\n")


def header_fields(contents):
    fields = []
    for line in contents.split(b"\r\n\r\n", 1)[0].decode("utf-8", "surrogateescape").split("\r\n"):
        if line[:1] in (" ", "\t") and fields:
            fields[-1][1] += line
        else:
            name, _, value = line.partition(":")
            fields.append([name, value.lstrip()])
    about_body = ("content-", "mime-version")
    return [field for field in fields if not field[0].lower().startswith(about_body)]


LEDGER_LINE = re.compile(
    r"(?:Ledger|Book)[\s>|]+([A-Z]+-[0-9A-Z-]+)[\s>|]+sha256[\s>|]*(?:<[^>]*>[\s>|]*)*([0-9a-f]{64})")


def check_sent(report, dossier):
    faults, checked, hidden, black = [], 0, 0, 0
    told = [digest for entry in dossier.entries for digest in entry.get("pins", [])] + list(dossier.last_pins)
    found = []
    for record in dossier.sent:
        name = record.get("file", "")
        if record.get("withheld"):
            hidden += 1
            found.append(record["withheld"])
        elif not is_there(name):
            faults.append("the referee's letter %s is missing" % name)
            found.append(None)
        elif record.get("blacked_out"):
            black += 1
            found.append(record["blacked_out"])
        else:
            checked += 1
            # The ledger pins what a letter says, regardless of what was added in transit.
            found.append(sha256(canonical(read(name))))
    if len(found) != len(told):
        faults.append("there are %d letters of the referee, but the ledger lists %d" % (len(found), len(told)))
    for record, digest, listed in zip(dossier.sent, found, told):
        if digest is not None and digest != listed:
            faults.append("the referee's letter %s is not the one that the ledger lists" % record.get("file"))
    for record in dossier.sent:
        if not record.get("withheld") and is_there(record.get("file", "")):
            name = record["file"]
            faults += wrong_lines(dossier, name, read(name))
    good = "%s checked" % count(checked, "letter")
    if hidden or black:
        good += ", %d withheld" % (hidden + black)
    report.step("Letters of the referee", faults, good + ".")
    if hidden:
        report.withhold("%s of the referee that answer a letter which is withheld" % count(hidden, "letter"))
    if black:
        what = count(black, "letter")
        report.withhold("%s of the referee, of which the public form holds the text alone, partly blacked out" % what)


def text_of(name, contents):
    """The text of a mail, or of a text file."""
    if name.endswith(".txt"):
        return contents.decode("utf-8", "replace")
    mail = email.message_from_bytes(contents, policy=policy.default)
    texts = []
    for part in mail.walk():
        if part.get_content_maintype() == "text":
            try:
                texts.append(part.get_content())
            except (LookupError, ValueError):
                texts.append(part.get_payload(decode=True).decode("utf-8", "replace"))
    return "\n".join(texts)


def ledger_lines(dossier, name, contents):
    """The number of the entry, or None, for each ledger line of this match in a letter."""
    places = {digest: number for number, digest in enumerate(dossier.hashes, 1)}
    return [
        places.get(digest) for match, digest in LEDGER_LINE.findall(text_of(name, contents)) if match == dossier.match
    ]


def wrong_lines(dossier, name, contents):
    if None in ledger_lines(dossier, name, contents):
        return ["the ledger line in %s is not on the chain" % name]
    return []


def check_own(report, dossier, names):
    """The letters in a player's own mailbox."""
    for name in names:
        found = ledger_lines(dossier, name, contents_of(name, name))
        if not found:
            report.step(name, ["it has no ledger line of %s" % dossier.match], "")
        elif None in found:
            fault = "its ledger line is not on this chain: the chain was rewritten, or the letter was"
            report.step(name, [fault], "")
        else:
            good = "entries 1 to %d are what they were when this letter was sent." % max(found)
            report.step(name, [], good)


class Book:
    """The book of an event."""

    def __init__(self, name):
        try:
            text = contents_of(name, name).decode("utf-8")
            self.texts = [line for line in text.split("\n") if line]
            self.entries = [parsed(line) for line in self.texts]
        except ValueError:
            raise NoDossier("%s cannot be read as a book" % name)
        self.hashes = [sha256(text.encode("utf-8")) for text in self.texts]
        # The name under which the lines of letters are looked for, as for a match.
        self.match = below(self.entries[0] if self.entries else {}, "event") or "an event"


def is_book(name):
    """Whether a file that was named is a book: one JSON object on each line."""
    return os.path.isfile(name) and contents_of(name, name)[:1] == b"{"


def check_book_chain(report, book):
    faults, previous, at = [], ZERO, ""
    for number, (entry, digest) in enumerate(zip(book.entries, book.hashes), 1):
        if entry.get("seq") != number:
            faults.append("entry %d bears another number" % number)
        if entry.get("event") != book.match:
            faults.append("entry %d is of another event" % number)
        if entry.get("prev") != previous:
            faults.append("entry %d does not follow the one before it: an entry was changed, removed or added" % number)
        if str(entry.get("at")) < at:
            faults.append("entry %d is dated before the one that it follows" % number)
        previous, at = digest, str(entry.get("at"))
    if not book.entries or book.entries[0].get("kind") != "EventAnnounced":
        faults.append("the book does not begin with the announcement of the event")
    good = "%s form one chain. The last has the hash %s." % (count(len(book.entries), "entry", "entries"), previous)
    report.step("Book", faults, good)


# What a result is worth to the first and to the second player, in halves of a point. Others count for nobody.
HALVES = {"first": (2, 0), "second": (0, 2), "draw": (1, 1), "both lost": (0, 0)}


def check_tables(report, book):
    """Each result belongs to a pair that was drawn and has none yet, and the tables follow from the results."""
    faults, tables, opened, results, sections = [], 0, {}, {}, []
    for entry in book.entries:
        kind, body, number = entry.get("kind"), entry.get("body") or {}, entry.get("seq")
        if kind == "SectionsDrawn":
            opened, results, sections = {}, {}, [list(section) for section in body["sections"]]
        elif kind == "Replaced":
            swap = {body["from"]: body["to"]}
            sections = [[swap.get(player, player) for player in section] for section in sections]
            opened, results = renamed(opened, swap), renamed(results, swap)
        elif kind == "MatchOpened":
            pair = (body["first"], body["second"])
            if pair in opened or not any(set(pair) <= set(section) for section in sections):
                faults.append("entry %s opens a match of a pair that was not drawn, or has one" % number)
            opened[pair] = body["match"]
        elif kind == "ResultEntered":
            pair, result = (body["first"], body["second"]), body["result"]
            if pair in results or opened.get(pair) != result.get("match"):
                faults.append("entry %s enters a result of a pair that has one, or of another match" % number)
            results[pair] = result
        elif kind == "ResultVoided":
            void = [pair for pair, result in results.items()
                    if (result.get("match"), result.get("end")) == (body["match"], body["end"])]
            if not void:
                faults.append("entry %s voids a result that was not entered" % number)
            for pair in void:
                del results[pair]
        elif kind == "StandingsClosed":
            tables += len(body["places"])
            rows = [row for table in body["places"] for row in table]
            if sorted(row["player"] for row in rows) != sorted(player for section in sections for player in section):
                faults.append("entry %s closes tables of other players than those who were drawn" % number)
            for row in rows:
                if (row["points"], row["wins"]) != points_of(row["player"], results):
                    faults.append("entry %s: the points of player %s do not follow from the results" % (number, row["player"]))
    good = "%s from the results. Whether these are those of the matches, their dossiers tell." % \
        count(tables, "table follows", "tables follow")
    report.step("Tables", faults, good)


def renamed(pairs, swap):
    return {(swap.get(first, first), swap.get(second, second)): value for (first, second), value in pairs.items()}


def points_of(player, results):
    """The half points and the wins of a player."""
    own = [HALVES[result["outcome"]][pair.index(player)]
           for pair, result in results.items() if player in pair and result["outcome"] in HALVES]
    return sum(own), own.count(2)


def check_book(name, letters):
    book, report = Book(name), Report()
    tell("Book of %s: %s." % (book.match, below(book.entries[0] if book.entries else {}, "body", "plan", "name") or "?"))
    print()
    check_book_chain(report, book)
    check_tables(report, book)
    check_own(report, book, letters)
    print()
    if report.wrong:
        say("Result", "%s WRONG with this book; see above. Do not rely on it." % count(report.wrong, "thing is", "things are"))
    else:
        say("Result", "nothing is wrong.")
    return 1 if report.wrong else 0


def conclude(report, dossier):
    print()
    if report.wrong:
        say("Result", "%s WRONG with this dossier; see above. Do not rely on it." % count(report.wrong, "thing is", "things are"))
    elif report.withheld:
        say("Result", "nothing is wrong. What is withheld was not checked.")
    else:
        say("Result", "nothing is wrong.")
    for what in report.withheld:
        say("  Withheld", what + ".")
    if not report.wrong and any(name.endswith(".eml") for name in listed_in("letters")):
        say("  Hint", "whether the players' own mail servers signed the letters, a DKIM checker can tell, such as "
            "'dkimverify < letters/....eml' of the Python package dkimpy, as long as their domains keep the keys.")
    return 1 if report.wrong else 0


def listed_in(folder):
    return os.listdir(folder) if os.path.isdir(folder) else []


def main(own_letters):
    if own_letters and is_book(own_letters[0]):
        return check_book(own_letters[0], own_letters[1:])
    folder = os.path.dirname(os.path.abspath(__file__))
    if own_letters and os.path.isdir(own_letters[0]):
        folder = own_letters.pop(0)
    own_letters = [os.path.abspath(name) for name in own_letters]
    os.chdir(folder)
    dossier, report = Dossier(), Report()
    forms = {"public": "the public form", "arbiter": "the form for an arbiter"}
    tell("Dossier of %s, %s, by %s: %s." % (
        dossier.match, dossier.names(), dossier.about.get("club", "?"), forms.get(dossier.form, "an unknown form")))
    if not dossier.over:
        print("The match is not over.")
    print()
    check_files(report)
    check_chain(report, dossier)
    check_letters(report, dossier)
    check_parts(report, dossier)
    check_key(report, dossier)
    check_lot(report, dossier)
    check_seals(report, dossier)
    check_orders(report, dossier)
    check_states(report, dossier)
    check_sent(report, dossier)
    check_own(report, dossier, own_letters)
    return conclude(report, dossier)


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    try:
        sys.exit(main(sys.argv[1:]))
    except NoDossier as fault:
        tell("This is not a dossier that can be checked: %s." % fault)
        sys.exit(2)
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as fault:
        tell("This is not a dossier that can be checked: a value in it is missing or of another kind (%s)." % fault)
        sys.exit(2)
