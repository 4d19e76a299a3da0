/* A convolutional network from pictures to their features (embedders/vision/efficientnet_kernels.py).

   A block widens each position of its map to many channels, filters each channel by itself, and
   narrows the result to the next map. The wide map is never held: some rows of it at a time pass
   through all three, in a buffer that stays in a core's own cache. Products are those of panels,
   filters short loops over channels side by side. Every number is summed in one order: a picture has
   the same features, bit by bit, in any batch and with every instruction set. */

#include "calipers.h"
#include "layers.h"

#define COLOURS 3
#define WINDOW 9 /* positions that the first convolution looks at, and numbers of a row of them */

/* A block, as a row of NetworkWeights.blocks; offsets are places in its numbers. The rows that pass
   at a time are counted where they leave. `before` is how many zeros stand before a row, and `filled`
   how long a row is with all its zeros. */
typedef struct {
    int64_t kernel, step, side, out_side, before, filled, rows;
    int64_t in, in_stride, wide, out, out_stride;
    int64_t widen, widen_bias, filter, filter_bias, narrow, narrow_bias;
} block_shape;

/* All weights, as NetworkWeights says. */
typedef struct {
    const float *numbers;
    const int64_t *blocks;
    const float *head, *head_bias;
    int64_t size, layers, fields, head_panels, last, features;
} network_weights;

/* Where a picture is computed, as NetworkRoom says. */
typedef struct {
    float *states, *results, *buffer, *filtered, *windows;
    int64_t map, buffered, narrowed, positions;
} network_room;

INLINE lanes lesser(lanes a, lanes b) { return -greater(-a, -b); }

INLINE lanes clip(lanes x) { return lesser(greater(x, spread(0.0f)), spread(6.0f)); }

/* Positions in rows of `side`, `stride` numbers each, with `gap` more positions behind each row. */
typedef struct {
    float *first;
    int64_t stride, side, gap;
} grid;

typedef struct {
    const float *weights, *bias;
    int64_t depth, outputs;
    bool clipped;
} pointwise;

/* The products of HEIGHT positions with some vectors of a panel. */
INLINE void put_products(const float *const *left, const float *right, const float *bias,
                         int64_t depth, bool clipped, const float *const *added,
                         float *const *results, int64_t count, int vectors)
{
    lanes patch[HEIGHT][VECTORS];
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++) patch[r][v] = lanes_at(bias + v * LANES);
    add_scattered(left, right, depth, vectors, patch);
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++) {
        if (r >= count) break;
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++) {
            lanes sum = clipped ? clip(patch[r][v]) : patch[r][v];
            if (added) sum += lanes_at(added[r] + v * LANES);
            put(results[r] + v * LANES, sum);
        }
    }
}

/* Each position's numbers times weights in panels, plus the bias; `added` more, position by position,
   as far apart as the results. */
static void multiply(const float *left, int64_t stride, int64_t count, const pointwise *layer,
                     const float *added, const grid *to)
{
    int64_t depth = layer->depth;
    bool clipped = layer->clipped;
    for (int64_t panel = 0; panel * PANEL < layer->outputs; panel++) {
        const float *right = layer->weights + panel * depth * PANEL;
        const float *bias = layer->bias + panel * PANEL;
        int64_t last = smaller(PANEL, layer->outputs - panel * PANEL);
        int64_t x = 0;
        float *place = to->first + panel * PANEL;
        for (int64_t row = 0; row < count; row += HEIGHT) {
            const float *rows[HEIGHT], *more[HEIGHT];
            float *results[HEIGHT];
            int64_t some = smaller(HEIGHT, count - row);
            for (int64_t r = 0; r < HEIGHT; r++) {
                rows[r] = left + smaller(row + r, count - 1) * stride;
                more[r] = added ? added + (row + r) * to->stride + panel * PANEL : rows[r];
                results[r] = place;
                place += to->stride;
                if (++x == to->side) x = 0, place += to->gap * to->stride;
            }
            for (int64_t c = 0; c < last;) {
                int64_t vectors = (last - c + LANES - 1) / LANES;
                vectors = vectors == 4 ? 2 : smaller(vectors, VECTORS);
                const float *at = right + c;
                const float *const *plus = added ? more : NULL;
                if (vectors == 3)
                    put_products(rows, at, bias + c, depth, clipped, plus, results, some, 3);
                else if (vectors == 2)
                    put_products(rows, at, bias + c, depth, clipped, plus, results, some, 2);
                else
                    put_products(rows, at, bias + c, depth, clipped, plus, results, some, 1);
                c += vectors * LANES;
                for (int64_t r = 0; r < HEIGHT; r++)
                    results[r] += vectors * LANES, more[r] += vectors * LANES;
            }
        }
    }
}

/* Some neighbouring results of a filter over LANES channels. */
INLINE void filter_some(const float *rows, int64_t row_size, int64_t wide, int64_t step,
                        const float *weights, lanes bias, int kernel, int count, float *results)
{
    lanes sums[4];
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) sums[i] = bias;
#pragma GCC unroll 5
    for (int dy = 0; dy < kernel; dy++)
#pragma GCC unroll 5
        for (int dx = 0; dx < kernel; dx++) {
            lanes weight = lanes_at(weights + (dy * kernel + dx) * wide);
            const float *place = rows + dy * row_size + dx * wide;
#pragma GCC unroll 4
            for (int i = 0; i < count; i++)
                sums[i] = multiply_add(lanes_at(place + i * step * wide), weight, sums[i]);
        }
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) put(results + i * wide, clip(sums[i]));
}

/* One row of results of filters, each over one channel. */
INLINE void filter_row(const float *rows, const block_shape *b, const float *numbers, int kernel,
                       float *results)
{
    int64_t wide = b->wide, row_size = b->filled * wide, step = b->step, side = b->out_side;
    for (int64_t c = 0; c < wide; c += LANES) {
        const float *weights = numbers + b->filter + c, *from = rows + c;
        lanes bias = lanes_at(numbers + b->filter_bias + c);
        int64_t x = 0;
        for (; x + 4 <= side; x += 4)
            filter_some(from + x * step * wide, row_size, wide, step, weights, bias, kernel, 4,
                        results + x * wide + c);
        for (; x < side; x++)
            filter_some(from + x * step * wide, row_size, wide, step, weights, bias, kernel, 1,
                        results + x * wide + c);
    }
}

/* What the first convolution looks at in a row of its results: 27 numbers from -127/128 to 1 for
   each position, and 0 beyond the picture. */
static void look(const uint8_t *image, int64_t row, int64_t side, int64_t depth, float *windows)
{
    int64_t length = COLOURS * 2 * side;
    for (int64_t dy = 0; dy < 3; dy++) {
        float *window = windows + dy * WINDOW;
        if (2 * row + dy >= 2 * side) {
            for (int64_t x = 0; x < side; x++) memset(window + x * depth, 0, sizeof(float) * WINDOW);
            continue;
        }
        const uint8_t *bytes = image + (2 * row + dy) * length;
        for (int64_t x = 0; x < side; x++)
            for (int64_t i = 0; i < WINDOW; i++) {
                int64_t place = 2 * COLOURS * x + i;
                window[x * depth + i] =
                    place < length ? ((float)bytes[place] - 127.0f) * 0.0078125f : 0.0f;
            }
    }
}

/* Add the numbers of some positions and their squares, channel by channel, to (2, channels). */
static void add_moments(const float *states, int64_t count, int64_t stride, int64_t channels,
                        double *sums)
{
    for (int64_t k = 0; k < count; k++)
        for (int64_t c = 0; c < channels; c += 8) {
            double8 value = widen8(states + k * stride + c);
            *(double8 *)(sums + c) += value;
            *(double8 *)(sums + channels + c) += value * value;
        }
}

/* Run one block: from a picture if there is one, else from the states. The first block adds to
   `sums` what its widened map holds, where there are such. */
static void run_block(const block_shape *b, const float *numbers, const uint8_t *image,
                      const network_room *room, double *sums)
{
    int64_t wide = b->wide, row_size = b->filled * wide, overlap = b->kernel - b->step;
    pointwise widen = {numbers + b->widen, numbers + b->widen_bias, b->in, wide, true};
    pointwise narrow = {numbers + b->narrow, numbers + b->narrow_bias, wide, b->out, false};
    bool adds = !image && b->step == 1 && b->in == b->out;
    memset(room->buffer, 0, sizeof(float) * (size_t)room->buffered);
    for (int64_t from = 0; from < b->out_side; from += b->rows) {
        int64_t count = smaller(b->rows, b->out_side - from);
        int64_t top = from * b->step - b->before, end = top + (count - 1) * b->step + b->kernel;
        int64_t next = top;
        if (from) {
            memmove(room->buffer, room->buffer + b->rows * b->step * row_size,
                    sizeof(float) * (size_t)(overlap * row_size));
            next += overlap;
        }
        next = larger(next, 0);
        int64_t there = smaller(end, b->side);
        grid to = {room->buffer + (next - top) * row_size + b->before * wide, wide, b->side,
                   b->filled - b->side};
        if (image)
            for (; next < there; next++, to.first += row_size) {
                look(image, next, b->side, b->in, room->windows);
                multiply(room->windows, b->in, b->side, &widen, NULL, &to);
                if (sums) add_moments(to.first, b->side, wide, wide, sums);
            }
        else if (next < there)
            multiply(room->states + next * b->side * b->in_stride, b->in_stride,
                     (there - next) * b->side, &widen, NULL, &to);
        if (end > there)
            memset(room->buffer + (there - top) * row_size, 0,
                   sizeof(float) * (size_t)((end - there) * row_size));
        for (int64_t y = 0; y < count; y++) {
            const float *rows = room->buffer + y * b->step * row_size;
            float *results = room->filtered + y * b->out_side * wide;
            if (b->kernel == 3)
                filter_row(rows, b, numbers, 3, results);
            else
                filter_row(rows, b, numbers, 5, results);
        }
        int64_t place = from * b->out_side * b->out_stride;
        grid results = {room->results + place, b->out_stride, b->out_side, 0};
        multiply(room->filtered, wide, count * b->out_side, &narrow,
                 adds ? room->states + place : NULL, &results);
    }
}

/* Sums of numbers and of their squares to means and variances. */
static void finish(double *sums, int64_t channels, int64_t count)
{
    for (int64_t c = 0; c < channels; c++) {
        double mean = sums[c] / (double)count;
        double variance = sums[channels + c] / (double)count - mean * mean;
        sums[c] = mean;
        sums[channels + c] = variance > 0 ? variance : 0;
    }
}

/* Features of pictures of 2 * side x 2 * side: the mean over positions of the last layer, and for
   each of `depths` the mean and the variance of each channel, end to end: of the first convolution
   (0), or of the map behind that many blocks. */
API void efficientnet_features(const uint8_t *images, const network_weights *weights,
                               const int64_t *depths, const network_room *room, float *features,
                               double *moments, int64_t count, int64_t side, int64_t views,
                               int64_t width, int64_t moments_width)
{
    const block_shape *blocks = (const block_shape *)weights->blocks;
    network_room now = *room;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *image = images + i * side * side * COLOURS;
        double *sums = moments + i * moments_width;
        memset(sums, 0, sizeof(double) * (size_t)moments_width);
        int64_t view = 0;
        for (int64_t layer = 0; layer < weights->layers; layer++) {
            const block_shape *b = blocks + layer;
            bool first = !layer && view < views && !depths[view];
            run_block(b, weights->numbers, layer ? NULL : image, &now, first ? sums : NULL);
            if (first) {
                finish(sums, b->wide, b->side * b->side);
                sums += 2 * b->wide, view++;
            }
            float *states = now.states;
            now.states = now.results, now.results = states;
            if (view < views && depths[view] == layer + 1) {
                int64_t positions = b->out_side * b->out_side;
                add_moments(now.states, positions, b->out_stride, b->out, sums);
                finish(sums, b->out, positions);
                sums += 2 * b->out, view++;
            }
        }
        const block_shape *b = blocks + weights->layers - 1;
        int64_t positions = b->out_side * b->out_side;
        pointwise head = {weights->head, weights->head_bias, b->out, width, true};
        grid to = {now.buffer, width, positions, 0};
        multiply(now.states, b->out_stride, positions, &head, NULL, &to);
        for (int64_t c = 0; c < width; c += 8) {
            double8 total = {0};
            for (int64_t k = 0; k < positions; k++) total += widen8(now.buffer + k * width + c);
            for (int64_t j = 0; j < 8; j++)
                features[i * width + c + j] = (float)(total[j] / (double)positions);
        }
    }
}
