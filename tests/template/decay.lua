-- Points that decay to the origin.
local n = sim.param("n", 100, "points")
return sim.template {
  n         = n,
  rate      = 0.5,
  integrate = { dt = 1/64, t_end = 2 },
  output    = { snapshots = "ends", tables = "every 0.25", checkpoint = "every 16 steps" },
}
