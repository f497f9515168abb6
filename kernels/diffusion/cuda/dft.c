/* Fourier transforms of 2 to 32 points in registers, written as PTX (radix 2, all twiddle factors known). NVRTC's
 * optimiser treats each transform as one instruction; the same code in C++ dominated its compile time. A butterfly with
 * twiddle factor w takes six multiply-adds: w b = cos (b + tan i b), or with sin and cot, so that the factor is below
 * 1. */
#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { POINTS_MAX = 32 };

/* A complex number in two registers: "t0", "t1", ... are temporaries, "%0", "%1", ... operands. */
typedef struct value {
  char kind;
  int re, im;
} value;

typedef struct writer {
  sim_bytes *text;
  int used; /* temporary registers */
} writer;

/* Writes "add.f32 t2, t0, t1;". */
static void add_two(writer *w, const char *op, char kind, int to, char from, int a, int b) {
  sim_bytes_format(w->text, "%s.f32 %c%d, %c%d, %c%d; ", op, kind, to, from, a, from, b);
}

/* Writes to = a factor + c. The factor is written as a float's bits. */
static void add_fused(writer *w, char kind, int to, int a, float factor, int c) {
  uint32_t bits;
  memcpy(&bits, &factor, sizeof bits);
  sim_bytes_format(w->text, "fma.rn.f32 %c%d, t%d, 0f%08X, t%d; ", kind, to, a, (unsigned)bits, c);
}

/* Writes sum = a + w b and difference = a - w b with w = exp(sign 2 pi i k / 32). a and b are temporaries unless k = 0.
 */
static void add_butterfly(writer *w, int sign, int k, value a, value b, value sum, value difference) {
  if (k == 0) {
    add_two(w, "add", sum.kind, sum.re, a.kind, a.re, b.re);
    add_two(w, "add", sum.kind, sum.im, a.kind, a.im, b.im);
    add_two(w, "sub", difference.kind, difference.re, a.kind, a.re, b.re);
    add_two(w, "sub", difference.kind, difference.im, a.kind, a.im, b.im);
  } else if (k == 8) { /* i b or -i b */
    const char *const with = sign > 0 ? "add" : "sub", *const against = sign > 0 ? "sub" : "add";
    add_two(w, against, sum.kind, sum.re, a.kind, a.re, b.im);
    add_two(w, with, sum.kind, sum.im, a.kind, a.im, b.re);
    add_two(w, with, difference.kind, difference.re, a.kind, a.re, b.im);
    add_two(w, against, difference.kind, difference.im, a.kind, a.im, b.re);
  } else {
    const double c = cos(DIFFUSION_PI * k / 16), s = sign * sin(DIFFUSION_PI * k / 16);
    const bool flat = k <= 4 || k >= 12;
    const float outer = (float)(flat ? c : s), inner = (float)(flat ? s / c : c / s);
    const float real = flat ? outer : -outer; /* in the steep case p has the opposite sign */
    const int p = w->used++, q = w->used++;
    add_fused(w, 't', p, flat ? b.im : b.re, -inner, flat ? b.re : b.im);
    add_fused(w, 't', q, flat ? b.re : b.im, inner, flat ? b.im : b.re);
    add_fused(w, sum.kind, sum.re, p, real, a.re);
    add_fused(w, sum.kind, sum.im, q, outer, a.im);
    add_fused(w, difference.kind, difference.re, p, -real, a.re);
    add_fused(w, difference.kind, difference.im, q, -outer, a.im);
  }
}

static int reversed(int i, int n) {
  int out = 0;
  for (int bit = 1; bit < n; bit *= 2) out = 2 * out + (i / bit & 1);
  return out;
}

static value own(int index) { return (value){'%', 2 * index, 2 * index + 1}; }
static value temporary(writer *w) {
  w->used += 2;
  return (value){'t', w->used - 2, w->used - 1};
}

/* Writes the transform of v[n]. Input and output are in natural order. */
static void add_transform(int sign, int n, sim_bytes *text) {
  value v[POINTS_MAX];
  sim_bytes body = {0};
  writer w = {.text = &body};
  for (int i = 0; i < n; i++) v[reversed(i, n)] = own(i);
  for (int length = 2; length <= n; length *= 2)
    for (int i = 0; i < n / 2; i++) {
      const int half = length / 2, a = i / half * length + i % half, b = a + half;
      const bool last = length == n && n > 2; /* all inputs have been read */
      const value sum = last ? own(a) : temporary(&w), difference = last ? own(b) : temporary(&w);
      add_butterfly(&w, sign, i % half * (POINTS_MAX / length), v[a], v[b], sum, difference);
      v[a] = sum;
      v[b] = difference;
    }
  for (int i = 0; i < n; i++)
    if (v[i].kind == 't')
      sim_bytes_format(&body, "mov.f32 %%%d, t%d; mov.f32 %%%d, t%d; ", 2 * i, v[i].re, 2 * i + 1, v[i].im);
  sim_bytes_format(text,
                   "template <> __device__ __forceinline__ void dft<%d, %d>(float2 *v) {\n"
                   "  asm(\"{ .reg .f32 t<%d>; %s}\" : ",
                   sign, n, w.used, body.data ? body.data : "");
  text->failed |= body.failed;
  sim_bytes_free(&body);
  for (int i = 0; i < n; i++) sim_bytes_format(text, "%s\"+f\"(v[%d].x), \"+f\"(v[%d].y)", i ? ", " : "", i, i);
  sim_bytes_text(text, ");\n}\n");
}

void diffusion_dft_write(sim_bytes *text) {
  sim_bytes_text(text, "template <int SIGN, int N> __device__ __forceinline__ void dft(float2 *v);\n");
  for (int n = 2; n <= POINTS_MAX; n *= 2)
    for (int sign = -1; sign <= 1; sign += 2) add_transform(sign, n, text);
}
