#!/usr/bin/env bash
# members_ranks.sh PART: ensembles of fields on several GPUs (on one, which ranks share, where there is one), which share
# out the members. Digests, tables, snapshots and checkpoints have the bytes of one GPU, for each kind of operator, walls,
# scheme and precision, with fewer ranks than members and with more. PART: forms, many, restarts.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/models/ranks_lib.sh"
part=${1:?which part}
need_gpu
export OMP_WAIT_POLICY=passive

cat >members.lua <<'LUA'
local form    = sim.param("form", "plain", "what is asked for")
local kind    = sim.param("kind", "double", "precision")
local scheme  = sim.param("scheme", "etdrk4", "scheme")
local members = sim.param("members", 6, "members")
local n       = sim.param("n", "48x40", "cells")
local dt      = sim.param("dt", "1/256", "step; auto")
local steps   = sim.param("steps", 6, "steps of 1/256")
local cells, size = {}, {}
for number in n:gmatch("%d+") do cells[#cells + 1], size[#size + 1] = tonumber(number), 1 + 0.25 * #cells end
local two = math.pi * 2
local function start(x, y, member) return 0.5 + 0.3 * math.sin(two * x) * math.cos(3 * y) + 0.02 * member end
local u = { name = "u", D = 2e-3, initial = start, noise = 0.01 }
local v = { name = "v", D = 1e-3, initial = function(x, y, member) return 0.2 * math.cos(two * x) + 0.01 * member * y end, noise = 0.01 }
local s = {
  grid = { n = cells, size = size }, fields = { u, v }, members = members, precision = kind, seed = 11,
  rates = function(u, v, x, y, t, member)
    return -u * v^2 + 0.1 * (1 - u) * math.cos(y + t), u * v^2 - 0.3 * v + 0.01 * member * x
  end,
  integrate = { scheme = scheme, dt = dt == "auto" and "auto" or 1 / 256, t_end = steps / 256 },
  observe = { most = { function(u, member) return u * member end, reduce = "max" } },
  output = { snapshots = "every 3 steps", tables = "every 1 steps", checkpoint = "every 2 steps" },
}
if dt == "auto" then s.integrate.dt_max = 1 / 256 end -- few steps
if form == "line" then -- one axis
  s.grid = { n = {96}, size = {1}, boundary = "fixed" }
  u.walls, u.initial, v.initial = { 0.2, 0.9 }, 0.5, function(x) return x end
  s.rates = function(u, v, u_x, v_x, x, member) return -u * u_x + 0.01 * member, -u * v_x + x end
elseif form == "noise" then
  u.fluctuation, v.fluctuation = 0.05, 0.1
elseif form == "walls" then -- a series for each field, fluxes
  s.grid.y = "no_flux"
  v.sides = { y_low = { value = 0 }, y_high = { value = 0 } }
  s.flux = function(u, v) return 0.1 * u * v, 0, 0, 0.1 * v * u end
elseif form == "mixed" then -- walls that mix value and slope
  s.grid.y = "no_flux"
  v.sides = { y_low = { robin = { a = 1, b = 0.5, g = 0 } }, y_high = { value = 0 } }
  v.fluctuation = 0.1
elseif form == "complex" then -- drift, cross diffusion, a function of the wavenumber and the member
  u.drift, u.cross = { 0.4, 0.1, 0 }, { 0, 2e-4 }
  v.linear = function(k2, kx, member) return -1e-3 * k2 * member, 0.1 * kx end
elseif form == "derived" then
  s.derived = { p = function(kx, ky, u, member) return -member * u / (kx^2 + ky^2) end }
  s.rates = function(u, v, u_x, p_x, p_y, lap_v) return 0.1 * p_y * u_x - p_x, 0.01 * lap_v - p_x * v end
  s.integrate.dealias = true
elseif form == "flow" then
  s.solenoidal, v.D = "u, v", u.D
  s.rates = function(u, v, u_x, u_y, v_x, v_y, member) return -u * u_x - v * u_y + 0.1 * member, -u * v_x - v * v_y end
  s.integrate.dealias = true
  if dt == "auto" then s.integrate.courant = 0.02 end
elseif form == "exact" then
  s.rates, s.integrate.scheme = nil, nil
end
return sim.diffusion(s)
LUA
run=("$SIM" run members.lua --force)
alone=(--device cuda)
by=(--oversubscribe --gpus)

case $part in
  forms)
    divided "2 3" kind=single scheme=strang
    divided "8" members=3 # ranks without members
    divided "2" form=line members=96
    divided "3" form=line members=96 kind=single scheme=etdrk2 dt=auto
    divided "2" form=noise scheme=etdrk2 kind=single
    divided "3" form=noise scheme=strang
    divided "2" form=walls
    divided "3" form=mixed kind=single scheme=etdrk2
    divided "2" form=complex scheme=etd1
    divided "3" form=derived kind=single dt=auto
    divided "2" form=flow dt=auto
    divided "3" form=flow kind=single scheme=lie
    divided "2" form=exact
    ;;
  many) # more numbers than cuFFT is given at once: 20736 a member, and a call has 50 of them
    divided "2 3 5" kind=single members=64 n=160x128 steps=3
    SIM_COMM_PATH=staged divided "2" members=64 n=160x128 steps=3 dt=auto
    divided "3" members=7 n=800x600 kind=single scheme=strang steps=3
    divided "2" members=64 n=160x128 steps=2 form=walls kind=single
    ;;
  restarts)
    for set in "kind=single scheme=strang members=7" "form=flow members=7" "form=derived dt=auto members=7 steps=6"; do
      read -ra words <<<"$set"
      expect 0 "" "${run[@]}" "${alone[@]}" -o whole "${words[@]/#/--set=}"
      expect 0 "" "${run[@]}" -o chain "${by[@]}" 2 "${words[@]/#/--set=}"
      equal whole chain "$set"
      for ranks in 1 3; do
        rm -- "$(checkpoints chain | tail -n 1)"
        expect 0 "continues from checkpoint" "$SIM" resume chain "${by[@]}" $ranks
        equal whole chain "$set: 2 ranks, then $ranks"
      done
    done
    expect 0 "2 ranks, each " "$SIM" check members.lua --gpus 2
    ;;
  *) fail "no part $part" ;;
esac
