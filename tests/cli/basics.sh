#!/usr/bin/env bash
# What the command says about itself, and how it is used wrongly.
. "${BASH_SOURCE[0]%/*}/lib.sh"

expect 0 "sim check" "$SIM" --help
grep -q resume output || fail "help does not name resume"
expect 0 "sim " "$SIM" --version
grep -qE '^sim [0-9]+\.[0-9]+\.[0-9]+ \(.+\)$' output || fail "not 'sim X.Y.Z (revision)'"
[ "$(wc -l <output)" = 1 ] || fail "--version says more than one line"
expect 0 nbody "$SIM" list
expect 0 softening "$SIM" describe nbody
grep -q leapfrog output || fail "describe does not give the choices"
expect 64 nbody "$SIM" describe nbodi
expect 0 FIELD_mean_variance "$SIM" describe diffusion # tables whose columns a scenario names
expect 0 GREEK_error "$SIM" describe option
expect 0 "HDF5" "$SIM" info
grep -qE 'avx512|avx2|plain|AVX' output || fail "info does not name the instruction set"
expect 64 "" "$SIM"
expect 64 "nearest is 'check'" "$SIM" chekc
expect 64 "--frobnicate" "$SIM" run x.lua --frobnicate
expect 66 "absent.lua" "$SIM" absent.lua
expect 66 "absent.lua" "$SIM" check absent.lua

# The starter scenario is a scenario.
"$SIM" new nbody >starter.lua || fail "sim new nbody"
if [ ! -s starter.lua ]; then mv nbody.lua starter.lua || fail "sim new wrote nothing"; fi
grep -q -- '--' starter.lua || fail "the starter has no comment"
expect 0 "" "$SIM" check starter.lua
expect 0 "" "$SIM" run starter.lua -o starter --wall 00:10:00
[ "$(key state starter)" = done ] || fail "the starter did not run to its end"
expect 64 nbody "$SIM" new nbodi

# What cannot be printed was not said: every command whose result is its text ends with 74, on a full disk, in a pipe that
# nobody reads, and where stdout is closed. The last one prints more than a buffer, of which the rest is written first.
commands=("--help" "--version" "help" "list" "info" "new nbody" "describe nbody" "check starter.lua" "batch starter.lua"
  "status starter" "sweep starter.lua --seed 1..2 --array" "status$(printf ' starter%.0s' {1..200})")
for command in "${commands[@]}"; do
  read -ra words <<<"$command"
  for target in /dev/full "&-"; do
    [ "$target" = "&-" ] || [ -c "$target" ] || continue
    code=0
    if [ "$target" = "&-" ]; then
      timeout 60 "$SIM" "${words[@]}" >&- 2>output || code=$?
    else
      timeout 60 "$SIM" "${words[@]}" >"$target" 2>output || code=$?
    fi
    [ "$code" = 74 ] || fail "sim ${command:0:60} >$target: exit $code, not 74"
    [ "$(grep -c 'cannot write to standard output' output)" = 1 ] || fail "sim ${command:0:60} >$target: not one line"
  done
done
code=$( { sleep 0.3 && timeout 60 "$SIM" check starter.lua 2>output || echo "$?" >pipe.code; } | true; cat pipe.code)
[ "$code" = 74 ] || fail "sim check into a closed pipe: exit $code, not 74"
[ ! -s output ] || fail "a reader that went away gets a message"
