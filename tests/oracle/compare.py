"""`python3 compare.py --binary PATH --game GAME --from 0 --count 1000 [--keep DIR]`: a differential test.

Generates a random record for every seed, replays it here and by `PATH replay FILE --json`, and compares every line
and the exit status. A fault's `reason` only has to be a non-empty text. The rules leave open how many faults of the
filing as a whole are listed, and where among the others: without `--strict`, only whether there are any is
compared. Records that differ are kept.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

from generate import generate
from record import GAMES, replay

SECONDS = 60


# Keys of a view beside those of the rules pages. The oracle does not know them.
BESIDE = {"memory", "did"}


def plain(line, strict):
    """Returns a printed line in the form in which it is compared."""
    if isinstance(line, dict) and isinstance(line.get("views"), dict):
        views = {
            seat: {key: value for key, value in view.items() if key not in BESIDE}
            for seat, view in line["views"].items()
        }
        line = {**line, "views": views}
    if not isinstance(line, dict) or not isinstance(line.get("faults"), list):
        return line
    faults = []
    for fault in line["faults"]:
        if not isinstance(fault, dict):
            return line
        reason = fault.get("reason")
        faults.append({**fault, "reason": isinstance(reason, str) and reason.strip() != ""})
    if not strict:
        wholes = [fault for fault in faults if fault.get("line") is None]
        faults = [fault for fault in faults if fault.get("line") is not None] + wholes[:1]
    return {**line, "faults": faults}


def differences(ours, theirs, path="$"):
    """Every place where two JSON values differ, as lines of text."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = []
        for key in sorted(ours.keys() | theirs.keys()):
            if key not in ours:
                found.append(f"{path}.{key}: not in the oracle, binary {json.dumps(theirs[key])}")
            elif key not in theirs:
                found.append(f"{path}.{key}: oracle {json.dumps(ours[key])}, not in the binary")
            else:
                found += differences(ours[key], theirs[key], f"{path}.{key}")
        return found
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            text
            for index, (mine, its) in enumerate(zip(ours, theirs))
            for text in differences(mine, its, f"{path}[{index}]")
        ]
    if type(ours) is type(theirs) and ours == theirs:
        return []
    return [f"{path}: oracle {json.dumps(ours)}, binary {json.dumps(theirs)}"]


def run_binary(binary, path):
    """Returns the lines that the binary prints (as text where they are not JSON), its exit status and its stderr."""
    done = subprocess.run([binary, "replay", path, "--json"], capture_output=True, timeout=SECONDS)
    lines = []
    for text in done.stdout.decode("utf-8", "replace").splitlines():
        try:
            line = json.loads(text)
            if isinstance(line, dict):
                # They repeat the record for whoever draws the match, and no rule decides on them.
                line = {key: value for key, value in line.items() if key not in ("filings", "start", "charted")}
            lines.append(line)
        except ValueError:
            lines.append(text)
    return lines, done.returncode, done.stderr.decode("utf-8", "replace").strip()


def first_difference(ours, status, theirs, their_status, stderr, strict):
    """Describes the first line that differs; None if all lines are equal."""
    for number in range(max(len(ours), len(theirs))):
        if number >= len(theirs):
            return f"line {number + 1}: the binary prints nothing more; oracle {short(ours[number])}\n{stderr}"
        if number >= len(ours):
            return f"line {number + 1}: the oracle prints nothing more; binary {short(theirs[number])}"
        found = differences(plain(ours[number], strict), plain(theirs[number], strict))
        if found:
            return f"line {number + 1} ({heading(ours[number])}):\n  " + "\n  ".join(found[:12])
    if status != their_status:
        return f"exit status: oracle {status}, binary {their_status} {stderr}"
    return None


def short(line):
    """Shortens a line for display."""
    text = json.dumps(line)
    return text if len(text) <= 400 else text[:400] + "..."


def heading(line):
    """Describes what a line of the oracle is about."""
    if "refused" in line:
        return f"refused filing {line['refused']} of {line['seat']}"
    return f"adjudication {line['adjudication']}, phase {line['phase']}"


def check_seed(arguments, seed):
    """Compares one seed. Returns None if both agree, otherwise what differs."""
    text = generate(arguments.game, seed)
    path = os.path.join(arguments.keep, f"{arguments.game}-{seed}.toml")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    ours, status = replay(text.encode("utf-8"))
    try:
        theirs, their_status, stderr = run_binary(arguments.binary, path)
        told = first_difference(ours, status, theirs, their_status, stderr, arguments.strict)
    except subprocess.TimeoutExpired:
        told = f"the binary took more than {SECONDS} seconds"
    if told is None:
        os.remove(path)
        return None
    return f"seed {seed}: {told}\n  record kept: {path}"


def parse_arguments():
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--game", choices=GAMES, required=True)
    parser.add_argument("--from", dest="start", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--keep", help="folder for the records that differ")
    parser.add_argument("--strict", action="store_true", help="compare faults of whole filings one by one")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.binary = os.path.abspath(arguments.binary)
    if not os.access(arguments.binary, os.X_OK):
        parser.error(f"cannot run {arguments.binary}")
    if arguments.keep is None:
        arguments.keep = tempfile.mkdtemp(prefix="compare-")
    os.makedirs(arguments.keep, exist_ok=True)
    return arguments


def main():
    """Compares all seeds, two at a time; exit status 1 if any differs."""
    arguments = parse_arguments()
    seeds = range(arguments.start, arguments.start + arguments.count)
    failed = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for told in pool.map(check_seed, [arguments] * len(seeds), seeds, chunksize=4):
            if told is not None:
                failed += 1
                print(told, flush=True)
    print(f"{arguments.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
