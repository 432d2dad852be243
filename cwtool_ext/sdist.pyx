"""The steps of sDist: a metric W = sum w xi xi' is boosted by rank-one terms (Ma 2017, chapter 2).

    margin_i = (mean of |z_i - z_j|^2 over neighbours j of the opposite class)
               - (mean over neighbours j of the same class),     loss = sum exp(-margin_i)
    g_i      = what the term xi xi' adds to margin_i, computed from t = Phi xi
    A        = Phi' Lam Phi, where Lam is the signed Laplacian of the neighbour graph
"""

from libc.math cimport exp, fabs, fmax, fmin, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset


cdef int fits(const int64_t[:, ::1] same, const int64_t[:, ::1] opposite, Py_ssize_t n) except -1:
    """Refuse lists of neighbours that name rows other than 0 .. n - 1."""
    cdef Py_ssize_t i, s
    if same.shape[0] != n or opposite.shape[0] != n:
        raise ValueError("there must be a list of neighbours for every row")
    for i in range(n):
        for s in range(same.shape[1]):
            if not 0 <= same[i, s] < n:
                raise ValueError(f"row {i} has neighbour {same[i, s]}, but there are {n} rows")
        for s in range(opposite.shape[1]):
            if not 0 <= opposite[i, s] < n:
                raise ValueError(f"row {i} has neighbour {opposite[i, s]}, but there are {n} rows")
    return 0


def base_learner(const double[::1] t, const int64_t[:, ::1] same, const int64_t[:, ::1] opposite,
                 double[::1] g) -> None:
    """g_i = mean over opposite j of (t_i - t_j)^2 - mean over same j of (t_i - t_j)^2"""
    cdef Py_ssize_t i, s, n = t.shape[0], a = same.shape[1], b = opposite.shape[1]
    cdef double d, near, far
    fits(same, opposite, n)
    if g.shape[0] != n:
        raise ValueError("g must have an entry for every row")
    with nogil:
        for i in range(n):
            near = far = 0
            for s in range(a):
                d = t[i] - t[same[i, s]]
                near += d * d
            for s in range(b):
                d = t[i] - t[opposite[i, s]]
                far += d * d
            g[i] = far / b - near / a


cdef inline void pull(const double* x, const double* z, double s, Py_ssize_t p,
                      double* x_out, double* z_out) noexcept nogil:
    """x_out += s (x - z) and z_out -= s (x - z)."""
    cdef Py_ssize_t j
    cdef double d
    for j in range(p):
        d = s * (x[j] - z[j])
        x_out[j] += d
        z_out[j] -= d


def laplacian(const double[:, ::1] phi, const int64_t[:, ::1] same,
              const int64_t[:, ::1] opposite, const int64_t[::1] bag, const double[::1] u,
              double[:, ::1] out) -> None:
    """out += Lam Phi. Each pair of a row i of the bag and one of its k neighbours j of a class adds
    s (phi_i - phi_j) to row i and subtracts it from row j, where s = u_i / k if j is of the
    opposite class and s = -u_i / k if j is of the same. u has an entry for each row of the bag."""
    cdef Py_ssize_t i, j, r, s, n = phi.shape[0], p = phi.shape[1]
    cdef Py_ssize_t a = same.shape[1], b = opposite.shape[1]
    fits(same, opposite, n)
    if out.shape[0] != n or out.shape[1] != p or u.shape[0] != bag.shape[0]:
        raise ValueError("the arrays of laplacian do not fit the rows and the bag")
    for i in bag:
        if not 0 <= i < n:
            raise ValueError(f"the bag names row {i}, which is not among {n} rows")
    if p == 0:
        return
    with nogil:
        for r in range(bag.shape[0]):
            i = bag[r]
            for s in range(b):
                j = opposite[i, s]
                pull(&phi[i, 0], &phi[j, 0], u[r] / b, p, &out[i, 0], &out[j, 0])
            for s in range(a):
                j = same[i, s]
                pull(&phi[i, 0], &phi[j, 0], -u[r] / a, p, &out[i, 0], &out[j, 0])


cdef double truncate(double* x, Py_ssize_t p, Py_ssize_t kappa, char* kept) noexcept nogil:
    """Keep the kappa largest |x_j|, of equal ones the first, set the others to 0, and divide x by
    its length. Returns that length; where it is 0, x stays as it is."""
    cdef Py_ssize_t j, best, _place
    cdef double length = 0
    memset(kept, 0, p)
    for _place in range(min(kappa, p)):
        best = -1
        for j in range(p):
            if not kept[j] and (best < 0 or fabs(x[j]) > fabs(x[best])):
                best = j
        kept[best] = 1
        length += x[best] * x[best]
    length = sqrt(length)
    if length > 0:
        for j in range(p):
            x[j] = x[j] / length if kept[j] else 0
    return length


cdef void times(const double* A, const double* x, Py_ssize_t p, double* out) noexcept nogil:
    """out = A x for a symmetric p x p matrix A and an x that is mostly zero."""
    cdef Py_ssize_t i, j
    memset(out, 0, p * sizeof(double))
    for i in range(p):
        if x[i] != 0:
            for j in range(p):
                out[j] += x[i] * A[i * p + j]


cdef inline double inner(const double* a, const double* b, Py_ssize_t p) noexcept nogil:
    """a'b, summed in the order of the columns."""
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(p):
        total += a[j] * b[j]
    return total


cdef inline double moved(const double* x, const double* z, Py_ssize_t p) noexcept nogil:
    """The distance from x to z or to -z, which is the same direction, whichever is nearer."""
    cdef Py_ssize_t j
    cdef double plus = 0, minus = 0
    for j in range(p):
        minus += (z[j] - x[j]) * (z[j] - x[j])
        plus += (z[j] + x[j]) * (z[j] + x[j])
    return sqrt(fmin(plus, minus))


def power(const double[:, ::1] A, double[::1] x, Py_ssize_t kappa, int iterations, double tol,
          double[::1] work) -> float:
    """Truncated power iterations x <- truncate(A x + shift x) / norm from the given x, until x
    moves by no more than tol. Where x'A x would fall, the shift grows tenfold instead, and a large
    shift prevents it. Returns x'A x. `work` is room for 3 p + p / 8 + 1 numbers."""
    cdef Py_ssize_t j, p = x.shape[0]
    cdef int _step
    cdef double q, new_q, shift = 0, change
    cdef double* ax
    cdef double* z
    cdef double* az
    cdef char* kept
    if A.shape[0] != p or A.shape[1] != p or work.shape[0] < 3 * p + p // 8 + 1 or kappa < 1:
        raise ValueError("power needs a square matrix, enough room, and kappa of at least 1")
    if p == 0:
        return 0.0
    ax, z, az = &work[0], &work[p], &work[2 * p]
    kept = <char*> &work[3 * p]
    with nogil:
        truncate(&x[0], p, kappa, kept)
        times(&A[0, 0], &x[0], p, ax)
        q = inner(&x[0], ax, p)
        for _step in range(iterations):
            for j in range(p):
                z[j] = ax[j] + shift * x[j]
            if truncate(z, p, kappa, kept) == 0:
                break
            times(&A[0, 0], z, p, az)
            new_q = inner(z, az, p)
            if new_q < q - 1e-12 * fmax(1, fabs(q)):
                shift = fmax(10 * shift, 0.1 * sqrt(inner(ax, ax, p)) + 1e-12)
                continue
            change = moved(&x[0], z, p)
            memcpy(&x[0], z, p * sizeof(double))
            memcpy(ax, az, p * sizeof(double))
            q = new_q
            if change <= tol:
                break
    return q


cdef double slope(const double[::1] f, const double[::1] g, double least, double w,
                  bint logistic) noexcept nogil:
    """-d/dw of the loss at f + w g, up to a factor: exp(least) for the exponential loss."""
    cdef Py_ssize_t i
    cdef double total = 0
    for i in range(f.shape[0]):
        if logistic:
            total += g[i] / (1 + exp(f[i] + w * g[i]))
        else:
            total += g[i] * exp(least - f[i] - w * g[i])
    return total


cdef double best_step(const double[::1] f, const double[::1] g, bint logistic,
                      double most) noexcept nogil:
    """The zero of the slope in [0, most], by doubling and bisection."""
    cdef Py_ssize_t i
    cdef double least = 0, largest = 0, low = 0, high, middle
    for i in range(f.shape[0]):
        least = f[i] if i == 0 else fmin(least, f[i])
        largest = fmax(largest, fabs(g[i]))
    if largest == 0 or not slope(f, g, least, 0, logistic) > 0:
        return 0
    high = fmin(1 / largest, most)
    while slope(f, g, least, high, logistic) > 0:
        if high >= most:
            return most
        low, high = high, fmin(2 * high, most)
    while high - low > 1e-10 * high:
        middle = 0.5 * (low + high)
        if slope(f, g, least, middle, logistic) > 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def line_search(const double[::1] f, const double[::1] g, bint logistic, double most) -> float:
    """The w in [0, most] that minimizes sum exp(-f - w g) or, for the logistic loss,
    sum log(1 + exp(-f - w g))."""
    cdef double w
    if g.shape[0] != f.shape[0]:
        raise ValueError(f"f has {f.shape[0]} entries and g has {g.shape[0]}")
    with nogil:
        w = best_step(f, g, logistic, most)
    return w
