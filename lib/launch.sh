# shellcheck shell=bash
# Starts the lanes of one prompt; sourced by the hook.
#
# Each lane is a process group of its own with all three standard streams in files of the run
# folder, so that nothing of it can hold the harness's pipes open and one signal ends all of it.
# The only processes started here are the lanes and the shell that keeps each one's exit code:
# merge, which runs anyway, does the renames.

CHITTA_LAUNCHED='' # words for merge: NAME=PGID:LIMIT_MS or NAME=ablated
CHITTA_GROUPS=''   # the process groups, to be killed in a hurry

# chitta_run_lane DIR NAME COMMAND…
# Runs one lane to its end, in a shell of its own. The exit code is there once its line is whole.
chitta_run_lane() {
  local dir=$1 name=$2 code=0
  shift 2
  # What a lane writes ends at 16 MiB a file, since the folder may be in memory; merge reads four.
  ulimit -S -f 16384
  # The whole shell lets go of the harness's streams, not the lane alone.
  { exec 3>&- <"$dir/request.json" >"$dir/$name.part" 2>"$dir/$name.err" && "$@"; } || code=$?
  printf '%d\n' "$code" >"$dir/$name.exit"
}

# chitta_launch DIR SKIP ONLY LIMIT_MS LIMITS LEFT_MS
# Starts every lane file that is not in SKIP and, where ONLY is not empty, is in ONLY. LIMITS holds
# words NAME=MS for the lanes whose limit is not LIMIT_MS. No lane gets more than LEFT_MS.
chitta_launch() {
  local dir=$1 skip=" $2 " only=" $3 " usual=$4 limits=" $5 " left=$6
  local lane name limit first
  set -m
  for lane in "$CHITTA_ROOT"/lanes/*; do
    name=${lane##*/}
    # Spelled out: what [a-z] holds depends on the locale.
    case $name in *[!abcdefghijklmnopqrstuvwxyz-]* | '') continue ;; esac
    [[ -f $lane && -x $lane ]] || continue
    if [[ $only != '  ' && $only != *" $name "* ]]; then continue; fi
    if [[ $skip == *" $name "* ]]; then
      CHITTA_LAUNCHED+=" $name=ablated"
      continue
    fi
    limit=$usual
    if [[ $limits == *" $name="* ]]; then
      limit=${limits#*" $name="}
      limit=${limit%% *}
    fi
    ((limit <= left)) || limit=$left
    first=''
    IFS= read -r first <"$lane"
    if [[ $first == '#!/usr/bin/env python3' ]]; then
      CHITTA_DEADLINE_MS=$limit chitta_run_lane "$dir" "$name" "$CHITTA_PYTHON" -I -S -E "$lane" &
    else
      CHITTA_DEADLINE_MS=$limit chitta_run_lane "$dir" "$name" "$lane" &
    fi
    CHITTA_LAUNCHED+=" $name=$!:$limit"
    CHITTA_GROUPS+=" $!"
  done
  set +m
}

# chitta_kill_lanes: ends whatever the launched lanes have left. The last one may not be noted yet.
chitta_kill_lanes() {
  local group
  for group in $CHITTA_GROUPS $!; do
    kill -KILL -- "-$group" || :
  done
}
