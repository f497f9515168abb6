-- expect: 65 flux: expected 2 results (the flux of each field along each axis), got 1
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  flux      = function(u, u_x) return -u * u_x end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
