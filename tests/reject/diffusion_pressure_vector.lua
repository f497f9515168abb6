-- expect: 65 observe.p: pressure needs solenoidal, which names a velocity
return sim.diffusion {
  grid       = { n = {8, 8}, size = {1, 1} },
  fields     = { { name = "u", D = 1, noise = 1 }, { name = "v", D = 1 } },
  rates      = function(u, v) return v, u end,
  integrate  = { scheme = "etdrk4", dt = 0.1, t_end = 1 },
  observe    = { p = function(pressure) return pressure end },
}
