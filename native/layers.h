/* What networks of texts have in common: lanes put down, the exponential, rows of mean 0. */

#ifndef CALIPERS_LAYERS_H
#define CALIPERS_LAYERS_H

#include "panels.h"

#define EPSILON 1e-12 /* is added to the variance of a row */

INLINE void put(float *place, lanes values) { *(lanes *)place = values; }

/* The greater of two numbers; the second where one is not a number. */
INLINE lanes greater(lanes a, lanes b)
{
#if LANES == 16
    return (lanes)_mm512_max_ps((__m512)a, (__m512)b);
#elif LANES == 8
    return (lanes)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (lanes)_mm_max_ps((__m128)a, (__m128)b);
#else
    lane_bits above = a > b;
    return (lanes)((above & (lane_bits)a) | (~above & (lane_bits)b));
#endif
}

/* The exponential of what is not positive; below -87 that of -87. */
INLINE lanes exponential(lanes x)
{
    typedef VECTOR(uint32_t, LANES) words;
    x = greater(spread(-87.0f), x);
    /* Adding and taking away 1.5 * 2^23 rounds to a whole number, which stands in the lowest bits */
    lanes shifted = multiply_add(x, spread(1.44269504f), spread(12582912.0f));
    lanes n = shifted - spread(12582912.0f);
    lanes f = multiply_add(n, spread(-0.693359375f), x);
    f = multiply_add(n, spread(2.12194440e-4f), f);
    lanes p = spread(1.9875691500e-4f);
    p = multiply_add(p, f, spread(1.3981999507e-3f));
    p = multiply_add(p, f, spread(8.3334519073e-3f));
    p = multiply_add(p, f, spread(4.1665795894e-2f));
    p = multiply_add(p, f, spread(1.6666665459e-1f));
    p = multiply_add(p, f, spread(5.0000001201e-1f));
    p = multiply_add(p * f, f, f) + spread(1.0f);
    return p * (lanes)(((words)shifted << 23) + (127u << 23));
}

/* Give each row the mean 0 and the variance 1, then scale and shift it, in place. */
INLINE void normalise(float *states, int64_t count, int64_t d, const float *norm)
{
    for (int64_t row = 0; row < count; row++) {
        float *state = states + row * d;
        double8 low = {0}, high = {0};
        for (int64_t c = 0; c < d; c += 16) low += widen8(state + c), high += widen8(state + c + 8);
        double mean = sum8(low + high) / (double)d;
        low = high = (double8){0};
        for (int64_t c = 0; c < d; c += 16) {
            double8 a = widen8(state + c) - mean, b = widen8(state + c + 8) - mean;
            low += a * a, high += b * b;
        }
        double scale = 1 / sqrt(sum8(low + high) / (double)d + EPSILON);
        for (int64_t c = 0; c < d; c++) {
            float unit = (float)((state[c] - mean) * scale);
            state[c] = unit * norm[c] + norm[d + c];
        }
    }
}

#endif
