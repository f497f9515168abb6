#!/usr/bin/env bash
# slabs_ranks.sh PART: grids of three axes on several GPUs in slabs (on one GPU, which ranks share, where there is one).
# Digests, tables, snapshots and checkpoints have the bits of one GPU, for each kind of operator, scheme and precision, and
# for numbers of ranks that divide nothing. PART: forms, sizes, restarts, refused.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/models/ranks_lib.sh"
part=${1:?which part}
need_gpu
export OMP_WAIT_POLICY=passive

cat >slabs.lua <<'LUA'
local form   = sim.param("form", "plain", "what is asked for")
local kind   = sim.param("kind", "double", "precision")
local scheme = sim.param("scheme", "etdrk4", "scheme")
local n      = sim.param("n", "30x36x28", "cells")
local dt     = sim.param("dt", "1/256", "step; auto")
local method = sim.param("method", "slabs", "how steps are made")
local steps  = sim.param("steps", 6, "steps of 1/256")
local cells, size = {}, {}
for number in n:gmatch("%d+") do cells[#cells + 1], size[#size + 1] = tonumber(number), 1 + 0.25 * #cells end
local two = math.pi * 2
local function wave(a) return function(x, y, z) return 0.5 + 0.3 * math.sin(two * x + a) * math.cos(two * y / 1.25) + 0.1 * math.cos(two * z / 1.5 + a) end end
local u = { name = "u", D = 2e-3, initial = wave(0), noise = 0.01 }
local v = { name = "v", D = 2e-3, initial = wave(1), noise = 0.01 }
local w = { name = "w", D = 2e-3, initial = wave(2) }
local s = {
  grid = { n = cells, size = size }, fields = { u, v, w }, precision = kind, seed = 11,
  rates = function(u, v, w, x, y, z, t) return -u * v^2 + 0.1 * (1 - u) * math.cos(y + t), u * v^2 - 0.3 * v * z, u - w * x end,
  integrate = { scheme = scheme, dt = dt == "auto" and "auto" or 1 / 256, t_end = steps / 256, method = method },
  observe = { most = { function(u) return u * u end, reduce = "max" } }, spectrum = 8, probes = { {0.31, 0.52, 0.93} },
  output = { snapshots = "every 3 steps", tables = "every 1 steps", checkpoint = "every 2 steps",
             slices = cells[3] and { { name = "cut", z = 0.4, when = "every 1 steps" } } or nil },
}
if dt == "auto" then s.integrate.dt_max = 1 / 256 end -- few steps
if form == "noise" then
  u.fluctuation, w.fluctuation = 0.05, 0.1
elseif form == "walls" then
  s.grid.y, u.walls, u.initial = "fixed", { 0.2, 0.9 }, 0.5
elseif form == "walls_x" then
  s.grid.x = "no_flux"
elseif form == "walls_z" then
  s.grid.z = "no_flux"
elseif form == "complex" then -- drift, cross diffusion, a function of the wavenumber
  u.drift, u.cross = { 0.4, 0.1, 0.2 }, { 0, 2e-4, 0 }
  v.linear = function(k2, kx) return -1e-3 * k2, 0.1 * kx end
elseif form == "derived" then
  s.derived = { p = function(kx, ky, kz, u) return -u / (kx^2 + ky^2 + kz^2) end }
  s.rates = function(u, v, w, u_x, p_x, p_y, p_z, lap_v, w_z) return 0.1 * p_y * u_x - p_z, 0.01 * lap_v - p_x * v, w_z end
  s.integrate.dealias = true
elseif form == "flow" or form == "forced" then
  s.solenoidal = "u, v, w"
  s.rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)
    return -u * u_x - v * u_y - w * u_z, -u * v_x - v * v_y - w * v_z, -u * w_x - v * w_y - w * w_z
  end
  s.integrate.dealias = true
  if form == "forced" then s.forcing = { fields = "u, v, w", k = { 4, 12 }, power = 0.1 } end
  if dt == "auto" then s.integrate.courant = 0.02 end
elseif form == "flux" then
  s.flux = function(u, v, w) return u * v, 0, 0.1 * w, 0, v * w, 0, u, 0, v end
elseif form == "exact" then
  s.rates, s.integrate.scheme = nil, nil
end
return sim.diffusion(s)
LUA
run=("$SIM" run slabs.lua --force)
alone=(--device cuda)
by=(--oversubscribe --gpus)

refused() { # refused CODE MESSAGE SET...
  local code=$1 message=$2
  shift 2
  expect "$code" "$message" "${run[@]}" -o refused "${by[@]}" 2 "${@/#/--set=}"
}

case $part in
  forms)
    divided "2 3" kind=single dt=auto
    divided "2" form=noise scheme=strang kind=single
    divided "3" form=noise scheme=etdrk2
    divided "2" form=walls
    divided "3" form=walls_x kind=single scheme=strang
    divided "2" form=complex scheme=etd1
    divided "3" form=derived dt=auto
    divided "2" form=flow kind=single dt=auto
    divided "3" form=forced
    divided "2" form=flux kind=single scheme=etdrk2
    divided "3" form=exact
    ;;
  sizes) # blocks and planes that ranks do not share evenly, ranks without any, cuFFT's batches that are not full
    divided "3 5" n=128x120x96 kind=single steps=2 form=flow
    divided "2" n=21x35x33 scheme=lie steps=3
    divided "7" n=16x6x5 steps=3 dt=auto
    SIM_COMM_PATH=staged divided "2 3" n=64x48x40 steps=2 form=derived
    SIM_COMM_DELAY=3000 divided "3" n=64x48x40 steps=2 kind=single
    ;;
  restarts)
    for set in "scheme=strang kind=single" "form=derived dt=auto steps=6"; do
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
    ;;
  refused)
    expect 0 "transforms by cuFFT in slabs" "${run[@]}" --device cuda -o one
    refused 64 'this run goes on several GPUs with integrate.method = "slabs"' method=auto
    refused 65 'integrate.method = "slabs" on a GPU needs z and one of x and y periodic' form=walls_z
    refused 64 "on several GPUs needs z and one of x and y periodic" form=walls_z method=auto
    refused 65 'integrate.method = "slabs" on a GPU needs more than one cell along each axis' n=16x17x16
    expect 0 "2 ranks, each " "$SIM" check slabs.lua --gpus 2
    ;;
  *) fail "no part $part" ;;
esac
