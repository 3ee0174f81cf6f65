#!/bin/sh
# 2026-11-28. Two libraries of chess: chess.js 1.4.0 (npm) and chess 1.11.2 (python-chess, PyPI). Black's pawn goes two
# squares past a white pawn that may not take it: the rook on a5 would then give check along the rank.
# Guess:  both count the position after that move as the same one when the pieces stand there again.
# Truth:  python-chess sees the third time. chess.js says no: for it the first time is another position, as if the
#         capture were possible, though its own move list lacks it and its own FEN is the same three times. It
#         sees a draw only half a move later, when another position comes up for the third time. Two programs that
#         follow one game by mail disagree whether it is over.
# Source: FIDE Laws of Chess 9.2.3: positions differ if a pawn could have been captured en passant at the start of the
#         sequence; here it could not.
# Needs:  python3 with pip, node, npm. No fogpost, no root. About 6 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export HOME="$t" PYTHONPATH="$t/py"
python3 -m pip install -q --target "$t/py" --no-deps chess==1.11.2
cd "$t"
npm install --silent --no-audit --no-fund --prefix "$t" chess.js@1.4.0 >/dev/null

cat >follow.js <<'E'
const { Chess } = require('chess.js');
const game = new Chess('4k3/3p4/8/r3P2K/8/8/8/7N b - - 0 1'), seen = [];
for (const move of process.argv.slice(2)) {
  game.move(move);
  const position = game.fen().split(' ').slice(0, 4).join(' ');
  seen.push(position);
  const times = seen.filter(p => p === position).length;
  console.log('chess.js', move, 'FEN seen', times, 'threefold', game.isThreefoldRepetition(),
    'exd6 possible', game.moves().includes('exd6'));
}
E
cat >follow.py <<'E'
import sys, chess
board, seen = chess.Board("4k3/3p4/8/r3P2K/8/8/8/7N b - - 0 1"), []
for move in sys.argv[1:]:
    board.push_san(move)
    seen.append(board.fen().split(" ")[:4])
    print("python-chess", move, "FEN seen", seen.count(seen[-1]), "threefold", str(board.is_repetition(3)).lower(),
          "exd6 possible", str(any(board.san(m) == "exd6" for m in board.legal_moves)).lower())
E
moves="d5 Ng3 Kd8 Nh1 Ke8 Ng3 Kd8 Nh1 Ke8 Ng3"
cat >expected <<'E'
chess.js d5 FEN seen 1 threefold false exd6 possible false
chess.js Ke8 FEN seen 2 threefold false exd6 possible false
chess.js Ke8 FEN seen 3 threefold false exd6 possible false
chess.js Ng3 FEN seen 3 threefold true exd6 possible false
python-chess d5 FEN seen 1 threefold false exd6 possible false
python-chess Ke8 FEN seen 2 threefold false exd6 possible false
python-chess Ke8 FEN seen 3 threefold true exd6 possible false
python-chess Ng3 FEN seen 3 threefold true exd6 possible false
E
{ node follow.js $moves; python3 follow.py $moves; } | grep -E ' (d5|Ke8) |Ng3 FEN seen 3' >seen
cat seen
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
