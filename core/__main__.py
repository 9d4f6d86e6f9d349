"""``python -m core`` is the command line."""

import sys

from core.cli import main

sys.exit(main())
