/* The n-grams of texts as characters, hashed, and how often each occurs
   (embedders/words/character_ngrams.py).

   A text is the span of its characters from one start to the next. */

#include "calipers.h"
#include "sorting.h"

#define HASH_BITS 28
#define ACROSS_BITS 1
#define ORDER_BITS 2

/* The hash of an n-gram and the character behind it: a step of splitmix64. The hash of none is 0. */
INLINE uint64_t extended(uint64_t hash, uint32_t character)
{
    uint64_t mixed = hash + character + UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

/* Count the n-grams of 1 to `longest` characters in each text, by column: the first 28 bits of their
   hashes, then one that says whether they hold a space between other characters, then two for their
   length less one, 3 at most. Columns ascend; `sums` are those of all hashes of a text, modulo 2^64.
   Returns how many counts there are; `keys` has room for twice the n-grams of the text that has the
   most. */
API int64_t count_character_ngrams(const uint32_t *characters, const int64_t *starts,
                                   int64_t longest, uint64_t *keys, int32_t *columns,
                                   int32_t *counts, int64_t *ends, uint64_t *sums, int64_t total,
                                   int64_t bounds, int64_t room, int64_t most, int64_t texts)
{
    (void)total, (void)most, (void)texts;
    int64_t size = 0;
    ends[0] = 0;
    for (int64_t text = 0; text + 1 < bounds; text++) {
        const uint32_t *own = characters + starts[text];
        int64_t length = starts[text + 1] - starts[text], ngrams = 0;
        uint64_t sum = 0;
        for (int64_t first = 0; first < length; first++) {
            int64_t reach = smaller(first + longest, length);
            uint64_t hash = 0, across = 0;
            for (int64_t place = first; place < reach; place++) {
                hash = extended(hash, own[place]);
                sum += hash;
                if (place - first > 1 && own[place - 1] == ' ') across = 1;
                uint64_t order = (uint64_t)smaller(place - first, (1 << ORDER_BITS) - 1);
                uint64_t column = hash >> (64 - HASH_BITS) << ACROSS_BITS | across;
                keys[ngrams++] = column << ORDER_BITS | order;
            }
        }
        sums[text] = sum;
        sort_words(keys, keys + room / 2, ngrams, 0);
        for (int64_t i = 0; i < ngrams; i++) {
            if (i == 0 || keys[i] != keys[i - 1]) {
                columns[size] = (int32_t)keys[i];
                counts[size++] = 0;
            }
            counts[size - 1]++;
        }
        ends[text + 1] = size;
    }
    return size;
}
