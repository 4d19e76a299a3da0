/* N-grams of a corpus as numbers, and counts of them: text/ngrams.py, and what counts blocks,
   windows and repeated ends beside it (text/replicates.py, shared_ngrams.py, type_token.py,
   repetition.py).

   A text is the span of its numbers from one start to the next. */

#include "calipers.h"
#include "sorting.h"

#define AHEAD 16 /* pairs that are looked up together, so that memory is asked for all at once */

/* Give tokens the numbers 0, 1, … by first appearance; returns how many there are. */
API int64_t renumber_tokens(const int32_t *tokens, int32_t *seen, int32_t *ids, int64_t count,
                            int64_t vocabulary)
{
    int32_t size = 0;
    for (int64_t word = 0; word < vocabulary; word++) seen[word] = -1;
    for (int64_t place = 0; place < count; place++) {
        int32_t token = tokens[place];
        if (seen[token] < 0) seen[token] = size++;
        ids[place] = seen[token];
    }
    return size;
}

/* Where the search for a pair begins (splitmix64). */
INLINE uint64_t scattered(uint64_t pair)
{
    uint64_t mixed = (pair ^ (pair >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

/* Number the pairs of an n-gram and the token behind it, by first appearance; returns how many.

   The table has a power of two of places, at least twice as many as there are pairs. */
API int64_t number_ngrams(const int32_t *heads, const int64_t *head_starts, int64_t order,
                          const int32_t *tokens, const int64_t *starts, const int64_t *ends,
                          int32_t *table, uint64_t *pairs, int32_t *ids, int64_t grams,
                          int64_t bounds, int64_t count, int64_t room, int64_t total)
{
    (void)grams, (void)count;
    uint64_t mask = (uint64_t)room - 1, block[AHEAD], slots[AHEAD];
    int32_t size = 0;
    for (int64_t slot = 0; slot < room; slot++) table[slot] = -1;
    if (total > 0) pairs[0] = 0;
    for (int64_t text = 0; text + 1 < bounds; text++) {
        int64_t windows = ends[text + 1] - ends[text];
        if (windows == 0) continue;
        const int32_t *head = heads + head_starts[text], *token = tokens + starts[text] + order;
        for (int64_t first = 0; first < windows; first += AHEAD) {
            int64_t width = smaller(AHEAD, windows - first);
            for (int64_t i = 0; i < width; i++) {
                block[i] = (uint64_t)head[first + i] << 32 | (uint64_t)token[first + i];
                slots[i] = scattered(block[i]) & mask;
                __builtin_prefetch(&table[slots[i]], 1);
            }
            for (int64_t i = 0; i < width; i++) {
                int32_t known = table[slots[i]];
                __builtin_prefetch(&pairs[known & ~(known >> 31)]); /* the first where free */
            }
            for (int64_t i = 0; i < width; i++) {
                uint64_t slot = slots[i];
                int32_t known = table[slot];
                while ((known >= 0) & (pairs[known & ~(known >> 31)] != block[i])) {
                    slot = (slot + 1) & mask;
                    known = table[slot];
                }
                bool fresh = known < 0;
                known = fresh ? size : known;
                pairs[size] = block[i]; /* overwritten unless it is fresh */
                size += fresh;
                table[slot] = ids[ends[text] + first + i] = known;
            }
        }
    }
    return size;
}

/* Sort each text's numbers and count the runs; `keys` has room for twice the longest text. */
API int64_t count_within_texts(const int32_t *ids, const int64_t *starts, uint64_t *keys,
                               int32_t *different, int32_t *counts, int64_t *ends, int64_t total,
                               int64_t bounds, int64_t longest)
{
    (void)total;
    int64_t size = 0;
    ends[0] = 0;
    for (int64_t text = 0; text + 1 < bounds; text++) {
        const int32_t *own = ids + starts[text];
        int64_t length = starts[text + 1] - starts[text];
        for (int64_t i = 0; i < length; i++) keys[i] = (uint64_t)own[i];
        sort_words(keys, keys + longest, length, 0);
        for (int64_t i = 0; i < length; i++) {
            if (i == 0 || keys[i] != keys[i - 1]) {
                different[size] = (int32_t)keys[i];
                counts[size++] = 0;
            }
            counts[size - 1]++;
        }
        ends[text + 1] = size;
    }
    return size;
}

/* Find the one block that holds each n-gram; -1 where several do, -2 where none does. */
API void find_sole_blocks(const int32_t *ids, const int64_t *starts, const int64_t *labels,
                          int32_t *sole, int64_t total, int64_t bounds, int64_t texts, int64_t size)
{
    (void)total, (void)bounds;
    for (int64_t gram = 0; gram < size; gram++) sole[gram] = -2;
    for (int64_t text = 0; text < texts; text++) {
        int32_t label = (int32_t)labels[text];
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            int32_t *owner = &sole[ids[place]];
            *owner = *owner == -2 || *owner == label ? label : -1;
        }
    }
}

/* Add for each n-gram that has a row the texts of each block that hold it. */
API void count_holders_by_block(const int32_t *ids, const int64_t *starts, const int64_t *labels,
                                const int32_t *row_of, int32_t *holders, int64_t total,
                                int64_t bounds, int64_t texts, int64_t grams, int64_t rows,
                                int64_t blocks)
{
    (void)total, (void)bounds, (void)grams, (void)rows;
    for (int64_t text = 0; text < texts; text++) {
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            int64_t row = row_of[ids[place]];
            if (row >= 0) holders[row * blocks + labels[text]]++;
        }
    }
}

/* Add for each text the texts of each block that hold its n-grams. */
API void add_shared_with_blocks(const int32_t *ids, const int64_t *starts, const int32_t *row_of,
                                const int32_t *holders, int64_t *shared, int64_t total,
                                int64_t bounds, int64_t grams, int64_t rows, int64_t blocks,
                                int64_t texts)
{
    (void)total, (void)bounds, (void)grams, (void)rows;
    for (int64_t text = 0; text < texts; text++) {
        int64_t *RESTRICT sums = shared + text * blocks;
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            int64_t row = row_of[ids[place]];
            if (row < 0) continue;
            const int32_t *counts = holders + row * blocks;
            for (int64_t block = 0; block < blocks; block++) sums[block] += counts[block];
        }
    }
}

/* Add up, over all windows of each text, the different tokens within; 0 where none fits.

   `counts` is 0 for every word, before and after. */
API void count_window_types(const int32_t *tokens, const int64_t *starts, int64_t window,
                            int64_t *counts, int64_t *sums, int64_t total, int64_t bounds,
                            int64_t vocabulary, int64_t texts)
{
    (void)total, (void)bounds, (void)vocabulary;
    for (int64_t text = 0; text < texts; text++) {
        int64_t first = starts[text], end = starts[text + 1], types = 0, sum = 0;
        if (end - first >= window) {
            for (int64_t place = first; place < end; place++) {
                types += counts[tokens[place]]++ == 0;
                if (place - first >= window) types -= --counts[tokens[place - window]] == 0;
                if (place - first >= window - 1) sum += types;
            }
            for (int64_t place = end - window; place < end; place++) counts[tokens[place]] = 0;
        }
        sums[text] = sum;
    }
}

/* Fill in how far a text, read backwards from its last token, agrees with itself from each of the
   places 1 to `reach` on: the Z function, in linear time. */
INLINE void agreement(const int32_t *last, int64_t length, int64_t reach, int64_t *agrees)
{
    int64_t left = 0, right = 0;
    for (int64_t place = 1; place <= reach; place++) {
        int64_t known = place < right ? smaller(right - place, agrees[place - left]) : 0;
        while (place + known < length && last[-known] == last[-place - known]) known++;
        agrees[place] = known;
        if (place + known > right) {
            left = place;
            right = place + known;
        }
    }
}

/* Find the phrase with the most copies at each text's end: its length, and how many copies.

   The last p tokens stand z(p) / p + 1 times at the end, rounded down, where z(p) is how far the
   text, read backwards, agrees with itself from place p on. `agrees` reaches to half of the longest
   text, or as far as phrases do. */
API void find_repeated_ends(const int32_t *tokens, const int64_t *starts, int64_t longest,
                            int64_t *agrees, int64_t *lengths, int64_t *copies, int64_t total,
                            int64_t bounds, int64_t room, int64_t texts)
{
    (void)total, (void)bounds, (void)room;
    for (int64_t text = 0; text < texts; text++) {
        int64_t length = starts[text + 1] - starts[text], reach = smaller(length / 2, longest);
        lengths[text] = 0;
        copies[text] = 1;
        if (reach < 1) continue;
        agreement(tokens + starts[text + 1] - 1, length, reach, agrees);
        for (int64_t phrase = 1; phrase <= reach; phrase++) {
            if (agrees[phrase] < phrase * copies[text]) continue;
            copies[text] = agrees[phrase] / phrase + 1;
            lengths[text] = phrase;
        }
    }
}
