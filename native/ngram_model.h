/* What an n-gram model holds; language_model/ngram_tables.py says what each array is. */

#ifndef NGRAM_MODEL_H
#define NGRAM_MODEL_H

#include "calipers.h"

typedef struct {
    const int64_t *starts;
    const double *back;
    const int32_t *shorter, *form, *token, *context;
    const double *probability;
    const int32_t *follow, *slots, *kind;
    const double *unigram, *kinds;
    int64_t bounds, contexts, tokens, entries, room, readable, forms, kind_count;
} ngram_tables;

/* The bits of a number, mixed so that each depends on all (splitmix64). */
INLINE uint64_t mixed_bits(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

/* Where an entry stands in the table, or the free place where it belongs; `room` is a power of 2,
   and a place is free. */
INLINE int64_t ngram_slot(const int32_t *slots, int64_t room, const int32_t *context,
                          const int32_t *token, int64_t number, int64_t word)
{
    uint64_t mask = (uint64_t)room - 1;
    uint64_t slot = mixed_bits(((uint64_t)number << 32) | (uint64_t)word) & mask;
    while (slots[slot] >= 0 &&
           (token[slots[slot]] != word || context[slots[slot]] != number))
        slot = (slot + 1) & mask;
    return (int64_t)slot;
}

#endif
