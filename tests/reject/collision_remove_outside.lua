-- expect: 65 collision_remove_outside.lua:6: remove[2]: no grain can be there: -3 to 0 in z is outside the box, 0 to 10
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "periodic", z_low = "outlet", z_high = "open" },
  grains    = { { radius = 1, position = {4, 5, 5} } },
  contact   = { stiffness = 100 },
  remove    = { { low = {0, 0, 12}, high = {10, 10, 15} }, { low = {0, 0, -3}, high = {10, 10, 0} } },
  integrate = { dt = "auto", t_end = 1 },
}
