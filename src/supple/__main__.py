"""The command line as `python -m supple`."""

import sys

from supple.cli import main

if __name__ == "__main__":
    sys.exit(main())
