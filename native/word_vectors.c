/* Lines of a word and its numbers, in text (embedders/words/word_vector_files.py). */

#include "calipers.h"

#define POWERS 309
#define EXACT 1000000000000000000u /* what has another digit behind it surely fits into 64 bits */
#define UNSURE 0x1p-48 /* over the relative error of a float64 of such an integer and a power of 10 */

INLINE bool is_blank(uint8_t sign) { return sign == ' ' || sign == '\t'; }
INLINE unsigned digit_of(uint8_t sign) { return (unsigned)sign - '0'; }

/* How many of the 8 signs in a word, the first of which is the lowest, are digits up to the first
   that is none. */
INLINE int64_t leading_digits(uint64_t signs)
{
    uint64_t digits = signs ^ 0x3030303030303030u;
    /* A carry reaches only what stands behind the first sign that is no digit */
    uint64_t others = (digits | (digits + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u;
    return others ? __builtin_ctzll(others) / 8 : 8;
}

/* The number that the first `count` of them are, 1 to 8: pairs, then fours, then all. */
INLINE uint64_t number_of(uint64_t signs, int64_t count)
{
    uint64_t digits = (signs & 0x0f0f0f0f0f0f0f0fu) << (64 - 8 * count);
    digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffu;
    digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffu;
    return (digits * 10000 + (digits >> 32)) & 0xffffffffu;
}

/* Read a decimal number from a place on, and move the place behind it; return whether it is one.
   What stands behind 19 digits is too small to count. The text ends with a line break. */
INLINE bool read_number(const uint8_t *text, int64_t size, const double *powers, int64_t *place,
                        double *value)
{
    static const uint64_t tens[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    int64_t at = *place, power = 0;
    bool negative = text[at] == '-', some = false, behind = false;
    at += negative || text[at] == '+';
    uint64_t whole = 0;
    for (;;) {
        uint64_t signs;
        if (behind && at + 8 <= size && whole < EXACT / 10000000
            && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
            memcpy(&signs, text + at, 8);
            int64_t count = leading_digits(signs);
            if (count) {
                whole = whole * tens[count] + number_of(signs, count);
                power -= count;
                some = true;
                at += count;
                if (count == 8) continue;
            }
        }
        unsigned digit = digit_of(text[at]);
        if (digit <= 9) {
            some = true;
            if (whole < EXACT) {
                whole = whole * 10 + digit;
                power -= behind;
            } else {
                power += !behind;
            }
        } else if (text[at] == '.' && !behind) {
            behind = true;
        } else {
            break;
        }
        at++;
    }
    if (some && (text[at] | 32) == 'e') {
        at++;
        bool down = text[at] == '-';
        at += down || text[at] == '+';
        int64_t exponent = 0;
        some = false;
        for (; digit_of(text[at]) <= 9 && exponent < 10000; at++) {
            exponent = 10 * exponent + digit_of(text[at]);
            some = true;
        }
        power += down ? -exponent : exponent;
    }
    *place = at;
    if (!some || power <= -POWERS || power >= POWERS) return false;
    double magnitude = power < 0 ? (double)whole / powers[-power] : (double)whole * powers[power];
    *value = negative ? -magnitude : magnitude;
    return true;
}

/* Read lines that are a word and its numbers, with a space or tab between them. A number is written
   where it is certain how the exact one is rounded to float32; other lines are not done. Return
   whether the text holds as many lines; the text ends with a line break. */
API bool read_word_lines(const uint8_t *text, const double *powers, float *vectors, int64_t *starts,
                         int64_t *stops, bool *done, int64_t size, int64_t count, int64_t width,
                         int64_t ends)
{
    int64_t at = 0;
    if (ends != count + 1) return false;
    for (int64_t row = 0; row < count; row++) {
        if (at >= size) return false;
        starts[row] = at;
        while (!is_blank(text[at]) && text[at] != '\n') at++;
        stops[row] = at;
        bool fine = true;
        for (int64_t column = 0; fine && column < width; column++) {
            double exact = 0;
            fine = is_blank(text[at]) && (at++, read_number(text, size, powers, &at, &exact));
            float low = (float)(exact * (1 - UNSURE)), high = (float)(exact * (1 + UNSURE));
            fine = fine && low == high && isfinite(low);
            if (fine) vectors[row * width + column] = low;
        }
        if (fine) {
            at += text[at] == ' ';
            at += text[at] == '\r';
        }
        done[row] = fine && text[at] == '\n';
        while (text[at] != '\n') at++;
        at++;
    }
    starts[count] = at;
    return at == size;
}
