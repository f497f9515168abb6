/* The scheme of the ways with transforms in registers. */
#include "kernels/diffusion/cuda/work.h"

/* ETDRK4 with three arrays instead of four: d is not stored between the third and fourth stage, because d = e^(c/2)
 * a + Q (2 N(b) - N(u)) = e^c u + R N(u) + 2 Q N(b), R = Q (e^(c/2) - 1). */
enum { NOW, U, N, M };
enum { E, HALF, Q, F1, F2, F3, R };
enum { NONE = -1 };
static const diffusion_method etdrk4 = {
    .name = "etdrk4",
    .arrays = 3,
    .tables = 7,
    .order = 4,
    .stages = 4,
    .at = {0, 0.5, 0.5, 1},
    .stage = {{1, 1, 2, {{N, 1, {{0, NONE, NOW}}}, {NOW, 2, {{1, HALF, U}, {1, Q, N}}}}},
              {1, 1, 2, {{M, 1, {{0, NONE, NOW}}}, {NOW, 2, {{1, HALF, U}, {1, Q, M}}}}},
              {1,
               1,
               4,
               {{NOW, 1, {{0, NONE, NOW}}},
                {M, 2, {{1, NONE, M}, {1, NONE, NOW}}},
                {NOW, 3, {{1, E, U}, {1, R, N}, {2, Q, NOW}}},
                {U, 3, {{1, E, U}, {1, F1, N}, {2, F2, M}}}}},
              {1, 1, 3, {{NOW, 1, {{0, NONE, NOW}}}, {U, 2, {{1, NONE, U}, {1, F3, NOW}}}, {NOW, 1, {{1, NONE, U}}}}}},
};

static bool is_short(const diffusion_parameters *p) {
  return p->integrate.scheme == DIFFUSION_ETDRK4 && !diffusion_estimates(p);
}

const diffusion_method *diffusion_cuda_method_of(const diffusion_parameters *p) {
  return is_short(p) ? &etdrk4 : diffusion_method_of(p);
}

unsigned diffusion_cuda_dropped(const diffusion_parameters *p, int stage) {
  return is_short(p) && stage == 2 ? 1u << M : 0;
}
