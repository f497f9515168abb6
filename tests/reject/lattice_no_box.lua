-- expect: 65 lattice_no_box.lua:3: bodies[1]: sim.lattice fills a periodic box: expected box = { size }, got no box
return sim.nbody {
  bodies    = { sim.lattice { cells = 3 } },
  integrate = { dt = 1/64, t_end = 1 },
}
