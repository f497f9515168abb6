-- expect: 65 derived.p: depends on u and v, whose walls are of different kinds
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { a = 1 } } } },
    { name = "v", D = 1, sides = { x_low = { robin = { a = 2 } } } },
  },
  derived   = { p = function(u, v) return u + v end },
  rates     = function(p) return p, p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
