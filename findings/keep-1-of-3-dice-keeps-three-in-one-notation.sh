#!/bin/sh
# 2026-11-28. Dice notation in three libraries: d20 1.1.2 and dice 4.0.0 (PyPI), @dice-roller/rpg-dice-roller 5.5.1
# (npm). Dice with one side (d1) take chance out: each shows 1.
# Guess:  what two of them read without an error, they read alike: 3d1k1 keeps the highest die, 1.
# Truth:  3d1k1 is 3 in d20 (k1 keeps every die that shows a 1, so 2d20k1 is nearly always 0) and 1 in rpg-dice-roller.
#         3d1>0 is 1 in d20 (is the sum above 0?) and 3 in rpg-dice-roller (how many dice are?). Minus seven halved is
#         -3, -4 or -3.5. Only kh1 is kept alike. A game that lets players write dice must name the grammar or have its
#         own; losses below zero must say which way they round.
# Source: d20's README: the operator k takes a selector, and a bare number as selector means dice of just that value.
# Needs:  python3 with pip, node (18 or later), npm. No fogpost, no root. About 15 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export HOME="$t" PYTHONPATH="$t/py"
python3 -m pip install -q --target "$t/py" --no-deps d20==1.1.2 lark-parser==0.9.0 cachetools==8.0.2 dice==4.0.0 \
  pyparsing==3.3.3
cd "$t"
npm install --silent --no-audit --no-fund --prefix "$t" @dice-roller/rpg-dice-roller@5.5.1 >/dev/null

cat >roll.py <<'E'
import sys, d20, dice
for who, roll in ("d20", lambda text: d20.roll(text).total), ("dice", lambda text: dice.roll(text)):
    try:
        print(who, roll(sys.argv[1]), end="  ")
    except (dice.DiceBaseException, d20.RollError):
        print(who, "error", end="  ")
E
cat >roll.js <<'E'
const { DiceRoll } = require('@dice-roller/rpg-dice-roller');
console.log('rpg-dice-roller', new DiceRoll(process.argv[2]).total);
E
cat >expected <<'E'
3d1k1: d20 3  dice error  rpg-dice-roller 1
3d1kh1: d20 1  dice error  rpg-dice-roller 1
3d1>0: d20 1  dice error  rpg-dice-roller 3
(0-7)/2: d20 -3  dice -4  rpg-dice-roller -3.5
E
for text in 3d1k1 3d1kh1 '3d1>0' '(0-7)/2'; do
  printf '%s: ' "$text"; python3 roll.py "$text"; node roll.js "$text"
done >seen
cat seen
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
