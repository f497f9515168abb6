#!/usr/bin/env bash
# Fields on ranks: digest, tables, snapshots, slices and checkpoints are the same for every number of ranks, with each
# scheme, boundary, precision and kind of grid, and over restarts with other numbers. `long`: all shipped scenarios and more
# combinations too.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
: "${ROOT:?the source tree}"
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive

cat >fields.lua <<'LUA'
local n      = sim.param("n", "24x20x14", "cells, of 1 to 3 axes")
local scheme = sim.param("scheme", "etdrk4", "scheme")
local kind   = sim.param("kind", "double", "precision")
local along  = sim.param("along", "periodic periodic periodic", "boundaries")
local terms  = sim.param("terms", "plain", "what the equations have")
local dt     = sim.param("dt", "fixed", "fixed or auto")
local steps  = sim.param("steps", 4, "steps of 1/64")
local each   = sim.param("each", 2, "steps between outputs")
local members = sim.param("members", 1, "members")
local cells, size, walls, at = {}, {}, {}, { 0, 0, 0 }
for number in n:gmatch("%d+") do
  cells[#cells + 1] = tonumber(number)
  size[#size + 1] = 1 + 0.1 * #cells
  at[#cells] = 0.6
end
for wall in along:gmatch("[%a_]+") do walls[#walls + 1] = wall end
if members > 1 then at[#cells + 1] = 2 end
local function start(x, y, z, file, member)
  return 0.6 + 0.2 * math.sin(2 * math.pi * x) * math.cos(3 * y + 0.1 * member) - 0.1 * math.cos(4 * z)
end
local u = { name = "u", D = 0.01, initial = start }
local v = { name = "v", D = 0.02, initial = function(x) return 0.2 * math.cos(2 * math.pi * x) end, noise = 0.01 }
local rates = function(u, v, x, y, z, t) return -u * v^2 + 0.1 * (1 - u) * math.cos(z + t), u * v^2 - 0.3 * v + 0.1 * y end
local model = {
  grid      = { n = cells, size = size, x = walls[1], y = #cells > 1 and walls[2] or nil, z = #cells > 2 and walls[3] or nil },
  fields    = { u, v }, rates = rates, precision = kind, seed = 7,
  integrate = { scheme = scheme, t_end = steps / 64, dt = dt == "fixed" and 1 / 64 or nil, rtol = dt == "auto" and 1e-3 or nil },
  observe   = { most = { function(u, v) return u * v end, reduce = "max" }, sum = function(u, v) return u - v end },
  probes    = { at }, spectrum = 5,
  output    = { snapshots = "every 2 steps", tables = "every 1 steps", checkpoint = "every " .. each .. " steps" },
}
if members > 1 then model.members = members end
if members == 1 and #cells > 1 then
  model.output.slices = { { name = "cut", x = 0.4, when = "every 1 steps" },
                          { name = "rows", y = 0.7, stride = 2, when = "every 2 steps" } }
end
if scheme == "exact" then model.rates = nil end
if terms == "complex" then
  u.drift, v.linear = { 0.3, 0, 0 }, function(k2, kx) return -0.001 * k2, 0.01 * kx end
elseif terms == "cross" or terms == "cross complex" then
  u.cross, v.cross, u.decay = { 0, 0.004 }, { -0.003, 0 }, 0.1
  if terms == "cross complex" then u.drift = { 0.3, 0, 0 } end
elseif terms == "derived" then
  model.rates = function(u, v, u_x, v_x) return -u * u_x, 0.1 * v_x end
  model.observe.slope = function(u, u_x) return u_x^2 end
elseif terms == "flows" then
  model.derived = { p = function(k2, u) return -u / k2 end, q = function(kx, u, v) return 0.1 * v, kx * u end }
  model.rates = function(u, v, p_x, q, lap_v, u_xx) return -u * p_x + 0.01 * v * u_xx, 0.1 * q * v + 0.001 * lap_v end
  model.observe.slope = function(u, p, q_x) return u * p * q_x end
  model.output.fields = "q, p, slope"
elseif terms == "walls" then
  model.rates = #cells == 3 and function(u, v, u_y, v_z) return 1e-4 * u_y^2, 0.01 * v_z * u end
    or function(u, u_x, v_y) return 1e-4 * u_x^2, 0.01 * v_y * u end
  model.output.fields = "most, sum"
elseif terms == "sides" then -- along x and the last axis
  u.sides = { x_low = { value = 0.2 }, x_high = { slope = 0.3 } }
  v.sides = #cells == 3 and { z_high = { value = 0 } } or { y_high = { value = 0 } }
  model.rates = #cells == 3 and function(u, v, u_xz, v_z) return 1e-4 * u_xz, 0.01 * v_z * u end
    or function(u, v, u_xy, v_y) return 1e-4 * u_xy, 0.01 * v_y * u end
elseif terms == "flux" then
  local d = #cells
  model.rates, u.linear, v.D = nil, nil, 0.01
  model.flux = d == 3 and function(u, v, u_x, x, y) return -0.01 * u * u_x, 0.1 * v, u, v, 0.1 * u * y, u - v end
    or function(u, v, u_x, x, y) return -0.01 * u * u_x, 0.1 * v, v, 0.1 * u * y end
  model.solenoidal = d == 2 and "u, v" or nil
elseif terms == "implicit" then -- D(x) over four orders of magnitude, so that levels are worth while
  local function D(x) return 1e-4 + sim.exp(-60 * (x - 0.5)^2) end
  model.integrate.scheme, model.integrate.dt = "rodas3", dt == "fixed" and 1 / 32 or nil
  u.conserved, u.D, v.D = nil, 0, 0.001
  model.rates = function(u, v, t) return 0, 2 * u - 3 * v^2 + t end
  model.flux = #cells == 3 and function(u_x, u_y, u_z, v, x) return -D(x) * u_x, -D(x) * u_y, -D(x) * u_z, 0.1 * v, 0, 0 end
    or #cells == 2 and function(u_x, u_y, v, x) return -D(x) * u_x, -D(x) * u_y, 0.1 * v, 0 end
    or function(u_x, v, x) return -D(x) * u_x, 0.1 * v end
elseif terms == "noise" then
  u.fluctuation, v.fluctuation, v.conserved = 0.01, 1e-5, scheme:find("etd") ~= nil
  model.rates = function(u, v) return -0.1 * u, -1e-3 * v^2 end
elseif terms == "forced" or terms == "stirred" then
  model.rates = function(u, v, u_x) return -u * u_x, 0.1 * u * v end
  model.forcing = { fields = "u, v", k = { 5, 13 }, power = 0.1, random = terms == "stirred" }
elseif terms == "vector" then -- of as many components as there are axes
  local w = { name = "w", D = 0.01, noise = 0.01 }
  u.D, v.D, u.initial, v.initial = 0.01, 0.01, nil, nil
  u.noise = 0.01
  model.fields, model.solenoidal = { u, v, #cells == 3 and w or nil }, #cells == 3 and "u, v, w" or "u, v"
  model.rates = #cells == 3 and function(u, v, w, u_x, v_x, w_x) return -u * u_x, -u * v_x, -u * w_x end
    or function(u, v, u_x, v_x) return -u * u_x, -u * v_x end
  model.forcing = { fields = model.solenoidal, k = { 5, 16 }, power = 0.1, random = true, helicity = #cells == 3 and 0.5 or nil }
  model.enstrophy, model.helicity = 4, #cells == 3 and 4 or nil
  if kind == "double" then model.lyapunov = { every = 1 / 32 } end
elseif terms == "lift" then
  u.walls, u.initial = { 0.2, 0.9 }, 0.5
elseif terms == "cut" then
  model.integrate.dealias = true
elseif terms == "padding" then -- rates on 3/2 as many cells
  model.rates = #cells > 1 and function(u, v, u_x, v_y) return -u * u_x, 0.1 * v_y * u end or function(u, u_x) return -u * u_x, 0.1 * u end
  model.integrate.dealias = "padding"
  model.output.fields = "most"
  if kind == "double" and members == 1 and dt == "fixed" then model.lyapunov = { every = 1 / 32 } end
elseif terms == "stop" then
  model.stop_when = function(o) return sim.gt(o.v_max * o.time, 0.01) end
end
return sim.diffusion(model)
LUA
run=("$SIM" run fields.lua --threads 1 --force)

# ---- every number of ranks ----

long=false
if [ "${1:-short}" = long ]; then long=true; fi
all="2 3 4 7"
some="3 7"
if $long; then some=$all; fi
divided "$all"
hosts "2 3 7"
divided "3 7" n=48x40x30 # 15 blocks of 4096 cells: sums of a rank's own cells would differ
divided "3 4" kind=single n=66x150 scheme=strang # several strips of rows on a rank
hosts "3 4" kind=single n=66x150 scheme=strang
divided "3" n=66x100 terms=complex
divided "2" n=66x70 terms=cross "along=fixed no_flux"
hosts "2" n=66x70 terms=cross "along=fixed no_flux"
divided "2" n=32x16x9 "terms=cross complex" # paired rows
divided "7" kind=single along="no_flux fixed no_flux" scheme=lie
divided "2" along="periodic no_flux fixed" scheme=etd1 terms=lift
divided "3" n=40x70 terms=derived scheme=etdrk2
hosts "3" n=40x70 terms=derived scheme=etdrk2
divided "3" terms=noise
hosts "3" terms=noise
divided "3" terms=flows n=32x12x9
hosts "3" terms=flows n=32x12x9
divided "2" terms=flows n=66x70 scheme=lie kind=single
divided "3" terms=walls "along=no_flux fixed no_flux"
divided "3" terms=walls n=24x70 "along=no_flux fixed"
divided "3" terms=sides "along=no_flux periodic no_flux"
divided "3" terms=sides n=24x70 "along=no_flux no_flux" dt=auto
divided "3" terms=flux "along=periodic no_flux no_flux"
divided "3" terms=flux
divided "3" terms=flux n=24x70 scheme=etdrk2
hosts "3" terms=flux n=24x70 scheme=etdrk2
divided "$some" terms=forced
hosts "3" terms=forced
divided "3" terms=forced kind=single n=66x100 scheme=etdrk2
divided "2" terms=forced n=50
divided "3" terms=forced "along=no_flux periodic no_flux"
divided "$some" terms=vector n=16x20x14
hosts "3" terms=vector n=16x20x14
divided "3" terms=vector n=66x70 kind=single
divided "3" terms=stirred n=50x40 "along=no_flux periodic"
divided "2" terms=stirred n=50 "along=no_flux"
divided "3" terms=stirred "along=no_flux periodic fixed"
divided "2" terms=stirred "along=fixed no_flux no_flux" kind=single scheme=etd1
divided "$all" terms=implicit
hosts "3" terms=implicit
divided "3" terms=implicit n=66x70 kind=single "along=no_flux periodic"
divided "2" terms=implicit n=24x40 dt=auto
divided "2" terms=implicit n=24x18 members=5
divided "2" terms=implicit n=50
divided "3" dt=auto n=32x40x9
hosts "3" dt=auto n=32x40x9
divided "2" scheme=exact n=30x18x5
divided "3" terms=cut n=60x50
divided "$some" terms=padding n=24x20x10
hosts "3" terms=padding n=24x20x10 "along=no_flux periodic fixed"
divided "3" terms=padding n=24x70 kind=single scheme=etdrk2 "along=no_flux no_flux"
divided "3" terms=padding n=24x70 dt=auto
divided "2" terms=padding n=24x18 members=5 scheme=etdrk2
divided "2" terms=padding n=40 # one axis: on rank 0
divided "2" terms=stop
divided "3" members=40 n=33 scheme=etdrk2
divided "2" members=5 n=24x18 dt=auto
divided "2" n=100      # one axis: on rank 0
divided "13" n=16x16x5 # more ranks than planes
divided "7" n=16x20    # more ranks than strips of rows
if $long; then
  for kind in single double; do
    for n in 24x20x14 64x40 50 33x64x5 17x9x11 16x16x16; do
      for terms in plain complex cross "cross complex" derived flows walls sides flux noise forced stirred lift cut stop; do
        for along in periodic "periodic fixed no_flux" "no_flux fixed periodic" "fixed no_flux no_flux" \
          "periodic periodic fixed"; do
          scheme=etdrk4
          [ "$terms" != cut ] || scheme=strang
          [ "$terms" != derived ] || scheme=etdrk2
          set=(kind=$kind n=$n "terms=$terms" "along=$along" scheme=$scheme)
          "$SIM" check fields.lua "${set[@]/#/--set=}" >output 2>&1 || continue # what the model does not combine
          divided "2 7" "${set[@]}"
        done
      done
    done
  done
fi
for set in n=24x20x14 "dt=auto --set n=32x40"; do
  # shellcheck disable=SC2086 # several words
  expect 0 "" "${run[@]}" -o one --set $set
  # shellcheck disable=SC2086
  SIM_COMM_DELAY=1000 expect 0 "" "${run[@]}" -o many --ranks 3 --set $set
  equal one many "$set with delayed ranks"
done
expect 0 "" "$SIM" run fields.lua --force -o many --ranks 3 --threads 2
expect 0 "" "${run[@]}" -o one
equal one many "ranks of 2 threads"
expect 0 "" "${run[@]}" -o many --ranks 2 --isa plain
same one many "ranks of another instruction set"

# ---- a file, and a state that is not finite ----

cat >from_file.lua <<'LUA'
return sim.diffusion {
  grid = { n = {24, 20, 14}, size = {1, 1, 1} }, fields = { { name = "u", D = 0.01, file = { path = "one/snap/FILE" } } },
  integrate = { t_end = 0.1 }, output = { tables = "ends" },
}
LUA
sed -i "s/FILE/$(find one/snap -name '*.h5' -printf '%f\n' | sort | tail -n 1)/" from_file.lua
expect 0 "" "$SIM" run from_file.lua --threads 1 -o file_one
expect 0 "" "$SIM" run from_file.lua --threads 1 -o file_many --ranks 4
equal file_one file_many "values of a file"
cat >diverges.lua <<'LUA'
return sim.diffusion {
  grid = { n = {16, 100}, size = {1, 1} }, fields = { { name = "u", D = 1e-4, initial = function(x, y) return 1 + y end } },
  rates = function(u) return u^3 end, integrate = { scheme = "etdrk2", dt = 0.1, t_end = 10 },
}
LUA
expect 80 "the field u is not finite at step" "$SIM" run diverges.lua --threads 1 -o bad
expected=$(grep "^sim: the field" output)
expect 80 "$expected" "$SIM" run diverges.lua --threads 1 -o bad --force --ranks 3

# ---- restart with another number of ranks; a rank that is killed ----

sets=(terms=implicit "terms=stirred --set along=no_flux" "terms=vector --set n=16x20x14" "dt=auto --set n=32x70" "members=40 --set n=20")
if $long; then sets+=(n=24x20x14 terms=forced "scheme=strang --set kind=single" "terms=padding --set n=24x20x10"); fi
for set in "${sets[@]}"; do
  # shellcheck disable=SC2086
  expect 0 "" "${run[@]}" -o whole --set steps=8 --set $set
  # shellcheck disable=SC2086
  expect 0 "" "${run[@]}" -o chain --set steps=8 --set $set --ranks 4
  for ranks in 3 1; do
    # shellcheck disable=SC2046 # one word each
    rm -- $(checkpoints chain | tail -n 2) # the last three are kept
    expect 0 "continues from checkpoint" "$SIM" resume chain --threads 1 --ranks $ranks
    same whole chain "$set: 4 ranks, then $ranks"
    "$COMPARE" whole/tables.h5 chain/tables.h5 >output 2>&1 || fail "$set: 4 ranks, then $ranks: tables differ"
  done
done
rank_of() { # rank_of LAUNCHER N: process of rank N; ranks are started in order
  # shellcheck disable=SC2009 # by parent
  ps -o pid= --ppid "$1" | sort -n | sed -n "$(($2 + 1))p" | tr -d ' '
}
has_checkpoint() { [ -n "$(checkpoints killed)" ]; }
"${run[@]}" -o killed --ranks 3 --set steps=100000 --set each=20 >output 2>&1 &
pid=$!
until_true 120 has_checkpoint
kill -s KILL "$(rank_of "$pid" 1)"
code=0
wait "$pid" || code=$?
[ "$code" = 82 ] || fail "a killed rank: exit $code, not 82"
expect 75 "continues from checkpoint" "$SIM" resume killed --ranks 2 --threads 1 --wall 1

# ---- check, profile ----

expect 0 "ranks       4; the work can be divided among 14" "$SIM" check fields.lua --ranks 4
grep -q "communication  *24 B received by a rank in a step, 9 times waiting for all" output ||
  fail "check does not say what ranks exchange"
expect 0 "the work can be divided among 1" "$SIM" check fields.lua --ranks 2 --set n=100
grep -q "not advised  *2 ranks make a step about [01]\.[0-9] times as fast as one$" output || fail "check advises ranks for one axis"
expect 0 "" "$SIM" check fields.lua --ranks 2 --set n=128x128x128
! grep -q "not advised" output || fail "check does not advise 2 ranks for 128^3"
expect 0 "rank" "${run[@]}" -o many --ranks 2 --profile

# ---- the shipped scenarios: their first part, of single and double precision ----

$long || exit 0
for name in cahn_hilliard chemotaxis coarsening convection fisher ginzburg_landau gray_scott heat inverse_cascade \
  kuramoto_sivashinsky scroll_ring shear_layer taylor_green torch turbulence_2d; do
  case $name in
  heat) factor=1 ;;
  *) factor=0.01 ;;
  esac
  for precision in single double; do
    sed -E -e "/integrate/s/t_end = ([^,}]*[^,} ])( *[,}])/t_end = (\1) * $factor\2/" -e '/^ *precision *=/d' \
      -e "s/^return sim\.diffusion \{/&\n  precision = \"$precision\",/" "$ROOT/scenarios/$name.lua" >"$name.lua"
    expect 0 "" "$SIM" run $name.lua --threads 1 -o shipped_one --force
    for ranks in $all; do
      expect 0 "" "$SIM" run $name.lua --threads 1 -o shipped_many --force --ranks "$ranks"
      equal shipped_one shipped_many "$name in $precision precision with $ranks ranks"
    done
  done
done
