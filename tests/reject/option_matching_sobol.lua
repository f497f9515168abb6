-- expect: 65 sampling.moment_matching: expected sequence = "philox"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
  sampling = { sequence = "sobol", moment_matching = true },
}
