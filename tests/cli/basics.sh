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
