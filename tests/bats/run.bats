#!/usr/bin/env bats
# tests/run and tests/lint can fail: a runner that reports success for a failing suite is worse than none.

# shellcheck disable=SC2016 # texts of programs
REPO=$(cd -P "$BATS_TEST_DIRNAME/../.." && pwd -P)

bats_require_minimum_version 1.5.0

last_line() { printf '%s\n' "${lines[${#lines[@]} - 1]}"; }

@test "a failing, a passing and a skipped pytest test are counted, and the run fails" {
  cat >"$BATS_TEST_TMPDIR/test_sample.py" <<'EOF'
import pytest

def test_passes():
    pass

def test_fails():
    assert 1 == 2

@pytest.mark.skip(reason="a sample")
def test_skipped():
    pass

@pytest.fixture
def broken():
    raise RuntimeError

def test_error(broken):
    pass
EOF
  run -1 "$REPO/tests/run" unit -- -p no:cacheprovider "$BATS_TEST_TMPDIR/test_sample.py"
  [ "$(last_line)" = "1 passed, 2 failed, 1 skipped" ]
}

@test "pytest that finds nothing, or cannot start, fails the run" {
  run -1 "$REPO/tests/run" unit -- -p no:cacheprovider "$BATS_TEST_TMPDIR/nowhere.py"
  [ "$(last_line)" = "0 passed, 1 failed, 0 skipped" ]
}

@test "a failing, a passing and a skipped bats test are counted, and the run fails" {
  printf '@test "%s" { %s; }\n' passes true fails false skipped skip >"$BATS_TEST_TMPDIR/sample.bats"
  run -1 "$REPO/tests/run" bats -- "$BATS_TEST_TMPDIR/sample.bats"
  [ "$(last_line)" = "1 passed, 1 failed, 1 skipped" ]
}

@test "a bats file that does not parse fails the run" {
  echo '@test "open {' >"$BATS_TEST_TMPDIR/sample.bats"
  run -1 "$REPO/tests/run" bats -- "$BATS_TEST_TMPDIR/sample.bats"
  [[ $(last_line) == "0 passed, "[1-9]*" failed, 0 skipped" ]]
}

@test "what passes passes" {
  printf '@test "passes" { true; }\n' >"$BATS_TEST_TMPDIR/sample.bats"
  run -0 "$REPO/tests/run" bats -- "$BATS_TEST_TMPDIR/sample.bats"
  [ "$(last_line)" = "1 passed, 0 failed, 0 skipped" ]
}

@test "a part that is not there is misuse" {
  run -2 "$REPO/tests/run" nonsense
  [[ $output == *"hint: see tests/run --help"* ]]
}

# run_copy: tests/run in a checkout of its own, with this one's tools and an installer that has nothing to do.
run_copy() {
  COPY="$BATS_TEST_TMPDIR/a copy"
  mkdir -p "$COPY/tests"
  cp "$REPO/tests/run" "$COPY/tests/"
  cp "$REPO/pyproject.toml" "$COPY/"
  ln -s "$REPO/.venv" "$COPY/.venv"
  printf '#!/bin/sh\n' >"$COPY/install.sh"
  chmod +x "$COPY/install.sh"
}

@test "only the parts that this checkout has are offered" {
  run_copy
  run -0 "$COPY/tests/run" --help
  [[ $output == *"  torch  "* && $output != *e2e* && $output != *bench* ]]
  run -2 "$COPY/tests/run" e2e
  [[ $output == *"has no part e2e"* ]]
  mkdir -p "$COPY/tests/e2e"
  printf '#!/bin/sh\necho "3 passed, 0 failed, 1 skipped"\n' >"$COPY/tests/e2e/run"
  chmod +x "$COPY/tests/e2e/run"
  run -0 "$COPY/tests/run" --help
  [[ $output == *"  e2e    "* && $output != *bench* ]]
  run -0 "$COPY/tests/run" e2e
  [ "$(last_line)" = "3 passed, 0 failed, 1 skipped" ]
}

@test "a run leaves nothing in the folder for temporary files" {
  run_copy
  mkdir "$BATS_TEST_TMPDIR/tmp"
  printf 'def test_writes(tmp_path):\n    (tmp_path / "big").write_text("x")\n' >"$COPY/test_sample.py"
  TMPDIR=$BATS_TEST_TMPDIR/tmp run -0 "$COPY/tests/run" unit -- -p no:cacheprovider "$COPY/test_sample.py"
  [ "$(last_line)" = "1 passed, 0 failed, 0 skipped" ]
  [ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}

# lint_copy: a checkout of its own, with this one's tools, for files that are wrong on purpose.
lint_copy() {
  COPY=$BATS_TEST_TMPDIR/copy
  mkdir -p "$COPY/tests/unit" "$COPY/tests/eval" "$COPY/lib/chitta" "$COPY/lanes"
  local room
  for room in bench faults fuzz; do
    mkdir "$COPY/tests/$room"
    printf '"""Fine."""\n' >"$COPY/tests/$room/fine_$room.py"
  done
  cp "$REPO/tests/lint" "$REPO/tests/portability.tsv" "$COPY/tests/"
  cp "$REPO/pyproject.toml" "$COPY/"
  ln -s "$REPO/.venv" "$COPY/.venv"
  printf '#!/usr/bin/env bash\ntrue\n' >"$COPY/lanes/fine"
  printf '"""Fine."""\n' | tee "$COPY/lib/chitta/__init__.py" "$COPY/tests/conftest.py" "$COPY/tests/eval/test_fine_too.py" \
    >"$COPY/tests/unit/test_fine.py"
}

@test "lint: each tool sees a fault in an executable without an extension" {
  lint_copy
  run -0 "$COPY/tests/lint" ruff format mypy shellcheck shfmt portability
  printf '#!/usr/bin/env python3\nimport os\nX: int = "text"\n' >"$COPY/lanes/python-lane"
  printf '#!/usr/bin/env bash\nif true;then\nmapfile -t a <$1\nfi\n' >"$COPY/lanes/shell-lane"
  run -1 "$COPY/tests/lint" ruff format mypy shellcheck shfmt portability
  [ "$(last_line)" = "0 passed, 6 failed, 0 skipped" ]
  [[ $output == *"lanes/python-lane:3: error: Incompatible types"* ]]
  [[ $output == *"lanes/shell-lane:3:mapfile"*"instead: while IFS= read -r line"* ]]
}

@test "fault 20: lint: portability passes over comments and lines that say why" {
  lint_copy
  printf '#!/usr/bin/env bash\n# mapfile\nmapfile -t a <f # portable: bash 4 was asked for above\n' >"$COPY/lanes/shell-lane"
  run -0 "$COPY/tests/lint" portability
  cp "$BATS_TEST_DIRNAME/unportable.txt" "$COPY/lanes/shell-lane" # all but its first line are wrong
  run -1 "$COPY/tests/lint" portability
  [ "$(grep -c '^  instead: ' <<<"$output")" -eq "$(($(wc -l <"$COPY/lanes/shell-lane") - 1))" ]
}

@test "lint: a stale settings page and a broken link are seen" {
  lint_copy
  mkdir -p "$COPY/docs"
  echo stale >"$COPY/docs/settings.md"
  printf '[a](nowhere.md) [b](docs/settings.md#part) `[c](code.md)` [d](https://example.org)\n' >"$COPY/README.md"
  run -1 "$COPY/tests/lint" settings links
  [ "$(last_line)" = "0 passed, 2 failed, 0 skipped" ]
  [ "$(grep -c 'leads nowhere' <<<"$output")" -eq 1 ]
}
