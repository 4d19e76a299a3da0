/* Spans of tokens that stand in a text and in a reference, by the order of all suffixes
   (text/copied.py).

   Suffixes are places in the tokens of texts and references together, texts first; `left` has the
   tokens from each place to the end of its text. */

#include "calipers.h"
#include "sorting.h"

/* Count the tokens from each place to the end of its text. */
API void count_tokens_left(const int64_t *starts, int32_t *left, int64_t bounds, int64_t total)
{
    (void)total;
    for (int64_t text = 0; text + 1 < bounds; text++) {
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            left[place] = (int32_t)(starts[text + 1] - place);
        }
    }
}

/* Sort suffixes by their first token; the rank of a suffix is the last place of its group.

   `ends` and `places` are to work in. Returns how many groups are to be sorted further: those of
   several suffixes, one of them of a text. */
API int64_t sort_by_first_token(const int32_t *tokens, int64_t text_length, int64_t *ends,
                                int64_t *places, int32_t *order, int32_t *rank, int32_t *groups,
                                int64_t total, int64_t vocabulary, int64_t room)
{
    (void)room;
    for (int64_t token = 0; token < vocabulary; token++) ends[token] = 0;
    for (int64_t suffix = 0; suffix < total; suffix++) ends[tokens[suffix]]++;
    int64_t start = 0, count = 0;
    for (int64_t token = 0; token < vocabulary; token++) {
        places[token] = start;
        start += ends[token];
        ends[token] = start;
    }
    for (int64_t suffix = 0; suffix < total; suffix++) {
        int32_t token = tokens[suffix];
        order[places[token]++] = (int32_t)suffix;
        rank[suffix] = (int32_t)(ends[token] - 1);
    }
    start = 0;
    for (int64_t token = 0; token < vocabulary; token++) {
        if (ends[token] - start > 1 && order[start] < text_length) {
            groups[2 * count] = (int32_t)start;
            groups[2 * count++ + 1] = (int32_t)ends[token];
        }
        start = ends[token];
    }
    return count;
}

/* Sort groups that agree in `reach` tokens by twice as many; returns how many are left to sort.

   `keys` has room for twice the largest group. */
API int64_t refine_groups(int32_t *order, int32_t *rank, const int32_t *left, int64_t text_length,
                          const int32_t *groups, uint64_t *keys, int64_t reach, int32_t *refined,
                          int64_t total, int64_t count, int64_t largest, int64_t room)
{
    (void)total, (void)room;
    int64_t unsorted = 0;
    for (int64_t group = 0; group < count; group++) {
        int64_t start = groups[2 * group], size = groups[2 * group + 1] - start;
        int32_t *own = order + start;
        for (int64_t step = 0; step < size; step++) {
            int32_t suffix = own[step];
            /* What ends here goes first, by place, as if each text had an end sign of its own */
            uint64_t key = left[suffix] <= reach ? 0 : (uint64_t)rank[suffix + reach] + 1;
            keys[step] = key << 32 | (uint64_t)suffix;
        }
        sort_words(keys, keys + largest, size, 32);
        for (int64_t step = 0; step < size;) {
            uint64_t key = keys[step] >> 32;
            int64_t first = step;
            do {
                own[step] = (int32_t)(keys[step] & UINT32_MAX);
                step++;
            } while (key != 0 && step < size && keys[step] >> 32 == key);
            for (int64_t place = first; place < step; place++) {
                rank[own[place]] = (int32_t)(start + step - 1);
            }
            if (step - first > 1 && own[first] < text_length) {
                refined[2 * unsorted] = (int32_t)(start + first);
                refined[2 * unsorted++ + 1] = (int32_t)(start + step);
            }
        }
    }
    return unsorted;
}

/* The place of the nth suffix, counted from either end of their order. */
INLINE int64_t nth(int64_t step, int64_t total, bool behind)
{
    return behind ? total - 1 - step : step;
}

/* Find the reference suffix next before each of a text, or next behind it; -1 for none. */
API void find_nearest_suffixes(const int32_t *order, bool behind, int32_t *nearest, int64_t total,
                               int64_t text_length)
{
    int32_t last = -1;
    for (int64_t step = 0; step < total; step++) {
        int32_t suffix = order[nth(step, total, behind)];
        if (suffix < text_length) {
            nearest[suffix] = last;
        } else {
            last = suffix;
        }
    }
}

/* Find in the same way also the next of another block; `blocks` has that of each reference token. */
API void find_nearest_of_blocks(const int32_t *order, bool behind, const int64_t *blocks,
                                int32_t *nearest, int32_t *further, int64_t total,
                                int64_t reference_length, int64_t text_length)
{
    (void)reference_length;
    int32_t last = -1, other = -1;
    for (int64_t step = 0; step < total; step++) {
        int32_t suffix = order[nth(step, total, behind)];
        if (suffix < text_length) {
            nearest[suffix] = last;
            further[suffix] = other;
            continue;
        }
        if (last >= 0 && blocks[suffix - text_length] != blocks[last - text_length]) other = last;
        last = suffix;
    }
}

/* Count the tokens that two suffixes share, of which they share `shared` for sure. */
INLINE int64_t common(const int32_t *tokens, const int32_t *left, int64_t one, int64_t other,
                      int64_t shared)
{
    int64_t most = smaller(left[one], left[other]);
    while (shared < most && tokens[one + shared] == tokens[other + shared]) shared++;
    return shared;
}

/* Count the tokens that each suffix shares with the one named beside it: the nearest suffix of the
   references on one side, or the nearest of another block than that one's.

   One token further on at most one less is shared (Kasai et al., CPM 2001), so every token is
   compared about twice, however long the copies are. It holds for other blocks too: where a suffix
   shares L tokens with one of block B and the nearer ones are of other blocks, one token further on
   all of them share L - 1 or more, and are still of B and of others. */
API void count_common(const int32_t *tokens, const int32_t *left, const int32_t *beside,
                      int32_t *lengths, int64_t total, int64_t text_length)
{
    (void)total;
    int64_t shared = 0;
    for (int64_t suffix = 0; suffix < text_length; suffix++) {
        shared = beside[suffix] < 0 ? 0 : common(tokens, left, suffix, beside[suffix], shared);
        lengths[suffix] = (int32_t)shared;
        shared = larger(0, shared - 1);
    }
}

/* Find the longest span of each text without each block.

   `lengths`, `further` and `passed` have one column for either side: the tokens shared with the
   nearest suffix, with the next of another block, and the block of the nearest. */
API void find_longest_without(const int64_t *starts, const int32_t *lengths, const int32_t *further,
                              const int32_t *passed, int32_t *longest, int64_t bounds,
                              int64_t text_length, int64_t texts, int64_t blocks)
{
    (void)bounds, (void)text_length;
    for (int64_t text = 0; text < texts; text++) {
        int32_t *RESTRICT own = longest + text * blocks;
        for (int64_t block = 0; block < blocks; block++) own[block] = 0;
        for (int64_t place = 2 * starts[text]; place < 2 * starts[text + 1]; place++) {
            int32_t length = lengths[place], rest = further[place], gone = passed[place];
            for (int32_t block = 0; block < (int32_t)blocks; block++) {
                int32_t without = block == gone ? rest : length;
                own[block] = own[block] > without ? own[block] : without;
            }
        }
    }
}
