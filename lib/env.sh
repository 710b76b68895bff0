# shellcheck shell=bash
# Where chitta and its store are; sourced once by everything that people or harnesses start.
#
#   CHITTA_ROOT    the checkout, as a real path
#   CHITTA_PYTHON  the interpreter that install.sh made in it
#   CHITTA_HOME    the store, as an absolute path
#
# Only builtins: this runs before the hook's clock has anything to show for it.

# A shell that we start must not read a profile that prints, or find another folder by CDPATH.
unset BASH_ENV ENV CDPATH GLOBIGNORE
PATH=${PATH:+$PATH:}/usr/bin:/bin
export PATH

chitta_cwd=${PWD:-/}
if [[ ${BASH_SOURCE[0]} == */* ]]; then
  cd -P -- "${BASH_SOURCE[0]%/*}/.." || return 111
else
  cd -P .. || return 111
fi
CHITTA_ROOT=$PWD
# A working directory that has been removed cannot be gone back to.
cd -- "$chitta_cwd" 2>/dev/null || cd /

CHITTA_PYTHON=${CHITTA_PYTHON:-$CHITTA_ROOT/.venv/bin/python}

# Without HOME, bash finds the person's folder in the user database.
[[ -n ${HOME:-} ]] || unset HOME
# shellcheck disable=SC2088 # a tilde that somebody's JSON has kept from a shell
case ${CHITTA_HOME:-} in
  '') CHITTA_HOME=~/.chitta ;;
  '~') CHITTA_HOME=~ ;;
  '~/'*) CHITTA_HOME=~/${CHITTA_HOME#??} ;;
  /*) ;;
  # Never below the working folder: a cloned repository could bring a store, and settings, of its own.
  *) CHITTA_HOME=~/$CHITTA_HOME ;;
esac
unset chitta_cwd

export CHITTA_ROOT CHITTA_PYTHON CHITTA_HOME
