-- expect: 65 integrate.dt: expected a number, or the scheme etdrk2 or etdrk4, got "auto" with strang
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return u end,
  integrate = { scheme = "strang", dt = "auto", t_end = 1 },
}
