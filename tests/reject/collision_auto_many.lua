-- expect: 65 collision_auto_many.lua: integrate.dt: "auto" is 3.2
return sim.collision {
  box       = { size = {10, 10, 10}, origin = {-5, -5, -5}, z_low = "open", z_high = "open" },
  hill      = { omega = 1 },
  grains    = { { radius = 0.5, position = {1, 1, 0} }, { radius = 0.5, position = {-1, 1, 0} } },
  contact   = { stiffness = 1e20, restitution = 0.5 },
  integrate = { t_end = 1e6 },
}
