-- Blood in a vessel with a narrow place, in millimetres, milligrams and seconds: its viscosity falls with the shear rate,
-- here by the law of Carreau with the numbers of Cho and Kensey (Biorheology 28 (1991) 241): 56 mPa s at rest and 3.45 where
-- it is sheared fast. `newtonian` = 1 takes the latter everywhere: the wake behind the narrow place is then longer.

local n         = sim.param("n", 32, "cells across the vessel")
local newtonian = sim.param("newtonian", 0, "1: the viscosity of fast shear everywhere")

local density = 1.06
local fast, rest, time, power = 3.45 / density, 56 / density, 3.313, 0.3568
local function carreau(shear) return fast + (rest - fast) * (1 + (time * shear)^2)^((power - 1) / 2) end
local function inlet(x, y) return 15 * y * (4 - y), 0 end -- 60 mm/s in the middle

return sim.fluid {
  title     = "Blood behind a narrow place",
  precision = "single",
  grid      = { n = {6 * n, n}, size = {24, 4}, boundary = "wall" },
  viscosity = newtonian == 1 and fast or carreau,
  density   = density,
  speed     = 150,
  sides     = { x_low = { profile = inlet }, x_high = { pressure = 0 } },
  bodies    = { sim.ball { name = "lower", point = {6, -1, 0}, radius = 2 },
                sim.ball { name = "upper", point = {6, 5, 0}, radius = 2 } },
  initial   = function(x, y) return inlet(x, y) end,
  integrate = { t_end = 1 },
  output    = { snapshots = "every 0.05", tables = "every 0.01" },
}
