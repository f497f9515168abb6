#!/usr/bin/env bash
# The command's own texts, and wrong use of the command.
. "${BASH_SOURCE[0]%/*}/lib.sh"

expect 0 "sim check" "$SIM" --help
grep -q resume output || fail "help does not name resume"
# Each command has its own help: every option that it takes, and an example that the command accepts.
"$SIM" --help >all
every=$(sed -n 's/^  \(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' all | sort -u)
declare -A takes # the value of an option, as the help calls it
for option in $every; do takes[$option]=$(grep -oE -- "^  (-., )?$option[ =][^ ]+ " all | grep -oE '[^ ]+ $' || true); done
# named OPTION: whether the help in `text` has it.
named() { [[ $'\n'$text =~ $'\n'"  "(-., )?"$1"([^[:alnum:]_]|$) ]]; }
for command in run check resume sweep batch status list describe new info bench verify doctor completion; do
  expect 0 "usage: sim $command" "$SIM" "$command" --help
  cp output own
  grep -q "^  sim $command" own || fail "sim $command --help has no example"
  "$SIM" help "$command" | cmp -s - own || fail "sim help $command is not sim $command --help"
  text=$(<own)
  while read -r option; do
    case $option in --help | --version) continue ;; esac
    case $option in
      --set) given=(a=1) ;;
      --device) given=(cpu) ;;
      --precision) given=(single) ;;
      --isa) given=(plain) ;;
      --wall | --time) given=(00:10:00) ;;
      *) given=(1) ;;
    esac
    [ "${takes[$option]}" ] || given=()
    target=(x)
    case $command in list | info | doctor) target=() ;; esac
    "$SIM" "$command" "${target[@]}" "$option" "${given[@]}" >output 2>&1 || true
    if [[ $(<output) == *'does not take'* ]]; then
      ! named "$option" || fail "sim $command --help names $option, which it does not take"
    else
      named "$option" || fail "sim $command --help does not name $option"
    fi
  done <<<"$every"
done
"$SIM" batch --help | grep -q -- '--time HH:MM:SS' || fail "sim batch --help names no unit of --time"
expect 64 "nearest is 'batch'" "$SIM" help bacth
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
expect 64 nbody "$SIM" new nbodi
for model in $("$SIM" list | cut -d ' ' -f 1); do # each model's own: results to rely on, and a picture of them
  "$SIM" new "$model" >"new_$model.lua" || fail "sim new $model"
  expect 0 "draw it with: simview plot" "$SIM" run "new_$model.lua" --device cpu --wall 00:10:00
  [ "$(key state "new_$model.out")" = done ] || fail "the starter of $model did not run to its end"
  ! grep -q warning output || fail "the starter of $model: $(grep -m 1 warning output)"
done

# Output that cannot be printed must be an error: every command whose result is its text ends with 74, on a full disk,
# in a pipe without a reader, and where stdout is closed. The last command prints more than a buffer; the rest is
# written first.
commands=("--help" "--version" "help" "list" "info" "new nbody" "describe nbody" "check starter.lua" "batch starter.lua"
  "status new_nbody.out" "sweep starter.lua --seed 1..2 --array" "status$(printf ' new_nbody.out%.0s' {1..200})")
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
