-- expect: 65 rates: takes the pressure, which follows from rates: observe and output.fields have it
return sim.diffusion {
  grid       = { n = {8, 8}, size = {1, 1} },
  fields     = { { name = "u", D = 1, noise = 1 }, { name = "v", D = 1 } },
  solenoidal = "u, v",
  rates      = function(u, pressure) return pressure, u end,
  integrate  = { scheme = "etdrk4", dt = 0.1, t_end = 1 },
}
