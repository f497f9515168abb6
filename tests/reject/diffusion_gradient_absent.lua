-- expect: 65 rates: take u_z, and z is no axis of the grid
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u, u_z) return -u * u_z end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
