-- expect: 65 grain 1 (id, from 0) is too fast: its velocity is {0, -1e+20, 0}: expected less than a side of a periodic box
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "periodic" },
  grains    = { { radius = 0.5, position = {2, 5, 5} }, { radius = 0.5, position = {7, 5, 5}, velocity = {0, -1e20, 0} } },
  contact   = { law = "hertz", young = 1000, poisson = 0.3 },
  integrate = { dt = 1e-3, t_end = 1 },
}
