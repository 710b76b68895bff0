#!/bin/bash -p
# Summary: What is stored of a subagent's task, printed as it starts.
# Usage: subagent-start.sh [claude|codex|copilot|gemini|cursor] <payload.json
#
# Always exits 0, and prints nothing unless there is something to say. The process that it runs ends itself when its
# time (CHITTA_SUBAGENT_BUDGET_MS) is over. -p: no BASH_ENV, no functions from the environment.
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
# shellcheck source=lib/session.sh
. "$CHITTA_ROOT/lib/session.sh" || exit 0
chitta_session subagent "${1-}"
