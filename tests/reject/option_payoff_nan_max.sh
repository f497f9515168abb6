#!/usr/bin/env bash
# expect: 80 payoff is NaN on path 1, where last[1] = 95.0538
cat >s.lua <<'LUA'
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return sim.max(0, math.log(path.last[1] - 100)) end,
}
LUA
exec "$SIM" run s.lua
