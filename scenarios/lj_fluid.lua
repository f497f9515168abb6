-- A Lennard-Jones fluid: atoms on a lattice melt and become a liquid of one temperature, whose structure, pressure and
-- diffusion the tables tell. Units: depth of the potential, distance at which it is zero, mass of an atom; k T too is an
-- energy. At T = 1 and density 0.8 the potential energy of an atom is -5.54 with the tail beyond the cutoff, and
-- the pressure 1.0.

local cells   = sim.param("cells", 6, "cubic cells of 4 atoms along a side")
local density = sim.param("density", 0.8, "atoms in a unit of volume")
local T       = sim.param("T", 1.0, "temperature")
local n       = 4 * cells^3

return sim.nbody {
  title      = "Lennard-Jones fluid",
  precision  = "mixed",
  bodies     = { sim.lattice { kind = "fcc", cells = cells, temperature = 1.8 * T } }, -- half becomes potential energy
  box        = { size = (n / density)^(1/3), boundary = "periodic" },
  pair       = function(r2)
    local s = 1 / r2^3
    return 4 * (s^2 - s)
  end,
  cutoff     = 2.5,
  thermostat = { kind = "nose_hoover", temperature = T, time = 0.5 },
  rdf        = { bins = 60, radius = math.min(4, 0.5 * (n / density)^(1/3)) },
  integrate  = { scheme = "leapfrog", dt = 0.005, t_end = 6 },
  output     = { snapshots = "every 1", tables = "every 50 steps" },
}
