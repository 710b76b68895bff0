#!/usr/bin/env bats
# The hook as a harness calls it: what it prints, when it is silent, what it leaves behind.
# shellcheck disable=SC2016,SC2030,SC2031 # lanes are texts of programs; each test is a subshell, and means to be

bats_require_minimum_version 1.5.0
load support/home

# Limits that no step comes near, however busy this machine is; a test that is about lateness sets its own.
UNHURRIED=(CHITTA_HOOK_BUDGET_MS=120000 CHITTA_LANE_LIMIT_MS=60000 CHITTA_HYBRID_LIMIT_MS=60000)

setup() {
  own_home
  export "${UNHURRIED[@]}" # portable: never empty
}
teardown() { stop_daemons; }

# hook [ARGUMENT…]: runs it on standard input; output, stderr and status as `run` gives them.
hook() { run --separate-stderr "$HOOK" "$@"; }

# Nothing but JSON on standard output, nothing on standard error.
well_behaved() {
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [ -z "$output" ] || context_of "$output" >/dev/null
}

corrected() {
  well_behaved
  [[ $(context_of "$output") == *"pnpm install"* ]]
}

@test "a prompt that repeats a correction's trigger gets it" {
  a_store
  payload 'please run npm install in the web folder' >"$TMP/p"
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx hook claude <"$TMP/p"
  corrected
  cleared
}

@test "fault 19: an empty store is silence" {
  payload "$PROMPT" >"$TMP/p"
  CHITTA_NO_DAEMON=1 hook claude <"$TMP/p"
  silent
  [ "$(logged '{lane["state"] for lane in log[-1]["lanes"].values()} <= {"ok", "empty", "unavailable"}')" = True ]
  [ "$(logged 'sum(lane["rows"] for lane in log[-1]["lanes"].values())')" = 0 ]
}

@test "fault 01: without a daemon one is started, and it holds nothing of the hook's" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  # The pipe ends only when everybody has closed it; both streams are captured.
  output=$("$HOOK" claude <"$TMP/p" 2>&1 | cat)
  [[ $(context_of "$output") == *"pnpm install"* ]]
  wait_for test -s "$CHITTA_HOME/run/daemon.pid"
  cleared
}

@test "with a daemon every lane is asked and merge prints what it says" {
  fake_daemon polite
  patient_checkout
  payload "$PROMPT" >"$TMP/p"
  hook claude <"$TMP/p"
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [ "$output" = '{"merged": "context correction correction-key cross-realm hybrid keyword semantic"}' ]
  cleared
}

@test "fault 01: a daemon with bad manners costs time and never the prompt" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  for manner in silent half lying foreign hangup failing; do
    fake_daemon "$manner"
    CHITTA_LANE_LIMIT_MS=12000 CHITTA_HYBRID_LIMIT_MS=12000 hook claude <"$TMP/p"
    printf '%s: %s\n' "$manner" "$output"
    corrected
    rm -rf "$CHITTA_HOME/state/sessions"
    stop_daemons
  done
}

@test "a lane that is left out counts as one that is not there" {
  a_store
  payload "$PROMPT, and npm install" >"$TMP/p"
  export CHITTA_NO_DAEMON=1
  copied_checkout
  rm "$ROOT/lanes/semantic" "$ROOT/lanes/context"
  for pair in hyb:hybrid kw:keyword xr:cross-realm corr:correction; do
    lane=${pair#*:}
    CHITTA_ABLATE_LANES=${pair%:*} hook claude <"$TMP/p"
    well_behaved
    left_out=${output/ · ablated: ${pair%:*}/} # the one word about it
    [ "$(logged "log[-1]['lanes']['$lane']['state']")" = ablated ]
    rm -rf "$CHITTA_HOME/state/sessions"
    mv "$ROOT/lanes/$lane" "$TMP/$lane"
    hook claude <"$TMP/p"
    printf 'left out: %s\n' "$left_out"
    printf 'not there: %s\n' "$output"
    [ "$output" = "$left_out" ]
    mv "$TMP/$lane" "$ROOT/lanes/$lane"
    rm -rf "$CHITTA_HOME/state/sessions"
  done
}

@test "with every lane left out, corrections by key still come" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,kw,xr,corr,corrk hook claude <"$TMP/p"
  corrected
  [ "$(logged 'sum(lane["state"] == "ablated" for lane in log[-1]["lanes"].values())')" = 6 ]
}

# What comes in

@test "fault 25: odd payloads are silence" {
  export CHITTA_NO_DAEMON=1
  for text in '' ' ' '{}' '[]' 'null' '"text"' '{"prompt":""}' '{"prompt":"   "}' '{"prompt":null}' '{"prompt":7}' \
    '{"session_id":"s","cwd":"/x"}' '{"prompt":"cut sh' '["prompt"]' '{"a":1} {}' 'not JSON at all'; do
    printf '%s' "$text" >"$TMP/p"
    hook claude <"$TMP/p"
    printf 'payload %s\n' "$text"
    silent
  done
  printf '\377\376\000\001' >"$TMP/p"
  hook claude <"$TMP/p"
  silent
  cleared
  [ ! -e "$CHITTA_HOME/state/recall-log.jsonl" ] # where nothing was asked nothing is said either
}

@test "fault 25: recorded shapes of other clients do no harm" {
  shapes=$REPO/../shared/data/payloads/edge_shapes.jsonl
  [ -r "$shapes" ] || skip "there are no recorded payloads beside this checkout"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,kw,xr,corr
  mkdir "$TMP/shapes"
  "$PYTHON" -I -c 'import json, sys
for number, line in enumerate(open(sys.argv[1], encoding="utf-8")):
    open(f"{sys.argv[2]}/{number:02}", "w", encoding="utf-8", newline="").write(json.loads(line)["stdin"])' "$shapes" "$TMP/shapes"
  for shape in "$TMP/shapes"/*; do
    hook <"$shape"
    cat "$shape"
    silent
  done
  cleared
}

@test "fault 23: standard input that never closes does not hold the prompt" {
  a_store
  mkfifo "$TMP/fifo"
  payload 'please run npm install' >"$TMP/p"
  exec 9<>"$TMP/fifo"
  cat "$TMP/p" >&9
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx hook claude <"$TMP/fifo"
  exec 9>&-
  corrected
}

@test "standard input that stays empty and open ends in silence" {
  mkfifo "$TMP/fifo"
  exec 9<>"$TMP/fifo"
  CHITTA_NO_DAEMON=1 CHITTA_STDIN_WAIT_MS=200 hook claude <"$TMP/fifo"
  exec 9>&-
  silent
  cleared
}

@test "fault 23: standard input that comes late and in pieces is read whole" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  late() {
    sleep 0.6
    head -c 30 "$TMP/p"
    sleep 0.3
    tail -c +31 "$TMP/p"
  }
  output=$(late | CHITTA_STDIN_WAIT_MS=60000 CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx "$HOOK" claude)
  [[ $(context_of "$output") == *"pnpm install"* ]]
}

@test "closed standard streams are no reason to fail" {
  CHITTA_NO_DAEMON=1 run "$HOOK" claude <&-
  [ "$status" -eq 0 ]
  payload "$PROMPT" >"$TMP/p"
  CHITTA_NO_DAEMON=1 run "$HOOK" claude <"$TMP/p" 2>&-
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "fault 15: a prompt of 200 kB goes through" {
  a_store
  "$PYTHON" -I -c 'import json
print(json.dumps({"session_id": "s", "prompt": "npm install " + "lorem ipsum dolor " * 11_000 + "why"}))' >"$TMP/p"
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr hook claude <"$TMP/p"
  corrected
}

# Where it runs

@test "fault 22: the hook and its checkout work through links and with spaces in their paths" {
  a_store
  copied_checkout "$TMP/a folder/with 'odd' \$names"
  payload 'please run npm install' >"$TMP/p"
  mkdir -p "$TMP/bin dir"
  ln -s "$HOOK" "$TMP/bin dir/first link"
  ln -s "first link" "$TMP/bin dir/second link"
  ln -s "$TMP/a folder" "$TMP/linked folder"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr
  for HOOK in "$TMP/bin dir/second link" "$TMP/linked folder/with 'odd' \$names/hooks/prompt-core.sh"; do
    rm -rf "$CHITTA_HOME/state/sessions"
    hook claude <"$TMP/p"
    corrected
  done
  cd "$ROOT/hooks"
  rm -rf "$CHITTA_HOME/state/sessions"
  HOOK=./prompt-core.sh hook claude <"$TMP/p"
  corrected
  rm -rf "$CHITTA_HOME/state/sessions"
  run --separate-stderr bash prompt-core.sh claude <"$TMP/p"
  corrected
}

@test "fault 22: a store under a path with a space" {
  export CHITTA_HOME="$TMP/a home/of mine"
  a_store
  payload 'please run npm install' >"$TMP/p"
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx hook claude <"$TMP/p"
  corrected
}

# bare_hook [VARIABLE=VALUE…]: the hook on standard input, in an environment with nothing else in it.
bare_hook() {
  set -- "$@" "${UNHURRIED[@]}" # portable: never empty
  run --separate-stderr env -i "$@" CHITTA_HOME="$CHITTA_HOME" CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx \
    "$HOOK" claude
}

@test "fault 21: an environment with nothing in it" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  bare_hook <"$TMP/p"
  corrected
  rm -rf "$CHITTA_HOME/state/sessions"
  bare_hook PATH=/nowhere <"$TMP/p"
  corrected
}

@test "fault 39: a store that cannot be made is silence" {
  : >"$TMP/file"
  payload "$PROMPT" >"$TMP/p"
  CHITTA_HOME=$TMP/file/home CHITTA_WARM_WAIT_MS=100 hook claude <"$TMP/p"
  silent
  cleared
}

@test "fault 39: a store that may only be read still gives what it holds" {
  [ "$(id -u)" -ne 0 ] || skip "nothing is read-only for root"
  a_store
  payload 'please run npm install' >"$TMP/p"
  chmod -R a-w "$CHITTA_HOME"
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx hook claude <"$TMP/p"
  chmod -R u+w "$CHITTA_HOME"
  corrected
}

@test "without a folder for temporary files another is found" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  TMPDIR=$TMP/nowhere CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx hook claude <"$TMP/p"
  corrected
}

@test "without TMPDIR the folder for temporary files is in memory, where there is one, and gone afterwards" {
  [ -d /dev/shm ] || skip "no folder in memory here"
  a_store
  copied_checkout
  a_lane looks <<'EOF'
#!/usr/bin/env bash
for found in /dev/shm/chitta.*/looks.part; do
  [ ! "$found" -ef /dev/stdout ] || echo "$found" >"$CHITTA_HOME/looked"
done
EOF
  payload 'please run npm install' >"$TMP/p"
  CHITTA_NO_DAEMON=1 TMPDIR='' hook claude <"$TMP/p"
  corrected
  found=$(cat "$CHITTA_HOME/looked")
  [[ $found == /dev/shm/chitta.*.*/looks.part ]]
  [ ! -e "${found%/*}" ]
}

@test "fault 18: colours and profiles do not reach the output" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  printf 'echo noise; echo more noise >&2; printf "\\033[31m"; rm() { echo noise; }; set -e\n' >"$TMP/noisy"
  export FORCE_COLOR=1 CLICOLOR_FORCE=1 PY_COLORS=1 BASH_ENV=$TMP/noisy ENV=$TMP/noisy
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx run --separate-stderr \
    env 'BASH_FUNC_mktemp%%=() { echo /; }' 'BASH_FUNC_readlink()=() { echo /; }' SHELLOPTS=xtrace CDPATH=/ \
    "$HOOK" claude <"$TMP/p"
  unset BASH_ENV ENV
  corrected
}

@test "fault 16: locales do not matter" {
  a_store
  payload 'please run npm install für größe' >"$TMP/p"
  for locale in C POSIX C.UTF-8; do
    rm -rf "$CHITTA_HOME/state/sessions"
    LC_ALL=$locale PYTHONIOENCODING=cp1252 CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr hook claude <"$TMP/p"
    corrected
  done
}

@test "fault 10: each harness gets its own envelope" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr
  for harness in claude codex gemini; do
    rm -rf "$CHITTA_HOME/state/sessions"
    hook "$harness" <"$TMP/p"
    corrected
  done
  rm -rf "$CHITTA_HOME/state/sessions"
  hook copilot <"$TMP/p"
  [[ $output == '{"additionalContext":'*"pnpm install"* ]]
}

# What it leaves behind

@test "fault 42: without an interpreter the prompt goes on and the log says so" {
  payload "$PROMPT" >"$TMP/p"
  CHITTA_PYTHON=$TMP/nowhere/python hook claude <"$TMP/p"
  silent
  [ "$(logged 'log[-1]["degraded"]')" = "['no interpreter: run install.sh']" ]
}

@test "a lane dropped in runs in shadow: logged, not shown" {
  a_store
  copied_checkout
  a_lane shadow <<'EOF'
#!/usr/bin/env bash
read -r request
case $request in *webhook*) ;; *) exit 100 ;; esac
printf '{"v":1,"lane":"shadow","n":1}\n'
printf '{"id":"note-0","score":1,"title":"from the shadow","text":"x","conf":1}\n'
EOF
  for junk in 'semantic~' keyword.orig README Upper; do cp "$ROOT/lanes/shadow" "$ROOT/lanes/$junk"; done
  cp "$ROOT/lanes/shadow" "$ROOT/lanes/sleeping"
  chmod -x "$ROOT/lanes/sleeping"
  payload "$PROMPT" >"$TMP/p"
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx hook claude <"$TMP/p"
  well_behaved
  [[ $output != *"from the shadow"* ]]
  [ "$(logged '[(name, lane["state"], lane["rows"]) for name, lane in log[-1]["lanes"].items() if name == "shadow"]')" = \
    "[('shadow', 'ok', 1)]" ]
  [ "$(logged 'len(log[-1]["lanes"])')" = 8 ]
}

@test "fault 28: a lane that hangs, and what it started, is ended; the others are shown" {
  a_store
  copied_checkout
  a_lane stuck <<EOF
#!/usr/bin/env bash
sleep 600 &
echo \$\$ \$! >"$TMP/pids.new" && mv "$TMP/pids.new" "$TMP/pids"
trap '' TERM HUP INT
wait
EOF
  payload 'please run npm install' >"$TMP/p"
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr CHITTA_LANE_LIMIT_MS=10000 hook claude <"$TMP/p"
  corrected
  [ "$(logged 'log[-1]["lanes"]["stuck"]["state"]')" = late ]
  read -r shell child <"$TMP/pids"
  wait_for gone "$shell"
  wait_for gone "$child"
  cleared
}

@test "fault 24: a lane's child that outlives it holds nothing and is ended" {
  fake_daemon polite
  patient_checkout
  a_lane leaky <<EOF
#!/usr/bin/env bash
sleep 600 &
echo \$! >"$TMP/child"
EOF
  payload "$PROMPT" >"$TMP/p"
  output=$("$HOOK" claude <"$TMP/p" 2>&1 | cat)
  [[ $output == '{"merged": '*leaky* ]]
  wait_for gone "$(cat "$TMP/child")"
  cleared
}

@test "fault 05: the budget counts from the first line and holds whatever the lanes do" {
  patient_checkout
  a_lane stuck <<'EOF'
#!/usr/bin/env bash
exec sleep 600
EOF
  payload "$PROMPT" >"$TMP/p"
  began=$SECONDS
  CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx CHITTA_HOOK_BUDGET_MS=10000 CHITTA_LANE_LIMIT_MS=600000 hook claude <"$TMP/p"
  silent
  [ $((SECONDS - began)) -lt 120 ] # the lane would take ten minutes
  [ "$(logged 'log[-1]["lanes"]["stuck"]["state"]')" = late ]
}

@test "a hook that is told to stop clears up and exits 0" {
  copied_checkout
  a_lane stuck <<EOF
#!/usr/bin/env bash
echo \$\$ >"$TMP/pid.new" && mv "$TMP/pid.new" "$TMP/pid"
exec sleep 600
EOF
  payload "$PROMPT" >"$TMP/p"
  for signal in TERM INT HUP; do
    rm -f "$TMP/pid"
    # A shell of its own: a background job of this one would ignore INT.
    bash -c 'set -m; "$1" claude <"$2" >"$3" 2>&1 & echo $! >"$4"; wait $!; echo $? >"$5"' - \
      "$HOOK" "$TMP/p" "$TMP/out" "$TMP/hook.pid" "$TMP/rc" 3>&- &
    wait_for test -s "$TMP/pid"
    kill -"$signal" "$(cat "$TMP/hook.pid")"
    wait $!
    [ "$(cat "$TMP/rc")" = 0 ]
    [ ! -s "$TMP/out" ]
    wait_for gone "$(cat "$TMP/pid")"
    cleared
  done
}

@test "a hook that is killed outright leaves nothing for long" {
  copied_checkout
  a_lane stuck <<EOF
#!/usr/bin/env bash
echo \$\$ >"$TMP/pid.new" && mv "$TMP/pid.new" "$TMP/pid"
exec sleep 600
EOF
  payload "$PROMPT" >"$TMP/p"
  CHITTA_NO_DAEMON=1 CHITTA_LANE_LIMIT_MS=10000 CHITTA_HYBRID_LIMIT_MS=10000 "$HOOK" claude <"$TMP/p" 3>&- &
  wait_for test -s "$TMP/pid"
  wait_for pgrep -f "chitta-merge.*$TMPDIR" # whose work it is to end what is late
  kill -KILL $!
  wait_for gone "$(cat "$TMP/pid")"
  wait_for cleared
}

@test "fault 26: six hooks at once" {
  a_store
  payload 'please run npm install' | sed 's/"session_id": "s"//; s/{, /{/' >"$TMP/p"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr,corr
  pids=''
  for number in 1 2 3 4 5 6; do
    "$HOOK" claude <"$TMP/p" >"$TMP/out$number" 2>&1 3>&- &
    pids+=" $!"
  done
  for pid in $pids; do wait "$pid"; done
  for number in 1 2 3 4 5 6; do
    [[ $(context_of "$(cat "$TMP/out$number")") == *"pnpm install"* ]]
  done
  [ "$(logged 'len(log)')" = 6 ]
  cleared
}

@test "standard error is for those who ask" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr
  CHITTA_ADMIT_DEBUG=1 hook claude <"$TMP/p"
  [[ $stderr == *"corrk"* ]]
  context_of "$output"
  CHITTA_RECALL_PROFILE=1 hook claude <"$TMP/p"
  [[ $stderr == *"chitta: profile"*"keyword="* ]]
}

@test "fault 10: what fails before the log is written leaves a line in it" {
  payload "$PROMPT" >"$TMP/p"
  printf '#!/bin/sh\ncase "$*" in *chitta-%s*) exit 7 ;; esac\nexec "%s" "$@"\n' merge "$PYTHON" >"$TMP/python"
  chmod +x "$TMP/python"
  export CHITTA_NO_DAEMON=1 CHITTA_PYTHON=$TMP/python CHITTA_ABLATE_LANES=sem,ctx,hyb,xr,corr,kw
  hook claude <"$TMP/p"
  silent
  [ "$(logged 'log[-1]["degraded"]')" = "['merge ended with 7']" ]
  sed 's/chitta-merge/chitta-turn/' "$TMP/python" >"$TMP/other"
  cat "$TMP/other" >"$TMP/python"
  hook claude <"$TMP/p"
  silent
  [ "$(logged 'log[-1]["degraded"]')" = "['turn ended with 7']" ]
  cleared
}

@test "fault 18: what is no JSON is not printed, whoever wrote it" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  printf '#!/bin/sh\necho noise\nexec "%s" "$@"\n' "$PYTHON" >"$TMP/python"
  chmod +x "$TMP/python"
  CHITTA_NO_DAEMON=1 CHITTA_PYTHON=$TMP/python CHITTA_ABLATE_LANES=sem,ctx,hyb,xr hook claude <"$TMP/p"
  silent
  cleared
}

@test "fault 02: a pipe in the log's place holds nobody" {
  payload "$PROMPT" >"$TMP/p"
  mkdir -p "$CHITTA_HOME/state"
  mkfifo "$CHITTA_HOME/state/recall-log.jsonl"
  CHITTA_PYTHON=$TMP/nowhere/python hook claude <"$TMP/p"
  silent
}

@test "fault 28: fifty hooks whose parents are killed leave nothing" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr,corr,kw
  parents=''
  for number in {1..50}; do
    # shellcheck disable=SC2016 # its own arguments
    "$BASH" -c '"$1" claude "$2" <"$2" >/dev/null 2>&1; :' - "$HOOK" "$TMP/p" 3>&- &
    parents+=" $!"
  done
  # shellcheck disable=SC2086 # numbers
  kill -KILL $parents
  no_hook() { ! pgrep -f "chitta-(turn|merge) $TMPDIR" >/dev/null; }
  wait_for no_hook
  wait_for cleared
}

@test "fault 26: twenty hooks at once while a writer holds the store's lock" {
  a_store
  payload 'please run npm install' | sed 's/"session_id": "s"//; s/{, /{/' >"$TMP/p"
  printf 'import filelock, sys\nwith filelock.FileLock(sys.argv[1]):\n    print("held", flush=True)\n    sys.stdin.read()\n' >"$TMP/holder.py"
  mkfifo "$TMP/end"
  "$PYTHON" -I "$TMP/holder.py" "$CHITTA_HOME/index/write.lock" <"$TMP/end" >"$TMP/held" 3>&- &
  holder=$!
  exec 9>"$TMP/end"
  wait_for grep -q held "$TMP/held"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr,corr
  hooks=''
  for number in {1..20}; do
    "$HOOK" claude <"$TMP/p" >"$TMP/out.$number" 2>"$TMP/err.$number" 3>&- 9>&- &
    hooks+=" $!"
  done
  for pid in $hooks; do wait "$pid"; done
  kill -0 "$holder" # nobody waited for the writer to end
  exec 9>&-
  wait "$holder"
  for number in {1..20}; do
    [ ! -s "$TMP/err.$number" ]
    [[ $(context_of "$(cat "$TMP/out.$number")") == *"pnpm install"* ]]
  done
  [ "$(logged 'len(log)')" -eq 20 ]
  cleared
}
