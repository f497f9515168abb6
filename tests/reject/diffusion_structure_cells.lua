-- expect: 65 structure: expected cells of the same length along all axes, got 0.05 along y and 0.0625
return sim.diffusion {
  solenoidal = "u, v",
  grid      = { n = {16, 20}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, noise = 1 }, { name = "v", D = 0.01, noise = 1 } },
  rates     = function(u, v) return -u, -v end,
  structure = {},
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
