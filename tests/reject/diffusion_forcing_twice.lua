-- expect: 65 forcing.fields: expected names of fields that differ, got "u, u"
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return -u end,
  forcing   = { fields = "u, u", k = {6, 7}, power = 1, random = true },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
