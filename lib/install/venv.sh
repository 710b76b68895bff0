# Summary: how install.sh builds an environment from the pinned locks, and knows one that is complete
# shellcheck shell=bash
#
# An environment is complete when its stamp, .chitta-lock, holds this checkout's path, the Python it was made
# with and the hash of each lock that it holds. The stamp is emptied before the first change and written after
# the last one: an environment with an empty stamp was interrupted and is made anew; a folder without a stamp
# is somebody else's and is never touched.

WORK=$ROOT/.venv-install # the log of the last run, and the lock that lets one run work at a time
NEWLINE='
'

DIGESTS='
import hashlib, sys
print("python=%d.%d" % sys.version_info[:2])
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        print("%s=%s" % (path.rsplit("/", 1)[1].rsplit(".", 1)[0], hashlib.sha256(file.read()).hexdigest()))
'

known_extras() {
  local path name names=
  for path in "$ROOT"/requirements/*.lock; do
    name=${path##*/}
    name=${name%.lock}
    [ "$name" = runtime ] || names="$names $name"
  done
  printf '%s\n' "${names# }"
}

# The state that the environment should have, one key=value a line. The arguments are extras.
wanted_state() {
  local extra files
  files=("$ROOT/requirements/runtime.lock")
  for extra in "$@"; do
    files+=("$ROOT/requirements/$extra.lock")
    [ "$extra" != torch ] || files+=("$ROOT/requirements/torch-build.txt")
  done
  printf 'root=%s\n' "$ROOT"
  "$ROOT/$VENV_NAME/bin/python" -I -S -c "$DIGESTS" "${files[@]}" 2>/dev/null # portable: never empty
}

# True when every line of the wanted state stands in the stamp; extras beyond the wanted ones do no harm.
environment_is_current() {
  local stamped wanted line
  # shellcheck disable=SC2086 # a list of plain names
  wanted=$(wanted_state $EXTRAS) || return 1
  stamped=$NEWLINE$(cat "$ROOT/$VENV_NAME/.chitta-lock" 2>/dev/null)$NEWLINE
  has_asked_python "$stamped" || return 1
  while IFS= read -r line; do
    case $stamped in *"$NEWLINE$line$NEWLINE"*) ;; *) return 1 ;; esac
  done <<EOF
$wanted
EOF
}

# has_asked_python STAMP: false for an environment of another Python than the one that --python names.
has_asked_python() {
  [ -z "$PYTHON_ASKED" ] || case $1 in *"${NEWLINE}python=${PYTHON_VERSION%.*}$NEWLINE"*) ;; *) return 1 ;; esac
}

# The extras named in a stamp, so that an update keeps them.
stamped_extras() {
  local line
  while IFS= read -r line; do
    case " $(known_extras) " in *" ${line%%=*} "*) printf '%s ' "${line%%=*}" ;; esac
  done <"$ROOT/$VENV_NAME/.chitta-lock"
}

build_environment() {
  local venv=$ROOT/$VENV_NAME stamp=$ROOT/$VENV_NAME/.chitta-lock extra
  [ -n "$PYTHON" ] || find_python
  check_writable
  take_lock
  environment_is_current && return
  if [ -s "$stamp" ]; then
    [ "$VENV_NAME" != .venv ] || stop_daemon # it runs on what is about to change, and is started again on demand
    for extra in $(stamped_extras); do
      case " $EXTRAS " in *" $extra "*) ;; *) EXTRAS="$EXTRAS $extra" ;; esac
    done
  fi
  trap 'printf "\nchitta: interrupted; run ./install.sh again to finish\n" >&2; exit 130' INT TERM HUP
  if can_be_updated "$venv"; then
    check_disk 200
    : >"$stamp" || fail "$stamp cannot be written" "give this user the folder $venv"
  else
    check_disk "$(megabytes_needed)"
    make_environment "$venv"
  fi
  install_packages "$venv"
  # shellcheck disable=SC2086 # a list of plain names
  if ! { wanted_state $EXTRAS >"$stamp.part" && mv -f "$stamp.part" "$stamp"; }; then
    fail "$stamp cannot be written" "free some disk space, then run ./install.sh again"
  fi
  trap - INT TERM HUP
}

# An environment is kept when it was complete, stands where it was made, and its Python still runs.
can_be_updated() {
  local stamped
  stamped=$NEWLINE$(cat "$1/.chitta-lock" 2>/dev/null)$NEWLINE
  case $stamped in *"${NEWLINE}root=$ROOT$NEWLINE"*) ;; *) return 1 ;; esac
  has_asked_python "$stamped" || return 1
  case $stamped in
    *"$NEWLINE$("$1/bin/python" -I -S -c "$DIGESTS" 2>/dev/null)$NEWLINE"*) ;;
    *) return 1 ;;
  esac
}

make_environment() {
  if [ -e "$1" ] && [ ! -e "$1/.chitta-lock" ]; then
    rmdir "$1" 2>/dev/null || fail "$1 is there already, and install.sh did not make it" \
      "move it away or remove it, then run ./install.sh again"
  fi
  [ ! -e "$1" ] || step "$VENV_NAME is incomplete, was moved, or has another Python; making it anew"
  if ! { rm -rf "$1" && mkdir -p "$1" && : >"$1/.chitta-lock"; } 2>/dev/null; then
    fail "$1 cannot be made anew" "remove it, then run ./install.sh again"
  fi
  step "making $VENV_NAME with Python $PYTHON_VERSION ($PYTHON)"
  "$PYTHON" -I -m venv "$1" >"$WORK/log" 2>&1 || explain "Python $PYTHON_VERSION could not make an environment"
}

megabytes_needed() {
  case " $EXTRAS " in
    *" torch "*) echo 2500 ;;
    *" eval "*) echo 1300 ;;
    *" test "*) echo 900 ;;
    *) echo 700 ;;
  esac
}

install_packages() {
  local extra files
  files=(-r "$ROOT/requirements/runtime.lock")
  for extra in $EXTRAS; do
    files+=(-r "$ROOT/requirements/$extra.lock")
  done
  step "installing the pinned packages: runtime$EXTRAS"
  pip_install "$1" --require-hashes --no-deps --only-binary :all: "${files[@]}" # portable: never empty
  case " $EXTRAS " in
    *" torch "*)
      step "installing torch"
      pip_install "$1" -r "$ROOT/requirements/torch-build.txt"
      ;;
  esac
  "$1/bin/python" -I -c '
import os, sys, sysconfig
packages = sysconfig.get_path("purelib")
with open(os.path.join(packages, "chitta.pth"), "w") as file:
    file.write(os.path.relpath(sys.argv[1], packages) + "\n")
' "$ROOT/lib" 2>"$WORK/log" || explain "the path to lib/ could not be written"
}

# pip_install VENV ARGUMENTS…: pip's own progress on a terminal, else only the log; its complaints always there.
pip_install() {
  local interpreter=$1/bin/python
  shift
  set -- "$interpreter" -I -m pip install --compile "$@"
  if [ -t 2 ]; then
    "$@" >&2 2>"$WORK/log"
  else
    "$@" --progress-bar off >"$WORK/log" 2>&1
  fi || explain "pip could not install the packages"
}

# explain WHAT: ends with the reason that the last command left in the log.
explain() {
  local text free
  text=$(tail -n 300 "$WORK/log" 2>/dev/null)
  free=$(free_megabytes)
  case $text in
    *"No space left on device"* | *"Errno 28]"* | *"Disk quota exceeded"*)
      fail "the disk is full: $1" "free some space at $ROOT and in ${TMPDIR:-/tmp}, then run it again"
      ;;
    *"DO NOT MATCH THE HASHES"*)
      fail "a downloaded package is not the one that was pinned" \
        "look for a proxy or mirror that changes files (pip config list); the details are in $WORK/log"
      ;;
    *CERTIFICATE_VERIFY_FAILED* | *SSLCertVerificationError* | *"SSLError("*)
      fail "the package index's certificate was refused" \
        "behind a company proxy, set PIP_CERT to its certificate file, then run it again"
      ;;
    *NewConnectionError* | *"name resolution"* | *"Name or service not known"* | *"nodename nor servname"* | \
      *"Network is unreachable"* | *"Connection refused"* | *"Connection reset"* | *"Connection aborted"* | \
      *ConnectTimeout* | *ReadTimeoutError* | *"Read timed out"* | *ProxyError* | *"Max retries exceeded"* | \
      *IncompleteRead* | *"Connection broken"*)
      fail "the packages could not be fetched: no network, or the package index does not answer" \
        "check the connection (behind a proxy, set HTTPS_PROXY), then run it again; it goes on from there"
      ;;
    *"ensurepip is not available"*)
      fail "Python $PYTHON_VERSION ($PYTHON) cannot make environments: its ensurepip module is missing" \
        "$(venv_hint "$PYTHON_VERSION")"
      ;;
    *"No matching distribution found for"*)
      text=${text##*No matching distribution found for }
      fail "there is no package ${text%%[!A-Za-z0-9._=+-]*} for Python $PYTHON_VERSION on this machine" \
        "use another Python between 3.10 and 3.14: ./install.sh --python PATH"
      ;;
    *"Permission denied"* | *"Read-only file system"*)
      fail "$1: a file cannot be written" "the details are in $WORK/log; give this user the checkout, then run it again"
      ;;
  esac
  [ -z "$free" ] || [ "$free" -ge 20 ] || fail "the disk is full: $1" "free some space at $ROOT, then run it again"
  printf '%s\n' "$text" | tail -n 5 >&2
  fail "$1" "the details are in $WORK/log"
}

# One run at a time in a checkout. The lock belongs to descriptor 9, so it ends with this process, however it ends.
take_lock() {
  exec 9>"$WORK/lock" || fail "$WORK/lock cannot be written" "give this user the folder $WORK"
  "$PYTHON" -I -S -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)' 2>/dev/null && return
  step "waiting for another install.sh in this checkout"
  "$PYTHON" -I -S -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
}

release_lock() {
  exec 9>&-
}

# Byte-code for the prompt path. Explicitly by timestamp: SOURCE_DATE_EPOCH would choose hashes, which cost a
# read of every source at every start. Executables have none: Python never caches the file it is started with.
compile_code() {
  "$ROOT/$VENV_NAME/bin/python" -I -m compileall -q --invalidation-mode timestamp "$ROOT/lib/chitta" >/dev/null 2>&1 ||
    step "some of lib/ could not be byte-compiled (a read-only checkout?); everything works, a little slower"
}

VERIFY='
import sys
from chitta import settings
from chitta.models import registry
defaults = settings.load({"CHITTA_HOME": sys.argv[1]})
problems = [fact.problem for fact in registry.describe(defaults) if fact.problem]
problems += [check.path + " is not as published" for check in registry.verify(defaults) if not check.good]
if problems:
    print(problems[0])
    sys.exit(3)
'

# The files of the shipped models against their hashes. The check keeps its cache inside the checkout, so that
# installing makes nothing in the person's home. A damaged environment is made anew by the next run.
verify_models() {
  local said
  said=$("$ROOT/$VENV_NAME/bin/python" -I -c "$VERIFY" "$WORK/home" 2>&1)
  case $? in
    0) return ;;
    3)
      : >"$ROOT/$VENV_NAME/.chitta-lock"
      fail "a model is damaged: $said" "run ./install.sh again; it fetches the models anew"
      ;;
    *) fail "the models could not be checked: ${said##*"$NEWLINE"}" "run ./install.sh --uninstall, then ./install.sh" ;;
  esac
}
