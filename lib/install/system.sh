# Summary: what install.sh needs of the machine: platform, Python, disk
# shellcheck shell=bash
# shellcheck disable=SC2034 # venv.sh reads what is found here

PYTHON='' PYTHON_VERSION=''

# Prints "MAJOR.MINOR.MICRO yes|no REAL-PATH": whether environments can be made, and the interpreter itself
# where a version manager's shim or another environment was asked. Runs on any Python 3.
PROBE='
import sys
try:
    import ensurepip, venv
    able = "yes"
except ImportError:
    able = "no"
print("%d.%d.%d" % sys.version_info[:3], able, getattr(sys, "_base_executable", "") or sys.executable)
'

check_platform() {
  local system machine
  system=$(uname -s 2>/dev/null) || system=unknown
  machine=$(uname -m 2>/dev/null) || machine=unknown
  case $system in
    Linux | Darwin) ;;
    *) fail "chitta runs on Linux and macOS; this is $system" "on Windows, use it inside WSL" ;;
  esac
  case $machine in
    x86_64 | aarch64 | arm64) ;;
    *) fail "chitta has no packages for $system on $machine" "it runs on x86_64, aarch64 and arm64 machines" ;;
  esac
}

# Sets PYTHON and PYTHON_VERSION to the first fit interpreter, or ends with what is wrong with the ones found.
find_python() {
  local name path old='' bare='' newer='' broken=''
  if [ -n "$PYTHON_ASKED" ]; then
    judge_python "$PYTHON_ASKED"
  else
    for name in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
      while IFS= read -r path; do
        [ -z "$path" ] || judge_python "$path"
        [ -z "$PYTHON" ] || return 0
      done <<EOF
$(type -a -P "$name" 2>/dev/null)
EOF
    done
  fi
  [ -z "$PYTHON" ] || return 0
  if [ -n "$bare" ]; then
    fail "Python ${bare%% *} (${bare#* }) cannot make environments: its venv or ensurepip module is missing" \
      "$(venv_hint "${bare%% *}")"
  elif [ -n "$old" ]; then
    fail "Python ${old%% *} (${old#* }) is too old; chitta needs 3.10 or newer" \
      "install a newer Python, or name one: ./install.sh --python PATH"
  elif [ -n "$newer" ]; then
    fail "Python ${newer%% *} (${newer#* }) is newer than the pinned packages; they fit 3.10 to 3.14" \
      "install one of these beside it, or name one: ./install.sh --python PATH"
  elif [ -n "$broken" ]; then
    fail "$broken does not run as a Python 3" "name a Python of 3.10 or newer: ./install.sh --python PATH"
  fi
  fail "no Python was found on PATH" "install Python 3.10 or newer, or name one: ./install.sh --python PATH"
}

# judge_python PATH: sets PYTHON when fit, else one of find_python's old, bare, newer, broken.
judge_python() {
  local facts version able real
  facts=$("$1" -I -S -c "$PROBE" 2>/dev/null </dev/null) || facts=
  version=${facts%% *} able=${facts#* } real=${facts#* * }
  able=${able%% *}
  case $version in
    3.1[0-4].*)
      if [ "$able" = yes ]; then
        PYTHON=$real PYTHON_VERSION=$version
      else
        bare=${bare:-$version $real}
      fi
      ;;
    3.[0-9].* | [012].*) old=${old:-$version $real} ;;
    [3-9].*) newer=${newer:-$version $real} ;;
    *) broken=${broken:-$1} ;;
  esac
}

venv_hint() {
  if command -v apt-get >/dev/null 2>&1; then
    printf 'sudo apt-get install python%s-venv' "${1%.*}"
  else
    printf 'install the venv package of this Python, or name another one: ./install.sh --python PATH'
  fi
}

# check_disk MEGABYTES: ends when the checkout's file system is known to have less.
check_disk() {
  local free
  free=$(free_megabytes)
  [ -n "$free" ] || return 0
  [ "$free" -ge "$1" ] ||
    fail "the disk is almost full: $free MB are free at $ROOT, about $1 MB are needed" "free some space, then run it again"
}

# Free megabytes at the checkout; nothing when df is missing or says something unknown. The column before the
# percentage is the one to read: a file system's own name may hold spaces.
free_megabytes() {
  local words word before=
  words=$(df -Pk "$ROOT" 2>/dev/null | tail -n 1) || return 0
  for word in $words; do
    case $word in
      [0-9]*%)
        case $before in '' | *[!0-9]*) return 0 ;; esac
        printf '%s\n' $((before / 1024))
        return 0
        ;;
    esac
    before=$word
  done
}

check_writable() {
  mkdir -p "$WORK" 2>/dev/null && [ -w "$ROOT" ] && [ -w "$WORK" ] && return 0
  local free
  free=$(free_megabytes)
  [ -z "$free" ] || [ "$free" -gt 0 ] || fail "the disk is full at $ROOT" "free some space, then run it again"
  fail "$ROOT cannot be written by $(id -un 2>/dev/null || echo "this user")" \
    "give this user the folder, or clone the repository where you can write"
}
