-- Few bodies of a file, G = 1: bench/nbody_few.py.
local dt = sim.param("dt", 0.0, "step; 0: adaptive")
return sim.nbody {
  bodies    = { sim.from_file { path = sim.param("file", "", "CSV") } },
  integrate = { scheme = sim.param("scheme", "ias15", "ias15 or whfast"), dt = dt > 0 and dt or "adaptive",
                t_end = sim.param("t_end", 1.0, "end") },
  output    = { snapshots = "ends", tables = "ends", checkpoint = "never" },
}
