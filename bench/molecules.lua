-- A Lennard-Jones fluid of density 0.8 and temperature 1, cut at 2.5, without a thermostat.
--   sim bench bench/molecules.lua --set cells=20
local cells = sim.param("cells", 20, "cubic cells of 4 atoms along a side")
local n     = 4 * cells^3
return sim.nbody {
  precision = "double",
  bodies    = { sim.lattice { cells = cells, temperature = 1.6 } },
  box       = { size = (n / 0.8)^(1/3) },
  pair      = function(r2) local s = 1 / r2^3 return 4 * (s^2 - s) end,
  cutoff    = 2.5,
  integrate = { dt = 0.004, t_end = sim.param("t_end", 1.2, "end") },
  output    = { snapshots = "never", tables = "ends", checkpoint = "never" },
}
