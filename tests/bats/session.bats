#!/usr/bin/env bats
# The session hooks as harnesses call them: what they print, when they are silent, what they leave behind.
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means to be

bats_require_minimum_version 1.5.0
load support/home

CAPTURED=$REPO/../shared/reference/hook-schemas/captured

setup() {
  own_home
  export CHITTA_SESSION_BUDGET_MS=120000 CHITTA_SUBAGENT_BUDGET_MS=120000 CHITTA_STDIN_WAIT_MS=30000
  mkdir -p "$TMP/stripe webhook"
}
teardown() { stop_daemons; }

# session PART [ARGUMENT…]: runs the hook on standard input; output, stderr and status as `run` gives them.
session() {
  local part=$1
  shift
  run --separate-stderr "$ROOT/hooks/$part.sh" "$@"
}

# start SOURCE [SESSION]: what Claude Code writes as a session starts in a folder that the store knows something of.
start() {
  "$PYTHON" -I -c 'import json, sys
print(json.dumps({"session_id": sys.argv[2], "hook_event_name": "SessionStart", "cwd": sys.argv[3], "source": sys.argv[1]}))' \
    "$1" "${2:-s}" "$TMP/stripe webhook"
}

well_behaved() {
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [ -z "$output" ] || printf '%s' "$output" | "$PYTHON" -I -c 'import json, sys; assert isinstance(json.load(sys.stdin), dict)'
}

told() {
  well_behaved
  [[ $output == *"Stripe webhook needs the raw body"* ]]
}

# no_process: nothing that this test's checkout has started still runs, but for a daemon.
no_process() { ! pgrep -f "^[^ ]*python.*$ROOT/bin/chitta-session" >/dev/null; }

@test "a session's start is told what is stored, with no daemon" {
  a_store
  start startup >"$TMP/p"
  CHITTA_NO_DAEMON=1 session session-start claude <"$TMP/p"
  told
  [[ $(context_of "$output") == "<chitta-notes>"*"</chitta-notes>" ]]
  [ "$(logged 'log[-1]["event"]')" = SessionStart ]
  [ ! -e "$CHITTA_HOME/run" ]
}

@test "a session's start starts a daemon, detached, and is told by it" {
  a_store
  start startup >"$TMP/p"
  # The pipe ends only when everybody has closed it; both streams are captured.
  output=$("$ROOT/hooks/session-start.sh" claude <"$TMP/p" 2>&1 | cat)
  [[ $(context_of "$output") == *"Stripe webhook needs the raw body"* ]]
  wait_for test -s "$CHITTA_HOME/run/daemon.pid"
  [ "$(logged 'list(log[-1]["lanes"])')" = "['hybrid']" ]
  no_process
}

@test "a daemon that was killed is started again" {
  a_store
  start startup >"$TMP/p"
  session session-start claude <"$TMP/p"
  wait_for test -s "$CHITTA_HOME/run/daemon.pid"
  stop_daemons
  start startup other >"$TMP/p"
  session session-start claude <"$TMP/p"
  told
}

@test "with nothing to say the daemon is started all the same" {
  start startup >"$TMP/p"
  session session-start claude <"$TMP/p"
  silent
  wait_for test -s "$CHITTA_HOME/run/daemon.pid"
}

@test "a daemon with bad manners costs time and never the session" {
  a_store
  for manner in silent half lying foreign hangup failing; do
    fake_daemon "$manner"
    start startup "$manner" >"$TMP/p"
    CHITTA_SESSION_BUDGET_MS=8000 session session-start claude <"$TMP/p"
    printf '%s: %s\n' "$manner" "$output"
    told
    stop_daemons
  done
}

@test "a hook whose time is over is silent and leaves nothing" {
  a_store
  fake_daemon silent
  start startup >"$TMP/p"
  CHITTA_SESSION_BUDGET_MS=500 session session-start claude <"$TMP/p"
  well_behaved
  no_process
}

@test "a hook that is ended takes its process along" {
  a_store
  fake_daemon silent
  start startup >"$TMP/p"
  "$ROOT/hooks/session-start.sh" claude <"$TMP/p" >"$TMP/out" 2>&1 3>&- &
  hook=$!
  wait_for pgrep -P "$hook" >/dev/null
  child=$(pgrep -P "$hook")
  kill -TERM "$hook"
  wait "$hook"
  wait_for gone "$child"
  [ ! -s "$TMP/out" ]
}

@test "odd payloads are silence in every hook" {
  export CHITTA_NO_DAEMON=1
  cd /
  for part in session-start subagent-start session-flush; do
    for text in '' ' ' '{}' '[]' 'null' '"text"' '{"cwd":7}' '{"session_id":["s"],"source":{}}' 'not JSON' '{"cut'; do
      printf '%s' "$text" >"$TMP/p"
      session "$part" claude <"$TMP/p"
      silent
    done
  done
  [ ! -e "$CHITTA_HOME/state/queue.jsonl" ]
}

@test "the person's home, a folder that has gone, an empty store" {
  export CHITTA_NO_DAEMON=1
  start startup >"$TMP/p"
  session session-start claude <"$TMP/p"
  silent
  a_store
  sed "s|$TMP/stripe webhook|$HOME|" "$TMP/p" >"$TMP/home.json"
  session session-start claude <"$TMP/home.json"
  silent
  mkdir "$TMP/gone"
  cd "$TMP/gone"
  rmdir "$TMP/gone"
  session session-start claude <"$TMP/p"
  stderr='' # bash itself has complained of the folder before it read a line
  told
  cd "$TMP"
  sed "s|$TMP/stripe webhook|$TMP/gone|" "$TMP/p" >"$TMP/gone.json"
  session session-start claude <"$TMP/gone.json"
  well_behaved
}

@test "without git" {
  a_store
  mkdir "$TMP/tools"
  printf '#!/bin/bash\nexit 127\n' >"$TMP/tools/git"
  chmod +x "$TMP/tools/git"
  start startup >"$TMP/p"
  CHITTA_NO_DAEMON=1 PATH=$TMP/tools:$PATH session session-start claude <"$TMP/p"
  told
}

@test "a checkout with spaces, by a link, and one without an interpreter" {
  a_store
  export CHITTA_NO_DAEMON=1
  copied_checkout
  ln -s "$ROOT/hooks/session-start.sh" "$TMP/a link"
  start startup >"$TMP/p"
  run --separate-stderr "$TMP/a link" claude <"$TMP/p"
  told
  rm "$ROOT/.venv"
  for part in session-start subagent-start session-flush; do
    session "$part" claude <"$TMP/p"
    silent
  done
}

@test "fault 30: an agent that chitta itself has started gets nothing and leaves nothing" {
  a_store
  export CHITTA_HEADLESS=1
  start startup >"$TMP/p"
  printf '{"session_id":"s","hook_event_name":"Stop","cwd":"/","transcript_path":"/t.jsonl"}' >"$TMP/stop"
  session session-start claude <"$TMP/p"
  silent
  session session-flush claude <"$TMP/stop"
  silent
  [ ! -e "$CHITTA_HOME/state" ]
  [ ! -e "$CHITTA_HOME/run" ]
}

@test "fault 32: what a session's start has shown does not come with the first prompt, and comes again after a compaction" {
  a_store
  export CHITTA_NO_DAEMON=1 CHITTA_HOOK_BUDGET_MS=120000 CHITTA_LANE_LIMIT_MS=60000 CHITTA_HYBRID_LIMIT_MS=60000
  start startup >"$TMP/p"
  session session-start claude <"$TMP/p"
  told
  payload "$PROMPT" >"$TMP/prompt"
  session prompt-core claude <"$TMP/prompt"
  well_behaved
  [[ $output != *"Stripe webhook needs the raw body"* ]]
  start resume >"$TMP/p"
  session session-start claude <"$TMP/p"
  silent
  start compact >"$TMP/p"
  session session-start claude <"$TMP/p"
  told
  [[ $output == *"[again]"* ]]
}

@test "a subagent is told of its task" {
  a_store
  printf '{"session_id":"s","hook_event_name":"SubagentStart","cwd":"/","agent_type":"Explore","prompt":"%s"}' "$PROMPT" >"$TMP/p"
  CHITTA_NO_DAEMON=1 session subagent-start claude <"$TMP/p"
  told
  [[ $output == *'"hookEventName":"SubagentStart"'* ]]
  CHITTA_NO_DAEMON=1 session subagent-start gemini <"$TMP/p"
  silent
}

@test "a flush queues the transcript, prints nothing and needs no daemon" {
  printf '{"session_id":"s","hook_event_name":"Stop","cwd":"/w","transcript_path":"/t.jsonl"}' >"$TMP/p"
  session session-flush claude <"$TMP/p"
  silent
  session session-flush claude <"$TMP/p"
  silent
  [ "$(wc -l <"$CHITTA_HOME/state/queue.jsonl")" -eq 1 ]
  [[ $(cat "$CHITTA_HOME/state/queue.jsonl") == *'"transcript_path":"/t.jsonl","trigger":"Stop","cwd":"/w","harness":"claude"'* ]]
  [ ! -e "$CHITTA_HOME/run" ]
}

@test "every captured payload of every harness through every hook" {
  [ -d "$CAPTURED" ] || skip "the captured payloads are not here"
  a_store
  export CHITTA_NO_DAEMON=1
  count=0
  for file in "$CAPTURED"/*; do
    harness=${file##*/}
    harness=${harness%%-*}
    while IFS= read -r line || [ -n "$line" ]; do
      printf '%s' "$line" >"$TMP/p"
      for part in session-start subagent-start session-flush; do
        session "$part" "$harness" <"$TMP/p"
        well_behaved
        [ "$part" != session-flush ] || silent
        count=$((count + 1))
      done
    done <"$file"
  done
  [ "$count" -gt 60 ]
  no_process
  [ -s "$CHITTA_HOME/state/queue.jsonl" ]
}

@test "of a store that others may write to nothing is shown, and the doctor says why" {
  mkdir -p "$CHITTA_HOME/notes"
  chmod 777 "$CHITTA_HOME/notes"
  for part in session-start subagent-start session-flush; do
    session "$part" claude < <(start startup)
    well_behaved
    [ -z "$output" ]
  done
  grep -q 'degraded: others may write' "$CHITTA_HOME/state/last-failure.json"
}
