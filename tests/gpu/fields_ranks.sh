#!/usr/bin/env bash
# fields_ranks.sh PART: fields on several GPUs (on one, which ranks share, where there is one). Digests, tables, snapshots,
# slices and checkpoints have the bytes of one GPU, for each boundary and scheme, by peer pointers and through the host.
# PART: stores, grids, staged, outputs, restarts (with another number of ranks), refused.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/models/ranks_lib.sh"
part=${1:?which part}
need_gpu
export OMP_WAIT_POLICY=passive

cat >fields.lua <<'LUA'
local n      = sim.param("n", "256x256x256", "cells")
local scheme = sim.param("scheme", "lie", "scheme")
local along  = sim.param("along", "periodic periodic periodic", "boundaries")
local terms  = sim.param("terms", "one", "one, two, lift, function, decay")
local method = sim.param("method", "axes", "how steps are made")
local kind   = sim.param("kind", "single", "precision")
local steps  = sim.param("steps", 5, "steps of 1/64")
local each   = sim.param("each", 2, "steps between checkpoints")
local watched = sim.param("watched", "no", "rows that need whole fields") == "yes"
local files  = sim.param("files", "yes", "snapshots and checkpoints") == "yes"
local cells, size, walls = {}, {}, {}
for number in n:gmatch("%d+") do
  cells[#cells + 1], size[#size + 1] = tonumber(number), 1 + 0.1 * #cells
end
for wall in along:gmatch("[%a_]+") do walls[#walls + 1] = wall end
local function start(x, y, z) return 0.6 + 0.2 * math.sin(2 * math.pi * x) * math.cos(3 * y) - 0.1 * math.cos(4 * z) end
local u = { name = "u", D = 1e-3, axes = {1, 2, 1}, initial = start, noise = 0.01 }
local v = { name = "v", D = 2e-3, initial = function(x, y) return 0.2 * math.cos(2 * math.pi * y) end, noise = 0.01 }
local two = terms == "two"
if terms == "lift" then u.walls, u.initial = { 0.2, 0.9 }, 0.5 end
if terms == "decay" then u.decay = 0.3 end
return sim.diffusion {
  grid      = { n = cells, size = size, x = walls[1], y = walls[2], z = cells[3] and walls[3] or nil },
  fields    = two and { u, v } or { u }, precision = kind, seed = 7,
  rates     = two and function(u, v, x, y, z, t) return -u * v^2 + 0.1 * (1 - u) * math.cos(z + t), u * v^2 - 0.3 * v + 0.1 * y end
                   or function(u, x, y, z, t) return u - u^3 + 0.1 * math.cos(3 * x + 2 * y + z + t) end,
  integrate = { scheme = scheme, dt = 1/64, t_end = steps / 64, method = method },
  observe   = (terms == "function" or watched) and { most = { function(u) return u * u end, reduce = "max" } } or nil,
  probes    = watched and { {0.31, 0.52, 0.93}, {0.95, 1.05, 1.15} } or nil,
  spectrum  = watched and 20 or nil,
  output    = { snapshots = files and "every 3 steps" or "never", tables = "every 1 steps",
                checkpoint = files and "every " .. each .. " steps" or "never",
                slices = cells[3] and { { name = "cut", z = 0.4, when = "every 1 steps" } } or nil },
}
LUA
run=("$SIM" run fields.lua --force)
alone=(--device cuda)
by=(--oversubscribe --gpus)

refused() { # refused MESSAGE SET...
  local message=$1
  shift
  expect 64 "$message" "${run[@]}" -o refused "${by[@]}" 2 "${@/#/--set=}"
  [ "$(wc -l <output)" = 1 ] || fail "a refusal is told more than once: $*"
}

# ---- every number of ranks ----

case $part in
  stores)
    divided "2 3" n=256x256x256 steps=3
    grep -qF "exchange by peer pointers" output || fail "ranks on one GPU do not exchange by peer pointers"
    SIM_COMM_DELAY=3000 divided "2 3" n=256x256x256 terms=two steps=3
    divided "7" n=256x256x256 steps=3 # 38 rows each, but for the last one
    divided "9" n=256x256x256 steps=2 # by the copy engine: stores reach eight
    # A grid for which one GPU uses passes over axes by default.
    divided "2" n=256x256x256 "along=periodic no_flux periodic" method=auto steps=2
    ;;
  grids)
    divided "2" n=256x512x256 scheme=strang terms=function steps=3
    divided "3" n=512x256x256 terms=two scheme=strang steps=3
    divided "2" n=1024x256x256 "along=periodic no_flux periodic" terms=decay steps=3
    divided "3" n=256x256x1024 "along=no_flux fixed fixed" steps=3
    divided "2" n=256x1024x256 "along=periodic periodic fixed" terms=lift scheme=strang steps=3
    # Half of the lines is stored while the pass after the exchange takes the other one.
    divided "2 3" n=256x1024x1024 "along=periodic no_flux fixed" scheme=strang steps=3 files=no
    divided "2" n=256x1024x1024 terms=two steps=2 files=no
    ;;
  staged)
    export SIM_COMM_PATH=staged
    divided "2 3" n=256x256x256 steps=3
    grep -qF "exchange through host memory" output || fail "not staged"
    divided "2" n=256x256x512 terms=two scheme=strang "along=fixed no_flux periodic" steps=3
    ;;
  outputs) # rows that are computed from whole fields, and slices
    divided "2 3" n=256x256x256 watched=yes steps=3
    divided "2" n=256x256x256 watched=yes terms=two "along=no_flux periodic periodic" steps=3
    ;;
  restarts) # with another number of ranks, from steps of odd and of even numbers
    for each in 3 4; do
      set=(n=256x256x256 scheme=strang steps=12 "each=$each")
      expect 0 "" "${run[@]}" "${alone[@]}" -o whole "${set[@]/#/--set=}"
      expect 0 "" "${run[@]}" -o chain "${by[@]}" 2 "${set[@]/#/--set=}"
      equal whole chain "${set[*]}"
      for ranks in 1 3; do
        rm -- "$(checkpoints chain | tail -n 1)" # that of step 9 or 8 is left
        expect 0 "continues from checkpoint" "$SIM" resume chain "${by[@]}" $ranks
        equal whole chain "${set[*]}: 2 ranks, then $ranks"
      done
    done
    ;;
  refused) # and the passes that were asked for
    expect 0 "transforms by one pass an axis" "${run[@]}" --device cuda -o one --set n=256x256x256
    expect 0 "transforms by two passes" "${run[@]}" --device cuda -o one --set n=256x256x256 --set method=auto
    refused 'this run goes on several GPUs with integrate.method = "axes"' n=256x256x256 method=auto
    refused 'this run goes on several GPUs with integrate.method = "slabs"' n=256x256x256 kind=double method=auto
    refused 'this run goes on several GPUs with integrate.method = "slabs"' n=256x256x100 method=auto
    refused "needs three axes" n=256x1024
    expect 65 'integrate.method = "axes" on a GPU needs precision = "single"' "${run[@]}" --device cuda -o refused --set kind=double
    expect 0 "2 ranks, each " "$SIM" check fields.lua --gpus 2
    expect 0 "" "${run[@]}" -o many "${by[@]}" 2 --profile
    ;;
  *) fail "no part $part" ;;
esac
