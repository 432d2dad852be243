"""All paths of stabilized truncated gradient descent over the same rows, row by row.

The rule is that of cwtool_ext/paths.pyx. In the first pass all paths visit the rows in the order in
which they come, and each learns its own share of them. The weights w of all paths lie side by side,
so that an entry of a row costs one look into memory for all paths. The counts k of the features
that a burst informs are in a list, which stays in the cache; the others have none.
"""

from libc.math cimport copysign, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from cwtool_ext.csr cimport Csr, Row, effect, one_a_row, prefetch, row_at
from cwtool_ext.loss cimport HINGE, slope
from cwtool_ext.path_loops cimport PathLoops, loops_of
from cwtool_ext.paths cimport Rule, Walk
from cwtool_ext.stages cimport MOST, check_length, check_slots, informed, usable

cdef enum:
    SOON = 8  # features between the one in use and the one that is prefetched


cdef struct Touched:  # features informed in the burst under way
    int32_t* slot
    double* began  # their weights before it
    double* counts  # k of all paths
    int32_t* place  # for each slot 1 + its number among these, or 0
    Py_ssize_t count


cdef struct Emitted:  # by bursts that ended
    int32_t* slot
    uint8_t* paths  # number of paths in which the feature was informed,
    double* value  # for each of these |change| / q,
    uint8_t* kept  # and whether w is not zero
    Py_ssize_t count
    Py_ssize_t values


cdef inline void fetch(const double* weights, int32_t slot, Py_ssize_t M) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(0, M, 8):  # a cache line has 8 numbers
        prefetch(weights + M * <Py_ssize_t> slot + k)
    effect()


cdef inline void inform(Touched* touched, const double* w, int32_t slot, double z,
                        const double* mask, bint by_norm, Py_ssize_t M) noexcept nogil:
    """Add z^2 or 1 to k of the paths whose mask is 1; there must be one."""
    cdef double more = max(z * z, 1e-300) if by_norm else 1.0
    cdef Py_ssize_t m, n = touched.count
    if touched.place[slot] == 0:
        touched.slot[n] = slot
        memcpy(touched.began + n * M, w, 8 * M)
        memset(touched.counts + n * M, 0, 8 * M)
        touched.count += 1
        touched.place[slot] = <int32_t> touched.count
    n = touched.place[slot] - 1
    for m in range(M):
        touched.counts[n * M + m] += more * mask[m]


cdef inline void look(Row row, Row after, const double* weights, double h, bint informs,
                      const double* mask, Touched* touched, bint by_norm, double* f,
                      Py_ssize_t M) noexcept nogil:
    """Add w.z of a row to f of every path; at the same time the row may inform its features."""
    cdef Py_ssize_t k, m
    cdef double z
    cdef const double* w
    for k in range(row.nnz):
        if k < after.nnz:
            fetch(weights, after.index[k], M)
        w = weights + M * <Py_ssize_t> row.index[k]
        z = row.value[k]
        for m in range(M):
            f[m] += w[m] * z
        if informs:
            inform(touched, w, row.index[k], h * z, mask, by_norm, M)


cdef inline void descend(Row row, double* weights, const double* step, double h, bint informs,
                         const double* mask, Touched* touched, bint by_norm,
                         Py_ssize_t M) noexcept nogil:
    """w_j += step z_j of every path; the step of a path that does not learn is 0."""
    cdef Py_ssize_t k, m
    cdef double z, move, sum
    cdef double* w
    for k in range(row.nnz):
        w = weights + M * <Py_ssize_t> row.index[k]
        z = row.value[k]
        if informs:
            inform(touched, w, row.index[k], h * z, mask, by_norm, M)
        for m in range(M):
            move = step[m] * z
            move = move if usable(move) else 0.0
            sum = w[m] + move  # 0 if steps cancelled, up to rounding
            w[m] = 0.0 if fabs(sum) <= 1e-12 * fabs(move) else sum


cdef inline void end_burst(double* weights, Touched* touched, Emitted* out, Rule rule,
                           Py_ssize_t M) noexcept nogil:
    """Every touched feature emits its changes and is pulled to zero. Without branches, because it
    is chance which paths a feature was informed in: a path with k = 0 is pulled by 0, and the value
    that it emits is overwritten by the next one."""
    cdef Py_ssize_t k, m, first, last = touched.count - 1
    cdef double q, w, bar
    cdef double* at
    cdef const double* count
    cdef double[MOST] value
    for k in range(touched.count):
        fetch(weights, touched.slot[min(k + SOON, last)], M)
        at, count = weights + M * <Py_ssize_t> touched.slot[k], touched.counts + k * M
        for m in range(M):
            q, w = informed(count[m], rule.by_norm), at[m]
            bar = rule.g0 * q
            value[m] = fabs(w - (0.0 if rule.of_weight else touched.began[k * M + m]))
            value[m] /= q if q > 0.0 else 1.0
            at[m] = 0.0 if fabs(w) <= bar * (1.0 + 1e-9) else w - copysign(bar, w)
        first = out.values
        for m in range(M):
            out.value[out.values] = value[m]
            out.kept[out.values] = at[m] != 0.0
            out.values += count[m] != 0.0
        out.slot[out.count] = touched.slot[k]
        out.paths[out.count] = <uint8_t> (out.values - first)
        out.count += 1
        touched.place[touched.slot[k]] = 0
    touched.count = 0


cdef inline void end_burst_of_loops(const PathLoops* loops, double* weights, Touched* touched,
                                    Emitted* out, Rule rule) noexcept nogil:
    if touched.count == 0:  # there may be no memory for what is emitted
        return
    memcpy(out.slot + out.count, touched.slot, 4 * touched.count)
    out.values += loops.end(
        touched.count, touched.slot, touched.began, touched.counts, weights, touched.place,
        rule.g0, rule.by_norm, rule.of_weight, out.paths + out.count, out.value + out.values,
        out.kept + out.values,
    )
    out.count += touched.count
    touched.count = 0


cdef inline bint find_steps(int loss, double y, double h, double rate, double bias_rate,
                            const double* f, double* mask, double* intercept, double* step,
                            Py_ssize_t M) noexcept nogil:
    """The steps of the paths whose mask is 1, which becomes 0 where there is none; whether there is
    one. Without branches, because it is chance which paths learn a row."""
    cdef double[MOST] c
    cdef int[MOST] learns
    cdef Py_ssize_t m, n = 0
    cdef double moving = 0.0
    if loss == HINGE:
        for m in range(M):
            c[m] = slope(HINGE, y, f[m])
    else:
        for m in range(M):
            c[m] = 0.0
            learns[n] = <int> m
            n += mask[m] > 0.0
        for m in range(n):
            c[learns[m]] = slope(loss, y, f[learns[m]])
    for m in range(M):
        mask[m] = mask[m] if c[m] < 0.0 or c[m] > 0.0 else 0.0
        moving += mask[m]
        intercept[m] = intercept[m] - c[m] * bias_rate * h if mask[m] > 0.0 else intercept[m]
        step[m] = -c[m] * rate * h if mask[m] > 0.0 else 0.0
    return moving > 0.0


cdef void take_counts(double[:, ::1] counts, Touched* touched, Py_ssize_t M) noexcept nogil:
    """Take the counts of a burst that is under way from the table, where they become 0."""
    cdef Py_ssize_t k
    for k in range(touched.count):
        memcpy(touched.counts + k * M, &counts[touched.slot[k], 0], 8 * M)
        memset(&counts[touched.slot[k], 0], 0, 8 * M)
        touched.place[touched.slot[k]] = <int32_t> (k + 1)


cdef void put_counts(double[:, ::1] counts, Touched* touched, Py_ssize_t M) noexcept nogil:
    """Put the counts of the burst back into the table: the reverse of `take_counts`."""
    cdef Py_ssize_t k
    for k in range(touched.count):
        memcpy(&counts[touched.slot[k], 0], touched.counts + k * M, 8 * M)
        touched.place[touched.slot[k]] = 0


cdef inline double mean(const double* f, Py_ssize_t M) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t m
    for m in range(M):
        total += f[m]
    return total / M


def walk(
    Csr rows not None, const double[:, ::1] rates, const double[::1] y, const double[:] weight,
    const uint8_t[:, :] learned, double[:, ::1] weights, double[:, ::1] counts, Walk how not None,
    int64_t into, double[::1] intercept, int32_t[::1] places, int32_t[::1] touched_slot,
    double[:, ::1] touched_began, double[:, ::1] touched_counts, Py_ssize_t n_touched,
    int32_t[::1] pool_slot, uint8_t[::1] pool_paths, double[::1] pool_value,
    uint8_t[::1] pool_kept, double[::1] score,
) -> tuple[int, int, int]:
    """All paths over prepared rows; path m learns row i if learned[m, i] is 1. `into` rows of the
    burst under way are behind them; these touched the first n_touched features of touched_slot,
    whose weights were touched_began and whose counts are in the table `counts`. touched_counts is
    memory for the counts of a burst; `places` has a 0 for each slot, before and after. rates[i] is
    the rate of row i and the one of its step of the intercept. score[i] becomes the mean of the
    scores of the paths.
    Returns the numbers of features touched now, of features emitted into the pool, and of values
    emitted for these."""
    cdef Py_ssize_t M = intercept.shape[0], i, m, N = rows.count
    rows.fit(weights.shape[0])
    one_a_row("y", y.shape[0], rows)
    one_a_row("score", score.shape[0], rows)
    one_a_row("rates", rates.shape[0], rows)
    one_a_row("weight", weight.shape[0], rows)
    cdef Rule rule = how.rule
    cdef int64_t total = n_touched + rows.start[N] - rows.start[0]
    cdef int64_t room = max(min(total, weights.shape[0]), n_touched)
    if not 0 < M <= MOST or weights.shape[1] != M or counts.shape[1] != M or rates.shape[1] != 2:
        raise ValueError("walk needs columns w and k for each path, and two rates for each row")
    if rows.scale != 1.0 or n_touched < 0 or learned.shape[0] != M or learned.shape[1] != N:
        raise ValueError("walk needs rows of scale 1, and who learns each of them")
    check_length("touched_slot", touched_slot.shape[0], room)
    check_length("touched_began", touched_began.shape[0], room)
    check_length("touched_counts", touched_counts.shape[0], room)
    check_length("counts", counts.shape[0], weights.shape[0])
    check_length("places", places.shape[0], weights.shape[0])
    check_slots(touched_slot[:n_touched], weights.shape[0])
    room = min(total, weights.shape[0] * ((into + N) // rule.burst))
    check_length("pool_slot", pool_slot.shape[0], room)
    check_length("pool_paths", pool_paths.shape[0], room)
    check_length("pool_value", pool_value.shape[0], room * M)
    check_length("pool_kept", pool_kept.shape[0], room * M)
    if touched_began.shape[1] != M or touched_counts.shape[1] != M:
        raise ValueError("touched_began and touched_counts have a column for each path")
    cdef Touched touched = Touched(NULL, NULL, NULL, NULL, n_touched)
    cdef Emitted out = Emitted(NULL, NULL, NULL, NULL, 0, 0)
    if total:
        touched.slot, touched.place = &touched_slot[0], &places[0]
        touched.began, touched.counts = &touched_began[0, 0], &touched_counts[0, 0]
    if room:
        out.slot, out.paths = &pool_slot[0], &pool_paths[0]
        out.value, out.kept = &pool_value[0], &pool_kept[0]
    cdef double* w = &weights[0, 0] if weights.shape[0] else NULL
    cdef const PathLoops* loops = loops_of(M)
    cdef double[MOST] f, mask, step
    cdef double h
    cdef bint some
    cdef Row row, after
    with nogil:
        take_counts(counts, &touched, M)
        for i in range(N):
            row, after = row_at(rows, i), row_at(rows, min(i + 1, N - 1))
            h = weight[i]
            some = False
            for m in range(M):
                f[m] = intercept[m]
                mask[m] = <double> ((learned[m, i] != 0) & (h > 0.0))
                some |= mask[m] > 0.0
            some &= not rule.by_gradient
            if loops != NULL:
                touched.count = loops.look(
                    row.nnz, row.index, row.value, w, h, some, rule.by_norm, mask,
                    rows.start[N] - rows.start[i], touched.place, touched.slot, touched.began,
                    touched.counts, touched.count, f,
                )
            else:
                look(row, after, w, h, some, mask, &touched, rule.by_norm, f, M)
            score[i] = mean(f, M)
            if h == 0.0:
                continue
            some = find_steps(
                rule.loss, y[i], h, rates[i, 0], rates[i, 1], f, mask, &intercept[0], step, M
            )
            if some and loops != NULL and not rule.by_gradient:
                loops.descend(row.nnz, row.index, row.value, w, step)
            elif some:
                descend(row, w, step, h, rule.by_gradient, mask, &touched, rule.by_norm, M)
            into += 1
            if into >= rule.burst:
                if loops != NULL:
                    end_burst_of_loops(loops, w, &touched, &out, rule)
                else:
                    end_burst(w, &touched, &out, rule, M)
                into = 0
        put_counts(counts, &touched, M)
    return touched.count, out.count, out.values
