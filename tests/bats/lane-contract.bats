#!/usr/bin/env bats
# The law of docs/lane-contract.md, held against every lane file there is. A lane that is dropped into
# lanes/ is tested here without a word added; two strangers are dropped in to show that.
# shellcheck disable=SC2016,SC2030,SC2031 # lanes are texts of programs; each test is a subshell, and means to be

bats_require_minimum_version 1.5.0
load support/home

# Lanes of ours that answer from words when the daemon does not.
WORDS=' keyword correction-key '

setup_file() {
  # One copied checkout for the whole file: the tests only run what is in it.
  TMP=$(cd -P "$BATS_FILE_TMPDIR" && pwd -P)
  copied_checkout "$TMP/checkout"
  a_lane stranger-in-shell <<'EOF'
#!/usr/bin/env bash
# Summary: Answers every request with one row.
# Usage: stranger-in-shell <request.json >rows.jsonl
# Tag: strange
# Asks: nothing but the request
# Misses: everything
# Score: always 1
set -u
case ${1-} in --help) sed -n 's/^# //p' "$0" && exit 0 ;; esac
request=$(cat)
case $request in '{'*'"prompt"'*'}') ;; *) echo 'chitta: no request' >&2 && exit 100 ;; esac
printf '%s\n' '{"v":1,"lane":"stranger-in-shell","n":1}' '{"id":"a","score":1,"title":"a title"}'
EOF
  a_lane stranger-in-python <<'EOF'
#!/usr/bin/env python3
# Summary: Answers every request with one row, from the standard library alone.
# Usage: stranger-in-python <request.json >rows.jsonl
# Tag: py
# Asks: nothing but the request
# Misses: everything
# Score: always 1
import json
import sys

if "--help" in sys.argv:
    print(*(line[2:] for line in open(__file__) if line.startswith("# ")), sep="", end="")
    sys.exit()
try:
    json.load(sys.stdin)["prompt"]
except (ValueError, TypeError, KeyError) as problem:
    print(f"chitta: no request: {problem}", file=sys.stderr)
    sys.exit(100)
print(json.dumps({"v": 1, "lane": "stranger-in-python", "n": 1}))
print(json.dumps({"id": "a", "score": 1, "title": "a title"}))
EOF
  export CONTRACT_ROOT=$ROOT
}

setup() {
  own_home
  ROOT=$CONTRACT_ROOT
  LANES=()
  for lane in "$ROOT"/lanes/*; do LANES+=("${lane##*/}"); done
  REQUEST=$TMP/request.json
  printf '{"v":1,"prompt":"%s","query":"%s","context_query":"%s","tokens":["stripe","webhook"],"session":"s","turn":2,"cwd":"/","realm":"global","k":5,"deadline_ms":60000}\n' \
    "$PROMPT" "$PROMPT" "$PROMPT" >"$REQUEST"
  export CHITTA_PYTHON=$PYTHON CHITTA_DEADLINE_MS=60000
}

teardown() { stop_daemons; }

# as_launched NAME: runs a lane with the launcher's command, on standard input; sets status, output, stderr.
as_launched() {
  local first
  IFS= read -r first <"$ROOT/lanes/$1"
  if [ "$first" = '#!/usr/bin/env python3' ]; then
    run --separate-stderr "$PYTHON" -I -S -E "$ROOT/lanes/$1"
  else
    run --separate-stderr "$ROOT/lanes/$1"
  fi
}

# is_an_answer NAME: output holds a header of this lane, and every line after it is a row.
is_an_answer() {
  printf '%s\n' "$output" | "$PYTHON" -I -c 'import sys

from chitta.wire.rows import parse_rows

result = parse_rows(sys.argv[1], "ok", 0.0, sys.stdin.buffer.read())
assert result.state == "ok" and result.bad_rows == 0, result
assert result.header is not None and result.header.lane == sys.argv[1], result.header
assert len(result.rows) <= 5, len(result.rows)' "$1"
}

@test "every lane says at its head what it is" {
  [ ${#LANES[@]} -ge 9 ]
  for lane in "${LANES[@]}"; do # portable: never empty
    [[ $lane =~ ^[a-z-]+$ ]]
    [ -x "$ROOT/lanes/$lane" ]
    for word in Summary Usage Tag Asks Misses Score; do
      sed '/^#/!q' "$ROOT/lanes/$lane" | grep -q "^# $word: ." || {
        echo "$lane has no $word"
        return 1
      }
    done
  done
}

@test "tags are short and no two lanes have the same" {
  tags=$(sed -n 's/^# Tag: //p' "$ROOT"/lanes/* | sort)
  [ "$(printf '%s\n' "$tags" | wc -l)" -eq ${#LANES[@]} ]
  [ -z "$(printf '%s\n' "$tags" | uniq -d)" ]
  run ! grep -vE '^[a-z]{2,8}$' <<<"$tags"
}

@test "every lane explains itself" {
  for lane in "${LANES[@]}"; do # portable: never empty
    run --separate-stderr "$ROOT/lanes/$lane" --help </dev/null
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output == *"$(sed -n 's/^# Score: //p' "$ROOT/lanes/$lane" | cut -c 1-20)"* ]]
  done
}

@test "garbage on standard input is misuse" {
  export CHITTA_NO_DAEMON=1
  for garbage in '' 'nonsense' '[1,2]' '{"v":1}' '{"v":99,"prompt":"x"}' '{"prompt":"cut'; do
    printf '%s' "$garbage" >"$TMP/garbage"
    for lane in "${LANES[@]}"; do # portable: never empty
      case $lane:$garbage in stranger*:'{"v":99'*) continue ;; esac
      as_launched "$lane" <"$TMP/garbage"
      echo "$lane on '$garbage': $status $stderr"
      [ "$status" -eq 100 ]
      [ -z "$output" ]
      [ -n "$stderr" ]
    done
  done
}

@test "an empty store is an answer without rows, or unavailable" {
  export CHITTA_NO_DAEMON=1
  for lane in "${LANES[@]}"; do # portable: never empty
    as_launched "$lane" <"$REQUEST"
    echo "$lane: $status $stderr"
    case $status in
      0) is_an_answer "$lane" ;;
      111) [ -z "$output" ] && [ -n "$stderr" ] ;;
      *) false ;;
    esac
    [[ $lane == stranger* || $WORDS != *" $lane "* ]] || [ "$status" -eq 0 ]
  done
}

@test "a store of notes: every row can be used" {
  a_store
  export CHITTA_NO_DAEMON=1
  for lane in "${LANES[@]}"; do                        # portable: never empty
    case $lane in semantic | context) continue ;; esac # without a daemon they would load a model each
    as_launched "$lane" <"$REQUEST"
    echo "$lane: $status $stderr"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    is_an_answer "$lane"
  done
  as_launched keyword <"$REQUEST"
  [[ $output == *note-0* ]]
}

@test "the daemon's answer goes through unchanged" {
  fake_daemon polite
  for lane in "${LANES[@]}"; do # portable: never empty
    as_launched "$lane" <"$REQUEST"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    is_an_answer "$lane"
    [[ $lane == stranger* || $output == *"note-of-$lane"* ]]
  done
}

@test "fault 33: the same request gives the same bytes" {
  a_store
  export CHITTA_NO_DAEMON=1
  for lane in keyword correction-key correction stranger-in-shell; do
    as_launched "$lane" <"$REQUEST"
    first=$(printf '%s' "$output" | sed 's/"ms":[0-9.]*//')
    as_launched "$lane" <"$REQUEST"
    [ "$(printf '%s' "$output" | sed 's/"ms":[0-9.]*//')" = "$first" ]
  done
}

@test "unknown keys are ignored, missing ones have defaults" {
  export CHITTA_NO_DAEMON=1
  printf '{"prompt":"x","shoe_size":43}' >"$TMP/odd"
  for lane in "${LANES[@]}"; do # portable: never empty
    as_launched "$lane" <"$TMP/odd"
    echo "$lane: $status $stderr"
    [ "$status" -eq 0 ] || [ "$status" -eq 111 ]
  done
}

@test "a silent daemon: own alarm, or words in time" {
  fake_daemon silent
  for lane in "${LANES[@]}"; do # portable: never empty
    if [[ $WORDS == *" $lane "* ]]; then
      CHITTA_DEADLINE_MS=15000 as_launched "$lane" <"$REQUEST"
      [ "$status" -eq 0 ]
      is_an_answer "$lane"
    elif [[ $lane != stranger* ]]; then
      CHITTA_DEADLINE_MS=150 as_launched "$lane" <"$REQUEST"
      echo "$lane: $status $stderr"
      [ "$status" -eq 142 ]
      [ -z "$output" ]
    fi
  done
}

@test "an environment with nothing in it" {
  for lane in "${LANES[@]}"; do # portable: never empty
    run --separate-stderr env -i PATH=/usr/bin:/bin CHITTA_HOME="$CHITTA_HOME" CHITTA_NO_DAEMON=1 \
      CHITTA_PYTHON="$PYTHON" CHITTA_DEADLINE_MS=60000 "$ROOT/lanes/$lane" <"$REQUEST"
    echo "$lane: $status $stderr"
    [ "$status" -eq 0 ] || [ "$status" -eq 111 ]
    [ "$status" -ne 0 ] || is_an_answer "$lane"
  done
}

@test "a linked lane finds its checkout" {
  export CHITTA_NO_DAEMON=1
  mkdir -p "$TMP/some where"
  for lane in "${LANES[@]}"; do # portable: never empty
    ln -s "$ROOT/lanes/$lane" "$TMP/some where/$lane"
    run --separate-stderr "$TMP/some where/$lane" <"$REQUEST"
    echo "$lane: $status $stderr"
    [ "$status" -eq 0 ] || [ "$status" -eq 111 ]
  done
}

@test "colours and warnings stay out of the rows" {
  a_store
  export CHITTA_NO_DAEMON=1 FORCE_COLOR=1 PYTHONWARNINGS=always PYTHONVERBOSE=1
  as_launched keyword <"$REQUEST"
  [ "$status" -eq 0 ]
  is_an_answer keyword
}

@test "no lane leaves a process behind" {
  fake_daemon polite
  for lane in "${LANES[@]}"; do # portable: never empty
    # The pipe ends only when everything that the lane started has let go of it.
    output=$("$ROOT/lanes/$lane" <"$REQUEST" 2>&1 | cat)
    [ -n "$output" ]
  done
  run ! pgrep -f "$ROOT/lanes/"
}
