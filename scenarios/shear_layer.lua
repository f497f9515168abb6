-- A shear layer (Kelvin and Helmholtz): two streams that pass each other roll up into vortices, which merge. The fluid
-- slips along the walls y = 0 and 1, where v is 0 and u and the dye s have no slope: `sides` give each field its own
-- walls, and `solenoidal` keeps (u, v) without divergence, so that no pressure is needed. Lengths are in distances of
-- the walls, times in what the streams pass each other by one. What is lost of the energy is dissipated: d energy/dt = -dissipation.

local Re = sim.param("Re", 5000, "Reynolds number of the distance of the walls")
local n  = sim.param("n", 128, "cells between the walls")
local nu, width = 1 / Re, 0.03

return sim.diffusion {
  title      = "Shear layer between walls",
  grid       = { n = {2 * n, n}, size = {2, 1}, y = "no_flux" },
  fields     = {
    { name = "u", D = nu, initial = function(y) return sim.tanh((y - 0.5) / width) / 2 end },
    { name = "v", D = nu, sides = { y_low = { value = 0 }, y_high = { value = 0 } },
      initial = function(x, y)
        return 0.02 * (math.sin(2 * math.pi * x) + 0.5 * math.sin(math.pi * x + 1)) * math.exp(-((y - 0.5) / 0.1)^2)
      end },
    { name = "s", D = nu, initial = function(y) return (1 + sim.tanh((y - 0.5) / width)) / 2 end },
  },
  solenoidal = "u, v",
  flux       = function(u, v, s) return u * u, u * v, u * v, v * v, u * s, v * s end,
  observe    = {
    energy      = { function(u, v) return (u^2 + v^2) / 2 end, reduce = "mean" },
    dissipation = { function(u_x, u_y, v_x, v_y) return nu * (u_x^2 + u_y^2 + v_x^2 + v_y^2) end, reduce = "mean" },
    mixing      = { function(s) return 4 * s * (1 - s) end, reduce = "mean" },
  },
  integrate  = { scheme = "etdrk2", dt = "auto", courant = 0.4, t_end = 10, dealias = true },
  output     = { snapshots = "every 0.25", tables = "every 0.1" },
}
