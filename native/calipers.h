/* What every engine shares: the marks of exported functions, and vectors of numbers.

   An exported function takes pointers to C-contiguous arrays, then every size as int64_t, in the
   order in which the sizes first come up in its declaration in Python. Python has checked dtypes,
   shapes and contiguity (src/calipers/numeric/native.py), and holds what is passed until the
   function returns. Nothing here allocates, keeps a pointer, or knows Python; room to work in is
   passed in.

   Sums whose order is free run in vectors of a fixed number of lanes (below), so that they give the
   same bits with every instruction set. Products are fused with sums only where the code says so
   (`multiply_add`); the build turns the compiler's own fusing off. */

#ifndef CALIPERS_H
#define CALIPERS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif

#define INLINE static inline __attribute__((always_inline))
#define RESTRICT __restrict__

/* Vectors that may stand at any address of their numbers. The compiler cuts those apart that are
   longer than a register. */
#define VECTOR(type, lanes) \
    __attribute__((vector_size(sizeof(type) * (lanes)), aligned(sizeof(type)), may_alias)) type

typedef VECTOR(float, 16) float16;
typedef VECTOR(double, 8) double8;
typedef VECTOR(int32_t, 16) int16x32;

/* An array of rows that holds either float32 or float64. */
typedef struct {
    const void *data;
    int64_t wide; /* whether the numbers are float64 */
} reals;

INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* One number of an array of either type. */
INLINE double real_at(const reals *array, int64_t place)
{
    return array->wide ? ((const double *)array->data)[place]
                       : (double)((const float *)array->data)[place];
}

INLINE double8 widen8(const float *values)
{
    typedef VECTOR(float, 8) float8;
    return __builtin_convertvector(*(const float8 *)values, double8);
}

/* The sum of the lanes, halves upon halves. */
INLINE double sum8(double8 v)
{
    double a0 = v[0] + v[4], a1 = v[1] + v[5], a2 = v[2] + v[6], a3 = v[3] + v[7];
    return (a0 + a2) + (a1 + a3);
}

#endif
