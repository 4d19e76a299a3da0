/* Sorting of 64-bit words, in the order of the numbers that they are. */

#ifndef CALIPERS_SORTING_H
#define CALIPERS_SORTING_H

#include "calipers.h"

#define RUN 12    /* words that are sorted by insertion before runs are merged */
#define MANY 1536 /* words from which on a pass for each byte is faster than merging */

INLINE void sort_run(uint64_t *words, int64_t size)
{
    for (int64_t step = 1; step < size; step++) {
        uint64_t word = words[step];
        int64_t place = step;
        for (; place > 0 && words[place - 1] > word; place--) words[place] = words[place - 1];
        words[place] = word;
    }
}

/* Merge two neighbouring runs into other words, without a branch that the numbers decide. */
INLINE void merge_runs(const uint64_t *words, int64_t start, int64_t middle, int64_t end,
                       uint64_t *merged)
{
    int64_t one = start, two = middle, place = start;
    if (middle < end && words[middle - 1] > words[middle]) {
        while (one < middle && two < end) {
            uint64_t left = words[one], right = words[two];
            bool later = right < left;
            merged[place++] = later ? right : left;
            one += !later;
            two += later;
        }
    }
    for (; one < middle; one++) merged[place++] = words[one];
    for (; two < end; two++) merged[place++] = words[two];
}

/* Sort by one byte after the other, from the bit `low` on; bytes that all words share are skipped. */
static void sort_by_bytes(uint64_t *words, uint64_t *room, int64_t size, int low)
{
    uint64_t different = 0, *from = words, *to = room;
    for (int64_t i = 1; i < size; i++) different |= words[i] ^ words[0];
    for (int shift = low; shift < 64; shift += 8) {
        if ((different >> shift & 255) == 0) continue;
        int64_t places[256] = {0}, total = 0;
        for (int64_t i = 0; i < size; i++) places[from[i] >> shift & 255]++;
        for (int byte = 0; byte < 256; byte++) {
            int64_t count = places[byte];
            places[byte] = total;
            total += count;
        }
        for (int64_t i = 0; i < size; i++) to[places[from[i] >> shift & 255]++] = from[i];
        uint64_t *other = from;
        from = to;
        to = other;
    }
    if (from != words) memcpy(words, from, (size_t)size * sizeof *words);
}

/* Sort words whose bits below `low`, a multiple of 8, ascend already; `room` has as many.

   By merges or byte by byte: a quicksort needs quadratic time on the keys of texts that repeat one
   phrase. */
static inline void sort_words(uint64_t *words, uint64_t *room, int64_t size, int low)
{
    if (size >= MANY) {
        sort_by_bytes(words, room, size, low);
        return;
    }
    for (int64_t start = 0; start < size; start += RUN) {
        sort_run(words + start, smaller(RUN, size - start));
    }
    uint64_t *from = words, *to = room;
    for (int64_t width = RUN; width < size; width *= 2) {
        for (int64_t start = 0; start < size; start += 2 * width) {
            int64_t middle = smaller(start + width, size);
            merge_runs(from, start, middle, smaller(start + 2 * width, size), to);
        }
        uint64_t *other = from;
        from = to;
        to = other;
    }
    if (from != words) memcpy(words, from, (size_t)size * sizeof *words);
}

#endif
