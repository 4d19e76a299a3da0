/* How alike texts are by the n-grams or the subsequences that they share (text/string_kernels.py). */

#include "calipers.h"
#include "sorting.h"

/* Turn the n-grams of each text into the texts of each n-gram, ascending. */
API void list_texts_of_ngrams(const int32_t *ids, const int64_t *starts, int32_t *texts,
                              int64_t *ends, int64_t total, int64_t bounds, int64_t grams_and_one)
{
    for (int64_t gram = 0; gram < grams_and_one; gram++) ends[gram] = 0;
    for (int64_t place = 0; place < total; place++) ends[ids[place]]++;
    for (int64_t gram = 1; gram < grams_and_one; gram++) ends[gram] += ends[gram - 1];
    for (int64_t text = bounds - 2; text >= 0; text--) {
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            texts[--ends[ids[place]]] = (int32_t)text;
        }
    }
}

/* The first place from `low` on that holds a text of at least this number. */
INLINE int64_t first_from(const int32_t *texts, int64_t low, int64_t high, int64_t least)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (texts[middle] < least) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Count the different n-grams that texts share, by going from each n-gram to its texts.

   The rows of `shared` are the texts from `row0` on, its columns those from `column0` on. */
API void count_shared_ngrams(const int32_t *ids, const int64_t *starts, const int32_t *texts,
                             const int64_t *ends, int64_t row0, int64_t column0, int32_t *shared,
                             int64_t total, int64_t bounds, int64_t grams_and_one, int64_t n,
                             int64_t m)
{
    (void)total, (void)bounds, (void)grams_and_one;
    for (int64_t row = 0; row < n; row++) {
        int32_t *own = shared + row * m;
        for (int64_t column = 0; column < m; column++) own[column] = 0;
        for (int64_t place = starts[row0 + row]; place < starts[row0 + row + 1]; place++) {
            int64_t end = ends[ids[place] + 1];
            int64_t reached = first_from(texts, ends[ids[place]], end, column0);
            for (; reached < end && texts[reached] < column0 + m; reached++) {
                own[texts[reached] - column0]++;
            }
        }
    }
}

/* The places of each text's tokens, sorted by token, and the tokens in that order.

   `keys` has room for twice the longest text. */
API void order_positions(const int32_t *tokens, const int64_t *starts, uint64_t *keys,
                         int32_t *places, int32_t *ordered, int64_t total, int64_t bounds,
                         int64_t longest)
{
    (void)total;
    for (int64_t text = 0; text + 1 < bounds; text++) {
        int64_t first = starts[text], length = starts[text + 1] - first;
        for (int64_t step = 0; step < length; step++) {
            keys[step] = (uint64_t)tokens[first + step] << 32 | (uint64_t)step;
        }
        sort_words(keys, keys + longest, length, 32);
        for (int64_t step = 0; step < length; step++) {
            places[first + step] = (int32_t)(keys[step] & UINT32_MAX);
            ordered[first + step] = (int32_t)(keys[step] >> 32);
        }
    }
}

/* The texts of a subsequence kernel, and room for one pair of them. */
typedef struct {
    const int64_t *starts;
    const int32_t *places, *ordered; /* of each text's tokens, as order_positions gives them */
    const double *powers;            /* of the decay */
    int64_t order;                   /* tokens of a subsequence */
    int64_t *ranges;                 /* where the matches of each token begin and end */
    double *tree;                    /* of each node, the sums of 1 to order - 1 tokens */
    int64_t *stamps;                 /* 1 + the row that a node's sums are discounted to */
    double *sums;                    /* of each match of a token, S_1 to S_order */
} subsequences;

/* Find where the second text's places of each token of the first begin and end; returns how many
   tokens have any. */
static int64_t match_tokens(const subsequences *of, int64_t first, int64_t second)
{
    int64_t at = of->starts[second], until = of->starts[second + 1], matched = 0;
    for (int64_t step = of->starts[first]; step < of->starts[first + 1]; step++) {
        int32_t token = of->ordered[step];
        while (at < until && of->ordered[at] < token) at++;
        int64_t end = at;
        while (end < until && of->ordered[end] == token) end++;
        int64_t *range = of->ranges + 2 * of->places[step];
        range[0] = at;
        range[1] = end;
        matched += end > at;
    }
    return matched;
}

/* S_1 … S_order at a match: what ends before it in both texts, discounted to it. */
INLINE void read_sums(const subsequences *of, int64_t order, int64_t a, int64_t b,
                      double *RESTRICT sums)
{
    sums[0] = 1;
    if (order == 1) return;
    for (int64_t p = 1; p < order; p++) sums[p] = 0;
    for (int64_t node = b; node > 0; node &= node - 1) { /* they count from 1: this ends at b - 1 */
        double factor = of->powers[a - of->stamps[node]] * of->powers[b - node];
        const double *known = of->tree + node * order;
        for (int64_t p = 1; p < order; p++) sums[p] += factor * known[p - 1];
    }
}

/* Let later matches see what ends here. */
INLINE void add_sums(const subsequences *of, int64_t order, int64_t a, int64_t b, int64_t length,
                     const double *RESTRICT sums)
{
    if (order == 1) return;
    for (int64_t node = b + 1; node <= length; node += node & -node) {
        double decayed = of->powers[a + 1 - of->stamps[node]], gained = of->powers[node - b - 1];
        double *known = of->tree + node * order;
        for (int64_t p = 0; p < order - 1; p++) known[p] = decayed * known[p] + gained * sums[p];
        of->stamps[node] = a + 1;
    }
}

/* The kernel of two texts that have enough tokens in common. */
INLINE double sum_matches(const subsequences *of, int64_t order, int64_t n, int64_t m)
{
    for (int64_t i = 0; i < (m + 1) * order; i++) of->tree[i] = 0;
    for (int64_t node = 0; node <= m; node++) of->stamps[node] = 0;
    double total = 0;
    for (int64_t a = 0; a < n; a++) {
        int64_t begin = of->ranges[2 * a], end = of->ranges[2 * a + 1];
        for (int64_t match = begin; match < end; match++) { /* all before any is added: a' < a */
            double *sums = of->sums + (match - begin) * order;
            read_sums(of, order, a, of->places[match], sums);
            total += sums[order - 1];
        }
        for (int64_t match = begin; match < end; match++) {
            add_sums(of, order, a, of->places[match], m, of->sums + (match - begin) * order);
        }
    }
    return total;
}

/* The kernel of two texts; those of few tokens are compiled each by itself. */
static double subsequence_kernel(const subsequences *of, int64_t first, int64_t second)
{
    int64_t n = of->starts[first + 1] - of->starts[first];
    int64_t m = of->starts[second + 1] - of->starts[second];
    if (smaller(n, m) < of->order || match_tokens(of, first, second) < of->order) return 0;
    switch (of->order) {
    case 1: return sum_matches(of, 1, n, m);
    case 2: return sum_matches(of, 2, n, m);
    case 3: return sum_matches(of, 3, n, m);
    case 4: return sum_matches(of, 4, n, m);
    case 5: return sum_matches(of, 5, n, m);
    default: return sum_matches(of, of->order, n, m);
    }
}

/* Fill in the kernel of every pair of a tile, whose first texts are `row0` and `column0`; that of
   equal texts, which have the same number in `same`, is left as it is. */
API void fill_subsequence_tile(const int64_t *starts, const int32_t *places,
                               const int32_t *ordered, const double *powers, int64_t row0,
                               int64_t column0, const int64_t *rank, const int64_t *same,
                               int64_t *ranges, double *tree, int64_t *stamps, double *sums,
                               double *tile, int64_t bounds, int64_t total, int64_t exponents,
                               int64_t texts, int64_t longest, int64_t nodes, int64_t order,
                               int64_t n, int64_t m)
{
    (void)bounds, (void)total, (void)exponents, (void)texts, (void)longest, (void)nodes;
    subsequences of = {starts, places, ordered, powers, order, ranges, tree, stamps, sums};
    for (int64_t row = row0; row < row0 + n; row++) {
        for (int64_t column = column0; column < column0 + m; column++) {
            if (same[row] == same[column]) continue;
            /* One direction only, whichever tile asks, so that both round alike */
            bool ahead = rank[row] < rank[column];
            int64_t first = ahead ? row : column, second = ahead ? column : row;
            tile[(row - row0) * m + column - column0] = subsequence_kernel(&of, first, second);
        }
    }
}

/* Fill in the kernel of each text from `row0` on with itself. */
API void fill_own_subsequences(const int64_t *starts, const int32_t *places,
                               const int32_t *ordered, const double *powers, int64_t row0,
                               int64_t *ranges, double *tree, int64_t *stamps, double *sums,
                               double *kernels, int64_t bounds, int64_t total, int64_t exponents,
                               int64_t longest, int64_t nodes, int64_t order, int64_t n)
{
    (void)bounds, (void)total, (void)exponents, (void)longest, (void)nodes;
    subsequences of = {starts, places, ordered, powers, order, ranges, tree, stamps, sums};
    for (int64_t row = 0; row < n; row++) {
        kernels[row] = subsequence_kernel(&of, row0 + row, row0 + row);
    }
}
