#!/usr/bin/env bash
# What every model owes, whatever it computes: conformance.sh MODEL [CHECK...]. Nothing here knows a model: scenarios are
# the model's own example and those of scenarios/, shortened to 16 steps. Without CHECK all of them:
#   example    the starter scenario (`sim new`) is free of faults and runs, with ALL=1 to its end
#   outputs    the state does not depend on what is written, nor how often
#   restart    a run resumed from a checkpoint of an odd step ends as the straight run: digest, tables, snapshot
#   threads    1, 2, 3 and 7 threads: the same digest and tables
#   ranks      2 and 3 ranks, with ALL=1 also 4 and 7, where the model supports them: the files of one rank
#   precision  each precision has bits of its own, is refused, or is said to be computed as another
#   device     CPU and GPU agree within the rounding of their sums (skipped without a GPU)
#   describe   `sim describe` names what the language has
#   reseal     a checkpoint with a wild content and a valid seal ends with a documented exit code
# With ALL=1 outputs, restart, threads, ranks and precision are asked of all scenarios of the model, and reseal of 300
# mutations more. SIM, COMPARE and RESEAL name the programs, ROOT the source tree.
model=${1:?a model}
shift
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
: "${COMPARE:?the program crash_compare}" "${RESEAL:?the program reseal}" "${ROOT:?the source tree}"
(($#)) || set -- example outputs restart threads ranks precision device describe reseal
export OMP_WAIT_POLICY=passive ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
cp -r -- "$ROOT/scenarios" "$ROOT/data" .
mkdir work
cd work
"$SIM" new "$model" >example.lua || fail "sim new $model"
own=()
for file in ../scenarios/*.lua; do
  if grep -q "return sim\.$model\b" "$file"; then own+=("$file"); fi
done

# short FILE STEPS TABLES CHECKPOINTS SNAPSHOTS: ./short.lua is that scenario, ended after STEPS, with these cadences.
# It is put beside the scenarios, whose paths are relative.
short() {
  {
    printf 'local scenario = (function() '
    cat -- "$1"
    cat <<LUA

end)()
local output = scenario.output or {}
output.tables, output.checkpoint, output.snapshots = "$3", "$4", "$5"
scenario.output = output
scenario.stop_when = function(row) return sim.ge(row.step, $2) end
return scenario
LUA
  } >../scenarios/short.lua
}
# run FOLDER WORDS...: runs it on the CPU.
run() {
  local folder=$1
  shift
  rm -rf -- "$folder"
  expect 0 "" "$SIM" run ../scenarios/short.lua -o "$folder" --device cpu "$@"
}
# equal FOLDER FOLDER WHAT: digests and tables.
equal() {
  same "$1" "$2" "$3"
  "$COMPARE" "$1/tables.h5" "$2/tables.h5" >output 2>&1 || fail "$3: tables differ"
}
last_snapshot() { find "$1/snap" -name 'snap_*.h5' | sort | tail -n 1; }

check_example() {
  expect 0 "no faults" "$SIM" check example.lua
  cp example.lua ../scenarios/short.lua
  [ "${ALL:-}" ] || short example.lua 48 "every 16 steps" never ends
  run example --threads 2
  [[ $(digest example) =~ ^[0-9a-f]{32}$ ]] || fail "the example has no digest"
  [ -s example/tables.h5 ] || fail "the example has no tables"
}

check_outputs() { # SCENARIO
  short "$1" 16 "every 1 steps" "every 5 steps" "every 3 steps"
  "$SIM" check ../scenarios/short.lua >output 2>&1 || true
  if grep -q 'output.snapshots: ' output; then # a model without snapshots
    short "$1" 16 "every 1 steps" "every 5 steps" never
  fi
  run often
  short "$1" 16 "every 16 steps" never never
  run seldom
  same often seldom "$1: outputs change the state"
}

# The checkpoints at 7, 14 and 16 are kept, or the last three of a shorter run.
check_restart() { # SCENARIO
  short "$1" 16 "every 1 steps" "every 7 steps" ends
  run whole --threads 2
  steps=$(key step whole)
  ((steps >= 3)) || return 0
  if ((steps < 8)); then
    short "$1" 16 "every 1 steps" "every 1 steps" ends
    run whole --threads 2
  fi
  rm -rf split
  cp -r whole split
  local odd file step
  for odd in 7 $((steps - 2)) $((steps - 1)); do
    if ((odd % 2 == 1)) && [ -f "split/ckpt/ck_$(printf %012d "$odd").h5" ]; then break; fi
  done
  for file in $(checkpoints split); do
    step=${file##*ck_} step=${step%.h5}
    if ((10#$step > odd)); then rm -- "$file"; fi
  done
  expect 0 "" "$SIM" resume split --threads 3
  [ "$(checkpoints whole)" = "$(checkpoints split | sed 's/^split/whole/')" ] || fail "$1: resume made no step"
  equal whole split "$1: restart at step $odd of $steps"
  file=$(last_snapshot whole)
  [ -z "$file" ] || "$COMPARE" "$file" "$(last_snapshot split)" >output 2>&1 || fail "$1: restart: snapshots differ"
}

check_threads() { # SCENARIO
  local threads
  short "$1" 16 "every 1 steps" never never
  for threads in 1 2 3 7; do
    run "threads$threads" --threads "$threads"
    equal threads1 "threads$threads" "$1: $threads threads"
  done
}

check_ranks() { # SCENARIO
  local ranks file pairs
  short "$1" 16 "every 1 steps" "every 7 steps" ends
  if ! "$SIM" check ../scenarios/short.lua --ranks 2 >output 2>&1; then
    grep -qE "^sim: .*--ranks 2: .* one rank only" output || fail "$1: sim check --ranks 2"
    return 0
  fi
  run ranks1 --threads 1
  for ranks in 2 3 ${ALL:+4 7}; do
    run "ranks$ranks" --threads 1 --ranks "$ranks"
    equal ranks1 "ranks$ranks" "$1: $ranks ranks"
    pairs=()
    for file in $(checkpoints ranks1) $(last_snapshot ranks1); do pairs+=("$file" "ranks$ranks/${file#ranks1/}"); done
    "$COMPARE" "${pairs[@]}" >output 2>&1 || fail "$1: $ranks ranks: the files differ"
  done
}

check_precision() { # SCENARIO
  local kind code bits taken=""
  short "$1" 16 "every 1 steps" never never
  for kind in single mixed double; do
    code=0
    rm -rf precision
    "$SIM" run ../scenarios/short.lua -o precision --device cpu --precision "$kind" >output 2>&1 || code=$?
    case $code in
      0)
        bits=$(digest precision)
        cp output "said.$kind"
        # The bits of another precision: one of the two runs names the other one.
        if [[ $taken =~ ([a-z]+)=$bits ]] && ! grep -q "precision.*${BASH_REMATCH[1]}" output &&
          ! grep -q "precision.*$kind" "said.${BASH_REMATCH[1]}"; then
          fail "$1: precision $kind has the bits of ${BASH_REMATCH[1]}"
        fi
        taken+=" $kind=$bits"
        ;;
      64)
        grep -qE -- "--precision: expected .*got \"$kind\"" output ||
          fail "$1: precision $kind is refused without a reason"
        ;;
      *) fail "$1: exit $code with precision $kind" ;;
    esac
  done
  [ -n "$taken" ] || fail "$1: no precision is accepted"
}

# Both run 5 steps from the same start. Sums on the two devices have the same terms in another order: each step adds the
# rounding of sums of some thousand terms, at most 2^12 units of the largest value of an array. Rows hold numbers of
# many kinds, and differences of large ones: they are compared in double, relative to the table's largest value.
check_device() {
  "$SIM" list | grep -qE "^$model .*\[.*cuda.*\]" || return 0
  short "$1" 5 "every 1 steps" never ends
  local kind code first
  for kind in "" double; do
    code=0
    "$SIM" check ../scenarios/short.lua --device cuda ${kind:+--precision $kind} >output 2>&1 || code=$?
    if ((code == 69)); then
      echo "part skipped: $model on a GPU: $(tail -n 1 output)"
      return 0
    fi
    if ((code == 65)) && [ -n "$kind" ]; then continue; fi
    ((code == 0)) || fail "$1: exit $code from sim check --device cuda"
    run cpu ${kind:+--precision $kind}
    rm -rf gpu
    expect 0 "" "$SIM" run ../scenarios/short.lua -o gpu --device cuda ${kind:+--precision $kind}
    first=$(last_snapshot cpu)
    [ -z "$first" ] || "$COMPARE" --near 4096 "$first" "$(last_snapshot gpu)" >output 2>&1 || fail "$1: CPU and GPU: states"
    [ -z "$kind" ] || "$COMPARE" --near 4096 cpu/tables.h5 gpu/tables.h5 >output 2>&1 || fail "$1: CPU and GPU: tables"
  done
}

# Every constructor that is named exists, and every key of the first level is known: a wrong value of each is refused as
# such.
check_describe() {
  local key
  "$SIM" describe "$model" >description || fail "sim describe $model"
  sed -n '/^Parameters/,/^[A-OQ-Z]/p' description >parameters
  grep -oE '^ +sim\.[a-z_0-9]+ \{' parameters | grep -oE 'sim\.[a-z_0-9]+' | sort -u >constructors || true
  {
    while read -r key; do printf 'assert(%s, "%s")\n' "$key" "$key"; done <constructors
    printf 'return sim.%s {\n' "$model"
    grep -oE '^  [a-z_0-9]+ ' parameters | sort -u >keys
    while read -r key; do printf '  %s = sim.%s { false },\n' "$key" "$model"; done <keys
    echo '}'
  } >all.lua
  [ -s keys ] || fail "sim describe $model names no parameter"
  expect 65 "" "$SIM" check all.lua
  ! grep -E 'unknown|assert' output || fail "sim describe $model names what the language has not"
  if ((20 > $(wc -l <keys))); then # all faults are shown
    while read -r key; do
      grep -qE "^[^:]*all\.lua:[0-9]+: $key\b|all\.lua:[0-9]+: $key[.:[]" output || fail "no fault of the key $key is told"
    done <keys
  fi
}

# Of each array of the state: all elements wild (change 12 of reseal.c), and one element too many (25); and some of the
# whole file.
check_reseal() {
  local some=6 all k number what code name array numbers=()
  if [ "${ALL:-}" ]; then some=300; fi
  short "$1" 16 "every 4 steps" "every 7 steps" never
  run first
  name=$(basename "$(checkpoints first | head -n 1)")
  all=$("$RESEAL" count "first/ckpt/$name")
  for ((k = 0; k < some; k++)); do numbers+=($((k * (all / some | 1) % all))); done
  for array in $("$SIM" describe "$model" | sed -n '/^State/,/^References/s/^    \([a-z_0-9][a-z_0-9]*\) .*/\1/p'); do
    for k in 12 25; do
      if number=$("$RESEAL" find "first/ckpt/$name" "state/$array" "$k" 2>output); then numbers+=("$number"); fi
    done
  done
  ((${#numbers[@]} > some)) || fail "no array of the state of $model is in its checkpoint"
  for number in "${numbers[@]}"; do
    rm -rf damaged
    cp -r first damaged
    rm -- damaged/ckpt/*
    what=$("$RESEAL" mutate "first/ckpt/$name" "damaged/ckpt/$name" "$number") || fail "reseal mutate $number"
    code=0
    timeout --preserve-status -k 60 20 "$SIM" resume damaged >output 2>&1 || code=$?
    [[ " 0 65 71 74 75 78 80 " == *" $code "* ]] && ! grep -qE 'Sanitizer|runtime error' output ||
      fail "a resealed checkpoint, mutation $number ($what): exit $code"
  done
}

for check; do
  case $check in
    example | describe) "check_$check" ;;
    device | reseal) "check_$check" example.lua ;;
    *)
      steps=0
      for file in example.lua "${own[@]}"; do
        "check_$check" "$file"
        # A restart needs some steps: where the example makes too few, the first scenario with enough steps is used.
        if [ -z "${ALL:-}" ] && { [ "$check" != restart ] || ((steps >= 3)); }; then break; fi
      done
      [ "$check" != restart ] || ((steps >= 3)) || [ "${ALL:-}" ] || fail "no scenario of $model makes 3 steps"
      ;;
  esac
  echo "$model: $check"
done
