-- Three wind turbines seen from above, in metres and seconds, as actuator discs: where a rotor stands, the air is slowed by
-- a force that grows as the square of its velocity. By momentum theory an induction factor a slows the air in the disc to
-- (1 - a) of the wind and far behind it to (1 - 2a): the force by mass and area is 2 a/(1 - a) u^2. `a` = 0: no rotors.

local n = sim.param("n", 100, "cells across the wind")
local a = sim.param("a", 0.25, "induction factor; momentum theory holds up to 0.4")

local wind, diameter = 8, 80
local dx    = 800 / n
local thick = 2 * dx -- of a disc
local rotors = { {400, 440}, {880, 360}, {1360, 440} }

local function force(x, y, ux, uy)
  local inside = 0
  for _, r in ipairs(rotors) do
    inside = inside + sim.where(sim.lt(sim.abs(x - r[1]), thick / 2), sim.where(sim.lt(sim.abs(y - r[2]), diameter / 2), 1, 0), 0)
  end
  return -inside * 2 * a / (1 - a) / thick * ux * sim.abs(ux), 0 * uy
end

return sim.fluid {
  title     = "Wakes of three wind turbines",
  precision = "single",
  grid      = { n = {5 * n / 2, n}, size = {2000, 800}, x = "wall", y = "slip" },
  viscosity = 5, -- of the eddies of the air
  density   = 1.2,
  speed     = 12,
  sides     = { x_low = { velocity = {wind, 0} }, x_high = { pressure = 0, sponge = 200 } },
  initial   = function(x, y) return wind, 0 end,
  force     = force,
  probes    = { {400, 440, 0}, {720, 440, 0} },
  integrate = { t_end = 250 },
  output    = { snapshots = "every 50", tables = "every 10" },
}
