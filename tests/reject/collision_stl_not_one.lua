-- expect: 65 not an STL file
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open" },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  contact   = { contact_time = 0.01 },
  walls     = { sim.stl { path = "collision_stl_not_one.lua" } },
  integrate = { t_end = 0.1 },
}
