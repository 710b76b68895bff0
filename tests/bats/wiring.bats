#!/usr/bin/env bats
# The wiring templates: right units, filled in for any path, and what they say runs the hook.
# shellcheck disable=SC2016,SC2030,SC2031 # each test is a subshell, and means to be

bats_require_minimum_version 1.5.0
load support/home

setup() { own_home; }
teardown() { stop_daemons; }

@test "every wiring template is JSON with a time limit in its harness's unit, above the budget" {
  run "$PYTHON" -I - "$REPO/hooks/wiring" <<'EOF'
import json, pathlib, sys

from chitta.settings import BY_NAME

budget = int(BY_NAME["CHITTA_HOOK_BUDGET_MS"].default)
units = {"claude-code": ("timeout", 1000), "claude-code-shell": ("timeout", 1000), "codex": ("timeout", 1000), "copilot": ("timeoutSec", 1000), "gemini": ("timeout", 1)}
found = {}
for path in pathlib.Path(sys.argv[1]).glob("*.json"):
    hooks = json.loads(path.read_text())["hooks"]
    (entries,) = hooks.values()
    for entry in entries:
        for handler in entry.get("hooks", [entry]):
            key, unit = units[path.stem]
            found[path.stem] = handler[key] * unit
            assert "@CHITTA_ROOT@/hooks/prompt-core.sh" in json.dumps(handler)
assert set(found) == set(units), found
assert all(budget + 1000 <= limit <= 30_000 for limit in found.values()), found
EOF
  [ "$status" -eq 0 ]
}

# filled TEMPLATE: the program of the filled template and its arguments, a line each; without arguments of its own
# it is a command line for a shell.
filled() {
  "$ROOT/hooks/wiring/fill" "$1" | "$PYTHON" -I -c 'import json, sys
(entries,) = json.load(sys.stdin)["hooks"].values()
(handler,) = entries[0].get("hooks", entries)
command = handler.get("command") or handler["bash"]
print(*([command, *handler["args"]] if "args" in handler else ["sh", "-c", command]), sep="\n")'
}

@test "every wiring template, filled in, fires the hook whatever the checkout's path is" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr
  for folder in "a folder" "R&D | a|b" $'it\'s "so" `x` $HOME \\t \\'; do
    copied_checkout "$TMP/$folder"
    cd "$TMP"
    for template in "$REPO"/hooks/wiring/*.json; do
      name=${template##*/}
      name=${name%.json}
      words=()
      while IFS= read -r word; do words+=("$word"); done < <(filled "$name")
      [ "${#words[@]}" -ge 2 ]
      rm -rf "$CHITTA_HOME/state/sessions"
      run --separate-stderr "${words[@]}" <"$TMP/p" # portable: never empty
      printf '%s %s: %s %s\n' "$folder" "$name" "$status" "$output$stderr"
      [ "$status" -eq 0 ]
      [ -z "$stderr" ]
      [[ $output == *"pnpm install"* ]]
    done
  done
}

@test "a template for a checkout that is gone does not fail the prompt of a client that would block it" {
  copied_checkout
  words=()
  while IFS= read -r word; do words+=("$word"); done < <(filled gemini)
  rm -r "$ROOT/hooks"
  run --separate-stderr "${words[@]}" </dev/null # portable: never empty
  silent
}

@test "fill names the templates when asked for another" {
  run --separate-stderr "$REPO/hooks/wiring/fill" nonsense
  [ "$status" -eq 2 ]
  [ -z "$output" ]
  [[ $stderr == "chitta: "*"hint: the templates are:"*" claude-code "*" gemini"* ]]
}

@test "a plain replacement of the mark, as by sed, does for a plain path" {
  for template in "$REPO"/hooks/wiring/*.json; do
    [ "$(grep -c '@CHITTA_ROOT@' "$template")" -eq 1 ]
    [[ $(sed 's|@CHITTA_ROOT@|/x|' "$template") != *@CHITTA_ROOT@* ]]
  done
}
