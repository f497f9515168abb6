-- expect: 65 forcing.fields: expected names of fields, such as "u", got "u, q"
return sim.diffusion {
  grid      = { n = {16, 16}, size = {2 * math.pi, 2 * math.pi} },
  fields    = { { name = "u", D = 0.01, initial = 1 }, { name = "v", D = 0.01 } },
  rates     = function(u, v) return -u, -v end,
  forcing   = { fields = "u, q", k = {1, 2}, power = 1 },
  integrate = { scheme = "etdrk2", dt = 0.01, t_end = 1 },
}
