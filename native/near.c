/* The search for near duplicates among sets of n-grams (text/near_texts.py). */

#include "calipers.h"

/* Share of the union of two ascending sets that lies in both; 0 where it cannot reach the threshold.

   A set is given by its first place and the place behind its last. */
INLINE double jaccard(const int32_t *ids, const int64_t *one, const int64_t *two, double threshold)
{
    int64_t here = one[0], there = two[0], shared = 0;
    int64_t size = one[1] - here, other = two[1] - there;
    if ((double)smaller(size, other) / (double)larger(size, other) < threshold) return 0;
    while (here < one[1] && there < two[1]) { /* branches: runs of one side are usual */
        if (ids[here] == ids[there]) {
            shared++;
            here++;
            there++;
        } else if (ids[here] < ids[there]) {
            here++;
        } else {
            there++;
        }
    }
    return (double)shared / (double)(size + other - shared);
}

/* For the first `asked` sets, find the first set from `least` on that is near.

   A set is looked for among those of its run only, and nearer rows are kept from run to run. The
   rows of a run ascend, and the search ends at the first that is near, so many sets that are all
   alike cost one comparison each. */
API void find_near_sets(const int32_t *ids, const int64_t *spans, const int64_t *rows,
                        const int64_t *runs, int64_t least, double threshold, int64_t *near,
                        double *similarity, int64_t total, int64_t sets, int64_t candidates,
                        int64_t bounds, int64_t asked)
{
    (void)total, (void)sets, (void)candidates;
    for (int64_t run = 0; run + 1 < bounds; run++) {
        int64_t begin = runs[run], end = runs[run + 1], first = begin;
        while (first < end && rows[first] < least) first++;
        for (int64_t step = begin; step < end && rows[step] < asked; step++) {
            int64_t row = rows[step];
            if (similarity[row] == 1) continue;
            for (int64_t place = first; place < end; place++) {
                int64_t other = rows[place];
                if (near[row] >= 0 && other >= near[row]) break;
                if (other == row) continue;
                double similar = jaccard(ids, spans + 2 * row, spans + 2 * other, threshold);
                if (similar >= threshold) {
                    near[row] = other;
                    similarity[row] = similar;
                    break;
                }
            }
        }
    }
}
