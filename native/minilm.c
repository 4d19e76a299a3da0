/* A BERT encoder from tokens to mean states (embedders/minilm_kernels.py).

   Dense layers take the tokens of all texts as one matrix, in blocks of rows that stay in a core's
   own cache; attention takes one text after the other, so nothing is padded. Every number is summed
   in one order, whatever stands beside it: a text has the same vectors, bit by bit, in any batch and
   with every instruction set. */

#include "calipers.h"
#include "layers.h"

#define ROWS 8    /* tokens that are multiplied at a time: a multiple of every patch's height */
#define DEPTH 128 /* inputs of a dense layer that are multiplied at a time */
#define FEW 64    /* rows for which weights are read so seldom that all inputs are multiplied at once */
#define HEAD 32   /* numbers of a head */

#if ROWS % HEIGHT || PANEL % LANES || HEAD >= PANEL
#error "a patch does not fit"
#endif

/* The weights, as EncoderWeights says. */
typedef struct {
    const float *words, *positions, *norm;
    const float *project, *merge, *widen, *narrow;
    const float *project_bias, *merge_bias, *widen_bias, *narrow_bias;
    const float *norms;
    int64_t vocabulary, d, places, layers, project_panels, merge_panels, widen_panels, h, width;
} encoder_weights;

/* Where an encoder works, as EncoderRoom says. */
typedef struct {
    float *states, *projected, *added, *hidden, *sums;
    float *keys, *values, *scores, *shares;
    int64_t rows, d, projected_rows, width, block, h, panels;
} encoder_room;

/* x times the normal distribution function, whose tail is the density times a ratio. */
INLINE lanes gelu(lanes x)
{
    lanes t = greater(x, -x);
    lanes p = spread(0.0119592955f);
    p = multiply_add(p, t, spread(0.0965733476f));
    p = multiply_add(p, t, spread(0.319161429f));
    p = multiply_add(p, t, spread(0.499999959f));
    lanes q = spread(0.0300144101f);
    q = multiply_add(q, t, spread(0.241217857f));
    q = multiply_add(q, t, spread(0.839087547f));
    q = multiply_add(q, t, spread(1.4362055f));
    q = multiply_add(q, t, spread(1.0f));
    lanes tail = exponential(spread(-0.5f) * (t * t)) * p / q;
    return multiply_add(-t, tail, greater(x, spread(0.0f)));
}

/* The functions above, number by number. */
API void minilm_functions(const float *x, float *exponentials, float *gelus, int64_t n)
{
    for (int64_t i = 0; i < n; i += LANES) {
        float block[LANES] = {0}, results[LANES];
        size_t bytes = sizeof(float) * (size_t)smaller(LANES, n - i);
        memcpy(block, x + i, bytes);
        put(results, exponential(lanes_at(block)));
        memcpy(exponentials + i, results, bytes);
        put(results, gelu(lanes_at(block)));
        memcpy(gelus + i, results, bytes);
    }
}

/* Rows, `stride` numbers apart, times weights in panels, plus the bias: (count, 48 * panels). */
static void dense(const float *rows, int64_t stride, int64_t count, const float *weights,
                  const float *bias, int64_t panels, int64_t depth, bool bend, float *sums,
                  float *results)
{
    int64_t width = PANEL * panels, part = count > FEW ? DEPTH : depth;
    for (int64_t panel = 0; panel < panels; panel++) {
        const float *right = weights + panel * depth * PANEL;
        for (int64_t row = 0; row < count; row++)
            memcpy(sums + row * PANEL, bias + panel * PANEL, sizeof(float) * PANEL);
        for (int64_t step = 0; step < depth; step += part)
            for (int64_t row = 0; row < count; row += ROWS)
                multiply_rows(rows + row * stride + step, stride, ROWS, right + step * PANEL,
                              smaller(part, depth - step), sums + row * PANEL);
        for (int64_t row = 0; row < count; row++)
            for (int64_t c = 0; c < PANEL; c += LANES) {
                lanes sum = lanes_at(sums + row * PANEL + c);
                put(results + row * width + panel * PANEL + c, bend ? gelu(sum) : sum);
            }
    }
}

static void add_normalise(float *states, const float *added, int64_t count, int64_t d,
                          const float *norm)
{
    for (int64_t i = 0; i < count * d; i++) states[i] += added[i];
    normalise(states, count, d, norm);
}

static void look_up(const int32_t *tokens, const int64_t *starts, int64_t texts,
                    const encoder_weights *weights, float *states, int64_t room)
{
    int64_t d = weights->d;
    for (int64_t text = 0; text < texts; text++)
        for (int64_t row = starts[text]; row < starts[text + 1]; row++) {
            const float *word = weights->words + tokens[row] * d;
            const float *position = weights->positions + (row - starts[text]) * d;
            for (int64_t c = 0; c < d; c++) states[row * d + c] = word[c] + position[c];
        }
    memset(states + starts[texts] * d, 0, sizeof(float) * (size_t)((room - starts[texts]) * d));
    normalise(states, room, d, weights->norm);
}

/* Lay out the keys and values of one head of a text; what only fills a panel stays as it is. */
static void lay_out(const float *rows, int64_t length, int64_t width, float *keys, float *values)
{
    for (int64_t row = 0; row < length; row++) {
        float *key = keys + row / PANEL * HEAD * PANEL + row % PANEL;
        for (int64_t c = 0; c < HEAD; c++) key[c * PANEL] = rows[row * 3 * width + width + c];
        memcpy(values + row * PANEL, rows + row * 3 * width + 2 * width, sizeof(float) * HEAD);
    }
}

/* Scores of 8 rows, (panels, 8, 48), to the weights of a softmax, which need not add up to 1. */
static void weigh(const float *scores, int64_t panels, float *shares)
{
    lanes scale = spread(0.17677669529663687f); /* 1 / sqrt(HEAD) */
    for (int64_t r = 0; r < ROWS; r++) {
        lanes top = lanes_at(scores + r * PANEL);
        for (int64_t panel = 0; panel < panels; panel++)
            for (int64_t c = 0; c < PANEL; c += LANES)
                top = greater(top, lanes_at(scores + (panel * ROWS + r) * PANEL + c));
        float highest = top[0];
        for (int i = 1; i < LANES; i++) highest = top[i] > highest ? top[i] : highest;
        for (int64_t panel = 0; panel < panels; panel++)
            for (int64_t c = 0; c < PANEL; c += LANES) {
                lanes score = lanes_at(scores + (panel * ROWS + r) * PANEL + c);
                lanes lower = (score - spread(highest)) * scale;
                put(shares + (r * panels + panel) * PANEL + c, exponential(lower));
            }
    }
}

/* Let the tokens of each text look at each other; what they see replaces their queries. */
static void attend(const int64_t *starts, int64_t texts, int64_t width, const encoder_room *room)
{
    float *keys = room->keys, *values = room->values, *scores = room->scores;
    float *shares = room->shares;
    int64_t most = room->panels;
    memset(keys, 0, sizeof(float) * (size_t)(most * HEAD * PANEL));
    memset(values, 0, sizeof(float) * (size_t)(most * PANEL * PANEL));
    for (int64_t row = 0; row < most * PANEL; row++)
        values[row * PANEL + HEAD] = 1; /* so that the shares' sum stands behind what they weigh */
    for (int64_t text = 0; text < texts; text++) {
        int64_t length = starts[text + 1] - starts[text];
        int64_t panels = (length + PANEL - 1) / PANEL;
        for (int64_t head = 0; head < width; head += HEAD) {
            float *rows = room->projected + starts[text] * 3 * width + head;
            lay_out(rows, length, width, keys, values);
            for (int64_t row = 0; row < length; row += ROWS) {
                float seen[ROWS * PANEL] = {0};
                memset(scores, 0, sizeof(float) * (size_t)(panels * ROWS * PANEL));
                for (int64_t r = 0; r < ROWS; r++)
                    for (int64_t c = length; c < panels * PANEL; c++)
                        scores[(c / PANEL * ROWS + r) * PANEL + c % PANEL] = -INFINITY;
                for (int64_t panel = 0; panel < panels; panel++)
                    multiply_rows(rows + row * 3 * width, 3 * width, ROWS,
                                  keys + panel * HEAD * PANEL, HEAD, scores + panel * ROWS * PANEL);
                weigh(scores, panels, shares);
                multiply_rows(shares, panels * PANEL, ROWS, values, length, seen);
                for (int64_t r = 0; r < smaller(ROWS, length - row); r++) {
                    float scale = 1.0f / seen[r * PANEL + HEAD];
                    for (int64_t c = 0; c < HEAD; c++)
                        rows[(row + r) * 3 * width + c] = seen[r * PANEL + c] * scale;
                }
            }
        }
    }
}

static void pool(const float *states, const int64_t *starts, int64_t texts, int64_t d, float *means)
{
    for (int64_t text = 0; text < texts; text++)
        for (int64_t c = 0; c < d; c += 8) {
            double8 total = {0};
            for (int64_t row = starts[text]; row < starts[text + 1]; row++)
                total += widen8(states + row * d + c);
            total /= (double)(starts[text + 1] - starts[text]);
            for (int64_t i = 0; i < 8; i++) means[text * d + c + i] = (float)total[i];
        }
}

/* Mean over the tokens of each text of the states after the layers in `depths`, into (views, texts,
   d). The tokens stand end to end: `starts` says where each text begins, and the end of the last. */
API void minilm_mean_states(const int32_t *tokens, const int64_t *starts,
                            const encoder_weights *weights, const int64_t *depths,
                            const encoder_room *room, float *means, int64_t count, int64_t ends,
                            int64_t views, int64_t texts, int64_t d)
{
    const encoder_weights *w = weights;
    float *states = room->states, *projected = room->projected, *added = room->added;
    int64_t h = room->h, width = 3 * d;
    look_up(tokens, starts, texts, w, states, room->rows);
    memset(projected + room->rows * width, 0, sizeof(float) * (size_t)(ROWS * width));
    for (int64_t i = 0; i < w->layers; i++) {
        const float *norms = w->norms + i * 4 * d;
        for (int64_t row = 0; row < room->rows; row += room->block)
            dense(states + row * d, d, smaller(room->block, room->rows - row),
                  w->project + i * d * width, w->project_bias + i * width, width / PANEL, d, false,
                  room->sums, projected + row * width);
        attend(starts, texts, d, room);
        for (int64_t row = 0; row < room->rows; row += room->block) {
            int64_t rows = smaller(room->block, room->rows - row);
            dense(projected + row * width, width, rows, w->merge + i * d * d, w->merge_bias + i * d,
                  d / PANEL, d, false, room->sums, added);
            add_normalise(states + row * d, added, rows, d, norms);
            dense(states + row * d, d, rows, w->widen + i * d * h, w->widen_bias + i * h, h / PANEL,
                  d, true, room->sums, room->hidden);
            dense(room->hidden, h, rows, w->narrow + i * d * h, w->narrow_bias + i * d, d / PANEL,
                  h, false, room->sums, added);
            add_normalise(states + row * d, added, rows, d, norms + 2 * d);
        }
        for (int64_t view = 0; view < views; view++)
            if (depths[view] == i + 1) pool(states, starts, texts, d, means + view * texts * d);
    }
    (void)count, (void)ends;
}
