-- expect: 65 option_steps_american.lua: steps: missing: payoffs[1], american, has its dates at steps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.american { type = "put", strike = 100 } },
}
