"""`python3 replay.py FILE`: prints what `fogpost replay FILE --json` prints, with its exit status."""

import json
import sys

from record import NoRecord, replay


def main():
    """Exit status 0, 2 if a filing was refused, 1 if the file is no record (records.md)."""
    if len(sys.argv) != 2:
        print("usage: replay.py FILE", file=sys.stderr)
        return 1
    try:
        with open(sys.argv[1], "rb") as file:
            lines, status = replay(file.read())
    except (OSError, NoRecord) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    for line in lines:
        print(json.dumps(line, ensure_ascii=False))
    return status


if __name__ == "__main__":
    sys.exit(main())
