#!/usr/bin/env bash
# Periodic boxes: warnings of starts and speeds, the force error of large boxes, the choice of the solver, individual
# steps.
. "${BASH_SOURCE[0]%/*}/../lib.sh"

cat >universe.lua <<'LUA'
local a, size = sim.param("a", 0.02), sim.param("size", 64.0, "Mpc/h")
return sim.nbody {
  box       = { size = size },
  expansion = { omega_m = 0.31, omega_lambda = 0.69, h = 0.68, a_start = a },
  bodies    = { sim.zeldovich { n = 16, sigma8 = sim.param("sigma8", 0.81) } },
  gravity   = { softening = size / 400, solver = "fmm" },
  integrate = { dt = 0.01, t_end = 1.01 * a },
  output    = { snapshots = "never", tables = "never", checkpoint = "never" },
}
LUA
# The larger the box, the more uniform the start, and the more its forces cancel. The error stays as requested, 1e-2.
for size in 64 1000 5000; do
  expect 0 "asked for 0.01" "$SIM" run universe.lua -o box$size --set size=$size.0
  grep -q warning output && fail "a warning with $size Mpc/h: $(cat output)"
done
expect 0 "has a root mean square of" "$SIM" check universe.lua --set a=0.2
expect 0 "has a root mean square of" "$SIM" check universe.lua --set sigma8=6.0

# A spectrum from a text file is the same as its rows in the scenario, and a run continues without the file.
sed 's/n = 16, sigma8.*/n = 8, power = sim.param("file", false) and "sub.txt" or { {0.01, 1e4}, {1, 30}, {10, 0.1} } } },/
     s/"never"/"every 1 steps"/g; s/1.01/1.05/' universe.lua >power.lua
printf 'k, P\n# of linear theory\n0.01, 1e4\n1 30\n\n10\t0.1\n' >sub.txt
expect 0 "" "$SIM" run power.lua -o rows
expect 0 "" "$SIM" run power.lua -o file --set file=true
same rows file "a spectrum from a file"
rm -- sub.txt $(checkpoints file | tail -n 2)
expect 0 "" "$SIM" resume file
same rows file "a spectrum from a file that is gone"
expect 66 "sim resume file goes on without this file" "$SIM" run power.lua -o file --set file=true --resume=auto
expect 66 "sub.txt" "$SIM" run power.lua -o new --set file=true --resume=auto
grep -q "sim resume" output && fail "a folder that is not there is to be resumed"

cat >box.lua <<'LUA'
return sim.nbody {
  precision = "double",
  box       = { size = 8 },
  bodies    = { sim.plummer { n = sim.param("n", 300), mass = 1, radius = 0.1, cutoff = 1, velocity = {sim.param("v", 1.0), 0, 0} },
                sim.plummer { n = 100, mass = 1, radius = 1, cutoff = 3, position = {4, 4, 4} } },
  gravity   = { softening = 0.02, solver = sim.param("solver", "auto") },
  integrate = { steps = sim.param("steps", "individual"), dt = 1/16, t_end = 0.5 },
  output    = { snapshots = "ends", tables = "every 2 steps", checkpoint = "every 1 steps" },
}
LUA
expect 0 "more than half of box.size = 8" "$SIM" run box.lua -o fast --set v=100.0 --set steps=shared
[ "$(grep -c 'more than half of box.size' output)" = 1 ] || fail "the warning of fast bodies does not come once"
expect 0 "individual steps: " "$SIM" run box.lua -o fast --force --set v=100.0 # in sixteenths of the step
grep -q "more than half" output && fail "a warning of bodies whose own steps are short"
for solver in direct fmm; do
  expect 0 "individual steps: " "$SIM" run box.lua -o $solver --set solver=$solver
  grep -q "more than half" output && fail "a warning of slow bodies"
  cp -r $solver cut
  rm -- $(checkpoints cut | tail -n 2)
  expect 0 "" "$SIM" resume cut
  same $solver cut "individual steps in a box, $solver"
  rm -rf cut
done

# Measured on one thread: direct sums of 512 bodies take 5 ms, multipoles 8; of 4096 bodies they take 320 and 25.
if "$SIM" check box.lua --isa avx512 >/dev/null 2>&1; then
  expect 0 "auto: faster than multipoles" "$SIM" run box.lua -o few --threads 1 --isa avx512 --set n=412 --set steps=shared
  expect 0 "auto: faster than direct sums" "$SIM" run box.lua -o many --threads 1 --isa avx512 --set n=3996 --set steps=shared
fi
