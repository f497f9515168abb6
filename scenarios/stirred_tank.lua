-- A stirred tank, seen from above: a cross of two blades turns in the middle, and four baffles at the walls stop the fluid
-- from turning with it as one body. The table `bodies` has force and torque by length of the shaft, about the centre of each
-- body: the stirrer takes the power -(blade_tz + cross_tz) times its speed of turning. Blades are 1 long, their speed of
-- turning is 1, and a revolution takes 2 pi.

local re   = sim.param("re", 200, "Reynolds number of the tips: their speed, and the radius")
local n    = sim.param("n", 40, "cells across the stirrer")
local size = sim.param("size", 2, "width of the tank")

local thick, baffle = 0.2, 0.25                       -- of blades and baffles; length of baffles
local middle = size / 2
local function turning(t) return sim.min(t, 1) end   -- it begins softly

local function box(name, x, y, width, height, turning)
  return sim.block { name = name, low = {x - width / 2, y - height / 2, 0}, high = {x + width / 2, y + height / 2, 0}, turning = turning }
end

return sim.fluid {
  title     = "A stirred tank",
  precision = "single",
  grid      = { n = {math.floor(size * n + 0.5), math.floor(size * n + 0.5)}, size = {size, size}, boundary = "wall" },
  viscosity = 0.25 / re,
  speed     = 0.55,
  bodies    = {
    box("blade", middle, middle, 1, thick, turning), box("cross", middle, middle, thick, 1, turning),
    box("west", baffle / 2, middle, baffle, thick), box("east", size - baffle / 2, middle, baffle, thick),
    box("south", middle, baffle / 2, thick, baffle), box("north", middle, size - baffle / 2, thick, baffle),
  },
  integrate = { t_end = 12 },
  output    = { snapshots = "every 0.5", tables = "every 0.05" },
}
