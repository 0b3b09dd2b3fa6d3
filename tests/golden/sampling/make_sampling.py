#!/usr/bin/env python3
"""Expected results for the sampling tests, from the published definitions, in float64.

    python3 make_sampling.py            (needs numpy; writes the .json files beside it)

Nothing here is shared with the C++ code. Definitions: top-k (Fan et al. 2018), top-p (Holtzman et
al. 2019), typical (Meister et al. 2022), min-p (Nguyen et al. 2024), top-n-sigma (Tang et al. 2024),
XTC and DRY (p-e-w, text-generation-webui #6335 and #5677), dynamic temperature (kalomaze, llama.cpp
#4972), mirostat (Basu et al. 2021); the details (strict or not, ties, order) are llama.cpp's
behaviour. Logits are multiples of 1/64, so that they are exact in float32. Cases whose outcome
hangs on less than 1e-5 are drawn again.
"""
import json
import math
import os

import numpy as np

RNG = np.random.default_rng(20240607)
MARGIN = 1e-5


class TooClose(Exception):
    """The outcome would depend on rounding."""


def clear(difference):
    if abs(difference) < MARGIN:
        raise TooClose()


def softmax(logits):
    weights = np.exp(np.asarray(logits, dtype=np.float64) - np.max(logits))
    return weights / weights.sum()


def descending(ids, logits):
    """Highest logit first, the lower id first on a tie."""
    return sorted(ids, key=lambda i: (-logits[i], i))


# A filter maps (ids, logits by id) to the ids it keeps. f32: what a float32 parameter really is.
def f32(x):
    return float(np.float32(x))


def top_k(ids, logits, k):
    return descending(ids, logits)[:k] if k > 0 else list(ids)


def head_by_mass(order, mass, p, strict, min_keep):
    total = 0.0
    for n, i in enumerate(order):
        total += mass[i]
        if n + 1 < len(order):
            clear(total - p)
        if (total > p if strict else total >= p) and n + 1 >= min_keep:
            return order[:n + 1]
    return order


def mass_of(ids, logits):
    return dict(zip(ids, softmax([logits[i] for i in ids])))


def top_p(ids, logits, p, min_keep=1):
    if p >= 1:
        return list(ids)
    if p == 0:
        return descending(ids, logits)[:min_keep]
    return head_by_mass(descending(ids, logits), mass_of(ids, logits), f32(p), False, min_keep)


def typical(ids, logits, p, min_keep=1):
    if p >= 1:
        return list(ids)
    mass = mass_of(ids, logits)
    entropy = -sum(m * math.log(m) for m in mass.values())
    distance = {i: abs(-math.log(mass[i]) - entropy) for i in ids}
    order = sorted(ids, key=lambda i: (round(distance[i], 9), -logits[i], i))
    kept = head_by_mass(order, mass, f32(p), True, min_keep)
    if len(kept) < len(order):
        gap = distance[order[len(kept)]] - distance[order[len(kept) - 1]]
        if logits[order[len(kept)]] != logits[order[len(kept) - 1]]:
            clear(gap)
    return kept


def min_p(ids, logits, p, min_keep=1):
    if p <= 0:
        return list(ids)
    order = descending(ids, logits)
    mass = mass_of(ids, logits)
    best = mass[order[0]]
    for i in ids:
        clear(math.log(mass[i] / best) - math.log(f32(p)))
    return [i for n, i in enumerate(order) if mass[i] >= f32(p) * best or n < min_keep]


def top_n_sigma(ids, logits, n):
    if n <= 0:
        return list(ids)
    values = np.array([logits[i] for i in ids])
    floor = values.max() - f32(n) * values.std()
    for v in values:
        clear(v - floor)
    return [i for i in ids if logits[i] >= floor]


def xtc(ids, logits, threshold, min_keep=1):
    mass = mass_of(ids, logits)
    above = [i for i in descending(ids, logits) if mass[i] >= f32(threshold)]
    for i in ids:
        clear(mass[i] - f32(threshold))
    if threshold > 0.5 or len(above) < 2 or len(ids) - (len(above) - 1) < min_keep:
        return list(ids)
    gone = set(above[:-1])
    return [i for i in ids if i not in gone]


def temperature(ids, logits, t):
    return {i: logits[i] / f32(t) for i in ids}


def dynamic_temperature(ids, logits, t, spread, exponent):
    if len(ids) < 2:
        return dict((i, logits[i]) for i in ids)
    p = softmax([logits[i] for i in ids])
    entropy = -sum(x * math.log(x) for x in p if x > 0)
    low, high = max(0.0, f32(t) - f32(spread)), f32(t) + f32(spread)
    chosen = low + (high - low) * (entropy / math.log(len(ids))) ** f32(exponent)
    return {i: logits[i] / chosen for i in ids}


def mirostat_1(ids, logits, mu, vocab):
    order = descending(ids, logits)
    mass = mass_of(ids, logits)
    t = [math.log((i + 2) / (i + 1)) for i in range(min(99, len(order) - 1))]
    b = [math.log(mass[order[i]] / mass[order[i + 1]]) for i in range(len(t))]
    s = sum(x * y for x, y in zip(t, b)) / sum(x * x for x in t)
    eps = s - 1
    k = ((eps * 2 ** mu) / (1 - vocab ** (-eps))) ** (1 / s)
    clear(k - round(k))
    return order[:max(1, min(int(k), len(order)))]


def mirostat_2(ids, logits, mu):
    order = descending(ids, logits)
    mass = mass_of(ids, logits)
    for i in ids:
        clear(-math.log2(mass[i]) - mu)
    kept = [i for i in order if -math.log2(mass[i]) <= mu]
    return kept or order[:1]


# Before the filters.
def window(history, n):
    return history if n < 0 else history[len(history) - min(n, len(history)):]


def penalties(logits, history, prompt, p):
    out = list(logits)
    last = window(history, p["last_n"])
    generated = last[max(0, len(last) - (len(history) - prompt)):]
    for i in set(last):
        out[i] = out[i] / f32(p["repeat"]) if out[i] > 0 else out[i] * f32(p["repeat"])
    for i in set(generated):
        out[i] -= generated.count(i) * f32(p["frequency"]) + f32(p["presence"])
    return out


def dry(logits, history, p, breakers):
    """By brute force: every place where the end of the history has stood before."""
    out = list(logits)
    last = window(history, p["last_n"])
    n = len(last)
    if p["multiplier"] == 0 or p["base"] < 1 or n <= p["allowed_length"]:
        return out
    limit = n
    for back in range(n):  # the breaker whose first token is nearest to the end
        start = n - 1 - back
        fits = [len(b) for b in breakers if last[start:start + len(b)] == b]
        if fits:
            limit = back + 1 - max(fits)
            break
    if limit < p["allowed_length"]:
        return out
    longest = {}
    for end in range(1, n):  # last[:end] is compared with last; last[end] came next
        length = 0
        while length < end and last[end - 1 - length] == last[n - 1 - length]:
            length += 1
        length = min(length, limit)
        if length >= p["allowed_length"]:
            longest[last[end]] = max(longest.get(last[end], 0), length)
    for i, length in longest.items():
        if [i] not in breakers:
            out[i] -= f32(p["multiplier"]) * f32(p["base"]) ** (length - p["allowed_length"])
    return out


# Random material.
def some_logits(n, kind):
    if kind == "peaked":
        x = RNG.normal(0, 3, n)
    elif kind == "flat":
        x = RNG.normal(0, 0.3, n)
    elif kind == "zipf":
        x = -1.1 * np.log(np.arange(1, n + 1)) + RNG.normal(0, 0.05, n)
        RNG.shuffle(x)
    else:  # ties
        x = RNG.integers(-3, 4, n).astype(float)
    return [float(v) for v in np.round(x * 64) / 64]


def retry(make):
    while True:
        try:
            return make()
        except TooClose:
            continue


def pick(*choices):
    return choices[int(RNG.integers(len(choices)))]


def filter_cases():
    def one(name):
        n = pick(1, 2, 5, 40, 40)
        logits = some_logits(n, pick("peaked", "flat", "zipf", "ties"))
        ids = list(range(n))
        keep = pick(1, 1, 1, 3)
        p = pick(0.0, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999, 1.0)
        case = {"filter": name, "logits": logits, "min_keep": keep}
        if name == "top_k":
            case["k"] = pick(0, 1, 2, 10, 100)
            kept = top_k(ids, logits, case["k"])
        elif name == "top_p":
            case["p"] = p
            kept = top_p(ids, logits, p, keep)
        elif name == "typical":
            case["p"] = p
            kept = typical(ids, logits, p, keep)
        elif name == "min_p":
            case["p"] = p
            kept = min_p(ids, logits, p, keep)
        elif name == "top_n_sigma":
            case["n"] = pick(0.5, 1.0, 2.0)
            kept = top_n_sigma(ids, logits, case["n"])
        elif name == "xtc":
            case["threshold"] = pick(0.02, 0.1, 0.2, 0.45, 0.6)
            kept = xtc(ids, logits, case["threshold"], keep)
        elif name == "mirostat_1":
            case["mu"] = pick(0.5, 2.0, 4.0, 10.0)
            case["vocab"] = n
            kept = mirostat_1(ids, logits, case["mu"], n) if n > 1 else ids
        elif name == "mirostat_2":
            case["mu"] = pick(0.5, 2.0, 4.0, 10.0)
            kept = mirostat_2(ids, logits, case["mu"])
        case["kept"] = sorted(kept)
        return case

    names = ["top_k", "top_p", "typical", "min_p", "top_n_sigma", "xtc", "mirostat_1", "mirostat_2"]
    return [retry(lambda: one(name)) for name in names for _ in range(25)]


def temperature_cases():
    def one(dynamic):
        n = pick(1, 2, 10, 30)
        logits = some_logits(n, pick("peaked", "flat", "ties"))
        ids = list(range(n))
        t = pick(0.3, 0.8, 1.0, 1.7)
        case = {"logits": logits, "temperature": t}
        if dynamic:
            case["range"], case["exponent"] = pick(0.2, 0.5), pick(0.5, 1.0, 2.0)
            scaled = dynamic_temperature(ids, logits, t, case["range"], case["exponent"])
        else:
            scaled = temperature(ids, logits, t)
        case["probabilities"] = [round(x, 9) for x in softmax([scaled[i] for i in ids])]
        return case

    return [one(dynamic) for dynamic in (False, True) for _ in range(15)]


def history_of(vocab):
    """Text-like: some phrases come back."""
    phrase = [int(x) for x in RNG.integers(0, vocab, int(RNG.integers(1, 9)))]
    out = []
    for _ in range(int(RNG.integers(1, 8))):
        out += phrase[:int(RNG.integers(0, len(phrase) + 1))]
        out += [int(x) for x in RNG.integers(0, vocab, int(RNG.integers(0, 4)))]
    return out


def penalty_cases():
    cases = []
    for _ in range(40):
        n = 12
        history = history_of(n)
        p = {"last_n": pick(-1, 0, 3, 10, 1000), "repeat": pick(1.0, 1.1, 1.5, 0.9),
             "frequency": pick(0.0, 0.5, -0.3), "presence": pick(0.0, 0.25, -1.0)}
        prompt = int(RNG.integers(0, len(history) + 1))
        logits = some_logits(n, "peaked")
        cases.append({"logits": logits, "history": history, "prompt": prompt, **p,
                      "expected": [round(x, 7) for x in penalties(logits, history, prompt, p)]})
    return cases


def dry_cases():
    cases = []
    for _ in range(120):
        n = pick(3, 6, 12)
        history = history_of(n) + history_of(n)
        start = int(RNG.integers(0, len(history) + 1))
        history += history[start:start + int(RNG.integers(0, 8))]  # so that the end is a repeat
        p = {"multiplier": pick(0.8, 0.8, 0.8, 0.0, 2.0), "base": pick(1.75, 1.75, 1.0, 1.2, 0.5),
             "allowed_length": pick(0, 1, 2, 2, 4), "last_n": pick(-1, -1, 5, 20)}
        breakers = [[int(x) for x in RNG.integers(0, n, pick(1, 1, 2, 3))]
                    for _ in range(pick(0, 0, 1, 3))]
        logits = some_logits(n, "peaked")
        cases.append({"logits": logits, "history": history, "breakers": breakers, **p,
                      "expected": [round(x, 6) for x in dry(logits, history, p, breakers)]})
    return cases


DEFAULTS = {"temperature": 1.0, "dynatemp_range": 0.0, "dynatemp_exponent": 1.0, "top_k": 0,
            "top_p": 1.0, "min_p": 0.0, "typical_p": 1.0, "top_n_sigma": -1.0,
            "xtc_probability": 0.0, "xtc_threshold": 0.1, "mirostat": 0, "mirostat_tau": 5.0,
            "min_keep": 1}


def chain(logits, p, with_xtc):
    """The distribution at the end of llama.cpp's default chain."""
    ids = list(range(len(logits)))
    if p["mirostat"]:
        scaled = temperature(ids, logits, p["temperature"])
        mu = 2 * p["mirostat_tau"]
        ids = (mirostat_1(ids, scaled, mu, len(logits)) if p["mirostat"] == 1
               else mirostat_2(ids, scaled, mu))
    else:
        ids = top_n_sigma(ids, logits, p["top_n_sigma"])
        ids = top_k(ids, logits, p["top_k"])
        ids = typical(ids, logits, p["typical_p"], p["min_keep"])
        ids = top_p(ids, logits, p["top_p"], p["min_keep"])
        ids = min_p(ids, logits, p["min_p"], p["min_keep"])
        if with_xtc:
            ids = xtc(ids, logits, p["xtc_threshold"], p["min_keep"])
        if p["dynatemp_range"] > 0:
            scaled = dynamic_temperature(ids, logits, p["temperature"], p["dynatemp_range"],
                                         p["dynatemp_exponent"])
        else:
            scaled = temperature(ids, logits, p["temperature"])
    out = np.zeros(len(logits))
    for i, q in zip(ids, softmax([scaled[i] for i in ids])):
        out[i] = q
    return out


def chain_cases():
    settings = [
        {}, {"temperature": 0.5}, {"temperature": 1.8}, {"top_k": 5}, {"top_p": 0.8},
        {"min_p": 0.1}, {"typical_p": 0.6}, {"top_n_sigma": 1.0},
        {"xtc_probability": 1.0, "xtc_threshold": 0.1},
        {"xtc_probability": 0.4, "xtc_threshold": 0.08},
        {"temperature": 0.9, "dynatemp_range": 0.5, "dynatemp_exponent": 1.5},
        {"mirostat": 1, "mirostat_tau": 1.5}, {"mirostat": 2, "mirostat_tau": 1.5},
        {"mirostat": 2, "mirostat_tau": 2.0, "temperature": 1.3},
        {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05},
        {"temperature": 0.7, "top_k": 20, "top_p": 0.8},
        {"temperature": 1.2, "top_n_sigma": 1.5, "top_k": 12, "typical_p": 0.9, "top_p": 0.9,
         "min_p": 0.02, "xtc_probability": 0.5, "xtc_threshold": 0.05, "min_keep": 2},
    ]
    cases = []
    for setting in settings:
        def one():
            p = {**DEFAULTS, **setting}
            logits = some_logits(30, pick("peaked", "zipf"))
            plain = chain(logits, p, False)
            share = f32(p["xtc_probability"])
            expected = plain if share == 0 else (
                share * chain(logits, p, True) + (1 - share) * plain)
            return {**p, "logits": logits, "probabilities": [round(x, 9) for x in expected]}
        cases.append(retry(one))
    return cases


def big_logit(i, shift):
    """The same formula as in the test: 20 bits of a multiplicative hash."""
    return ((i * 2654435761 + shift) % 2 ** 32 // 2 ** 12) / 2 ** 20


def big_cases():
    """Flat distributions over a large vocabulary, where a head by mass has many thousand tokens."""
    n = 60000

    def one(name, p, scale, shift):
        logits = np.array([big_logit(i, shift) for i in range(n)]) * scale
        mass = softmax(logits)
        if name == "top_p":
            order = np.lexsort((np.arange(n), -logits))
        else:
            entropy = -(mass * np.log(mass)).sum()
            order = np.argsort(np.abs(-np.log(mass) - entropy), kind="stable")
        sums = np.cumsum(mass[order])
        count = int(np.searchsorted(sums, f32(p))) + 1
        kept = order[:count]
        return {"filter": name, "p": p, "scale": scale, "shift": shift, "vocab": n,
                "count": count, "id_sum": int(kept.sum())}

    return [one(name, p, scale, shift) for name in ("top_p", "typical")
            for p, scale, shift in ((0.5, 2.0, 12345), (0.95, 4.0, 777), (0.9, 16.0, 99))]


def log_softmax_cases():
    cases = []
    for n, scale in ((1, 1), (7, 3), (500, 10), (500, 60)):
        logits = [float(x) for x in np.round(RNG.normal(0, scale, n) * 64) / 64]
        top = max(logits)
        total = math.fsum(math.exp(x - top) for x in logits)
        cases.append({"logits": logits, "log_sum_exp": round(top + math.log(total), 12),
                      "top": descending(range(n), logits)[:5]})
    return cases


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    data = {"filters": filter_cases(), "temperature": temperature_cases(),
            "penalties": penalty_cases(), "dry": dry_cases(), "chain": chain_cases(),
            "big": big_cases(), "log_softmax": log_softmax_cases()}
    for name, cases in data.items():
        with open(os.path.join(here, name + ".json"), "w") as file:
            file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
        print(name, len(cases))


if __name__ == "__main__":
    main()
