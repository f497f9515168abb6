-- expect: 65 rates: take u_xy, and y is not a periodic axis
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, y = "no_flux" },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u, u_yy, u_xy) return -u * u_yy - u_xy end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
