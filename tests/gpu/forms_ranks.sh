#!/usr/bin/env bash
# forms_ranks.sh PART: fields on several GPUs (on one, which ranks share, where there is one) that are divided by members of
# an ensemble, or in slabs. Digests, tables, snapshots, slices and checkpoints have the bits of one GPU, for each kind of
# operator, walls, scheme and precision, for numbers of ranks that divide nothing, and with ranks that have nothing.
# PART: members, many, slabs, walls, sides, forced, sizes, restarts (with another number of ranks), refused.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/models/ranks_lib.sh"
part=${1:?which part}
need_gpu
export OMP_WAIT_POLICY=passive

scenario_of() { # scenario_of CELLS: the common beginning, then standard input
  cat <<LUA
local form    = sim.param("form", "plain", "what is asked for")
local kind    = sim.param("kind", "double", "precision")
local scheme  = sim.param("scheme", "etdrk4", "scheme")
local n       = sim.param("n", "$1", "cells")
local dt      = sim.param("dt", "1/256", "step; auto")
local steps   = sim.param("steps", 6, "steps of 1/256")
local cells, size, two = {}, {}, 2 * math.pi
for number in n:gmatch("%d+") do cells[#cells + 1], size[#size + 1] = tonumber(number), 1 + 0.25 * #cells end
local integrate = { scheme = scheme, dt = dt == "auto" and "auto" or 1 / 256, t_end = steps / 256 }
local output = { snapshots = "every 3 steps", tables = "every 1 steps", checkpoint = "every 2 steps" }
if dt == "auto" then integrate.dt_max = 1 / 256 end -- few steps
LUA
  cat
}

scenario_of 48x40 >members.lua <<'LUA'
local members = sim.param("members", 6, "members")
local function start(x, y, member) return 0.5 + 0.3 * math.sin(two * x) * math.cos(3 * y) + 0.02 * member end
local u = { name = "u", D = 2e-3, initial = start, noise = 0.01 }
local v = { name = "v", D = 1e-3, initial = function(x, y, member) return 0.2 * math.cos(two * x) + 0.01 * member * y end, noise = 0.01 }
local s = {
  grid = { n = cells, size = size }, fields = { u, v }, members = members, precision = kind, seed = 11,
  rates = function(u, v, x, y, t, member)
    return -u * v^2 + 0.1 * (1 - u) * math.cos(y + t), u * v^2 - 0.3 * v + 0.01 * member * x
  end,
  integrate = integrate, output = output,
  observe = { most = { function(u, member) return u * member end, reduce = "max" } },
}
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
elseif form == "padding" then
  s.rates = function(u, v, u_x, v_y) return -u * u_x, 0.1 * v_y * u end
  s.integrate.dealias = "padding"
elseif form == "exact" then
  s.rates, s.integrate.scheme = nil, nil
end
return sim.diffusion(s)
LUA

scenario_of 30x36x28 >slabs.lua <<'LUA'
integrate.method = sim.param("method", "slabs", "how steps are made")
local high = sim.param("high", 22, "highest wavenumber of random forcing")
output.slices = cells[3] and { { name = "cut", z = 0.4, when = "every 1 steps" } } or nil
local function wave(a) return function(x, y, z) return 0.5 + 0.3 * math.sin(two * x + a) * math.cos(two * y / 1.25) + 0.1 * math.cos(two * z / 1.5 + a) end end
local u = { name = "u", D = 2e-3, initial = wave(0), noise = 0.01 }
local v = { name = "v", D = 2e-3, initial = wave(1), noise = 0.01 }
local w = { name = "w", D = 2e-3, initial = wave(2) }
local s = {
  grid = { n = cells, size = size }, fields = { u, v, w }, precision = kind, seed = 11,
  rates = function(u, v, w, x, y, z, t) return -u * v^2 + 0.1 * (1 - u) * math.cos(y + t), u * v^2 - 0.3 * v * z, u - w * x end,
  integrate = integrate, output = output,
  observe = { most = { function(u) return u * u end, reduce = "max" } }, spectrum = 8, probes = { {0.31, 0.52, 0.93} },
}
if form == "noise" then
  u.fluctuation, w.fluctuation = 0.05, 0.1
elseif form == "walls" then
  s.grid.y, u.walls, u.initial = "fixed", { 0.2, 0.9 }, 0.5
elseif form == "walls_x" then
  s.grid.x = "no_flux"
elseif form == "walls_z" then -- and first derivatives between them
  s.grid.z, w.fluctuation = "no_flux", 0.1
  s.rates = function(u, v, w, u_z, w_x, v_z) return -u * v^2 + 0.1 * u_z, u * v^2 - 0.3 * v_z * w, u - w_x end
elseif form == "walls_xz" then
  s.grid.x, s.grid.z = "fixed", "no_flux"
elseif form == "duct" then -- z alone is periodic
  s.grid.x, s.grid.y, v.fluctuation = "fixed", "no_flux", 0.1
elseif form == "box" then
  s.grid.boundary = "no_flux"
elseif form == "slopes" then -- derivatives between walls of the axis whose coefficients are shared out
  s.grid.y = "no_flux"
  s.rates = function(u, v, w, u_y, w_x, v_z) return -u * v^2 + 0.1 * u_y, u * v^2 - 0.3 * v_z * w, u - w_x end
elseif form == "sides" then -- a series for each field, fluxes
  s.grid.z = "no_flux"
  v.sides, v.fluctuation = { z_low = { value = 0 }, z_high = { value = 0 } }, 0.1
  s.flux = function(u, v, w) return u * v, 0, 0.1 * w, 0, v * w, 0, u, 0, v end
elseif form == "sides_duct" then
  s.grid.x, s.grid.y = "no_flux", "no_flux"
  u.sides, v.sides = { x_low = { value = 0 } }, { y_high = { value = 0.5 } }
  s.rates = function(u, v, w, u_y, w_x, v_z, u_xy) return 0.1 * u_y - 0.01 * u_xy, u - v_z * w, u - w_x end
elseif form == "mixed" then -- walls that mix value and slope
  s.grid.x, s.grid.z = "no_flux", "no_flux"
  u.sides = { z_low = { robin = { a = 1, b = 0.5, g = 0.1 } } }
  v.sides, v.fluctuation = { x_high = { robin = { a = 1, b = 2, g = 0 } }, z_high = { value = 0 } }, 0.1
elseif form == "plates" then -- a flow between plates
  s.grid.z, s.solenoidal = "no_flux", "u, v, w"
  w.sides, w.initial = { z_low = { value = 0 }, z_high = { value = 0 } }, nil
  s.rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)
    return -u * u_x - v * u_y - w * u_z, -u * v_x - v * v_y - w * v_z, -u * w_x - v * w_y - w * w_z
  end
elseif form == "lyapunov" then -- a second run beside the first
  s.solenoidal = "u, v, w"
  s.rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)
    return -u * u_x - v * u_y - w * u_z, -u * v_x - v * v_y - w * v_z, -u * w_x - v * w_y - w * w_z
  end
  s.lyapunov = { size = 1e-5, every = 1 / 128, start = 1 / 128 }
elseif form == "complex" then -- drift, cross diffusion, a function of the wavenumber
  u.drift, u.cross = { 0.4, 0.1, 0.2 }, { 0, 2e-4, 0 }
  v.linear = function(k2, kx) return -1e-3 * k2, 0.1 * kx end
elseif form == "derived" then
  s.derived = { p = function(kx, ky, kz, u) return -u / (kx^2 + ky^2 + kz^2) end }
  s.rates = function(u, v, w, u_x, p_x, p_y, p_z, lap_v, w_z) return 0.1 * p_y * u_x - p_z, 0.01 * lap_v - p_x * v, w_z end
  s.integrate.dealias = true
elseif form == "flow" or form == "forced" or form == "stirred" or form == "neighbours" then
  s.solenoidal = "u, v, w"
  s.rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)
    return -u * u_x - v * u_y - w * u_z, -u * v_x - v * v_y - w * v_z, -u * w_x - v * w_y - w * w_z
  end
  s.integrate.dealias = true
  if form == "forced" then s.forcing = { fields = "u, v, w", k = { 4, 12 }, power = 0.1 } end
  if form == "stirred" then s.forcing = { fields = "u, v, w", k = { 4, high }, power = 0.1, random = true, helicity = 0.5 } end
  if form == "neighbours" then s.lyapunov = { every = 1 / 256, size = 1e-4 } end
  if dt == "auto" then s.integrate.courant = 0.02 end
elseif form == "stirred_walls" then
  s.grid.x, s.forcing = "no_flux", { fields = "u", k = { 4, high }, power = 0.1, random = true }
elseif form == "padding" then
  s.rates = function(u, v, w, u_x, v_y) return -u * u_x, 0.1 * v_y * u, w end
  s.integrate.dealias = "padding"
elseif form == "flux" then
  s.flux = function(u, v, w) return u * v, 0, 0.1 * w, 0, v * w, 0, u, 0, v end
elseif form == "exact" then
  s.rates, s.integrate.scheme = nil, nil
end
return sim.diffusion(s)
LUA
alone=(--device cuda)
by=(--oversubscribe --gpus)
of() { run=("$SIM" run "$1.lua" --force); }

refused() { # refused CODE MESSAGE SET...
  local code=$1 message=$2
  shift 2
  expect "$code" "$message" "${run[@]}" -o refused "${by[@]}" 2 "${@/#/--set=}"
}

case $part in
  members)
    of members
    export SIM_COMM_PATH=staged # several times as fast where ranks share a GPU
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
    divided "3" form=padding
    ;;
  many) # more numbers than cuFFT is given at once: 20736 a member, and a call has 50 of them
    of members
    divided "3" kind=single members=64 n=160x128 steps=3
    export SIM_COMM_PATH=staged
    divided "2 5" members=64 n=160x128 steps=3 dt=auto
    divided "3" members=7 n=800x600 kind=single scheme=strang steps=3
    divided "2" members=64 n=160x128 steps=2 form=walls kind=single
    ;;
  slabs)
    of slabs
    export SIM_COMM_PATH=staged
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
    divided "3" form=padding n=12x16x10
    divided "3" form=exact
    ;;
  walls)
    of slabs
    export SIM_COMM_PATH=staged
    divided "2 3" form=walls_z kind=single
    divided "2" form=walls_xz dt=auto
    divided "3" form=duct
    divided "2" form=duct kind=single scheme=strang
    divided "3" form=box scheme=etdrk2
    divided "2" form=slopes kind=single dt=auto
    unset SIM_COMM_PATH
    divided "2" form=walls_z scheme=lie
    divided "7" form=duct n=16x6x7 steps=3
    ;;
  sides) # fields with series of their own
    of slabs
    export SIM_COMM_PATH=staged
    divided "2" form=sides kind=single
    divided "3" form=sides_duct dt=auto
    divided "2" form=mixed
    divided "3" form=mixed kind=single scheme=etdrk2
    divided "2 3" form=plates
    unset SIM_COMM_PATH
    divided "3" form=sides_duct kind=single
    ;;
  forced) # random forcing, and a second run
    of slabs
    export SIM_COMM_PATH=staged
    divided "2 3" form=stirred
    divided "2" form=stirred kind=single scheme=etd1
    divided "2" form=lyapunov
    divided "2 3" form=neighbours
    divided "7" form=stirred n=16x6x5 steps=3 high=5
    restarted form=lyapunov
    ;;
  sizes) # blocks and planes that ranks do not share evenly, ranks without any, batches that are not full
    of slabs
    divided "3" n=128x120x128 kind=single steps=2 form=flow # planes in several chunks
    divided "2" n=128x64x128 kind=single steps=2 form=plates
    divided "2" n=21x35x33 scheme=lie steps=3
    divided "7" n=16x6x5 steps=3 dt=auto
    SIM_COMM_PATH=staged divided "2 3" n=64x48x40 steps=2 form=derived
    SIM_COMM_DELAY=3000 divided "3" n=64x48x40 steps=2 kind=single
    ;;
  restarts)
    of members
    restarted kind=single scheme=strang members=7
    restarted form=derived dt=auto members=7
    of slabs
    restarted kind=single scheme=strang
    restarted form=derived dt=auto
    restarted form=stirred
    restarted form=neighbours
    restarted form=walls_z
    restarted form=sides_duct
    restarted form=duct kind=single
    ;;
  refused)
    of slabs
    expect 0 "transforms by cuFFT in slabs" "${run[@]}" --device cuda -o one
    refused 64 'this run goes on several GPUs with integrate.method = "slabs"' method=auto
    for form in stirred neighbours; do
      refused 64 'this run goes on several GPUs with integrate.method = "slabs"' form=$form method=auto
    done
    refused 69 'random `forcing` between walls is not on' form=stirred_walls
    expect 69 'random `forcing` between walls is not on' "${run[@]}" --device cuda -o refused --set form=stirred_walls
    refused 64 'this run goes on several GPUs with integrate.method = "slabs"' form=mixed method=auto
    refused 65 'integrate.method = "slabs" on a GPU needs more than one cell along each axis' n=16x17x16
    expect 0 "2 ranks, each " "$SIM" check slabs.lua --gpus 2
    expect 0 "2 ranks, each " "$SIM" check members.lua --gpus 2
    ;;
  *) fail "no part $part" ;;
esac
