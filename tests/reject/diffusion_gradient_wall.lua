-- expect: 65 rates: take u_x, and x is not a periodic axis
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u, u_x) return -u * u_x end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
