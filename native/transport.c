/* Auctions for optimal transport, and the stop-overs of barycentres (estimate/transport.py). */

#include "calipers.h"

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

enum { TILE = 16 }; /* other cells at a time */

INLINE void lower_tile(const double *from, const double *to, int64_t cells, double *prices,
                       int32_t *stops, int64_t width)
{
    double least[TILE];
    int64_t where[TILE];
    for (int64_t j = 0; j < width; j++) least[j] = prices[j], where[j] = stops[j];
    for (int64_t stop = 0; stop < cells; stop++)
        for (int64_t j = 0; j < width; j++) {
            double price = from[stop] + to[stop * cells + j];
            bool less = price < least[j];
            least[j] = less ? price : least[j];
            where[j] = less ? stop : where[j];
        }
    for (int64_t j = 0; j < width; j++) prices[j] = least[j], stops[j] = (int32_t)where[j];
}

/* Lower prices from some cells to all others to those by way of the best stop-over, of equal ones
   the first. */
API void lower_prices(const double *from, const double *to, double *prices, int32_t *stops,
                      int64_t count, int64_t cells)
{
    for (int64_t j = 0; j < cells; j += TILE)
        for (int64_t i = 0; i < count; i++) {
            const double *row = from + i * cells;
            double *lowered = prices + i * cells + j;
            int32_t *by = stops + i * cells + j;
            if (j + TILE <= cells) lower_tile(row, to + j, cells, lowered, by, TILE);
            else lower_tile(row, to + j, cells, lowered, by, cells - j);
        }
}
