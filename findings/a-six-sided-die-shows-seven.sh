#!/bin/sh
# 2026-11-28. npm @3d-dice/dice-roller-parser 0.2.6 (the parser of the dice-box family) and dice-roller-parser 0.1.8, the
# package whose README and interface it carries, each with its default random source.
# Guess:  both are fair: each side of a d6 one time in six, a d1 always 1.
# Truth:  the former rolls sides + 1 values: a d6 shows 7 one time in twelve and 1 as seldom, 2 to 6 one time in six each;
#         a d20 reaches 21, and a one-sided die is a coin. The mean of a d6 is 4 instead of 3.5. The latter is fair. A
#         referee who takes dice from a library should count some thousands of them in a test.
# Source: both READMEs promise the same notation (that of Roll20), in which dY is a die with Y sides.
# Needs:  node, npm. No fogpost, no root. About 10 s. (600,000 rolls of the d6: the odds shown are 9 deviations safe.)
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export HOME="$t"
cd "$t"
npm install --silent --no-audit --no-fund --prefix "$t" @3d-dice/dice-roller-parser@0.2.6 \
  dice-roller-parser@0.1.8 >/dev/null

cat >roll.js <<'E'
for (const name of ['dice-roller-parser', '@3d-dice/dice-roller-parser']) {
  const { DiceRoller } = require(name), roller = new DiceRoller();
  for (const [die, rolls] of [['1d1', 6000], ['1d6', 600000], ['1d20', 6000]]) {
    const count = new Map();
    for (let i = 0; i < rolls; i++) {
      const shown = roller.rollValue(die);
      count.set(shown, (count.get(shown) || 0) + 1);
    }
    const sides = [...count.keys()].sort((a, b) => a - b);
    const odds = die === '1d6' ? sides.map(side => ` ${side}:1/${Math.round(rolls / count.get(side))}`).join('') : '';
    console.log(`${name} ${die}: ${sides[0]} to ${sides[sides.length - 1]}${odds}`);
  }
}
E
cat >expected <<'E'
dice-roller-parser 1d1: 1 to 1
dice-roller-parser 1d6: 1 to 6 1:1/6 2:1/6 3:1/6 4:1/6 5:1/6 6:1/6
dice-roller-parser 1d20: 1 to 20
@3d-dice/dice-roller-parser 1d1: 1 to 2
@3d-dice/dice-roller-parser 1d6: 1 to 7 1:1/12 2:1/6 3:1/6 4:1/6 5:1/6 6:1/6 7:1/12
@3d-dice/dice-roller-parser 1d20: 1 to 21
E
node roll.js >seen
cat seen
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
