#!/usr/bin/env bash
# Grains on a GPU: a gas, a hopper with friction, and rain with all features of a scenario. They take the GPU
# automatically, give the same bits twice and after kills, and the CPU's energies.
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_gpu
grains s.lua

for law in gas rain hertz; do
  options=(--set "law=$law" --set steps=400)
  expect 0 "(GPU 0)" "$SIM" run s.lua -o "$law.one" "${options[@]}"
  expect 0 "(GPU 0)" "$SIM" run s.lua -o "$law.two" --device cuda "${options[@]}" --set every=never
  same "$law.one" "$law.two" "$law, twice"
done

# Lists with a reach of some diameters, for which there is no memory: they take a shorter one.
expect 0 "(GPU 0)" "$SIM" run s.lua -o hertz.wide "${options[@]}" --set skin=0.15
same hertz.one hertz.wide "another reach of the lists"

# Positions and velocities have the CPU's bits (tests/parity/collision.c). Energies are sums of 1500 such terms in
# another order, each within 2^-53; energies of the gas's contacts are integers of 2^-40: less than 1e-6 of any.
for device in cpu cuda; do
  expect 0 "" "$SIM" sweep s.lua -o "$device.sweep" --device "$device" --jobs 1 --set law=gas,hertz --set steps=400
done
awk -F, '
  FNR == 1 { for (k = 1; k <= NF; k++) name[FILENAME, k] = $k; next }
  {
    for (k = 1; k <= NF; k++) if (name[FILENAME, k] ~ /^energy\./) value[FILENAME, FNR, k] = $k
    columns = NF; rows = FNR
  }
  function near(x, y, scale) { d = x - y; if (d < 0) d = -d; return d <= 1e-6 * scale }
  END {
    for (row = 2; row <= rows; row++) {
      scale = 0
      for (k = 1; k <= columns; k++)
        if (name["cpu.sweep/sweep.csv", k] ~ /^energy\.(kinetic|rotational|elastic|dissipated|total)$/) {
          x = value["cpu.sweep/sweep.csv", row, k]; if (x < 0) x = -x
          if (x > scale) scale = x
        }
      for (k = 1; k <= columns; k++)
        if (name["cpu.sweep/sweep.csv", k] ~ /^energy\.(kinetic|rotational|elastic|dissipated|total)$/) {
          x = value["cpu.sweep/sweep.csv", row, k]; y = value["cuda.sweep/sweep.csv", row, k]
          compared++
          if (!near(x, y, scale)) { print name["cpu.sweep/sweep.csv", k], x, y; bad = 1 }
        }
    }
    if (rows != 3 || compared != 10 || scale <= 0) { print "rows", rows, "compared", compared; bad = 1 }
    exit bad
  }' cpu.sweep/sweep.csv cuda.sweep/sweep.csv >energies || fail "energies: $(cat energies)"

# A grain that passes a side of a periodic box in a step ends a run: with both precisions, in a sheared box, in a patch
# with Hill's equations, and as a sphere of a clump. The CPU tells the same of the same grain. Gravity reaches the speed
# of 10 sides in a step after 1000 steps; such a grain is noticed in each case before t_end.
fast() { # fast NAME BOX GRAIN MORE: writes NAME.lua, of two grains that gravity accelerates along z
  cat >"$1.lua" <<LUA
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "periodic"$2 },
  grains    = { $3, { radius = 0.5, position = {8, 5, 5}, velocity = {0, 0, -1} } },
  gravity   = {0, 0, 1e8},
  contact   = { law = "linear", stiffness = 1000 },
  integrate = { dt = 1e-3, t_end = 1 },
  $4
}
LUA
}
one='{ radius = 0.5, position = {2, 5, 5} }'
fast plain "" "$one" ""
fast single "" "$one" 'precision = "single",'
fast shear ", shear_rate = 0.1" "$one" ""
fast hill "" "$one" "hill = { omega = 1 },"
fast clump "" 'sim.clump { spheres = { {0, 0, 0, 0.5}, {0.8, 0, 0, 0.5} }, position = {2, 5, 5} }' ""
for name in plain single shear hill clump; do
  for device in cpu cuda; do
    expect 80 "is too fast: its velocity is {" "$SIM" run "$name.lua" -o "$name.$device" --device "$device"
    grep -o "grain [0-9]* (id, from 0) is too fast" output >"$name.$device.said"
  done
  cmp -s "$name.cpu.said" "$name.cuda.said" || fail "$name: a GPU names another grain: $(cat "$name.cuda.said")"
done
# As fast, but along an open axis: no side to pass.
sed 's/boundary = "periodic"/boundary = "periodic", z_low = "open", z_high = "open"/' plain.lua >open.lua
expect 0 "" "$SIM" run open.lua -o open.cuda --device cuda

# Killed three times, with contacts that have a history: the same end.
for law in gas hertz rain; do
  options=(--device cuda --set "law=$law" --set steps=20000)
  expect 0 "" "$SIM" run s.lua -o "$law.whole" "${options[@]}" --set every=never
  "$SIM" run s.lua -o "$law.cut" "${options[@]}" --set 'every=every 100 steps' >output 2>&1 &
  pid=$!
  for kill in 1 2 3; do
    saved() { [ -n "$(checkpoints "$law.cut")" ] || ! kill -0 "$pid" 2>/dev/null; }
    until_true 60 saved
    sleep "0.$((kill * 2))"
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    [ -n "$(checkpoints "$law.cut")" ] || fail "$law: no checkpoint before kill $kill"
    "$SIM" resume "$law.cut" -q >output 2>&1 &
    pid=$!
  done
  wait "$pid" || fail "$law: the last resume exits $?"
  same "$law.whole" "$law.cut" "$law after three kills"
done

# A grain that is thrown out of all bounds is named by the output that detects it: the row of step 100.
cat >wild.lua <<'LUA'
return sim.collision {
  box       = { size = {2, 2, 4}, boundary = "wall" },
  grains    = { sim.random_spheres { n = 20, radii = {0.08, 0.12}, low = {0, 0, 0}, high = {2, 2, 4} } },
  external  = function(x, y, z, t) return 0, 0, sim.where(sim.lt(t, 0.005), 0, 1e308 * t * 1e20) end,
  contact   = { law = "hertz", young = 2e5, restitution = 0.5, friction = 0.4 },
  precision = sim.param("kind", "double"),
  integrate = { dt = 1e-4, t_end = 1 },
  output    = { snapshots = sim.param("shown", "never"), tables = sim.param("rows", "never"), checkpoint = "never" },
}
LUA
for kind in single double; do
  for output in shown rows; do
    expect 80 "of the particle with id 0 is not finite at step 100, t = 0.01" "$SIM" run wild.lua --set kind=$kind \
      --set "$output=every 100 steps" --device cuda --force
  done
done
