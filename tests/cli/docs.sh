#!/usr/bin/env bash
# Scenarios that stand in the documents are scenarios, and documents name files that are there.
. "${BASH_SOURCE[0]%/*}/lib.sh"
: "${ROOT:?the source tree}"

# Each block of Lua that returns something becomes a file of its own.
awk '/^```lua$/ { inside = 1; name = sprintf("block%02d.lua", ++count); next }
     /^```$/ { inside = 0 }
     inside { print > name }' "$ROOT/README.md" "$ROOT/docs/scenario.md"
checked=0
for file in block*.lua; do
  grep -q '^return sim\.' "$file" || continue
  expect 0 "" "$SIM" check "$file"
  checked=$((checked + 1))
done
((checked >= 2)) || fail "only $checked scenarios found in the documents"

for file in README CONTRIBUTING CHANGELOG docs/scenario docs/outputs docs/performance docs/gpu; do
  while IFS= read -r link; do
    link=${link%%#*}
    [ -z "$link" ] || [ -e "$ROOT/$(dirname "$file")/$link" ] || fail "$file.md points to $link, which is not there"
  done < <(grep -oE '\]\([^)]*\)' "$ROOT/$file.md" | sed 's/^](//; s/)$//' | grep -vE '^https?:' || true)
done

# A parameter's description says more than its name: else "strike: missing: strike".
for model in $("$SIM" list | awk '{ print $1 }'); do
  "$SIM" describe "$model" | awk -v model="$model" '$1 == $2 && NF == 2 { print model ": " $1; bad = 1 } END { exit bad }' ||
    fail "a description repeats its name"
done

# Every exit code that the help names is documented, and the other way round.
codes() { grep -oE '\b(6[4-9]|7[0-9]|8[0-9])\b' | sort -u; }
"$SIM" --help | sed -n '/^exit codes/,$p' | codes >help.codes
sed -n '/^## Exit codes/,$p' "$ROOT/docs/outputs.md" | codes >docs.codes
diff help.codes docs.codes || fail "exit codes of the help and of docs/outputs.md differ"
