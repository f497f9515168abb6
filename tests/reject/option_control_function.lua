-- expect: 65 sampling.control: expected
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return path.last[1] end, sampling = { control = "black_scholes" },
}
