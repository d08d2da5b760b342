"""Print the tables: all of them, or those named on the command line."""

import sys

from . import prediction

TABLES = {"prediction": prediction.main}


def main(names):
    unknown = set(names) - set(TABLES)
    if unknown:
        sys.exit(f"no such table: {', '.join(sorted(unknown))}; known: {', '.join(TABLES)}")
    for name in names or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
