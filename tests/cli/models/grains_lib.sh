# Sourced by the tests of grains on ranks: writes grains.lua, whose parameter `case` says what is tested, and funnel.stl.
# shellcheck shell=bash

# A pyramid around the grains, with its tip below: four triangles.
cat >funnel.stl <<'STL'
solid funnel
facet normal 0 0 1
outer loop
vertex -6 -6 5
vertex 6 -6 5
vertex 0 0 -1
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 6 -6 5
vertex 6 6 5
vertex 0 0 -1
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 6 6 5
vertex -6 6 5
vertex 0 0 -1
endloop
endfacet
facet normal 0 0 1
outer loop
vertex -6 6 5
vertex -6 -6 5
vertex 0 0 -1
endloop
endfacet
endsolid funnel
STL

# Dense and fast, so that grains collide, and change their cell and their rank, within a few steps.
cat >grains.lua <<'LUA'
local case  = sim.param("case", "gas", "what is tested")
local n     = sim.param("n", 150, "grains")
local kind  = sim.param("kind", "single", "precision")
local steps = sim.param("steps", 60, "steps")
local dt    = sim.param("dt", 0.02, "step; 0.02 moves a grain by a fiftieth of its diameter")
local hot   = sim.param("hot", 1, "temperature of the grains")
local long  = sim.param("length", 60, "of a gas, or of the box around a cloud")
local mass  = 6 / math.pi -- density of spheres of mass 1
local dry   = { law = "linear", contact_time = 1, restitution = 0.7 }
local rough = { law = "linear", contact_time = 1, restitution = 0.7, friction = 0.5, rolling_friction = 0.05 }
local function all(more)
  local s = {
    precision = kind,
    contact   = rough,
    integrate = { dt = dt, t_end = steps * dt },
    output    = { snapshots = "every " .. steps // 2 .. " steps", tables = "every 20 steps",
                  checkpoint = "every " .. steps // 3 .. " steps" },
  }
  for key, value in pairs(more) do s[key] = value end
  return sim.collision(s)
end
local function spheres(more)
  local g = { n = n, density = mass, temperature = hot }
  for key, value in pairs(more or {}) do g[key] = value end
  if not g.radii and not g.radius then g.radius = 0.5 end
  return sim.random_spheres(g)
end
if case == "gas" or case == "mixed" or case == "elastic" then -- the fixed-point solver, for slower grains
  return all { box = { size = {long, 5, 5}, boundary = "periodic" },
               grains = { spheres { temperature = hot / 4 },
                          spheres { n = 20, radius = case == "mixed" and 0.6 or 0.5, temperature = hot / 4 } },
               integrate = { dt = 0.004, t_end = steps * 0.004 },
               contact = { law = "linear", contact_time = 0.1, restitution = case == "elastic" and 1 or 0.7 } }
elseif case == "cloud" then -- in a corner of a large box
  return all { box = { size = {long, 20, 20}, boundary = "periodic" }, integrate = { dt = 0.004, t_end = steps * 0.004 },
               grains = { spheres { low = {1, 1, 1}, high = {8, 8, 8}, temperature = hot / 4 } }, contact = dry }
elseif case == "bed" then
  return all { box = { size = {14, 6, 20}, boundary = "wall", z_high = "open" }, gravity = {0.1, 0, -1},
               grains = { spheres { low = {0, 0, 0}, high = {14, 6, 8} } },
               contact = { law = "hertz", young = 800, poisson = 0.3, restitution = 0.5, friction = 0.5 } }
elseif case == "sizes" then -- three classes of radii
  return all { box = { size = {14, 8, 8}, boundary = "periodic" },
               grains = { spheres { radii = {0.2, 0.5} }, spheres { n = 8, radius = 1.2 } } }
elseif case == "shear" then
  return all { box = { size = {9, 9, 6}, boundary = "periodic", shear_rate = 1 }, grains = { spheres { n = 2 * n } },
               profile = { axis = "y", bins = 5 } }
elseif case == "ring" then -- Hill's equations, self-gravity, restitution by speed
  local side = n > 1000 and long or 9
  return all { box = { size = {side, side, 9}, z_low = "open", z_high = "open" }, hill = { omega = 1 },
               grains = { spheres { n = 2 * n } }, self_gravity = { G = 0.1, error = 1e-2, step = 7 * dt },
               contact = { law = "linear", contact_time = 1, friction = 0.5,
                           restitution_law = function(speed) return sim.exp(-0.2 * speed) end } }
elseif case == "flow" then -- inlets, outlets, a gate, cones, two materials; grains come from 100 steps on
  return all { box = { size = {12, 12, 24}, origin = {-6, -6, -4}, boundary = "open", z_low = "outlet" },
               grains = { spheres { n = n // 4, low = {-2, -2, -2}, high = {2, 2, 3.5}, material = "glass" } },
               walls = { sim.cone { point = {0, 0, 0}, axis = {0, 0, 1}, length = 3, radius = 2, end_radius = 5 },
                         sim.cylinder { point = {0, 0, 3}, axis = {0, 0, 1}, radius = 5, material = "steel" } },
               insert = { sim.inlet { rate = 20, radii = {0.4, 0.5}, density = mass, low = {-3, -3, 8},
                                      high = {3, 3, 12}, velocity = {0, 0, -2} } },
               gates = { { point = {0, 0, -1}, normal = {0, 0, -1} } }, gravity = {0, 0, -3} }
elseif case == "mesh" then -- a mesh that turns, and a plane that moves
  return all { box = { size = {12, 12, 12}, origin = {-6, -6, -2}, boundary = "open" }, gravity = {0, 0, -1},
               grains = { spheres { n = n // 4, low = {-2, -2, 2}, high = {2, 2, 6} } },
               walls = { sim.stl { path = "funnel.stl", spin = 0.5, axis = {0, 0, 1} },
                         sim.plane { point = {0, 0, 7}, normal = {0, 0, -1},
                                     motion = function(t) return 0, 0, -0.5 * math.cos(t) end } } }
elseif case == "named" then -- laws by name, heat, and a lid that holds a force
  return all { box = { size = {14, 6, 20}, boundary = "wall", z_high = "open" }, gravity = {0.1, 0, -1},
               grains = { spheres { low = {0, 0, 0}, high = {14, 6, 8} } },
               walls = { sim.plane { point = {0, 0, 8}, normal = {0, 0, -1}, temperature = 9, servo = { force = 50, speed = 1 } } },
               integrate = { dt = dt / 2, t_end = steps * dt / 2 },
               heat = { conductivity = 0.1, capacity = 1, temperature = function(x) return x end },
               contact = { law = "hertz", young = 800, poisson = 0.3, restitution = 0.5, friction = 0.5,
                           tangential = "mindlin_rescale", cohesion = { model = "jkr", surface_energy = 0.2 },
                           rolling = { model = "sds", coefficient = 0.1, stiffness = 20 } } }
elseif case == "clumps" then -- rods across sides that are periodic, and loose grains, on a floor
  local side = n > 300 and long or 14
  return all { box = { size = {side, 8, 20}, boundary = "periodic", z_low = "wall", z_high = "open" },
               gravity = {0.3, 0.1, -1}, contact = { law = "linear", stiffness = 50, restitution = 0.6, friction = 0.5 },
               grains = { sim.clumps { n = n // 3, density = mass, temperature = hot, low = {0, 0, 0}, high = {side, 8, 9},
                                       spheres = { {-0.5, 0, 0, 0.4}, {0.1, 0.1, 0, 0.5}, {0.6, 0, 0.2, 0.3} } },
                          spheres { n = n // 5, low = {0, 0, 0}, high = {side, 8, 9} } } }
elseif case == "rods" then -- clumps alone, in a mesh that turns, below a plane that holds a force
  return all { box = { size = {12, 12, 12}, origin = {-6, -6, -2}, boundary = "open" }, gravity = {0, 0, -1},
               contact = { law = "linear", stiffness = 50, restitution = 0.6, friction = 0.5 },
               grains = { sim.clumps { n = n // 16, density = mass, temperature = hot, low = {-2, -2, 3}, high = {2, 2, 6.5},
                                       spheres = { {-0.3, 0, 0, 0.4}, {0.3, 0.1, 0, 0.4} } } },
               walls = { sim.stl { path = "funnel.stl", spin = 0.5, axis = {0, 0, 1} },
                         sim.plane { point = {0, 0, 7}, normal = {0, 0, -1}, servo = { force = 20, speed = 1 } } } }
elseif case == "drain" then -- an outlet that grains of one rank alone reach
  return all { box = { size = {14, 6, 20}, boundary = "wall", z_high = "open" }, gravity = {0.1, 0, -1},
               grains = { spheres { low = {0, 0, 0}, high = {14, 6, 8} } },
               remove = { { low = {12, 0, 0}, high = {14, 6, 20} } },
               contact = { law = "hertz", young = 800, poisson = 0.3, restitution = 0.5, friction = 0.5 } }
elseif case == "pile" then -- more grains remain than memory is planned for, as if all flowed through; from 600 steps on
  return all { box = { size = {8, 8, 14}, boundary = "wall", z_high = "open" }, gravity = {0, 0, -1},
               grains = { spheres { n = n // 4, low = {0, 0, 0}, high = {8, 8, 4} } },
               integrate = { dt = dt / 2, t_end = steps * dt / 2 },
               contact = { law = "hertz", young = 800, poisson = 0.3, restitution = 0.5, friction = 0.5 },
               insert = { sim.inlet { rate = 20, radii = {0.4, 0.5}, density = mass, low = {0, 0, 8}, high = {8, 8, 12},
                                      velocity = {0, 0, -10} } },
               remove = { { low = {0, 0, 13}, high = {8, 8, 14} } } }
elseif case == "merger" then -- grains that become one, also across the cuts
  return all { box = { size = {12, 12, 12}, boundary = "periodic" }, merge = { when = "touch" },
               grains = { spheres { radius = 0.4, temperature = 4 * hot }, spheres { n = 4, radius = 0.8 } } }
elseif case == "melt" then -- the same in a ring with self-gravity
  return all { box = { size = {9, 9, 9}, z_low = "open", z_high = "open" }, hill = { omega = 1 }, grains = { spheres { radius = 0.3 } },
               self_gravity = { G = 0.1, error = 1e-2, step = dt }, merge = { when = "touch" } }
elseif case == "laws" then -- functions of the scenario
  return all { box = { size = {9, 7, 7}, boundary = "periodic" }, grains = { spheres() },
               external = function(x, y, z, t) return 0.1 * (x - 4)^2 * (1 + 0.5 * math.sin(t)) end,
               contact = { law = "own", contact_time = 1, friction = 0.3, force = function(overlap, rate, radius, mass)
                 return 60 * overlap * mass + 2 * mass * rate end } }
end
LUA
