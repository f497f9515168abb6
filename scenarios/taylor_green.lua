-- Taylor and Green's vortices in three dimensions: a smooth flow breaks up into small eddies. The velocity has no
-- divergence, so that the pressure, which is never computed, only removes the part of the rates that has one. The rates are
-- velocity times vorticity, which is a derived field: -i k times the velocity is a curl. The dissipation of energy, 2 nu
-- enstrophy, is greatest at t = 9 for a Reynolds number of 1600 (on 256^3 cells and more); here it is 30.

local n  = sim.param("n", 32, "cells along an axis")
local re = sim.param("re", 30, "Reynolds number")

return sim.diffusion {
  title      = "Vortices of Taylor and Green",
  grid       = { n = {n, n, n}, size = {2 * math.pi, 2 * math.pi, 2 * math.pi} },
  fields     = {
    { name = "u", D = 1 / re, initial = function(x, y, z) return math.sin(x) * math.cos(y) * math.cos(z) end },
    { name = "v", D = 1 / re, initial = function(x, y, z) return -math.cos(x) * math.sin(y) * math.cos(z) end },
    { name = "w", D = 1 / re },
  },
  solenoidal = "u, v, w",
  derived    = {
    a = function(ky, kz, v, w) return 0, ky * w - kz * v end,
    b = function(kz, kx, u, w) return 0, kz * u - kx * w end,
    c = function(kx, ky, u, v) return 0, kx * v - ky * u end,
  },
  rates      = function(u, v, w, a, b, c) return v * c - w * b, w * a - u * c, u * b - v * a end,
  observe    = {
    energy    = { function(u, v, w) return (u^2 + v^2 + w^2) / 2 end, reduce = "mean" },
    enstrophy = { function(a, b, c) return (a^2 + b^2 + c^2) / 2 end, reduce = "mean" },
    helicity  = { function(u, v, w, a, b, c) return u * a + v * b + w * c end, reduce = "mean" },
  },
  integrate  = { scheme = "etdrk4", dt = 0.05, t_end = 10, dealias = true },
  output     = { snapshots = "every 1", tables = "every 0.1" },
}
