#!/usr/bin/env bash
# Grains: a box that is empty for a while, and snapshots as a start.
# shellcheck source=tests/cli/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"

# All grains leave, and others come later: the box is empty from about 0.15 to 0.5.
cat >empty.lua <<'EOF'
local first = sim.param("first", 1, "grains at the start")
return sim.collision {
  box       = { size = {1, 1, 2}, boundary = "open", z_low = "outlet" },
  grains    = first > 0 and { { radius = 0.05, position = {0.5, 0.5, 0.1} } } or {},
  gravity   = {0, 0, -10},
  insert    = { sim.inlet { rate = 10, radius = 0.05, low = {0, 0, 1.5}, high = {1, 1, 2}, start = 0.5 } },
  contact   = { contact_time = 0.002, friction = 0.3 },
  integrate = { dt = "auto", t_end = 1 },
  output    = { tables = "every 0.05", snapshots = "every 0.1", checkpoint = "every 0.4" },
}
EOF
expect 0 done "$SIM" empty.lua -o whole
count=$(find whole/snap -name '*.h5' | wc -l)
[ "$count" = 11 ] || fail "$count snapshots, not 11"
# The files for viewers count the grains of each snapshot. A snapshot of an empty box is a complete file without
# species.
if command -v h5dump >/dev/null; then
  got=$(h5dump -d /VTKHDF/NumberOfPoints whole/grains.hdf | sed -n 's/ *(0): //p')
  [ "$got" = '1, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5' ] || fail "grains in the snapshots: $got"
fi
expect 0 done "$SIM" empty.lua --set first=0 -o none
expect 0 '' "$SIM" check empty.lua --set first=0

# A restart from the checkpoint of the empty box, at 0.4.
cp -r whole parts
checkpoints parts | sed 1d | xargs rm --
expect 0 done "$SIM" resume parts
same whole parts "a restart from an empty box"

# A large overlap is told once, with what to do; a law that reaches far, up to overlap_limit, is none.
cat >deep.lua <<'EOF'
local own = sim.param("own", 0, "1: a custom law that may overlap by all of a radius")
return sim.collision {
  box       = { size = {4, 4, 4}, boundary = "open" },
  grains    = { { radius = 0.5, position = {1.45, 2, 2}, velocity = {1, 0, 0} }, { radius = 0.5, position = {2.55, 2, 2} } },
  contact   = own > 0 and { law = "own", stiffness = 5, overlap_limit = 1, force = function(overlap) return 5 * overlap end }
              or { stiffness = 5 },
  integrate = { t_end = 0.4 },
  output    = { tables = "every 0.1" },
}
EOF
expect 0 'contacts are too soft for these speeds' "$SIM" deep.lua -o deep
grep -q 'overlap 0\.[2-9]' deep/run.log || fail "no overlap above 0.2: $(cat deep/run.log)"
! grep -q 'not reliable' deep/run.log || fail "an overlap is no error of the steps: $(cat deep/run.log)"
expect 0 done "$SIM" deep.lua --set own=1 -o own
! grep -q warning own/run.log || fail "a custom law within overlap_limit: $(cat own/run.log)"

grep -q 'deepest overlap of grains in a row of tables: 0 and 1 (ids, from 0) overlap by 0\.[2-9]' deep/run.log ||
  fail "the end does not tell the deepest overlap: $(cat deep/run.log)"

# Both partners are named by their ids, which are not the order of the arrays (species), also across periodic and sheared
# sides; of a wall that is all. In the sheared box the image above, at y = 0, is 4 * 0.5 * 0.5 = 1 further along x at 0.5.
cat >partner.lua <<'EOF'
local case = sim.param("case", "periodic")
local at, speed, other, t_end = {0.12, 2, 2}, {-0.1, 0, 0}, {3.1, 2, 2}, 1
local box = { size = {4, 4, 4}, boundary = "periodic" }
if case == "wall" then box.boundary, at, other = "wall", {0.52, 2, 2}, {3, 1, 1} end
local walls = case == "plane" and { sim.ball { point = {3, 3, 1}, radius = 0.2 },
    sim.plane { point = {0.03, 0, 0}, normal = {1, 0, 0}, velocity = {-0.01, 0, 0} } } or nil
if walls then box.boundary, at, other = "wall", {0.55, 2, 2}, {3, 1, 1} end
if case == "shear" then
  box = { size = {4, 4, 4}, boundary = "periodic", shear_rate = 0.5 }
  at, speed, other, t_end = {1.3, 3.6, 2}, {-1.4, 0, 0}, {0.4, 0.3, 2}, 0.5
end
return sim.collision {
  box       = box,
  grains    = { { species = "a", radius = 0.5, position = {2, 2, 1} }, { species = "b", radius = 0.5, position = other },
                { species = "a", radius = 0.5, position = at, velocity = speed } },
  precision = case == "periodic" and sim.param("precision", "double") or nil,
  walls     = walls,
  contact   = { stiffness = 0.02 },
  integrate = { dt = 0.01, t_end = t_end },
  output    = { tables = "every 0.02", snapshots = "ends" },
}
EOF
expect 0 'warning: grains: 1 and 2 (ids, from 0) overlap by' "$SIM" partner.lua -o partner
expect 0 'warning: grains: 1 and 2 (ids, from 0) overlap by' "$SIM" partner.lua --set precision=single -o partner --force
grep -q 'fixed-point solver' partner/run.log || fail "not the fixed-point solver: $(cat partner/run.log)"
expect 0 'warning: grains: 2 (id, from 0) overlaps the side x_low of the box by' "$SIM" partner.lua --set case=wall -o partner --force
expect 0 'warning: grains: 2 (id, from 0) overlaps walls[2] by' "$SIM" partner.lua --set case=plane -o partner --force
expect 0 'warning: grains: 1 and 2 (ids, from 0) overlap by' "$SIM" partner.lua --set case=shear -o partner --force
"$SIM" partner.lua --set case=shear -o alone >/dev/null
expect 0 done "$SIM" --ranks 2 partner.lua --set case=shear -o two
told() { sed 's/^[0-9-]*T[0-9:]*Z //' "$1/run.log" | grep overlap; }
[ "$(told alone)" = "$(told two)" ] || fail "two ranks tell another overlap: $(cat two/run.log)"

# Radii, masses and spins of a snapshot are those of the run that starts from it.
cat >field.lua <<'EOF'
local slope = sim.param("slope", 0.5, "of the potential")
local side  = { size = {2, 2, 2}, boundary = "periodic" }
local field = function(x, y, z) return math.sin(math.pi * x) * math.cos(3 * math.pi * y) - slope * z end
return sim.collision {
  box = side, grains = { { radius = 0.1, density = 1, position = {1, 1, 1} } }, external = field,
  contact = { contact_time = 0.05 }, integrate = { t_end = 0.01 }, output = { tables = "ends", snapshots = "never" },
}
EOF
sed 's/^return.*/return sim.nbody {/; s/box = side, grains = .*external/box = { size = 2 }, pair = function(r2) return r2 end, cutoff = 0.5, bodies = { { mass = 1, position = {1, 1, 1} } }, external/
  s/contact = .*t_end/integrate = { dt = 0.005, t_end/' field.lua >molecule.lua
for model in field molecule; do
  expect 0 "external: the potential differs by up to 1 between the two sides of z, along which the box is periodic" \
    "$SIM" $model.lua -o $model
  expect 0 done "$SIM" $model.lua -o $model --force --set slope=0.0
  if grep -q external: output; then fail "$model: a periodic potential is warned of"; fi
done
cat >turn.lua <<'EOF'
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "periodic" },
  grains    = { sim.random_spheres { n = 50, radii = {0.04, 0.06}, density = 4, temperature = 1e-3 } },
  contact   = { contact_time = 0.01, friction = 0.5 },
  heat      = { conductivity = 1e-3, capacity = 1, temperature = function(x) return 1 + x end },
  integrate = { dt = "auto", t_end = 1 },
  output    = { tables = "ends", snapshots = "ends" },
}
EOF
sed 's|sim.random_spheres {.*}|sim.from_file { path = "last.h5" } }|; s/t_end = 1 /t_end = 1e-3 /; s/, temperature = function.*end }/ }/' turn.lua >again.lua
expect 0 done "$SIM" turn.lua -o turn
cp "$(find turn/snap -name '*.h5' | sort | tail -n 1)" last.h5
expect 0 done "$SIM" again.lua -o again
first=$(find again/snap -name '*.h5' | sort | head -n 1)
if command -v h5dump >/dev/null; then
  values() { h5dump -d "$1/particles/grains/$3" "$2" | grep '(' | tr -d ' '; }
  last=$(h5ls last.h5/data | cut -d ' ' -f 1)
  for name in radius mass grain_temperature angular_velocity/x angular_velocity/z velocity/y; do
    before=$(values "/data/$last" last.h5 $name)
    [ -n "$before" ] || fail "no $name in the snapshot"
    [ "$before" = "$(values /data/0 "$first" $name)" ] || fail "$name is not that of the snapshot"
  done
fi

# The message names a grain that is thrown out of all bounds.
cat >wild.lua <<'LUA'
return sim.collision {
  box       = { size = {2, 2, 4}, boundary = "wall" },
  grains    = { sim.random_spheres { n = 20, radii = {0.08, 0.12}, low = {0, 0, 0}, high = {2, 2, 4} } },
  external  = function(x, y, z, t) return 0, 0, sim.where(sim.lt(t, 0.005), 0, 1e308 * t * 1e20) end,
  contact   = { law = "hertz", young = 2e5, restitution = 0.5, friction = 0.4 },
  precision = sim.param("kind", "double"),
  integrate = { dt = 1e-4, t_end = 1 },
  output    = { snapshots = "never", tables = "every 1000 steps", checkpoint = "never" },
}
LUA
for kind in single double; do
  expect 80 "of the particle with id 0 is not finite at step 5" "$SIM" run wild.lua --set kind=$kind --device cpu --force
done
