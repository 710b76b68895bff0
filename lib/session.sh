# shellcheck shell=bash
# One hook of a session as one process that ends itself when its time is over; sourced after env.sh.

# chitta_session PART HARNESS: standard input is the payload, standard output what the harness is given. Exits 0.
chitta_session() { chitta_process chitta-session "$1" "$2"; }

# chitta_capture HARNESS: the same for what a tool gave; nothing is printed.
chitta_capture() { chitta_process chitta-capture "$1"; }

chitta_process() {
  local program=$1
  shift
  [[ -x $CHITTA_PYTHON ]] || exit 0
  # In the background and waited for, because a trap waits for a foreground process.
  chitta_step=''
  trap '[[ -z $chitta_step ]] || kill -KILL "$chitta_step"; exit 0' HUP INT TERM
  "$CHITTA_PYTHON" -I -S -E "$CHITTA_ROOT/bin/$program" "$@" <&0 &
  chitta_step=$!
  wait "$chitta_step"
  exit 0
}
