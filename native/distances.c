/* Squared distances in float64, and rows laid out in panels: numeric/distances.py; products that
   become squared distances: estimate/measures.py. */

#include "distances.h"

/* Sums of the columns, row after row. */
API void sum_rows(const reals *points, double *sums, int64_t n, int64_t d)
{
    for (int64_t t = 0; t < d; t++) sums[t] = 0.0;
    if (points->wide) {
        const double *row = points->data;
        for (int64_t i = 0; i < n; i++, row += d)
            for (int64_t t = 0; t < d; t++) sums[t] += row[t];
    } else {
        const float *row = points->data;
        for (int64_t i = 0; i < n; i++, row += d)
            for (int64_t t = 0; t < d; t++) sums[t] += (double)row[t];
    }
}

/* The largest absolute deviation from the centre in any column. */
API double farthest(const reals *points, const double *centre, int64_t n, int64_t d)
{
    typedef VECTOR(int64_t, 8) long8;
    const long8 positive = (long8){0} + INT64_MAX; /* all bits but the sign */
    double8 most = {0};
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++) {
        int64_t t = 0;
        for (; t + 8 <= d; t += 8) {
            double8 row = points->wide ? (*(const double8 *)((const double *)points->data + i * d + t))
                                       : widen8((const float *)points->data + i * d + t);
            double8 gap = (double8)((long8)(row - *(const double8 *)(centre + t)) & positive);
            long8 more = gap > most;
            most = (double8)(((long8)gap & more) | ((long8)most & ~more));
        }
        for (; t < d; t++) {
            double gap = fabs(real_at(points, i * d + t) - centre[t]);
            largest = gap > largest ? gap : largest;
        }
    }
    for (int lane = 0; lane < 8; lane++) largest = most[lane] > largest ? most[lane] : largest;
    return largest;
}

/* Centre and scale rows into their panels, and bound half their squared lengths from below:
   low = share * |row|^2. */
API void lay_out_panels(const reals *points, const double *centre, double scale, double share,
                        float *panels, float *low, int64_t n, int64_t d, int64_t count)
{
    (void)count;
    for (int64_t i = 0; i < n; i++) {
        float *place = panels + (i / PANEL) * d * PANEL + i % PANEL;
        double squared = 0.0;
        for (int64_t t = 0; t < d; t++) {
            double value = (real_at(points, i * d + t) - centre[t]) * scale;
            place[t * PANEL] = (float)value;
            squared += value * value;
        }
        low[i] = (float)(share * squared);
    }
}

/* The exact squared distances of listed pairs of rows. */
API void measure_pairs(const reals *points, const int64_t *rows, const reals *others,
                       const int64_t *columns, double *squared, int64_t n, int64_t d, int64_t count,
                       int64_t m)
{
    (void)n, (void)m;
    for (int64_t pair = 0; pair < count; pair++)
        squared[pair] = squared_distance(points, rows[pair], others, columns[pair], d);
}

/* Turn products of rows about a centre into squared distances, and sum up anew those that are
   below a share `near` of both squared lengths, where digits are lost. */
API void settle_products(double *tile, const reals *x, const double *x_squares, const reals *y,
                         const double *y_squares, double near, int64_t n, int64_t m, int64_t d)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double lengths = x_squares[i] + y_squares[j];
            double value = lengths - 2.0 * tile[i * m + j];
            tile[i * m + j] = value < near * lengths ? squared_distance(x, i, y, j, d) : value;
        }
}
