-- expect: 65 orbit_parabola.lua:3: bodies[2].orbit: expected a > 0 with e < 1, an ellipse, or a < 0 with e > 1, a hyperbola; got a = 1, e = 1
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, orbit = { a = 1, e = 1 } } },
  integrate = { dt = 0.01, t_end = 1 },
}
