#!/bin/bash -p
# Summary: Looks at what an agent's tool gave, or at a prompt, and keeps what it teaches: fixes, corrections, commits.
# Usage: capture.sh [claude|codex|copilot] <payload.json
#
# Always exits 0 and never prints: what a hook prints here, the model would read. The process that it runs ends itself
# within a second. -p: no BASH_ENV, no functions from the environment.
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
chitta_capture "${1-}"
