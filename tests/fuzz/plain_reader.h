/* A slow and plain reader of LIBSVM text, as tests/slow_libsvm.py is, for fuzzing many inputs. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { /* the codes of cwtool_ext/libsvm.pxd */
    BAD_LABEL = 1, INFINITE_LABEL, MISSING_COLON, BAD_INDEX, ZERO_INDEX, NEGATIVE_INDEX,
    LARGE_INDEX, DESCENDING, DUPLICATE, BAD_VALUE, INFINITE_VALUE, OVERFLOW_, BINARY, BAD_WEIGHT,
    INFINITE_WEIGHT, NEGATIVE_WEIGHT
};

typedef struct {
    double *labels, *weights, *values;
    int64_t *starts, (*faults)[3];
    int32_t *indices, *lines;
    int64_t report[7]; /* rows, nnz, lines, greatest index, qids, faults, rows with a weight */
} Rows;

typedef struct {
    const char *text;
    size_t size;
} Item;

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_blank(char c) { return c == ' ' || (c >= 9 && c <= 13 && c != '\n'); }

static size_t count_digits(const char *p, const char *end)
{
    const char *start = p;
    while (p < end && is_digit(*p))
        p++;
    return (size_t) (p - start);
}

/* Whether the whole item is a number, and which. */
static int is_number(Item item, double *x)
{
    const char *p = item.text, *end = p + item.size;
    size_t before, behind = 0;
    char *copy;
    p += p < end && (*p == '-' || *p == '+');
    p += before = count_digits(p, end);
    if (p < end && *p == '.')
        p += 1 + (behind = count_digits(p + 1, end));
    if (before + behind == 0)
        return 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '-' || *p == '+');
        if (count_digits(p, end) == 0)
            return 0;
        p += count_digits(p, end);
    }
    if (p < end)
        return 0;
    copy = strndup(item.text, item.size);
    *x = strtod(copy, NULL);
    free(copy);
    return 1;
}

static int is_named(Item item)
{
    const char *words[] = {"nan", "inf", "infinity"};
    size_t sign = item.size > 0 && (*item.text == '-' || *item.text == '+');
    for (int k = 0; k < 3; k++)
        if (item.size - sign == strlen(words[k])
            && strncasecmp(item.text + sign, words[k], item.size - sign) == 0)
            return 1;
    return 0;
}

static int is_infinite(double x) { return x - x != 0; }

static int is_binary(Item item)
{
    for (size_t k = 0; k < item.size; k++)
        if ((unsigned char) item.text[k] < 32 || item.text[k] == 127)
            return 1;
    return 0;
}

/* What is before the first colon, and what is behind it; the latter has no text without a colon. */
static void split(Item item, Item *before, Item *behind)
{
    const char *colon = memchr(item.text, ':', item.size);
    *before = *behind = item;
    behind->text = NULL;
    if (colon) {
        before->size = (size_t) (colon - item.text);
        behind->text = colon + 1;
        behind->size = item.size - before->size - 1;
    }
}

/* The fault of a label with its weight, and the byte where it is. */
static int read_label(Item item, double *label, double *weight, const char **at)
{
    Item name, rest;
    int good;
    *weight = 1;
    *at = item.text;
    if (is_binary(item))
        return BINARY;
    split(item, &name, &rest);
    good = is_number(name, label);
    if (is_named(name) || (good && is_infinite(*label)))
        return INFINITE_LABEL;
    if (!good)
        return BAD_LABEL;
    if (rest.text == NULL)
        return 0;
    *at = rest.text;
    if (is_named(rest))
        return INFINITE_WEIGHT;
    if (!is_number(rest, weight))
        return BAD_WEIGHT;
    if (is_infinite(*weight))
        return INFINITE_WEIGHT;
    return *weight < 0 ? NEGATIVE_WEIGHT : 0;
}

/* The fault of a pair, and the byte where it is. */
static int read_pair(Item item, int base, int64_t previous, int64_t *index, double *x,
                     const char **at)
{
    Item name, rest;
    int negative;
    *at = item.text;
    *index = 0;
    if (is_binary(item))
        return BINARY;
    split(item, &name, &rest);
    if (rest.text == NULL)
        return MISSING_COLON;
    negative = name.size > 0 && *name.text == '-';
    name.text += negative;
    name.size -= (size_t) negative;
    if (name.size == 0 || count_digits(name.text, name.text + name.size) < name.size)
        return BAD_INDEX;
    for (size_t k = 0; k < name.size; k++)
        if (*index < (int64_t) 1 << 40)
            *index = 10 * *index + (name.text[k] - '0');
    if (negative)
        return NEGATIVE_INDEX;
    if (*index < base)
        return ZERO_INDEX;
    if (*index - base > 2147483646)
        return LARGE_INDEX;
    if (*index <= previous)
        return *index == previous ? DUPLICATE : DESCENDING;
    *at = rest.text;
    if (is_named(rest))
        return INFINITE_VALUE;
    if (!is_number(rest, x))
        return BAD_VALUE;
    return is_infinite(*x) ? OVERFLOW_ : 0;
}

static int is_qid(Item item)
{
    return item.size > 4 && strncmp(item.text, "qid:", 4) == 0
        && count_digits(item.text + 4, item.text + item.size) == item.size - 4;
}

/* The next item before `end`; no text if there is none. */
static Item next_item(const char *p, const char *end)
{
    Item found = {NULL, 0};
    while (p < end && is_blank(*p))
        p++;
    if (p < end)
        found.text = p;
    while (p < end && !is_blank(*p)) {
        found.size++;
        p++;
    }
    return found;
}

/* Read one line, which ends at `end`, into the rows. */
static void read_line(const char *text, const char *p, const char *end, int base, Rows *rows)
{
    int64_t *report = rows->report, row = report[0], nnz = report[1], previous = base - 1;
    const char *comment = memchr(p, '#', (size_t) (end - p)), *at;
    int fault, qid;
    Item item;
    end = comment ? comment : end;
    item = next_item(p, end);
    if (item.text == NULL)
        return;
    fault = read_label(item, &rows->labels[row], &rows->weights[row], &at);
    item = next_item(item.text + item.size, end);
    qid = fault == 0 && item.text && is_qid(item);
    if (qid)
        item = next_item(item.text + item.size, end);
    while (fault == 0 && item.text) {
        int64_t index;
        double x;
        fault = read_pair(item, base, previous, &index, &x, &at);
        previous = index;
        if (fault == 0 && x != 0) {
            rows->indices[nnz] = (int32_t) (index - base);
            rows->values[nnz++] = x;
        }
        item = next_item(item.text + item.size, end);
    }
    if (fault) {
        int64_t *to = rows->faults[report[5]++];
        to[0] = report[2];
        to[1] = at - text;
        to[2] = fault;
        return;
    }
    for (int64_t k = report[1]; k < nnz; k++)
        if (rows->indices[k] > report[3])
            report[3] = rows->indices[k];
    report[4] += qid;
    report[6] += rows->weights[row] != 1;
    rows->lines[row] = (int32_t) report[2];
    rows->starts[++report[0]] = report[1] = nnz;
}

/* Read the lines of text[:size] into rows that have room. */
static void read_plainly(const char *text, size_t size, int base, Rows *rows)
{
    const char *p = text, *end = text + size;
    memset(rows->report, 0, sizeof rows->report);
    rows->report[3] = -1;
    rows->starts[0] = 0;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t) (end - p));
        stop = stop ? stop : end;
        read_line(text, p, stop, base, rows);
        rows->report[2]++;
        p = stop + 1;
    }
}
