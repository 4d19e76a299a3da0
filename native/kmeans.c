/* K-means: rows brought to their nearest centres, and the sums of these
   (estimate/kmeans/kernels.py and centres.py).

   Rows and centres are float32, filled with zeros to whole vectors of 16 numbers and whole panels.
   A row finds its centre either from the products with all centres, or from single distances to
   those few whose lower bounds do not rule them out. */

#include "calipers.h"
#include "distances.h"
#include "panels.h"

#define GROUP 16 /* centres that share a bound */
#define SAMPLE 8 /* every eighth row tells whether single distances or all products are less work */
#define AHEAD 4  /* rows whose bounds are read from memory in the meantime */

static const float BELOW = 1.0f - 0x1p-22f, ABOVE = 1.0f + 0x1p-22f;

/* Rows, what is known of each, and the centres that they are brought to. */
typedef struct {
    const float *rows, *values, *total, *group_total;
    int32_t *labels;
    double *own;
    float *bounds, *groups;
    int64_t depth, places, group_places;
} clustering;

/* A distance never above the true one, for a bound that holds until the centre has moved further. */
INLINE float keep_bound(float distance, float total)
{
    return (distance * BELOW + total) * BELOW;
}

/* A distance as float32, never below the true one. */
INLINE float reach_of(double squared) { return (float)(sqrt(squared) * (1.0 + 0x1p-22)); }

/* Half a squared distance as float32, above the true one. */
INLINE float half_of(double squared) { return (float)(0.5 * squared * (1.0 + 0x1p-22) + 1e-36); }

/* Which of 16 values, each less another number, lie below a limit: a bit for each. */
INLINE uint64_t mask_below(const float *values, const float *less, float limit)
{
    lanes limits = spread(limit);
    uint64_t mask = 0;
    for (int v = 0; v < GROUP; v += LANES) {
        lanes gap = lanes_at(values + v) - lanes_at(less + v);
#if defined(__AVX512F__)
        mask |= (uint64_t)_mm512_cmp_ps_mask((__m512)gap, (__m512)limits, _CMP_LT_OQ) << v;
#else
        mask |= mask_of(gap < limits) << v;
#endif
    }
    return mask;
}

INLINE lanes lesser(lanes a, lanes b)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (lanes)_mm256_min_ps((__m256)a, (__m256)b);
#else
    lane_bits less = a < b;
    return (lanes)(((lane_bits)a & less) | ((lane_bits)b & ~less));
#endif
}

/* The smallest of 16 values, each less another number; none is NaN. */
INLINE float least_of(const float *values, const float *less)
{
#if defined(__SSE2__)
    __m128 quarter[4];
    for (int q = 0; q < 4; q++)
        quarter[q] = _mm_sub_ps(_mm_loadu_ps(values + 4 * q), _mm_loadu_ps(less + 4 * q));
    __m128 least =
        _mm_min_ps(_mm_min_ps(quarter[0], quarter[1]), _mm_min_ps(quarter[2], quarter[3]));
    least = _mm_min_ps(least, _mm_movehl_ps(least, least));
    return _mm_cvtss_f32(_mm_min_ss(least, _mm_shuffle_ps(least, least, 1)));
#else
    float least = values[0] - less[0];
    for (int l = 1; l < GROUP; l++) {
        float gap = values[l] - less[l];
        if (gap < least) least = gap;
    }
    return least;
#endif
}

/* Squared distance of a row to a centre. */
INLINE double measure(const clustering *on, int64_t i, int64_t c)
{
    return squared_gap_ff(on->rows + i * on->depth, on->values + c * on->depth, on->depth);
}

enum { SIDE_BY_SIDE = 4 }; /* rows whose sums, each in order, run at once */

/* Centre and scale rows, fill them up with zeros, and bound half their squared lengths. */
API void lay_cluster_rows(const reals *points, const double *centre, double scale, double share,
                          float *rows, float *low, int64_t n, int64_t d, int64_t depth)
{
    for (int64_t i = 0; i < n; i++) {
        float *row = rows + i * depth;
        if (points->wide) {
            const double *from = (const double *)points->data + i * d;
            for (int64_t t = 0; t < d; t++) row[t] = (float)((from[t] - centre[t]) * scale);
        } else {
            const float *from = (const float *)points->data + i * d;
            for (int64_t t = 0; t < d; t++) row[t] = (float)(((double)from[t] - centre[t]) * scale);
        }
        for (int64_t t = d; t < depth; t++) row[t] = 0.0f;
        if ((i + 1) % SIDE_BY_SIDE && i + 1 < n) continue;
        int64_t first = i / SIDE_BY_SIDE * SIDE_BY_SIDE, count = i + 1 - first;
        const float *laid = rows + first * depth;
        double squared[SIDE_BY_SIDE] = {0};
        if (count == SIDE_BY_SIDE) {
            for (int64_t t = 0; t < d; t++)
                for (int r = 0; r < SIDE_BY_SIDE; r++) {
                    double value = laid[r * depth + t];
                    squared[r] += value * value;
                }
        } else {
            for (int64_t r = 0; r < count; r++)
                for (int64_t t = 0; t < d; t++) {
                    double value = laid[r * depth + t];
                    squared[r] += value * value;
                }
        }
        for (int64_t r = 0; r < count; r++) low[first + r] = (float)(share * squared[r]);
    }
}

/* Lay out the first `count` places as centres, and add up how far they moved. */
API void lay_centres(const float *values, const float *before, const float *before_total,
                     const float *before_group_total, int64_t count, double share, float *low,
                     float *panels, double *drift, float *total, float *group_total,
                     int64_t places, int64_t depth, int64_t groups, int64_t panel_count)
{
    (void)places, (void)groups, (void)panel_count;
    for (int64_t c = 0; c < count; c++) {
        double squared = 0.0, moved = 0.0;
        float *column = panels + c / PANEL * depth * PANEL + c % PANEL;
        for (int64_t t = 0; t < depth; t++) {
            double value = (double)values[c * depth + t];
            double gap = value - (double)before[c * depth + t];
            column[t * PANEL] = values[c * depth + t];
            squared += value * value;
            moved += gap * gap;
        }
        low[c] = (float)(share * squared);
        drift[c] = sqrt(moved);
        total[c] = (before_total[c] + (float)drift[c]) * ABOVE;
    }
    for (int64_t c = 0; c < count; c += GROUP) {
        double farthest = 0.0;
        for (int64_t other = c; other < c + GROUP; other++)
            if (drift[other] > farthest) farthest = drift[other];
        group_total[c / GROUP] = (before_group_total[c / GROUP] + (float)farthest) * ABOVE;
    }
}

/* Write lower bounds of half the squared distances of 48 rows to the centres of a panel, and what
   the least of every 16th column has been so far. */
INLINE void bound_halves(const float *products, const float *low, const float *centre_low,
                         float *halves, int64_t stride, float *least)
{
    const lanes zero = {0};
    for (int64_t r = 0; r < PANEL; r++) {
        lanes base = spread(low[r]);
        for (int64_t c = 0; c < PANEL; c += LANES) {
            lanes half = (base + lanes_at(centre_low + c)) - lanes_at(products + r * PANEL + c);
            half = (lanes)((lane_bits)half & (half > zero));
            *(lanes *)(halves + r * stride + c) = half;
            float *sofar = least + r * GROUP + c % GROUP;
            *(lanes *)sofar = lesser(half, lanes_at(sofar));
        }
    }
}

/* Take a centre that is nearer; among equal new ones the first, as single distances do. */
INLINE void try_centre(const clustering *on, int64_t i, int64_t c, int32_t before)
{
    double squared = measure(on, i, c);
    if (squared < on->own[i]
        || (squared == on->own[i] && on->labels[i] != before && c < on->labels[i]))
        on->labels[i] = (int32_t)c, on->own[i] = squared;
}

/* Settle in float64 which of the centres that may be the nearest is it. */
INLINE void choose(const clustering *on, int64_t i, const float *halves, float least)
{
    static const float zeros[GROUP];
    if (!(least < half_of(on->own[i]))) return;
    int32_t before = on->labels[i];
    float limit = half_of(2.0 * (double)least);
    int64_t likely = -1;
    for (int64_t c0 = 0; c0 < on->places && likely < 0; c0 += GROUP) {
        uint64_t mask = mask_below(halves + c0, zeros, limit);
        if (mask) likely = c0 + lowest_bit(mask);
    }
    try_centre(on, i, likely, before); /* first, since it lowers the limit */
    for (int64_t c0 = 0; c0 < on->places; c0 += GROUP) {
        uint64_t mask = mask_below(halves + c0, zeros, half_of(on->own[i]));
        for (; mask; mask &= mask - 1) {
            int64_t c = c0 + lowest_bit(mask);
            if (c != likely && c != on->labels[i]) try_centre(on, i, c, before);
        }
    }
}

INLINE void set_bounds(const clustering *on, int64_t i, const float *halves)
{
    static const float zeros[GROUP];
    float *bounds = on->bounds + i * on->places, *groups = on->groups + i * on->group_places;
    for (int64_t c = 0; c < on->places; c++)
        bounds[c] = keep_bound(sqrtf(2.0f * halves[c]), on->total[c]);
    for (int64_t g = 0; g < on->places / GROUP; g++) {
        float half = least_of(halves + GROUP * g, zeros);
        groups[g] = keep_bound(sqrtf(2.0f * half), on->group_total[g]);
    }
}

/* Find the nearest centre of every row from all products, and set its bounds anew. */
static void assign_by_products(const clustering *on, const float *low, int64_t first, int64_t last,
                               const float *centre_low, const float *panels, float *halves)
{
    float products[PANEL * PANEL], least[PANEL * GROUP];
    int64_t depth = on->depth, places = on->places;
    for (int64_t i0 = first; i0 < last; i0 += PANEL) {
        for (int l = 0; l < PANEL * GROUP; l++) least[l] = INFINITY;
        for (int64_t c0 = 0; c0 < places; c0 += PANEL) {
            memset(products, 0, sizeof products);
            multiply_rows(on->rows + i0 * depth, depth, PANEL, panels + c0 * depth, depth, products);
            bound_halves(products, low + i0, centre_low + c0, halves + c0, places, least);
        }
        static const float zeros[GROUP];
        for (int64_t i = i0; i < smaller(i0 + PANEL, last); i++) {
            float *row = halves + (i - i0) * places;
            choose(on, i, row, least_of(least + (i - i0) * GROUP, zeros));
            if (on->bounds && on->labels[i] >= 0) {
                row[on->labels[i]] = INFINITY;
                set_bounds(on, i, row);
            }
        }
    }
}

/* Have the bounds of a row that will be looked at read from memory, where they lie far apart. */
INLINE void fetch_bounds(const clustering *on, int64_t i)
{
    const float *bounds = on->bounds + i * on->places;
    const float *groups = on->groups + i * on->group_places;
    float reach = reach_of(on->own[i]);
    for (int64_t g0 = 0; g0 < on->group_places; g0 += GROUP) {
        uint64_t open = mask_below(groups + g0, on->group_total + g0, reach);
        for (; open; open &= open - 1)
            __builtin_prefetch(bounds + GROUP * (g0 + lowest_bit(open)), 1);
    }
}

/* In every eighth row, how many pairs must be looked at. */
static int64_t count_open(const clustering *on, int64_t first, int64_t last)
{
    int64_t hits = 0;
    for (int64_t i = first; i < last; i += SAMPLE) {
        if (i + SAMPLE * AHEAD < last) fetch_bounds(on, i + SAMPLE * AHEAD);
        const float *bounds = on->bounds + i * on->places;
        const float *groups = on->groups + i * on->group_places;
        float reach = reach_of(on->own[i]);
        for (int64_t g0 = 0; g0 < on->group_places; g0 += GROUP) {
            uint64_t open = mask_below(groups + g0, on->group_total + g0, reach);
            for (; open; open &= open - 1) {
                int64_t c0 = GROUP * (g0 + lowest_bit(open));
                hits += __builtin_popcountll(mask_below(bounds + c0, on->total + c0, reach));
            }
        }
    }
    return hits;
}

/* Remember how far the centre is that a row leaves. */
INLINE void leave(const clustering *on, int64_t i)
{
    int64_t old = on->labels[i], g = old / GROUP;
    float distance = (float)sqrt(on->own[i]);
    float *group = on->groups + i * on->group_places + g;
    on->bounds[i * on->places + old] = keep_bound(distance, on->total[old]);
    float bound = keep_bound(distance, on->group_total[g]);
    if (bound < *group) *group = bound;
}

static void assign_within_group(const clustering *on, int64_t i, int64_t g)
{
    int64_t c0 = GROUP * g;
    float *bounds = on->bounds + i * on->places + c0;
    const float *total = on->total + c0;
    uint64_t mask = mask_below(bounds, total, reach_of(on->own[i]));
    for (; mask; mask &= mask - 1) {
        int64_t place = lowest_bit(mask);
        if (bounds[place] - total[place] >= reach_of(on->own[i])) continue;
        double squared = measure(on, i, c0 + place);
        bounds[place] = keep_bound((float)sqrt(squared), total[place]);
        if (squared < on->own[i]) {
            leave(on, i);
            on->labels[i] = (int32_t)(c0 + place), on->own[i] = squared;
            bounds[place] = INFINITY;
        }
    }
    float nearest = least_of(bounds, total);
    if (!(nearest > 0.0f)) nearest = 0.0f;
    on->groups[i * on->group_places + g] = keep_bound(nearest, on->group_total[g]);
}

/* Compute the distances whose bounds no longer rule them out. */
static void assign_by_bounds(const clustering *on, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++) {
        if (i + AHEAD < last) fetch_bounds(on, i + AHEAD);
        const float *groups = on->groups + i * on->group_places;
        for (int64_t g0 = 0; g0 < on->group_places; g0 += GROUP) {
            uint64_t open = mask_below(groups + g0, on->group_total + g0, reach_of(on->own[i]));
            for (; open; open &= open - 1) assign_within_group(on, i, g0 + lowest_bit(open));
        }
    }
}

/* Bring rows `first` to `last` to their nearest centres. Where bounds are kept, and no more than
   the share `few` of all pairs must be looked at, these alone are; else all products are taken. */
API void assign_rows(const float *rows, const float *low, int64_t first, int64_t last,
                     const float *values, const float *centre_low, const float *panels,
                     const double *drift, const float *total, const float *group_total,
                     int32_t *labels, double *own, float *bounds, float *groups, double few,
                     float *halves, int64_t filled, int64_t depth, int64_t places,
                     int64_t panel_count, int64_t group_places, int64_t n)
{
    (void)filled, (void)panel_count, (void)n;
    if (first >= last) return;
    const clustering on = {rows,   values, total, group_total, labels,      own,
                           bounds, groups, depth, places,      group_places};
    for (int64_t i = first; i < last; i++)
        if (labels[i] >= 0 && drift[labels[i]] > 0.0) own[i] = measure(&on, i, labels[i]);
    if (labels[first] >= 0 && bounds) {
        int64_t sampled = (last - first - 1) / SAMPLE + 1;
        if ((double)count_open(&on, first, last) <= few * (double)sampled * (double)places) {
            assign_by_bounds(&on, first, last);
            return;
        }
    }
    assign_by_products(&on, low, first, last, centre_low, panels, halves);
}

/* Set the squared distances of rows `first` to `last` to the centres that they have. */
API void measure_own_centres(const float *rows, const int32_t *labels, const float *values,
                             double *squares, int64_t first, int64_t last, int64_t filled,
                             int64_t depth, int64_t n, int64_t places)
{
    (void)filled, (void)n, (void)places;
    for (int64_t i = first; i < last; i++) {
        int64_t c = labels[i];
        squares[i] =
            c >= 0 ? squared_gap_ff(rows + i * depth, values + c * depth, depth) : INFINITY;
    }
}

/* Settle in float64 which of the listed centres is the nearest of its row. Centres of a row come in
   their order, so that the first of equally near ones is taken. */
API void settle_listed_centres(const float *rows, const int64_t *pair_rows,
                               const int64_t *pair_centres, int64_t first, int64_t last,
                               const float *values, int32_t *labels, double *own, int64_t filled,
                               int64_t depth, int64_t pairs, int64_t places, int64_t n)
{
    (void)filled, (void)pairs, (void)places, (void)n;
    for (int64_t place = first; place < last; place++) {
        int64_t i = pair_rows[place], c = pair_centres[place];
        double squared = squared_gap_ff(rows + i * depth, values + c * depth, depth);
        if (squared < own[i]) labels[i] = (int32_t)c, own[i] = squared;
    }
}

/* The nearest whole number, of two the even one. */
INLINE int64_t whole_of(double value)
{
#if defined(__AVX512DQ__)
    return (int64_t)rint(value); /* in registers, many at a time */
#else
    return llrint(value);
#endif
}

/* Bring the sums of the centres' rows up to date, in columns `first` to `last`; return how many rows
   have changed their centre since they were counted. Masses are kept with column 0. */
API int64_t shift_centre_sums(const float *rows, const int32_t *counted, const int32_t *labels,
                              const double *weights, double unit, int64_t *sums, int64_t *mass,
                              int64_t first, int64_t last, int64_t filled, int64_t depth, int64_t n,
                              int64_t places)
{
    (void)filled, (void)places;
    int64_t changed = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t old = counted[i], new = labels[i];
        if (old == new) continue;
        changed++;
        double factor = weights[i] * unit;
        const float *row = rows + i * depth;
        int64_t *RESTRICT to = sums + new * depth;
        if (first == 0) {
            int64_t whole = whole_of(factor);
            mass[new] += whole;
            if (old >= 0) mass[old] -= whole;
        }
        if (old >= 0) {
            int64_t *RESTRICT from = sums + old * depth;
            for (int64_t t = first; t < last; t++) {
                int64_t term = whole_of(factor * (double)row[t]);
                to[t] += term, from[t] -= term;
            }
        } else {
            for (int64_t t = first; t < last; t++) to[t] += whole_of(factor * (double)row[t]);
        }
    }
    return changed;
}

/* All rounds of a clustering of few rows, from the products of all rows with each other.

   The product of a row with the mean of a centre's rows is the mean of its products with these, so
   with all products at hand a round takes one addition for each row and centre, and a few for each
   row that changes its centre. Products are float32, summed in any order by whoever made them.
   Where they cannot tell which of several centres is the nearest, distances are measured, so that
   every row comes to the centre to which assign_rows would bring it. */
typedef struct {
    const float *rows, *products;
    const double *weights;
    int64_t *sums, *mass; /* of the rows of each centre, in whole multiples of 1 / unit */
    float *values;        /* the centres */
    double *crosses;      /* (cells, n): products of all rows with the sum of a centre's rows */
    double *norms;        /* the squared length of each centre */
    double *parts;        /* 1 over the weight of the rows in its crosses */
    bool *seeded;         /* whether it was put on a row, and is no mean */
    int32_t *labels, *before;
    double *own, *best, *second;
    int64_t n, depth, cells;
    double unit;
} few_rows;

/* The squared distance of a row to a centre, less the row's squared length, by the products. */
INLINE double gap_of(const few_rows *on, int64_t c, int64_t i)
{
    return on->norms[c] - 2.0 * on->parts[c] * on->crosses[c * on->n + i];
}

INLINE double measure_few(const few_rows *on, int64_t i, int64_t c)
{
    return squared_gap_ff(on->rows + i * on->depth, on->values + c * on->depth, on->depth);
}

static void put_on_row(const few_rows *on, int64_t c, int64_t i)
{
    const float *products = on->products + i * on->n;
    double *crosses = on->crosses + c * on->n;
    for (int64_t j = 0; j < on->n; j++) crosses[j] = (double)products[j];
    memcpy(on->values + c * on->depth, on->rows + i * on->depth, sizeof(float) * (size_t)on->depth);
    on->norms[c] = (double)products[i], on->parts[c] = 1.0, on->seeded[c] = true;
}

/* Measure which of the centres up to a limit is the nearest. A row leaves its own only for one that
   is strictly nearer, and takes the first of equal ones. */
static int32_t settle_few(const few_rows *on, int64_t i, double limit)
{
    int64_t own = on->before[i], nearest = own;
    double least = own < 0 ? INFINITY : measure_few(on, i, own);
    for (int64_t c = 0; c < on->cells; c++) {
        if (c == own || gap_of(on, c, i) > limit) continue;
        double squared = measure_few(on, i, c);
        if (squared < least) least = squared, nearest = c;
    }
    return (int32_t)nearest;
}

/* Bring every row to its nearest centre; gaps that differ by less than `slack` are measured. */
static void assign_few(const few_rows *on, double slack)
{
    int64_t n = on->n;
    double *RESTRICT best = on->best, *RESTRICT second = on->second;
    for (int64_t i = 0; i < n; i++) best[i] = second[i] = INFINITY;
    for (int64_t c = 0; c < on->cells; c++) {
        const double *RESTRICT crosses = on->crosses + c * n;
        double norm = on->norms[c], twice = 2.0 * on->parts[c];
        for (int64_t i = 0; i < n; i++) {
            double gap = norm - twice * crosses[i];
            double higher = gap > best[i] ? gap : best[i];
            best[i] = gap < best[i] ? gap : best[i];
            second[i] = higher < second[i] ? higher : second[i];
        }
    }
    memcpy(on->before, on->labels, sizeof(int32_t) * (size_t)n);
    for (int64_t c = 0; c < on->cells; c++) {
        const double *RESTRICT crosses = on->crosses + c * n;
        double norm = on->norms[c], twice = 2.0 * on->parts[c];
        for (int64_t i = 0; i < n; i++)
            if (norm - twice * crosses[i] <= best[i]) on->labels[i] = (int32_t)c;
    }
    for (int64_t i = 0; i < n; i++)
        if (!(second[i] > best[i] + slack)) on->labels[i] = settle_few(on, i, best[i] + slack);
}

/* Bring the sums to the labels as they are; return how many rows have changed their centre. */
static int64_t sum_up_few(const few_rows *on)
{
    int64_t n = on->n, depth = on->depth;
    for (int64_t c = 0; c < on->cells; c++)
        if (on->seeded[c]) memset(on->crosses + c * n, 0, sizeof(double) * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        int64_t old = on->before[i], new = on->labels[i];
        if (old == new) continue;
        const float *RESTRICT products = on->products + i * n;
        double weight = on->weights[i];
        double *RESTRICT to = on->crosses + new * n;
        for (int64_t j = 0; j < n; j++) to[j] += weight * (double)products[j];
        if (old < 0) continue;
        double *RESTRICT from = on->crosses + old * n;
        for (int64_t j = 0; j < n; j++) from[j] -= weight * (double)products[j];
    }
    return shift_centre_sums(on->rows, on->before, on->labels, on->weights, on->unit, on->sums,
                             on->mass, 0, depth, n, depth, n, on->cells);
}

/* Put centres without rows on the rows that cost most, the first one first; `costs` are spent. False
   where too few rows cost anything. */
static bool seed_empty(const few_rows *on, double *costs)
{
    for (int64_t c = 0; c < on->cells; c++) {
        if (on->mass[c]) continue;
        int64_t farthest = 0;
        for (int64_t i = 1; i < on->n; i++)
            if (costs[i] > costs[farthest]) farthest = i;
        if (!(costs[farthest] > 0.0)) return false;
        costs[farthest] = -1.0;
        put_on_row(on, c, farthest);
    }
    return true;
}

/* Move every centre to the mean of its rows, if it has any. */
static void move_to_means(const few_rows *on)
{
    int64_t n = on->n, depth = on->depth;
    for (int64_t c = 0; c < on->cells; c++) {
        if (!on->mass[c]) continue;
        const int64_t *sums = on->sums + c * depth;
        double mass = (double)on->mass[c];
        for (int64_t t = 0; t < depth; t++)
            on->values[c * depth + t] = (float)((double)sums[t] / mass);
        on->norms[c] = 0.0, on->parts[c] = on->unit / mass, on->seeded[c] = false;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t c = on->labels[i];
        on->norms[c] += on->weights[i] * on->crosses[c * n + i];
    }
    for (int64_t c = 0; c < on->cells; c++)
        if (on->mass[c]) on->norms[c] *= on->parts[c] * on->parts[c];
}

/* How far centres have moved, squared and summed. */
static double moved_from(const few_rows *on, const float *old)
{
    double moved = 0.0;
    for (int64_t c = 0; c < on->cells; c++) {
        double gone = 0.0;
        for (int64_t t = c * on->depth; t < (c + 1) * on->depth; t++) {
            double gap = (double)on->values[t] - (double)old[t];
            gone += gap * gap;
        }
        moved += gone;
    }
    return moved;
}

/* What products may be wrong by where two gaps are compared.

   In units of the largest squared length of a row: each gap holds three products, each off by at
   most depth roundings of float32; the measured centre is rounded to float32, by which a distance
   of at most twice the length moves; sums of products are off by a rounding of float64 for each row
   that was added or taken away, and count as many times as the weight of all rows is that of the
   centre's. */
static double slack_of(const few_rows *on, double squared, double shifts, double all)
{
    double rounding = (double)on->depth * 0x1p-24, fewest = INFINITY;
    double product = rounding / (1.0 - rounding);
    for (int64_t c = 0; c < on->cells; c++)
        if (1.0 / on->parts[c] < fewest) fewest = 1.0 / on->parts[c];
    double sums = shifts * 0x1p-52 * (1.0 + all / fewest);
    return 2.0 * squared * (1.0 + 2.0 * product) * (3.0 * product + 0x5p-24 + 3.0 * sums);
}

/* Cluster n rows from some of them, `first`, as the first centres, and measure the distances to the
   last ones; return the number of rounds, or -1 where a centre stays without rows. `room` is for
   the crosses and five numbers a row and two a centre, `old` for the centres before. */
API int64_t cluster_few_rows(const float *rows, const float *products, const double *weights,
                             double unit, const int64_t *first, int64_t most, double rest,
                             int32_t *labels, double *own, int32_t *before, int64_t *sums,
                             int64_t *mass, float *values, float *old, double *crosses,
                             double *room, bool *seeded, int64_t filled, int64_t depth, int64_t n,
                             int64_t cells, int64_t places)
{
    (void)filled, (void)places;
    const few_rows on = {.rows = rows, .products = products, .weights = weights, .sums = sums,
                         .mass = mass, .values = values, .crosses = crosses,
                         .norms = room, .parts = room + cells, .seeded = seeded,
                         .labels = labels, .before = before, .own = own,
                         .best = room + 2 * cells, .second = room + 2 * cells + n,
                         .n = n, .depth = depth, .cells = cells, .unit = unit};
    double squared = 0.0, all = 0.0, shifts = 2.0 * (double)n, moved = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        labels[i] = -1, all += weights[i];
        if ((double)products[i * n + i] > squared) squared = (double)products[i * n + i];
    }
    for (int64_t c = 0; c < cells; c++) put_on_row(&on, c, first[c]);
    int64_t round = 0;
    for (;; round++) {
        assign_few(&on, slack_of(&on, squared, shifts, all));
        if (moved <= rest) break;
        int64_t changed = sum_up_few(&on);
        if (changed == 0 || round >= most) break;
        shifts += 2.0 * (double)changed;
        bool empty = false;
        for (int64_t c = 0; c < cells; c++) empty |= mass[c] == 0;
        if (empty)
            for (int64_t i = 0; i < n; i++) own[i] = weights[i] * measure_few(&on, i, labels[i]);
        memcpy(old, values, sizeof(float) * (size_t)(cells * depth));
        move_to_means(&on);
        if (empty && !seed_empty(&on, own)) return -1;
        moved = moved_from(&on, old);
    }
    for (int64_t i = 0; i < n; i++) own[i] = measure_few(&on, i, labels[i]);
    return round;
}
