-- Coarsening by diffusion along interfaces (Cahn and Hilliard with the mobility M = 1 - c^2): c_t = div(M grad mu), mu = c^3 - c -
-- eps^2 lap c. A flux keeps the mass to rounding whatever M is. The Laplacian of c is a derived field, whose derivatives
-- make the third ones of c. The linear part holds what is stiff, and the flux the rest.

local eps, stiff = 0.02, 0.02^2

return sim.diffusion {
  title     = "Coarsening with a mobility",
  grid      = { n = {128, 128}, size = {1, 1} },
  fields    = { { name = "c", hyper = stiff, noise = 0.05, initial = -0.2 } },
  derived   = { l = function(k2, c) return -k2 * c end },
  -- hyper is -stiff lap lap c, the divergence of -stiff grad l
  flux      = function(c, c_x, c_y, l_x, l_y)
    local m = sim.max(1 - c^2, 0)
    return -m * ((3 * c^2 - 1) * c_x - eps^2 * l_x) - stiff * l_x, -m * ((3 * c^2 - 1) * c_y - eps^2 * l_y) - stiff * l_y
  end,
  observe   = { energy = function(c, c_x, c_y) return (c^2 - 1)^2 / 4 + eps^2 * (c_x^2 + c_y^2) / 2 end },
  integrate = { scheme = "etdrk4", t_end = 0.5, rtol = 1e-4 },
  output    = { snapshots = "every 0.02", tables = "every 0.005" },
}
