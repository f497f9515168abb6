# Runs a scenario whose rate is in rate.txt, which the case has written.
# shellcheck shell=bash
. "${BASH_SOURCE[0]%/*}/small.bash"
cat >f.lua <<'LUA'
return sim.option {
  assets   = { { spot = 100, vol = 0.2 } },
  rate     = "rate.txt",
  maturity = 1,
  payoffs  = { sim.european { strike = 100 } },
  sampling = { paths = 1024 },
}
LUA
exec "$SIM" run f.lua
