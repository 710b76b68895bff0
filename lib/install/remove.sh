# Summary: how install.sh removes what it and the tests made, and says what it left
# shellcheck shell=bash

# With --venv, that environment alone; without, all of them and everything beside.
uninstall() {
  if [ -n "$VENV_ASKED" ]; then
    remove_one
  else
    remove_all
  fi
}

remove_one() {
  local venv=$ROOT/$VENV_NAME
  if [ ! -e "$venv/.chitta-lock" ]; then
    [ ! -e "$venv" ] || fail "install.sh did not make $venv" "remove it by hand"
    step "there was no environment $VENV_NAME to remove"
    return
  fi
  [ "$VENV_NAME" != .venv ] || stop_daemon
  remove "$venv"
  step "removed $VENV_NAME"
}

remove_all() {
  local store=${CHITTA_HOME:-${HOME:-}/.chitta} path removed='' file
  unwire
  stop_daemon
  for path in "$ROOT"/.venv "$ROOT"/.venv-*; do
    [ -e "$path/.chitta-lock" ] || continue
    remove "$path"
    removed="$removed ${path##*/}"
  done
  remove "$WORK"
  # What tests/run and tests/lint leave: a measured store of sample notes, and the caches of the test tools.
  for path in .bench .hypothesis .mypy_cache .pytest_cache .ruff_cache; do
    remove "$ROOT/$path"
  done
  for path in lib tests; do
    [ ! -d "$ROOT/$path" ] || find "$ROOT/$path" -name __pycache__ -type d -prune -exec rm -rf {} +
  done
  if [ -n "$removed" ]; then
    step "removed$removed, the byte-code and the caches of the tests"
  else
    step "there was no environment to remove"
  fi
  [ ! -d "$store" ] || step "left your notes and their index: $store"
  wired_files | while IFS= read -r file; do
    step "left the wiring that you added to $file; remove it there"
  done
}

# The settings of agents that name a hook of this checkout.
wired_files() {
  local file
  for file in "${HOME:-}"/.claude/settings.json "${HOME:-}"/.codex/hooks.json "${HOME:-}"/.copilot/hooks/*.json \
    "${HOME:-}"/.gemini/settings.json "${HOME:-}"/.cursor/hooks.json; do
    ! grep -qF "$ROOT/hooks/" "$file" 2>/dev/null || printf '%s\n' "$file"
  done
}

# Entries go before what they start: an agent that finds the hook gone may refuse the prompt.
unwire() {
  [ -n "$(wired_files)" ] || return 0
  "$ROOT/bin/chitta" hooks uninstall all >/dev/null 2>&1 </dev/null || return 0
  [ -n "$(wired_files)" ] || step "took the hooks out of your agents' settings"
}

remove() {
  rm -rf "$1" || fail "$1 cannot be removed" "remove it by hand"
}

# Asks the daemon to leave, and waits for the answer no longer than five seconds.
stop_daemon() {
  local asked turn
  [ -x "$ROOT/bin/chitta" ] && [ -x "$ROOT/.venv/bin/python" ] || return 0
  "$ROOT/bin/chitta" stop >/dev/null 2>&1 </dev/null &
  asked=$!
  for turn in 1 2 3 4 5; do
    kill -0 "$asked" 2>/dev/null || break
    sleep 1
  done
  [ "$turn" -lt 5 ] || kill "$asked" 2>/dev/null
  wait "$asked" 2>/dev/null
}
