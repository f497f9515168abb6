-- expect: 65 option_american_basis.lua:4: payoffs[1]: basis: of one asset: expected "auto", or "payoff", powers of its price alone
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, basis = "ordered" } },
}
