"""`python3 generate.py GAME --seed N`: prints one random match as a record, always the same for a seed."""

import argparse
import importlib
import random
import sys

from record import GAMES, write_record


def generate(game, seed):
    """Returns the text of the record for this seed, played by the game's `generate`."""
    module = importlib.import_module(GAMES[game])
    options, filings = module.generate(random.Random(f"{game} {seed}"))
    return write_record(game, options, filings)


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--seed", type=int, required=True)
    arguments = parser.parse_args()
    sys.stdout.write(generate(arguments.game, arguments.seed))


if __name__ == "__main__":
    main()
