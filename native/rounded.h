/* A first sieve of pairs by rows that are rounded to eight bits.

   A row z, turned by an orthogonal transform that spreads it over its coordinates, is unit * q plus
   a rest, with q of whole numbers up to 127. So a product of two rows lies within
   error * length' + length * error' of unit * unit' * (q . q'), which the processor sums exactly,
   four times as fast as in float32. What this bound shuts out, the float32 bound would shut out
   too. The few pairs that pass are measured in float64.

   Processors that have no such instruction go without this sieve. */

#ifndef CALIPERS_ROUNDED_H
#define CALIPERS_ROUNDED_H

#include "panels.h"

#define QUAD 4 /* coordinates that one instruction takes */

/* Rows rounded to eight bits, in panels: 48 rows side by side, four coordinates after four; none
   where `steps` is 0 (Rounded in numeric/rounded.py). */
typedef struct {
    const int8_t *panels;
    const int32_t *sums;
    const float *unit;
    const float *error;
    const float *length;
    int64_t count, steps, n;
} rounded;

/* How the sieve of one scan gets on: where it shuts out little, it rests for a while. */
typedef struct {
    bool active;
    int64_t rest, next;
} first_sieve;

#define MANY 160 /* pairs that pass: from here on, float32 products of all are no slower */
#define LONGEST_REST 64

INLINE first_sieve first_sieve_of(const rounded *rows, const rounded *columns)
{
#if defined(__AVX512VNNI__)
    return (first_sieve){rows->steps > 0 && columns->steps > 0, 0, 1};
#else
    (void)rows, (void)columns;
    return (first_sieve){false, 0, 1};
#endif
}

#if defined(__AVX512VNNI__)
/* Put the sums of q . q' of two panels into (48, 48). The instruction takes one factor without a
   sign, so 128 is added to the columns, and 128 times the sum of the row taken off. */
INLINE void multiply_rounded(const int8_t *left, const int32_t *left_sums, const int8_t *right,
                             int64_t steps, int32_t *products)
{
    const __m512i offset = _mm512_set1_epi8((char)0x80);
    for (int64_t r = 0; r < PANEL; r += HEIGHT) {
        __m512i patch[HEIGHT][VECTORS];
#pragma GCC unroll 8
        for (int i = 0; i < HEIGHT; i++)
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++)
                patch[i][v] = _mm512_set1_epi32(-128 * left_sums[r + i]);
        for (int64_t s = 0; s < steps; s++) {
            const int8_t *at = right + s * PANEL * QUAD;
            __m512i columns[VECTORS];
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++)
                columns[v] = _mm512_xor_si512(_mm512_loadu_si512(at + v * LANES * QUAD), offset);
#pragma GCC unroll 8
            for (int i = 0; i < HEIGHT; i++) {
                int32_t four;
                memcpy(&four, left + (s * PANEL + r + i) * QUAD, sizeof four);
                __m512i row = _mm512_set1_epi32(four);
#pragma GCC unroll 3
                for (int v = 0; v < VECTORS; v++)
                    patch[i][v] = _mm512_dpbusd_epi32(patch[i][v], columns[v], row);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < HEIGHT; i++)
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++)
                _mm512_storeu_si512(products + (r + i) * PANEL + v * LANES, patch[i][v]);
    }
}

/* As `sift_by_limits`, from sums of q . q' and what these leave open; how many pairs pass. */
INLINE int64_t sift_sums(const int32_t *products, const rounded *left, const rounded *right,
                         const thresholds *rows, const thresholds *columns, int64_t row0,
                         int64_t column0, int64_t left0, int64_t right0, uint64_t *passing)
{
    int64_t count = 0;
    for (int64_t r = 0; r < PANEL; r++) {
        lanes low = spread(rows->low[row0 + r]), limit = spread(rows->limit[row0 + r]);
        lanes unit = spread(left->unit[left0 + r]), error = spread(left->error[left0 + r]);
        lanes length = spread(left->length[left0 + r]);
        uint64_t mask = 0;
#pragma GCC unroll 3
        for (int64_t c = 0; c < PANEL; c += LANES) {
            int64_t column = column0 + c, other = right0 + c;
            lanes sums = (low + lanes_at(columns->low + column)) * spread(1 - 0x1p-20f);
            lanes product = (lanes)_mm512_cvtepi32_ps(_mm512_loadu_si512(products + r * PANEL + c))
                * (unit * lanes_at(right->unit + other));
            lanes doubt = error * lanes_at(right->length + other)
                + length * lanes_at(right->error + other);
            lanes bound = sums - product - doubt;
            lane_mask pass = below(bound, limit) | below(bound, lanes_at(columns->limit + column));
            mask |= bits_of(pass) << c;
        }
        passing[r] = mask;
        count += __builtin_popcountll(mask);
    }
    return count;
}
#endif

/* Mark the pairs of two panels that may pass `sift_by_limits`; return how many there are, or -1
   where the sieve rests or shuts out too few, so that the products of all are to be computed. The
   panels begin at rows left0 and right0 of their sets, at row0 and column0 of the thresholds. */
INLINE int64_t sift_rounded(first_sieve *sieve, const rounded *left, const rounded *right,
                            const thresholds *rows, const thresholds *columns, int64_t row0,
                            int64_t column0, int64_t left0, int64_t right0, uint64_t *passing)
{
#if defined(__AVX512VNNI__)
    if (!sieve->active) return -1;
    if (sieve->rest > 0) {
        sieve->rest--;
        return -1;
    }
    int32_t products[PANEL * PANEL];
    multiply_rounded(left->panels + left0 * left->steps * QUAD, left->sums + left0,
                     right->panels + right0 * right->steps * QUAD, left->steps, products);
    int64_t count = sift_sums(products, left, right, rows, columns, row0, column0, left0, right0,
                              passing);
    if (count < MANY) {
        sieve->next = 1;
        return count;
    }
    sieve->rest = sieve->next;
    sieve->next = smaller(2 * sieve->next, LONGEST_REST);
#else
    (void)sieve, (void)left, (void)right, (void)rows, (void)columns, (void)row0, (void)column0;
    (void)left0, (void)right0, (void)passing;
#endif
    return -1;
}

#endif
