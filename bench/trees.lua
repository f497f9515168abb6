-- Fast multipoles on bodies of a file: bench/nbody_trees.py.
local steps = sim.param("steps", 4, "steps of the run")
return sim.nbody {
  precision = sim.param("precision", "mixed", "of the forces"),
  bodies    = { sim.from_file { path = sim.param("file", "", "CSV") } },
  gravity   = { solver = "fmm", error = sim.param("error", 1e-4, "median error asked for") },
  integrate = { dt = 2^-30, t_end = steps * 2^-30 },
  output    = { snapshots = "never", tables = "never", checkpoint = "never" },
}
