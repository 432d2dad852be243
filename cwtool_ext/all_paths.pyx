"""All paths of stabilized truncated gradient descent over the same rows, row by row.

The rule is that of cwtool_ext/paths.pyx. In the first pass all paths visit the rows in the order in
which they come, and each learns its own share of them. With M paths the columns of a feature are
(w of path 0 .. M - 1, k of path 0 .. M - 1), so that an entry of a row costs one look into memory
for all paths.
"""

from libc.math cimport copysign, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from cwtool_ext.csr cimport Csr, Row, effect, one_a_row, prefetch, row_at
from cwtool_ext.eight cimport descend_eight, end_eight, look_eight
from cwtool_ext.loss cimport slope
from cwtool_ext.paths cimport Rule, Walk
from cwtool_ext.stages cimport MOST, check_length, check_slots, informed, usable

cdef enum:
    EIGHT = 8  # paths, the usual number: their loops are in eight.pxd, or unrolled
    SOON = 8  # features between the one in use and the one that is prefetched


cdef struct Touched:  # features informed in the burst under way, with their weights before it
    int32_t* slot
    double* began
    Py_ssize_t count


cdef struct Emitted:  # by bursts that ended
    int32_t* slot
    uint8_t* paths  # number of paths in which the feature was informed,
    double* value  # for each of these |change| / q,
    uint8_t* kept  # and whether w is not zero
    Py_ssize_t count
    Py_ssize_t values


cdef inline void fetch(const double* at, Py_ssize_t M) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(0, 2 * M, 8):  # a cache line has 8 numbers
        prefetch(at + k)
    effect()


cdef inline void inform(Touched* touched, double* at, int32_t slot, double z, const double* mask,
                        bint by_norm, Py_ssize_t M) noexcept nogil:
    """Add z^2 or 1 to k of the paths whose mask is 1; there must be one."""
    cdef double more = max(z * z, 1e-300) if by_norm else 1.0
    cdef int64_t before = 0
    cdef int64_t[MOST] bits  # of k: a sum of doubles would have to wait for each addition
    cdef Py_ssize_t m
    memcpy(bits, at + M, 8 * M)
    for m in range(M):
        before |= bits[m]
    if before == 0:
        touched.slot[touched.count] = slot
        for m in range(M):
            touched.began[touched.count * M + m] = at[m]
        touched.count += 1
    for m in range(M):
        at[M + m] += more * mask[m]


cdef inline void look(Row row, Row after, double* table, double h, bint informs,
                      const double* mask, Touched* touched, bint by_norm, double* f,
                      Py_ssize_t M) noexcept nogil:
    """Add w.z of a row to f of every path; at the same time the row may inform its features."""
    cdef Py_ssize_t k, m
    cdef double z
    cdef double* at
    for k in range(row.nnz):
        if k < after.nnz:
            fetch(table + 2 * M * <Py_ssize_t> after.index[k], M)
        at = table + 2 * M * <Py_ssize_t> row.index[k]
        z = row.value[k]
        for m in range(M):
            f[m] += at[m] * z
        if informs:
            inform(touched, at, row.index[k], h * z, mask, by_norm, M)


cdef inline void descend(Row row, double* table, const double* step, double h, bint informs,
                         const double* mask, Touched* touched, bint by_norm,
                         Py_ssize_t M) noexcept nogil:
    """w_j += step z_j of every path; the step of a path that does not learn is 0."""
    cdef Py_ssize_t k, m
    cdef double z, move, w
    cdef double* at
    for k in range(row.nnz):
        at = table + 2 * M * <Py_ssize_t> row.index[k]
        z = row.value[k]
        if informs:
            inform(touched, at, row.index[k], h * z, mask, by_norm, M)
        for m in range(M):
            move = step[m] * z
            move = move if usable(move) else 0.0
            w = at[m] + move  # 0 if steps cancelled, up to rounding
            at[m] = 0.0 if fabs(w) <= 1e-12 * fabs(move) else w


cdef inline void end_burst(double* table, Touched* touched, Emitted* out, Rule rule,
                           Py_ssize_t M) noexcept nogil:
    """Every touched feature emits its changes and is pulled to zero. Without branches, because it
    is chance which paths a feature was informed in: a path with k = 0 is pulled by 0, and the value
    that it emits is overwritten by the next one."""
    cdef Py_ssize_t k, m, first, last = touched.count - 1
    cdef double q, w, bar
    cdef double* at
    cdef double[MOST] value, count
    for k in range(touched.count):
        fetch(table + 2 * M * <Py_ssize_t> touched.slot[min(k + SOON, last)], M)
        at = table + 2 * M * <Py_ssize_t> touched.slot[k]
        for m in range(M):
            count[m] = at[M + m]
            q, w = informed(count[m], rule.by_norm), at[m]
            bar = rule.g0 * q
            value[m] = fabs(w - (0.0 if rule.of_weight else touched.began[k * M + m]))
            value[m] /= q if q > 0.0 else 1.0
            at[m] = 0.0 if fabs(w) <= bar * (1.0 + 1e-9) else w - copysign(bar, w)
            at[M + m] = 0.0
        first = out.values
        for m in range(M):
            out.value[out.values] = value[m]
            out.kept[out.values] = at[m] != 0.0
            out.values += count[m] != 0.0
        out.slot[out.count] = touched.slot[k]
        out.paths[out.count] = <uint8_t> (out.values - first)
        out.count += 1
    touched.count = 0


cdef inline double mean(const double* f, Py_ssize_t M) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t m
    for m in range(M):
        total += f[m]
    return total / M


def walk(
    Csr rows not None, const double[:, ::1] rates, const double[::1] y, const double[:] weight,
    const uint8_t[:, :] learned, double[:, ::1] table, Walk how not None, int64_t into,
    double[::1] intercept, int32_t[::1] touched_slot, double[:, ::1] touched_began,
    Py_ssize_t n_touched, int32_t[::1] pool_slot, uint8_t[::1] pool_paths,
    double[::1] pool_value, uint8_t[::1] pool_kept, double[::1] score,
) -> tuple[int, int, int]:
    """All paths over prepared rows; path m learns row i if learned[m, i] is 1. `into` rows of the
    burst under way are behind them; these touched the first n_touched features of touched_slot,
    whose weights were touched_began. rates[i] is the rate of row i and the one of its step of the
    intercept. score[i] becomes the mean of the scores of the paths.
    Returns the numbers of features touched now, of features emitted into the pool, and of values
    emitted for these."""
    cdef Py_ssize_t M = intercept.shape[0], i, m, N = rows.count
    rows.fit(table.shape[0])
    one_a_row("y", y.shape[0], rows)
    one_a_row("score", score.shape[0], rows)
    one_a_row("rates", rates.shape[0], rows)
    one_a_row("weight", weight.shape[0], rows)
    cdef Rule rule = how.rule
    cdef int64_t total = n_touched + rows.start[N] - rows.start[0]
    cdef int64_t room = max(min(total, table.shape[0]), n_touched)
    if not 0 < M <= MOST or table.shape[1] != 2 * M or rates.shape[1] != 2:
        raise ValueError("walk needs columns (w, k) for each path, and two rates for each row")
    if rows.scale != 1.0 or n_touched < 0 or learned.shape[0] != M or learned.shape[1] != N:
        raise ValueError("walk needs rows of scale 1, and who learns each of them")
    check_length("touched_slot", touched_slot.shape[0], room)
    check_length("touched_began", touched_began.shape[0], room)
    check_length("touched_began", touched_began.shape[1], M)
    check_slots(touched_slot[:n_touched], table.shape[0])
    room = min(total, table.shape[0] * ((into + N) // rule.burst))
    check_length("pool_slot", pool_slot.shape[0], room)
    check_length("pool_paths", pool_paths.shape[0], room)
    check_length("pool_value", pool_value.shape[0], room * M)
    check_length("pool_kept", pool_kept.shape[0], room * M)
    if touched_began.shape[1] != M:
        raise ValueError("touched_began has a column for each path")
    cdef Touched touched = Touched(NULL, NULL, n_touched)
    cdef Emitted out = Emitted(NULL, NULL, NULL, NULL, 0, 0)
    if total:
        touched.slot, touched.began = &touched_slot[0], &touched_began[0, 0]
    if room:
        out.slot, out.paths = &pool_slot[0], &pool_paths[0]
        out.value, out.kept = &pool_value[0], &pool_kept[0]
    cdef double* weights = &table[0, 0] if table.shape[0] else NULL
    cdef double[MOST] f, mask, step
    cdef double c, h
    cdef bint some
    cdef Row row, after
    with nogil:
        for i in range(N):
            row, after = row_at(rows, i), row_at(rows, min(i + 1, N - 1))
            h = weight[i]
            some = False
            for m in range(M):
                f[m] = intercept[m]
                mask[m] = 1.0 if learned[m, i] and h > 0.0 else 0.0
                some |= mask[m] > 0.0
            some &= not rule.by_gradient
            if M == EIGHT:
                touched.count = look_eight(
                    row.nnz, row.index, row.value, weights, h, some, rule.by_norm, mask,
                    rows.start[N] - rows.start[i], touched.slot, touched.began, touched.count, f,
                )
            else:
                look(row, after, weights, h, some, mask, &touched, rule.by_norm, f, M)
            score[i] = mean(f, M)
            if h == 0.0:
                continue
            some = False
            for m in range(M):
                step[m] = 0.0
                c = slope(rule.loss, y[i], f[m]) if mask[m] > 0.0 else 0.0
                mask[m] = 1.0 if c == c and c != 0.0 else 0.0
                if mask[m] > 0.0:
                    intercept[m] -= c * rates[i, 1] * h
                    step[m] = -c * rates[i, 0] * h
                    some = True
            if some and M == EIGHT and not rule.by_gradient:
                descend_eight(row.nnz, row.index, row.value, weights, step)
            elif some:
                descend(row, weights, step, h, rule.by_gradient, mask, &touched, rule.by_norm, M)
            into += 1
            if into >= rule.burst:
                if M == EIGHT:
                    memcpy(out.slot + out.count, touched.slot, 4 * touched.count)
                    out.values += end_eight(
                        touched.count, touched.slot, touched.began, weights, rule.g0, rule.by_norm,
                        rule.of_weight, out.paths + out.count, out.value + out.values,
                        out.kept + out.values,
                    )
                    out.count += touched.count
                    touched.count = 0
                else:
                    end_burst(weights, &touched, &out, rule, M)
                into = 0
    return touched.count, out.count, out.values
