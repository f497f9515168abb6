-- expect: 66 line 6: walls[1].path: none.stl: No such file
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {4, 5, 5} } },
  contact   = { stiffness = 100 },
  walls     = { sim.stl { path = "none.stl" } },
  integrate = { dt = "auto", t_end = 1 },
}
