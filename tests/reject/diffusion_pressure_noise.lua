-- expect: 65 pressure: expected fields without fluctuation, whose pressure is as rough as white noise
return sim.diffusion {
  grid       = { n = {8, 8}, size = {1, 1} },
  fields     = { { name = "u", D = 1, noise = 1, fluctuation = 1 }, { name = "v", D = 1, fluctuation = 1 } },
  solenoidal = "u, v",
  rates      = function(u, v) return v, u end,
  integrate  = { scheme = "etdrk4", dt = 0.1, t_end = 1 },
  output     = { fields = "pressure" },
}
