-- Rayleigh and Benard: a fluid between a warm plate below and a cold one above, to both of which it sticks. Below the Rayleigh
-- number 1707.8 it is at rest and conducts the heat; above it rolls carry the heat. `nusselt_y_low` in the table `heat` is the
-- heat that the warm plate gives, over what the fluid at rest would conduct. Lengths are in heights, temperatures in the
-- difference of the plates, and times in that of free fall.

local Ra = sim.param("Ra", 2e4, "Rayleigh number")
local Pr = sim.param("Pr", 0.71, "Prandtl number: viscosity over diffusivity")
local n  = sim.param("n", 40, "cells in a height")
local t_end = sim.param("t_end", 40, "times of free fall")

local D = 1 / math.sqrt(Ra * Pr)

return sim.fluid {
  title     = "Rayleigh-Benard convection",
  grid      = { n = {2 * n, n}, size = {2, 1}, y = "wall" },
  viscosity = Pr * D,
  speed     = 0.5,
  heat      = {
    diffusivity = D, expansion = 1, gravity = {0, -1},
    y_low = 0.5, y_high = -0.5,
    initial = function(x, y) return 0.5 - y + 0.05 * math.cos(math.pi * x) * math.sin(math.pi * y) end,
  },
  integrate = { t_end = t_end },
  output    = { snapshots = "every 1", tables = "every 0.2" },
}
