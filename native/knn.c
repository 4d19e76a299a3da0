/* The neighbour engine: the nearest rows, the balls, and who lies in them (estimate/knn).

   Distances come from the float32 products of panels first; pairs that these bounds leave open are
   settled in float64. */

#include "distances.h"
#include "rounded.h"

static const double FLOOR = 1e-32;  /* as in numeric/distances.py */
static const double LARGE = 3e38;   /* just below what float32 holds */
static const double SMALL = 1e-30;  /* a ratio below shuts nothing out: float32 cannot tell it well */
static const double LESS = 1 - 0x1p-20; /* keeps an inexact ratio from shutting out its equal */
static const double NOTHING = 1e-36; /* a product below counts as 0 */
static const float CLOSE = 0.1f;    /* share of the squared lengths below which products cancel */
static const float TINY = 1e-32f;   /* half a squared distance that may have lost all to underflow */

/* The rows with the smallest bounds, smallest first (Candidates in estimate/knn/nearest.py). */
typedef struct {
    float *bound;
    int64_t *which;
    int64_t n, kept;
} candidates;

/* Squared radii of the balls around the rows of a set (Radii in estimate/knn/balls.py). */
typedef struct {
    const double *squared;
    const double *without;
    const double *largest;
    const double *capped;
    const double *smaller;
    const int64_t *labels;
    const double *halves;
    const uint64_t *codes;
    int64_t n, k_max, blocks, halvings;
} radii;

/* What settles a pair of some rows (TileBalls in estimate/knn/ball_counts.py). */
typedef struct {
    const radii *radii;
    const double *marks;
    double median;
    const float *limit;
    int64_t start;
    int64_t n, kept, filled;
} tile_balls;

/* What owners and guests have in common (BallCounts in estimate/knn/ball_counts.py). */
typedef struct {
    int32_t *held;
    int32_t *inside;
    int32_t *held_without;
    int32_t *held_from;
    int32_t *inside_without;
    int32_t *held_halves;
    int32_t *inside_halves;
    int32_t *capped;
    float *bound;
    int64_t *which;
    double *ratio;
    int64_t *deepest;
    double *missed;
    int64_t owners, k_max, guests, blocks, halvings, kept;
} ball_counts;

/* What balls of one radius need (CommonBalls in estimate/knn/ball_counts.py). */
typedef struct {
    bool active;
    const float *half_rows;
    const float *half_columns;
    double scale;
    float inverse_rows;
    float inverse_columns;
    double squared_rows;
    double squared_columns;
    double *missed_rows;
    double *missed_columns;
    int64_t n, m;
} common_balls;

/* Whether a ball holds a point at some squared distance from its centre. */
INLINE bool holds(double squared_radius, double squared, bool closed)
{
    return closed ? squared <= squared_radius : squared < squared_radius;
}

/* Put a candidate into its place; return the bound beyond which none is kept now. */
INLINE float keep(float *bounds, int64_t *index, int64_t kept, float bound, int64_t which)
{
    int64_t place = kept - 1;
    if (bound < bounds[place]) {
        for (; place > 0 && bounds[place - 1] > bound; place--) {
            bounds[place] = bounds[place - 1];
            index[place] = index[place - 1];
        }
        bounds[place] = bound;
        index[place] = which;
    }
    return bounds[kept - 1];
}

/* Put one neighbour into a list sorted by distance and index, if it belongs there. */
INLINE void insert(double *squared, int64_t *index, int64_t k, double value, int64_t which)
{
    int64_t place = k - 1;
    if (value > squared[place] || (value == squared[place] && which > index[place]
                                   && index[place] >= 0))
        return;
    for (; place > 0 && (squared[place - 1] > value
                         || (squared[place - 1] == value && index[place - 1] > which));
         place--) {
        squared[place] = squared[place - 1];
        index[place] = index[place - 1];
    }
    squared[place] = value;
    index[place] = which;
}

INLINE const float *panel_of(const float *panels, int64_t row, int64_t d)
{
    return panels + row / PANEL * d * PANEL;
}

/* Half a squared distance in the scale of the sieve, as a bound: rounded down. */
INLINE float bound_of(double squared, double half_scale)
{
    return (float)(squared * half_scale * (1 - 0x1p-22));
}

/* Go through all pairs of a tile; within one set, those that lie above the diagonal. */
API void scan_nearest(const float *row_panels, const float *column_panels,
                      const rounded *rounded_rows, const rounded *rounded_columns,
                      const reals *points, const reals *others, const int64_t *pairs,
                      const thresholds *rows, const thresholds *columns, double half_scale,
                      int64_t row0, int64_t column0, bool same_set, const candidates *left,
                      const candidates *right, int64_t row_count, int64_t d, int64_t column_count,
                      int64_t n, int64_t m, int64_t count)
{
    (void)row_count, (void)column_count, (void)n, (void)m;
    float products[PANEL * PANEL];
    uint64_t passing[PANEL];
    first_sieve sieve = first_sieve_of(rounded_rows, rounded_columns);
    for (int64_t pair = 0; pair < count; pair++) {
        int64_t row = pairs[2 * pair], column = pairs[2 * pair + 1];
        int64_t some = sift_rounded(&sieve, rounded_rows, rounded_columns, rows, columns, row,
                                    column, row0 + row, column0 + column, passing);
        bool exact = some >= 0;
        if (!exact) {
            multiply_panels(panel_of(row_panels, row0 + row, d),
                            panel_of(column_panels, column0 + column, d), d, products);
            some = sift_by_limits(products, rows, columns, row, column, passing);
        }
        if (some == 0) continue;
        bool diagonal = same_set && row0 + row == column0 + column;
        for (int64_t r = row; r < row + PANEL; r++) {
            uint64_t bits = passing[r - row];
            if (diagonal) bits &= ~(uint64_t)0 << (r - row) << 1; /* each pair once */
            for (; bits; bits &= bits - 1) {
                int64_t c = column + lowest_bit(bits);
                float bound = exact
                    ? bound_of(squared_distance(points, row0 + r, others, column0 + c, d),
                               half_scale)
                    : rows->low[r] + columns->low[c] - products[(r - row) * PANEL + c - column];
                if (bound < rows->limit[r]) {
                    float last = keep(left->bound + r * left->kept, left->which + r * left->kept,
                                      left->kept, bound, column0 + c);
                    if (last < rows->limit[r]) rows->limit[r] = last;
                }
                if (bound < columns->limit[c]) {
                    float last = keep(right->bound + c * right->kept,
                                      right->which + c * right->kept, right->kept, bound, row0 + r);
                    if (last < columns->limit[c]) columns->limit[c] = last;
                }
            }
        }
    }
}

/* Take the candidates of a part of the pairs into those of all. */
API void merge_candidates(float *bounds, int64_t *index, const float *part_bounds,
                          const int64_t *part_index, int64_t n, int64_t kept, int64_t part_kept)
{
    for (int64_t row = 0; row < n; row++, bounds += kept, index += kept)
        for (int64_t place = 0; place < part_kept; place++) {
            float bound = part_bounds[row * part_kept + place];
            if (!(bound < bounds[kept - 1])) break;
            keep(bounds, index, kept, bound, part_index[row * part_kept + place]);
        }
}

/* Sort the candidates of some rows by exact distance; mark the rows that they leave open. */
API void settle_candidates(const reals *points, const reals *others, double half_scale,
                           const float *bounds, const int64_t *which, double *squared,
                           int64_t *index, int64_t start, bool *still_open, int64_t n, int64_t d,
                           int64_t m, int64_t rows, int64_t kept, int64_t k)
{
    (void)n, (void)m;
    for (int64_t row = 0; row < rows; row++, squared += k, index += k) {
        for (int64_t place = 0; place < kept; place++) {
            int64_t other = which[row * kept + place];
            int64_t next = row * kept + place + 1; /* also the first of the next row */
            if (next < rows * kept && which[next] >= 0) fetch_row(others, which[next], d);
            if (other >= 0)
                insert(squared, index, k, squared_distance(points, start + row, others, other, d),
                       other);
        }
        double last = squared[k - 1] * half_scale * (1 + 0x1p-22) + FLOOR;
        int64_t end = row * kept + kept - 1; /* with room left, none was dropped that matters */
        still_open[row] = which[end] >= 0 && !(last < (double)bounds[end]);
    }
}

static bool any_open(const float *limit)
{
    for (int64_t r = 0; r < PANEL; r++)
        if (limit[r] > -INFINITY) return true;
    return false;
}

/* Look at all pairs of the rows that are open; their limits are above -inf. */
API void search_open(const float *row_panels, const float *column_panels,
                     const rounded *rounded_rows, const rounded *rounded_columns,
                     const reals *points, const reals *others, const thresholds *rows,
                     const thresholds *columns, double *squared, int64_t *index, int64_t row0, bool same_set,
                     int64_t row_count, int64_t d, int64_t column_count, int64_t n, int64_t m,
                     int64_t span, int64_t k)
{
    (void)row_count, (void)column_count, (void)n, (void)m, (void)span;
    float products[PANEL * PANEL];
    uint64_t passing[PANEL];
    first_sieve sieve = first_sieve_of(rounded_rows, rounded_columns);
    for (int64_t row = 0; row < rows->n; row += PANEL)
        for (int64_t column = 0; column < columns->n; column += PANEL) {
            if (!any_open(rows->limit + row)) break;
            int64_t some = sift_rounded(&sieve, rounded_rows, rounded_columns, rows, columns, row,
                                        column, row0 + row, column, passing);
            if (some < 0) {
                multiply_panels(panel_of(row_panels, row0 + row, d),
                                panel_of(column_panels, column, d), d, products);
                some = sift_by_limits(products, rows, columns, row, column, passing);
            }
            if (some == 0) continue;
            for (int64_t r = row; r < row + PANEL; r++)
                for (uint64_t bits = passing[r - row]; bits; bits &= bits - 1) {
                    int64_t c = column + lowest_bit(bits);
                    if (same_set && row0 + r == c) continue;
                    insert(squared + r * k, index + r * k, k,
                           squared_distance(points, row0 + r, others, c, d), c);
                    if (squared[r * k + k - 1] == 0) { /* k copies, the first ones: none before */
                        rows->limit[r] = -INFINITY;
                        break;
                    }
                }
        }
}

/* The k-th nearest row outside each block; the last known one where too few are known. Returns how
   many radii are too small for that reason, the block of the row itself left out (`own`); NULL for
   rows of another set, where none is counted. */
API int64_t radii_without_blocks(const double *squared, const int64_t *index,
                                 const int64_t *labels, const int64_t *own, int64_t k,
                                 double *without, int64_t n, int64_t known, int64_t others,
                                 int64_t blocks)
{
    (void)others;
    int64_t lacking = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t block = 0; block < blocks; block++) {
            int64_t left = k;
            for (int64_t place = 0; place < known && left != 0; place++) {
                int64_t other = index[i * known + place];
                without[i * blocks + block] = squared[i * known + place];
                left -= other >= 0 && labels[other] != block;
            }
            lacking += own && left > 0 && own[i] != block;
        }
    return lacking;
}

/* The k-th nearest row in the row's own half; the last known one where too few are known. Returns
   how many radii are too small for that reason. */
API int64_t radii_of_halves(const double *squared, const int64_t *index, const uint64_t *codes,
                            int64_t k, double *halves, int64_t n, int64_t known, int64_t halvings)
{
    int64_t lacking = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t halving = 0; halving < halvings; halving++) {
            int64_t left = k;
            for (int64_t place = 0; place < known && left != 0; place++) {
                int64_t other = index[i * known + place];
                halves[i * halvings + halving] = squared[i * known + place];
                left -= other >= 0 && ((codes[i] ^ codes[other]) >> halving & 1) == 0;
            }
            lacking += left > 0;
        }
    return lacking;
}

/* In how many of its own set's capped balls every row lies, its own left out. */
API void count_own(const double *squared, const int64_t *index, const double *capped,
                   const reals *points, bool closed, int32_t *counts, int64_t n, int64_t known,
                   int64_t d)
{
    for (int64_t i = 0; i < n; i++, squared += known, index += known) {
        if (known < n - 1 && holds(capped[i], squared[known - 1], closed)) {
            for (int64_t j = 0; j < n; j++) { /* ties go on beyond the neighbours that are known */
                double distance = squared_distance(points, i, points, j, d);
                counts[j] += j != i && holds(capped[i], distance, closed);
            }
            continue;
        }
        for (int64_t place = 0; place < known; place++) {
            if (!holds(capped[i], squared[place], closed)) break;
            if (index[place] >= 0) counts[index[place]]++;
        }
    }
}

/* Whether a radius lies where the squared distance may lie. */
INLINE bool near_a_radius(const tile_balls *balls, int64_t owner, double low, double high)
{
    const double *marks = balls->marks + owner * balls->kept;
    bool hits = low <= balls->median && balls->median <= high;
    for (int64_t place = 0; place < balls->kept; place++)
        hits |= (low <= marks[place]) & (marks[place] <= high);
    return hits;
}

/* Enter one pair into the counts of the owner's balls. */
INLINE void count_pair(double squared, int64_t owner, int64_t guest, int64_t label, uint64_t apart,
                       const radii *of, const ball_counts *counts, int64_t k, bool closed)
{
    if (!holds(of->largest[owner], squared, closed)) return;
    const double *levels = of->squared + owner * of->k_max;
    for (int64_t level = 0; level < of->k_max; level++)
        if (holds(levels[level], squared, closed)) {
            counts->held[owner * of->k_max + level]++;
            counts->inside[guest * of->k_max + level]++;
            break;
        }
    counts->capped[guest] += holds(of->capped[owner], squared, closed);
    int64_t blocks = of->blocks;
    if (blocks > 0 && holds(levels[k - 1], squared, closed))
        counts->held_from[owner * blocks + label]++;
    for (int64_t block = 0; block < blocks; block++)
        if (block != of->labels[owner]
            && holds(of->without[owner * blocks + block], squared, closed)) {
            counts->held_without[owner * blocks + block]++;
            counts->inside_without[guest * blocks + block]++;
        }
    for (int64_t halving = 0; halving < of->halvings; halving++) {
        int64_t place = owner * of->halvings + halving;
        bool hit = (apart >> halving & 1) == 0 && holds(of->halves[place], squared, closed);
        counts->held_halves[place] += hit;
        counts->inside_halves[guest * of->halvings + halving] += hit;
    }
}

/* Squared ratio of a ball's radius to the distance from its centre; -1 if it does not count. */
INLINE double depth_of(double smaller, double squared)
{
    if (smaller < 0) return -1.0;
    return squared > 0 ? smaller / squared : INFINITY;
}

/* Whether a ball may hold a guest deeper than all before; a copy of the centre ends it. */
INLINE bool may_lie_deeper(float bound, float reach, float gain, double ratio)
{
    return reach >= 0 && ratio < INFINITY && ((double)bound < FLOOR || bound * gain < reach);
}

/* Note a ball that holds the guest deeper than all before; `gain` may be NULL. */
INLINE void deepen(double ratio, int64_t owner, int64_t guest, float *gain,
                   const ball_counts *counts)
{
    double before = counts->ratio[guest];
    if (!(ratio > before || (ratio == before && owner < counts->deepest[guest]))) return;
    counts->ratio[guest] = ratio;
    counts->deepest[guest] = owner;
    if (gain && ratio > SMALL) {
        float now = (float)(ratio * LESS < LARGE ? ratio * LESS : LARGE);
        if (now > gain[guest]) gain[guest] = now;
    }
}

/* Squared distance over squared radius, at most 1; 0 for a point in the centre of a ball. */
INLINE double ratio_of(double squared, double radius)
{
    if (squared == 0) return 0.0;
    return squared < radius ? squared / radius : 1.0;
}

/* Whether a pair of a row is so close that its product cancels. */
INLINE bool any_close(const float *products, float half, const float *halves)
{
    lane_bits close = {0};
    for (int64_t c = 0; c < PANEL; c += LANES) {
        lanes whole = spread(half) + lanes_at(halves + c);
        close |= whole - lanes_at(products + c) < whole * spread(CLOSE) + spread(TINY);
    }
    return mask_of(close) != 0;
}

INLINE float16 least16(float16 x, float16 y)
{
    int16x32 lower = x < y;
    return (float16)(((int16x32)x & lower) | ((int16x32)y & ~lower));
}

/* Multiply the ratios of a row without close pairs into its columns; return their product, taken
   in lanes of 16 whatever the registers. */
INLINE float multiply_row(const float *products, float half, const float *halves,
                          const common_balls *balls, float *missed)
{
    float16 one = (float16){0} + 1.0f, product = one;
    for (int64_t c = 0; c < PANEL; c += 16) {
        float16 distance
            = half + *(const float16 *)(halves + c) - *(const float16 *)(products + c);
        distance = (float16)((int16x32)distance & (distance > 0));
        *(float16 *)(missed + c) *= least16(distance * balls->inverse_rows, one);
        product *= least16(distance * balls->inverse_columns, one);
    }
    float halved[16];
    memcpy(halved, &product, sizeof halved);
    for (int64_t count = 8; count > 0; count /= 2)
        for (int64_t lane = 0; lane < count; lane++) halved[lane] *= halved[lane + count];
    return halved[0];
}

/* The same for a row with close pairs, whose distances are computed on the numbers as given. */
static void multiply_row_exactly(const float *products, int64_t r, int64_t column,
                                 const reals *points, int64_t row, const reals *others,
                                 int64_t other0, int64_t m, int64_t d, const common_balls *balls)
{
    float half = balls->half_rows[r];
    for (int64_t c = column; c < smaller(column + PANEL, m - other0); c++) {
        if (balls->missed_rows[r] == 0 && balls->missed_columns[c] == 0) continue;
        float whole = half + balls->half_columns[c];
        float distance = whole - products[c - column];
        distance = distance > 0 ? distance : 0.0f;
        double squared = distance >= CLOSE * whole + TINY
            ? (double)distance * balls->scale
            : squared_distance(points, row, others, other0 + c, d);
        balls->missed_columns[c] *= ratio_of(squared, balls->squared_rows);
        balls->missed_rows[r] *= ratio_of(squared, balls->squared_columns);
    }
}

/* Multiply the ratios of all pairs of two panels into the products of both sides. */
static void multiply_misses(const float *products, int64_t row, int64_t column,
                            const reals *points, const reals *others, int64_t point0,
                            int64_t other0, int64_t n, int64_t m, int64_t d,
                            const common_balls *balls)
{
    const float *halves = balls->half_columns + column;
    float missed[PANEL];
    for (int64_t c = 0; c < PANEL; c++) missed[c] = 1.0f;
    for (int64_t r = row; r < smaller(row + PANEL, n - point0); r++) {
        const float *own = products + (r - row) * PANEL;
        if (any_close(own, balls->half_rows[r], halves)) {
            multiply_row_exactly(own, r, column, points, point0 + r, others, other0, m, d, balls);
            continue;
        }
        double product = multiply_row(own, balls->half_rows[r], halves, balls, missed);
        product *= balls->missed_rows[r];
        balls->missed_rows[r] = product > NOTHING ? product : 0.0;
    }
    for (int64_t c = 0; c < PANEL; c++) {
        double product = balls->missed_columns[column + c] * (double)missed[c];
        balls->missed_columns[column + c] = product > NOTHING ? product : 0.0;
    }
}

/* What scan_pairs knows of the tile, for each pair that passes. */
typedef struct {
    const reals *left, *right;
    const thresholds *rows, *columns;
    const tile_balls *owners, *others;
    const ball_counts *of_rows, *of_columns;
    double half_scale, whole_scale, gap; /* whole_scale = 1 / half_scale, a power of 2 */
    int64_t k, d;
    bool closed, by_gain;
} tile;

/* Enter a pair that passed the sieve, by its bound and the sum of both `low`, or by its `exact`
   squared distance and the bound that this gives; NAN where it is not known. */
INLINE void enter_pair(const tile *in, int64_t r, int64_t c, float sums, float bound, double exact)
{
    const tile_balls *owners = in->owners, *others = in->others;
    const ball_counts *of_rows = in->of_rows, *of_columns = in->of_columns;
    const thresholds *rows = in->rows, *columns = in->columns;
    int64_t i = owners->start + r, j = others->start + c;
    double low = ((double)bound - FLOOR) * in->whole_scale;
    double high = ((double)bound + in->gap * (double)sums + FLOOR) * in->whole_scale;
    /* Counts of both balls, settled in float64 where a radius lies within the doubt */
    bool settled = !isnan(exact);
    double squared = settled ? exact : low;
    if (bound < owners->limit[r] || bound < others->limit[c]) {
        if (!settled
            && (near_a_radius(owners, r, low, high) || near_a_radius(others, c, low, high))) {
            settled = true;
            squared = squared_distance(in->left, i, in->right, j, in->d);
        }
        const radii *ours = owners->radii, *theirs = others->radii;
        uint64_t apart = ours->codes[r] ^ theirs->codes[c];
        count_pair(squared, r, c, theirs->labels[c], apart, ours, of_rows, in->k, in->closed);
        count_pair(squared, c, r, ours->labels[r], apart, theirs, of_columns, in->k, in->closed);
    }
    /* Candidates for the nearest */
    float *kept = of_rows->bound + c * of_rows->kept;
    if (bound < kept[of_rows->kept - 1]) {
        float last = keep(kept, of_rows->which + c * of_rows->kept, of_rows->kept, bound, i);
        if (last < others->limit[c]) last = others->limit[c];
        if (last < columns->limit[c]) columns->limit[c] = last;
    }
    kept = of_columns->bound + r * of_columns->kept;
    if (bound < kept[of_columns->kept - 1]) {
        float last = keep(kept, of_columns->which + r * of_columns->kept, of_columns->kept, bound,
                          j);
        if (last < owners->limit[r]) last = owners->limit[r];
        if (last < rows->limit[r]) rows->limit[r] = last;
    }
    /* Depth in a smaller ball */
    if (!in->by_gain
        || !(may_lie_deeper(bound, rows->reach[r], columns->gain[c], of_rows->ratio[c])
             || may_lie_deeper(bound, columns->reach[c], rows->gain[r], of_columns->ratio[r])))
        return;
    double middle = settled ? squared : (low + high) / 2;
    if (!settled && middle * in->half_scale < (double)(CLOSE * sums) + FLOOR)
        middle = squared_distance(in->left, i, in->right, j, in->d);
    deepen(depth_of(owners->radii->smaller[r], middle), i, c, columns->gain, of_rows);
    deepen(depth_of(others->radii->smaller[c], middle), j, r, rows->gain, of_columns);
}

static bool any_reach(const thresholds *side)
{
    for (int64_t i = 0; i < side->n; i++)
        if (side->reach[i] >= 0) return true;
    return false;
}

/* Go through all pairs of a tile. */
API void scan_pairs(const float *row_panels, const float *column_panels,
                    const rounded *rounded_rows, const rounded *rounded_columns, const reals *left,
                    const reals *right, const int64_t *pairs, const thresholds *rows,
                    const thresholds *columns, const tile_balls *owners, const tile_balls *others,
                    const ball_counts *of_rows, const ball_counts *of_columns, double half_scale,
                    double gap, int64_t k, bool closed, const common_balls *common,
                    int64_t row_count, int64_t d, int64_t column_count, int64_t n, int64_t m,
                    int64_t count)
{
    (void)row_count, (void)column_count;
    bool by_gain = any_reach(rows) || any_reach(columns);
    tile in = {left,       right,          rows, columns, owners, others, of_rows, of_columns,
               half_scale, 1 / half_scale, gap,  k,       d,      closed, by_gain};
    float products[PANEL * PANEL];
    uint64_t passing[PANEL];
    first_sieve sieve = first_sieve_of(rounded_rows, rounded_columns);
    if (by_gain || common->active) sieve.active = false; /* these are made of products */
    for (int64_t pair = 0; pair < count; pair++) {
        int64_t row = pairs[2 * pair], column = pairs[2 * pair + 1];
        int64_t some = sift_rounded(&sieve, rounded_rows, rounded_columns, rows, columns, row,
                                    column, owners->start + row, others->start + column, passing);
        bool exact = some >= 0;
        if (!exact) {
            multiply_panels(panel_of(row_panels, owners->start + row, d),
                            panel_of(column_panels, others->start + column, d), d, products);
            if (common->active)
                multiply_misses(products, row, column, left, right, owners->start, others->start, n,
                                m, d, common);
            some = by_gain ? sift(products, rows, columns, row, column, passing)
                           : sift_by_limits(products, rows, columns, row, column, passing);
        }
        if (some == 0) continue;
        for (int64_t r = row; r < row + PANEL; r++)
            for (uint64_t bits = passing[r - row]; bits; bits &= bits - 1) {
                int64_t c = column + lowest_bit(bits);
                float sums = rows->low[r] + columns->low[c];
                if (exact) {
                    double squared
                        = squared_distance(left, owners->start + r, right, others->start + c, d);
                    enter_pair(&in, r, c, sums, bound_of(squared, half_scale), squared);
                } else {
                    float product = products[(r - row) * PANEL + c - column];
                    enter_pair(&in, r, c, sums, sums - product, NAN);
                }
            }
    }
}

/* Enter pairs that are listed, each once, exactly: they count for the balls of both rows. */
API void count_listed(const reals *left, const reals *right, const int64_t *rows,
                      const int64_t *columns, const radii *owners, const radii *others,
                      const ball_counts *of_rows, const ball_counts *of_columns, int64_t k,
                      bool closed, int64_t n, int64_t d, int64_t m, int64_t count)
{
    (void)n, (void)m;
    for (int64_t pair = 0; pair < count; pair++) {
        int64_t i = rows[pair], j = columns[pair];
        double squared = squared_distance(left, i, right, j, d);
        uint64_t apart = owners->codes[i] ^ others->codes[j];
        count_pair(squared, i, j, others->labels[j], apart, owners, of_rows, k, closed);
        count_pair(squared, j, i, owners->labels[i], apart, others, of_columns, k, closed);
    }
}

/* Enter listed pairs whose products cancel into depths and misses, from exact distances; the
   common squared radii of both sides are negative where there are no misses. */
API void enter_close(const reals *left, const reals *right, const int64_t *rows,
                     const int64_t *columns, const radii *owners, const radii *others,
                     const double *spreads, const ball_counts *of_rows,
                     const ball_counts *of_columns, int64_t n, int64_t d, int64_t m, int64_t count)
{
    (void)n, (void)m;
    for (int64_t pair = 0; pair < count; pair++) {
        int64_t i = rows[pair], j = columns[pair];
        double squared = squared_distance(left, i, right, j, d);
        deepen(depth_of(owners->smaller[i], squared), i, j, NULL, of_rows);
        deepen(depth_of(others->smaller[j], squared), j, i, NULL, of_columns);
        if (spreads[0] >= 0) {
            of_rows->missed[j] *= ratio_of(squared, spreads[0]);
            of_columns->missed[i] *= ratio_of(squared, spreads[1]);
        }
    }
}

/* Sort the others that are listed for some rows by exact distance, the nearest of them first. A
   place of -1 in `which` holds none; what is not found stays as it was. */
API void settle_listed(const reals *points, const int64_t *rows, const reals *others,
                       const int64_t *which, double *squared, int64_t *index, int64_t n, int64_t d,
                       int64_t count, int64_t m, int64_t places, int64_t k)
{
    (void)n, (void)m;
    for (int64_t r = 0; r < count; r++)
        for (int64_t place = 0; place < places; place++) {
            int64_t other = which[r * places + place];
            if (other >= 0)
                insert(squared + r * k, index + r * k, k,
                       squared_distance(points, rows[r], others, other, d), other);
        }
}

/* Settle the ratio of every guest to the owner that came out deepest. */
API void exact_ratios(const reals *owners, const reals *guests, const double *smaller,
                      const int64_t *deepest, double *ratio, int64_t n, int64_t d, int64_t m)
{
    (void)n;
    for (int64_t guest = 0; guest < m; guest++) {
        int64_t owner = deepest[guest];
        if (owner < 0) continue;
        double squared = squared_distance(owners, owner, guests, guest, d);
        ratio[guest] = squared > 0 ? smaller[owner] / squared : INFINITY;
    }
}

/* Count the rows of both sets in the closed balls around some rows of their union, whose first
   `first` rows are the reference; a row is not in its own ball. */
API void count_within(const reals *all, int64_t first, const int64_t *rows,
                      const double *squared_radius, int64_t *counts, int64_t n, int64_t d,
                      int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t other = 0; other < n; other++)
            if (other != rows[i]
                && squared_distance(all, rows[i], all, other, d) <= squared_radius[i])
                counts[2 * i + (other < first ? 0 : 1)]++;
}

/* Take a tile of distances into the k nearest of its rows; no row is its own neighbour. `beyond`
   counts who else lies at the last distance, rows before `first` and the others. */
API void take_neighbours(const double *tile, int64_t row0, int64_t column0, double *distance,
                         int64_t *index, int64_t *beyond, int64_t first, int64_t rows,
                         int64_t columns, int64_t n, int64_t k)
{
    (void)n;
    for (int64_t r = 0; r < rows; r++) {
        double *nearest = distance + (row0 + r) * k;
        int64_t *who = index + (row0 + r) * k, *more = beyond + (row0 + r) * 2;
        for (int64_t c = 0; c < columns; c++) {
            int64_t column = column0 + c, which = who[k - 1];
            double value = tile[r * columns + c], last = nearest[k - 1];
            if (value > last || row0 + r == column) continue;
            if (value == last && column > which && which >= 0) {
                more[column < first ? 0 : 1]++;
                continue;
            }
            insert(nearest, who, k, value, column);
            if (last > nearest[k - 1]) /* who was tied with the old last one lies further now */
                more[0] = more[1] = 0;
            else if (which >= 0)
                more[which < first ? 0 : 1]++;
        }
    }
}

/* Count a guest in the smallest ball of the owner that holds it. */
INLINE void count_member(int64_t owner, int64_t guest, double squared, const double *levels,
                         bool closed, int32_t *members, int32_t *inside, int64_t k_max)
{
    int64_t k = k_max;
    while (k > 0 && holds(levels[owner * k_max + k - 1], squared, closed)) k--;
    if (k < k_max) {
        members[owner * k_max + k]++;
        inside[guest * k_max + k]++;
    }
}

/* Take a tile of distances into the counts of both its rows and its columns. */
API void count_members(const double *tile, int64_t row0, int64_t column0, const double *levels,
                       bool closed, int32_t *members, int32_t *inside, int64_t rows,
                       int64_t columns, int64_t n, int64_t k_max)
{
    (void)n;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            double squared = tile[r * columns + c];
            count_member(row0 + r, column0 + c, squared, levels, closed, members, inside, k_max);
            count_member(column0 + c, row0 + r, squared, levels, closed, members, inside, k_max);
        }
}
