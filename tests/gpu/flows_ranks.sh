#!/usr/bin/env bash
# flows_ranks.sh PART: fluids on several GPUs, divided by planes of the last axis. Digests, tables, snapshots, slices and
# checkpoints have the bits of one GPU, for each lattice, precision and kind of side, with bodies and their forces, and for
# numbers of ranks that divide nothing.
# PART: boxes, bodies, sizes, restarts (with another number of ranks), unstable, refused.
# shellcheck disable=SC2154
. "${BASH_SOURCE[0]%/*}/flows_lib.sh"

cat >flow.lua <<'LUA'
local form  = sim.param("form", "periodic", "periodic, walls, channel, open, profile, slip or bodies")
local kind  = sim.param("kind", "double", "precision")
local n     = sim.param("n", "40x24x20", "cells")
local steps = sim.param("steps", 12, "steps")
local eddy  = sim.param("eddy", 0.0, "Smagorinsky's constant")
local full  = sim.param("full", 0, "1: D3Q27")
local late  = sim.param("late", 0, "1: derived fields, a spectrum, running means and gates, too")
local push  = sim.param("push", 0.0, "acceleration of a periodic box")
local cells, size = {}, {}
for number in n:gmatch("%d+") do cells[#cells + 1], size[#size + 1] = tonumber(number), tonumber(number) end
local rank, w = #cells, 2 * math.pi
local function of(x, y, z) return rank == 3 and {x, y, z} or {x, y} end
local low, high = rank == 3 and "z_low" or "y_low", rank == 3 and "z_high" or "y_high"
local function wave(x, y, z)
  local a, b, c = w * x / size[1], w * y / size[2], rank == 3 and w * z / size[3] or 0
  return 0.03 * math.sin(a + 1) * math.cos(b + c), 0.02 * math.cos(a) * math.sin(c + b), 0.02 * math.sin(a + b) * math.cos(c)
end
local s = {
  grid         = { n = cells, size = size, boundary = "periodic" },
  viscosity    = 0.02, speed = 0.1, precision = kind,
  lattice      = full == 1 and "D3Q27" or nil,
  turbulence   = eddy > 0 and { smagorinsky = eddy } or nil,
  initial      = rank == 3 and function(x, y, z) return wave(x, y, z) end or
                 function(x, y) local u, v = wave(x, y, 0) return u, v end,
  probes       = { {3.2, 4.1, rank == 3 and 2.5 or 0}, {30.2, size[2] / 2, rank == 3 and size[3] - 0.5 or 0}, {7.3, size[2] - 0.4, rank == 3 and size[3] / 2 or 0} },
  average      = late == 1 and { from = 1, every = 2 } or nil,
  gates        = late == 1 and { { axis = "x", at = 7.3 }, { axis = "y", at = 0.7 * size[2], x = { 2.2, 30.1 } },
                                 rank == 3 and { axis = "z", at = 0.5 * size[3] } or nil } or nil,
  spectrum     = late == 1 and form == "periodic" and 6 or nil,
  integrate    = { dt = 0.5, t_end = steps * 0.5 },
  output       = { snapshots = "every 6 steps", tables = "every 4 steps", checkpoint = "every 6 steps",
                   slices = { { name = "cut", x = 0.4 * size[1], when = "every 3 steps" } },
                   fields = late == 1 and "vorticity, q, shear" or nil },
}
if push > 0 then s.acceleration = of(push, push / 2, 0) end
if form == "walls" then -- all sides, one of which moves
  s.grid.boundary = "wall"
  s.sides = { [high] = { velocity = of(0.05, 0, 0) } }
  s.acceleration = of(1e-5, 2e-5, -1e-5)
elseif form == "channel" then -- walls across the divided axis alone
  s.grid[rank == 3 and "z" or "y"], s.acceleration, s.steady = "wall", of(1e-5, 0, 0), 1e-9
elseif form == "open" then -- along the divided axis
  s.grid.boundary = "wall"
  s.sides = { [low] = { velocity = rank == 3 and {0, 0, 0.03} or {0, 0.03} }, [high] = { pressure = 0 } }
elseif form == "across" then -- and across it
  s.grid.boundary, s.grid.x = "periodic", "wall"
  s.sides = { x_low = { velocity = of(0.03, 0, 0) }, x_high = { pressure = 0, straight = true } }
elseif form == "profile" then -- functions of the place
  s.grid.boundary, s.grid.x, s.grid.y = "periodic", "wall", rank == 3 and "wall" or "periodic"
  s.sides = { x_low = { profile = rank == 3 and function(y, z) return 0.03 + 0.01 * math.sin(z), 0.001 * y, 0 end or
                                  function(y) return 0.03 + 0.01 * math.sin(y), 0 end }, x_high = { pressure = 0 } }
elseif form == "timed" then -- of the time too
  s.grid.boundary, s.grid[rank == 3 and "z" or "y"] = "periodic", "wall"
  s.sides = { [high] = { profile = rank == 3 and function(x, y, t) return 0.03 * math.sin(t) * math.cos(y), 0.01 * math.sin(t), 0 end or
                                   function(x, t) return 0.03 * math.sin(t) * math.cos(x), 0.01 * math.sin(t) end },
              [low] = { pressure = function(t) return 1e-4 * math.sin(t) end, straight = true } }
  if rank == 3 then
    s.grid.x = "wall"
    s.sides.x_low = { profile = function(y, z, t) return 0.001 * math.cos(t), 0.01 * math.sin(z + t), 0 end }
  end
elseif form == "slip" then
  s.grid.boundary = "slip"
elseif form == "bodies" or form == "between" then -- balls across planes of several ranks, one around the box
  local last = rank == 3 and 3 or 2
  local middle = of(size[1] / 2, size[2] / 2, rank == 3 and size[3] / 2 or 0)
  local edge = of(size[1] / 4, rank == 3 and size[2] / 2 or 0.6, 0.6)
  if form == "between" then s.grid[rank == 3 and "z" or "y"], edge[last] = "wall", 5 end
  s.acceleration = of(1e-5, 0, 0)
  s.bodies = { sim.ball { point = {middle[1], middle[2], rank == 3 and middle[3] or 0}, radius = 4.7, spin = 0.004,
                              reference = { area = 70, length = 9.4 } },
               sim.ball { point = {edge[1], edge[2], rank == 3 and edge[3] or 0}, radius = 3.3 } }
end
return sim.fluid(s)
LUA

refused() { # refused WHAT FILE
  expect 64 "sim.fluid with $1 runs on one GPU only: give --device cpu, or leave out --ranks" "$SIM" run "$2" --force -o refused "${by[@]}" 2
}

case $part in
  boxes)
    divided "2 3" kind=single n=64x24x20 late=1
    SIM_COMM_PATH=staged divided "2 3" form=walls kind=single n=64x24x20
    divided "2" form=channel eddy=0.1
    export SIM_COMM_PATH=staged # several times as fast where ranks share a GPU
    divided "3" form=open kind=single
    divided "2" form=across full=1
    divided "3" form=profile late=1
    divided "2" form=slip kind=single full=1
    divided "3" form=timed kind=single late=1
    divided "2" form=timed n=48x40
    divided "2 3" n=48x40 kind=single late=1
    divided "3" n=48x40 form=walls
    divided "2" n=48x40 form=profile
    ;;
  bodies)
    divided "2 3" form=bodies kind=single n=64x24x20
    export SIM_COMM_PATH=staged
    divided "2" form=bodies late=1
    divided "3" form=between kind=single full=1
    divided "2" form=between n=64x24x20
    divided "3" form=bodies n=48x40 kind=single
    divided "2" form=between n=48x40
    ;;
  sizes) # ranks with a plane or two, planes of many blocks of sums, a delay
    export SIM_COMM_PATH=staged
    divided "5" n=33x17x5 form=bodies kind=single steps=3
    divided "7" n=40x9x11 form=walls steps=3
    divided "4" n=32x8x9 kind=single steps=3
    divided "2" n=160x96x18 kind=single form=bodies steps=3
    SIM_COMM_PATH=peer SIM_COMM_DELAY=3000 divided "3" n=64x24x20 steps=6 kind=single form=bodies
    ;;
  restarts)
    restarted kind=single form=bodies n=64x24x20
    restarted form=channel late=1
    restarted form=timed kind=single
    restarted n=48x40 form=walls kind=single
    ;;
  unstable) # the cell of another rank, and its step
    same_end "Mach number [^:]*in cell.*" kind=single push=5e-3 steps=300
    ;;
  refused)
    head='local s = { grid = { n = {16, 16, 16}, size = {16, 16, 16} }, speed = 0.1, integrate = { dt = 0.5, t_end = 2 }, '
    while IFS='|' read -r what text; do
      printf '%s%s }\nif s.sides then s.grid.x = "wall" end\nreturn sim.fluid(s)\n' "$head" "$text" >lacks.lua
      refused "$what" lacks.lua
    done <<'TEXT'
precision = "half"|viscosity = 0.02, collision = "trt", precision = "half"
grains|viscosity = 0.02, grains = { { radius = 3, position = {8, 8, 8}, density = 2 } }, contact = { contact_time = 5, restitution = 0.9 }
TEXT
    expect 64 "GPUs divide the 4 planes of the last axis: expected at most 4 ranks" "${run[@]}" -o refused "${by[@]}" 5 --set n=40x24x4
    expect 0 "2 ranks, each " "$SIM" check flow.lua --gpus 2
    ;;
  *) fail "no part $part" ;;
esac
