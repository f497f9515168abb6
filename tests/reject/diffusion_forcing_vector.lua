-- expect: 65 forcing.fields: expected all of "u, v" or none, because the sum of a part of a solenoidal vector has a divergence
return sim.diffusion {
  grid      = { n = {16, 16}, size = {2 * math.pi, 2 * math.pi} },
  fields    = { { name = "u", D = 0.01, initial = 1 }, { name = "v", D = 0.01 } },
  solenoidal = "u, v",
  rates     = function(u, v) return -u, -v end,
  forcing   = { fields = "u", k = {1, 2}, power = 1 },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
