#!/usr/bin/env bats
# The wiring templates: right units, filled in for any path, and what they say runs the hook.
# shellcheck disable=SC2016,SC2030,SC2031 # each test is a subshell, and means to be

bats_require_minimum_version 1.5.0
load support/home

setup() { own_home; }
teardown() { stop_daemons; }

@test "every wiring template is JSON with time limits in its harness's unit, the prompt's above the budget" {
  run "$PYTHON" -I - "$REPO/hooks/wiring" <<'EOF'
import json, pathlib, sys

from chitta.settings import BY_NAME

budget = int(BY_NAME["CHITTA_HOOK_BUDGET_MS"].default)
units = {"claude-code": ("timeout", 1000), "claude-code-shell": ("timeout", 1000), "codex": ("timeout", 1000), "copilot": ("timeoutSec", 1000), "gemini": ("timeout", 1)}
found = {}
for path in pathlib.Path(sys.argv[1]).glob("*.json"):
    key, unit = units[path.stem]
    for entries in json.loads(path.read_text())["hooks"].values():
        for entry in entries:
            for handler in entry.get("hooks", [entry]):
                text = json.dumps(handler)
                assert "@CHITTA_ROOT@/hooks/" in text
                assert 2000 <= handler[key] * unit <= 30_000, text
                if "prompt-core.sh" in text:
                    assert path.stem not in found, "two for the prompt"
                    found[path.stem] = handler[key] * unit
assert set(found) == set(units), found
assert all(budget + 1000 <= limit for limit in found.values()), found
EOF
  [ "$status" -eq 0 ]
}

# filled TEMPLATE [SCRIPT]: the program of the filled template that starts SCRIPT (the prompt's hook) and its
# arguments, a line each; without arguments of its own it is a command line for a shell.
filled() {
  "$ROOT/hooks/wiring/fill" "$1" | "$PYTHON" -I -c 'import json, sys
groups = [group for groups in json.load(sys.stdin)["hooks"].values() for group in groups]
handlers = [handler for group in groups for handler in group.get("hooks", [group])]
handler = next(handler for handler in handlers if sys.argv[1] in json.dumps(handler))
command = handler.get("command") or handler["bash"]
print(*([command, *handler["args"]] if "args" in handler else ["sh", "-c", command]), sep="\n")' "${2:-prompt-core.sh}"
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
  mkdir "$TMP/filled"
  for script in prompt-core.sh session-start.sh session-flush.sh; do
    filled gemini "$script" >"$TMP/filled/$script"
  done
  rm -r "$ROOT/hooks"
  for file in "$TMP"/filled/*; do
    words=()
    while IFS= read -r word; do words+=("$word"); done <"$file"
    [ "${#words[@]}" -eq 3 ]
    run --separate-stderr "${words[@]}" </dev/null # portable: never empty
    silent
  done
}

@test "fill names the templates when asked for another" {
  run --separate-stderr "$REPO/hooks/wiring/fill" nonsense
  [ "$status" -eq 2 ]
  [ -z "$output" ]
  [[ $stderr == "chitta: "*"hint: the templates are:"*" claude-code "*" gemini"* ]]
}

@test "a plain replacement of the mark, as by sed, does for a plain path" {
  for template in "$REPO"/hooks/wiring/*.json; do
    [ "$(grep -c '@CHITTA_ROOT@' "$template")" -ge 5 ]
    [[ $(sed 's|@CHITTA_ROOT@|/x|' "$template") != *@CHITTA_ROOT@* ]]
  done
}

@test "fault 43: chitta hooks wires a client, what it wrote fires the hook, and uninstall gives the file back" {
  a_store
  payload 'please run npm install' >"$TMP/p"
  export CHITTA_NO_DAEMON=1 CHITTA_ABLATE_LANES=sem,ctx,hyb,xr
  export HOME=$TMP/person
  unset CLAUDE_CONFIG_DIR CODEX_HOME COPILOT_HOME
  for name in claude codex copilot gemini; do
    case $name in
      codex) file=$HOME/.codex/hooks.json ;;
      copilot) file=$HOME/.copilot/hooks/chitta.json ;;
      *) file=$HOME/.$name/settings.json ;;
    esac
    mkdir -p "${file%/*}"
    printf '{ "hooks":{"Other":[ ]} }' >"$file"
    "$REPO/bin/chitta" hooks install "$name" >/dev/null 2>&1
    words=()
    while IFS= read -r word; do words+=("$word"); done < <("$PYTHON" -I -c 'import json, sys
groups = [group for groups in json.load(open(sys.argv[1]))["hooks"].values() for group in groups]
handlers = [handler for group in groups for handler in group.get("hooks", [group])]
handler = next(handler for handler in handlers if "prompt-core.sh" in json.dumps(handler))
command = handler.get("command") or handler["bash"]
print(*([command, *handler["args"]] if "args" in handler else ["sh", "-c", command]), sep="\n")' "$file")
    rm -rf "$CHITTA_HOME/state/sessions"
    run --separate-stderr "${words[@]}" <"$TMP/p" # portable: never empty
    printf '%s: %s %s\n' "$name" "$status" "$output$stderr"
    [[ $output == *"pnpm install"* ]]
    "$REPO/bin/chitta" hooks uninstall "$name" >/dev/null 2>&1
    [ "$(cat "$file")" = '{ "hooks":{"Other":[ ]} }' ]
  done
}
