#!/usr/bin/env bash
# Summary: build chitta's own Python environment inside this checkout
# Usage: ./install.sh [--extra NAME]… [--python PATH] [--venv NAME]
#        ./install.sh --demo [WORDS…]
#        ./install.sh --uninstall [--venv NAME]
#
# It writes into this checkout only (and into pip's download cache), asks nothing, and touches no
# configuration of a coding agent. Run it again at any time: it repairs what is missing.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@" # called as `sh install.sh`
set -u
unset BASH_ENV ENV CDPATH GLOBIGNORE

# The folder of this file, also when it was called through symbolic links.
here() {
  local path=$1 target folder
  while [ -L "$path" ]; do
    target=$(readlink "$path") || return 1
    case $target in
      /*) path=$target ;;
      *) path=$(dirname "$path")/$target ;;
    esac
  done
  folder=$(dirname "$path")
  cd -P "$folder" >/dev/null 2>&1 && pwd -P
}

ROOT=$(here "${BASH_SOURCE[0]}") && [ -n "$ROOT" ] || {
  printf 'chitta: the folder of install.sh cannot be found\nhint: call it by its full path\n' >&2
  exit 1
}

# shellcheck source=lib/install/say.sh
. "$ROOT/lib/install/say.sh"
# shellcheck source=lib/install/system.sh
. "$ROOT/lib/install/system.sh"
# shellcheck source=lib/install/venv.sh
. "$ROOT/lib/install/venv.sh"
# shellcheck source=lib/install/remove.sh
. "$ROOT/lib/install/remove.sh"

usage() {
  cat <<EOF
Build chitta's own Python environment inside this checkout.

  ./install.sh                  install, or repair what is missing
  ./install.sh --demo [WORDS…]  install, then show recall at work
  ./install.sh --uninstall      remove what this script and the tests made; never notes

  --extra NAME   also install an extra: $(known_extras)
  --python PATH  build with this Python instead of the first fit one on PATH
  --venv NAME    the environment's folder in the checkout (.venv); other names begin with .venv-.
                 With --uninstall, remove this one alone
  --help         this text

It needs Linux or macOS and Python 3.10 or newer. The environment takes about 350 MB of disk, and while
it is made 700 MB must be free. It writes into the checkout only, asks nothing, and changes no
configuration of any coding agent.
EOF
}

# A variable of the person's shell must not redirect Python or pip away from the new environment.
clean_environment() {
  unset PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE
  unset PIP_TARGET PIP_PREFIX PIP_ROOT PIP_DRY_RUN PIP_PYTHON PIP_REQUIREMENT PIP_EDITABLE __PYVENV_LAUNCHER__
  export PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
}

WORDS=()
parse() {
  ACTION=install EXTRAS='' PYTHON_ASKED='' VENV_NAME=.venv VENV_ASKED=''
  while [ $# -gt 0 ]; do
    case $1 in
      --help | -h) ACTION=help ;;
      --uninstall) ACTION=uninstall ;;
      --demo)
        ACTION=demo
        shift
        WORDS=("$@")
        return
        ;;
      --extra | --python | --venv)
        [ $# -gt 1 ] || misuse "$1 needs a value"
        take "$1" "$2"
        shift
        ;;
      --extra=* | --python=* | --venv=*) take "${1%%=*}" "${1#*=}" ;;
      *) misuse "there is no option $1" ;;
    esac
    shift
  done
}

take() {
  [ -n "$2" ] || misuse "$1 needs a value"
  case $1 in
    --python) PYTHON_ASKED=$2 ;;
    --venv)
      case $2 in
        .venv | .venv-?*) ;;
        *) misuse "--venv takes .venv or a name that begins with .venv-, not '$2'" ;;
      esac
      case $2 in
        */* | .venv-install) misuse "--venv cannot be '$2'" ;;
      esac
      VENV_NAME=$2 VENV_ASKED=yes
      ;;
    --extra)
      case " $(known_extras) " in
        *" $2 "*) EXTRAS="$EXTRAS $2" ;;
        *) fail "there is no extra named '$2'" "the extras are: $(known_extras)" ;;
      esac
      ;;
  esac
}

install() {
  check_platform
  [ -z "$PYTHON_ASKED" ] || find_python # one that is not fit is told of, also where nothing is to be built
  if environment_is_current; then
    step "$VENV_NAME is up to date"
  else
    build_environment
  fi
  compile_code
  [ "$VENV_NAME" != .venv ] || verify_models
}

# The two things to do next, on stdout.
next_steps() {
  local root=$ROOT
  [ "$PWD" != "$ROOT" ] || root=.
  cat <<EOF

chitta is ready. Next:

  $(quoted "$root/bin/chitta") remember 'We deploy with make ship, never by hand.'

and, to have it recalled in the agents that are here (README.md says more):

  $(quoted "$root/bin/chitta") hooks install

EOF
}

# The word as a person would type it to a shell.
quoted() {
  case $1 in
    *[!A-Za-z0-9_./-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "${1#./}" ;;
  esac
}

parse "$@"
clean_environment
case $ACTION in
  help) usage ;;
  uninstall) uninstall ;;
  demo)
    install
    release_lock
    exec "$ROOT/bin/chitta" demo ${WORDS[@]+"${WORDS[@]}"}
    ;;
  install)
    install
    [ "$VENV_NAME" != .venv ] || next_steps
    ;;
esac
