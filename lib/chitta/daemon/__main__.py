"""``python -m chitta.daemon``."""

import sys

from chitta.daemon.start import main

if __name__ == "__main__":
    sys.exit(main())
