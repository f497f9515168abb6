-- expect: 65 grain 0 (id, from 0) is too fast: its velocity is {0, 0, 1e+300}
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { { radius = 0.5, position = {5, 5, 5}, velocity = {0, 0, 1e300} } },
  contact   = { law = "linear", stiffness = 1000 },
  integrate = { dt = 1e-3, t_end = 1 },
  output    = { tables = "never", snapshots = "never" },
}
