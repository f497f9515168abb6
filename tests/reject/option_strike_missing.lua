-- expect: 65 payoffs[1].strike: missing: exercise price
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { } },
}
