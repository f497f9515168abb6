#!/usr/bin/env bash
# Fluids on ranks: digest, tables, snapshots, slices and checkpoints are the same for every number of ranks, with each kind of
# side, body and outlet, with heat and eddies, in both precisions, and over restarts with other numbers. `long`: all
# combinations, and the shipped scenarios.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
: "${ROOT:?the source tree}"
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive

cat >fluid.lua <<'LUA'
local terms = sim.param("terms", "plain", "what the scenario has")
local flat  = sim.param("flat", 0, "1: two axes")
local kind  = sim.param("kind", "double", "precision")
local last  = sim.param("last", 13, "cells along the last axis")
local steps = sim.param("steps", 12, "steps of 1/64")
local each  = sim.param("each", 4, "steps between checkpoints")
local rows  = sim.param("rows", 1, "steps between rows of tables")
local d = flat == 1 and 2 or 3
local root  = sim.param("root", "", "the source tree")
local function vector(x, y, z) return d == 2 and { x, y } or { x, y, z } end
local function point(x, y, z) return { x, y, d == 2 and 0 or z } end
local low, high = d == 2 and "y_low" or "z_low", d == 2 and "y_high" or "z_high"
local axis = d == 2 and "y" or "z"
local across = last / 10
local model = {
  collision = sim.param("collision", "regularised", "of moments or of populations"),
  precision = kind, viscosity = 0.01, speed = 1,
  grid      = { n = vector(24, d == 2 and last or 18, last), size = vector(2.4, d == 2 and across or 1.8, across) },
  probes    = { point(0.35, 0.05, 0), point(1.95, across / 2, across - 0.05) }, integrate = { dt = 1 / 64, t_end = steps / 64 },
  output    = { snapshots = "every 5 steps", tables = "every " .. rows .. " steps", checkpoint = "every " .. each .. " steps",
                slices = { { name = "cut", x = 0.4, when = "every 3 steps" } }, fields = "vorticity, q, shear" },
  gates     = { { axis = "x", at = 1.93 }, { axis = axis, at = across - 0.01, x = { 0.31, 2.2 } } },
  sides     = {},
}
local function start(x, y, z)
  if d == 2 then z = 0 end
  local u, v = 0.3 * math.sin(3 * x) * math.cos(4 * y + z), 0.2 * math.cos(2 * x + 5 * z) * math.sin(3 * y)
  if d == 2 then return u, v, 0.01 * math.cos(x + y) end
  return u, v, 0.1 * math.sin(4 * z + x), 0.01 * math.cos(x + y + z)
end
local function round(point, radius, more)
  local out = more or {}
  out.point, out.radius = point, radius
  return sim.ball(out)
end
local middle = point(1, d == 2 and across / 2 or 0.9, across / 2)
if terms == "plain" then
  model.initial, model.acceleration = start, vector(0.1, 0.05, -0.03)
elseif terms == "eddies" then
  model.initial, model.turbulence, model.viscosity = start, { smagorinsky = 0.1 }, 1e-4
elseif terms == "walls" then
  model.grid.boundary, model.grid.y = "wall", d == 3 and "slip" or nil
  model.sides[high] = { velocity = vector(0.5, 0, 0) }
elseif terms == "slip" then
  model.grid[axis], model.initial, model.bodies = "slip", start, { round(middle, 0.4) }
elseif terms == "bodies" then -- one across the periodic side of the last axis, which turns
  model.acceleration = vector(0.2, 0.1, 0.1)
  model.bodies = { round(d == 2 and { 0.8, 0.1, 0 } or { 0.8, 0.5, 0.1 }, 0.35, { spin = 1 }),
                   sim.block { low = point(1.5, 0.4, 0.3), high = point(1.9, 0.8, 0.7) } }
elseif terms == "moving" then
  model.initial = start
  model.bodies = {
    round(middle, 0.33, { motion = d == 2 and function(t) return 0.6, 0.5 * math.cos(9*t) end
                                         or function(t) return 0.6, 0.1, 0.5 * math.cos(9*t) end }),
    sim.block { low = point(2, 0.2, 0.2), high = point(2.3, 0.4, 0.4), pivot = point(2.1, 0.3, 0.3),
                turning = function(t) return sim.min(3*t, 1) end },
    round(point(0.2, 0.3, 0.2), 0.15) }
elseif terms:find("outlet") then -- sponges at sides that ranks divide, and at one that lies in one rank's planes
  local top = terms == "outlet across"
  model.grid.boundary = "wall"
  if d == 3 then model.grid.y = "periodic" end
  model.sides = { x_low = { profile = d == 2 and function(x, y) return 0.4 * y * (across - y), 0 end
                                        or function(x, y, z) return 0.4 * z * (across - z), 0, 0 end } }
  model.sides[top and high or "x_high"] = { pressure = 0.01, sponge = top and 0.8 or 1.0 }
  model.bodies = { round(middle, 0.3) }
  if terms == "outlet timed" then
    model.sides[top and high or "x_high"].straight = true
    model.sides.x_low.profile = d == 2 and function(y, t) return 2 * t * y * (across - y), 0 end
                                        or function(z, t) return 2 * t * z * (across - z), 0, 0 end
    model.sides.x_high.pressure = function(y, t) return 0.1 * math.sin(20 * t) * y end
  end
elseif terms:find("trt") then
  model.collision, model.acceleration, model.initial = "trt", vector(0.2, 0.1, 0.1), start
  model.bodies = { round(middle, 0.33, { spin = 1 }) }
  if terms == "trt resistance" then
    model.resistance = function(x, y, z) return sim.where(sim.lt(x, 1), 3, 0) end
  end
elseif terms:find("D3Q27") then
  model.lattice, model.initial, model.acceleration, model.turbulence = "D3Q27", start, {0.2, 0.1, 0.1}, { smagorinsky = 0.1 }
  model.bodies = { round(middle, 0.33, { velocity = {0.5, 0.1, 0.3} }), round({2.1, 0.1, 0.1}, 0.25) }
  if terms == "D3Q27 trt" then
    model.collision, model.turbulence, model.bodies[1].velocity = "trt", nil, nil
  end
elseif terms == "rock" then
  model.grid, model.probes = { n = {32, 32, 32}, size = {3.2, 3.2, 3.2} }, nil
  model.collision, model.acceleration, model.solid = "trt", {0.2, 0.1, 0.1}, { path = root .. "/data/rock/%02d.png" }
elseif terms:find("grains") then -- two meet; one crosses the periodic side of the last axis, unless the box is low
  model.initial, model.gravity, model.probes = start, {0.5, 0, -1}, nil
  model.contact = { contact_time = 0.05, restitution = 0.8, friction = 0.3 }
  model.grains = { { radius = 0.32, position = {0.6, 0.7, 0.2}, velocity = {0.5, 0, -0.5}, density = 1.5 },
                   { radius = 0.35, position = {1.3, 0.75, 0.3}, velocity = {-0.5, 0.1, 0.2}, density = 2 },
                   { radius = 0.3, position = {2.2, 1.2, 0.9}, density = 3 } }
  if terms == "grains low" then
    model.grid.z, model.grains = "wall", { { radius = 0.32, position = {0.6, 0.7, 0.35}, density = 2 } }
  end
elseif terms:find("points") then
  model.initial, model.gravity, model.grid.z = start, {0.5, 0, -1}, "wall"
  model.drag = terms == "points crowd" and "di_felice" or "schiller_naumann"
  model.contact = { contact_time = 0.05, restitution = 0.8 }
  model.grains = { sim.random_spheres { n = 40, radius = 0.06, density = 5 } }
elseif terms == "stl" then
  model.acceleration = vector(0.2, 0.1, 0.1)
  model.bodies = { sim.stl { path = root .. "/data/ahmed.stl", shift = {0.7, 0.9, 0.4},
                             motion = function(t) return 0, 0, 0.2 * t end } }
elseif terms:find("force") then -- by place, time and velocity, and with heat by the temperature
  model.initial, model.bodies = start, { round(middle, 0.33, { velocity = terms == "force moving" and vector(0.3, 0.1, 0.2) or nil }) }
  if terms == "force heat" then
    model.heat = { diffusivity = 0.02, initial = function(x, y, z) return math.cos(3 * x + y) end }
  end
  model.force = d == 2 and function(x, y, t, ux, uy) return sim.sin(9 * t) * 0.3 + 0.5 * uy, -0.5 * ux + 0.1 * y - uy * sim.abs(uy) end
    or function(x, y, z, t, ux, uy, uz) return sim.sin(9 * t) * 0.3 + 0.5 * uy, -0.5 * ux, 0.1 * z - uz * sim.abs(uz) end
  if model.heat then
    model.force = d == 2 and function(ux, uy, T) return 0.5 * uy, T - 0.5 * ux end
      or function(ux, uy, uz, T) return 0.5 * uy, T - 0.5 * ux, -uz end
  end
elseif terms:find("heat") then
  model.grid[axis], model.initial = "wall", start
  model.heat = { diffusivity = 0.02, expansion = 0.1, gravity = vector(0, d == 2 and -1 or 0, -1),
                 [low] = 1, [high] = 0,
                 initial = function(x, y, z) return 0.5 + 0.2 * math.cos(3 * x + y) end }
  model.bodies = { round(middle, 0.3, { temperature = 0.8 }), round(point(2, 0.35, 0.3), 0.2) }
  if terms == "heat flux" then
    model.heat[low], model.heat.flux = nil, { [low] = 0.3 }
    model.bodies[1].temperature, model.bodies[1].flux = nil, -0.2
  end
  if terms == "heat eddies" then model.turbulence = { smagorinsky = 0.1 } end
  if terms == "heat law" then
    model.viscosity = function(shear, T) return 0.01 * (1 + shear^2)^-0.2 * math.exp(-0.3 * T) end
  end
  if terms == "heat open" then
    model.grid.x, model.initial = "wall", nil
    model.sides = { x_low = { velocity = vector(0.3, 0, 0) }, x_high = { pressure = 0, sponge = 0.9 } }
    model.heat.x_low, model.heat.reference = 0.2, 0.5
  end
end
local moves = model.grains or terms:find("moving") or terms == "stl" or terms == "D3Q27"
if not moves then model.average = { from = 3 / 64, every = 2 } end
if terms == "plain" or terms == "eddies" then model.spectrum = 7 end
return sim.fluid(model)
LUA
run=("$SIM" run fluid.lua --threads 1 --force)
long=false
if [ "${1:-short}" = long ]; then long=true; fi
every=(plain eddies walls slip bodies moving outlet "outlet across" trt "trt resistance" heat "heat eddies" "heat flux" "heat open")

# ---- every number of ranks ----

for ((k = 0; k < ${#every[@]}; k++)); do
  terms=${every[k]}
  divided "$((k % 2 ? 7 : 2))" "terms=$terms"
  # planes are swapped; the others by `long`
  if $long || ((k % 2 == 0)); then hosts "3" "terms=$terms"; else divided "3" "terms=$terms" flat=1 kind=single; fi
done
for terms in "heat law" "outlet timed" "force heat"; do
  divided "$($long && echo 3) 7" "terms=$terms"
  if $long; then divided "2" "terms=$terms" flat=1 kind=single; fi
done
for terms in stl rock D3Q27 "D3Q27 trt"; do divided "3" "terms=$terms" "root=$ROOT"; done
for terms in grains points "points crowd"; do divided "$($long && echo 2 3) 4 7" "terms=$terms" last=19; done
divided "9" "terms=grains low" last=7 kind=single # more ranks than planes
divided "3" "terms=force moving" kind=single
trt=(moving "heat open")
if $long; then trt+=("outlet across" heat force); fi
for terms in "${trt[@]}"; do divided "3" "terms=$terms" collision=trt; done
divided "4" terms=plain kind=single last=24
divided "4" terms=moving kind=single
divided "7" terms=bodies last=5 # more ranks than planes
hosts "7" terms=bodies last=5
divided "7" terms=plain last=5
hosts "2" terms=moving flat=1
hosts "3" terms=D3Q27 kind=single
hosts "7" "terms=heat open" last=9 kind=single
hosts "2" terms=plain last=8
for terms in grains points "points crowd"; do hosts "3" "terms=$terms" last=19 kind=single; done
if $long; then
  for kind in single double; do
    for flat in 0 1; do
      for last in 7 16 24; do
        for terms in "${every[@]}"; do
          set=("terms=$terms" kind=$kind flat=$flat last=$last)
          "$SIM" check fluid.lua "${set[@]/#/--set=}" >output 2>&1 || continue # what the model refuses
          divided "2 3 4 7" "${set[@]}"
          hosts "3 7" "${set[@]}"
        done
      done
    done
  done
fi

# ---- delays, threads, instruction sets ----

for set in "terms=moving" "terms=heat open" "rows=99"; do
  expect 0 "" "${run[@]}" -o one --set "$set"
  SIM_COMM_DELAY=1000 expect 0 "" "${run[@]}" -o many --ranks 3 --set "$set"
  equal one many "$set with delayed ranks"
  SIM_COMM_HOSTS=2 SIM_COMM_DELAY=1000 expect 0 "" "${run[@]}" -o many --ranks 4 --set "$set"
  equal one many "$set with delayed ranks on two hosts"
done
for set in terms=grains "terms=points crowd" "terms=heat open"; do
  expect 0 "" "${run[@]}" -o one --set "$set" --set last=19
  expect 0 "" "$SIM" run fluid.lua --force -o many --ranks 2 --threads 2 --set "$set" --set last=19
  equal one many "$set with ranks of 2 threads"
done
expect 0 "" "${run[@]}" -o many --ranks 2 --isa plain --set "terms=heat open" --set last=19
same one many "ranks of another instruction set"

# ---- a flow that is too fast, and a temperature out of bounds: the same cell and step ----

cat >fast.lua <<'LUA'
return sim.fluid {
  grid = { n = {24, 10, 12}, size = {24, 10, 12} }, viscosity = 0.02, speed = 0.1, acceleration = {0.002, 0, 0},
  initial = function(x, y, z) return 0.01 * math.sin(2 * math.pi * (z + 0.3) / 12), 0, 0 end,
  integrate = { dt = 1, t_end = 1000 },
}
LUA
expect 80 "the speed is" "$SIM" run fast.lua --threads 1 -o bad --force
grep -oE "(the flow has|the speed is).*" output >alone
for hosts in 1 2; do
  SIM_COMM_HOSTS=$hosts expect 80 "the speed is" "$SIM" run fast.lua --threads 1 -o bad --force --ranks 3
  grep -oE "(the flow has|the speed is).*" output >together
  cmp -s alone together || fail "a flow that is too fast is told otherwise by ranks"
done
[ "$(wc -l <alone)" = 2 ] || fail "a flow that is too fast: no warning before its end"
cat >hot.lua <<'LUA'
return sim.fluid {
  grid = { n = {32, 8, 24}, size = {32, 8, 24}, z = "wall" }, viscosity = 0.001, speed = 0.15,
  heat = { diffusivity = 5e-4, z_low = 0, z_high = 1, expansion = 1e-3, gravity = {0, 0, 1},
           initial = function(x, y, z) return sim.where(sim.gt(z, 12), 1, 0) end },
  initial = function(x, y, z) return 0.14 * math.sin(math.pi * x / 4) * math.cos(math.pi * z / 7), 0, 0.05 * math.sin(x) end,
  integrate = { dt = 1, t_end = 1000 },
}
LUA
expect 80 "the temperature is" "$SIM" run hot.lua --threads 1 -o bad --force
grep -o "the temperature is.*" output >alone
expect 80 "the temperature is" "$SIM" run hot.lua --threads 1 -o bad --force --ranks 3
grep -o "the temperature is.*" output >together
cmp -s alone together || fail "a temperature out of bounds is told otherwise by ranks"

# ---- restart with another number of ranks ----

sets=("terms=moving" "terms=heat open" terms=grains)
if $long; then sets+=("terms=outlet across" "terms=trt resistance" "terms=points crowd"); fi
for set in "${sets[@]}"; do
  expect 0 "" "${run[@]}" -o whole --set "$set" --set steps=24 --set last=19
  hosts=$((1 + ${hosts:-1} % 2)) # in turn
  for hosts in $($long && echo 1 2 || echo $hosts); do
    SIM_COMM_HOSTS=$hosts expect 0 "" "${run[@]}" -o chain --set "$set" --set steps=24 --set last=19 --ranks 4
    for ranks in 3 1; do
      # shellcheck disable=SC2046 # one word each
      rm -- $(checkpoints chain | tail -n 2) # the last three are kept
      SIM_COMM_HOSTS=$hosts expect 0 "continues from checkpoint" "$SIM" resume chain --threads 1 --ranks $ranks
      equal whole chain "$set: 4 ranks, then $ranks"
    done
  done
done

# ---- check, profile ----

expect 0 "ranks       4; the work can be divided among 13" "$SIM" check fluid.lua --ranks 4
grep -q "communication  *0 B received by a rank in a step, 1 time waiting for all" output || fail "what ranks exchange"
expect 0 "" "$SIM" check fluid.lua --ranks 2 --set terms=bodies
grep -qE "communication  *[0-9.]+ KiB received by a rank in a step, 2 times" output || fail "what ranks exchange at bodies"
expect 0 "" "$SIM" check fluid.lua --ranks 2 --set terms=grains --set last=19
grep -qE "communication  *1.2 KiB received by a rank in a step, 2 times" output || fail "what ranks exchange of grains"
expect 0 "rank" "${run[@]}" -o many --ranks 2 --profile

# ---- the shipped scenarios: their first part ----

$long || exit 0
for name in cavity rayleigh_benard stirred_tank street warm_cylinder; do
  sed -E -e 's/t_end = ([^,}]*[^,} ])( *[,}])/t_end = (\1) * 0.01\2/' "$ROOT/scenarios/$name.lua" >"$name.lua"
  expect 0 "" "$SIM" run $name.lua --threads 1 -o shipped_one --force
  for ranks in 2 3 4 7; do
    expect 0 "" "$SIM" run $name.lua --threads 1 -o shipped_many --force --ranks "$ranks"
    equal shipped_one shipped_many "$name with $ranks ranks"
  done
done
