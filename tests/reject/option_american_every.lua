-- expect: 65 option_american_every.lua:4: payoffs[1]: every: expected a divisor of the 10 steps, got 3
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 10,
  payoffs = { sim.american { strike = 100, type = "put", every = 3 } },
}
