# shellcheck shell=bash disable=SC2034 # what is set here is used by the tests
# What the tests of hook and lanes share: a store of their own, a copy of the checkout to change, a
# daemon that is stopped by its own pid. Loaded with `load support/home`.

REPO=$(cd -P "$BATS_TEST_DIRNAME/../.." && pwd -P)
PYTHON=$REPO/.venv/bin/python
PROMPT='why does the stripe webhook answer 400'

# own_home: an empty store, an empty folder for temporary files, no setting of the person's.
own_home() {
  local name
  for name in "${!CHITTA_@}"; do unset "$name"; done
  TMP=$(cd -P "$BATS_TEST_TMPDIR" && pwd -P)
  export HOME=$TMP/home CHITTA_HOME=$TMP/home/.chitta TMPDIR=$TMP/tmp
  mkdir -p "$HOME" "$TMPDIR"
  ROOT=$REPO HOOK=$REPO/hooks/prompt-core.sh
}

# copied_checkout [FOLDER]: ROOT and HOOK are from now on those of a copy that a test may change.
copied_checkout() {
  ROOT=${1:-$TMP/a checkout}
  HOOK=$ROOT/hooks/prompt-core.sh
  mkdir -p "$ROOT"
  cp -R "$REPO/bin" "$REPO/hooks" "$REPO/lanes" "$REPO/lib" "$ROOT/"
  ln -s "$REPO/.venv" "$ROOT/.venv"
}

# patient_checkout: a copied checkout whose merge gives the daemon a minute and keeps seconds for itself, so that what
# it prints does not depend on how busy this machine is.
patient_checkout() {
  local file
  copied_checkout
  file=$ROOT/lib/chitta/merge_client.py
  sed -e 's/^_DAEMON_SHARE, _DAEMON_S = .*/_DAEMON_SHARE, _DAEMON_S = 0.9, 60.0/' -e 's/^_RESERVE_MS = .*/_RESERVE_MS = 5000.0/' \
    "$REPO/lib/chitta/merge_client.py" >"$file"
  grep -q '^_DAEMON_SHARE, _DAEMON_S = 0.9, 60.0$' "$file"
  grep -q '^_RESERVE_MS = 5000.0$' "$file"
}

# a_lane NAME: the script on standard input becomes a lane of the copied checkout.
a_lane() {
  cat >"$ROOT/lanes/$1"
  chmod +x "$ROOT/lanes/$1"
}

# a_store: a store with three notes and a correction, indexed for words.
a_store() {
  mkdir -p "$CHITTA_HOME"
  "$PYTHON" -I - "$CHITTA_HOME" <<'EOF'
import sys

from chitta import settings
from chitta.index.indexer import sync
from chitta.notes.correction import make_correction
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

chosen = settings.load({"CHITTA_HOME": sys.argv[1]})
store = NoteStore(chosen.notes_dir)
for number, (title, text) in enumerate(
    [
        ("Stripe webhook needs the raw body", "The stripe webhook answers 400 when the body was parsed before its signature was checked."),
        ("Rebase onto main", "git rebase --onto main feature~3 moves the last three commits."),
        ("Postgres upsert", "INSERT … ON CONFLICT (id) DO UPDATE keeps one row."),
    ]
):
    store.write(Note(id=f"note-{number}", title=title, text=text, kind="insight", created="2026-01-01"))
store.write(make_correction("npm install", "pnpm install", "the lock file is pnpm's", "global"))
sync(chosen, None)
EOF
}

# payload PROMPT: what a harness writes.
payload() {
  "$PYTHON" -I -c 'import json, sys
print(json.dumps({"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": sys.argv[1]}))' "$1"
}

# fake_daemon MANNER: a daemon with no memory serves this store until stop_daemons.
fake_daemon() {
  "$PYTHON" -I "$REPO/tests/bats/support/fake_daemon.py" "$CHITTA_HOME/run" "$1" >"$TMP/fake.out" 2>"$TMP/fake.err" 3>&- &
  FAKE=$!
  wait_for grep -q ready "$TMP/fake.out"
}

# stop_daemons: what this test has started, by its pid.
stop_daemons() {
  local pid=''
  if [ -n "${FAKE:-}" ]; then
    kill -KILL "$FAKE" 2>/dev/null || true
    wait "$FAKE" 2>/dev/null || true
  fi
  if read -r pid 2>/dev/null <"$CHITTA_HOME/run/daemon.pid"; then kill -KILL "$pid" 2>/dev/null || true; fi
}

# wait_for COMMAND…: until it succeeds, at most about a minute.
wait_for() {
  local turns=0
  until "$@"; do
    [ $((turns += 1)) -lt 1200 ] || return 1
    sleep 0.05
  done
}

gone() { ! kill -0 "$1" 2>/dev/null; }
# cleared: no run folder is left in this test's folder for temporary files.
cleared() {
  local found
  for found in "$TMPDIR"/chitta.*; do [ ! -e "$found" ] || return 1; done
}

# context_of OUTPUT: the text that the harness would give to the model; fails when it is no such JSON.
context_of() {
  printf '%s' "$1" | "$PYTHON" -I -c 'import json, sys
print(json.load(sys.stdin)["hookSpecificOutput"]["additionalContext"])'
}

# logged EXPRESSION: a Python expression over `log`, the recall log as a list.
logged() {
  "$PYTHON" -I -c 'import json, sys
log = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(eval(sys.argv[2]))' "$CHITTA_HOME/state/recall-log.jsonl" "$1"
}

# After `run`: exit 0 and not a byte.
# shellcheck disable=SC2154 # bats sets them
silent() {
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ -z "$stderr" ]
}
