#!/bin/bash -p
# Summary: Recalls for one prompt: reads a harness's hook payload, prints what may enter the model's context.
# Usage: prompt-core.sh [claude|codex|copilot|gemini] <payload.json
#
# Always exits 0, and prints nothing unless there is something to say. The budget counts from the
# first line; every step below has a limit of its own inside it. -p: no BASH_ENV, no functions
# from the environment.
set +e -u
umask 077

# Standard error stays the harness's only for what a person has asked to see.
exec 3>&2 || exec 3>/dev/null
exec 2>/dev/null 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-

self=${BASH_SOURCE[0]}
[[ $self == */* ]] || self=./$self
while [[ -L $self ]]; do
  link=$(readlink "$self") || exit 0
  case $link in /*) self=$link ;; *) self=${self%/*}/$link ;; esac
done
# shellcheck source=lib/env.sh
. "${self%/*}/../lib/env.sh" || exit 0

# degraded WORDS: the prompt goes on; `chitta doctor` finds this line. Opening a FIFO would wait.
degraded() {
  local log=$CHITTA_HOME/state/recall-log.jsonl
  mkdir -p "$CHITTA_HOME/state" || return 0
  [[ -f $log || ! (-e $log || -L $log) ]] || return 0
  printf '{"degraded":["%s"]}\n' "$1" >>"$log"
}

# give_up WORDS: the same, and this is the end of it.
give_up() {
  degraded "$1"
  exit 0
}

[[ -x $CHITTA_PYTHON ]] || give_up 'no interpreter: run install.sh'

# shellcheck source=lib/launch.sh
. "$CHITTA_ROOT/lib/launch.sh"

dir='' turn='' merge=''
# shellcheck disable=SC2329 # the traps call it
clean() {
  trap - EXIT HUP INT TERM
  set +u # nothing may have been started yet
  [[ -z $merge ]] || kill -KILL "$merge"
  if [[ -d $dir ]]; then
    [[ -z $turn ]] || kill -KILL "$turn"
    chitta_kill_lanes
    # What has just been killed may still have made a file while rm was looking.
    rm -rf "$dir" || rm -rf "$dir" || rm -rf "$dir"
  fi
  exit 0
}
trap clean EXIT HUP INT TERM

# /dev/shm is a folder in memory, where there is one: prompts never touch a disk, and files cost less.
for base in "${TMPDIR:-/dev/shm}" /tmp "$CHITTA_HOME/state"; do
  [[ $base != "$CHITTA_HOME/state" ]] || mkdir -p "$base"
  dir=$base/chitta.$$.$RANDOM$RANDOM # named before it is there: who is ended in between knows what to remove
  mkdir -m 700 "$dir" || {
    dir=''
    continue
  }
  # The clock's mark, as large as what is to come: a folder without room for it is no use.
  ! printf '%262144s' '' >"$dir/started" || break
  rm -rf "$dir"
  dir=''
done
[[ -n $dir ]] || give_up 'no folder for temporary files'

# Each step runs in the background and is waited for, because a trap waits for a foreground one.
"$CHITTA_PYTHON" -I -S -E "$CHITTA_ROOT/bin/chitta-turn" "$dir/request.json" "${1-}" \
  <&0 >"$dir/launch" 2>"$dir/turn.err" 3>&- &
turn=$!

# Merge has nothing to wait for yet, but its interpreter starts on a core that is idle now.
case ${CHITTA_ADMIT_DEBUG:-}${CHITTA_RECALL_PROFILE:-} in
  '' | 0 | 00) exec 3>"$dir/merge.err" ;;
esac
# Merge clears the folder away, so its output is read through a descriptor that was open before.
# shellcheck disable=SC2094 # written by merge, read when merge has ended
exec 4>"$dir/out" 5<"$dir/out" || give_up 'no room for temporary files'
"$CHITTA_PYTHON" -I -S -E "$CHITTA_ROOT/bin/chitta-merge" "$dir" $$ </dev/null >&4 2>&3 3>&- 4>&- 5<&- &
merge=$!
exec 3>&- 4>&-
wait "$turn" || give_up "turn ended with $?"
turn=''

go='' budget_ms='' limit_ms='' left_ms='' skip='' only='' limits=''
while IFS='=' read -r key value; do
  case $value in *[!A-Za-z0-9._=\ -]*) continue ;; esac
  case $key in
    go | budget_ms | limit_ms | left_ms | limit.*) case $value in '' | *[!0-9]* | ???????*) continue ;; esac ;;
  esac
  case $key in
    go) go=$value ;;
    budget_ms) budget_ms=$value ;;
    limit_ms) limit_ms=$value ;;
    left_ms) left_ms=$value ;;
    limit.*) limits+=" ${key#limit.}=$value" ;;
    skip) skip=$value ;;
    only) only=$value ;;
  esac
done <"$dir/launch"
# Where nothing was asked, the first step has taken the folder away.
[[ -n $go || ! -d $dir ]] || give_up 'no room for temporary files'
[[ $go == 1 && -n $budget_ms && -n $limit_ms && -n $left_ms ]] || exit 0

chitta_launch "$dir" "$skip" "$only" "$limit_ms" "$limits" "$left_ms"

# One write: merge takes the line when it has its end.
printf '%s\n' "$budget_ms$CHITTA_LAUNCHED" >"$dir/launched" || give_up 'no room for temporary files'
wait "$merge" || give_up "merge ended with $?"
merge=''
IFS= read -r -d '' out <&5
# A wrapper in the interpreter's place may print words of its own.
case $out in
  '' | '{'*'}' | '{'*$'}\n') ;;
  *) give_up 'what came to print is no JSON' ;;
esac
# A harness that has stopped listening must not make this exit with 141.
trap : PIPE
[[ -z $out ]] || printf '%s' "$out"
exit 0
