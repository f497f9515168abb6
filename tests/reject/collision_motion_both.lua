-- expect: 65 expected one of velocity and motion
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open" },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  contact   = { contact_time = 0.01 },
  walls     = { sim.plane { point = {0, 0, 0}, normal = {0, 0, 1}, velocity = {0, 0, 1}, motion = function(t) return 0, 0, t end } },
  integrate = { t_end = 0.1 },
}
