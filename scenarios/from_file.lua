-- Bodies from a file: a small cluster in a CSV file, and the same file turned upside down, on a collision course.
-- An openPMD snapshot of an earlier run works the same way: its bodies of `species` are read.

local file = "../data/cluster.csv"       -- relative to this scenario

return sim.nbody {
  title  = "Two clusters from one file",
  bodies = {
    sim.from_file { path = file, position = {-2, 0, 0}, velocity = { 0.2,  0.1, 0} },
    sim.from_file { path = file, position = { 2, 0, 0}, velocity = {-0.2, -0.1, 0}, rotation = {180, 0, 0} },
  },
  gravity   = { softening = 0.05 },
  integrate = { scheme = "leapfrog", dt = 1/64, t_end = 20 },
  output    = { snapshots = "every 0.5", tables = "every 0.25" },
}
