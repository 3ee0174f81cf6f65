#!/usr/bin/env python3
"""A simulated month of a club on PostgreSQL, with faults: nothing may be lost, doubled, or kept from the GM.

    FOGPOST=target/release/fogpost tests/month.py SEED DAYS

It starts a PostgreSQL server with a streaming standby behind a small proxy, and a club with Maildirs, in a folder of
its own. About 60 matches of the four games are played by letter, against people and the house: matches that the GM
opens, challenges, open seats, leagues. The players write orders with and without other words, faulty ones, copies,
questions, messages, draws, resignations. Time is simulated: a small library, which `cc` compiles, is preloaded into
fogpost and adds to its clock what this script wants. The faults:

    kill      a daemon is killed (several times)
    steal     the session that holds the daemons' locks is ended
    row lock  another session holds the row of a match for 12 minutes
    table     another session holds the table of letters for 12 minutes
    failover  the primary is killed, its standby is read-only for a while and then promoted
    restore   a pg_dump of 40 % of the days is put back after 55 % of them; under a running daemon if SEED is odd

If SEED is a multiple of three, two daemons share the work.

At the end it checks from outside, that is by the mailboxes, the database and the commands:

- every letter to the referee has one row, and is answered once; twice if it was decided again after the restore
- no turn is adjudicated twice, no letter arrives that no dispatch knows, none arrives twice, but for a few at each kill
- `audit verify --all` and `--ratings` are sound
- status and digest name each fault while it lasts, and the GM gets one letter about each

It needs Debian's PostgreSQL (PGBIN, or /usr/lib/postgresql/15/bin) and a C compiler. A summary is printed; the exit
status is 1 if a promise fails. The folder is kept.
"""

import collections
import datetime
import email.policy
import email.utils
import glob
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from month_place import AS_POSTGRES, PGBIN, Clock, Proxy, Server, Session
from month_reckoning import reckon

PROGRAM = os.path.realpath(os.environ.get("FOGPOST", "target/release/fogpost"))
REFEREE = "referee@club.example"
# A longer gap between two checks of the clock would be an outage.
STEP = 14 * 60

CONFIG = """[club]
name = "The Month Club"
address = "referee@club.example"
plus_addresses = true
[club.gm]
name = "Greta"
address = "gm@club.example"
[database]
url = "postgres://fogpost@127.0.0.1:%d/club"
[inbox.maildir]
path = "mail/referee"
[outbox.maildir]
path = "mail/out"
[match]
days = 2
setup_days = 3
forfeit = "lose"
"""

Letter = collections.namedtuple("Letter", "to id subject reply_to answers text day")
# How lines that are orders begin, by the first letters of a match's name.
ORDERS = {
    "QD": r"(MARBLE|STAR|SWAP)\b",
    "QM": r"[A-H][1-8] [A-H][1-8]$",
    "WP": r"(SETUP|SUBS|U\d|[A-Z]?\d? ?[A-P]\d+ [A-P]\d+$)",
    "QZ": r"(SETUP|SHIP \d+ \w\d TO|CAPTURE|BUILD|HOLD|LOSE)",
}
GAMES = ["quad", "quantum", "pacific", "quadrant-z"]
WORDS = ["Good luck!", "Sorry that this took me so long, work was hard.", "Nice move, by the way.", "See you soon."]
ASIDE = ["STATUS", "REPORT", "HISTORY", "MATCHES", "RATINGS quad", "GAMES", "PROFILE", "SETTINGS zone=Europe/Paris",
         "DRAW", "HELP orders", "EXTEND 2 days", "TELL Hello over there!\nEND", "When does this turn end?", "TEST",
         "SETTINGS digest=daily", "TELL GM I like this club.\nEND", "ABSENT 2027-06-01 TO 2027-06-05", "EVENTS"]
LEAGUE = 'id = "%s"\nname = "%s"\ngame = "quad"\nformat = "league"\nsection_size = 4\ngames = 1\ndays = 2\nopens = %s\n'
WAITING = """SELECT (SELECT value FROM memo WHERE key = 'heartbeat'),
    (SELECT count(*) FROM letter WHERE status = 'waiting' AND coalesce(wait_until, 0) <= {0}),
    (SELECT count(*) FROM dispatch WHERE due_at <= {0}),
    (SELECT count(*) FROM memo WHERE key = 'restored' AND value NOT LIKE 'done%'),
    (SELECT count(*) FROM letter), (SELECT count(*) FROM dispatch)"""
# Seconds without progress after which something stands still.
PATIENCE = 180


class Month:
    GM = "gm@club.example"

    def __init__(self, seed, days):
        self.seed, self.days, self.random = seed, days, random.Random(seed)
        self.folder = tempfile.mkdtemp(prefix=f"month-{seed}-")
        os.chmod(self.folder, 0o755)
        self.clock = Clock(self.folder)
        self.people = [f"player{n:02}" for n in range(1, 25)]
        self.hours = {person: self.random.sample(range(24), 2) for person in self.people}
        self.unread = {person: [] for person in self.people}
        self.written, self.mail, self.broken, self.restored = {}, [], [], (1e9, 1e9)
        self.told = []  # the subject of each letter that the GM must get, from when to when
        self.kills, self.copies, self.daemons = 0, 0, []

    def breaks(self, what):
        print(f"day {self.clock.day():.2f}: BROKEN: {what}", flush=True)
        self.broken.append(what)

    def fogpost(self, *arguments, must=False):
        """Returns the exit status of a command and what it says."""
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=self.clock.environment, text=True, check=must,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def start(self):
        """Starts the daemons that do not run."""
        self.daemons = [daemon for daemon in self.daemons if daemon.poll() is None]
        while len(self.daemons) < (2 if self.seed % 3 == 0 else 1):
            with open(f"{self.folder}/log", "ab") as log:
                self.daemons.append(subprocess.Popen([PROGRAM, "run"], cwd=self.folder, env=self.clock.environment,
                                                     stderr=log))

    def stop(self):
        for daemon in self.daemons:
            daemon.terminate()
            daemon.wait()

    def begin(self):
        """Starts the servers and the daemon, and opens the first matches."""
        folders = [f"{self.folder}/{name}" for name in ("primary", "standby")]
        for folder in folders:
            os.mkdir(folder, 0o700)
            if AS_POSTGRES:
                subprocess.run(["chown", "postgres:postgres", folder], check=True)
        self.server, self.standby = map(Server, folders)
        self.server.run("initdb", "-D", folders[0], "--no-sync", "-A", "trust", "-U", "fogpost", "--encoding=UTF8",
                        "--locale=C")
        self.server.start()
        self.server.run("createdb", *self.server.at(), "club")
        self.server.run("pg_basebackup", *self.server.at(), "-D", folders[1], "-R", "-X", "stream", "-c", "fast")
        self.standby.start()
        self.sql = Session(self.server)
        self.sql.ask("ALTER SYSTEM SET synchronous_standby_names = '*'; SELECT pg_reload_conf()")
        self.proxy = Proxy(self.server.port)
        pathlib.Path(f"{self.folder}/config.toml").write_text(CONFIG % self.proxy.port)
        os.chmod(f"{self.folder}/config.toml", 0o600)
        for part in ("new", "cur", "tmp"):
            os.makedirs(f"{self.folder}/mail/referee/{part}")
        lines = ["game,first,second"]
        for n in range(36):
            one, other = self.random.sample(self.people, 2)
            lines.append(f"{GAMES[n % 4]},{one} <{one}@people.example>,{other} <{other}@people.example>")
        pathlib.Path(f"{self.folder}/matches.csv").write_text("\n".join(lines) + "\n")
        self.start()
        self.fogpost("match", "new", "--from", "matches.csv", must=True)
        for name, day in (("EV-ONE", 0.2), ("EV-TWO", 0.48)):
            opening = time.strftime("%Y-%m-%d", time.gmtime(self.clock.now() + day * self.days * 86400))
            pathlib.Path(f"{self.folder}/plan.toml").write_text(LEAGUE % (name, name, opening))
            self.fogpost("event", "new", "plan.toml", must=True)
        self.settle()

    # Letters

    def write(self, person, body, to=None):
        """Delivers a letter of a player to the referee; now and then twice, with another header."""
        n, address = len(self.written), f"{person}@people.example"
        now, message_id = self.clock.now(), f"<{len(self.written)}.{person}@people.example>"
        raw = (f"From: {person} <{address}>\r\nTo: {to.reply_to if to else REFEREE}\r\nMessage-ID: {message_id}\r\n"
               f"Date: {email.utils.formatdate(now)}\r\nSubject: {'Re: ' + to.subject if to else 'hello'}\r\n")
        if to:
            raw += f"In-Reply-To: {to.id}\r\nReferences: {to.id}\r\n"
        raw += f"Content-Type: text/plain; charset=utf-8\r\n\r\n{body}\n".replace("\n", "\r\n").replace("\r\r", "\r")
        if to and self.random.random() < 0.4:
            quoted = "".join(f"> {line}\r\n" for line in to.text.splitlines()[:60])
            raw += f"\r\nOn Wed, 25 Nov 2026 at 15:00, The Month Club <{REFEREE}> wrote:\r\n{quoted}"
        copies = 2 if self.random.random() < 0.04 else 1
        self.written[message_id] = (address, self.clock.day(), body, copies)
        self.copies += copies - 1
        for copy in range(copies):
            draft = pathlib.Path(f"{self.folder}/mail/referee/tmp/{int(now)}.M{n % 100000 * 10 + copy:06}P1Q{n}.month")
            draft.write_bytes(b"X-Copy: yes\r\n" * copy + raw.encode())
            os.utime(draft, (now, now))
            draft.rename(f"{self.folder}/mail/referee/new/{draft.name}")

    def collect(self):
        """Reads what fogpost has sent."""
        for path in sorted(glob.glob(f"{self.folder}/mail/out/*/new/*"), key=os.path.getmtime):
            with open(path, "rb") as file:
                mail = email.message_from_binary_file(file, policy=email.policy.default)
            text = mail.get_body(("plain",)).get_content().replace("\r\n", "\n")
            to = email.utils.parseaddr(str(mail["to"]))[1]
            letter = Letter(to, mail["message-id"].strip(), str(mail["subject"]),
                            email.utils.parseaddr(str(mail["reply-to"]))[1], (mail["in-reply-to"] or "").strip(), text,
                            self.clock.day())
            os.rename(path, path.replace("/new/", "/cur/") + ":2,S")
            self.mail.append(letter)
            self.unread.get(to.split("@")[0], []).append(letter)

    def answer(self, person, letter):
        """Returns what a player answers to a letter, or None."""
        lines = [line.strip() for line in re.findall(r"^ *\| (.+)$", letter.text, re.M)]
        chance = self.random.random()
        for word in ("ACCEPT", "CONFIRM"):
            found = [line for line in lines if re.match(rf"{word} [A-Z0-9]{{4,}}$", line)]
            if found:
                return found[0] if chance < 0.85 else found[0].replace("ACCEPT", "DECLINE")
        match = re.search(r"\[([A-Z]{2})-\w{4}\]", letter.subject)
        orders = [line for line in lines if match and re.match(ORDERS.get(match[1], "$"), line)]
        if not orders or "waits for your orders" not in letter.text and "not filed" not in letter.subject:
            return self.random.choice(ASIDE) if match and chance < 0.03 else None
        if chance < 0.015:
            return "RESIGN CONFIRM"
        if chance < 0.05:
            return self.random.choice(["MARBLE Z99", "A1 A9", "SHIP 99 A1 TO Y4", "I would like to move, but how?"])
        body = "\n".join(self.orders_of(match[1], orders))
        if chance < 0.2:
            body = self.random.choice(WORDS) + "\n\n" + body
        elif chance < 0.26:
            body += "\nTELL " + self.random.choice(WORDS) + "\nEND"
        elif chance < 0.29:
            body += "\nWAIT"
        return body

    def orders_of(self, game, orders):
        setups = [line for line in orders if line.startswith("SETUP")]
        if setups:
            return [self.random.choice(setups)]
        if game == "QD" and "SWAP" not in orders and self.random.random() < 0.8:
            return [f"MARBLE {self.random.choice('ABCDEFGHIJK')}{self.random.randint(1, 11)}"]
        if game == "QZ":
            ships = [line for line in orders if re.match("SHIP|CAPTURE|BUILD", line) and self.random.random() < 0.5]
            return ships or ["HOLD"]
        return [self.random.choice([line for line in orders if not line.startswith("STAR")])]

    def live(self):
        """An hour of the players: they read their mail, and write."""
        self.collect()
        hour = int(self.clock.now() / 3600) % 24
        for person in self.people:
            if hour not in self.hours[person]:
                continue
            letters, self.unread[person] = self.unread[person], []
            for letter in letters:
                if self.random.random() < 0.12:
                    self.unread[person].append(letter)
                elif body := self.answer(person, letter):
                    self.write(person, body, letter)
            known = [letter for letter in letters if "[" in letter.subject]
            if known and self.random.random() < 0.06:
                self.offer(person, known[-1])

    def offer(self, person, letter):
        """Somebody looks for a further match."""
        game, chance = self.random.choice(GAMES), self.random.random()
        seats = self.sql.ask("SELECT code FROM invitation WHERE stage = 'open' AND invited IS NULL")
        if chance < 0.3:
            body = f"CHALLENGE house {game}"
        elif chance < 0.6:
            body = f"CHALLENGE {self.random.choice(self.people)} {game}"
        else:
            body = f"JOIN {seats[0][0]}" if seats else f"OPEN {game}"
        self.write(person, body, letter)

    # Time

    def settle(self):
        """Waits until fogpost has done everything that is due."""
        at, last, began = self.clock.now(), None, 0
        while True:
            try:
                found = self.sql.ask(WAITING.format(int(self.clock.now() * 1000)))[0]
            except ConnectionError:
                found = ["", "?"]
            beat, unread = time_of(found[0]), len(os.listdir(f"{self.folder}/mail/referee/new"))
            if found[1:4] == ["0", "0", "0"] and beat >= at and not unread:
                return
            if any(daemon.poll() is not None for daemon in self.daemons):
                self.breaks("a daemon ended by itself")
                self.start()
            if last != (last := (found[1:], unread)):
                began = time.time()
            if time.time() - began > PATIENCE:
                return self.breaks(f"no progress for {PATIENCE} s: {found}, last check {at - beat:.0f} s ago")
            self.clock.move(0, 1.3)

    def run(self):
        faults = [(0.1, self.steal), (0.24, self.row_lock), (0.31, self.failover), (0.4, self.dump),
                  (0.55, self.restore), (0.7, self.table_lock), (0.8, self.row_lock)]
        faults += [(self.random.uniform(0.02, 0.95), self.kill_now) for _ in range(6)]
        faults += [(0.03, self.enter, "EV-ONE"), (0.35, self.enter, "EV-TWO")]
        faults.sort(key=lambda fault: fault[0])
        self.begin()
        hour = 0
        while self.clock.day() < self.days:
            self.clock.move(STEP)
            self.settle()
            if int(self.clock.now() / 3600) != hour:
                hour = int(self.clock.now() / 3600)
                self.live()
                self.settle()
            if faults and self.clock.day() >= faults[0][0] * self.days:
                _, fault, *arguments = faults.pop(0)
                count = f"{len(self.written)} letters in, {len(self.mail)} out"
                print(f"day {self.clock.day():.2f}: {fault.__name__}, {count}", flush=True)
                fault(*arguments)
        self.settle()
        self.collect()

    def enter(self, event):
        """Five players enter an event."""
        self.write_again(5, f"ENTER {event}")

    def write_again(self, count, body):
        """Some players write this in answer to their last letters about matches."""
        for person in self.random.sample(self.people, count):
            last = [letter for letter in self.mail if letter.to.startswith(person) and "[" in letter.subject]
            if last:
                self.write(person, body, last[-1])

    # Faults

    def kill_now(self):
        self.write_again(6, "STATUS")
        self.clock.move(0, 1.3)
        time.sleep(self.random.uniform(0, 0.25))
        daemon = self.random.choice(self.daemons)
        daemon.kill()
        daemon.wait()
        self.kills += 1
        self.start()
        self.settle()

    def steal(self):
        ended = self.sql.ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' GROUP BY pid")
        if not ended:
            self.breaks("no session holds locks")
        self.settle()

    def pass_minutes(self, minutes):
        for _ in range(2 * minutes):
            self.clock.move(30)
            time.sleep(0.9)

    def expect(self, what, words, arguments=("status",)):
        """A command names a fault. Between two attempts nothing waits for a lock, so this looks again and again."""
        for _ in range(30):
            status, out = self.fogpost(*arguments)
            if (arguments[0] != "status" or status == 1) and re.search(words, out):
                return
            self.clock.move(0, 1.3)
            time.sleep(0.4)
        self.breaks(f"{what}: `{' '.join(arguments)}` ends with {status}, without {words!r}:\n{out}")

    def must_tell(self, subject, began):
        """The fault that began then is over, and the GM must have one letter about it."""
        self.settle()
        self.clock.move(60)
        self.settle()
        self.collect()
        self.told.append((subject, began, self.clock.day()))

    def row_lock(self):
        began = self.clock.day()
        running = {row[0] for row in self.sql.ask("SELECT id FROM match WHERE stage = 'running'")}
        of = {letter: re.search(r"\[(\S+)\]", letter.subject) for letter in self.mail if letter.to != self.GM}
        last = self.random.choice([letter for letter, match in of.items() if match and match[1] in running])
        match = of[last][1]
        other = Session(self.server)
        other.ask(f"BEGIN; SELECT 1 FROM match WHERE id = '{match}' FOR UPDATE")
        self.write(last.to.split("@")[0], "STATUS", last)
        self.pass_minutes(12)
        self.expect("row lock", f"(?s){match}.*pg_terminate_backend|pg_terminate_backend.*{match}")
        self.expect("row lock", f"(?s)Kept waiting by the database.*{match}", ("club", "digest"))
        other.end()
        self.must_tell("The database keeps a part", began)

    def table_lock(self):
        began = self.clock.day()
        other = Session(self.server)
        other.ask("BEGIN; LOCK TABLE letter")
        self.live()
        self.pass_minutes(12)
        self.expect("table lock", "holds locks on .*letter")
        other.end()
        self.must_tell("The database (keeps a part|did not answer)", began)

    def failover(self):
        began = self.clock.day()
        self.sql.end()
        self.server.process.kill()
        self.server.process.wait()
        self.proxy.switch(self.standby.port)
        self.pass_minutes(9)
        self.expect("failover", "read-only .*standby")
        self.standby.run("pg_ctl", "promote", "-D", self.standby.folder)
        self.server, self.standby = self.standby, None
        self.sql = Session(self.server)
        self.must_tell("The database did not answer", began)

    def dump(self):
        with open(f"{self.folder}/dump", "wb") as file:
            subprocess.run([f"{PGBIN}/pg_dump", *self.server.at(), "-Fc", "club"], stdout=file, check=True)
        self.dumped = self.clock.day()

    def restore(self):
        began = self.clock.day()
        if self.seed % 2 == 0:
            self.stop()
        self.collect()
        self.sql.end()
        admin = Session(self.server, "postgres")
        for sql in ("DROP DATABASE club WITH (FORCE)", "CREATE DATABASE club TEMPLATE template0"):
            admin.ask(sql)
        admin.end()
        with open(f"{self.folder}/dump", "rb") as file:
            subprocess.run([f"{PGBIN}/pg_restore", *self.server.at(), "-d", "club"], stdin=file, check=True)
        if self.seed % 2 == 0:
            self.start()
        self.clock.move(0)
        self.expect("restore", "older than its mailbox|backup was restored")
        self.must_tell("A backup was restored", began)
        self.restored = (self.dumped, self.clock.day())

    def end(self):
        self.sql.end()
        self.stop()
        for server in filter(None, (self.server, self.standby)):
            server.process.send_signal(signal.SIGINT)
            server.process.wait()


def time_of(text):
    """Returns the Unix time of an instant in RFC 3339."""
    return datetime.datetime.fromisoformat(text).timestamp() if text else 0


def main():
    month = Month(int(sys.argv[1]), float(sys.argv[2]))
    try:
        month.run()
        reckon(month)
    finally:
        month.end()
    sys.exit(1 if month.broken else 0)


if __name__ == "__main__":
    main()
