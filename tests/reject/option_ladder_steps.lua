-- expect: 65 option_ladder_steps.lua:4: payoffs[1]: ladder.time: this payoff observes prices at the steps, which come nearer with the maturity: expected dates of its own
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.asian { strike = 100 } },
  ladder = { time = { 0.1 } },
}
