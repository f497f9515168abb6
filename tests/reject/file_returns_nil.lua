-- expect: 65 file_returns_nil.lua:2: returns nil, expected sim.
return nil
