-- expect: 65 sampling.sequence: steps times assets
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 5000, payoffs = { sim.european { strike = 100 } },
  sampling = { sequence = "sobol" },
}
