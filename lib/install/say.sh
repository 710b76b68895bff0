# Summary: what install.sh says; all of it on stderr, so that stdout stays for data
# shellcheck shell=bash

STARTED=$SECONDS

# One line a step, with the seconds since the start once there is something to tell.
step() {
  local seconds=$((SECONDS - STARTED))
  if [ "$seconds" -gt 0 ]; then
    printf 'chitta: %s (%s s)\n' "$1" "$seconds" >&2
  else
    printf 'chitta: %s\n' "$1" >&2
  fi
}

# fail WHAT HINT: one line that says what went wrong, one that says what to do.
fail() {
  printf 'chitta: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

misuse() {
  printf 'chitta: %s\nhint: see ./install.sh --help\n' "$1" >&2
  exit 2
}
