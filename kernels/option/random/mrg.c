#include "kernels/option/random/mrg.h"

#include <string.h>

static const uint64_t modulus[2] = {4294967087u, 4294944443u};
/* Matrices that advance each component by one number. */
static const uint32_t one[2][9] = {{0, 1, 0, 0, 0, 1, 4294967087u - 810728u, 1403580u, 0},
                                   {0, 1, 0, 0, 0, 1, 4294944443u - 1370589u, 0, 527612u}};

/* out = a b mod m; out may alias a or b. */
static void multiply(const uint32_t a[9], const uint32_t b[9], uint64_t m, uint32_t out[9]) {
  uint32_t c[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      uint64_t sum = 0;
      for (int k = 0; k < 3; k++) sum += (uint64_t)a[3 * i + k] * b[3 * k + j] % m;
      c[3 * i + j] = (uint32_t)(sum % m);
    }
  memcpy(out, c, sizeof c);
}

/* Powers base^(value << 8 byte) for each byte and value; base becomes its power 2^56. */
static void make_powers(uint32_t base[2][9], uint32_t out[OPTION_MRG_BYTES][256][2][9]) {
  for (int byte = 0; byte < OPTION_MRG_BYTES; byte++)
    for (int part = 0; part < 2; part++) {
      for (int i = 0; i < 9; i++) out[byte][0][part][i] = i % 4 == 0;
      for (int value = 1; value < 256; value++)
        multiply(out[byte][value - 1][part], base[part], modulus[part], out[byte][value][part]);
      multiply(out[byte][255][part], base[part], modulus[part], base[part]);
    }
}

/* cuRAND's way to derive a state from a seed. */
static void make_seed(uint64_t seed, uint32_t out[6]) {
  const uint64_t x[2] = {(uint32_t)seed ^ 0x55555555u, (uint32_t)(seed >> 32) ^ 0xAAAAAAAAu};
  for (int i = 0; i < 6; i++) {
    const uint64_t m = modulus[i / 3];
    out[i] = seed == 0 ? 12345 : (uint32_t)(x[i % 2] % m * 12345 % m);
  }
}

void option_mrg_make(uint64_t seed, option_mrg *out) {
  uint32_t base[2][9];
  memcpy(base, one, sizeof base);
  make_seed(seed, out->seed);
  make_powers(base, out->offset); /* to 2^56 */
  for (int square = 8 * OPTION_MRG_BYTES; square < 76; square++)
    for (int part = 0; part < 2; part++) multiply(base[part], base[part], modulus[part], base[part]);
  make_powers(base, out->path);
}

static inline void skip(const uint32_t matrix[2][9], uint32_t state[6]) {
  uint32_t next[6];
  for (int i = 0; i < 6; i++) {
    const int part = i / 3;
    const uint32_t *row = matrix[part] + 3 * (i % 3), *s = state + 3 * part;
    const uint64_t m = modulus[part];
    next[i] = (uint32_t)(((uint64_t)row[0] * s[0] % m + (uint64_t)row[1] * s[1] % m + (uint64_t)row[2] * s[2] % m) % m);
  }
  memcpy(state, next, sizeof next);
}

static void skip_bytes(const uint32_t table[OPTION_MRG_BYTES][256][2][9], uint64_t n, int from, uint32_t state[6]) {
  for (int byte = from; byte < OPTION_MRG_BYTES; byte++)
    if (n >> (8 * byte) & 255) skip(table[byte][n >> (8 * byte) & 255], state);
}

/* Advances by one number; returns 32 bits, scaled as in cuRAND. */
static inline uint32_t next_bits(uint32_t s[6]) {
  const uint64_t p = (1403580ull * s[1] + 810728ull * (modulus[0] - s[0])) % modulus[0];
  const uint64_t q = (527612ull * s[5] + 1370589ull * (modulus[1] - s[3])) % modulus[1];
  s[0] = s[1];
  s[1] = s[2];
  s[2] = (uint32_t)p;
  s[3] = s[4];
  s[4] = s[5];
  s[5] = (uint32_t)q;
  return (uint32_t)((double)(p <= q ? p + modulus[0] - q : p - q) * 1.000000048662);
}

void option_mrg_bits(const option_mrg *mrg, uint64_t first, int count, uint32_t group, uint32_t draw,
                     uint32_t out[4][OPTION_MRG_LANES]) {
  const uint64_t subsequence = option_mrg_subsequence(first);
  uint32_t common[6];
  memcpy(common, mrg->seed, sizeof common);
  skip_bytes(mrg->path, subsequence, 1, common);
  skip_bytes(mrg->offset, (uint64_t)draw << OPTION_MRG_DRAW | (uint64_t)group * 4, 0, common);
  for (int i = 0; i < count; i++) {
    uint32_t state[6];
    memcpy(state, common, sizeof state);
    skip(mrg->path[0][(subsequence + (uint64_t)i) & 255], state);
    for (int k = 0; k < 4; k++) out[k][i] = next_bits(state);
  }
}
