-- expect: 65 nbody_recentre_box.lua:4: recentre: expected open space: a periodic box has no centre of mass to shift
return sim.nbody {
  bodies    = { { mass = 1, position = { 0.2, 0.5, 0.5 } }, { mass = 1, position = { 0.7, 0.5, 0.5 } } },
  recentre  = true,
  box       = { size = 1 },
  integrate = { dt = 0.01, t_end = 0.02 },
}
