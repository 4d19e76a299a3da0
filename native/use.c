/* A convolutional encoder from pieces of texts to a vector of each text (embedders/use/kernels.py).

   The pieces of several texts pass together, in blocks of rows that stay in a core's own cache. For
   the convolutions they lie with rows of zeros between the texts, so that a window is what stands in
   a row; a text that is longer than a block passes in parts, each with the pieces beside it that its
   windows reach. Every number is summed in one order, whatever stands beside it: a text has the same
   vectors, bit by bit, in any batch and block and with every instruction set. */

#include "calipers.h"
#include "layers.h"

#define ROWS 8      /* rows that are multiplied at a time: a multiple of every patch's height */
#define DEPTH 128   /* inputs of a layer that are multiplied at a time */
#define ORDERS 3    /* widths of windows: 2, 3 and 5 pieces */
#define GAP 2       /* rows of zeros between texts: as far as a window reaches to either side */
#define CONTEXT 4   /* pieces to either side that two convolutions reach */
#define LEAST 1e-12 /* of the squared length of a vector that is divided by its length */

#if ROWS % HEIGHT || PANEL % LANES
#error "a patch does not fit"
#endif

static const int64_t SPAN[ORDERS] = {2, 3, 5}, BEFORE[ORDERS] = {0, 1, 2};

/* The weights up to the states of pieces, as StateWeights says. */
typedef struct {
    const uint8_t *table;
    const float *scale, *low;
    const float *project, *project_bias, *project_norm;
    const float *twos, *threes, *fives, *bias, *norm;
    int64_t pieces, d, groups, project_panels, wide, panels, two, three, five, c, f;
} state_weights;

/* Where the states are computed, as StateRoom says. */
typedef struct {
    float *states, *projected, *first, *second, *sums;
    int32_t *tokens;
    int64_t *places, *owners;
    int64_t block, f, wide, rows, c;
} state_room;

/* The weights behind the states, as MeaningWeights says. */
typedef struct {
    const float *merge, *merge_bias, *first, *second, *third, *last;
    int64_t merge_panels, f, d, u_panels, both, third_panels, u, o_panels;
} meaning_weights;

/* Where a text's meaning is computed, as MeaningRoom says. */
typedef struct {
    float *pooled, *left, *right, *sums;
    int64_t rows, f, both;
} meaning_room;

/* Rows of numbers: the k-th stands at first + places[k] * stride, at first + k * stride without. */
typedef struct {
    float *first;
    int64_t stride;
    const int64_t *places;
} rows_at;

INLINE float *row_at(const rows_at *rows, int64_t k)
{
    return rows->first + (rows->places ? rows->places[k] : k) * rows->stride;
}

/* Add to a patch of sums, PANEL apart, the products of HEIGHT rows with WIDTH columns of a panel. */
INLINE void multiply_scattered(const float *const *rows, const float *right, int64_t depth,
                               float *sums)
{
    lanes patch[HEIGHT][VECTORS];
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++) patch[r][v] = lanes_at(sums + r * PANEL + v * LANES);
    add_scattered(rows, right, depth, VECTORS, patch);
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++) put(sums + r * PANEL + v * LANES, patch[r][v]);
}

/* Rows times weights in panels, plus the bias where there is one; negative results become 0 if
   `bend`, and what stands in `added` is added. `width` results a row; rows behind the last up to a
   multiple of ROWS are computed and not stored. */
static void dense(const rows_at *left, int64_t count, const float *weights, const float *bias,
                  int64_t width, int64_t depth, bool bend, const rows_at *added,
                  const rows_at *results, float *sums)
{
    int64_t filled = (count + HEIGHT - 1) / HEIGHT * HEIGHT;
    for (int64_t column = 0; column < width; column += PANEL) {
        const float *right = weights + column * depth;
        int64_t columns = smaller(PANEL, width - column);
        float start[PANEL] = {0};
        if (bias) memcpy(start, bias + column, sizeof(float) * (size_t)columns);
        for (int64_t row = 0; row < filled; row++) memcpy(sums + row * PANEL, start, sizeof start);
        for (int64_t step = 0; step < depth; step += DEPTH)
            for (int64_t row = 0; row < count; row += HEIGHT) {
                const float *rows[HEIGHT];
                for (int64_t r = 0; r < HEIGHT; r++)
                    rows[r] = row_at(left, smaller(row + r, count - 1)) + step;
                for (int64_t c = 0; c < PANEL; c += WIDTH)
                    multiply_scattered(rows, right + step * PANEL + c, smaller(DEPTH, depth - step),
                                       sums + row * PANEL + c);
            }
        for (int64_t row = 0; row < count; row++) {
            float *result = row_at(results, row) + column;
            const float *more = added ? row_at(added, row) + column : NULL;
            for (int64_t c = 0; c < columns; c += LANES) {
                lanes sum = lanes_at(sums + row * PANEL + c);
                if (bend) sum = greater(sum, spread(0.0f));
                if (more) sum += lanes_at(more + c);
                put(result + c, sum);
            }
        }
    }
}

/* The rows of the table for the block's pieces, each byte scaled and shifted by its group. */
static void look_up(const state_weights *w, const state_room *room, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t piece = room->tokens[k], group = piece % w->groups;
        const uint8_t *bytes = w->table + piece * w->d;
        float *state = room->states + k * w->f;
        for (int64_t i = 0; i < w->d; i++)
            state[i] = (float)bytes[i] * w->scale[group] + w->low[group];
    }
}

/* What is added up of each text: of its pieces' states, (f,); of what the first convolutions give,
   (wide,); of the rows of the table, their squares and their products with the row before, (3, d). */
typedef struct {
    double *states, *windows, *rows;
    int64_t texts, f, wide, d;
} state_sums;

/* Add to the sums of the texts the rows of the table, their squares and products. */
static void add_rows(const state_room *room, int64_t count, const state_sums *sums)
{
    int64_t d = sums->d;
    for (int64_t k = 0; k < count; k++) {
        if (room->owners[k] < 0) continue;
        double *total = sums->rows + room->owners[k] * 3 * d;
        const float *row = room->states + k * room->f;
        bool follows = k && room->places[k - 1] == room->places[k] - 1;
        for (int64_t i = 0; i < d; i += 8) {
            double8 value = widen8(row + i);
            *(double8 *)(total + i) += value;
            *(double8 *)(total + d + i) += value * value;
            if (follows) *(double8 *)(total + 2 * d + i) += value * widen8(row - room->f + i);
        }
    }
}

/* The states of the pieces of a block, (count, f): what the table says, then for each width of
   windows what two convolutions make of it. */
static void compute_states(const state_weights *w, const state_room *room, int64_t count,
                           const state_sums *sums)
{
    int64_t d = w->d, c = w->c, f = w->f;
    look_up(w, room, count);
    add_rows(room, count, sums);
    rows_at states = {room->states, f, NULL}, projected = {room->projected, w->wide, NULL};
    dense(&states, count, w->project, w->project_bias, w->wide, d, false, NULL, &projected,
          room->sums);
    normalise(room->projected, count, w->wide, w->project_norm);
    const float *weights[ORDERS] = {w->twos, w->threes, w->fives};
    for (int64_t order = 0; order < ORDERS; order++) {
        int64_t depth = SPAN[order] * c, panels = w->panels * PANEL * depth;
        int64_t reach = BEFORE[order] * c;
        for (int64_t k = 0; k < count; k++)
            memcpy(room->first + room->places[k] * c, room->projected + k * w->wide + order * c,
                   sizeof(float) * (size_t)c);
        rows_at first = {room->first, c, room->places}, second = {room->second, c, room->places};
        rows_at first_windows = {room->first - reach, c, room->places};
        rows_at second_windows = {room->second - reach, c, room->places};
        rows_at results = {room->states + d + order * c, f, NULL};
        const float *bias = w->bias + order * 2 * c;
        dense(&first_windows, count, weights[order], bias, c, depth, true, &first, &second,
              room->sums);
        for (int64_t k = 0; k < count; k++) {
            if (room->owners[k] < 0) continue;
            double *total = sums->windows + room->owners[k] * w->wide + order * c;
            const float *before = row_at(&first, k), *behind = row_at(&second, k);
            for (int64_t i = 0; i < c; i += 8)
                *(double8 *)(total + i) += widen8(behind + i) - widen8(before + i);
        }
        dense(&second_windows, count, weights[order] + panels, bias + c, c, depth, true, &second,
              &results, room->sums);
    }
}

/* Add the states of a block's pieces, brought to the mean 0 and the variance 1, to their texts'. */
static void pool(const state_weights *w, const state_room *room, int64_t count,
                 const state_sums *sums)
{
    int64_t f = w->f;
    normalise(room->states, count, f, w->norm);
    for (int64_t k = 0; k < count; k++) {
        if (room->owners[k] < 0) continue;
        double *total = sums->states + room->owners[k] * f;
        const float *state = room->states + k * f;
        for (int64_t i = 0; i < f; i += 8) *(double8 *)(total + i) += widen8(state + i);
    }
}

/* Sums over the pieces of each text. The pieces stand end to end: `starts` says where each text
   begins, and the end of the last. */
API void use_state_sums(const int32_t *tokens, const int64_t *starts, const state_weights *weights,
                        const state_room *room, const state_sums *sums, int64_t count, int64_t ends)
{
    int64_t texts = sums->texts;
    int64_t filled = 0, row = GAP, block = room->block, c = room->c;
    size_t gap = sizeof(float) * (size_t)(GAP * c);
    memset(room->first, 0, gap), memset(room->second, 0, gap);
    memset(sums->states, 0, sizeof(double) * (size_t)(texts * sums->f));
    memset(sums->windows, 0, sizeof(double) * (size_t)(texts * sums->wide));
    memset(sums->rows, 0, sizeof(double) * (size_t)(texts * 3 * sums->d));
    for (int64_t text = 0; text < texts; text++) {
        int64_t start = starts[text], end = starts[text + 1];
        for (int64_t from = start; from < end;) {
            int64_t left = end - from, before = smaller(CONTEXT, from - start), after = 0;
            if (filled && before + left > block - filled) {
                compute_states(weights, room, filled, sums);
                pool(weights, room, filled, sums);
                filled = 0, row = GAP;
            }
            if (before + left > block) {
                left = block - before - CONTEXT;
                after = CONTEXT;
            }
            for (int64_t place = from - before; place < from + left + after; place++) {
                room->tokens[filled] = tokens[place];
                room->places[filled] = row++;
                room->owners[filled++] = place >= from && place < from + left ? text : -1;
            }
            memset(room->first + row * c, 0, gap), memset(room->second + row * c, 0, gap);
            row += GAP;
            from += left;
        }
    }
    if (filled) {
        compute_states(weights, room, filled, sums);
        pool(weights, room, filled, sums);
    }
    (void)count, (void)ends;
}

/* The hyperbolic tangent. */
INLINE lanes tangent(lanes x)
{
    lanes power = exponential(spread(-2.0f) * greater(x, -x));
    lanes size = (spread(1.0f) - power) / (spread(1.0f) + power);
    return (lanes)((lane_bits)size | ((lane_bits)x & INT32_MIN));
}

/* The meaning of each text from the sum of its pieces' states and their number, (texts, o): two
   layers with a way past each, the hyperbolic tangent, and length one. */
API void use_meanings(const double *sums, const int64_t *lengths, const meaning_weights *weights,
                      const meaning_room *room, float *meanings, int64_t texts, int64_t f, int64_t o)
{
    const meaning_weights *w = weights;
    int64_t d = w->d, u = w->u, both = w->both;
    for (int64_t text = 0; text < texts; text += room->rows) {
        int64_t count = smaller(room->rows, texts - text);
        for (int64_t k = 0; k < count; k++) {
            double root = sqrt((double)lengths[text + k]);
            for (int64_t i = 0; i < f; i++)
                room->pooled[k * f + i] = (float)(sums[(text + k) * f + i] / root);
        }
        /* Each of left and right holds side by side what the next layer takes */
        rows_at pooled = {room->pooled, f, NULL}, merged = {room->left, both, NULL};
        rows_at first = {room->left + d, both, NULL}, second = {room->right, both, NULL};
        rows_at third = {room->right + u, both, NULL}, last = {meanings + text * o, o, NULL};
        dense(&pooled, count, w->merge, NULL, d, f, false, NULL, &merged, room->sums);
        for (int64_t k = 0; k < count; k++) {
            float root = (float)sqrt((double)lengths[text + k]);
            for (int64_t i = 0; i < d; i++) room->left[k * both + i] += root * w->merge_bias[i];
        }
        dense(&merged, count, w->first, NULL, u, d, true, NULL, &first, room->sums);
        dense(&merged, count, w->second, NULL, u, d + u, true, NULL, &second, room->sums);
        dense(&second, count, w->third, NULL, both - u, u, true, NULL, &third, room->sums);
        dense(&second, count, w->last, NULL, o, both, false, NULL, &last, room->sums);
        for (int64_t k = 0; k < count; k++) {
            float *meaning = meanings + (text + k) * o;
            double8 total = {0};
            for (int64_t i = 0; i < o; i += LANES)
                put(meaning + i, tangent(lanes_at(meaning + i)));
            for (int64_t i = 0; i < o; i += 8) {
                double8 part = widen8(meaning + i);
                total += part * part;
            }
            double length = sum8(total);
            length = sqrt(length > LEAST ? length : LEAST);
            for (int64_t i = 0; i < o; i++) meaning[i] = (float)(meaning[i] / length);
        }
    }
}
