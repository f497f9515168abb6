-- expect: 65 heat.conductivity: grains would give away their heat within a step: integrate.dt of at most 0.000
return sim.collision { -- a light grain of radius 1 may touch hundreds of the heavy small ones
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5}, density = 1 }, { radius = 0.06, position = {2, 2, 2}, density = 1000 } },
  contact   = { contact_time = 0.1 },
  heat      = { conductivity = 275, capacity = 1 },
  integrate = { dt = 1e-3, t_end = 1 },
}
