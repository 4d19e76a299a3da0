/* The BLEU of each text of a set against others (text/bleu_sentences.py).

   `ids`, `counts` and `starts` are the different n-grams of each text with their counts in it. */

#include "calipers.h"

#define EPSILON 0.1 /* stands for no match: NLTK's method1 */
#define SLOTS 3     /* blocks that are remembered of an n-gram */

/* What the texts of a pool hold of an n-gram. */
typedef struct {
    int32_t largest; /* its largest count in a text */
    int32_t second;  /* the next largest, of another text */
    int32_t holder;  /* the text with the largest; -1 for none */
} leader;

/* What the texts of a block hold of an n-gram. */
typedef struct {
    int32_t block; /* -1 for none */
    int32_t largest, second, holder;
} slot;

/* Find for each n-gram its leader: a row of three. */
API void find_leaders(const int32_t *ids, const int32_t *counts, const int64_t *starts,
                      const int64_t *pool, int32_t *leaders, int64_t total, int64_t bounds,
                      int64_t members, int64_t size)
{
    (void)total, (void)bounds;
    leader *all = (leader *)leaders;
    for (int64_t gram = 0; gram < size; gram++) all[gram] = (leader){0, 0, -1};
    for (int64_t member = 0; member < members; member++) {
        int64_t text = pool[member];
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            leader *of = &all[ids[place]];
            int32_t count = counts[place];
            if (count > of->largest) {
                *of = (leader){count, of->largest, (int32_t)text};
            } else if (count > of->second) {
                of->second = count;
            }
        }
    }
}

/* Count each row's n-grams, none more often than any one other text holds it. */
API void clip_matches(const int32_t *ids, const int32_t *counts, const int64_t *starts,
                      const int64_t *rows, const int32_t *leaders, int64_t *matches, int64_t total,
                      int64_t bounds, int64_t m, int64_t size)
{
    (void)total, (void)bounds, (void)size;
    const leader *all = (const leader *)leaders;
    for (int64_t row = 0; row < m; row++) {
        int64_t text = rows[row], sum = 0;
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            leader of = all[ids[place]];
            int32_t allowed = of.holder == text ? of.second : of.largest;
            sum += counts[place] < allowed ? counts[place] : allowed;
        }
        matches[row] = sum;
    }
}

/* Weight times ln p; a text that is too short for the order counts as having one n-gram. */
INLINE double term(int64_t matches, int64_t grams, int64_t order)
{
    double share = (matches > 0 ? (double)matches : EPSILON) / (double)larger(grams, 1);
    return 1.0 / (double)order * log(share);
}

INLINE double brevity(int64_t length, int64_t closest)
{
    return length > closest ? 1.0 : exp(1.0 - (double)closest / (double)length);
}

/* A sum with what rounding lost, since NLTK adds the logarithms with math.fsum. */
typedef struct {
    double total, lost;
} exact;

INLINE exact with_term(exact sum, double one)
{
    double both = sum.total + one;
    double lost = fabs(sum.total) >= fabs(one) ? (sum.total - both) + one : (one - both) + sum.total;
    return (exact){both, sum.lost + lost};
}

/* Turn matches of each order into the BLEU of each text. */
API void score_sentences(const int64_t *matches, const int64_t *lengths, const int64_t *closest,
                         double *scores, int64_t m, int64_t order)
{
    for (int64_t row = 0; row < m; row++) {
        const int64_t *own = matches + row * order;
        scores[row] = 0;
        if (own[0] == 0) continue;
        exact sum = {0, 0};
        for (int64_t n = 0; n < order; n++) {
            sum = with_term(sum, term(own[n], lengths[row] - n, order));
        }
        scores[row] = brevity(lengths[row], closest[row]) * exp(sum.total + sum.lost);
    }
}

/* List for each n-gram the members of the pool that hold it, and how often. */
API void list_holders(const int32_t *ids, const int32_t *counts, const int64_t *starts,
                      const int64_t *pool, int64_t *ends, int32_t *holders, int32_t *often,
                      int64_t total, int64_t bounds, int64_t members, int64_t grams_and_one,
                      int64_t listed)
{
    (void)total, (void)bounds, (void)listed;
    for (int64_t gram = 0; gram < grams_and_one; gram++) ends[gram] = 0;
    for (int64_t member = 0; member < members; member++) {
        int64_t text = pool[member];
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) ends[ids[place]]++;
    }
    for (int64_t gram = 1; gram < grams_and_one; gram++) ends[gram] += ends[gram - 1];
    for (int64_t member = members - 1; member >= 0; member--) {
        int64_t text = pool[member];
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            int64_t at = --ends[ids[place]];
            holders[at] = (int32_t)member;
            often[at] = counts[place];
        }
    }
}

/* Add the n-grams of one order that each row shares with each member of the pool. */
API void add_pair_matches(const int32_t *ids, const int32_t *counts, const int64_t *starts,
                          const int64_t *rows, const int64_t *ends, const int32_t *holders,
                          const int32_t *often, int64_t n, int32_t *matches, int64_t total,
                          int64_t bounds, int64_t m, int64_t grams_and_one, int64_t listed,
                          int64_t members, int64_t order)
{
    (void)total, (void)bounds, (void)grams_and_one, (void)listed;
    for (int64_t row = 0; row < m; row++) {
        int32_t *own = matches + row * members * order + n;
        for (int64_t place = starts[rows[row]]; place < starts[rows[row] + 1]; place++) {
            int32_t count = counts[place];
            for (int64_t at = ends[ids[place]]; at < ends[ids[place] + 1]; at++) {
                own[holders[at] * order] += count < often[at] ? count : often[at];
            }
        }
    }
}

/* What stays the same for all members that a text is compared with, to be worked out once. */
typedef struct {
    double *logs;      /* the term of each number of matches and order */
    double *alone;     /* exp of the sum where only so many tokens match, and no longer n-gram */
    double *brevities; /* of each length of a member; below 0 where it is not known yet */
} worked_out;

INLINE worked_out work_out(double *room, int64_t length, int64_t longest, int64_t order)
{
    worked_out made = {room, room + (longest + 1) * order, room + (longest + 1) * (order + 1)};
    for (int64_t match = 0; match <= smaller(length, longest); match++) {
        exact sum = {0, 0};
        for (int64_t n = 0; n < order; n++) {
            made.logs[match * order + n] = term(match, length - n, order);
            sum = with_term(sum, made.logs[(n == 0 ? match : 0) * order + n]);
        }
        made.alone[match] = exp(sum.total + sum.lost);
    }
    for (int64_t other = 0; other <= longest; other++) made.brevities[other] = -1;
    return made;
}

/* Average each row's BLEU against every member of the pool alone, but for itself.

   `itself` is the row's place in the pool, `others` are the lengths of the pool, of which none is
   above `longest`. */
API void average_pairs(const int32_t *matches, const int64_t *lengths, const int64_t *itself,
                       const int64_t *others, double *room, double *means, int64_t m,
                       int64_t members, int64_t order, int64_t lengths_of_pool, int64_t columns)
{
    (void)columns;
    int64_t longest = lengths_of_pool - 1;
    for (int64_t row = 0; row < m; row++) {
        worked_out known = work_out(room, lengths[row], longest, order);
        double sum = 0;
        for (int64_t member = 0; member < members; member++) {
            const int32_t *own = matches + (row * members + member) * order;
            if (member == itself[row] || own[0] == 0) continue;
            double precision = known.alone[own[0]];
            if (order > 1 && own[1] > 0) {
                exact terms = {0, 0};
                for (int64_t n = 0; n < order; n++) {
                    terms = with_term(terms, known.logs[own[n] * order + n]);
                }
                precision = exp(terms.total + terms.lost);
            }
            double *penalty = &known.brevities[others[member]];
            if (*penalty < 0) *penalty = brevity(lengths[row], others[member]);
            sum += *penalty * precision;
        }
        means[row] = sum / (double)(members - 1);
    }
}

/* Put what a block holds into the place of the least slot, if it is more. */
INLINE void remember(slot *slots, slot counted)
{
    if (counted.block < 0) return;
    slot *least = slots;
    for (int i = 1; i < SLOTS; i++) {
        if (slots[i].largest < least->largest) least = &slots[i];
    }
    if (counted.largest > least->largest) *least = counted;
}

/* Find for each n-gram that has a row the blocks whose texts hold it most often.

   `pool` goes block by block; `current` has a slot for each row, to work in. */
API void find_leading_blocks(const int32_t *ids, const int32_t *counts, const int64_t *starts,
                             const int32_t *row_of, const int64_t *pool, const int64_t *labels,
                             int32_t *current, int32_t *slots, int64_t total, int64_t bounds,
                             int64_t grams, int64_t members, int64_t texts, int64_t size)
{
    (void)total, (void)bounds, (void)grams, (void)texts;
    slot *now = (slot *)current, *all = (slot *)slots;
    for (int64_t row = 0; row < size; row++) now[row] = (slot){-1, 0, 0, 0};
    for (int64_t i = 0; i < size * SLOTS; i++) all[i] = (slot){-1, 0, 0, 0};
    for (int64_t member = 0; member < members; member++) {
        int64_t text = pool[member];
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            int64_t row = row_of[ids[place]];
            if (row < 0) continue;
            slot *of = &now[row];
            if (of->block != labels[text]) {
                remember(&all[row * SLOTS], *of);
                *of = (slot){(int32_t)labels[text], 0, 0, -1};
            }
            if (counts[place] > of->largest) {
                of->second = of->largest;
                of->largest = counts[place];
                of->holder = (int32_t)text;
            } else if (counts[place] > of->second) {
                of->second = counts[place];
            }
        }
    }
    for (int64_t row = 0; row < size; row++) remember(&all[row * SLOTS], now[row]);
}

/* Count each row's n-grams that others hold, and how many fewer without each block.

   `row_blocks` is the block of each row, -1 where its text is not in the pool. The column of a
   row's own block stays 0: the text goes with it. */
API void clip_without_blocks(const int32_t *ids, const int32_t *counts, const int64_t *starts,
                             const int32_t *row_of, const int64_t *rows, const int64_t *row_blocks,
                             const int32_t *slots, int64_t *matches, int32_t *fewer, int64_t total,
                             int64_t bounds, int64_t grams, int64_t m, int64_t size, int64_t blocks)
{
    (void)total, (void)bounds, (void)grams, (void)size;
    const slot *all = (const slot *)slots;
    for (int64_t row = 0; row < m; row++) {
        int64_t text = rows[row], own = row_blocks[row], sum = 0;
        int32_t *without = fewer + row * blocks;
        for (int64_t block = 0; block < blocks; block++) without[block] = 0;
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            int64_t gram = row_of[ids[place]];
            if (gram < 0) continue;
            /* The largest count in another text, its block, and the largest outside of that block */
            int32_t best = 0, rest = 0, block = -1;
            for (const slot *of = &all[gram * SLOTS]; of < &all[(gram + 1) * SLOTS]; of++) {
                bool itself = of->block == own && of->holder == text;
                int32_t count = itself ? of->second : of->largest;
                if (count > best) {
                    rest = best;
                    best = count;
                    block = of->block;
                } else if (count > rest) {
                    rest = count;
                }
            }
            int32_t most = counts[place] < best ? counts[place] : best;
            sum += most;
            if (block >= 0 && block != own) {
                without[block] += most - (counts[place] < rest ? counts[place] : rest);
            }
        }
        matches[row] = sum;
    }
}
