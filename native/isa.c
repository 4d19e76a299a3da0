/* The best instruction set of this processor of those that libraries are built for. */

#include "calipers.h"

#if defined(__x86_64__)
#include <cpuid.h>

static bool has(unsigned word, unsigned bit) { return word >> bit & 1; }

/* 0: x86-64 as it began; 1: AVX2, FMA and what came with them; 2: AVX-512 F, BW, CD, DQ, VL;
   3: its VNNI, sums of products of bytes. */
API int64_t best_instruction_set(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, 27) || !has(c, 28) || !has(c, 12)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0)); /* which registers the system saves */
    bool movbe = has(c, 22), f16c = has(c, 29), popcnt = has(c, 23);
    if ((low & 6) != 6 || !movbe || !f16c || !popcnt) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    bool bmi = has(b, 3) && has(b, 8), avx2 = has(b, 5);
    bool avx512 = has(b, 16) && has(b, 17) && has(b, 28) && has(b, 30) && has(b, 31);
    bool vnni = has(c, 11);
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, 5) || !avx2 || !bmi) return 0; /* lzcnt */
    if (!avx512 || (low & 0xe0) != 0xe0) return 1;
    return vnni ? 3 : 2;
}
#else
API int64_t best_instruction_set(void) { return 0; }
#endif
