#!/usr/bin/env bash
# sim verify: for a folder, that every file is whole and of this run; for a scenario, the digits of its observables.
. "${BASH_SOURCE[0]%/*}/lib.sh"

# ---- folders ----

scenario s.lua
expect 0 "" "$SIM" run s.lua -o good
expect 0 "0 faults; the run is done" "$SIM" verify good
files=$(find good -name '*.h5' -o -name '*.hdf' -o -name run.pmd | wc -l)
grep -q "^good: $files files, " output || fail "not all $files files were read"
for option in "--seed 3" "--device cpu" "--isa plain" "--threads 1" "--set n=3"; do
  # shellcheck disable=SC2086
  expect 64 "is a folder" "$SIM" verify good $option
done

# flip FILE: changes one byte in the middle.
flip() {
  local at=$(($(stat -c %s "$1") / 2)) old
  old=$(od -An -tu1 -j "$at" -N 1 "$1")
  # shellcheck disable=SC2059
  printf "\\$(printf %o $((old ^ 1)))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}
# faulty TEXT FILE: the folder `bad` has exactly this fault, in this file.
faulty() {
  expect 83 "$1" "$SIM" verify bad
  grep -qF "bad: 1 fault in " output || fail "not one fault: $1"
  [ "$(grep -c "^bad/$2: " output)" = 1 ] || fail "not one line for $2"
  rm -rf bad
}
fresh() { rm -rf bad && cp -r good bad; }
while read -r file; do
  fresh
  flip "bad/${file#good/}"
  faulty "damaged" "${file#good/}"
done < <(find good -name '*.h5' -o -name '*.hdf')
newest=$(checkpoints good | tail -n 1)
newest=${newest#good/}
for size in 0 100 5000; do
  fresh
  truncate -s "$size" "bad/$newest"
  faulty "" "$newest"
done
fresh
rm "bad/$newest"
faulty "is missing: status.json names it" "$newest"
fresh
rm bad/run.id
faulty "is missing" run.id

# A whole file of another run, and a whole file under the name of another step.
expect 0 "" "$SIM" run s.lua --set n=151 -o other
for file in "$newest" snap/snap_00000040.h5 tables.h5; do
  fresh
  cp "other/$file" "bad/$file"
  faulty "another run" "$file"
done
fresh
cp bad/snap/snap_00000040.h5 bad/snap/snap_00000020.h5
faulty "step of its name" snap/snap_00000020.h5
fresh
first=$(checkpoints bad | head -n 1)
cp "$first" bad/ckpt/ck_000000000011.h5
faulty "not the one of its name" ckpt/ck_000000000011.h5
# A state that is whole and of this run, but not the state with which the run ended.
fresh
digest=$(digest bad)
sed -i "s/$digest/${digest//[0-9]/7}/" bad/status.json
faulty "status.json says" "$newest"


# Missing files that the run wrote, according to its newest checkpoint and its indexes.
last=snap/$(basename "$(find good/snap -name 'snap_*.h5' | sort | tail -n 1)")
index=$(basename "$(find good -maxdepth 1 -name '*.hdf')")
fresh
rm bad/tables.h5
faulty "is missing: the run is done" tables.h5
fresh
rm "bad/$index"
expect 83 "the index of the snapshots (NAME.hdf) is missing" "$SIM" verify bad
fresh
rm bad/snap/snap_00000000.h5
faulty "points into snap/snap_00000000.h5, which is missing" "$index"
fresh
rm "bad/$last" "bad/$index"
expect 83 "bad/$last: is missing" "$SIM" verify bad
# Without a checkpoint missing files cannot be detected; a line says so.
expect 0 "" "$SIM" run s.lua --set every=never -o unsaved
expect 0 "not looked at: texts (scenario.lua, logs), and whether outputs are missing" "$SIM" verify unsaved

# Files of the run under the name of another kind of file.
fresh
cp bad/tables.h5 "bad/$index"
faulty "does not hold an index" "$index"
fresh
cp "bad/$index" bad/tables.h5
faulty "does not hold tables" tables.h5
fresh
cp bad/tables.h5 "bad/$last"
faulty "does not hold a snapshot" "$last"
cat >sliced.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {8, 8, 8}, size = {1, 1, 1} },
  fields    = { { name = "u", D = 1e-3, initial = function(x, y, z) return x end } },
  integrate = { dt = 0.1, t_end = 1 },
  output    = { snapshots = "ends", slices = { { name = "a", z = 0.2, when = "ends" } } },
}
LUA
expect 0 "" "$SIM" run sliced.lua -o sliced
expect 0 "0 faults" "$SIM" verify sliced
cp -r sliced bad
cp bad/slices/a/snap_00000010.h5 bad/snap/snap_00000010.h5
faulty "holds a slice" snap/snap_00000010.h5
cp -r sliced bad
rm bad/slices/a/snap_00000010.h5 bad/slices/a/grid.hdf
faulty "is missing" slices/a/snap_00000010.h5

# A status.json that contradicts itself, or the tables.
fresh
sed -i 's/"state": "done"/"state": "dome"/' bad/status.json
faulty "the state is dome" status.json
fresh
sed -i 's/"digest"/"digess"/' bad/status.json
faulty "has no digest" status.json
fresh
sed -i 's/"step": [0-9]*/"step": 7777/' bad/status.json
expect 83 "done at step 7777, and its last checkpoint is of" "$SIM" verify bad
grep -q "bad/tables.h5: ends with step" output || fail "tables that end elsewhere are not told"

# A status.json that cannot be read is a fault as any other, and the files are verified all the same.
fresh
echo '{"state": "do' >bad/status.json
flip bad/tables.h5
expect 83 "not JSON in line" "$SIM" verify bad
grep -q "^bad: .* 2 faults; the run is in a state that is not known" output || fail "not two faults"
fresh
rm bad/status.json
faulty "status.json: is missing" status.json
fresh
echo 'snap/snap_%T.h5' >bad/run.pmd
faulty "expected the line snap/snap_%08T.h5" run.pmd
fresh
rm bad/run.pmd
faulty "is missing: the run is done" run.pmd

# Temporary files and files of other programs do not count, and do not hide faults.
fresh
echo mine >bad/notes.hdf
touch bad/notes.txt bad/snap/.snap_00000007.h5.tmp
expect 0 "0 faults" "$SIM" verify bad

expect 0 "" "$SIM" sweep s.lua --set n=20,30 -o swept
expect 66 "name one of its runs, swept/run_NNNN" "$SIM" verify swept

mkdir empty
expect 66 "holds no run" "$SIM" verify empty
expect 66 "absent" "$SIM" verify absent

# A run that is under way, and a stopped one.
scenario long.lua
"$SIM" run long.lua --set n=600 --set steps=2000000 -o running >running.log 2>&1 &
run=$!
has_checkpoints() { [ "$(checkpoints running | wc -l)" -ge 2 ]; }
until_true 120 has_checkpoints
expect 0 "the run is running: files that it writes from now on" "$SIM" verify running
kill -TERM "$run"
wait "$run" || true
expect 0 "0 faults; the run is stopped" "$SIM" verify running

# ---- scenarios ----

# column NAME: "digits error" of a column in the output.
column() { awk -v name="$1" '$1 == name { print $3, $4 }' output; }
digits() { column "$1" | cut -d' ' -f1; }

# One body in a harmonic potential: x = cos t. The stated error must be above the true error, and not much larger.
cat >swing.lua <<'LUA'
local dt = sim.param("dt", 0.01, "step")
local t_end = sim.param("t_end", 5.0, "end")
return sim.nbody {
  bodies    = { { mass = 1, position = {1, 0, 0} } },
  external  = function(x, y, z) return 0.5 * (x^2 + y^2 + z^2) end,
  integrate = { dt = dt, t_end = t_end },
  observe   = { x = function(body) return body.x end },
  output    = { tables = "every 0.5" },
}
LUA
expect 0 "steps of 0.01 and 0.005; also in" "$SIM" verify swing.lua
[ -z "$(find . -maxdepth 1 -name 'swing*.out')" ] || fail "a folder was left"
read -r stated error <<<"$(column observe.x)"
value=$(awk '$1 == "observe.x" { print $2 }' output)
# Leapfrog shifts the phase by t dt^2/24 = 2.1e-5, and x = 0.28 changes by at most that. The estimate is 3/2 of the
# error: the difference is 3/4 of it and is doubled. It is the largest in the second half of the run, where sin t
# reaches 1.
awk -v x="$value" -v e="$error" -v d="$stated" 'BEGIN {
  off = x - cos(5); off = off < 0 ? -off : off; print_error = 0.5 * 10^-d
  exit !(off <= print_error && e >= 0.9 * 1.5 * 5 * 1e-4 / 24 && e <= 1.5 * 5 * 1e-4 / 24 * 1.1 && d == 3) }' ||
  fail "x = $value, $stated digits, error $error: the exact value is cos 5"
# Second order: a tenth of the step gives two more digits.
expect 0 "" "$SIM" verify swing.lua --set dt=0.001
[ "$(digits observe.x)" = $((stated + 2)) ] || fail "a tenth of the step: $(digits observe.x) digits, not $((stated + 2))"

# At t = pi the error, about t sin t dt^2/24, passes through zero: agreement by chance. The second half of the run
# counts, where t sin t reaches 1.8: 1.5 * 1.8 * 1e-4/24 = 1.1e-5.
expect 0 "" "$SIM" verify swing.lua --set t_end=3.14159265
[ "$(digits observe.x)" = 4 ] || fail "$(digits observe.x) digits by chance, not 4"

# Chaos: three bodies with close encounters have no digits left at the end; their mass is exact.
cat >chaos.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 24, mass = 1, radius = 1 } },
  gravity   = { softening = 0.001 },
  integrate = { dt = 1/128, t_end = 20 },
  observe   = { x = function(body) return body.x * body.x end, mass = function(body) return body.mass end },
  output    = { tables = "every 1" },
}
LUA
expect 0 "" "$SIM" verify chaos.lua
[ "$(digits observe.x)" = 0 ] || fail "digits of a chaotic observable: $(digits observe.x)"
[ "$(digits observe.mass)" -ge 13 ] || fail "digits of the mass: $(digits observe.mass)"

# Monte Carlo: the digits follow from the standard error that the run states.
"$SIM" new option >option.lua
expect 0 "no step test" "$SIM" verify option.lua
read -r stated error <<<"$(column price.price)" # of two digits: within 5 % of twice the standard error
awk '$1 == "price.standard_error" { print $2 }' output >standard
awk -v e="$error" -v s="$(cat standard)" 'BEGIN { exit !(e > 1.9 * s && e < 2.1 * s) }' || fail "error $error of a price, standard error $(cat standard)"
[ "$stated" -le 4 ] || fail "$stated digits of a Monte Carlo price"
# A standard error is itself estimated from samples: two digits at most, and no error of it is stated.
[ "$(column price.standard_error)" = "2 -" ] || fail "digits and error of a standard error: $(column price.standard_error)"

# Trailing zeros that can be trusted are printed too: as many digits as the number beside says. A missing file starts no
# run.
expect 0 "" "$SIM" verify swing.lua
awk '$3 ~ /^[0-9]+$/ && $2 ~ /^-?[0-9.]+(e[-+][0-9]+)?$/ && $3 > 0 {
       text = $2; sub(/e.*/, "", text); gsub(/[-.]/, "", text); sub(/^0+/, "", text)
       count++
       if (length(text) != $3 + 0 && text != "") { print; bad = 1 }
     }
     END { exit bad || count < 3 }' output || fail "numbers of other lengths than their digits"
expect 66 "" "$SIM" verify nowhere.lua
! grep -q "run 1" output || fail "a run of a scenario that is not there: $(cat output)"

# Interrupted: the command ends by the signal, as a run does.
for signal in INT TERM; do
  rm -f output # what the run before has said is not this one's
  env --default-signal=INT "$SIM" verify swing.lua --set t_end=1e6 >output 2>&1 &
  verify=$!
  begun() { grep -qs "run 1" output; }
  until_true 120 begun
  code=0
  kill -"$signal" "$verify"
  wait "$verify" || code=$?
  [ "$signal" = INT ] && expected=130 || expected=75
  [ "$code" = "$expected" ] || fail "SIG$signal: exit $code, not $expected"
  grep -q interrupted output || fail "SIG$signal: it does not say that it was interrupted"
done

# Adaptive steps: a line says so, and nothing is estimated.
sed 's/dt = dt, t_end/dt = "adaptive", t_end/; s/  external/  gravity = { softening = 0.1 },\n  external/' swing.lua >adaptive.lua
expect 0 "no step test: the steps are not all" "$SIM" verify adaptive.lua
awk '$1 == "observe.x" { exit !($2 == "?" && $3 ~ /^<=/) }' output || fail "digits are trusted whose steps were not tested"

# A step longer than the run is cut to the run. Its half is half of the step actually taken, not the same run again. One
# step of leapfrog from x = 1 at rest gives 1 - h^2/2: 0.955, and two of h/2 0.9555.
expect 0 "steps of 0.3 and 0.15;" "$SIM" verify swing.lua --set dt=1 --set t_end=0.3
awk '$1 == "observe.x" { exit !($2 == "?" && $3 ~ /^<=[0-3]$/ && $5 > 1e-4) }' output || fail "a step is compared with itself"
# So few rows may agree by chance: a limit, and a line.
grep -q "observe has fewer than 4 rows" output || fail "few rows are not told"

# With expansion dt is no time. Half of it is used also where the first step is shorter than dt.
cat >cosmos.lua <<'LUA'
return sim.nbody {
  precision = "single",
  box       = { size = 64, boundary = "periodic" },
  expansion = { omega_m = 0.31, omega_lambda = 0.69, h = 0.68, a_start = 0.8 },
  bodies    = { sim.zeldovich { n = 8, index = 0.965, omega_b = 0.049, sigma8 = 0.2 } },
  gravity   = { softening = 0.3 },
  integrate = { dt = 0.02, t_end = 1 },
  output    = { tables = "every 0.02" },
}
LUA
expect 0 "steps of 0.02 and 0.01; also in double" "$SIM" verify cosmos.lua

# A test that fails is reported, and the other tests too: rounding ahead of this front grows until single precision
# overflows.
cat >front.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {1024}, size = {100}, boundary = "no_flux" },
  fields    = { { name = "u", D = 1, initial = function(x) return 0.5 * sim.erfc(x - 10) end } },
  rates     = function(u) return u * (1 - u) end,
  integrate = { scheme = "etdrk4", dt = 0.05, t_end = 20 },
  output    = { tables = "every 0.5" },
}
LUA
expect 0 "no precision test: the field u is not finite" "$SIM" verify front.lua
awk '$1 == "fields.u_mean" { exit !($2 == "?" && $3 ~ /^<=[1-9]/) }' output || fail "digits without a precision test"

echo 'return sim.nbody {}' >faulty.lua
expect 65 "bodies" "$SIM" verify faulty.lua
