"""The sampler of random Fourier features, slow and plain: a list of features, no state kept."""

from dataclasses import dataclass, field, replace
from math import exp, log, pi, sqrt

import numpy as np


@dataclass
class Feature:
    z: list[int]
    omega: list[float]
    b: float
    beta: float = 0.0

    def phi(self, x):
        angle = self.b + sum(
            (w * x[:, j] for j, w in zip(self.z, self.omega, strict=True)), np.zeros(len(x))
        )
        return sqrt(2) * np.cos(angle)


def loglik(f, y):
    return float(-np.sum(np.logaddexp(0, -y * f)))


def newton(phi, f, y, variance, heat=1.0):
    m = 0.0
    for _ in range(3):
        p = 1 / (1 + np.exp(-(f + m * phi)))
        g = heat * np.sum(phi * ((y > 0) - p)) - m / variance
        h = heat * np.sum(phi**2 * p * (1 - p)) + 1 / variance
        m += min(2.0, max(-2.0, g / h))
    return m, 1 / h


def transitions(chain, t_max):
    """(from, to) with None as the null."""
    pairs = list(zip(chain, [*chain[1:], None], strict=True))
    return pairs[: t_max - 1] if len(chain) == t_max else pairs


def log_chain(chain, others, p, gamma, conc, a0, t_max):
    logp = log((gamma / p + sum(o[0] == chain[0] for o in others)) / (gamma + len(others)))
    seen = [pair for o in others for pair in transitions(o, t_max)]
    for j, to in transitions(chain, t_max):
        base = conc * (a0 if to is None else (1 - a0) / p)
        leaving = [k for i, k in seen if i == j]
        logp += log((base + sum(k == to for k in leaving)) / (conc + len(leaving)))
        seen.append((j, to))
    return logp


def draw_chain(u, others, p, gamma, conc, a0, t_max):
    r = u[0] * (gamma + len(others))
    chain = [int(r / gamma * p) if r < gamma else others[int(r - gamma)][0]]
    seen = [pair for o in others for pair in transitions(o, t_max)]
    for t in range(1, t_max):
        leaving = [k for i, k in seen if i == chain[-1]]
        r = u[t] * (conc + len(leaving))
        if r >= conc:
            to = leaving[int(r - conc)]
        elif r < conc * a0:
            to = None
        else:
            to = int((r / conc - a0) / (1 - a0) * p)
        if to is None:
            break
        seen.append((chain[-1], to))
        chain.append(to)
    return chain


def log_normal(a, mean, variance):
    return -((a - mean) ** 2) / (2 * variance) - 0.5 * log(2 * pi * variance)


@dataclass
class Sampler:
    x: np.ndarray
    y: np.ndarray
    d_max: int
    t_max: int
    gamma: float
    conc: float
    a0: float
    b0: float = 0.0
    log_s: float = 0.0
    done: int = 0
    features: list[Feature] = field(default_factory=list)
    telling: list[list[int]] = field(default_factory=list)  # chains that births try

    def f(self, features, b0):
        return b0 + sum((q.beta * q.phi(self.x) for q in features), np.zeros(len(self.y)))

    def loglik(self, features, b0=None):
        return loglik(self.f(features, self.b0 if b0 is None else b0), self.y)

    def log_chain(self, feature, others):
        chains = [o.z for o in others]
        p = self.x.shape[1]
        return log_chain(feature.z, chains, p, self.gamma, self.conc, self.a0, self.t_max)

    def surplus(self, feature, others):
        """log of the prior of a chain minus that of its proposal."""
        if not self.telling:
            return 0.0
        prior = exp(self.log_chain(feature, others))
        tried = self.telling.count(feature.z) / len(self.telling)
        return log(prior / (0.5 * prior + 0.5 * tried))

    def draw(self, u):
        chains, p = [o.z for o in self.features], self.x.shape[1]
        if self.telling:
            if u[0] < 0.5:
                return list(self.telling[int(2 * u[0] * len(self.telling))])
            u = [2 * u[0] - 1, *u[1:]]
        return draw_chain(u, chains, p, self.gamma, self.conc, self.a0, self.t_max)

    def log_prior_omega(self, feature, s):
        return sum(log_normal(w, 0, s**2) for w in feature.omega)

    def iterate(self, u, normals, heat):
        """One move; what it did, and whether it was accepted."""
        self.done += 1
        log_u = log(u[3])
        if self.done % 50 == 0:
            return "scale", self.scale(normals, log_u)
        if u[0] < 0.35:
            if u[1] < 0.5:
                return "birth", self.birth(u, normals, heat, log_u)
            return "death", self.death(u, heat, log_u)
        if u[0] >= 0.85:
            return "weigh", self.weigh(u, normals, heat, log_u)
        if not self.features:
            return "nothing", False
        k = int(u[2] * len(self.features))
        q = self.features[k]
        others = self.features[:k] + self.features[k + 1 :]
        new = replace(q, z=list(q.z), omega=list(q.omega))
        s, p = exp(self.log_s), self.x.shape[1]
        ratio = 0.0
        if u[0] < 0.5:
            if u[1] < 0.5:
                kind = "extend"
                if len(q.z) == self.t_max:
                    return kind, False
                new.z.append(int(u[4] * p))
                new.omega.append(s * normals[0])
                ratio = log(p)
            else:
                kind = "shrink"
                if len(q.z) == 1:
                    return kind, False
                new.z.pop()
                new.omega.pop()
                ratio = -log(p)
        elif u[0] < 0.6:
            kind = "replace"
            t = int(u[1] * len(q.z))
            new.z[t] = int(u[4] * p)
            if u[5] < 0.5:
                new.omega[t] = s * normals[0]
        else:
            kind = "walk"
            scale = 0.05 if u[1] < 0.5 else 0.3
            new.omega = [w + scale * s * normals[t] for t, w in enumerate(q.omega)]
            new.b = (q.b + 2 * scale * normals[self.t_max]) % (2 * pi)
            ratio = self.log_prior_omega(new, s) - self.log_prior_omega(q, s)
        ratio += self.log_chain(new, others) - self.log_chain(q, others)
        proposed = [*self.features[:k], new, *self.features[k + 1 :]]
        ratio += heat * (self.loglik(proposed) - self.loglik(self.features))
        if log_u < ratio:
            self.features = proposed
        return kind, log_u < ratio

    def birth(self, u, normals, heat, log_u):
        if len(self.features) == self.d_max:
            return False
        z = self.draw(u[5:])
        new = Feature(z, [exp(self.log_s) * normals[t] for t in range(len(z))], 2 * pi * u[2])
        f = self.f(self.features, self.b0)
        m, v = newton(new.phi(self.x), f, self.y, 1.0, heat)
        new.beta = m + sqrt(1.5 * v) * normals[self.t_max]
        ratio = heat * (self.loglik([*self.features, new]) - loglik(f, self.y))
        ratio += log_normal(new.beta, 0, 1) - log_normal(new.beta, m, 1.5 * v)
        ratio += self.surplus(new, self.features)
        if log_u < ratio:
            self.features = [*self.features, new]
        return log_u < ratio

    def death(self, u, heat, log_u):
        if not self.features:
            return False
        k = int(u[2] * len(self.features))
        q = self.features[k]
        left = list(self.features)
        last = left.pop()
        if k < len(left):
            left[k] = last
        f = self.f(left, self.b0)
        m, v = newton(q.phi(self.x), f, self.y, 1.0, heat)
        ratio = heat * (loglik(f, self.y) - self.loglik(self.features))
        ratio += log_normal(q.beta, m, 1.5 * v) - log_normal(q.beta, 0, 1)
        ratio -= self.surplus(q, left)
        if log_u < ratio:
            self.features = left
        return log_u < ratio

    def weigh(self, u, normals, heat, log_u):
        k = int(u[2] * (len(self.features) + 1)) - 1
        if k < 0:
            old, phi, prior = self.b0, np.ones(len(self.y)), 100.0
        else:
            old, phi, prior = self.features[k].beta, self.features[k].phi(self.x), 1.0
        f = self.f(self.features, self.b0)
        m, v = newton(phi, f - old * phi, self.y, prior, heat)
        new = m + sqrt(1.3 * v) * normals[self.t_max]
        ratio = heat * (loglik(f + (new - old) * phi, self.y) - loglik(f, self.y))
        ratio += log_normal(new, 0, prior) - log_normal(old, 0, prior)
        ratio += log_normal(old, m, 1.3 * v) - log_normal(new, m, 1.3 * v)
        if log_u < ratio:
            if k < 0:
                self.b0 = new
            else:
                self.features[k] = replace(self.features[k], beta=new)
        return log_u < ratio

    def scale(self, normals, log_u):
        new = self.log_s + 0.1 * normals[0]
        ratio = log_normal(new, 0, 0.25) - log_normal(self.log_s, 0, 0.25)
        for q in self.features:
            ratio += self.log_prior_omega(q, exp(new)) - self.log_prior_omega(q, exp(self.log_s))
        if log_u < ratio:
            self.log_s = new
        return log_u < ratio
