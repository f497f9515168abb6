#!/usr/bin/env bash
# expect: 80 payoffs[1]: its payments are too large for their error
cat >s.lua <<'LUA'
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, sampling = { paths = 2^17 },
  payoffs = { sim.digital { strike = 100, cash = 1e300 } },
}
LUA
exec "$SIM" run s.lua
