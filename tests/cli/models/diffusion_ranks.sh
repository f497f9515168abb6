#!/usr/bin/env bash
# Fields on ranks: digest, tables, snapshots, slices and checkpoints are the same for every number of ranks, with each
# scheme, boundary, precision and kind of grid, and over restarts with other numbers. `long`: all shipped scenarios too.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
: "${COMPARE:?the program crash_compare}" "${ROOT:?the source tree}"
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
elseif terms == "noise" then
  u.fluctuation, v.fluctuation, v.conserved = 0.01, 1e-5, true
  model.rates = function(u, v) return -0.1 * u, -1e-3 * v^2 end
elseif terms == "lift" then
  u.walls, u.initial = { 0.2, 0.9 }, 0.5
elseif terms == "cut" then
  model.integrate.dealias = true
elseif terms == "stop" then
  model.stop_when = function(o) return sim.gt(o.v_max * o.time, 0.01) end
end
return sim.diffusion(model)
LUA
run=("$SIM" run fields.lua --threads 1 --force)

equal() { # equal DIR DIR WHAT: digest and all files
  local file
  same "$1" "$2" "$3"
  [ "$(cd "$1" && find . -name '*.h5' | sort)" = "$(cd "$2" && find . -name '*.h5' | sort)" ] || fail "$3: other files"
  while read -r file; do
    "$COMPARE" "$1/$file" "$2/$file" >output 2>&1 || fail "$3: $file differs"
  done < <(cd "$1" && find . -name '*.h5')
}
divided() { # divided RANKS SET...: a run of one rank, in ./one, and the same run on each of RANKS
  local ranks number=$1
  shift
  rm -rf one
  expect 0 "" "${run[@]}" -o one "${@/#/--set=}"
  for ranks in $number; do
    rm -rf many
    expect 0 "" "${run[@]}" -o many --ranks "$ranks" "${@/#/--set=}"
    equal one many "$* with $ranks ranks"
  done
}
divided "2 3 4 7"
