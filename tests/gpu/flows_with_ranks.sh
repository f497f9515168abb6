#!/usr/bin/env bash
# flows_with_ranks.sh PART: fluids on several GPUs with what flows_ranks.sh leaves out: heat, functions for force and
# viscosity, sponges, bodies that move, populations. Digests, tables, snapshots and checkpoints have the bits of one GPU.
# PART: heat, functions, sponges, moving, populations, restarts (with another number of ranks), unstable.
# shellcheck disable=SC2154
. "${BASH_SOURCE[0]%/*}/flows_lib.sh"

cat >flow.lua <<'LUA'
local has   = sim.param("has", "heat", "what the flow has, in words")
local kind  = sim.param("kind", "double", "precision")
local n     = sim.param("n", "40x24x20", "cells")
local steps = sim.param("steps", 10, "steps")
local full  = sim.param("full", 0, "1: D3Q27")
local push  = sim.param("push", 0.0, "a force that ends the run")
local cells, size, words = {}, {}, {}
for number in n:gmatch("%d+") do cells[#cells + 1], size[#size + 1] = tonumber(number), tonumber(number) end
for word in has:gmatch("%a+") do words[word] = true end
local rank, nx, ny, nz = #cells, size[1], size[2], size[3] or 0
local function of(x, y, z) return rank == 3 and {x, y, z} or {x, y} end
local last = rank == 3 and "z" or "y"
local s = {
  grid       = { n = cells, size = size, boundary = "periodic" },
  viscosity  = 0.02, speed = words.moving and 0.2 or 0.1, precision = kind, lattice = full == 1 and "D3Q27" or nil,
  turbulence = words.eddies and { smagorinsky = 0.1 } or nil,
  initial    = rank == 3 and function(x, y, z) return 0.02 * math.sin(2 * math.pi * y / ny + z), 0.01 * math.cos(z), 0.01 * math.sin(x) end or
               function(x, y) return 0.02 * math.sin(2 * math.pi * y / ny), 0.01 * math.sin(x) end,
  probes     = { {3.2, 4.1, rank == 3 and 2.5 or 0}, {30.2, ny / 2, rank == 3 and nz - 0.5 or 0} },
  average    = words.late and not words.moving and { from = 1, every = 2 } or nil,
  gates      = words.late and { { axis = "x", at = 7.3 }, { axis = last, at = 0.6 * size[rank] } } or nil,
  integrate  = { dt = 0.5, t_end = steps * 0.5 },
  output     = { snapshots = "every 5 steps", tables = "every 3 steps", checkpoint = "every 5 steps",
                 slices = { { name = "cut", x = 0.4 * nx, when = "every 3 steps" } },
                 fields = words.late and "vorticity, q, shear" or nil },
}
if words.walls then s.grid[last] = "wall" end
if words.inlet or words.outlets then -- sponges beside the divided axis, and before a side of it
  s.grid.x = "wall"
  s.sides = { x_low = { velocity = of(0.02, 0, 0) }, x_high = { pressure = 0, sponge = 11 } }
  if words.outlets then s.grid[last], s.sides[last .. "_high"] = "wall", { pressure = 0, sponge = 9 } end
elseif words.through then
  s.grid[last] = "wall"
  s.sides = { [last .. "_low"] = { velocity = rank == 3 and {0, 0, 0.02} or {0, 0.02}, sponge = 8 }, [last .. "_high"] = { pressure = 0, sponge = 9 } }
end
if words.timed then -- an inlet whose flow grows, which sponges follow
  s.sides.x_low = { profile = rank == 3 and function(y, z, t) return 0.02 + 0.001 * t + 0.001 * math.sin(z), 0, 0 end or
                              function(y, t) return 0.02 + 0.001 * t + 0.001 * math.sin(y), 0 end }
end
if words.heat then
  s.heat = { diffusivity = 0.03, expansion = 1, gravity = of(0, -1e-4, -2e-4), reference = 0.5,
             initial = rank == 3 and function(x, y, z) return 0.5 + 0.2 * math.sin(x) * math.cos(z + y) end or
                       function(x, y) return 0.5 + 0.2 * math.sin(x) * math.cos(y) end }
  if words.walls then s.heat[last .. "_low"], s.heat[last .. "_high"] = 1, not words.flux and 0 or nil end
  if words.flux then s.heat.flux = { [last .. "_high"] = 0.001 } end
  if s.sides and s.sides.x_low then s.heat.x_low = 0.4 end
  if s.sides and s.sides[last .. "_low"] then s.heat[last .. "_low"] = 0.4 end
end
if words.force then
  s.force = rank == 3 and function(x, y, z, t, ux, uy, uz) return 1e-4 * math.sin(z + t) - 0.01 * ux + push * t * z / nz, 1e-3 * uz - 2e-5 * y, 1e-5 * x - 1e-3 * uy end or
            function(x, y, t, ux, uy) return 1e-4 * math.sin(y + t) - 0.01 * ux + push * t * y / ny, 1e-3 * ux - 2e-5 * y end
  if words.heat then s.force = rank == 3 and function(x, y, z, t, ux, uy, uz, T) return 1e-4 * T * z, 1e-3 * uz, 1e-4 * T end or
                               function(x, y, t, ux, uy, T) return 1e-4 * T * y, 1e-4 * T end end
end
if words.law then s.viscosity = words.heat and function(shear, T) return 0.02 * math.exp(-0.3 * T) / (1 + shear) end or
                                function(shear) return 0.02 + 0.01 / (1 + 10 * shear) end end
if words.trt then s.collision = "trt" end
if words.pushed then s.acceleration = of(1e-5, 2e-5, -1e-5) end
if words.porous then s.resistance = rank == 3 and function(x, y, z) return 0.01 + 0.005 * math.sin(z + x) end or function(x, y) return 0.01 + 0.005 * math.sin(y) end end
if words.steady then s.steady = 1e-9 end
if words.box then -- walls and a lid; slip sides; an inlet and an outlet along the divided axis
  s.grid.boundary, s.sides = "wall", { [last .. "_high"] = { velocity = of(0.05, 0, 0) } }
elseif words.slip then
  s.grid.boundary = "slip"
elseif words.open then
  s.grid[last] = "wall"
  s.sides = { [last .. "_low"] = { velocity = rank == 3 and {0, 0, 0.03} or {0, 0.03} }, [last .. "_high"] = { pressure = 0, straight = words.straight } }
end
local ball = { point = {nx / 2, ny / 2, rank == 3 and nz / 2 or 0}, radius = 4.7, spin = 0.004, reference = { area = 70, length = 9.4, direction = of(1, 0, 0) } }
local small = { point = {nx / 4, rank == 3 and ny / 2 or 5, rank == 3 and 5.1 or 0}, radius = 3.3 }
if words.bodies or words.moving then
  if words.heat then ball.temperature, small.flux = 1, 0.001 end
  if words.moving then -- one leaves its planes, around the box; one turns; one goes to and fro
    ball.velocity = { 0.02, 0.05, rank == 3 and 0.11 or 0 }
    small.motion = rank == 3 and function(t) return 0, 0.05 * math.sin(t), 0.1 * math.cos(t) end or function(t) return 0.05 * math.sin(t), 0.1 * math.cos(t) end
  end
  s.bodies = { sim.ball(ball), sim.ball(small) }
  if words.moving and rank == 3 then
    s.bodies[3] = sim.block { low = {32, 8, 7}, high = {35, 15, 14}, axis = {1, 0, 0}, velocity = {0, 0, -0.1},
                              turning = function(t) return 0.01 * math.cos(t) end }
  end
end
return sim.fluid(s)
LUA

case $part in
  heat)
    divided "2 3" "has=heat walls" kind=single n=64x24x20
    export SIM_COMM_PATH=staged # several times as fast where ranks share a GPU
    divided "3" "has=heat walls bodies flux late"
    divided "2" "has=heat walls bodies eddies" kind=single n=64x24x20
    divided "3" "has=heat" full=1
    divided "2 3" "has=heat walls bodies flux" n=48x40 kind=single
    divided "3" "has=heat inlet bodies eddies late"
    divided "2" "has=heat through bodies eddies" kind=single
    divided "3" "has=heat inlet" n=48x40
    ;;
  functions)
    divided "2 3" "has=force" kind=single n=64x24x20
    export SIM_COMM_PATH=staged
    divided "3" "has=force walls bodies late"
    divided "2" "has=force heat walls" kind=single
    divided "3" "has=law bodies" kind=single
    divided "2" "has=law force heat walls late"
    divided "3" "has=force heat eddies bodies walls"
    divided "2" "has=law force" full=1
    divided "3" "has=law force bodies walls" n=48x40
    ;;
  sponges)
    divided "2 3" "has=inlet bodies" kind=single n=64x24x20
    export SIM_COMM_PATH=staged
    divided "3" "has=through eddies"
    divided "2" "has=outlets" kind=single
    divided "3" "has=inlet timed bodies late"
    divided "2" "has=inlet force law"
    divided "3" "has=outlets timed" n=48x40
    divided "2" "has=through force" n=48x40 kind=single
    ;;
  moving)
    divided "2 3" "has=moving" kind=single n=64x24x20 steps=30
    export SIM_COMM_PATH=staged
    divided "3" "has=moving walls late" steps=20
    divided "2" "has=moving force law" kind=single
    divided "3" "has=moving inlet eddies" steps=20
    divided "2" "has=moving" full=1
    divided "3" "has=moving walls" n=48x40 steps=30
    divided "5" "has=moving" n=40x24x9 steps=5
    ;;
  populations)
    divided "2 3" "has=trt" kind=single n=64x24x20
    export SIM_COMM_PATH=staged
    divided "3" "has=trt walls pushed bodies late steady"
    divided "2" "has=trt box" kind=single
    divided "3" "has=trt slip porous late" full=1
    divided "2" "has=trt open bodies late" kind=single
    divided "3" "has=trt open straight" n=40x24x9
    divided "3" "has=trt walls bodies late" n=48x40 kind=single
    divided "2" "has=trt open straight steady" n=48x40
    divided "5" "has=trt box bodies" n=33x17x5 steps=4
    expect 64 "GPUs divide the 9 planes of the last axis: expected at most 4 ranks" "${run[@]}" -o refused "${by[@]}" 5 \
      --set "has=trt open straight" --set n=40x24x9
    ;;
  restarts)
    restarted "has=heat walls bodies eddies" kind=single
    restarted "has=force law heat walls"
    restarted "has=inlet heat eddies timed"
    restarted "has=moving force walls" kind=single
    restarted "has=through force" n=48x40 kind=single
    restarted "has=trt walls bodies late" kind=single
    restarted "has=trt open"
    ;;
  unstable) # the cell of another rank, and its step
    same_end "in cell {.*" has=force push=5e-4 steps=400
    ;;
  *) fail "no part $part" ;;
esac
