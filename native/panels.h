/* Products of panels, by hand in vector registers.

   Rows are laid out in panels: 48 rows side by side, one coordinate after the other. A product of
   two panels keeps a patch of its 48 x 48 sums in registers over the whole depth, so it reads little
   and comes close to what the processor can do; the same panel serves as the left and as the right
   factor. A sum takes one fused multiply-add a coordinate, in order, whatever the instruction set,
   so its bits are the same everywhere. */

#ifndef CALIPERS_PANELS_H
#define CALIPERS_PANELS_H

#include "calipers.h"

#if defined(__AVX512F__) || defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define PANEL 48 /* rows of a panel: a multiple of every patch below */

#if defined(__AVX512F__)
#define LANES 16
#define HEIGHT 8 /* rows of a patch: as many sums as there are registers for */
#elif defined(__AVX2__)
#define LANES 8
#define HEIGHT 4
#elif defined(__ARM_NEON)
#define LANES 4
#define HEIGHT 8
#else
#define LANES 4
#define HEIGHT 4
#endif
#define VECTORS 3 /* vector registers across a patch */
#define WIDTH (VECTORS * LANES)

typedef VECTOR(float, LANES) lanes;
typedef VECTOR(int32_t, LANES) lane_bits;

INLINE lanes lanes_at(const float *place) { return *(const lanes *)place; }

INLINE lanes spread(float value)
{
#if LANES == 16
    return (lanes)_mm512_set1_ps(value);
#elif LANES == 8
    return (lanes)_mm256_set1_ps(value);
#else
    return (lanes){value, value, value, value};
#endif
}

#if !defined(__AVX512F__) && !defined(__FMA__) && !defined(__ARM_NEON)
/* x * y + z, rounded once, where no instruction does it. The product is exact in float64; its sum is
   rounded to odd there, so that rounding it again to float32 rounds once. */
static __attribute__((noinline, unused)) lanes multiply_add_by_odd(lanes x, lanes y, lanes z)
{
    typedef VECTOR(double, LANES) doubles;
    typedef VECTOR(int64_t, LANES) words;
    doubles a = __builtin_convertvector(x, doubles) * __builtin_convertvector(y, doubles);
    doubles b = __builtin_convertvector(z, doubles);
    doubles sum = a + b, part = sum - a;
    doubles rest = (a - (sum - part)) + (b - part);
    words bits = (words)sum;
    words inexact = (rest != 0.0) & (words)(rest == rest); /* infinite sums are left alone */
    words even = (bits & 1) == 0;
    /* An even sum moves one step towards the rest: away from zero if both have one sign. */
    words same = ((words)rest ^ bits) >= 0;
    words step = (same & 1) - (~same & 1);
    bits += inexact & even & step;
    return __builtin_convertvector((doubles)bits, lanes);
}
#endif

#if !defined(__FMA__) && defined(__SSE2__)
/* Which sums in float64 may lie halfway between two float32 numbers, where a second rounding may
   go wrong: normal ones whose lowest 29 bits say so, and all that are subnormal in float32. */
INLINE __m128i halfway(__m128d sum)
{
    __m128i bits = _mm_castpd_si128(sum);
    __m128i tail = _mm_and_si128(bits, _mm_set1_epi64x(0x1fffffff));
    __m128i middle = _mm_cmpeq_epi32(tail, _mm_set1_epi64x(0x10000000));
    middle = _mm_and_si128(middle, _mm_set1_epi64x(0xffffffff));
    __m128i high = _mm_and_si128(bits, _mm_set1_epi64x(0x7fffffff00000000));
    __m128i small = _mm_cmpgt_epi32(_mm_set1_epi64x(0x3810000000000000), high);
    return _mm_or_si128(middle, _mm_and_si128(small, _mm_cmpgt_epi32(high, _mm_setzero_si128())));
}
#endif

/* x * y + z, rounded once. */
INLINE lanes multiply_add(lanes x, lanes y, lanes z)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#elif defined(__FMA__)
    return (lanes)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#elif defined(__ARM_NEON)
    return (lanes)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y);
#elif defined(__SSE2__)
    __m128 a = (__m128)x, b = (__m128)y, c = (__m128)z;
    __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
    a = _mm_movehl_ps(a, a), b = _mm_movehl_ps(b, b), c = _mm_movehl_ps(c, c);
    __m128d high = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
    if (__builtin_expect(_mm_movemask_epi8(_mm_or_si128(halfway(low), halfway(high))), 0))
        return multiply_add_by_odd(x, y, z);
    return (lanes)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
#else
    return multiply_add_by_odd(x, y, z);
#endif
}

/* Which lanes hold: a mask where the processor has masks, else all bits of a lane. */
#if defined(__AVX512F__)
typedef __mmask16 lane_mask;
INLINE lane_mask below(lanes x, lanes y)
{
    return _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_LT_OQ);
}
#else
typedef lane_bits lane_mask;
INLINE lane_mask below(lanes x, lanes y) { return x < y; }
#endif

/* A bit for each lane that holds. */
INLINE uint64_t bits_of(lane_mask set)
{
#if defined(__AVX512F__)
    return (uint64_t)set;
#elif defined(__AVX2__)
    return (uint64_t)(uint32_t)_mm256_movemask_ps((__m256)set);
#elif defined(__SSE2__)
    return (uint64_t)(uint32_t)_mm_movemask_ps((__m128)set);
#else
    return (uint64_t)((set[0] & 1) | (set[1] & 2) | (set[2] & 4) | (set[3] & 8));
#endif
}

/* A bit for each lane that is set. */
INLINE uint64_t mask_of(lane_bits set)
{
#if defined(__AVX512F__)
    return (uint64_t)_mm512_test_epi32_mask((__m512i)set, (__m512i)set);
#else
    return bits_of(set);
#endif
}

/* Put into a patch of sums, PANEL apart, the products of HEIGHT rows with WIDTH columns of a panel,
   or add them to it. Row r of step s stands at left[r * row_step + s * depth_step]. */
INLINE void put_patch(const float *left, int64_t row_step, int64_t depth_step, const float *right,
                      int64_t depth, float *sums, bool add)
{
    lanes patch[HEIGHT][VECTORS];
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++)
            patch[r][v] = add ? lanes_at(sums + r * PANEL + v * LANES) : (lanes){0};
    for (int64_t s = 0; s < depth; s++) {
        lanes columns[VECTORS];
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++) columns[v] = lanes_at(right + s * PANEL + v * LANES);
#pragma GCC unroll 8
        for (int r = 0; r < HEIGHT; r++) {
            lanes row = spread(left[r * row_step + s * depth_step]);
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++)
                patch[r][v] = multiply_add(row, columns[v], patch[r][v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++) *(lanes *)(sums + r * PANEL + v * LANES) = patch[r][v];
}

INLINE void multiply_patch(const float *left, int64_t row_step, int64_t depth_step,
                           const float *right, int64_t depth, float *sums)
{
    put_patch(left, row_step, depth_step, right, depth, sums, true);
}

/* Products of all rows of one panel with all rows of another, into (48, 48). */
INLINE void multiply_panels(const float *left, const float *right, int64_t depth, float *products)
{
    for (int64_t c = 0; c < PANEL; c += WIDTH)
        for (int64_t r = 0; r < PANEL; r += HEIGHT)
            put_patch(left + r, 1, PANEL, right + c, depth, products + r * PANEL + c, false);
}

/* Add to (count, 48) sums the products of `count` rows, `stride` numbers apart, with a panel;
   `count` is a multiple of HEIGHT. */
INLINE void multiply_rows(const float *left, int64_t stride, int64_t count, const float *right,
                          int64_t depth, float *sums)
{
    for (int64_t r = 0; r < count; r += HEIGHT)
        for (int64_t c = 0; c < PANEL; c += WIDTH)
            multiply_patch(left + r * stride, stride, 1, right + c, depth, sums + r * PANEL + c);
}

/* Add to a patch of sums the products of HEIGHT rows, wherever they lie, with the first columns of a
   panel, as many as there are in `vectors` registers. */
INLINE void add_scattered(const float *const *rows, const float *right, int64_t depth, int vectors,
                          lanes patch[HEIGHT][VECTORS])
{
    for (int64_t s = 0; s < depth; s++) {
        lanes columns[VECTORS];
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++) columns[v] = lanes_at(right + s * PANEL + v * LANES);
#pragma GCC unroll 8
        for (int r = 0; r < HEIGHT; r++) {
            lanes row = spread(rows[r][s]);
#pragma GCC unroll 3
            for (int v = 0; v < vectors; v++)
                patch[r][v] = multiply_add(row, columns[v], patch[r][v]);
        }
    }
}

/* What decides for each row of a span whether a pair passes the sieve, filled up to whole panels
   (numeric/sieve.py, Thresholds). With bound = low + low' - product a pair passes where the bound
   lies below either limit, or gain * bound below the other side's reach. */
typedef struct {
    const float *low;
    float *limit, *gain;
    const float *reach;
    int64_t n;
} thresholds;

INLINE int64_t sift_by(const float *products, const thresholds *rows, const thresholds *columns,
                       int64_t row0, int64_t column0, uint64_t *passing, bool by_gain)
{
    int64_t count = 0;
    for (int64_t r = 0; r < PANEL; r++) {
        lanes low = spread(rows->low[row0 + r]), limit = spread(rows->limit[row0 + r]);
        lanes gain = spread(rows->gain[row0 + r]), reach = spread(rows->reach[row0 + r]);
        uint64_t mask = 0;
        for (int64_t c = 0; c < PANEL; c += LANES) {
            int64_t column = column0 + c;
            lanes bound = (low + lanes_at(columns->low + column)) - lanes_at(products + r * PANEL + c);
            lane_mask pass = below(bound, limit) | below(bound, lanes_at(columns->limit + column));
            if (by_gain)
                pass |= below(bound * lanes_at(columns->gain + column), reach)
                    | below(bound * gain, lanes_at(columns->reach + column));
            mask |= bits_of(pass) << c;
        }
        passing[r] = mask;
        count += mask != 0;
    }
    return count;
}

/* Mark the pairs of two panels that pass, a bit for each column in the word of its row; return how
   many rows have one. row0 and column0 are the places of the panels in the thresholds. */
INLINE int64_t sift(const float *products, const thresholds *rows, const thresholds *columns,
                    int64_t row0, int64_t column0, uint64_t *passing)
{
    return sift_by(products, rows, columns, row0, column0, passing, true);
}

/* The same by limits alone, where gain is 0 and reach negative throughout. */
INLINE int64_t sift_by_limits(const float *products, const thresholds *rows,
                              const thresholds *columns, int64_t row0, int64_t column0,
                              uint64_t *passing)
{
    return sift_by(products, rows, columns, row0, column0, passing, false);
}

INLINE int64_t lowest_bit(uint64_t mask) { return __builtin_ctzll(mask); }

#endif
