/* What libFuzzer runs: the parser, compiled with clang, and a plain reader on the same bytes. The first
   byte of an input gives the base of indices (0 or 1), the others are the text. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>

#include "plain_reader.h"

enum { PADDING = 64 };

static PyObject *parse;

/* Memory of exactly this size, which AddressSanitizer watches, as an argument of the parser. */
static PyObject *watched(void *memory, char *format, Py_ssize_t each, Py_ssize_t n, Py_ssize_t width)
{
    Py_ssize_t shape[2] = {n, width}, strides[2] = {each * width, each};
    Py_buffer buffer = {0};
    buffer.buf = memory;
    buffer.len = each * n * width;
    buffer.itemsize = each;
    buffer.ndim = width > 1 ? 2 : 1;
    buffer.format = format;
    buffer.shape = shape;
    buffer.strides = strides;
    return PyMemoryView_FromBuffer(&buffer);
}

static void make(Rows *rows, Py_ssize_t n_rows, Py_ssize_t nnz, Py_ssize_t n_lines)
{
    rows->labels = malloc(sizeof(double) * (size_t) n_rows);
    rows->weights = malloc(sizeof(double) * (size_t) n_rows);
    rows->starts = malloc(sizeof(int64_t) * (size_t) (n_rows + 1));
    rows->lines = malloc(sizeof(int32_t) * (size_t) n_rows);
    rows->indices = malloc(sizeof(int32_t) * (size_t) nnz);
    rows->values = malloc(sizeof(double) * (size_t) nnz);
    rows->faults = malloc(sizeof(int64_t[3]) * (size_t) n_lines);
}

static void forget(Rows *rows)
{
    free(rows->labels);
    free(rows->weights);
    free(rows->starts);
    free(rows->lines);
    free(rows->indices);
    free(rows->values);
    free(rows->faults);
}

static void same(const void *a, const void *b, size_t size, const char *what)
{
    if (memcmp(a, b, size) != 0) {
        fprintf(stderr, "the parser and the plain reader differ in their %s\n", what);
        abort();
    }
}

static void compare(const Rows *found, const Rows *plain)
{
    size_t n = (size_t) plain->report[0], nnz = (size_t) plain->report[1];
    same(found->report, plain->report, sizeof plain->report, "counts");
    same(found->labels, plain->labels, n * sizeof(double), "labels");
    if (plain->report[6])
        same(found->weights, plain->weights, n * sizeof(double), "weights");
    same(found->starts, plain->starts, (n + 1) * sizeof(int64_t), "starts of rows");
    same(found->lines, plain->lines, n * sizeof(int32_t), "lines");
    same(found->indices, plain->indices, nnz * sizeof(int32_t), "indices");
    same(found->values, plain->values, nnz * sizeof(double), "values");
    same(found->faults, plain->faults, (size_t) plain->report[5] * sizeof(int64_t[3]), "faults");
}

static void call(char *text, Py_ssize_t size, int base, Rows *rows, Py_ssize_t n, Py_ssize_t nnz,
                 Py_ssize_t n_lines)
{
    PyObject *result = PyObject_CallFunction(
        parse, "NiniNNNNNNNN", watched(text, "B", 1, size + 1 + PADDING, 1), 0, size, base,
        watched(rows->labels, "d", 8, n, 1), watched(rows->weights, "d", 8, n, 1),
        watched(rows->starts, "l", 8, n + 1, 1), watched(rows->indices, "i", 4, nnz, 1),
        watched(rows->values, "d", 8, nnz, 1), watched(rows->lines, "i", 4, n, 1),
        watched(rows->faults, "l", 8, n_lines, 3), watched(rows->report, "l", 8, 7, 1));
    if (result == NULL) {
        PyErr_Print();
        abort();
    }
    Py_DECREF(result);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;
    Py_Initialize();
    PyObject *module = PyImport_ImportModule("cwtool_ext.libsvm");
    parse = module ? PyObject_GetAttrString(module, "parse") : NULL;
    if (parse == NULL) {
        PyErr_Print();
        abort();
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    Py_ssize_t size = length ? (Py_ssize_t) length - 1 : 0, n_lines = 1;
    Py_ssize_t n = (size + 1) / 2 + 1, nnz = size / 4 + 1; /* `capacity`, and a row to spare */
    int base = length ? data[0] & 1 : 0;
    char *text = malloc((size_t) size + 1 + PADDING);
    Rows found, plain;
    memcpy(text, data + (length > 0), (size_t) size);
    text[size] = '\n';
    memset(text + size + 1, '7', PADDING);
    for (Py_ssize_t k = 0; k < size; k++)
        n_lines += text[k] == '\n';
    make(&found, n, nnz, n_lines);
    make(&plain, n, nnz, n_lines);
    call(text, size, base, &found, n, nnz, n_lines);
    read_plainly(text, (size_t) size, base, &plain);
    compare(&found, &plain);
    forget(&found);
    forget(&plain);
    free(text);
    return 0;
}
