/* Rows rounded to eight bits: numeric/rounded.py. */

#include "rounded.h"

typedef VECTOR(float, 16) wide;

/* Whether the kernels of this build make use of them. */
API bool compares_rounded(void)
{
#if defined(__AVX512VNNI__)
    return true;
#else
    return false;
#endif
}

/* The Walsh-Hadamard transform of some coordinates of 48 rows, times 1 / sqrt(size). */
static void spread_rows(float *rows, int64_t size)
{
    for (int64_t half = 1; half < size; half *= 2)
        for (int64_t start = 0; start < size; start += 2 * half)
            for (int64_t s = start; s < start + half; s++)
                for (int64_t r = 0; r < PANEL; r += 16) {
                    wide *a = (wide *)(rows + s * PANEL + r);
                    wide *b = (wide *)(rows + (s + half) * PANEL + r);
                    wide sum = *a + *b, difference = *a - *b;
                    *a = sum, *b = difference;
                }
    float share = (float)(1 / sqrt((double)size));
    for (int64_t place = 0; place < size * PANEL; place++) rows[place] *= share;
}

/* Whether the sign of a coordinate is turned: bits without a pattern. */
INLINE bool turned(int64_t coordinate)
{
    uint64_t word = ((uint64_t)coordinate + 1) * 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    return word >> 63;
}

/* Spread each row over its coordinates, and round it: row = unit * q + rest. `error` bounds the
   length of the rest, with all that float32 loses on the way and in a float32 product; `room` is for
   one panel. The coordinates that fill the last four are 0. */
API void round_rows(const float *panels, double slack, int8_t *q, int32_t *sums, float *unit,
                    float *error, float *length, float *room, int64_t count, int64_t d,
                    int64_t steps, int64_t n)
{
    (void)n;
    int64_t size = 1;
    while (2 * size <= d) size *= 2;
    for (int64_t panel = 0; panel < count; panel++, q += steps * PANEL * 4, sums += PANEL,
                 unit += PANEL, error += PANEL, length += PANEL, panels += d * PANEL) {
        for (int64_t s = 0; s < d; s++)
            for (int64_t r = 0; r < PANEL; r++) {
                float value = panels[s * PANEL + r];
                room[s * PANEL + r] = turned(s) ? -value : value;
            }
        /* From both ends, so that the transforms overlap where d is no power of two */
        spread_rows(room, size);
        if (size < d) spread_rows(room + (d - size) * PANEL, size);
        float largest[PANEL] = {0}, inverse[PANEL];
        double squared[PANEL] = {0}, rest[PANEL] = {0};
        for (int64_t s = 0; s < d; s++)
            for (int64_t r = 0; r < PANEL; r++) {
                float value = fabsf(room[s * PANEL + r]);
                largest[r] = value > largest[r] ? value : largest[r];
                squared[r] += (double)value * (double)value;
            }
        for (int64_t r = 0; r < PANEL; r++) {
            bool tiny = largest[r] < 1e-30f; /* all of it is rest */
            unit[r] = tiny ? 0.0f : largest[r] / 127.0f;
            inverse[r] = tiny ? 0.0f : 127.0f / largest[r];
            sums[r] = 0;
        }
        memset(q, 0, (size_t)(steps * PANEL * 4));
        for (int64_t s = 0; s < d; s++)
            for (int64_t r = 0; r < PANEL; r++) {
                float value = room[s * PANEL + r];
                float whole = value * inverse[r] + 0x1.8p23f - 0x1.8p23f; /* to the nearest */
                double left = (double)value - (double)unit[r] * (double)whole;
                q[(s / 4 * PANEL + r) * 4 + s % 4] = (int8_t)whole;
                sums[r] += (int32_t)whole;
                rest[r] += left * left;
            }
        for (int64_t r = 0; r < PANEL; r++) {
            double norm = sqrt(squared[r]) * (1 + slack) + 1e-18;
            length[r] = (float)norm;
            error[r] = (float)(sqrt(rest[r]) * (1 + slack) + norm * slack + 1e-18);
        }
    }
}
