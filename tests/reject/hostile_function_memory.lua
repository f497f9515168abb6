-- expect: 65 hostile_function_memory.lua:5: the script used more than
return sim.nbody {
  bodies    = { sim.plummer { n = 10, mass = 1, radius = function(x)
    local t = ("x"):rep(2^20)
    for i = 1, 60 do t = t .. t end
  end } },
  gravity   = { softening = 0.02 },
  integrate = { dt = 1/256, t_end = 1 },
}
