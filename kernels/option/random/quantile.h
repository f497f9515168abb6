/* The normal quantile: minus that of u is a rational function of r = sqrt(-2 ln u) - 4 on 2^-33 <= u <= 1/2, a minimax
 * fit; error below 4e-8 in fp32, 4e-17 in fp64. Coefficients from the constant on. Device code too. */
#ifndef OPTION_RANDOM_QUANTILE_H
#define OPTION_RANDOM_QUANTILE_H

#define OPTION_QUANTILE_ABOVE_SINGLE 3.40119263f, 2.85147922f, 0.832824584f, 0.100011900f, 0.00411618367f
#define OPTION_QUANTILE_BELOW_SINGLE 1, 0.516901913f, 0.0836985535f, 0.00411369822f
#define OPTION_QUANTILE_ABOVE_DOUBLE                                                                                   \
  3.40119265614466553, 5.26767158971190685, 3.50499661087718886, 1.3139181724102311, 0.305185783528034445,             \
      0.0453716697967339077, 0.0042873874815456198, 0.000245189694179974309, 7.52248354165740332e-6,                   \
      9.01582263249077142e-8
#define OPTION_QUANTILE_BELOW_DOUBLE                                                                                   \
  1, 1.22729754146912727, 0.640981966898808167, 0.185424228025463457, 0.032331588210766086, 0.00345113435526522813,    \
      0.000217079308373235091, 7.16267132818580846e-6, 9.01545133036418322e-8

#endif
