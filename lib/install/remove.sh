# Summary: how install.sh removes what it made, and says what it left
# shellcheck shell=bash

uninstall() {
  local store=${CHITTA_HOME:-${HOME:-}/.chitta} venv file removed=''
  stop_daemon
  for venv in "$ROOT"/.venv "$ROOT"/.venv-*; do
    [ -e "$venv/.chitta-lock" ] || continue
    rm -rf "$venv" || fail "$venv cannot be removed" "remove it by hand"
    removed="$removed ${venv##*/}"
  done
  rm -rf "$WORK"
  find "$ROOT/lib" -name __pycache__ -type d -prune -exec rm -rf {} +
  if [ -n "$removed" ]; then
    step "removed$removed and the byte-code in lib/"
  else
    step "there was no environment to remove"
  fi
  [ ! -d "$store" ] || step "left your notes and their index: $store"
  for file in .claude/settings.json .codex/hooks.json .gemini/settings.json .cursor/hooks.json; do
    file=${HOME:-}/$file
    ! grep -qF "$ROOT/hooks/" "$file" 2>/dev/null || step "left the wiring that you added to $file; remove it there"
  done
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
