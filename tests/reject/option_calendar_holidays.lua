-- expect: 65 option_calendar_holidays.lua:2: sim.calendar: holidays: expected a date of 1900 to 2199 such as "2026-03-02", got "25.12.2026"
local c = sim.calendar { today = "2026-03-02", holidays = { "25.12.2026" } }
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
