#!/usr/bin/env bats
# install.sh against a small checkout of its own, with the outside world (uname, df, Python and its pip) played
# by small programs in a PATH folder that holds nothing else but the tools the installer may count on.
# shellcheck disable=SC2016 # the fakes are texts of programs

REPO=$(cd -P "$BATS_TEST_DIRNAME/../.." && pwd -P)

setup() {
  TMP=$(cd -P "$BATS_TEST_TMPDIR" && pwd -P)
  CHECKOUT="$TMP/a checkout"
  FAKES="$TMP/fakes"
  export HOME="$TMP/home" JOURNAL="$TMP/journal" REAL_PYTHON="$REPO/.venv/bin/python"
  mkdir -p "$CHECKOUT/lib/chitta" "$CHECKOUT/requirements" "$CHECKOUT/bin" "$FAKES" "$HOME"
  cp "$REPO/install.sh" "$CHECKOUT/"
  cp -R "$REPO/lib/install" "$CHECKOUT/lib/"
  echo 'numpy==1' >"$CHECKOUT/requirements/runtime.lock"
  echo 'pytest==1' >"$CHECKOUT/requirements/test.lock"
  printf '#!/usr/bin/env bash\nprintf "front door: %%s\\n" "$@" >>"$JOURNAL"\n' >"$CHECKOUT/bin/chitta"
  chmod +x "$CHECKOUT/bin/chitta"
  : >"$JOURNAL"
  local tool
  for tool in bash cat chmod cp cut df dirname env find grep id mkdir mv pwd readlink rm rmdir sed sleep tail uname; do
    ln -s "$(command -v "$tool")" "$FAKES/$tool"
  done
  fake_python python3 3.12.1
}

# fake NAME: the script on stdin becomes the program NAME.
fake() {
  rm -f "$FAKES/$1"
  cat >"$FAKES/$1"
  chmod +x "$FAKES/$1"
}

# fake_python NAME VERSION [yes|no]: an interpreter that can (yes) make environments. It writes what it was asked
# into the journal. Its pip makes the file $PIP_HOLDS and waits until it is gone, then fails with $PIP_SAYS.
fake_python() {
  fake "$1" <<EOF
#!/usr/bin/env bash
version=$2 able=${3:-yes}
EOF
  cat >>"$FAKES/$1" <<'EOF'
printf 'python %s\n' "${*//$'\n'/ }" | cut -c 1-300 >>"$JOURNAL"
case "$*" in
  *ensurepip*) printf '%s %s %s\n' "$version" "$able" "${REAL_PATH:-$0}" ;;
  *"-m venv"*)
    mkdir -p "$4/bin" && cp "$0" "$4/bin/python"
    ;;
  *"-m pip install"*)
    [ -z "${PIP_HOLDS:-}" ] || : >"$PIP_HOLDS"
    while [ -n "${PIP_HOLDS:-}" ] && [ -e "$PIP_HOLDS" ] && [ $((turns += 1)) -lt 1800 ]; do sleep 0.1; done
    [ -z "${PIP_SAYS:-}" ] || { printf '%s\n' "$PIP_SAYS" >&2; exit 1; }
    ;;
  *hashlib* | *flock*) exec "$REAL_PYTHON" "$@" ;;
esac
EOF
}

asked() { grep -c -- "$1" "$JOURNAL"; }

# The run failed with one line that says what went wrong (holding $1) and one that says what to do (holding $2).
assert_refused() {
  [ "$status" -ne 0 ]
  [[ ${stderr_lines[${#stderr_lines[@]} - 2]} == "chitta: "*"$1"* ]]
  [[ ${stderr_lines[${#stderr_lines[@]} - 1]} == "hint: "*"$2"* ]]
  [ -z "$output" ]
}

install() { run --separate-stderr env PATH="$FAKES" "$CHECKOUT/install.sh" "$@"; }

bats_require_minimum_version 1.5.0

@test "help and misuse" {
  install --help
  [ "$status" -eq 0 ]
  [[ $output == *"--uninstall"* && $output == *"also install an extra: test"* ]]
  install --nonsense
  assert_refused "there is no option --nonsense" "--help"
  install --extra
  assert_refused "--extra needs a value" "--help"
  install --python ''
  assert_refused "--python needs a value" "--help"
  install --extra nonsense
  assert_refused "there is no extra named 'nonsense'" "the extras are: test"
  install --venv ../elsewhere
  assert_refused "--venv takes .venv" "--help"
  [ ! -e "$CHECKOUT/.venv" ]
}

@test "a first run builds from the pinned lock, writes into the checkout only and says what is next" {
  install
  [ "$status" -eq 0 ]
  [[ $output == *"'$CHECKOUT/bin/chitta' remember"* ]]
  [[ $output == *"'$CHECKOUT/bin/chitta' hooks install"* ]]
  [ "$(asked '-m venv')" -eq 1 ]
  grep -F -- '-m pip install' "$JOURNAL" | grep -F -- '--require-hashes --no-deps' | grep -qF "$CHECKOUT/requirements/runtime.lock"
  [ -s "$CHECKOUT/.venv/.chitta-lock" ]
  [ -z "$(find "$HOME" -mindepth 1)" ]
}

@test "a second run builds nothing" {
  install
  : >"$JOURNAL"
  install
  [ "$status" -eq 0 ]
  [[ $stderr == *"up to date"* && $output == *remember* ]]
  [ "$(asked '-m pip')" -eq 0 ]
}

@test "a changed lock updates in place and keeps the extras" {
  install --extra test
  : >"$JOURNAL"
  echo 'numpy==2' >"$CHECKOUT/requirements/runtime.lock"
  install
  [ "$status" -eq 0 ]
  [ "$(asked '-m venv')" -eq 0 ]
  grep -F -- '-m pip install' "$JOURNAL" | grep -qF test.lock
  install --extra test
  [[ $stderr == *"up to date"* ]]
}

@test "an extra asked for later is added" {
  install
  : >"$JOURNAL"
  install --extra test
  [ "$status" -eq 0 ]
  [ "$(asked '-m venv')" -eq 0 ]
  [ "$(asked '-m pip install')" -eq 1 ]
}

@test "a failed run is repaired by the next one" {
  PIP_SAYS='ERROR: something new' install
  assert_refused "pip could not install" ".venv-install/log"
  [[ $stderr == *"ERROR: something new"* ]]
  : >"$JOURNAL"
  install
  [ "$status" -eq 0 ]
  [ "$(asked '-m venv')" -eq 1 ]
  [ -s "$CHECKOUT/.venv/.chitta-lock" ]
}

@test "an interrupted run says so and is repaired by the next one" {
  local waited=0
  set -m
  PIP_HOLDS="$TMP/holds" PATH="$FAKES" "$CHECKOUT/install.sh" >/dev/null 2>"$TMP/said" 3>&- &
  set +m
  while [ ! -e "$TMP/holds" ] && [ $((waited += 1)) -lt 600 ]; do sleep 0.1; done
  kill -TERM -- "-$!"
  run wait "$!"
  grep -q 'chitta: interrupted; run ./install.sh again' "$TMP/said"
  [ ! -s "$CHECKOUT/.venv/.chitta-lock" ]
  install
  [ "$status" -eq 0 ]
  [[ $stderr == *"making it anew"* ]]
}

@test "two runs at a time work one after the other" {
  local waited=0 first
  PIP_HOLDS="$TMP/holds" PATH="$FAKES" "$CHECKOUT/install.sh" >/dev/null 2>&1 3>&- &
  first=$!
  while [ ! -e "$TMP/holds" ] && [ $((waited += 1)) -lt 600 ]; do sleep 0.1; done
  PATH="$FAKES" "$CHECKOUT/install.sh" >/dev/null 2>"$TMP/said" 3>&- &
  while ! grep -q waiting "$TMP/said" && [ $((waited += 1)) -lt 1200 ]; do sleep 0.1; done
  grep -q 'chitta: waiting for another install.sh' "$TMP/said"
  rm "$TMP/holds"
  wait "$!"
  wait "$first"
  [ "$(asked '-m venv')" -eq 1 ]
}

@test "a moved checkout is noticed and built anew" {
  install
  mv "$CHECKOUT" "$TMP/moved"
  : >"$JOURNAL"
  CHECKOUT="$TMP/moved" install
  [ "$status" -eq 0 ]
  [[ $stderr == *"was moved"*"making it anew"* ]]
  [ "$(asked '-m venv')" -eq 1 ]
}

@test "an environment whose Python is gone is built anew" {
  install
  rm "$CHECKOUT/.venv/bin/python"
  install
  [ "$status" -eq 0 ]
  [ -x "$CHECKOUT/.venv/bin/python" ]
}

@test "it works through symbolic links, from any folder and called by sh" {
  ln -s "$CHECKOUT/install.sh" "$TMP/first link"
  ln -s "first link" "$TMP/second"
  cd /
  run env PATH="$FAKES" /bin/sh "$CHECKOUT/install.sh" --help
  [ "$status" -eq 0 ]
  run --separate-stderr env PATH="$FAKES" "$TMP/second"
  [ "$status" -eq 0 ]
  [ -s "$CHECKOUT/.venv/.chitta-lock" ]
}

@test "an environment that somebody else made is left alone" {
  mkdir -p "$CHECKOUT/.venv/bin"
  echo mine >"$CHECKOUT/.venv/bin/python"
  install
  assert_refused "install.sh did not make it" "move it away"
  [ "$(cat "$CHECKOUT/.venv/bin/python")" = mine ]
  install --uninstall
  [ "$status" -eq 0 ]
  [ "$(cat "$CHECKOUT/.venv/bin/python")" = mine ]
}

@test "Python: a shim's own interpreter is used, a broken shim is passed over" {
  REAL_PATH=/opt/python/bin/python3 install
  [[ $stderr == *"(/opt/python/bin/python3)"* ]]
  rm -rf "$CHECKOUT/.venv"
  fake python3 <<<'#!/usr/bin/env bash
exit 127'
  fake_python python3.11 3.11.2
  install
  [ "$status" -eq 0 ]
  [[ $stderr == *"Python 3.11.2"* ]]
}

@test "Python: too old, too new, without venv, missing, not a Python" {
  fake_python python3 3.9.18
  install
  assert_refused "Python 3.9.18 ($FAKES/python3) is too old" "--python PATH"
  fake_python python3 3.15.0
  install
  assert_refused "Python 3.15.0 ($FAKES/python3) is newer" "--python PATH"
  fake_python python3 3.11.2 no
  install
  assert_refused "its venv or ensurepip module is missing" "install the venv package"
  fake apt-get <<<'#!/usr/bin/env bash'
  install
  assert_refused "its venv or ensurepip module is missing" "sudo apt-get install python3.11-venv"
  fake_python python3.10 3.10.4
  install
  [ "$status" -eq 0 ]
  rm -r "$FAKES/python3" "$FAKES/python3.10" "$CHECKOUT/.venv"
  install
  assert_refused "no Python was found on PATH" "install Python 3.10 or newer"
  install --python "$FAKES/uname"
  assert_refused "does not run as a Python 3" "--python PATH"
}

@test "Python: one asked for by name is judged and used, also where an environment is there" {
  install --extra test
  install --python "$FAKES/uname"
  assert_refused "$FAKES/uname does not run as a Python 3" "--python PATH"
  [ -s "$CHECKOUT/.venv/.chitta-lock" ]
  fake_python python3.9 3.9.18
  install --python "$FAKES/python3.9"
  assert_refused "Python 3.9.18 ($FAKES/python3.9) is too old" "--python PATH"
  : >"$JOURNAL"
  REAL_VERSION=$("$REAL_PYTHON" -I -c 'import sys; print("%d.%d.9" % sys.version_info[:2])')
  fake_python same "$REAL_VERSION"
  install --python "$FAKES/same"
  [ "$status" -eq 0 ]
  [[ $stderr == *"up to date"* ]]
  [ "$(asked '-m venv')" -eq 0 ]
  fake_python other 3.10.1
  [[ $REAL_VERSION != 3.10.* ]] || fake_python other 3.12.1
  install --python "$FAKES/other"
  [ "$status" -eq 0 ]
  [[ $stderr == *"has another Python; making it anew"*"($FAKES/other)"*"runtime test"* ]]
  [ "$(asked '-m venv')" -eq 1 ]
}

@test "platform: Windows shells and unknown processors are refused" {
  fake uname <<<'#!/usr/bin/env bash
[ "$1" = -m ] && echo x86_64 || echo MINGW64_NT-10.0'
  install
  assert_refused "this is MINGW64_NT-10.0" "WSL"
  fake uname <<<'#!/usr/bin/env bash
[ "$1" = -m ] && echo armv7l || echo Linux'
  install
  assert_refused "no packages for Linux on armv7l" "arm64"
  [ ! -e "$CHECKOUT/.venv" ]
}

@test "platform: a Mac with its df is served" {
  fake uname <<<'#!/usr/bin/env bash
[ "$1" = -m ] && echo arm64 || echo Darwin'
  fake df <<<'#!/usr/bin/env bash
echo "Filesystem     1024-blocks      Used Available Capacity  Mounted on"
echo "map auto_home    971350180 651242420 270128812    71%    /System/Volumes/My Data"'
  install
  [ "$status" -eq 0 ]
}

@test "disk: too little space is seen before anything is made" {
  fake df <<<'#!/usr/bin/env bash
echo "Filesystem     1024-blocks      Used Available Capacity  Mounted on"
echo "/dev/vda         263112772 262907972    204800     100%  /"'
  install
  assert_refused "200 MB are free at $CHECKOUT, about 700 MB are needed" "free some space"
  [ ! -e "$CHECKOUT/.venv" ]
}

@test "disk: a df that says nothing known does not stop the installation" {
  fake df <<<'#!/usr/bin/env bash
exit 1'
  install
  [ "$status" -eq 0 ]
}

@test "a checkout that cannot be written" {
  chmod a-w "$CHECKOUT"
  [ "$(id -u)" -ne 0 ] || : >"$CHECKOUT/.venv-install" # the mode does not stop root, a file in the way does
  install
  chmod u+w "$CHECKOUT"
  assert_refused "$CHECKOUT cannot be written" "where you can write"
}

@test "pip's failures are told in words" {
  PIP_SAYS="WARNING: Retrying … connection broken by 'NewConnectionError('Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/numpy/
ERROR: No matching distribution found for numpy==1" install
  assert_refused "no network" "check the connection"
  PIP_SAYS="ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device" install
  assert_refused "the disk is full" "$CHECKOUT"
  PIP_SAYS="ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE." install
  assert_refused "not the one that was pinned" "proxy or mirror"
  PIP_SAYS="SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))" install
  assert_refused "certificate" "PIP_CERT"
  PIP_SAYS="ERROR: No matching distribution found for onnxruntime==1.32.0 (from -r runtime.lock)" install
  assert_refused "there is no package onnxruntime==1.32.0 for Python 3.12.1" "--python PATH"
  PIP_SAYS="ERROR: [Errno 13] Permission denied: '/x'" install
  assert_refused "cannot be written" ".venv-install/log"
}

@test "byte-code is made by timestamp whatever the person's environment says" {
  PYTHONDONTWRITEBYTECODE=1 PYTHONPYCACHEPREFIX=/nowhere SOURCE_DATE_EPOCH=1 install
  [ "$status" -eq 0 ]
  grep -- '-I -m compileall' "$JOURNAL" | grep -q -- '--invalidation-mode timestamp'
}

@test "--demo hands its words on" {
  install --demo 'how do we' deploy
  [ "$status" -eq 0 ]
  [ "$(grep 'front door' "$JOURNAL")" = "front door: demo
front door: how do we
front door: deploy" ]
}

@test "--uninstall removes what was made, never notes, and says what it left" {
  install
  install --venv .venv-x
  mkdir -p "$HOME/.chitta/notes" "$HOME/.claude" "$CHECKOUT/lib/chitta/__pycache__" "$CHECKOUT/.venv-mine"
  for made in .bench/1/notes .hypothesis .mypy_cache .pytest_cache .ruff_cache tests/unit/__pycache__; do
    mkdir -p "$CHECKOUT/$made"
  done
  echo mine >"$CHECKOUT/notes.md"
  echo "{\"command\": \"$CHECKOUT/hooks/prompt-core.sh\"}" >"$HOME/.claude/settings.json"
  echo precious >"$HOME/.chitta/notes/note.md"
  : >"$JOURNAL"
  install --uninstall
  [ "$status" -eq 0 ]
  grep -q 'front door: stop' "$JOURNAL"
  [ ! -e "$CHECKOUT/.venv" ] && [ ! -e "$CHECKOUT/.venv-install" ] && [ ! -e "$CHECKOUT/lib/chitta/__pycache__" ]
  [ -d "$CHECKOUT/.venv-mine" ] && [ -d "$CHECKOUT/tests/unit" ]
  [ "$(cd "$CHECKOUT" && echo .[a-z]*)" = .venv-mine ]
  [ "$(find "$CHECKOUT" -name __pycache__)" = '' ]
  [ "$(cat "$CHECKOUT/notes.md")" = mine ]
  [ "$(cat "$HOME/.chitta/notes/note.md")" = precious ]
  [[ $stderr == *"removed .venv .venv-x, the byte-code and the caches of the tests"* ]]
  [[ $stderr == *"left your notes and their index: $HOME/.chitta"* ]]
  [[ $stderr == *"left the wiring that you added to $HOME/.claude/settings.json"* ]]
  install --uninstall
  [ "$status" -eq 0 ]
  [[ $stderr == *"no environment to remove"* ]]
}

@test "--uninstall --venv removes the named environment and nothing else" {
  install
  install --venv .venv-x
  mkdir -p "$CHECKOUT/lib/chitta/__pycache__" "$CHECKOUT/.pytest_cache" "$CHECKOUT/.venv-mine"
  : >"$JOURNAL"
  install --uninstall --venv .venv-x
  [ "$status" -eq 0 ]
  [[ $stderr == "chitta: removed .venv-x" ]]
  [ "$(cd "$CHECKOUT" && echo .[a-z]*)" = '.pytest_cache .venv .venv-install .venv-mine' ]
  [ -s "$CHECKOUT/.venv/.chitta-lock" ] && [ -d "$CHECKOUT/lib/chitta/__pycache__" ]
  [ "$(asked 'front door')" -eq 0 ] # the daemon runs on .venv
  install --venv .venv-x --uninstall
  [ "$status" -eq 0 ]
  [[ $stderr == *"there was no environment .venv-x to remove"* ]]
  install --uninstall --venv .venv-mine
  assert_refused "install.sh did not make $CHECKOUT/.venv-mine" "by hand"
  [ -d "$CHECKOUT/.venv-mine" ]
  install --uninstall --venv .venv
  [ "$status" -eq 0 ]
  [ "$(asked 'front door: stop')" -eq 1 ]
  [ "$(cd "$CHECKOUT" && echo .[a-z]*)" = '.pytest_cache .venv-install .venv-mine' ]
}

@test "the checkout's real environment: complete, importable, byte-compiled" {
  local code
  code=$("$REPO/.venv/bin/python" -I -c 'import chitta.settings as s; print(s.__file__); print(s.__cached__)')
  [ "${code%%$'\n'*}" = "$REPO/lib/chitta/settings.py" ]
  rm -f "${code#*$'\n'}"
  run --separate-stderr env PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 "$REPO/install.sh"
  [ "$status" -eq 0 ]
  [[ $stderr == *"up to date"* ]]
  [ -e "${code#*$'\n'}" ]
}
