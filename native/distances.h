/* The exact squared distance of two rows: the same bits in every kernel and for swapped rows. */

#ifndef CALIPERS_DISTANCES_H
#define CALIPERS_DISTANCES_H

#include "calipers.h"
#include "panels.h"

#define SUM_GAPS(load_x, load_y)                                         \
    do {                                                                 \
        double8 low = {0}, high = {0};                                   \
        int64_t t = 0;                                                   \
        for (; t + 16 <= d; t += 16) {                                   \
            double8 a = load_x(x + t) - load_y(y + t);                   \
            double8 b = load_x(x + t + 8) - load_y(y + t + 8);           \
            low += a * a, high += b * b;                                 \
        }                                                                \
        double total = sum8(low + high);                                 \
        for (; t < d; t++) {                                             \
            double gap = (double)x[t] - (double)y[t];                    \
            total += gap * gap;                                          \
        }                                                                \
        return total;                                                    \
    } while (0)

#define AS_IT_IS(values) (*(const double8 *)(values))

INLINE double squared_gap_ff(const float *x, const float *y, int64_t d)
{
    SUM_GAPS(widen8, widen8);
}
INLINE double squared_gap_fd(const float *x, const double *y, int64_t d)
{
    SUM_GAPS(widen8, AS_IT_IS);
}
INLINE double squared_gap_dd(const double *x, const double *y, int64_t d)
{
    SUM_GAPS(AS_IT_IS, AS_IT_IS);
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
