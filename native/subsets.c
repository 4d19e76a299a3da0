/* Random subsets of rows, for relabellings (uncertainty/two_sample.py). */

#include "calipers.h"

/* Walk the places once: each is taken with the chance that as many as are missing need. */
API void select_subsets(const double *draws, int64_t size, bool *chosen, int64_t count,
                        int64_t places)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t missing = size;
        for (int64_t j = 0; j < places; j++) {
            bool taken = draws[i * places + j] * (double)(places - j) < (double)missing;
            chosen[i * places + j] = taken;
            missing -= taken;
        }
    }
}
