-- expect: 65 structure: expected solenoidal or integrate.velocity, which name a field for each axis
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, noise = 1 }, { name = "v", D = 0.01, noise = 1 } },
  rates     = function(u, v) return -u, -v end,
  structure = {},
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
