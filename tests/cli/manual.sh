#!/usr/bin/env bash
# The reference as Markdown, the man page and the completions are generated from the tables of `sim describe` and
# --help, and contain all of them.
. "${BASH_SOURCE[0]%/*}/lib.sh"

"$SIM" --help >help
grep -oE -- '--[a-z-]+' help | sort -u >options
"$SIM" list | awk '{ print $1 }' >models
sed -n '/^exit codes/,$p' help | awk 'NR > 1 { print $1 }' >codes

# ---- Markdown ----

expect 0 "# Reference of sim" "$SIM" describe --markdown
cp output all.md
# even FILE: every row of a table has as many cells as its head. A bar in code would add a cell.
even() {
  awk -F'|' '/^\|---/ { cells = NF; next } /^\|/ && cells { line = $0; gsub(/\\\|/, "", line)
      if (split(line, parts, "|") != cells) { print; bad = 1 } } !/^\|/ { cells = 0 } END { exit bad }' "$1"
}
if grep -qE '\\[<`]' all.md; then fail "the reference shows backslashes: $(grep -m1 -E '\\[<`]' all.md)"; fi
even all.md || fail "a row of the reference has another number of cells than its head"
grep -qF '<code>--wall TIME&#124;auto</code>' all.md || fail "no row for --wall TIME|auto"
expect 0 "## Exit codes" "$SIM" help --markdown
sed -n '/^## Commands/,/^## sim\./p' all.md | sed '/^## sim\./d; s/^##/#/' | diff -B - output >/dev/null ||
  fail "the commands of describe --markdown are others"
while read -r option; do grep -qF -- "$option" all.md || fail "the reference lacks $option"; done <options
while read -r code; do grep -q "^| $code | " all.md || fail "the reference lacks the exit code $code"; done <codes
while read -r model; do
  expect 0 "# sim.$model" "$SIM" describe "$model" --markdown
  # Each key and column of the text: its first word, where a description follows.
  "$SIM" describe "$model" >text
  sed -n '/^Parameters/,/^References/p' text | sed -nE 's/^ {2,12}([a-z][A-Za-z0-9_]*) +[^ ].*$/\1/p' |
    grep -vxE 'also|and|a|sim' | sort -u >keys
  [ "$(wc -l <keys)" -ge 8 ] || fail "only $(wc -l <keys) keys found in sim describe $model"
  while read -r key; do
    grep -qE "[\`.]$key\`" output || fail "the reference of $model lacks $key"
  done <keys
  even output || fail "a row of the reference of $model has another number of cells than its head"
done <models
expect 64 "nearest is nbody" "$SIM" describe nbodi --markdown
expect 64 "does not take --markdown" "$SIM" run x.lua --markdown
expect 64 "give only one" "$SIM" help --man --markdown
expect 64 "of all commands" "$SIM" help run --man

# ---- man page ----

expect 0 ".TH SIM 1" "$SIM" help --man
cp output sim.1
sed 's/\\-/-/g' sim.1 >plain.1
while read -r option; do grep -qF -- "$option" plain.1 || fail "the man page lacks $option"; done <options
while read -r code; do grep -qx ".B $code" sim.1 || fail "the man page lacks the exit code $code"; done <codes
grep -qE '^\.TH SIM 1 "([0-9]{4}-[0-9]{2}-[0-9]{2})?" "sim ' sim.1 || fail "no heading of the man page: $(head -n 1 sim.1)"
if command -v groff >/dev/null; then
  groff -man -Tutf8 -wall -z sim.1 2>warnings || fail "groff does not read the man page"
  [ ! -s warnings ] || fail "groff warns of the man page: $(head -n 3 warnings)"
fi

# ---- completions ----

for shell in bash zsh fish; do
  expect 0 "" "$SIM" completion "$shell"
  cp output "sim.$shell"
  while read -r option; do
    [ "$shell" = fish ] && word="-l ${option#--}" || word=$option
    grep -qF -- "$word" "sim.$shell" || fail "the completions for $shell lack $option"
  done <options
  ! command -v "$shell" >/dev/null || "$shell" -n "sim.$shell" || fail "$shell does not read its completions"
done
expect 64 "expected bash, zsh or fish" "$SIM" completion tcsh

# offers WORD WORDS...: whether bash completes the last of the words with it.
# shellcheck disable=SC1091
. ./sim.bash
offers() {
  local wanted=$1
  shift
  # shellcheck disable=SC2034
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _sim
  [[ " ${COMPREPLY[*]} " == *" $wanted "* ]]
}
touch galaxy.lua notes.txt
mkdir galaxy.out
offers verify sim ver || fail "no command is offered"
offers galaxy.lua sim run g || fail "no scenario is offered"
! offers notes.txt sim run n || fail "a file that is no scenario is offered"
offers galaxy.out sim resume g || fail "no folder is offered"
offers nbody sim describe n || fail "no model is offered"
offers --device sim run galaxy.lua --de || fail "no option is offered"
! offers --jobs sim run galaxy.lua --jo || fail "an option of another command is offered"
offers cuda sim run galaxy.lua --device c || fail "no device is offered"
offers --device sim galaxy.lua --de || fail "no option is offered after a scenario without a command"
offers cuda sim galaxy.lua --device c || fail "no device is offered after a scenario without a command"
offers cuda sim run galaxy.lua --device = c || fail "no device is offered after ="
offers cpu sim run galaxy.lua --device = || fail "no device is offered after = alone"
! offers galaxy.lua sim run --seed g || fail "a scenario is offered in place of a seed"
offers galaxy.lua sim g || fail "no scenario is offered without a command"
if command -v fish >/dev/null; then
  HOME=$PWD fish --no-config -c 'source sim.fish; complete -C "sim run galaxy.lua --device c"' >offered 2>&1
  grep -q '^cuda' offered || fail "fish offers no device: $(head -n 3 offered)"
  HOME=$PWD fish --no-config -c 'source sim.fish; complete -C "sim galaxy.lua --device c"' >offered 2>&1
  grep -q '^cuda' offered || fail "fish offers no device after a scenario: $(head -n 3 offered)"
fi

# Words that are offered for a value are values: the parser accepts them.
sed -n "s/^    \(-. | \)\{0,1\}\(--[a-z-]*\) | --.*) kind='\([a-z0-9 ]*\)' ;;\$/\2 \3/p" sim.bash >values
[ "$(wc -l <values)" -ge 4 ] || fail "too few options whose values are offered: $(cat values)"
while read -r option words; do
  for word in $words; do
    command=run
    [ "$option" != --scheduler ] || command=batch
    code=0
    "$SIM" "$command" absent.lua "$option" "$word" >output 2>&1 || code=$?
    [ "$code" = 66 ] || [ "$code" = 69 ] || fail "$option $word is offered, and refused"
  done
done <values
