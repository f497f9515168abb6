-- expect: 65 sampling.paths: expected at most 2^48 with generator = "mrg32k3a"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
  sampling = { generator = "mrg32k3a", paths = 2^49 },
}
