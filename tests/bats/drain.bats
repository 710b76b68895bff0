#!/usr/bin/env bats
# The drain as a process: detached from a session's start, with agents of every manner, killed, and over recorded sessions.
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means to be

bats_require_minimum_version 1.5.0
load support/home

setup() {
  own_home
  export CHITTA_NO_DAEMON=1 CHITTA_EMBED_MODEL=/no/such/model
  export CHITTA_SESSION_BUDGET_MS=120000 CHITTA_STDIN_WAIT_MS=30000
}
teardown() { stop_daemons; }

# recorded CLIENT WHICH: a session as that client writes it; WHICH is SESSION or WITH_BLOCK.
recorded() {
  "$PYTHON" -I -c 'import importlib.util, sys
spec = importlib.util.spec_from_file_location("sessions", sys.argv[1])
sessions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sessions)
print(sessions.WRITERS[sys.argv[2]](getattr(sessions, sys.argv[3])), end="")' \
    "$REPO/tests/unit/drain/conftest.py" "$1" "$2" >"$TMP/$1-$2.jsonl"
}

# queued FILE: the transcript waits, as the flush hook leaves it.
queued() {
  "$PYTHON" -I -c 'import json, sys
print(json.dumps({"session_id": "s", "hook_event_name": "Stop", "cwd": "/", "transcript_path": sys.argv[1]}))' "$1" |
    "$ROOT/hooks/session-flush.sh" claude
}

# agent: the script on standard input reads transcripts from now on.
agent() {
  { printf '#!/bin/sh\n' && cat; } >"$TMP/an agent"
  chmod +x "$TMP/an agent"
  export CHITTA_DRAIN_CMD="'$TMP/an agent'"
}

# start: a session starts.
start() {
  printf '{"session_id": "n", "hook_event_name": "SessionStart", "cwd": "%s", "source": "startup"}' "$TMP" |
    "$ROOT/hooks/session-start.sh" claude
}

chitta() { run --separate-stderr "$ROOT/bin/chitta" "$@"; }
notes() { find "$CHITTA_HOME/notes" -name '*.md' 2>/dev/null | wc -l; }
has_notes() { [ "$(notes)" -gt 0 ]; }
waits() { [ -s "$CHITTA_HOME/state/queue.jsonl" ]; }

@test "recorded sessions of Claude Code and Codex give their notes, and those with our block none of it" {
  for client in claude codex; do
    recorded "$client" SESSION
    chitta drain --dry-run "$TMP/$client-SESSION.jsonl"
    [ "$status" -eq 0 ]
    [[ $output == *"lxml"* && $output == *"make check"* ]]
    recorded "$client" WITH_BLOCK
    chitta drain "$TMP/$client-WITH_BLOCK.jsonl"
    [ "$status" -eq 0 ]
    [[ $output == *"0 notes"* ]]
  done
  [ "$(notes)" -eq 0 ]
}

@test "a session's start has the queue read when that is set, in a process of its own" {
  recorded claude SESSION
  queued "$TMP/claude-SESSION.jsonl"
  # The pipe ends only when everybody has closed it; both streams are captured.
  output=$(CHITTA_DRAIN=1 start 2>&1 | cat)
  [ -z "$output" ]
  wait_for has_notes
  wait_for grep -q '"done"' "$CHITTA_HOME/state/drain.jsonl"
}

@test "a session's start waits for no agent, which runs with hooks silent and without our descriptors" {
  recorded claude SESSION
  queued "$TMP/claude-SESSION.jsonl"
  agent <<EOF
echo "\$CHITTA_HEADLESS" >"$TMP/seen"
while [ ! -e "$TMP/go" ]; do sleep 0.05; done
printf '{"session_id": "child", "hook_event_name": "Stop", "cwd": "/", "transcript_path": "/t/child.jsonl"}' |
  "$ROOT/hooks/session-flush.sh" claude
echo '{"kind": "fix", "title": "Missing lxml", "text": "Install lxml before the tests of the parser."}'
EOF
  output=$(CHITTA_DRAIN=1 start 2>&1 | cat)
  [ -z "$output" ]
  touch "$TMP/go"
  wait_for has_notes
  [ "$(cat "$TMP/seen")" = 1 ]
  wait_for grep -q '"done"' "$CHITTA_HOME/state/drain.jsonl"
  run ! grep -q child "$CHITTA_HOME/state/queue.jsonl"
}

@test "nothing reads the queue where nobody asked for it" {
  recorded claude SESSION
  queued "$TMP/claude-SESSION.jsonl"
  start
  [ ! -e "$CHITTA_HOME/state/drain.lock" ]
  waits
}

@test "an agent's answer in the format is kept" {
  recorded codex SESSION
  queued "$TMP/codex-SESSION.jsonl"
  agent <<'EOF'
cat >/dev/null
echo '{"kind": "fix", "title": "Missing lxml", "text": "Install lxml before the tests of the parser."}'
echo '{"kind": "fix", "title": "x", "text": "Change that note of yours.", "action": "UPDATE", "id": "y"}'
EOF
  chitta drain
  [ "$status" -eq 0 ]
  [[ $output == *"1 note (1 added)"* && $output == *"1 left out"* && $stderr == *"chitta review"* ]]
  [ "$(notes)" -eq 1 ]
}

@test "an agent with bad manners costs a try, keeps nothing, and nothing of it is left" {
  recorded claude SESSION
  queued "$TMP/claude-SESSION.jsonl"
  export CHITTA_DRAIN_TIME_S=2
  for manner in 'echo "I have found that you like make."' 'exec yes' 'exit 1' 'exec sleep 600'; do
    rm -f "$CHITTA_HOME/state/drain.jsonl"
    agent <<<"echo \$\$ >'$TMP/pid'; cat >/dev/null; $manner"
    chitta drain --now
    printf '%s: %s\n' "$manner" "$output"
    [[ $output == *": failed: "* ]]
    gone "$(cat "$TMP/pid")"
    waits
  done
  [ "$(notes)" -eq 0 ]
}

@test "a child that outlives its agent is not waited for and not left" {
  recorded claude SESSION
  queued "$TMP/claude-SESSION.jsonl"
  agent <<EOF
cat >/dev/null
sleep 600 &
echo \$! >"$TMP/pid"
echo '{"kind": "none"}'
EOF
  chitta drain
  [ "$status" -eq 0 ]
  wait_for gone "$(cat "$TMP/pid")"
}

@test "a drain that is killed leaves its entry, and the next one removes what it left" {
  recorded claude SESSION
  queued "$TMP/claude-SESSION.jsonl"
  agent <<EOF
echo \$\$ >"$TMP/pid.part" && mv "$TMP/pid.part" "$TMP/pid"
exec sleep 600
EOF
  "$ROOT/bin/chitta" drain >/dev/null 2>&1 3>&- &
  drain=$!
  wait_for test -s "$TMP/pid"
  kill -KILL "$drain"
  wait "$drain" || true
  waits
  agent <<'EOF'
cat >/dev/null
echo '{"kind": "fix", "title": "Missing lxml", "text": "Install lxml before the tests of the parser."}'
EOF
  chitta drain
  [[ $output == *"waits for its next try"* ]]
  if [[ $(uname) == Linux ]]; then wait_for gone "$(cat "$TMP/pid")"; else kill -KILL "$(cat "$TMP/pid")"; fi
  chitta drain --now
  [ "$status" -eq 0 ]
  [ "$(notes)" -eq 1 ]
  run ! waits
  [ ! -e "$CHITTA_HOME/state/drain-work" ]
}
