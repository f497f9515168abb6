-- expect: 65 values_box_hermite4.lua:6: integrate.scheme: hermite4 needs the time derivative of forces, which a periodic box does not give: expected "leapfrog" or "yoshida4"
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  box       = { size = 1 },
  integrate = { scheme = "hermite4", dt = 1/64, t_end = 1 },
}
