-- expect: 65 file_returns_two.lua:2: returns 2 values, expected one: sim.
return sim.nbody {}, sim.nbody {}
