-- expect: 65 lattice_cells.lua:3: bodies[1].cells: missing: cells along a side of the box
return sim.nbody {
  bodies    = { sim.lattice { temperature = 1 } },
  box       = { size = 5 },
  integrate = { dt = 1/64, t_end = 1 },
}
