#!/usr/bin/env bash
# Grains with history that come and go: a run that is killed three times and resumed, each time with other threads, ends
# in the bits of one that was not.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
cat >s.lua <<'LUA'
local every = sim.param("every", "never", "cadence of checkpoints")
local kind  = sim.param("kind", "double", "precision")
return sim.collision {
  precision = kind,
  box       = { size = {2, 2, 4}, boundary = "wall", x_low = "periodic", x_high = "periodic", z_low = "outlet" },
  grains    = { sim.random_spheres { n = 60, radii = {0.08, 0.12}, low = {0, 0, 1}, high = {2, 2, 2} } },
  walls     = {
    sim.plane { point = {1, 0.3, 0}, normal = {0, 1, 0.6}, spin = 0.2, axis = {1, 0, 0} },
    sim.cylinder { point = {0, 1.2, 0.6}, axis = {1, 0, 0}, radius = 0.3, outside = true,
                   turning = function(t) return 2 * math.sin(5 * t) end },
  },
  insert    = { sim.inlet { rate = 150, radii = {0.08, 0.12}, low = {0, 0, 2}, high = {2, 2, 4}, velocity = {0, 0, -1},
                            species = "rain" } },
  gates     = { { point = {0, 0, 0.5}, normal = {0, 0, -1} } },
  gravity   = {0, 0, -10},
  external  = function(x, y, z, t) return math.cos(math.pi * x), 0, 0 end,
  contact   = { law = "hertz", young = 2e5, restitution = 0.5, friction = 0.4, rolling_friction = 0.05 },
  integrate = { dt = "auto", t_end = 1.2 },
  output    = { tables = "every 0.1", checkpoint = every },
}
LUA
for kind in double single; do
  expect 0 "" "$SIM" run s.lua --device cpu --set "kind=$kind" -o "whole-$kind"
  command=("$SIM" run s.lua --device cpu --set "kind=$kind" --set "every=every 130 steps" -o "run-$kind")
  for threads in 1 2 3; do
    newest=$(checkpoints "run-$kind" | tail -n 1)
    "${command[@]}" --threads "$threads" >output 2>&1 &
    pid=$!
    has_newer() { [ "$(checkpoints "run-$kind" | tail -n 1)" != "$newest" ] || ! kill -0 "$pid" 2>/dev/null; }
    until_true 60 has_newer
    until_true 60 has_newer
    kill -KILL "$pid" || fail "$kind: ended before it was killed"
    wait "$pid" 2>/dev/null || true
    command=("$SIM" resume "run-$kind")
  done
  expect 0 "" "${command[@]}"
  same "whole-$kind" "run-$kind" "$kind, three kills"
done
