"""`python -m perfcheck` is the command line."""

import sys

from .cli import main

sys.exit(main())
