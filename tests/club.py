#!/usr/bin/env python3
"""An independent computation of a club's events and ratings, written from the rules of the club alone.

    club.py book FILE       checks the draws and standings of an exported book (an entry a line)
    club.py ratings FILE    rates results (JSON, one a line) and compares each with the figures beside it
    club.py loss FILE       the log loss of these ratings, compared with the best that could be known before each result

The worked example of Glickman's paper is checked before anything else.

Exit status: 0 if all agrees; 1 with a line for each difference.
"""

import json
import math
import sys
from datetime import datetime
from fractions import Fraction


def sizes(entrants, size):
    sections = entrants // 2 if size == 2 else min(-(-entrants // size), entrants // 3)
    sections = max(sections, 1)
    return [entrants // sections + (1 if no < entrants % sections else 0) for no in range(sections)]


def pairs_of(section, games):
    """The seats of all matches of a section, as (first, second)."""
    found = []
    for i, upper in enumerate(section, 1):
        for j, lower in enumerate(section, 1):
            if i < j and games == 2:
                found += [(upper, lower), (lower, upper)]
            elif i < j:
                found.append((upper, lower) if (i + j) % 2 == 1 else (lower, upper))
    return found


SCORES = {"first": (1, 0), "second": (0, 1), "draw": (Fraction(1, 2),) * 2, "both lost": (0, 0)}


def table(section, results):
    """Places: points, the direct encounter once among all level, Sonneborn-Berger, wins; otherwise shared."""
    scores = {player: [] for player in section}
    for (first, second), outcome in results.items():
        if first in scores and outcome in SCORES:
            one, other = SCORES[outcome]
            scores[first].append((second, Fraction(one)))
            scores[second].append((first, Fraction(other)))
    points = {player: sum((s for _, s in own), Fraction(0)) for player, own in scores.items()}
    keys = {}
    for player, own in scores.items():
        direct = sum((s for foe, s in own if points[foe] == points[player]), Fraction(0))
        berger = sum((s * points[foe] for foe, s in own), Fraction(0))
        keys[player] = (points[player], direct, berger, sum(1 for _, s in own if s == 1))
    return {player: (1 + sum(1 for key in keys.values() if key > keys[player]), *keys[player]) for player in section}


def ranked(section, places, own, figures, order):
    """Where one must go on, rise or fall: less own time (to the hour), then the lower figure, then the lower place."""
    return sorted(section, key=lambda p: (places[p][0], own.get(p, 0) // 3600, figures.get(p, 0), -order.index(p)))


def deal(order, counts):
    sections, left, round_no = [[] for _ in counts], list(order), 0
    while left:
        places = range(len(counts)) if round_no % 2 == 0 else reversed(range(len(counts)))
        for place in places:
            if left and len(sections[place]) < counts[place]:
                sections[place].append(left.pop(0))
        round_no += 1
    return sections


class Book:
    def __init__(self, path):
        self.faults = []
        self.entered, self.gone, self.season, self.closed = [], set(), None, None
        self.heirs = []
        with open(path, encoding="utf-8") as file:
            self.entries = [json.loads(line) for line in file]
        self.plan = self.entries[0]["body"]["plan"]
        for entry in self.entries[1:]:
            getattr(self, entry["kind"], lambda body: None)(entry["body"])

    def fault(self, what):
        self.faults.append(f"{self.plan['id']}: {what}")

    def Entered(self, body):
        self.entered.append(body["player"])
        self.gone.discard(body["player"])

    def Struck(self, body):
        self.entered.remove(body["player"])
        self.gone.add(body["player"])

    Left = Struck

    def Replaced(self, body):
        """The place of one player goes to another, with matches and points."""
        def new(player):
            return body["to"] if player == body["from"] else player
        self.entered = [new(player) for player in self.entered]
        self.gone.discard(body["to"])
        season = self.season
        if season and "is_closed" in season:
            self.heirs.append((body["from"], body["to"]))
        if season and "is_closed" not in season:
            season["list"] = [new(player) for player in season["list"]]
            season["sections"] = [[new(player) for player in section] for section in season["sections"]]
            season["figures"] = {new(player): figure for player, figure in season["figures"].items()}
            season["pairs"] = {tuple(map(new, pair)) for pair in season["pairs"]}
            for key in ("opened", "results"):
                season[key] = {tuple(map(new, pair)): value for pair, value in season[key].items()}

    def SectionsDrawn(self, body):
        figures = {player: figure for player, figure in body["figures"]}
        if not body.get("given"):
            order = self.expected_list(figures)
            if order != body["list"]:
                self.fault(f"season {body['season']}: the list is {body['list']}, expected {order}")
            sections = self.expected_sections(order)
            if sections is not None and sections != body["sections"]:
                self.fault(f"season {body['season']}: sections {body['sections']}, expected {sections}")
        pairs = [pair for section in body["sections"] for pair in pairs_of(section, self.plan["games"])]
        self.season = dict(body, figures=figures, pairs=set(pairs), opened={}, results={}, own={}, vanished=set())
        self.gone = set()
        self.heirs = []

    def pass_on(self, order):
        """The order, in which the newcomers of the time since the season stand in the places that they took over."""
        for old, new in self.heirs:
            order = [new if p == old else p for p in order if p != new]
        return order

    def expected_list(self, figures):
        def strength(player):
            planned = self.plan["order"]
            return (planned.index(player) if player in planned else 10**9, -figures[player],
                    self.entered.index(player))
        last = self.closed
        if last is None:
            return sorted(self.entered, key=strength)
        if self.plan["format"] == "cup":
            on = []
            for section in last["ranked"]:
                present = self.pass_on([p for p in section if p not in last["vanished"]])
                fit = [p for p in present if p not in self.gone]
                on += fit[:self.plan["advance"]]
            return sorted(on, key=strength)
        if self.plan["format"] == "league":
            divisions = [sorted(s, key=lambda p: p in last["vanished"]) for s in last["ranked"]]
            for above, below in zip(divisions, divisions[1:]):
                moving = min(self.plan["promote"], len(above) // 2, len(below) // 2)
                for at in range(moving):
                    up, down = len(above) - moving + at, at
                    above[up], below[down] = below[down], above[up]
            order = [p for division in divisions for p in division]
        else:
            order = ladder(last["list"], last["ranked"])
        order = [p for p in self.pass_on(order) if p in self.entered]
        return order + sorted((p for p in self.entered if p not in order), key=strength)

    def expected_sections(self, order):
        counts = sizes(len(order), self.plan["section_size"])
        if self.plan["format"] == "cup":
            return deal(order, counts)
        if self.plan["format"] == "ladder":
            return None
        cut, sections = list(order), []
        for count in counts:
            sections.append(cut[:count])
            cut = cut[count:]
        return sections

    def MatchOpened(self, body):
        pair = (body["first"], body["second"])
        if pair not in self.season["pairs"] or pair in self.season["opened"]:
            self.fault(f"season {body['season']}: {pair} was opened out of turn")
        self.season["opened"][pair] = body["match"]

    def ResultEntered(self, body):
        pair, result = (body["first"], body["second"]), body["result"]
        if pair in self.season["results"]:
            self.fault(f"season {body['season']}: a result of {pair} counts twice")
        self.season["results"][pair] = result

    def ResultVoided(self, body):
        pair = next(p for p, r in self.season["results"].items() if r.get("match") == body["match"])
        del self.season["results"][pair]

    def StandingsClosed(self, body):
        season = self.season
        if set(season["results"]) != season["pairs"]:
            self.fault(f"season {body['season']}: closed without {season['pairs'] - set(season['results'])}")
        vanished, ranks = set(), []
        for (first, second), result in season["results"].items():
            both = result["outcome"] == "both lost"
            vanished |= {p for p, seat in ((first, "first"), (second, "second"))
                         if both or result.get("vanished") == seat}
        for section, found in zip(season["sections"], body["places"]):
            inside = {pair: r["outcome"] for pair, r in season["results"].items() if pair[0] in section}
            places = table(section, inside)
            shown = {row["player"]: (row["place"], Fraction(row["points"], 2), Fraction(row["direct"], 2),
                                     Fraction(row["berger"], 4), row["wins"]) for row in found}
            if places != shown:
                self.fault(f"season {body['season']}: {shown}, expected {places}")
            own = {}
            for (first, second), result in season["results"].items():
                if first in section:
                    own[first] = own.get(first, 0) + result["own"]["first"]
                    own[second] = own.get(second, 0) + result["own"]["second"]
            ranks.append(ranked(section, places, own, season["figures"], season["list"]))
        if sorted(vanished) != body["vanished"]:
            self.fault(f"season {body['season']}: vanished are {sorted(vanished)}, not {body['vanished']}")
        season["is_closed"] = True
        self.closed = {"list": season["list"], "ranked": ranks, "vanished": vanished}
        self.entered = [p for p in self.entered if p not in vanished]


def ladder(order, ranks):
    """The winner a quarter of the way to the top, the loser a quarter to the foot."""
    keys = {}
    for place, player in enumerate(order, 1):
        section = next(s for s in ranks if player in s)
        if section[0] == player:
            keys[player] = (place - Fraction(place - 1, 4), 0)
        elif section[-1] == player:
            keys[player] = (place + Fraction(len(order) - place, 4), 2)
        else:
            keys[player] = (Fraction(place), 1)
    return sorted(order, key=lambda player: keys[player])


def glicko2(own, others, tau=0.5):
    """One rating period after Glickman, "Example of the Glicko-2 system" (2013): each of `others` is a figure, a
    deviation and the score against it. Figures on the scale of Elo."""
    rating, deviation, volatility = own
    mu, phi = (rating - 1500) / 173.7178, deviation / 173.7178
    precision = surprise = 0.0
    for foe_rating, foe_deviation, score in others:
        g = 1 / math.sqrt(1 + 3 * (foe_deviation / 173.7178) ** 2 / math.pi**2)
        expected = 1 / (1 + math.exp(-g * (mu - (foe_rating - 1500) / 173.7178)))
        precision += g * g * expected * (1 - expected)
        surprise += g * (score - expected)
    v = 1 / precision
    delta = v * surprise
    a = math.log(volatility**2)

    def f(x):
        ex = math.exp(x)
        return ex * (delta**2 - phi**2 - v - ex) / (2 * (phi**2 + v + ex) ** 2) - (x - a) / tau**2

    low = a
    if delta**2 > phi**2 + v:
        high = math.log(delta**2 - phi**2 - v)
    else:
        k = 1
        while f(a - k * tau) < 0:
            k += 1
        high = a - k * tau
    f_low, f_high = f(low), f(high)
    while abs(high - low) > 1e-9:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    volatility = math.exp(low / 2)
    phi = 1 / math.sqrt(1 / (phi**2 + volatility**2) + 1 / v)
    mu += phi**2 * surprise
    return (173.7178 * mu + 1500, min(173.7178 * phi, 350.0), volatility)


def check_worked_example():
    others = [(1400, 30, 1), (1550, 100, 0), (1700, 300, 0)]
    found = glicko2((1500, 200, 0.06), others)
    # The paper rounds along the way.
    for value, printed, apart in zip(found, (1464.06, 151.52, 0.05999), (0.02, 0.02, 0.00002)):
        assert abs(value - printed) < apart, f"Glickman's example: {found}"


def rounded(rating):
    return (round(rating[0], 2), round(rating[1], 2), round(rating[2], 6))


NEWCOMER = ((1500.0, 350.0, 0.06), 0, None)


def rated(path):
    """Rates all results in order. Yields each with the sides before it (figure with the advantage, deviation) and the
    changes (player, figures after it)."""
    known = {}
    with open(path, encoding="utf-8") as file:
        results = [json.loads(line) for line in file]
    for result in sorted(results, key=lambda r: (r["at"], r["match"])):
        at = datetime.fromisoformat(result["at"].replace("Z", "+00:00"))
        sides, counts = [], []
        for seat in ("first", "second"):
            if result[seat] is None:
                rating, count, last = (*result["house"], 0.06), None, None
            else:
                rating, count, last = known.get(result[seat], NEWCOMER)
            days = (at - last).days if last else 0
            shift = result["advantage"] if seat == "first" else 0
            grown = min(math.sqrt(rating[1] ** 2 + 25.12 * days), 350.0)
            sides.append((rating[0] + shift, grown, rating[2]))
            counts.append(count)
        changes = []
        for own, seat in enumerate(("first", "second")):
            foe, score = 1 - own, result["score"] if own == 0 else 1 - result["score"]
            after = glicko2(sides[own], [(*sides[foe][:2], score)])
            shift = result["advantage"] if own == 0 else 0
            is_carried = counts[foe] is not None and counts[own] is not None and counts[foe] < 3 <= counts[own]
            if result[seat] is not None and result.get("only") in (None, seat) and not is_carried:
                changes.append((result[seat], rounded((after[0] - shift, *after[1:]))))
                known[result[seat]] = (changes[-1][1], counts[own] + 1, at)
        yield result, sides, changes


def ratings(path):
    faults = []
    for result, _, changes in rated(path):
        for player, new in changes:
            found = result["after"].get(str(player))
            if found is None or any(abs(a - b) > 0.01 for a, b in zip(found, new)):
                faults.append(f"{result['match']}, P-{player}: {found}, expected {new}")
    return faults


def logistic(ahead, variance=0.0):
    """The expected score of somebody so many points ahead, if that is known with this variance."""
    scale = math.log(10) / 400
    return 1 / (1 + math.exp(-scale * ahead / math.sqrt(1 + 3 * scale**2 * variance / math.pi**2)))


class BestFit:
    """The strengths as far as they can be known from results, by whoever knows how they are spread: a normal
    distribution of all of them together, moved by each result."""

    def __init__(self, spread):
        self.spread, self.mean, self.covariance = spread, {}, {}

    def add(self, player):
        if player not in self.mean:
            for other in self.mean:
                self.covariance[other][player] = 0.0
            self.covariance[player] = dict.fromkeys(self.mean, 0.0) | {player: self.spread**2}
            self.mean[player] = 1500.0

    def predict_and_learn(self, first, second, advantage, score):
        for player in (first, second):
            self.add(player)
        both = {p: self.covariance[first][p] - self.covariance[second][p] for p in self.mean}
        variance = both[first] - both[second]
        ahead = self.mean[first] + advantage - self.mean[second]
        expected, scale = logistic(ahead), math.log(10) / 400
        weight = scale**2 * expected * (1 - expected)
        step, shrink = scale * (score - expected) / (1 + weight * variance), weight / (1 + weight * variance)
        for player, moved in both.items():
            self.mean[player] += moved * step
            row = self.covariance[player]
            for other, along in both.items():
                row[other] -= moved * along * shrink
        return logistic(ahead, variance)


def loss(path):
    """Compares predictions of results between people: those of the ratings, of the best fit so far, and of the true
    strengths, which nobody can know."""
    strengths, losses = {}, {"ratings": 0.0, "best fit": 0.0, "truth": 0.0}
    rows = [(r, sides) for r, sides, _ in rated(path) if r["score"] != 0.5 and None not in r["strengths"]]
    for result, _ in rows:
        strengths |= zip((result["first"], result["second"]), result["strengths"])
    mean = sum(strengths.values()) / len(strengths)
    fit = BestFit(math.sqrt(sum((s - mean) ** 2 for s in strengths.values()) / len(strengths)))
    for result, ((one, one_deviation, _), (other, other_deviation, _)) in rows:
        score, (first, second) = result["score"], result["strengths"]
        predicted = {
            "ratings": logistic(one - other, one_deviation**2 + other_deviation**2),
            "best fit": fit.predict_and_learn(result["first"], result["second"], result["advantage"], score),
            "truth": logistic(first + result["advantage"] - second),
        }
        for name, expected in predicted.items():
            losses[name] -= math.log(expected if score == 1 else 1 - expected) / len(rows)
    ratio = losses["ratings"] / losses["best fit"]
    shown = ", ".join(f"{name} {value:.4f}" for name, value in losses.items())
    print(f"log loss of {len(rows)} results, {len(strengths)} players: {shown}; {ratio:.3f} of the best fit, "
          f"{losses['ratings'] / losses['truth']:.3f} of the truth")
    return [] if ratio <= 1.02 else [f"{ratio:.3f} is more than 1.02"]


def main():
    check_worked_example()
    what, path = sys.argv[1:3]
    faults = Book(path).faults if what == "book" else {"ratings": ratings, "loss": loss}[what](path)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
