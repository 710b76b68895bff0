#!/usr/bin/env bats
# The capture hook as harnesses call it: it prints nothing, ends well whatever it is given, and leaves one note.

bats_require_minimum_version 1.5.0
load support/home

DATA=$REPO/tests/unit/capture/data

setup() {
  own_home
  export CHITTA_STDIN_WAIT_MS=30000
}
teardown() {
  # What is written after the hook must be done before its folder goes.
  for _ in {1..100}; do
    pgrep -f "^[^ ]*python.*$ROOT/bin/chitta-capture" >/dev/null || break
    sleep 0.1
  done
  stop_daemons
}

# capture HARNESS: runs the hook on standard input and sees that it is silent.
capture() {
  run --separate-stderr "$ROOT/hooks/capture.sh" "$@"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ -z "$stderr" ]
}

# payloads HARNESS: every payload that the client has told its hooks, in order.
payloads() {
  local line
  while IFS= read -r line; do
    printf '%s' "$line" >"$TMP/p"
    capture "$1" <"$TMP/p"
  done <"$DATA/$1-hooks.jsonl"
}

notes() { find "$CHITTA_HOME/notes" -name '*.md' 2>/dev/null | wc -l | tr -d ' '; }

# wait_for COUNT: notes are written by a process that the hook does not wait for.
wait_for() {
  local turns=0
  while ((turns++ < 200)); do
    [ "$(notes)" -lt "$1" ] || return 0
    sleep 0.1
  done
  return 1
}

fixed() {
  local found
  for _ in {1..200}; do
    found=$(grep -rl '^captured: fix$' "$CHITTA_HOME/notes" 2>/dev/null) || : # not there yet
    if [ -n "$found" ] && grep -q '^Commit: ' "$found"; then break; fi
    sleep 0.1
  done
  [ "$(printf '%s\n' "$found" | wc -l)" -eq 1 ]
  grep -q 'failed with: AssertionError: total' "$found"
  grep -q '^kind: operational$' "$found"
}

@test "Claude Code: a failure, an edit and a pass are one note, and its commit stands in it" {
  payloads claude
  fixed
  wait_for 2 # the other commit
}

@test "Copilot CLI: the same" {
  payloads copilot
  fixed
}

@test "Codex: exit codes are those of its rollout" {
  cp "$DATA/codex.jsonl" "$TMP/rollout-x.jsonl"
  sed "s|/home/dev/.codex/sessions/[^\"]*jsonl|$TMP/rollout-x.jsonl|" "$DATA/codex-hooks.jsonl" >"$TMP/lines"
  while IFS= read -r line; do
    printf '%s' "$line" >"$TMP/p"
    capture codex <"$TMP/p"
  done <"$TMP/lines"
  # The rollout is the whole session's here, and its calls' ids tell them apart.
  fixed
}

@test "what is switched off, or an agent that chitta started, leaves nothing" {
  CHITTA_CAPTURE=0 payloads claude
  CHITTA_HEADLESS=1 payloads claude
  sleep 1
  [ ! -e "$CHITTA_HOME/notes" ]
  [ ! -e "$CHITTA_HOME/state/armed" ]
}

@test "what a session is remembered by is its owner's alone" {
  head -n 2 "$DATA/claude-hooks.jsonl" | tail -n 1 >"$TMP/p"
  capture claude <"$TMP/p"
  [ "$(find "$CHITTA_HOME/state/armed" -name '*.json' -perm 600 | wc -l)" -eq 1 ]
  [ "$(find "$CHITTA_HOME/state/armed" -maxdepth 0 -perm 700 | wc -l)" -eq 1 ]
}

@test "garbage, floods and hostile payloads end well and silently" {
  local value
  for value in '' 'null' '[]' '{' '"PostToolUseFailure"' '{"tool_name":3,"error":"PostToolUseFailure"}' \
    '{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":[],"error":{"a":[]}}' \
    '{"hook_event_name":"PostToolUse","tool_name":"TodoWrite","tool_input":{"todos":[1,null,{"content":[]}]}}' \
    '{"hook_event_name":"UserPromptSubmit","session_id":"../../x","prompt":"never use var in JavaScript","cwd":"/no/such"}' \
    '{"hook_event_name":"UserPromptSubmit","prompt":"never","transcript_path":"/dev/zero","session_id":"s"}'; do
    printf '%s' "$value" >"$TMP/p"
    capture claude <"$TMP/p"
    capture codex <"$TMP/p"
    capture <"$TMP/p"
  done
  { printf '{"hook_event_name":"PostToolUseFailure","error":"' && head -c 6000000 /dev/zero | tr '\0' a; } >"$TMP/p"
  capture claude <"$TMP/p"
  head -c 100000 /dev/urandom >"$TMP/p"
  capture claude <"$TMP/p"
  [ ! -e "$CHITTA_HOME/x" ]
}
