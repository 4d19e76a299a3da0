/* How tokens of an n-gram model are scored and drawn without listing the vocabulary
   (language_model/ngram_walks.py). */

#include "ngram_model.h"

/* Sums for one temperature, and what one thread remembers: language_model/ngram_tables.py says what
   each array is. */
typedef struct {
    const double *power, *excess, *back, *total;
    const int64_t *base, *base_starts;
    const double *base_sums, *kinds, *kind_sums;
    const int64_t *group, *group_starts, *group_kind;
    const double *group_probability, *group_power;
    const int64_t *group_order;
    int64_t entries, contexts, tokens, kind_bounds, forms, kind_count, group_bounds, groups;
} ngram_weights;

typedef struct {
    int32_t *record;
    double *borders;
    int64_t *numbers, *listed;
    double *listed_sums;
    int64_t *state, *stamp, *gone;
    double *values;
    int64_t *sizes, *items, *tied;
    int64_t contexts, records, room, tokens, groups, places;
} ngram_memory;

typedef struct {
    const int64_t *rules;
    const double *goals;
    int64_t count;
} truncation;

enum { TOP_K, TOP_P, MIN_P, TYPICAL, EPSILON, ETA, TOP_H };
enum { RECORDED, LISTINGS_END, LISTINGS }; /* places of the memory's state */

#define DEPTH 8            /* more contexts than a walk leaves */
#define LISTED 64          /* most tokens that are listed */
#define SLACK 1e-12        /* what a sum may be short of its goal by rounding */
#define TOP_H_TOKENS 100   /* how many of the most probable tokens top-H looks at */

/* γ and γ^(1/T) of the contexts that a walk has left, the longest first. */
typedef struct {
    double back[DEPTH], power[DEPTH];
    int64_t depth;
} levels;

/* The values from `low` to `high`, both among them. */
typedef struct {
    int64_t low, high;
} range;

/* A token, or what comes of it: P(w | h), its power 1/T, and the context after it. */
typedef struct {
    double probability, power;
    int64_t follow;
} outcome;

INLINE int64_t entry_of(const ngram_tables *tables, int64_t context, int64_t token)
{
    return tables->slots[ngram_slot(tables->slots, tables->room, tables->context, tables->token,
                                    context, token)];
}

INLINE void leave(levels *left, double back, double power)
{
    left->back[left->depth] = back;
    left->power[left->depth++] = power;
}

/* A product with γ of all contexts that were left, the last one first. */
INLINE double through(const double *factors, int64_t depth, double value)
{
    while (depth > 0)
        value *= factors[--depth];
    return value;
}

/* P(w | h) of a token that no context on the way down had, as its form and kind give it. */
INLINE double base_probability(const ngram_tables *tables, int64_t form, int64_t token)
{
    return tables->kinds[form * tables->kind_count + tables->kind[token]] * tables->unigram[token];
}

/* P(w | h), its power 1/T, and the context after w. */
INLINE outcome look(const ngram_tables *tables, const ngram_weights *weights, int64_t context,
                    int64_t token)
{
    levels left = {.depth = 0};
    outcome result;
    for (int64_t number = context;; number = tables->shorter[number]) {
        int64_t entry = entry_of(tables, number, token);
        if (entry >= 0) {
            result = (outcome){tables->probability[entry], weights->power[entry],
                               tables->follow[entry]};
            break;
        }
        leave(&left, tables->back[number], weights->back[number]);
        if (tables->shorter[number] < 0) {
            int64_t form = tables->form[number];
            result = (outcome){base_probability(tables, form, token), 0, token};
            if (token < weights->tokens) /* others cannot be written */
                result.power =
                    weights->kinds[form * weights->kind_count + tables->kind[token]] *
                    weights->group_power[weights->group[token]];
            break;
        }
    }
    result.probability = through(left.back, left.depth, result.probability);
    result.power = through(left.power, left.depth, result.power);
    return result;
}

/* The first place from `low` on whose sum is above a value; the last before `high` if none. */
INLINE int64_t first_above(const double *sums, int64_t low, int64_t high, double value)
{
    int64_t last = high - 1;
    while (low < last) {
        int64_t middle = low + (last - low) / 2;
        if (sums[middle] > value)
            last = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Draw a token by inverting the mixture. */
static int64_t draw(const ngram_tables *tables, const ngram_weights *weights, int64_t context,
                    double uniform)
{
    int64_t number = context;
    double rest = uniform * weights->total[number];
    for (;; number = tables->shorter[number]) {
        int64_t low = tables->starts[number], high = tables->starts[number + 1];
        if (high > low) {
            if (rest < weights->excess[high - 1])
                return tables->token[first_above(weights->excess, low, high, rest)];
            rest -= weights->excess[high - 1];
        }
        rest /= weights->back[number];
        if (tables->shorter[number] < 0) break;
    }
    int64_t form = tables->form[number], kind = 0;
    const double *sums = weights->kind_sums + form * weights->kind_count;
    for (int64_t one = 0; one < weights->kind_count; one++)
        if (sums[one] > (one > 0 ? sums[one - 1] : 0.0)) { /* tokens of the kind can follow */
            kind = one;
            if (sums[one] > rest) break;
        }
    if (kind > 0) rest -= sums[kind - 1];
    rest /= weights->kinds[form * weights->kind_count + kind];
    int64_t low = weights->base_starts[kind], high = weights->base_starts[kind + 1];
    return weights->base[first_above(weights->base_sums, low, high, rest)];
}

/* How many entries, and entries and groups, were listed, and how many values they have. */
typedef struct {
    int64_t entries, items, values;
} listing;

/* List what is equally probable after a context, from the most to the least probable: fills the
   probability, power and number of tokens of each value. */
static listing list_values(const ngram_tables *tables, const ngram_weights *weights,
                           const ngram_memory *memory, int64_t context)
{
    int64_t places = memory->places, stamp = ++memory->state[LISTINGS];
    double *single = memory->values, *power = single + places;
    double *value_of = power + places, *power_of = value_of + places;
    int64_t *left_of = memory->sizes, *size_of = left_of + places, *full_of = size_of + places;
    int64_t next[DEPTH + 1], ends[DEPTH + 1]; /* of each context's part, and of the groups' */
    levels left = {.depth = 0};
    int64_t found = 0, number = context;
    for (;; number = tables->shorter[number]) {
        next[left.depth] = found;
        for (int64_t entry = tables->starts[number]; entry < tables->starts[number + 1]; entry++) {
            int64_t token = tables->token[entry];
            if (memory->stamp[token] == stamp) continue;
            memory->stamp[token] = stamp;
            memory->gone[weights->group[token]]++;
            single[found] = through(left.back, left.depth, tables->probability[entry]);
            power[found] = through(left.power, left.depth, weights->power[entry]);
            memory->items[found++] = token;
        }
        ends[left.depth] = found;
        leave(&left, tables->back[number], weights->back[number]);
        if (tables->shorter[number] < 0) break;
    }
    int64_t form = tables->form[number], size = found, parts = left.depth + 1;
    const int64_t *order = weights->group_order + form * weights->groups;
    next[left.depth] = found;
    for (int64_t i = 0; i < weights->groups; i++) {
        int64_t group = order[i], kind = weights->group_kind[group];
        int64_t count = weights->group_starts[group + 1] - weights->group_starts[group];
        int64_t remaining = count - memory->gone[group];
        memory->gone[group] = 0;
        double p = tables->kinds[form * tables->kind_count + kind];
        p *= weights->group_probability[group];
        if (remaining == 0 || p == 0) continue;
        double q = weights->kinds[form * weights->kind_count + kind] * weights->group_power[group];
        single[size] = through(left.back, left.depth, p);
        power[size] = through(left.power, left.depth, q);
        left_of[size] = remaining;
        memory->items[size++] = group;
    }
    ends[left.depth] = size;
    int64_t value = -1;
    for (int64_t i = 0; i < size; i++) {
        int64_t best = -1;
        double highest = -1;
        for (int64_t part = 0; part < parts; part++)
            if (next[part] < ends[part] && single[next[part]] > highest)
                best = part, highest = single[next[part]];
        int64_t place = next[best]++;
        if (value < 0 || value_of[value] != highest) {
            value++;
            value_of[value] = highest;
            power_of[value] = power[place];
            size_of[value] = 0;
        }
        size_of[value] += best == left.depth ? left_of[place] : 1;
    }
    for (int64_t i = 0; i <= value; i++)
        full_of[i] = size_of[i];
    return (listing){found, size, value + 1};
}

static double entropy_of(const double *powers, const int64_t *sizes, range all, double total)
{
    double entropy = 0;
    for (int64_t i = all.low; i <= all.high; i++) {
        double share = powers[i] / total;
        if (share > 0) entropy -= (double)sizes[i] * share * log(share);
    }
    return entropy;
}

/* How many of `size` tokens make up a mass: at least one. */
INLINE int64_t enough(double wanted, int64_t size)
{
    if (!(wanted > 1)) return smaller(1, size);
    return wanted < (double)size ? (int64_t)wanted : size;
}

/* Keep what is closest to the entropy; `sizes` at a border becomes how many are kept there. */
static range keep_typical(const double *powers, int64_t *sizes, range all, double total, double tau)
{
    double entropy = entropy_of(powers, sizes, all, total);
    int64_t right = all.low;
    while (right <= all.high && -log(powers[right] / total) < entropy)
        right++;
    int64_t left = right - 1;
    double goal = (tau - SLACK) * total, so_far = 0;
    while (left >= all.low || right <= all.high) {
        bool nearer = left >= all.low && (right > all.high ||
                                          fabs(-log(powers[left] / total) - entropy) <=
                                              fabs(-log(powers[right] / total) - entropy));
        int64_t place = nearer ? left-- : right++;
        double mass = (double)sizes[place] * powers[place];
        if (so_far + mass >= goal) {
            sizes[place] = enough(ceil((goal - so_far) / powers[place]), sizes[place]);
            break;
        }
        so_far += mass;
    }
    return (range){left + 1, right - 1};
}

static range keep_top_k(int64_t *sizes, range all, double k)
{
    int64_t room = (int64_t)(k < 0x1p62 ? k : 0x1p62);
    for (int64_t i = all.low; i <= all.high; i++) {
        if (sizes[i] >= room) {
            sizes[i] = room;
            return (range){all.low, i};
        }
        room -= sizes[i];
    }
    return all;
}

static range keep_top_p(const double *powers, int64_t *sizes, range all, double total, double share)
{
    double goal = (share - SLACK) * total, so_far = 0;
    for (int64_t i = all.low; i <= all.high; i++) {
        double mass = (double)sizes[i] * powers[i];
        if (so_far + mass >= goal) {
            sizes[i] = enough(ceil((goal - so_far) / powers[i]), sizes[i]);
            return (range){all.low, i};
        }
        so_far += mass;
    }
    return all;
}

static range keep_top_h(const double *powers, int64_t *sizes, range all, double share_of_entropy)
{
    int64_t room = TOP_H_TOKENS, last = all.low;
    double mass = 0;
    for (int64_t i = all.low; i <= all.high && room > 0; i++) {
        sizes[i] = smaller(sizes[i], room);
        room -= sizes[i];
        mass += (double)sizes[i] * powers[i];
        last = i;
    }
    double entropy = entropy_of(powers, sizes, (range){all.low, last}, mass), so_far = 0;
    double goal = share_of_entropy * entropy + SLACK;
    for (int64_t i = all.low; i <= last; i++) {
        double share = powers[i] / mass, term = -share * log(share);
        if (so_far + (double)sizes[i] * term > goal) {
            double fits = floor((goal - so_far) / term);
            if (fits < 1) {
                if (i > all.low) return (range){all.low, i - 1};
                fits = 1;
            }
            if (fits < (double)sizes[i]) sizes[i] = (int64_t)fits;
            return (range){all.low, i};
        }
        so_far += (double)sizes[i] * term;
    }
    return (range){all.low, last};
}

/* Apply one truncation to some values. */
static range keep(const double *powers, int64_t *sizes, range all, int64_t rule, double value)
{
    double total = 0;
    for (int64_t i = all.low; i <= all.high; i++)
        total += (double)sizes[i] * powers[i];
    if (rule == TOP_K) return keep_top_k(sizes, all, value);
    if (rule == TOP_H) return keep_top_h(powers, sizes, all, value);
    if (rule == TYPICAL) return value < 1 ? keep_typical(powers, sizes, all, total, value) : all;
    if (rule == TOP_P) return value < 1 ? keep_top_p(powers, sizes, all, total, value) : all;
    double highest = powers[all.low], least = value * highest;
    if (rule != MIN_P) {
        double share = value;
        if (rule == ETA) {
            double cut = sqrt(value) * exp(-entropy_of(powers, sizes, all, total));
            share = cut < value ? cut : value;
        }
        least = highest < share * total ? highest : share * total;
    }
    while (powers[all.high] < least)
        all.high--;
    return all;
}

/* The number that would stand at a place if some were sorted (Hoare's selection). */
static int64_t selected(int64_t *numbers, int64_t count, int64_t place)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t pivot = numbers[low + (high - low) / 2], left = low, right = high;
        while (left <= right) {
            while (numbers[left] < pivot)
                left++;
            while (numbers[right] > pivot)
                right--;
            if (left <= right) {
                int64_t number = numbers[left];
                numbers[left++] = numbers[right];
                numbers[right--] = number;
            }
        }
        if (place <= right)
            high = right;
        else if (place >= left)
            low = left;
        else
            break;
    }
    return numbers[place];
}

/* The number up to which tokens of a border are kept. */
static int64_t lowest(const ngram_weights *weights, const ngram_memory *memory, listing all,
                      double border, int64_t wanted)
{
    int64_t count = 0;
    for (int64_t place = 0; place < all.items; place++) {
        if (memory->values[place] != border) continue;
        if (place < all.entries) {
            memory->tied[count++] = memory->items[place];
            continue;
        }
        int64_t group = memory->items[place], taken = 0;
        int64_t high = weights->group_starts[group + 1];
        for (int64_t slot = weights->group_starts[group]; slot < high && taken < wanted; slot++)
            if (memory->stamp[weights->base[slot]] != memory->state[LISTINGS]) {
                memory->tied[count++] = weights->base[slot];
                taken++;
            }
    }
    return selected(memory->tied, count, wanted - 1);
}

/* Whether a token is kept: its probability is within the borders, or at one and it is low. */
INLINE bool is_kept(double p, int64_t token, const double *borders, const int64_t *numbers)
{
    if (p > borders[0] || p < borders[1]) return false;
    if (p == borders[0] && token > numbers[0]) return false;
    return !(p == borders[1] && token > numbers[1]);
}

/* List the few tokens that are kept, with their sums. */
static void list_kept(const ngram_weights *weights, const ngram_memory *memory, listing all,
                      const double *borders, const int64_t *numbers)
{
    const double *probabilities = memory->values, *powers = probabilities + memory->places;
    double so_far = 0;
    for (int64_t place = 0; place < all.items; place++) {
        double p = probabilities[place];
        if (p > borders[0] || p < borders[1]) continue;
        bool single = place < all.entries;
        int64_t item = memory->items[place], low = 0, high = 1;
        if (!single) low = weights->group_starts[item], high = weights->group_starts[item + 1];
        for (int64_t slot = low; slot < high; slot++) {
            int64_t token = single ? item : weights->base[slot];
            if (!single && memory->stamp[token] == memory->state[LISTINGS]) continue;
            if (!is_kept(p, token, borders, numbers)) continue;
            so_far += powers[place];
            memory->listed[memory->state[LISTINGS_END]] = token;
            memory->listed_sums[memory->state[LISTINGS_END]++] = so_far;
        }
    }
}

/* Find what is kept after a context, or remember it; the number of the record. */
static int64_t truncated(const ngram_tables *tables, const ngram_weights *weights,
                         const ngram_memory *memory, truncation by, int64_t context)
{
    if (memory->record[context] >= 0) return memory->record[context];
    int64_t *state = memory->state;
    if (state[RECORDED] == memory->records || state[LISTINGS_END] + LISTED > memory->room) {
        for (int64_t i = 0; i < memory->contexts; i++)
            memory->record[i] = -1;
        state[RECORDED] = state[LISTINGS_END] = 0;
    }
    listing all = list_values(tables, weights, memory, context);
    const double *values = memory->values + 2 * memory->places, *powers = values + memory->places;
    int64_t *sizes = memory->sizes + memory->places, *full = sizes + memory->places;
    range kept = {0, all.values - 1};
    for (int64_t i = 0; i < by.count; i++)
        kept = keep(powers, sizes, kept, by.rules[i], by.goals[i]);
    double mass = 0, squares = 0;
    int64_t count = 0;
    for (int64_t i = kept.low; i <= kept.high; i++) {
        mass += (double)sizes[i] * powers[i];
        squares += (double)sizes[i] * (powers[i] * powers[i]);
        count += sizes[i];
    }
    int64_t number = state[RECORDED]++;
    memory->record[context] = (int32_t)number;
    double *borders = memory->borders + 4 * number;
    int64_t *numbers = memory->numbers + 4 * number, ends[2] = {kept.low, kept.high};
    borders[0] = values[kept.low], borders[1] = values[kept.high];
    borders[2] = mass, borders[3] = squares;
    for (int64_t side = 0; side < 2; side++) {
        int64_t place = ends[side];
        numbers[side] = INT64_MAX;
        if (sizes[place] < full[place])
            numbers[side] = lowest(weights, memory, all, borders[side], sizes[place]);
    }
    numbers[2] = state[LISTINGS_END], numbers[3] = count;
    if (count <= LISTED) list_kept(weights, memory, all, borders, numbers);
    return number;
}

/* Another uniform number, made of one and of how often it was tried. */
INLINE double another(double uniform, int64_t tries)
{
    uint64_t bits = (uint64_t)(uniform * 0x1p53) + (uint64_t)tries * UINT64_C(0x9E3779B97F4A7C15);
    return (double)(mixed_bits(bits) >> 11) * 0x1p-53;
}

/* Draw a token of those that are kept; the context after it goes to `follow`. */
static int64_t choose(const ngram_tables *tables, const ngram_weights *weights,
                      const ngram_memory *memory, truncation by, int64_t context, double uniform,
                      int64_t *follow)
{
    int64_t token;
    if (by.count == 0) {
        token = draw(tables, weights, context, uniform);
        *follow = look(tables, weights, context, token).follow;
        return token;
    }
    int64_t record = truncated(tables, weights, memory, by, context);
    const double *borders = memory->borders + 4 * record;
    const int64_t *numbers = memory->numbers + 4 * record;
    if (numbers[3] <= LISTED) {
        int64_t low = numbers[2], high = low + numbers[3];
        double rest = uniform * memory->listed_sums[high - 1];
        token = memory->listed[first_above(memory->listed_sums, low, high, rest)];
        *follow = look(tables, weights, context, token).follow;
        return token;
    }
    double trial = uniform;
    for (int64_t tries = 1;; tries++) {
        token = draw(tables, weights, context, trial);
        outcome result = look(tables, weights, context, token);
        *follow = result.follow;
        if (is_kept(result.probability, token, borders, numbers)) return token;
        trial = another(uniform, tries);
    }
}

/* Write the next tokens of some texts; contexts become those after them, −1 after an end, and
   `lengths` how many tokens each text has got. */
API void ngram_model_write(const ngram_tables *tables, const ngram_weights *weights,
                           const ngram_memory *memory, const int64_t *rules, const double *goals,
                           const double *uniforms, int64_t *contexts, int32_t *tokens,
                           int64_t *lengths, int64_t count, int64_t texts, int64_t steps)
{
    truncation by = {rules, goals, count};
    for (int64_t row = 0; row < texts; row++) {
        int64_t context = contexts[row], step = 0;
        for (; step < steps && context >= 0; step++) {
            int64_t follow, place = row * steps + step;
            int64_t token = choose(tables, weights, memory, by, context, uniforms[place], &follow);
            tokens[place] = (int32_t)token;
            context = token == 0 ? -1 : follow;
        }
        contexts[row] = context;
        lengths[row] = step;
    }
}

/* P(w | h), and the context after w. */
INLINE outcome read_one(const ngram_tables *tables, int64_t context, int64_t token)
{
    double left[DEPTH];
    int64_t depth = 0;
    for (int64_t number = context;; number = tables->shorter[number]) {
        int64_t entry = entry_of(tables, number, token);
        if (entry >= 0) {
            double p = through(left, depth, tables->probability[entry]);
            return (outcome){p, 0, tables->follow[entry]};
        }
        left[depth++] = tables->back[number];
        if (tables->shorter[number] < 0) {
            double p = base_probability(tables, tables->form[number], token);
            return (outcome){through(left, depth, p), 0, token};
        }
    }
}

/* P of every token, and the context before it. Texts begin in the context `opening`; where that is
   −1, the first token of each is one, and has the probability 1. */
API void ngram_model_read(const ngram_tables *tables, const int64_t *tokens, const int64_t *starts,
                          int64_t opening, double *probability, int64_t *contexts, int64_t length,
                          int64_t bounds)
{
    (void)length;
    for (int64_t text = 0; text + 1 < bounds; text++) {
        int64_t context = opening;
        for (int64_t place = starts[text]; place < starts[text + 1]; place++) {
            contexts[place] = context;
            if (context < 0) {
                probability[place] = 1;
                context = tokens[place];
                continue;
            }
            outcome result = read_one(tables, context, tokens[place]);
            probability[place] = result.probability;
            context = result.follow;
        }
    }
}

/* The context after some tokens. */
static int64_t context_after(const ngram_tables *tables, int64_t context, const int64_t *tokens,
                             int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t number = context, entry = -1;
        while (number >= 0 && (entry = entry_of(tables, number, tokens[i])) < 0)
            number = tables->shorter[number];
        context = entry < 0 ? tokens[i] : tables->follow[entry];
    }
    return context;
}

/* The context after some tokens of each text, from the context it begins in. */
API void ngram_model_after(const ngram_tables *tables, const int64_t *tokens, const int64_t *starts,
                           int64_t *contexts, int64_t length, int64_t bounds, int64_t texts)
{
    (void)length, (void)bounds;
    for (int64_t text = 0; text < texts; text++)
        contexts[text] = context_after(tables, contexts[text], tokens + starts[text],
                                       starts[text + 1] - starts[text]);
}

/* Probability of each token as it is decoded, and the sum of squares of its distribution. */
API void ngram_model_read_decoded(const ngram_tables *tables, const ngram_weights *weights,
                                  const ngram_memory *memory, const int64_t *rules,
                                  const double *goals, const int64_t *contexts,
                                  const int64_t *tokens, double *decoded, double *squares,
                                  int64_t count, int64_t length)
{
    truncation by = {rules, goals, count};
    for (int64_t place = 0; place < length; place++) {
        int64_t record = truncated(tables, weights, memory, by, contexts[place]);
        int64_t token = tokens[place];
        const double *borders = memory->borders + 4 * record;
        outcome result = look(tables, weights, contexts[place], token);
        bool kept = token < weights->tokens &&
                    is_kept(result.probability, token, borders, memory->numbers + 4 * record);
        decoded[place] = kept ? result.power / borders[2] : 0;
        squares[place] = borders[3] / (borders[2] * borders[2]);
    }
}

/* P(w | h) of every token after a context, the unknown ones too. */
static void list_all(const ngram_tables *tables, int64_t context, double *RESTRICT probability)
{
    int64_t chain[DEPTH], depth = 0;
    for (int64_t number = context; number >= 0; number = tables->shorter[number])
        chain[depth++] = number;
    const int32_t *RESTRICT kind = tables->kind;
    const double *RESTRICT unigram = tables->unigram;
    const double *kinds = tables->kinds + tables->form[chain[depth - 1]] * tables->kind_count;
    int64_t size = tables->readable;
    double back = tables->back[chain[depth - 1]];
    for (int64_t token = 0; token < size; token++)
        probability[token] = kinds[kind[token]] * unigram[token] * back;
    while (depth-- > 0) {
        int64_t number = chain[depth], high = tables->starts[number + 1];
        for (int64_t entry = tables->starts[number]; entry < high; entry++)
            probability[tables->token[entry]] = tables->probability[entry];
        if (depth > 0) {
            back = tables->back[chain[depth - 1]];
            for (int64_t token = 0; token < size; token++)
                probability[token] *= back;
        }
    }
}

/* Go on from a context of each text by its tokens, to the context after them, and list P(w | h) of
   every token there. */
API void ngram_model_proceed(const ngram_tables *tables, const int64_t *tokens,
                             const int64_t *starts, int64_t *contexts, double *probability,
                             int64_t length, int64_t bounds, int64_t texts, int64_t readable)
{
    ngram_model_after(tables, tokens, starts, contexts, length, bounds, texts);
    for (int64_t text = 0; text < texts; text++)
        list_all(tables, contexts[text], probability + text * readable);
}

/* Whether a context that the walk has left has an entry of a token, or a list holds it. */
INLINE bool met(const ngram_tables *tables, const int64_t *chain, int64_t depth,
                const int64_t *left_out, int64_t count, int64_t token)
{
    for (int64_t i = 0; i < count; i++)
        if (left_out[i] == token) return true;
    for (int64_t i = 0; i < depth; i++)
        if (entry_of(tables, chain[i], token) >= 0) return true;
    return false;
}

/* Put a token among the `most` most probable ones, the lower number first of equal ones. */
INLINE void rank_token(double p, int64_t token, double *probability, int64_t *tokens, int64_t most)
{
    int64_t place = most;
    while (place > 0 && (p > probability[place - 1] ||
                         (p == probability[place - 1] && token < tokens[place - 1])))
        place--;
    if (place == most) return;
    for (int64_t i = most - 1; i > place; i--)
        probability[i] = probability[i - 1], tokens[i] = tokens[i - 1];
    probability[place] = p, tokens[place] = token;
}

/* Find the `most` most probable tokens after one context. Entries and groups come from the most to
   the least probable, so that each is left where no more of it can count. */
static void likeliest(const ngram_tables *tables, const ngram_weights *weights, int64_t context,
                      const int64_t *left_out, int64_t count, int64_t *tokens,
                      double *probability, int64_t most)
{
    int64_t chain[DEPTH], depth = 0;
    double left[DEPTH];
    for (int64_t i = 0; i < most; i++)
        tokens[i] = -1, probability[i] = 0;
    for (int64_t number = context;; number = tables->shorter[number]) {
        int64_t found = 0, high = tables->starts[number + 1];
        for (int64_t entry = tables->starts[number]; entry < high && found < most; entry++) {
            double p = through(left, depth, tables->probability[entry]);
            if (p < probability[most - 1]) break;
            int64_t token = tables->token[entry];
            if (met(tables, chain, depth, left_out, count, token)) continue;
            rank_token(p, token, probability, tokens, most);
            found++;
        }
        left[depth] = tables->back[number], chain[depth++] = number;
        if (tables->shorter[number] < 0) break;
    }
    int64_t form = tables->form[chain[depth - 1]];
    for (int64_t i = 0; i < weights->groups; i++) {
        int64_t group = weights->group_order[form * weights->groups + i], found = 0;
        int64_t high = weights->group_starts[group + 1];
        for (int64_t slot = weights->group_starts[group]; slot < high && found < most; slot++) {
            int64_t token = weights->base[slot];
            double p = through(left, depth, base_probability(tables, form, token));
            if (p < probability[most - 1]) return;
            if (met(tables, chain, depth, left_out, count, token)) continue;
            rank_token(p, token, probability, tokens, most);
            found++;
        }
    }
}

/* The most probable tokens that can be written after some contexts, but for those that are left
   out, with P(w | h); −1 and 0 behind the last. */
API void ngram_model_likeliest(const ngram_tables *tables, const ngram_weights *weights,
                               const int64_t *contexts, const int64_t *left_out,
                               const int64_t *starts, int64_t *tokens, double *probability,
                               int64_t texts, int64_t length, int64_t bounds, int64_t most)
{
    (void)length, (void)bounds;
    for (int64_t text = 0; text < texts; text++)
        likeliest(tables, weights, contexts[text], left_out + starts[text],
                  starts[text + 1] - starts[text], tokens + text * most,
                  probability + text * most, most);
}

/* P(w | h) of one token after each context. */
API void ngram_model_read_each(const ngram_tables *tables, const int64_t *contexts,
                               const int64_t *tokens, double *probability, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        probability[i] = read_one(tables, contexts[i], tokens[i]).probability;
}
