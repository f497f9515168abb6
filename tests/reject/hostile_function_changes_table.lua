-- expect: 65 hostile_function_changes_table.lua:2: bodies[1].radius: expected a number, got a function
local group = { n = 10, mass = 1 }
local bodies = { sim.plummer(group) }
function group.radius(x) group.mass, group.n, bodies[1] = nil, nil, x return x end
return sim.nbody {
  bodies    = bodies,
  gravity   = { softening = 0.02 },
  integrate = { dt = 1/256, t_end = 1 },
}
