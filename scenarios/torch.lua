-- A steel plate that a torch heats as it goes round, and that cools to the air at its edges and faces: at an edge
-- h (T - T_air) = -k dT/dn, a wall that mixes value and slope.

local n     = sim.param("n", 96, "cells along y")
local h     = sim.param("h", 500, "heat transfer at the edges, in W/(m^2 K)")
local k     = 15                      -- conductivity, in W/(m K)
local air   = 20                      -- in degrees Celsius
local turn  = 2 * math.pi / 150       -- the torch goes round in 150 s
local edge  = { robin = { a = h, b = k, g = h * air } }

return sim.diffusion {
  title     = "A plate, a torch and the air",
  grid      = { n = {3*n/2, n}, size = {0.3, 0.2}, boundary = "no_flux" },
  fields    = {
    { name = "T", D = 4e-6, initial = air, sides = { x_low = edge, x_high = edge, y_low = edge, y_high = edge } },
  },
  rates     = function(T, x, y, t)
    local dx, dy = x - 0.15 - 0.12*math.cos(turn*t), y - 0.1 - 0.075*math.sin(turn*t)
    return 25*math.exp(-(dx^2 + dy^2)/0.01^2) - 0.002*(T - air)       -- the torch; both faces
  end,
  integrate = { scheme = "etdrk4", dt = 1, t_end = 300 },
  observe   = {
    hottest = { function(T) return T end, reduce = "max" },
    mean    = { function(T) return T end, reduce = "mean" },
  },
  output    = { snapshots = "every 10", tables = "every 2" },
}
