/* Auctions for optimal transport, and the stop-overs of barycentres (estimate/transport.py). */

#include "calipers.h"
#include "distances.h"

#define ROWS_AT_ONCE 4 /* cells whose prices are lowered together */

/* The cheapest of a row's near columns, its cost with the price, and that of the next. */
INLINE int64_t two_best(const double *costs, const double *prices, const int32_t *near,
                        int64_t listed, double *value, double *second)
{
    int64_t best = 0;
    double least = INFINITY, next = INFINITY;
    for (int64_t place = 0; place < listed; place++) {
        int64_t column = near[place];
        double cost = costs[column] + prices[column];
        if (cost < least) {
            best = column;
            next = least;
            least = cost;
        } else if (cost < next) {
            next = cost;
        }
    }
    *value = least, *second = next;
    return best;
}

/* Find the cheapest columns of a row among all, and the cheapest of those left out. */
static double nearest_columns(const double *costs, const double *prices, int64_t n, double *room,
                              double *values, int32_t *columns, int32_t *near, int64_t listed)
{
    int64_t filled = 0;
    for (int64_t column = 0; column < n; column++) room[column] = costs[column] + prices[column];
    for (int64_t column = 0; column < n; column++) {
        double cost = room[column];
        if (filled > listed && cost >= values[listed]) continue;
        int64_t place = smaller(filled, listed);
        for (; place > 0 && values[place - 1] > cost; place--) {
            values[place] = values[place - 1];
            columns[place] = columns[place - 1];
        }
        values[place] = cost;
        columns[place] = (int32_t)column;
        filled = smaller(filled + 1, listed + 1);
    }
    memcpy(near, columns, sizeof(int32_t) * (size_t)listed);
    return values[listed];
}

/* Let every row buy a column; return how many bids that took.

   Prices only rise, so a row's near columns decide as long as its second best among them is no
   dearer than `beyond`, the cheapest of all others when it last looked at them. `room`, `values` and
   `columns` are room to work in, the last two for one column more than are listed. */
API int64_t auction(const double *costs, double *prices, double raise_by, int32_t *near,
                    double *beyond, int64_t most_bids, int64_t *owner, int64_t *waiting,
                    double *room, double *values, int32_t *columns, int64_t n, int64_t listed,
                    int64_t listed_and_one)
{
    int64_t left = n, bids = 0;
    (void)listed_and_one;
    for (int64_t row = 0; row < n; row++) owner[row] = -1, waiting[row] = n - 1 - row;
    while (left > 0 && bids < most_bids) {
        int64_t row = waiting[--left];
        const double *of_row = costs + row * n;
        int32_t *near_row = near + row * listed;
        double value, second;
        int64_t best = two_best(of_row, prices, near_row, listed, &value, &second);
        bids++;
        if (second > beyond[row]) {
            beyond[row] =
                nearest_columns(of_row, prices, n, room, values, columns, near_row, listed);
            best = two_best(of_row, prices, near_row, listed, &value, &second);
        }
        prices[best] += second - value + raise_by;
        if (owner[best] >= 0) waiting[left++] = owner[best];
        owner[best] = row;
    }
    return bids;
}

typedef VECTOR(int64_t, WIDE_LANES) words;

/* Where prices are lower, they and their stop are taken. */
INLINE void take_lower(wide_lanes price, words stop, wide_lanes *least, words *where)
{
#if defined(__AVX512F__)
    __mmask8 lower = _mm512_cmp_pd_mask((__m512d)price, (__m512d)*least, _CMP_LT_OQ);
    *least = (wide_lanes)_mm512_mask_mov_pd((__m512d)*least, lower, (__m512d)price);
    *where = (words)_mm512_mask_mov_epi64((__m512i)*where, lower, (__m512i)stop);
#else
    words lower = price < *least;
    *least = (wide_lanes)(((words)price & lower) | ((words)*least & ~lower));
    *where = (stop & lower) | (*where & ~lower);
#endif
}

/* Lower prices from `count` cells to `width` others, both at most as many as run at once. */
INLINE void lower_tile(const double *from, const double *to, int64_t cells, double *prices,
                       int32_t *stops, int64_t count, int64_t width)
{
    wide_lanes least[ROWS_AT_ONCE] = {{0}}, onward = {0};
    words where[ROWS_AT_ONCE] = {{0}}, by = {0};
#pragma GCC unroll 4
    for (int64_t i = 0; i < count; i++) {
        double lowest[WIDE_LANES] = {0};
        int64_t places[WIDE_LANES] = {0};
        for (int64_t j = 0; j < width; j++)
            lowest[j] = prices[i * cells + j], places[j] = stops[i * cells + j];
        least[i] = as_it_is(lowest), where[i] = *(const words *)places;
    }
    for (int64_t stop = 0; stop < cells; stop++) {
        if (width == WIDE_LANES) onward = *(const wide_lanes *)(to + stop * cells);
        else memcpy(&onward, to + stop * cells, sizeof(double) * (size_t)width);
#pragma GCC unroll 4
        for (int64_t i = 0; i < count; i++)
            take_lower(from[i * cells + stop] + onward, by, &least[i], &where[i]);
        by += 1;
    }
#pragma GCC unroll 4
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < width; j++) {
            prices[i * cells + j] = least[i][j];
            stops[i * cells + j] = (int32_t)where[i][j];
        }
}

/* Lower prices from some cells to all others to those by way of the best stop-over, of equal ones
   the first. */
API void lower_prices(const double *from, const double *to, double *prices, int32_t *stops,
                      int64_t count, int64_t cells)
{
    for (int64_t j = 0; j < cells; j += WIDE_LANES)
        for (int64_t i = 0; i < count; i += ROWS_AT_ONCE) {
            int64_t height = smaller(ROWS_AT_ONCE, count - i), width = smaller(WIDE_LANES, cells - j);
            const double *rows = from + i * cells;
            double *lowered = prices + i * cells + j;
            int32_t *by = stops + i * cells + j;
            if (height == ROWS_AT_ONCE && width == WIDE_LANES)
                lower_tile(rows, to + j, cells, lowered, by, ROWS_AT_ONCE, WIDE_LANES);
            else lower_tile(rows, to + j, cells, lowered, by, height, width);
        }
}
