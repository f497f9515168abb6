-- expect: 65 structure.separations: expected 2^(separations - 1) cells within half of 16, got 5
return sim.diffusion {
  solenoidal = "u, v",
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, noise = 1 }, { name = "v", D = 0.01, noise = 1 } },
  rates     = function(u, v) return -u, -v end,
  structure = { separations = 5 },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
