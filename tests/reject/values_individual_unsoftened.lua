-- expect: 65 values_individual_unsoftened.lua:4: integrate.steps: expected "shared", got "individual", which needs gravity.softening > 0
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  integrate = { steps = "individual", dt = 1/64, t_end = 1 },
}
