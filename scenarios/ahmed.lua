-- A car in a wind tunnel with a moving ground: Ahmed's body (SAE paper 840300) from an STL file, whose back slants by 25
-- degrees. The table `bodies` has its drag, lift (fz) and the torque that lifts its nose. The body is 1.044 long, 0.389 wide
-- and 0.288 high; the coefficient of drag is 2 fx/(speed^2 0.389 0.288). At so low a Reynolds number it is far above that of
-- a road car; `sim check` says what a higher one takes.

local re = sim.param("re", 300, "Reynolds number of the height")
local n  = sim.param("n", 9, "cells in the height of the body")

local dx = 0.288 / n
local function cells(length) return math.floor(length / dx + 0.5) end
local nx, ny, nz = cells(3), cells(0.9), cells(0.75)

return sim.fluid {
  title      = "A body from an STL file in a wind tunnel",
  precision  = "single",
  grid       = { n = {nx, ny, nz}, size = {nx * dx, ny * dx, nz * dx}, boundary = "wall", y = "slip" },
  viscosity  = 0.288 / re,
  speed      = 1.5,
  sides      = { x_low = { velocity = {1, 0, 0} }, x_high = { pressure = 0, sponge = 0.3 },
                 z_low = { velocity = {1, 0, 0} }, z_high = { velocity = {1, 0, 0} } },
  bodies     = { sim.stl { name = "car", path = "../data/ahmed.stl", shift = {0.7, ny * dx / 2, 0.11} } },
  turbulence = { smagorinsky = 0.1 },
  initial    = function() return 1, 0, 0 end,
  integrate  = { t_end = 2 },
  output     = { snapshots = "every 0.5", tables = "every 0.02" },
}
