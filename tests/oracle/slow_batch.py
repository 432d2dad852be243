"""BCW, and SBCW over dense whitened groups of features, slowly and obviously."""

import numpy as np
from oracles import top
from scipy.linalg import block_diag


def slow_bcw(x, y, C, c, q, passes, mu=None, D=None):
    """Algorithm 1 in the original space, with Sigma in full."""
    sigma = np.linalg.inv(np.eye(x.shape[1]) + c * x.T @ x)
    mu = np.zeros(x.shape[1]) if mu is None else mu.copy()
    a = np.zeros(len(y))
    D = (0.0 if q == 1 else 1 / C) if D is None else D
    U = C if q == 1 else np.inf
    for _ in range(passes):
        for i in range(len(y)):
            v = x[i] @ sigma @ x[i]
            g = 1 - y[i] * (mu @ x[i]) - D * a[i]
            new = U if v + D == 0 else min(max(a[i] + g / (v + D), 0), U)
            mu += (new - a[i]) * y[i] * sigma @ x[i]
            a[i] = new
    return mu, a


def omega(a, sigma):
    """S = max_j (a_1 + .. + a_j)/(sigma + j) over a descending; t_k = (a_k - S)_+ / sigma."""
    down = np.sort(a)[::-1]
    S = max(np.cumsum(down) / (sigma + np.arange(1, len(a) + 1)), default=0.0)
    if sigma == 0:
        tied = a >= S * (1 - 1e-14)
        return np.where(tied, S / tied.sum(), 0.0) if S > 0 else np.zeros(len(a)), S
    return np.maximum(a - S, 0) / sigma, S


class Slow:
    """Whitened groups xh_k = L_k^-1 x_k with P_k = I + c X_k'X_k = L_k L_k'."""

    def __init__(self, x, y, groups, C, c, q, sigma):
        self.y, self.C, self.q, self.sigma, self.groups = y, C, q, sigma, groups
        self.L = [np.linalg.cholesky(np.eye(len(B)) + c * x[:, B].T @ x[:, B]) for B in groups]
        self.xh = [np.linalg.solve(L, x[:, B].T).T for L, B in zip(self.L, groups, strict=True)]
        self.D = 0.0 if q == 1 else 1 / C
        self.U = C if q == 1 else np.inf

    def z(self, beta):
        return [xh.T @ (beta * self.y) for xh in self.xh]

    def gradient(self, z):
        a = np.array([np.linalg.norm(v) for v in z])
        t, _ = omega(a, self.sigma)
        return [v * (tk / ak if ak else 0) for v, tk, ak in zip(z, t, a, strict=True)]

    def primal(self, w):
        norms = np.array([np.linalg.norm(v) for v in w])
        margins = self.y * sum(xh @ v for xh, v in zip(self.xh, w, strict=True))
        xi = np.maximum(0, 1 - margins)
        return (
            self.sigma / 2 * (norms**2).sum()
            + norms.sum() ** 2 / 2
            + self.C / self.q * (xi**self.q).sum()
        )

    def dual(self, beta):
        a = np.array([np.linalg.norm(v) for v in self.z(beta)])
        t, S = omega(a, self.sigma)
        penalty = self.sigma / 2 * (t**2).sum() + S**2 / 2
        return beta.sum() - (self.q - 1) / (2 * self.C) * (beta**2).sum() - penalty

    def online(self, beta, step, D=None):
        """One pass in the dual itself."""
        D = self.D if D is None else D
        beta = beta.copy()
        for i in range(len(beta)):
            z = self.z(beta)

            def slope(new, i=i, z=z):
                d = new - beta[i]
                w = self.gradient(
                    [v + d * self.y[i] * h[i] for v, h in zip(z, self.xh, strict=True)]
                )
                margin = self.y[i] * sum(v @ h[i] for v, h in zip(w, self.xh, strict=True))
                return 1 - margin - D * new

            Q = sum(h[i] @ h[i] for h in self.xh)
            if step == "printed" or Q == 0:
                new = beta[i] + slope(beta[i]) / (Q + D) if Q + D else self.U
                beta[i] = min(max(new, 0), self.U)
                continue
            high = self.C if self.q == 1 else beta[i] + max(0, slope(beta[i])) / D + 1e-9
            beta[i] = top(slope, high)
        return beta

    def mm(self, beta, share, passes):
        """Passes under 1/2 sum |w_k|^2/d_k, d improved after each; the best by its primal."""
        beta, best = beta.copy(), (np.inf,)
        for _ in range(passes):
            D = 1 / (self.sigma + 1 / np.maximum(share, 1e-10))
            for i in range(len(beta)):
                z = self.z(beta)
                m = sum(Dk * (v @ h[i]) for Dk, v, h in zip(D, z, self.xh, strict=True))
                Q = sum(Dk * (h[i] @ h[i]) for Dk, h in zip(D, self.xh, strict=True))
                g = 1 - self.y[i] * m - self.D * beta[i]
                beta[i] = min(max(beta[i] + g / (Q + self.D), 0), self.U) if Q + self.D else self.U
            w = [Dk * v for Dk, v in zip(D, self.z(beta), strict=True)]
            norms = np.array([np.linalg.norm(v) for v in w])
            share = norms / norms.sum() if norms.sum() else share
            if (primal := self.primal(w)) < best[0]:
                best = primal, w, beta.copy(), share
        return best

    def mu(self, w, d):
        out = np.zeros(d)
        for L, B, v in zip(self.L, self.groups, w, strict=True):
            out[B] = np.linalg.solve(L.T, v)
        return out


def slow_final(x, y, mu, L, C, d, past=()):
    """Final weights from mu on, with the penalty w'Lw/2 and features selected from d; `past` are
    (x, y) of the rows of earlier batches that had an error. Also the rows with an error at last."""
    p, least = len(mu), np.inf
    before = [(row, sign) for rows, signs in past for row, sign in zip(rows, signs, strict=True)]

    def wrong(w):
        return [(row, sign) for row, sign in zip(x, y, strict=True) if sign * (row @ w) < 1]

    def loss(w):
        return sum((1 - sign * (row @ w)) ** 2 for row, sign in before + wrong(w))

    found, w = mu, mu
    for t in (1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6):
        rows = before + wrong(w)
        G = sum(np.outer(row, row) for row, _ in rows)
        inverse = np.linalg.inv(L / t + C * G)
        new = inverse @ sum(C * sign * row for row, sign in rows)
        objective = {k: v @ L @ v / t + C * loss(v) for k, v in (("old", w), ("new", new))}
        while objective["new"] > objective["old"]:
            new = (w + new) / 2
            objective["new"] = new @ L @ new / t + C * loss(new)
        w = new
        freedom = C * np.trace(inverse @ G)
        estimate = loss(w) / (1 - freedom / len(rows)) ** (2 + np.log(d / p))
        if estimate >= least:
            break
        found, least = w, estimate
    return found, wrong(found)


def slow_gains(x, y, mu, L, S, own, C):
    """The gain of each feature: twice the decrease of the objective by a Newton step of its weight
    and those of the features S, less twice that by a step of S alone. The penalty of S is w'L w / 2
    and that of another feature own w^2 / 2."""
    wrong = y * (x @ mu) < 1
    H, g = C * x[wrong].T @ x[wrong], C * x[wrong].T @ (y - x @ mu)[wrong]

    def decrease(some):
        matrix, slope = H[np.ix_(some, some)].copy(), g[some].copy()
        matrix[: len(S), : len(S)] += L
        slope[: len(S)] -= L @ mu[S]
        if len(some) > len(S):
            matrix[-1, -1] += own[some[-1]]
        return slope @ np.linalg.solve(matrix, slope) if len(some) else 0.0

    before = decrease([*S])
    return np.array([decrease([*S, j]) - before for j in range(x.shape[1])])


def slow_sbcw(x, y, *, C, c, q, sigma, p, r, passes, score):
    """Algorithm 2 with MM; groups, mu and the primal after each step."""
    beta, share, groups, thetas, free = np.ones(len(y)), np.empty(0), [], [], x.any(axis=0)
    mu = np.zeros(x.shape[1])
    while (left := min(r, p - sum(map(len, groups)))) > 0:
        s = x.T @ (beta * y)
        bend = {"plain": np.ones(x.shape[1]), "diag": 1 + c * (x**2).sum(axis=0)}
        if score == "gain" and q == 2:
            own, S = (sigma + len(groups) + 1) * bend["diag"], [j for B in groups for j in B]
            each = sigma + 1 / np.maximum(share, 1e-10)
            P = [np.eye(len(B)) + c * x[:, B].T @ x[:, B] for B in groups]
            L = (
                block_diag(*(k * one for k, one in zip(each, P, strict=True)))
                if S
                else np.empty((0, 0))
            )
            value = slow_gains(x, y, mu, L, S, own, C) * free
        else:
            value = s**2 / bend["diag" if score == "gain" else score] * free
        new = np.argsort(-value, kind="stable")[:left]
        new = np.sort(new[value[new] > 0])
        if not len(new):
            break
        free[new] = False
        groups.append(new)
        K = len(groups)
        share = np.append(share * (1 - 1 / K), 1 / K)
        slow = Slow(x, y, groups, C, c, q, sigma)
        start = beta if K > 1 else np.zeros(len(y))
        primal, w, beta, share = slow.mm(start, share, passes)
        thetas.append(primal)
        mu = slow.mu(w, x.shape[1])
    return [b.tolist() for b in groups], mu, thetas, beta
