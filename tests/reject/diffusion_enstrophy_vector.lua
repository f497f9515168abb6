-- expect: 65 enstrophy: expected a solenoidal vector
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, noise = 1 }, { name = "v", D = 0.01, noise = 1 } },
  rates     = function(u, v) return -u, -v end,
  enstrophy = 8,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
