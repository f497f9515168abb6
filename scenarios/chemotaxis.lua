-- Cells that gather (Keller and Segel, with the room that cells take: Hillen and Painter, Adv. Appl. Math. 26, 2001).
-- They wander, and move up the gradient of an attractant c that they make: u_t = D lap u - div(chi u (1 - u) grad c),
-- c_t = lap c + u - c. An even mixture u = c = u0 breaks up by waves of (1 + k^2) D < chi u0 (1 - u0), and the clusters
-- merge slowly. A flux keeps the number of cells to rounding.

local u0, chi, D = sim.param("u0", 0.3, "share of the room that cells take"), 3, 0.2

return sim.diffusion {
  title     = "Cells that gather",
  grid      = { n = {96, 96}, size = {24, 24} },
  fields    = {
    { name = "u", D = D, noise = 0.01, initial = u0 },
    { name = "c", D = 1, decay = 1, initial = u0 },
  },
  flux      = function(u, c_x, c_y)
    local moved = chi * u * (1 - u)
    return moved * c_x, moved * c_y, 0, 0
  end,
  rates     = function(u) return 0, u end,
  integrate = { scheme = "etdrk4", rtol = 1e-4, t_end = 200 },
  output    = { snapshots = "every 10", tables = "every 2" },
}
