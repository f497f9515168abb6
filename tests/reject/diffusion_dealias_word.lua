-- expect: 65 diffusion_dealias_word.lua:6: integrate.dealias: expected true, false, "padding" or a number
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "etd1", dt = 0.1, t_end = 1, dealias = "yes" },
}
