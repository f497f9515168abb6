-- expect: 65 observe.a.reduce: expected one of "sum", "mean", "min", "max" (nearest is "mean"), got the string "median"
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 1, initial = 1 } },
  observe   = { a = { function(u) return u end, reduce = "median" } },
  integrate = { t_end = 1 },
}
