"""`python -m chitta.cli`: kept tiny, since a main file is never byte-compiled."""

from chitta.cli.main import run

run()
