"""Puts with early exercise under models with a random volatility, by finite differences of QuantLib (pip install
QuantLib): what test_random_volatility of option_early.c and option_early_parity know. Year of 360 days."""
import QuantLib as ql

today = ql.Date(1, 1, 2026)
ql.Settings.instance().evaluationDate = today
year = ql.Actual360()


def flat(rate):
    return ql.YieldTermStructureHandle(ql.FlatForward(today, rate, year))


def option(strike, days, dates):
    put = ql.PlainVanillaPayoff(ql.Option.Put, strike)
    return ql.VanillaOption(put, ql.BermudanExercise([today + days * k // dates for k in range(1, dates + 1)]))


def heston(spot, strike, rate, days, dates, v, kappa, theta, sigma, rho, grid):
    process = ql.HestonProcess(flat(rate), flat(0.0), ql.QuoteHandle(ql.SimpleQuote(spot)), v, kappa, theta, sigma, rho)
    out = option(strike, days, dates)
    out.setPricingEngine(ql.FdHestonVanillaEngine(ql.HestonModel(process), *grid))
    return out.NPV(), out.delta(), out.gamma()


def sabr(forward, strike, rate, days, dates, alpha, beta, nu, rho, grid):
    out = option(strike, days, dates)
    out.setPricingEngine(ql.FdSabrVanillaEngine(forward, alpha, beta, nu, rho, flat(rate), *grid))
    return out.NPV()


if __name__ == "__main__":
    for grid in (100, 200, 50), (200, 400, 100), (400, 600, 150):
        print(grid)
        for spot in 9, 10, 11:
            print("  Heston, 10 dates in 90 days", spot, heston(spot, 10, 0.1, 90, 10, 0.0625, 5, 0.16, 0.9, 0.1, grid))
        print("  Heston, 5 dates in a year", heston(100, 100, 0.05, 360, 5, 0.04, 1.5, 0.04, 0.6, -0.7, grid))
        print("  SABR, 5 dates in a year", sabr(100, 100, 0.05, 360, 5, 2.0, 0.5, 0.7, -0.4, grid))
