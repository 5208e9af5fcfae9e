// The rows written by hand in C++: near what the machine can do, and not bound by Dynamis's
// numerics (-ffast-math, approximate roots). Built by benchmarks/peers/hand.py; OpenMP threads,
// GCC vector extensions of eight lanes for the divergent rows. AVX2 and FMA.
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

typedef float v8 __attribute__((vector_size(32)));
typedef int32_t i8 __attribute__((vector_size(32)));

static inline bool any(i8 m) { return _mm256_movemask_ps((__m256)m); }
static inline v8 least(v8 a, v8 b) { return (v8)_mm256_min_ps((__m256)a, (__m256)b); }
static inline v8 most(v8 a, v8 b) { return (v8)_mm256_max_ps((__m256)a, (__m256)b); }
static inline v8 root(v8 a) { return (v8)_mm256_sqrt_ps((__m256)a); }

// sin and exp by reduction and polynomial, one or two ulp, in a form that vectorises.
static inline float fast_exp(float x) {
  x = std::max(-87.f, std::min(88.f, x));
  float k = __builtin_floorf(x * 1.44269504f + 0.5f);
  float r = x - k * 0.693359375f;
  r = r + k * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.f;
  int32_t bits = ((int32_t)k + 127) << 23;
  float scale;
  memcpy(&scale, &bits, 4);
  return p * scale;
}
static inline float fast_sin(float x) {
  float q = __builtin_floorf(x * 0.318309886f + 0.5f);
  float r = x - q * 3.140625f;
  r = r - q * 9.67502593994140625e-4f;
  r = r - q * 1.509957990978376432e-7f;
  float u = r * r;
  float p = 2.6083159809786593541503e-06f;
  p = p * u - 0.0001981069071916863322258f;
  p = p * u + 0.00833307858556509017944336f;
  p = p * u - 0.166666597127914428710938f;
  float s = p * u * r + r;
  int32_t odd = (int32_t)q & 1, bits;
  memcpy(&bits, &s, 4);
  bits ^= odd << 31;
  memcpy(&s, &bits, 4);
  return s;
}

extern "C" {

void set_threads(int n) { omp_set_num_threads(n); }

// The limit of a row that reads and writes everything once: a copy past the caches.
// `n` floats, a multiple of 8; `out` is aligned to 32 bytes.
void copy(const float* in, float* out, int64_t n) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i += 8) _mm256_stream_ps(out + i, _mm256_loadu_ps(in + i));
  _mm_sfence();
}

// `pixels` is even; `out` is aligned to 32 bytes.
void grayscale(const float* in, float* out, int64_t pixels) {
  const __m128 w = _mm_setr_ps(.299f, .587f, .114f, 0);
  const __m256 weights = _mm256_set_m128(w, w);
#pragma omp parallel for schedule(static)
  for (int64_t p = 0; p < pixels; p += 2) {
    __m256 c = _mm256_loadu_ps(in + p * 4);
    _mm256_stream_ps(out + p * 4, _mm256_blend_ps(_mm256_dp_ps(c, weights, 0x7F), c, 0x88));
  }
  _mm_sfence();
}

void fused(const float* x, float* y, int64_t n, float a, float b) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + b * fast_sin(x[i]) * fast_exp(-x[i] * x[i]);
}

#define CONVOLUTION(NAME, R)                                                                     \
  void NAME(const float* in, float* out, int64_t h, int64_t w, const float* weights) {           \
    const int n = 2 * R + 1;                                                                     \
    _Pragma("omp parallel for schedule(static)") for (int64_t y = 0; y < h; y++) {               \
      const float* row[n];                                                                       \
      for (int j = 0; j < n; j++) {                                                              \
        int64_t from = std::min(std::max(y + j - R, (int64_t)0), h - 1);                         \
        row[j] = in + from * w;                                                                  \
      }                                                                                          \
      float* o = out + y * w;                                                                    \
      auto edge = [&](int64_t x) {                                                               \
        float s = 0;                                                                             \
        for (int j = 0; j < n; j++)                                                              \
          for (int i = 0; i < n; i++)                                                            \
            s += row[j][std::min(std::max(x + i - R, (int64_t)0), w - 1)] * weights[j * n + i];  \
        o[x] = s;                                                                                \
      };                                                                                         \
      for (int64_t x = 0; x < std::min((int64_t)R, w); x++) edge(x);                             \
      for (int64_t x = std::max(w - R, (int64_t)R); x < w; x++) edge(x);                         \
      _Pragma("omp simd") for (int64_t x = R; x < w - R; x++) {                                  \
        float s = 0;                                                                             \
        _Pragma("unroll") for (int j = 0; j < n; j++)                                            \
        _Pragma("unroll") for (int i = 0; i < n; i++) s += row[j][x + i - R] * weights[j * n + i]; \
        o[x] = s;                                                                                \
      }                                                                                          \
    }                                                                                            \
  }
CONVOLUTION(gaussian3, 1)
CONVOLUTION(convolve5, 2)

// `n` is a multiple of 16. Two vectors in flight: one waits for latency, four spill.
void mandelbrot(int32_t* out, int n, int most_steps, float x0, float x1, float y0, float y1) {
  const int U = 2;
#pragma omp parallel for schedule(dynamic, 4)
  for (int y = 0; y < n; y++) {
    float cy = y0 + (y1 - y0) * y / n;
    for (int x = 0; x < n; x += 8 * U) {
      v8 cx[U], zx[U], zy[U], count[U];
      i8 live[U];
      for (int u = 0; u < U; u++) {
        for (int l = 0; l < 8; l++) cx[u][l] = x0 + (x1 - x0) * (x + u * 8 + l) / n;
        zx[u] = zy[u] = count[u] = v8{};
        live[u] = ~i8{};
      }
      const v8 vcy = v8{} + cy, one = v8{} + 1.f, four = v8{} + 4.f;
      for (int step = 0; step < most_steps; step++) {
        i8 some = i8{};
#pragma unroll
        for (int u = 0; u < U; u++) {
          v8 xx = zx[u] * zx[u], yy = zy[u] * zy[u];
          live[u] = live[u] & (xx + yy <= four);
          some |= live[u];
          count[u] += (v8)(live[u] & (i8)one);
          v8 t = zx[u] * zy[u];
          zy[u] = t + t + vcy;
          zx[u] = xx - yy + cx[u];
        }
        if (!any(some)) break;
      }
      for (int u = 0; u < U; u++) {
        i8 whole = __builtin_convertvector(count[u], i8);
        memcpy(out + (int64_t)y * n + x + u * 8, &whole, 32);
      }
    }
  }
}

static const float BALLS[4][4] = {
    {0, 1, 1, 1}, {1.6f, .6f, .2f, .6f}, {-1.5f, .5f, .4f, .5f}, {.4f, .3f, -.6f, .3f}};
static inline v8 scene(v8 x, v8 y, v8 z) {
  v8 d = y;
  for (auto& b : BALLS) {
    v8 dx = x - b[0], dy = y - b[1], dz = z - b[2];
    d = least(d, root(dx * dx + dy * dy + dz * dz) - b[3]);
  }
  return d;
}

// `n` is a multiple of 8.
void raymarch(float* out, int n, int steps, float near, float far, float lx, float ly, float lz,
              float e) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i += 8) {
      v8 u;
      for (int l = 0; l < 8; l++) u[l] = 2.f * (i + l + .5f) / n - 1.f;
      float v = 1.f - 2.f * (j + .5f) / n;
      v8 inverse = 1.f / root(u * u + v * v + 1.5f * 1.5f);
      v8 dx = u * inverse, dy = v * inverse, dz = 1.5f * inverse, t = v8{};
      i8 live = ~i8{}, hit = i8{};
      for (int s = 0; s < steps; s++) {
        v8 d = scene(dx * t, 1.f + dy * t, -3.f + dz * t);
        i8 now = live & (d < near);
        hit |= now;
        live &= ~now;
        t = live ? t + d : t;
        live &= t <= far;
        if (!any(live)) break;
      }
      v8 colour = v8{};
      if (any(hit)) {
        v8 x = dx * t, y = 1.f + dy * t, z = -3.f + dz * t;
        v8 nx = scene(x + e, y, z) - scene(x - e, y, z);
        v8 ny = scene(x, y + e, z) - scene(x, y - e, z);
        v8 nz = scene(x, y, z + e) - scene(x, y, z - e);
        v8 light = (nx * lx + ny * ly + nz * lz) / root(nx * nx + ny * ny + nz * nz);
        colour = hit ? 0.1f + 0.9f * most(light, v8{}) : v8{};
      }
      memcpy(out + (int64_t)j * n + i, &colour, 32);
    }
}

// Positions come as one array a coordinate; velocities and both results as (n, 3). `n` is a
// multiple of 32. The reciprocal root is the hardware's estimate and one Newton step.
void nbody(const float* px, const float* py, const float* pz, const float* velocity,
           const float* mass, float* position_out, float* velocity_out, int n, float softening,
           float dt) {
  const int U = 4;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i += 8 * U) {
    v8 x[U], y[U], z[U], a[U], b[U], c[U];
    for (int u = 0; u < U; u++) {
      memcpy(&x[u], px + i + u * 8, 32);
      memcpy(&y[u], py + i + u * 8, 32);
      memcpy(&z[u], pz + i + u * 8, 32);
      a[u] = b[u] = c[u] = v8{};
    }
    for (int j = 0; j < n; j++) {
      v8 xj = v8{} + px[j], yj = v8{} + py[j], zj = v8{} + pz[j], mj = v8{} + mass[j];
#pragma unroll
      for (int u = 0; u < U; u++) {
        v8 dx = xj - x[u], dy = yj - y[u], dz = zj - z[u];
        v8 d = dx * dx + dy * dy + dz * dz + softening;
        v8 r = (v8)_mm256_rsqrt_ps((__m256)d);
        r = r * (1.5f - 0.5f * d * r * r);
        v8 s = mj * r * r * r;
        a[u] += dx * s;
        b[u] += dy * s;
        c[u] += dz * s;
      }
    }
    for (int u = 0; u < U; u++)
      for (int l = 0; l < 8; l++) {
        const int body = i + u * 8 + l;
        const float p[3] = {x[u][l], y[u][l], z[u][l]}, pull[3] = {a[u][l], b[u][l], c[u][l]};
        for (int k = 0; k < 3; k++) {
          float v = velocity[body * 3 + k] + dt * pull[k];
          velocity_out[body * 3 + k] = v;
          position_out[body * 3 + k] = p[k] + dt * v;
        }
      }
  }
}

static inline void sort(float& a, float& b) {
  float low = std::min(a, b);
  b = std::max(a, b);
  a = low;
}

void median3(const float* in, float* out, int64_t h, int64_t w) {
#pragma omp parallel for schedule(static)
  for (int64_t y = 0; y < h; y++) {
    const float* r0 = in + std::max(y - 1, (int64_t)0) * w;
    const float* r1 = in + y * w;
    const float* r2 = in + std::min(y + 1, h - 1) * w;
    float* o = out + y * w;
    auto median = [&](int64_t l, int64_t x, int64_t r) {
      float a = r0[l], b = r0[x], c = r0[r], d = r1[l], e = r1[x], f = r1[r], g = r2[l],
            i = r2[x], j = r2[r];
      sort(b, c), sort(e, f), sort(i, j), sort(a, b), sort(d, e), sort(g, i), sort(b, c);
      sort(e, f), sort(i, j), sort(a, d), sort(f, j), sort(e, i), sort(d, g), sort(b, e);
      sort(c, f), sort(e, i), sort(e, c), sort(g, e), sort(e, c);
      return e;
    };
    o[0] = median(0, 0, 1);
    o[w - 1] = median(w - 2, w - 1, w - 1);
#pragma omp simd
    for (int64_t x = 1; x < w - 1; x++) o[x] = median(x - 1, x, x + 1);
  }
}
}
