/* The exact squared distance of two rows: the same bits in every kernel and for swapped rows. */

#ifndef CALIPERS_DISTANCES_H
#define CALIPERS_DISTANCES_H

#include "calipers.h"
#include "panels.h"

/* As many numbers of float64 as a register holds: GCC spills vectors that are longer. */
#define WIDE_LANES (LANES / 2)
typedef VECTOR(double, WIDE_LANES) wide_lanes;

INLINE wide_lanes as_it_is(const double *values) { return *(const wide_lanes *)values; }

INLINE wide_lanes widened(const float *values)
{
#if defined(__AVX512F__)
    return (wide_lanes)_mm512_cvtps_pd(_mm256_loadu_ps(values));
#elif defined(__AVX2__)
    return (wide_lanes)_mm256_cvtps_pd(_mm_loadu_ps(values));
#elif defined(__SSE2__)
    return (wide_lanes)_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)values)));
#else
    return (wide_lanes){values[0], values[1]};
#endif
}

/* The sum of the lanes of `count` vectors, halves upon halves; the vectors are overwritten. */
INLINE double sum_of_lanes(wide_lanes *sums, int count)
{
#pragma GCC unroll 3
    for (int half = count / 2; half; half /= 2)
#pragma GCC unroll 4
        for (int v = 0; v < half; v++) sums[v] += sums[v + half];
#if defined(__SSE2__)
#if defined(__AVX512F__)
    __m512d eight = (__m512d)sums[0];
    __m256d four =
        _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
#elif defined(__AVX2__)
    __m256d four = (__m256d)sums[0];
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
#else
    __m128d two = (__m128d)sums[0];
#endif
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
#else
    return sums[0][0] + sums[0][1];
#endif
}

/* Sixteen sums side by side, whatever a register holds. */
#define SUM_GAPS(load_x, load_y)                                                       \
    do {                                                                               \
        wide_lanes sums[16 / WIDE_LANES] = {{0}};                                      \
        int64_t t = 0;                                                                 \
        for (; t + 16 <= d; t += 16)                                                   \
            _Pragma("GCC unroll 8") for (int v = 0; v < 16 / WIDE_LANES; v++)          \
            {                                                                          \
                wide_lanes gap =                                                       \
                    load_x(x + t + v * WIDE_LANES) - load_y(y + t + v * WIDE_LANES);   \
                sums[v] += gap * gap;                                                  \
            }                                                                          \
        double total = sum_of_lanes(sums, 16 / WIDE_LANES);                            \
        for (; t < d; t++) {                                                           \
            double gap = (double)x[t] - (double)y[t];                                  \
            total += gap * gap;                                                        \
        }                                                                              \
        return total;                                                                  \
    } while (0)

INLINE double squared_gap_ff(const float *x, const float *y, int64_t d)
{
    SUM_GAPS(widened, widened);
}
INLINE double squared_gap_fd(const float *x, const double *y, int64_t d)
{
    SUM_GAPS(widened, as_it_is);
}
INLINE double squared_gap_dd(const double *x, const double *y, int64_t d)
{
    SUM_GAPS(as_it_is, as_it_is);
}

/* Sum of squared differences of row i of one array and row j of another. */
INLINE double squared_distance(const reals *x, int64_t i, const reals *y, int64_t j, int64_t d)
{
    if (!x->wide && !y->wide)
        return squared_gap_ff((const float *)x->data + i * d, (const float *)y->data + j * d, d);
    if (x->wide && y->wide)
        return squared_gap_dd((const double *)x->data + i * d, (const double *)y->data + j * d, d);
    if (y->wide)
        return squared_gap_fd((const float *)x->data + i * d, (const double *)y->data + j * d, d);
    return squared_gap_fd((const float *)y->data + j * d, (const double *)x->data + i * d, d);
}

/* Bring the start of a row nearer that is measured soon. */
INLINE void fetch_row(const reals *x, int64_t i, int64_t d)
{
    const char *row = (const char *)x->data + i * d * (x->wide ? 8 : 4);
    int64_t bytes = smaller(d * (x->wide ? 8 : 4), 2048);
    for (int64_t place = 0; place < bytes; place += 64) __builtin_prefetch(row + place);
}

#endif
