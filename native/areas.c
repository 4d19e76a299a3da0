/* Areas under ROC curves (estimate/discriminant.py). */

#include "calipers.h"

/* The area of each row of sorted codes, whose last bit is the label and whose other bits are the
   score; equal scores count half. */
API void roc_areas(const int64_t *ordered, double *areas, int64_t count, int64_t places)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t *codes = ordered + i * places;
        double wins = 0.0;
        int64_t below = 0, above = 0;
        for (int64_t j = 0; j < places;) {
            int64_t value = codes[j] | 1, ones = 0, zeros = 0;
            for (; j < places && (codes[j] | 1) == value; j++) {
                ones += codes[j] & 1;
                zeros += 1 - (codes[j] & 1);
            }
            wins += (double)ones * ((double)below + 0.5 * (double)zeros);
            below += zeros;
            above += ones;
        }
        areas[i] = wins / ((double)above * (double)below);
    }
}
