/* Scatter matrices, coordinates along axes, and rows of length one (estimate/axes.py). */

#include "calipers.h"
#include "distances.h"
#include "panels.h"

/* Lay the columns of some rows out as panels, less a centre; what fills a panel stays as it is. */
API void lay_columns(const float *points, const float *centre, int64_t first, int64_t last,
                     float *panels, int64_t n, int64_t d, int64_t panel_count)
{
    for (int64_t i = first; i < last; i++)
        for (int64_t panel = 0; panel < panel_count; panel++) {
            int64_t start = panel * PANEL, width = smaller(PANEL, d - start);
            float *row = panels + (panel * n + i) * PANEL;
            const float *from = points + i * d + start, *middle = centre + start;
            for (int64_t t = 0; t < width; t++) row[t] = from[t] - middle[t];
        }
}

/* Add to a scatter matrix the products of all columns of one panel with those of itself and of the
   later ones, some rows at a time in float32. */
API void add_column_products(const float *panels, int64_t one, double factor, int64_t float32_rows,
                             double *scatter, int64_t panel_count, int64_t n, int64_t d)
{
    float products[PANEL * PANEL];
    for (int64_t start = 0; start < n; start += float32_rows) {
        int64_t depth = smaller(float32_rows, n - start);
        for (int64_t other = one; other < panel_count; other++) {
            multiply_panels(panels + (one * n + start) * PANEL,
                            panels + (other * n + start) * PANEL, depth, products);
            int64_t height = smaller(PANEL, d - one * PANEL);
            int64_t width = smaller(PANEL, d - other * PANEL);
            for (int64_t r = 0; r < height; r++) {
                double *sums = scatter + (one * PANEL + r) * d + other * PANEL;
                for (int64_t c = 0; c < width; c++)
                    sums[c] += factor * (double)products[r * PANEL + c];
            }
        }
    }
}

/* Coordinates of rows about a centre along axes that are laid out as panels; `room` holds 48 rows. */
API void project_rows(const float *points, const float *centre, const float *panels, float *room,
                      float *out, int64_t n, int64_t d, int64_t panel_count, int64_t q)
{
    float products[PANEL * PANEL];
    for (int64_t i0 = 0; i0 < n; i0 += PANEL) {
        int64_t count = smaller(PANEL, n - i0);
        for (int64_t r = 0; r < count; r++)
            for (int64_t t = 0; t < d; t++) room[r * d + t] = points[(i0 + r) * d + t] - centre[t];
        for (int64_t panel = 0; panel < panel_count; panel++) {
            int64_t start = panel * PANEL, width = smaller(PANEL, q - start);
            memset(products, 0, sizeof products);
            multiply_rows(room, d, PANEL, panels + panel * d * PANEL, d, products);
            for (int64_t r = 0; r < count; r++)
                for (int64_t c = 0; c < width; c++)
                    out[(i0 + r) * q + start + c] = products[r * PANEL + c];
        }
    }
}

/* The sum of squares of d numbers, each over a unit: eight sums side by side. */
#define SUM_SQUARES(load)                                                              \
    do {                                                                               \
        wide_lanes sums[8 / WIDE_LANES] = {{0}};                                       \
        int64_t t = 0;                                                                 \
        for (; t + 8 <= d; t += 8)                                                     \
            _Pragma("GCC unroll 4") for (int v = 0; v < 8 / WIDE_LANES; v++)           \
            {                                                                          \
                wide_lanes value = load(x + t + v * WIDE_LANES);                       \
                if (unit != 1.0) value /= unit;                                        \
                sums[v] += value * value;                                              \
            }                                                                          \
        double total = sum_of_lanes(sums, 8 / WIDE_LANES);                             \
        for (; t < d; t++) {                                                           \
            double value = (double)x[t] / unit;                                        \
            total += value * value;                                                    \
        }                                                                              \
        return total;                                                                  \
    } while (0)

static double squares_f(const float *x, int64_t d, double unit) { SUM_SQUARES(widened); }
static double squares_d(const double *x, int64_t d, double unit) { SUM_SQUARES(as_it_is); }

INLINE double squared_length(const reals *points, int64_t start, int64_t d, double unit)
{
    return points->wide ? squares_d((const double *)points->data + start, d, unit)
                        : squares_f((const float *)points->data + start, d, unit);
}

/* By what a row is divided to get length one: a factor, then its length in that unit. */
static void length_of(const reals *points, int64_t start, int64_t d, double *factor, double *length)
{
    *factor = 1.0;
    *length = sqrt(squared_length(points, start, d, 1.0));
    if (*length < 1e-140) { /* the squares underflow */
        double largest = 0.0;
        for (int64_t t = 0; t < d; t++) {
            double value = fabs(real_at(points, start + t));
            if (value > largest) largest = value;
        }
        if (largest > 0.0) *factor = largest;
        *length = sqrt(squared_length(points, start, d, *factor));
    }
    if (!(*length > 0.0)) *length = 1.0;
}

/* Scale rows to length one, in their own type; rows of zeros stay as they are. */
API void scale_rows(const reals *points, float *narrow, double *wide, int64_t n, int64_t d)
{
    for (int64_t start = 0; start < n * d; start += d) {
        double factor, length;
        length_of(points, start, d, &factor, &length);
        if (wide) {
            const double *from = (const double *)points->data + start;
            if (factor == 1.0)
                for (int64_t t = 0; t < d; t++) wide[start + t] = from[t] / length;
            else
                for (int64_t t = 0; t < d; t++) wide[start + t] = from[t] / factor / length;
        } else {
            const float *from = (const float *)points->data + start;
            if (factor == 1.0)
                for (int64_t t = 0; t < d; t++) narrow[start + t] = (float)((double)from[t] / length);
            else
                for (int64_t t = 0; t < d; t++)
                    narrow[start + t] = (float)((double)from[t] / factor / length);
        }
    }
}
