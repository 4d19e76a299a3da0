/* Kernel densities at the samples (estimate/kernel_density.py and kernel_ratios.py). */

#include "calipers.h"
#include "distances.h"
#include "panels.h"

#define HALF_PI 1.5707963267948966
#define FLOOR 1e-32 /* as in numeric/distances.py */

/* Move the k smallest of `count` numbers to the front, forget the others, and return the largest
   that stays: Hoare's selection. */
static double drop_farther(double *squared, int64_t count, int64_t k)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = squared[low + (high - low) / 2];
        int64_t left = low, right = high;
        while (left <= right) {
            while (squared[left] < pivot) left++;
            while (squared[right] > pivot) right--;
            if (left <= right) {
                double moved = squared[left];
                squared[left++] = squared[right];
                squared[right--] = moved;
            }
        }
        if (k - 1 <= right) high = right;
        else if (k - 1 >= left) low = left;
        else break;
    }
    for (int64_t place = k; place < count; place++) squared[place] = INFINITY;
    return squared[k - 1];
}

/* Collect for each row of a span, which starts at row0, squared distances among which those to its k
   nearest other rows are. There is room for `room` of a row, more than k, of which `filled` are
   taken; when it is full, those beyond the k nearest are dropped. */
API void collect_nearest(const float *panels, const reals *points, const thresholds *rows,
                         const thresholds *columns, int64_t row0, double half_scale, int64_t k,
                         double *squared, int64_t *filled, int64_t panel_count, int64_t d,
                         int64_t n, int64_t count, int64_t room)
{
    float products[PANEL * PANEL];
    uint64_t passing[PANEL];
    (void)panel_count, (void)n, (void)count;
    for (int64_t column = 0; column < columns->n; column += PANEL)
        for (int64_t row = 0; row < rows->n; row += PANEL) {
            multiply_panels(panels + (row0 + row) * d, panels + column * d, d, products);
            if (sift(products, rows, columns, row, column, passing) == 0) continue;
            for (int64_t r = row; r < row + PANEL; r++)
                for (uint64_t bits = passing[r - row]; bits; bits &= bits - 1) {
                    int64_t place = lowest_bit(bits), c = column + place;
                    float bound =
                        rows->low[r] + columns->low[c] - products[(r - row) * PANEL + place];
                    if (!(bound < rows->limit[r]) || row0 + r == c) continue;
                    double *of_row = squared + r * room;
                    of_row[filled[r]++] = squared_distance(points, row0 + r, points, c, d);
                    if (filled[r] < room) continue;
                    double last = drop_farther(of_row, room, k);
                    filled[r] = k;
                    /* Rounded up, so that no row that could still be nearer falls through */
                    float reach = (float)(last * half_scale * (1.0 + 0x1p-22) + FLOOR);
                    if (reach < rows->limit[r]) rows->limit[r] = reach;
                }
        }
}

/* Add the cosine kernel over the points at a span of places, which starts at row0, once for each
   column of weights. */
API void add_kernels(const float *place_panels, const float *point_panels, const reals *places,
                     const reals *points, const thresholds *rows, const thresholds *columns,
                     int64_t row0, double bandwidth, const double *weights, double *sums,
                     int64_t place_panel_count, int64_t d, int64_t point_panel_count, int64_t m,
                     int64_t n, int64_t repeats, int64_t count)
{
    float products[PANEL * PANEL];
    uint64_t passing[PANEL];
    (void)place_panel_count, (void)point_panel_count, (void)m, (void)n, (void)count;
    for (int64_t column = 0; column < columns->n; column += PANEL)
        for (int64_t row = 0; row < rows->n; row += PANEL) {
            multiply_panels(place_panels + (row0 + row) * d, point_panels + column * d, d, products);
            if (sift(products, rows, columns, row, column, passing) == 0) continue;
            for (int64_t r = row; r < row + PANEL; r++)
                for (uint64_t bits = passing[r - row]; bits; bits &= bits - 1) {
                    int64_t c = column + lowest_bit(bits);
                    double distance = sqrt(squared_distance(places, row0 + r, points, c, d));
                    if (!(distance < bandwidth)) continue;
                    double height = cos(HALF_PI * distance / bandwidth);
                    double *RESTRICT of_place = sums + r * repeats;
                    for (int64_t t = 0; t < repeats; t++)
                        of_place[t] += height * weights[c * repeats + t];
                }
        }
}

#define COLUMNS 512
#define NEGLIGIBLE (-45.0) /* e^-45 of the largest term: a million such change no bit that is kept */

/* The largest of some numbers, filled up to a multiple of eight. */
INLINE double largest_of(const double *values, int64_t count)
{
    typedef VECTOR(int64_t, WIDE_LANES) words;
    wide_lanes largest = as_it_is(values);
    for (int64_t j = WIDE_LANES; j < count; j += WIDE_LANES) {
        wide_lanes next = as_it_is(values + j);
        words more = next > largest;
        largest = (wide_lanes)(((words)next & more) | ((words)largest & ~more));
    }
    double best = largest[0];
    for (int l = 1; l < WIDE_LANES; l++)
        if (largest[l] > best) best = largest[l];
    return best;
}

/* For each of `count` places, the logarithm of the sum over the points, whose coordinates stand one
   after the other, of exp(-sharpness * squared distance). Where both are one set, in which the first
   place is row `first`, a row does not count for itself. */
API void log_kernel_sums(const double *places, const double *columns, const double *sharpness,
                         int64_t first, bool own, double *sums, int64_t count, int64_t d, int64_t n)
{
    double exponents[COLUMNS];
    for (int64_t i = 0; i < count; i++) {
        double largest = -INFINITY, total = 0.0;
        for (int64_t start = 0; start < n; start += COLUMNS) {
            int64_t width = smaller(COLUMNS, n - start);
            for (int64_t j = 0; j < width; j++) exponents[j] = 0.0;
            for (int64_t j = width; j % 8; j++) exponents[j] = -INFINITY;
            for (int64_t t = 0; t < d; t++) {
                const double *column = columns + t * n + start;
                double at = places[i * d + t], sharp = sharpness[i];
                for (int64_t j = 0; j < width; j++) {
                    double gap = column[j] - at;
                    exponents[j] -= sharp * gap * gap;
                }
            }
            if (own && start <= first + i && first + i < start + width)
                exponents[first + i - start] = -INFINITY;
            double highest = largest_of(exponents, width);
            if (highest > largest) {
                total *= exp(largest - highest);
                largest = highest;
            }
            for (int64_t j = 0; j < width; j++)
                if (exponents[j] - largest > NEGLIGIBLE) total += exp(exponents[j] - largest);
        }
        sums[i] = largest + log(total);
    }
}
