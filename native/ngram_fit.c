/* An n-gram model from numbered n-grams to tables (language_model/kneser_ney.py), and its sums for
   a temperature (language_model/ngram_tables.py). */

#include "ngram_model.h"

/* Whether one entry of a context comes before another: the more probable, then the lower token. */
INLINE bool comes_before(const double *probability, const int64_t *words, int64_t a, int64_t b)
{
    return probability[a] > probability[b] ||
           (probability[a] == probability[b] && words[a] < words[b]);
}

/* Sort the entries of a context: runs of eight by insertion, then merged. */
static void sort_entries(int64_t *rows, int64_t *room, int64_t size, const double *probability,
                         const int64_t *words)
{
    for (int64_t low = 0; low < size; low += 8) {
        int64_t high = smaller(low + 8, size);
        for (int64_t i = low + 1; i < high; i++) {
            int64_t row = rows[i], j = i;
            for (; j > low && comes_before(probability, words, row, rows[j - 1]); j--)
                rows[j] = rows[j - 1];
            rows[j] = row;
        }
    }
    for (int64_t width = 8; width < size; width *= 2) {
        for (int64_t low = 0; low + width < size; low += 2 * width) {
            int64_t middle = low + width, high = smaller(middle + width, size);
            int64_t left = 0, right = middle, place = low;
            memcpy(room, rows + low, (size_t)width * sizeof *rows);
            while (left < width && right < high)
                rows[place++] = comes_before(probability, words, rows[right], room[left])
                                    ? rows[right++]
                                    : room[left++];
            while (left < width)
                rows[place++] = room[left++];
        }
    }
}

/* Order entries by context, then from the most to the least probable, then by token. Those of a
   context begin at `starts`; `ends` begins as these, and becomes where they end. */
API void ngram_model_order(const int64_t *context, const int64_t *words, const double *probability,
                     int64_t *ends, int64_t *rows, int64_t *room, int64_t entries,
                     int64_t contexts)
{
    for (int64_t row = 0; row < entries; row++)
        rows[ends[context[row]]++] = row;
    int64_t low = 0;
    for (int64_t number = 0; number < contexts; number++) {
        sort_entries(rows + low, room, ends[number] - low, probability, words);
        low = ends[number];
    }
}

/* Put all entries into a hash table by context and token, whose places are −1 at first. */
API void ngram_model_hash(const int32_t *context, const int32_t *token, int32_t *slots, int64_t entries,
                    int64_t room)
{
    for (int64_t entry = 0; entry < entries; entry++)
        slots[ngram_slot(slots, room, context, token, context[entry], token[entry])] =
            (int32_t)entry;
}

/* Sum up what entries have in excess, and all tokens of each context. */
API void ngram_model_totals(const int64_t *starts, const int32_t *shorter, const int32_t *form,
                      const double *gained, const double *back, const double *sums, double *excess,
                      double *total, int64_t bounds, int64_t contexts, int64_t tokens,
                      int64_t entries, int64_t forms)
{
    (void)bounds, (void)tokens, (void)entries, (void)forms;
    for (int64_t number = 0; number < contexts; number++) {
        double so_far = 0;
        for (int64_t entry = starts[number]; entry < starts[number + 1]; entry++)
            excess[entry] = so_far += gained[entry];
        double below = shorter[number] < 0 ? sums[form[number]] : total[shorter[number]];
        total[number] = so_far + back[number] * below;
    }
}
