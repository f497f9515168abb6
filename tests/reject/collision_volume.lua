-- expect: 65 box.size: the volume is out of the range of double precision: use other units
return sim.collision {
  box       = { size = {1e200, 1e200, 1e200}, boundary = "open" },
  grains    = { { radius = 0.5, position = {5, 5, 5} } },
  contact   = { law = "linear", stiffness = 1000 },
  integrate = { dt = 1e-3, t_end = 1 },
}
