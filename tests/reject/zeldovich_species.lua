-- expect: 65 zeldovich_species.lua:5: bodies[1].species: expected 1 to 63 letters, digits or _, got "dark matter"
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8, species = "dark matter" } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
