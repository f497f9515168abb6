-- expect: 80 payoffs[1]: the upper bound is not finite
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 2,
  payoffs = { sim.american { exercise = function(path) return sim.max(100 - path.last[1], 0) + 1e-9*sim.sqrt(210 - path.last[1]) end,
                             fit_paths = 1024, upper_paths = 64, inner_paths = 2^15 } },
  sampling = { paths = 2^10 },
}
