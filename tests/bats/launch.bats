#!/usr/bin/env bats
# The sourced halves of the hook: where things are (lib/env.sh), how lanes are started (lib/launch.sh).
# shellcheck disable=SC2016,SC2030,SC2031 # lanes are texts of programs; each test is a subshell, and means to be

bats_require_minimum_version 1.5.0
load support/home

setup() {
  own_home
  RUN=$TMP/run
  CHITTA_ROOT=$TMP/root
  CHITTA_PYTHON=$PYTHON
  mkdir -p "$RUN" "$CHITTA_ROOT/lanes"
  ROOT=$CHITTA_ROOT
  printf '{"prompt":"x"}\n' >"$RUN/request.json"
  # shellcheck source=lib/launch.sh
  . "$REPO/lib/launch.sh"
}

teardown() {
  local group
  for group in $CHITTA_GROUPS; do kill -KILL -- "-$group" 2>/dev/null || true; done
}

# launch SKIP ONLY LIMITS LEFT_MS: as the hook does, with a usual limit of 2000 ms.
launch() { chitta_launch "$RUN" "$1" "$2" 2000 "$3" "$4" 3>&-; }

ended() { [ "$(cat "$RUN/$1.exit" 2>/dev/null)" != '' ]; }

@test "a lane reads the request, and its streams and its exit code are files" {
  a_lane talker <<'EOF'
#!/bin/sh
cat
echo problem >&2
exit 111
EOF
  launch '' '' '' 6000
  wait_for ended talker
  [ "$(cat "$RUN/talker.part")" = '{"prompt":"x"}' ]
  [ "$(cat "$RUN/talker.err")" = problem ]
  [ "$(cat "$RUN/talker.exit")" = 111 ]
  [ ! -e "$RUN/talker.jsonl" ] # renaming is merge's
}

@test "a lane ended by a signal has the shell's number for it" {
  a_lane dying <<'EOF'
#!/bin/sh
kill -ALRM $$
EOF
  launch '' '' '' 6000
  wait_for ended dying
  [ "$(cat "$RUN/dying.exit")" = 142 ]
}

@test "only executables with a lane's name are lanes" {
  for name in good also-good 'semantic~' keyword.orig README Big under_score 'two words' 2nd; do
    printf '#!/bin/sh\n' | a_lane "$name"
  done
  printf '#!/bin/sh\n' >"$ROOT/lanes/sleeping"
  mkdir "$ROOT/lanes/folder"
  ln -s /nowhere "$ROOT/lanes/dangling"
  ln -s good "$ROOT/lanes/linked"
  launch '' '' '' 6000
  names=''
  for word in $CHITTA_LAUNCHED; do names+=" ${word%%=*}"; done
  [ "$names" = ' also-good good linked' ]
}

@test "fault 19: an empty folder of lanes is no lane" {
  launch '' '' '' 6000
  [ -z "$CHITTA_LAUNCHED$CHITTA_GROUPS" ]
}

@test "lanes to leave out are named, others than those asked for are not" {
  for name in one two three; do printf '#!/bin/sh\n' | a_lane "$name"; done
  launch 'two' '' '' 6000
  [[ $CHITTA_LAUNCHED == ' one='*:2000' three='*:2000' two=ablated' ]]
  CHITTA_LAUNCHED=''
  launch '' 'two' '' 6000
  [[ $CHITTA_LAUNCHED == ' two='*:2000 ]]
  CHITTA_LAUNCHED=''
  launch 'tw wo' '' '' 6000 # no part of a name is a name
  [[ $CHITTA_LAUNCHED != *ablated* ]]
}

@test "fault 04: each lane is told its own limit, and none more than what is left" {
  for name in usual long longer; do
    printf '#!/bin/sh\necho $CHITTA_DEADLINE_MS\n' | a_lane "$name"
  done
  launch '' '' ' long=3000 longer=9000' 4000
  for name in usual long longer; do wait_for ended "$name"; done
  [ "$(cat "$RUN/usual.part" "$RUN/long.part" "$RUN/longer.part" | tr '\n' ' ')" = '2000 3000 4000 ' ]
  [[ $CHITTA_LAUNCHED == *' longer='*:4000* ]]
}

@test "a Python lane runs under the pinned interpreter, others as they say" {
  printf '#!/usr/bin/env python3\nimport sys\nprint(sys.executable, sys.flags.isolated, sys.flags.no_site)\n' | a_lane snake
  # Python that finds its interpreter by itself. A first line cannot name one whose path has a space, so the second
  # line, which is a string to Python, does it.
  export PYTHON
  printf '#!/bin/sh\n"exec" "$PYTHON" "$0"\nimport sys\nprint(sys.flags.isolated, sys.flags.no_site)\n' | a_lane own-snake
  printf '#!/usr/bin/env bash\necho "$BASH_VERSION"\n' | a_lane shell
  launch '' '' '' 6000
  for name in snake own-snake shell; do wait_for ended "$name"; done
  [ "$(cat "$RUN/snake.part")" = "$PYTHON 1 1" ]
  [ "$(cat "$RUN/own-snake.part")" = '0 0' ]
  [ -s "$RUN/shell.part" ]
}

@test "each lane leads a process group of its own" {
  printf '#!/bin/sh\nexec sleep 600\n' | a_lane first
  printf '#!/bin/sh\nexec sleep 600\n' | a_lane second
  launch '' '' '' 6000
  for group in $CHITTA_GROUPS; do
    [ "$(ps -o pgid= -p "$group" | tr -d ' ')" = "$group" ]
    [[ $CHITTA_LAUNCHED == *"=$group:2000"* ]]
  done
  [ "$(ps -o pgid= -p $$ | tr -d ' ')" != "$group" ]
  chitta_kill_lanes
  for group in $CHITTA_GROUPS; do wait_for gone "$group"; done
}

@test "fault 24: a lane holds nothing of the hook's streams" {
  printf '#!/bin/sh\nexec sleep 600\n' | a_lane holder
  # The outer pipe ends only if neither the lane nor the shell around it has it open.
  output=$(
    launch '' '' '' 6000
    echo "$CHITTA_GROUPS"
  )
  CHITTA_GROUPS=$output
  [ "$(ps -o pgid= -p "${output# }" | tr -d ' ')" = "${output# }" ]
}

# lib/env.sh

# where COMMAND-PREFIX…: what env.sh finds, in an environment of nothing but what is given.
where() {
  env -i "$@" bash -c 'set -u; . "$0/lib/env.sh"; printf "%s|%s|%s|%s" "$CHITTA_ROOT" "$CHITTA_PYTHON" "$CHITTA_HOME" "$PWD"' \
    "$ENV_ROOT"
}

@test "the checkout, the interpreter and the store are absolute paths" {
  ENV_ROOT=$REPO
  cd "$TMP"
  [ "$(where HOME=/h)" = "$REPO|$REPO/.venv/bin/python|/h/.chitta|$TMP" ]
  [ "$(where HOME=/h CHITTA_HOME='~/x y')" = "$REPO|$REPO/.venv/bin/python|/h/x y|$TMP" ]
  [ "$(where HOME=/h CHITTA_HOME=~)" = "$REPO|$REPO/.venv/bin/python|$HOME|$TMP" ]
  [ "$(where HOME=/h CHITTA_HOME=rel)" = "$REPO|$REPO/.venv/bin/python|/h/rel|$TMP" ]
  [ "$(where HOME=/h CHITTA_PYTHON=/p)" = "$REPO|/p|/h/.chitta|$TMP" ]
}

@test "through a link the checkout is the real one" {
  ln -s "$REPO" "$TMP/a link"
  ENV_ROOT="$TMP/a link"
  [[ $(where HOME=/h) == "$REPO|"* ]]
}

@test "without HOME the user database knows the person's folder" {
  ENV_ROOT=$REPO
  person=$("$PYTHON" -I -c 'import os, pwd; print(pwd.getpwuid(os.getuid()).pw_dir)')
  [[ $(where X=1) == *"|$person/.chitta|"* ]]
  [[ $(where HOME=) == *"|$person/.chitta|"* ]]
}

@test "a working directory that is gone is no reason to fail" {
  mkdir "$TMP/gone"
  cd "$TMP/gone"
  rmdir "$TMP/gone"
  ENV_ROOT=$REPO
  run --separate-stderr where HOME=/h
  cd "$TMP"
  [ "$status" -eq 0 ]
  [[ $output == "$REPO|"* ]]
}

@test "what makes shells noisy or lost is not passed on" {
  run env -i BASH_ENV=/dev/null ENV=/dev/null CDPATH=/ HOME=/h bash -c '. "$0/lib/env.sh"; env' "$REPO"
  [[ $output != *BASH_ENV* && $output != *$'\nENV='* && $output != *CDPATH* ]]
  [[ $output == *PATH=*/usr/bin:/bin* ]]
}

# bin/chitta

@test "the front door passes words on and finds its checkout through a link" {
  ln -s "$REPO/bin/chitta" "$TMP/a link"
  run --separate-stderr "$TMP/a link" --help
  [ "$status" -eq 0 ]
  [[ $output == *Usage:* ]]
}

@test "the front door without an interpreter says what to do" {
  CHITTA_PYTHON=$TMP/nowhere run --separate-stderr "$REPO/bin/chitta" recall x
  [ "$status" -eq 111 ]
  [ -z "$output" ]
  [[ $stderr == "chitta: not installed"*"hint: run "*"/install.sh" ]]
}

@test "fault 28: what a lane writes to a file is bounded" {
  a_lane large <<'EOF'
#!/usr/bin/env bash
ulimit -S -f
EOF
  launch '' '' '' 6000
  wait_for ended large
  [ "$(cat "$RUN/large.part")" -le 16384 ]
}
