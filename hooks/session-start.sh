#!/bin/bash -p
# Summary: What is stored of a project, printed as a session starts, and the daemon warmed for its first prompt.
# Usage: session-start.sh [claude|codex|copilot|gemini|cursor] <payload.json
#
# Always exits 0, and prints nothing unless there is something to say. The process that it runs ends itself when its
# time (CHITTA_SESSION_BUDGET_MS) is over. -p: no BASH_ENV, no functions from the environment.
set +e -u
umask 077
exec 2>/dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-

self=${BASH_SOURCE[0]}
[[ $self == */* ]] || self=./$self
while [[ -L $self ]]; do
  link=$(readlink "$self") || exit 0
  case $link in /*) self=$link ;; *) self=${self%/*}/$link ;; esac
done
# shellcheck source=lib/env.sh
. "${self%/*}/../lib/env.sh" || exit 0
[[ -x $CHITTA_PYTHON ]] || exit 0

# In the background and waited for, because a trap waits for a foreground process.
step=''
trap '[[ -z $step ]] || kill -KILL "$step"; exit 0' HUP INT TERM
"$CHITTA_PYTHON" -I -S -E "$CHITTA_ROOT/bin/chitta-session" start "${1-}" <&0 &
step=$!
wait "$step"
exit 0
