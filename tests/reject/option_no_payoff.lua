-- expect: 65 payoffs: expected a payoff
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
}
