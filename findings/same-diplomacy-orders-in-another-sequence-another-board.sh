#!/bin/sh
# 2026-11-28. Two adjudicators of Diplomacy from PyPI: pydip 0.1.8 and diplomacy 1.1.2, on Pandin's paradox:
#   England F LON supports F WAL - ENG; France F ENG convoys A BRE - LON; Germany F NTH supports F BEL - ENG.
# Guess:  both resolve it alike, and the sequence in which orders come in plays no part.
# Truth:  in pydip the board after the turn depends on the sequence of the list of orders. Of its 720 permutations
#         216 dislodge the French fleet from the English Channel and put the Belgian fleet there, 504 leave all where
#         they were. `diplomacy` gives the second result in every sequence tried. So a referee who adds orders to the
#         list as the letters come in lets the post decide; sort them before handing them over.
# Source: DATC test case 6.F.16: under every rule for convoy paradoxes London's support is not cut, so nothing moves.
#         pydip says in resolve.py that it uses the guessing algorithm of Kruijswijk's "The Math of Adjudication".
# Needs:  python3 with pip. No fogpost, no root. About 25 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export HOME="$t" PYTHONPATH="$t/py"
python3 -m pip install -q --target "$t/py" --no-deps pydip==0.1.8 diplomacy==1.1.2 bcrypt==5.0.0 coloredlogs==15.0.1 \
  humanfriendly==10.0 python-dateutil==2.9.0.post0 six==1.17.0 pytz==2026.6 tornado==6.6.1 tqdm==4.70.1 ujson==6.1.0

cat >"$t/pandin.py" <<'E'
import collections, itertools, logging
logging.disable(logging.CRITICAL)
from pydip.map.predefined.vanilla_dip import generate_map
from pydip.player.player import Player
from pydip.player.unit import UnitTypes
from pydip.player.command.command import ConvoyMoveCommand, ConvoyTransportCommand, MoveCommand, SupportCommand
from pydip.turn.resolve import resolve_turn
from diplomacy import Game

board = generate_map()
A, F = UnitTypes.TROOP, UnitTypes.FLEET

def player(name, *units):
    return Player(name, board, [{"territory_name": at, "unit_type": kind} for kind, at in units])

def pydip(sequence):
    england = player("England", (F, "London Coast"), (F, "Wales Coast"))
    france = player("France", (A, "Brest"), (F, "English Channel"))
    germany = player("Germany", (F, "North Sea"), (F, "Belgium Coast"))
    lon, wal = england.units
    bre, eng = france.units
    nth, bel = germany.units
    orders = [
        SupportCommand(england, lon, wal, "English Channel"), MoveCommand(england, wal, "English Channel"),
        ConvoyMoveCommand(france, bre, "London"), ConvoyTransportCommand(france, eng, bre, "London"),
        SupportCommand(germany, nth, bel, "English Channel"), MoveCommand(germany, bel, "English Channel"),
    ]
    result = resolve_turn(board, [orders[i] for i in sequence])
    fleet = "dislodged" if result["France"][eng] is not None else "stays"
    moved = "moves in" if any(u.position == "English Channel" for u in result["Germany"]) else "stays"
    return f"French fleet {fleet}, Belgian fleet {moved}"

def reference(powers, backwards):
    game = Game()
    units = {"ENGLAND": ["F LON", "F WAL"], "FRANCE": ["A BRE", "F ENG"], "GERMANY": ["F NTH", "F BEL"]}
    orders = {"ENGLAND": ["F LON S F WAL - ENG", "F WAL - ENG"], "FRANCE": ["A BRE - LON VIA", "F ENG C A BRE - LON"],
              "GERMANY": ["F NTH S F BEL - ENG", "F BEL - ENG"]}
    for power in game.powers.values():
        power.clear_units()
    for power in powers:
        game.set_units(power, units[power], True)
    for power in powers:
        game.set_orders(power, orders[power][::-1] if backwards else orders[power])
    game.process()
    return f"French fleet {'dislodged' if game.get_power('FRANCE').retreats else 'stays'}"

for name, seen in (("pydip 0.1.8", collections.Counter(map(pydip, itertools.permutations(range(6))))),
                   ("diplomacy 1.1.2", collections.Counter(reference(p, b) for b in (False, True)
                    for p in itertools.permutations(["ENGLAND", "FRANCE", "GERMANY"])))):
    for result, times in sorted(seen.items()):
        print(f"{name}: {times} sequences: {result}")
E
cat >"$t/expected" <<'E'
pydip 0.1.8: 216 sequences: French fleet dislodged, Belgian fleet moves in
pydip 0.1.8: 504 sequences: French fleet stays, Belgian fleet stays
diplomacy 1.1.2: 12 sequences: French fleet stays
E
python3 "$t/pandin.py" >"$t/seen"
cat "$t/seen"
diff "$t/expected" "$t/seen" >/dev/null || { echo "CHANGED: expected"; cat "$t/expected"; exit 1; }
