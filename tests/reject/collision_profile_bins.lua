-- expect: 65 profile.bins: missing: number of slices
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6 },
  profile   = { axis = "z" },
  integrate = { t_end = 1 },
}
