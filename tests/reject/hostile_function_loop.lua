-- expect: 65 hostile_function_loop.lua:5: the script used more than 0.3 s of processor time
-- args: --lua-seconds 0.3
return sim.nbody {
  bodies    = { sim.plummer { n = 10, mass = 1, radius = function(x)
    while true do end
  end } },
  gravity   = { softening = 0.02 },
  integrate = { dt = 1/256, t_end = 1 },
}
