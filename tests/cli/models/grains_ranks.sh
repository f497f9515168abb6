#!/usr/bin/env bash
# Grains on ranks: digest, tables, snapshots and checkpoints are the same for every number of ranks. Cases: both
# solvers, friction, walls, meshes, laws by name, inlets, outlets, gates, sheared boxes, rings, clumps, mergers and
# functions of the scenario; restarts with other numbers, delays, and a killed rank. `long`: more cases, and the shipped
# scenarios.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
: "${ROOT:?the source tree}"
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive
long=${1:-}

# A pyramid around the grains, with its tip below: four triangles.
cat >funnel.stl <<'STL'
solid funnel
facet normal 0 0 1
outer loop
vertex -6 -6 5
vertex 6 -6 5
vertex 0 0 -1
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 6 -6 5
vertex 6 6 5
vertex 0 0 -1
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 6 6 5
vertex -6 6 5
vertex 0 0 -1
endloop
endfacet
facet normal 0 0 1
outer loop
vertex -6 6 5
vertex -6 -6 5
vertex 0 0 -1
endloop
endfacet
endsolid funnel
STL

# Dense and fast, so that grains collide, and change their cell and their rank, within a few steps.
cat >grains.lua <<'LUA'
local case  = sim.param("case", "gas", "what is tested")
local n     = sim.param("n", 150, "grains")
local kind  = sim.param("kind", "single", "precision")
local steps = sim.param("steps", 60, "steps")
local dt    = sim.param("dt", 0.02, "step; 0.02 moves a grain by a fiftieth of its diameter")
local hot   = sim.param("hot", 1, "temperature of the grains")
local long  = sim.param("length", 60, "of a gas, or of the box around a cloud")
local mass  = 6 / math.pi -- density of spheres of mass 1
local dry   = { law = "linear", contact_time = 1, restitution = 0.7 }
local rough = { law = "linear", contact_time = 1, restitution = 0.7, friction = 0.5, rolling_friction = 0.05 }
local function all(more)
  local s = {
    precision = kind,
    contact   = rough,
    integrate = { dt = dt, t_end = steps * dt },
    output    = { snapshots = "every " .. steps // 2 .. " steps", tables = "every 20 steps",
                  checkpoint = "every " .. steps // 3 .. " steps" },
  }
  for key, value in pairs(more) do s[key] = value end
  return sim.collision(s)
end
local function spheres(more)
  local g = { n = n, density = mass, temperature = hot }
  for key, value in pairs(more or {}) do g[key] = value end
  if not g.radii and not g.radius then g.radius = 0.5 end
  return sim.random_spheres(g)
end
if case == "gas" or case == "mixed" or case == "elastic" then -- the fixed-point solver, for slower grains
  return all { box = { size = {long, 5, 5}, boundary = "periodic" },
               grains = { spheres { temperature = hot / 4 },
                          spheres { n = 20, radius = case == "mixed" and 0.6 or 0.5, temperature = hot / 4 } },
               integrate = { dt = 0.004, t_end = steps * 0.004 },
               contact = { law = "linear", contact_time = 0.1, restitution = case == "elastic" and 1 or 0.7 } }
elseif case == "cloud" then -- in a corner of a large box
  return all { box = { size = {long, 20, 20}, boundary = "periodic" }, integrate = { dt = 0.004, t_end = steps * 0.004 },
               grains = { spheres { low = {1, 1, 1}, high = {8, 8, 8}, temperature = hot / 4 } }, contact = dry }
elseif case == "bed" then
  return all { box = { size = {14, 6, 20}, boundary = "wall", z_high = "open" }, gravity = {0.1, 0, -1},
               grains = { spheres { low = {0, 0, 0}, high = {14, 6, 8} } },
               contact = { law = "hertz", young = 800, poisson = 0.3, restitution = 0.5, friction = 0.5 } }
elseif case == "sizes" then -- three classes of radii
  return all { box = { size = {14, 8, 8}, boundary = "periodic" },
               grains = { spheres { radii = {0.2, 0.5} }, spheres { n = 8, radius = 1.2 } } }
elseif case == "shear" then
  return all { box = { size = {9, 9, 6}, boundary = "periodic", shear_rate = 1 }, grains = { spheres { n = 2 * n } },
               profile = { axis = "y", bins = 5 } }
elseif case == "ring" then -- Hill's equations, self-gravity, restitution by speed
  return all { box = { size = {9, 9, 9}, z_low = "open", z_high = "open" }, hill = { omega = 1 }, grains = { spheres { n = 2 * n } },
               self_gravity = { G = 0.1, error = 1e-2, step = 7 * dt },
               contact = { law = "linear", contact_time = 1, friction = 0.5,
                           restitution_law = function(speed) return sim.exp(-0.2 * speed) end } }
elseif case == "flow" then -- inlets, outlets, a gate, cones, two materials; grains come from 100 steps on
  return all { box = { size = {12, 12, 24}, origin = {-6, -6, -4}, boundary = "open", z_low = "outlet" },
               grains = { spheres { n = n // 4, low = {-2, -2, -2}, high = {2, 2, 3.5}, material = "glass" } },
               walls = { sim.cone { point = {0, 0, 0}, axis = {0, 0, 1}, length = 3, radius = 2, end_radius = 5 },
                         sim.cylinder { point = {0, 0, 3}, axis = {0, 0, 1}, radius = 5, material = "steel" } },
               insert = { sim.inlet { rate = 20, radii = {0.4, 0.5}, density = mass, low = {-3, -3, 8},
                                      high = {3, 3, 12}, velocity = {0, 0, -2} } },
               gates = { { point = {0, 0, -1}, normal = {0, 0, -1} } }, gravity = {0, 0, -3} }
elseif case == "mesh" then -- a mesh that turns, and a plane that moves
  return all { box = { size = {12, 12, 12}, origin = {-6, -6, -2}, boundary = "open" }, gravity = {0, 0, -1},
               grains = { spheres { n = n // 4, low = {-2, -2, 2}, high = {2, 2, 6} } },
               walls = { sim.stl { path = "funnel.stl", spin = 0.5, axis = {0, 0, 1} },
                         sim.plane { point = {0, 0, 7}, normal = {0, 0, -1},
                                     motion = function(t) return 0, 0, -0.5 * math.cos(t) end } } }
elseif case == "named" then -- laws by name, heat, and a lid that holds a force
  return all { box = { size = {14, 6, 20}, boundary = "wall", z_high = "open" }, gravity = {0.1, 0, -1},
               grains = { spheres { low = {0, 0, 0}, high = {14, 6, 8} } },
               walls = { sim.plane { point = {0, 0, 8}, normal = {0, 0, -1}, temperature = 9, servo = { force = 50, speed = 1 } } },
               integrate = { dt = dt / 2, t_end = steps * dt / 2 },
               heat = { conductivity = 0.1, capacity = 1, temperature = function(x) return x end },
               contact = { law = "hertz", young = 800, poisson = 0.3, restitution = 0.5, friction = 0.5,
                           tangential = "mindlin_rescale", cohesion = { model = "jkr", surface_energy = 0.2 },
                           rolling = { model = "sds", coefficient = 0.1, stiffness = 20 } } }
elseif case == "clumps" then -- rods across sides that are periodic, and loose grains, on a floor
  return all { box = { size = {14, 8, 20}, boundary = "periodic", z_low = "wall", z_high = "open" },
               gravity = {0.3, 0.1, -1}, contact = { law = "linear", stiffness = 50, restitution = 0.6, friction = 0.5 },
               grains = { sim.clumps { n = n // 3, density = mass, temperature = hot, low = {0, 0, 0}, high = {14, 8, 9},
                                       spheres = { {-0.5, 0, 0, 0.4}, {0.1, 0.1, 0, 0.5}, {0.6, 0, 0.2, 0.3} } },
                          spheres { n = n // 5, low = {0, 0, 0}, high = {14, 8, 9} } } }
elseif case == "merger" then -- grains that become one, also across the cuts
  return all { box = { size = {12, 12, 12}, boundary = "periodic" }, merge = { when = "touch" },
               grains = { spheres { radius = 0.4, temperature = 4 * hot }, spheres { n = 4, radius = 0.8 } } }
elseif case == "melt" then -- the same in a ring with self-gravity
  return all { box = { size = {9, 9, 9}, z_low = "open", z_high = "open" }, hill = { omega = 1 }, grains = { spheres { radius = 0.3 } },
               self_gravity = { G = 0.1, error = 1e-2, step = dt }, merge = { when = "touch" } }
elseif case == "laws" then -- functions of the scenario
  return all { box = { size = {9, 7, 7}, boundary = "periodic" }, grains = { spheres() },
               external = function(x, y, z, t) return 0.1 * (x - 4)^2 * (1 + 0.5 * math.sin(t)) end,
               contact = { law = "own", contact_time = 1, friction = 0.3, force = function(overlap, rate, radius, mass)
                 return 60 * overlap * mass + 2 * mass * rate end } }
end
LUA
run=("$SIM" run grains.lua --threads 1 --force)

# ---- every number of ranks ----

all=${long:+"2 3 4 7"}
divided "2 3 4 7" case=gas n=400 steps=300
grep -qF "fixed-point solver" one/run.log || fail "the gas goes by another solver"
divided "${all:-3}" case=mixed n=400 steps=300
grep -qF "fixed-point solver" one/run.log || fail "the gas of two radii goes by another solver"
divided "${all:-2}" case=elastic n=400 steps=150
divided "${all:-3 7}" case=cloud # most grains on few ranks
divided "2 3 4" case=gas n=20 length=5 # of three slabs, which two ranks cannot share
divided "4" case=gas n=50 length=12    # of eight: a step a sweep
divided "2 3 4 7" case=bed kind=double
divided "${all:-4}" case=bed hot=4
divided "${all:-3}" case=named
divided "${all:-3}" case=sizes
divided "${all:-3 7}" case=shear
divided "${all:-3}" case=ring
divided "${all:-3}" case=flow steps=240
divided "${all:-3}" case=mesh
divided "${all:-4}" case=laws kind=double
divided "2 3 4 7" case=clumps kind=double
divided "${all:-3}" case=clumps steps=240
divided "2 3 4 7" case=merger kind=double
divided "${all:-3}" case=merger steps=240
divided "${all:-3}" case=melt
divided "7" case=gas n=1
divided "7" case=mesh n=6
if [ -n "$long" ]; then
  for case in gas mixed cloud bed named sizes shear ring mesh laws clumps merger melt; do
    for kind in single double; do divided "2 3 4 7 13" case=$case kind=$kind steps=300 n=200; done
  done
  divided "2 3 4 7" case=flow kind=single steps=900
  divided "2 3 4" case=gas n=9 steps=900 length=30
fi

# ---- delays, threads, instruction sets ----

for case in gas bed clumps merger; do
  expect 0 "" "${run[@]}" -o one --set case=$case
  SIM_COMM_DELAY=500 expect 0 "" "${run[@]}" -o many --ranks 3 --set case=$case
  equal one many "$case with delayed ranks"
  expect 0 "" "$SIM" run grains.lua --force -o many --ranks 2 --threads 3 --set case=$case
  equal one many "$case on ranks of 3 threads"
done
expect 0 "" "${run[@]}" -o one --set case=gas
expect 0 "" "${run[@]}" -o many --ranks 2 --isa plain --set case=gas
same one many "ranks of another instruction set"

# ---- restart with another number of ranks, and after a rank was killed ----

for case in gas bed clumps merger ${long:+mixed shear ring mesh laws melt}; do
  expect 0 "" "${run[@]}" -o whole --set steps=90 --set case=$case
  expect 0 "" "${run[@]}" -o chain --set steps=90 --set case=$case --ranks 4
  for ranks in 3 1; do
    rm -- $(checkpoints chain | tail -n 1)
    expect 0 "continues from checkpoint" "$SIM" resume chain --threads 1 --ranks $ranks
    equal whole chain "$case: 4 ranks, then $ranks"
  done
done
rank_of() { # rank_of LAUNCHER N: process of rank N; ranks are started in order
  # shellcheck disable=SC2009 # by parent
  ps -o pid= --ppid "$1" | sort -n | sed -n "$(($2 + 1))p" | tr -d ' '
}
has_checkpoint() { [ -n "$(checkpoints killed)" ]; }
for case in bed ${long:+gas}; do
  SIM_COMM_DELAY=20000 "${run[@]}" -o killed --set steps=90 --set case=$case --ranks 3 >output 2>&1 &
  pid=$!
  until_true 120 has_checkpoint
  kill -s KILL "$(rank_of "$pid" 1)"
  code=0
  wait "$pid" || code=$?
  [ "$code" = 82 ] || fail "a killed rank: exit $code, not 82"
  expect 0 "" "${run[@]}" -o whole --set steps=90 --set case=$case
  expect 0 "continues from checkpoint" "$SIM" resume killed --threads 1 --ranks 2
  equal whole killed "$case: a killed rank, then 2"
  rm -rf killed
done

# ---- the shipped scenarios ----

if [ -n "$long" ]; then
  files=tables.h5 # which rows of a table a checkpoint holds depends on the time that a long run takes
  shipped() {     # shipped RANKS NAME SET...
    local ranks=$1 name=$2
    shift 2
    run=("$SIM" run "$ROOT/scenarios/$name.lua" --threads 1 --force --device cpu)
    divided "$ranks" "$@"
    "$COMPARE" "$(find one/snap -name '*.h5' | sort | tail -n 1)" "$(find many/snap -name '*.h5' | sort | tail -n 1)" \
      >output 2>&1 || fail "$name: snapshots differ"
  }
  shipped "4" granular_gas n=300
  shipped "2 3 4 7" million_spheres n=3000 time=0.4
  shipped "3" shear n=300
  shipped "2 7" hopper filled=200 rate=300
  shipped "3" moist_column n=150
  shipped "2 3 4 7" drum n=300 turns=0.02
  run=("$SIM" run grains.lua --threads 1 --force)
fi

# ---- check ----

expect 0 "received by a rank in a step, 3 times" "$SIM" check grains.lua --ranks 2
expect 0 "received by a rank in a step, 2 times" "$SIM" check grains.lua --set case=bed --ranks 2
