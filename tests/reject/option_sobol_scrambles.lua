-- expect: 65 sampling.scrambles: expected 16, 32 or 64, got 24
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
  sampling = { sequence = "sobol", scrambles = 24 },
}
