#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline as one would write it in PyTorch and Triton, timed on this card: what to hold our kernels' times against.

    python3 tests/bench/peers/torch_peers.py [--rows 256] [--vocabulary 262144]

Shapes are those of the 26B model. Needs PyTorch with CUDA, and Triton for the 4-bit kernels; neither belongs to this
project, and nothing of it needs them. Our own times come from tests/bench/gpu on the same card.
"""

import argparse
import statistics
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    sys.exit(f"torch_peers: PyTorch is not installed here ({error}); nothing was measured")
try:
    import triton
    import triton.language as tl
except ImportError as error:
    triton = None
    print(f"torch_peers: Triton is not installed here ({error}); the 4-bit peers are left out")

HIDDEN, INNER, EXPERTS, CHOSEN = 2816, 704, 128, 8


def microseconds(work, turns=1, repeats=15):
    """Median time of one call, by replaying a graph of calls that take turns among `turns` sets of operands."""
    for turn in range(min(turns, 2)):
        work(turn)
    torch.cuda.synchronize()
    calls = max(8, turns)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in range(calls):
            work(call % turns)
    graph.replay()
    times = []
    for _ in range(repeats):
        before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        before.record()
        graph.replay()
        after.record()
        after.synchronize()
        times.append(before.elapsed_time(after) * 1000 / calls)
    return statistics.median(times)


def bf16(*shape, scale=1.0):
    return (torch.randn(*shape, device="cuda") * scale).to(torch.bfloat16)


def line(name, time, count_bytes=0, operations=0):
    rate = f"{count_bytes / time * 1e-6:6.2f} TB/s" if count_bytes else ""
    print(f"  {name:<46} {time:9.1f} us  {rate} {operations / time * 1e-6:7.1f} TFLOP/s" if operations
          else f"  {name:<46} {time:9.1f} us  {rate}")


if triton is not None:

    @triton.jit
    def w4_tile(q, s, z, rows, columns, k, n_mask, groups, group_size: tl.constexpr, block_k: tl.constexpr):
        """Weights [n, block_k] of one group as bf16: (q - zero) * scale, interleaved from low and high nibbles."""
        k_packed = k // 2 + tl.arange(0, block_k // 2)
        packed = tl.load(q + rows[:, None] * columns + k_packed[None, :], mask=n_mask[:, None], other=0)
        group = k // group_size
        scale = tl.load(s + rows * groups + group, mask=n_mask, other=0.0).to(tl.float32)[:, None]
        zero = tl.load(z + rows * groups + group, mask=n_mask, other=0.0).to(tl.float32)[:, None]
        low = ((packed & 15).to(tl.float32) - zero) * scale
        high = ((packed >> 4).to(tl.float32) - zero) * scale
        return tl.interleave(low, high).to(tl.bfloat16)

    @triton.jit
    def w4_grouped(x, q, s, z, out, token_of, expert_of_tile, first_of_tile, end_of_tile, N, K, x_stride,
                   group_size: tl.constexpr, block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr):
        """One tile of positions of one expert times one tile of its rows; dequantised to bf16 on the way."""
        tile = tl.program_id(1)
        expert = tl.load(expert_of_tile + tile)
        positions = tl.load(first_of_tile + tile) + tl.arange(0, block_m)
        valid = positions < tl.load(end_of_tile + tile)
        tokens = tl.load(token_of + positions, mask=valid, other=0)
        n = tl.program_id(0) * block_n + tl.arange(0, block_n)
        n_mask = n < N
        groups = K // group_size
        rows = expert.to(tl.int64) * N + n
        total = tl.zeros((block_m, block_n), tl.float32)
        for k in range(0, K, block_k):
            columns = k + tl.arange(0, block_k)
            a = tl.load(x + tokens[:, None] * x_stride + columns[None, :], mask=valid[:, None], other=0.0)
            w = w4_tile(q, s, z, rows, K // 2, k, n_mask, groups, group_size, block_k)
            total += tl.dot(a, tl.trans(w))
        tl.store(out + positions[:, None] * N + n[None, :], total.to(tl.bfloat16), mask=valid[:, None] & n_mask[None, :])


class Packed:
    """Random packed weights [experts, N, K]."""

    def __init__(self, experts, n, k, group):
        self.n, self.k, self.group = n, k, group
        self.q = torch.randint(0, 256, (experts, n, k // 2), device="cuda", dtype=torch.uint8)
        self.s = torch.rand(experts, n, k // group, device="cuda").to(torch.float16) * 0.004
        self.z = torch.randint(0, 16, (experts, n, k // group), device="cuda").to(torch.float16)

    def bytes(self):
        return self.q.numel() + 4 * self.s.numel()

    def dense(self):
        low, high = (self.q & 15).float(), (self.q >> 4).float()
        values = torch.stack((low, high), -1).flatten(-2).unflatten(-1, (-1, self.group))
        return ((values - self.z.float()[..., None]) * self.s.float()[..., None]).flatten(-2)

    def multiply(self, x, out, lists):
        token_of, expert_of_tile, first, end, block_m = lists
        grid = (triton.cdiv(self.n, 64), len(expert_of_tile))
        w4_grouped[grid](x, self.q, self.s, self.z, out, token_of, expert_of_tile, first, end, self.n, self.k, self.k,
                         group_size=self.group, block_m=block_m, block_n=64, block_k=64, num_stages=4)


def lists_for(counts, token_of, block_m):
    experts, first, end, start = [], [], [], 0
    for expert, count in enumerate(counts):
        for at in range(start, start + count, block_m):
            experts.append(expert)
            first.append(at)
            end.append(start + count)
        start += count
    as_ints = lambda values: torch.tensor(values, device="cuda", dtype=torch.int32)
    return token_of.to(torch.int32), as_ints(experts), as_ints(first), as_ints(end), block_m


def ceilings():
    size = 1 << 30
    a, b = (torch.empty(size // 4, dtype=torch.float32, device="cuda") for _ in range(2))
    line("copy of 1 GiB", microseconds(lambda _: b.copy_(a)), 2 * size)
    x, w = bf16(8192, 8192), bf16(8192, 8192)
    line("product of 8192^3", microseconds(lambda _: x @ w.T), 0, 2 * 8192**3)


def dense_products(rows):
    print(f"dense products, bf16, {rows} rows (cuBLAS by torch.matmul)")
    for name, n, k in (("q, k, v of a sliding layer", 8192, 2816), ("its output", 2816, 4096),
                       ("q, k of a full layer", 9216, 2816), ("its output ", 2816, 8192),
                       ("gate and up", 4224, 2816), ("down", 2816, 2112)):
        turns = 1 + (400 << 20) // (2 * n * k)
        weights, x = [bf16(n, k) for _ in range(turns)], bf16(rows, k)
        line(name, microseconds(lambda turn: x @ weights[turn].T, turns), 2 * n * k, 2 * rows * n * k)


def attention(rows):
    print(f"attention of a canvas of {rows} behind 512 (scaled_dot_product_attention)")
    for name, heads, kv_heads, size in (("sliding", 16, 8, 256), ("full", 16, 2, 512)):
        q, k, v = bf16(1, heads, rows, size), bf16(1, kv_heads, rows + 512, size), bf16(1, kv_heads, rows + 512, size)
        line(name, microseconds(lambda _: F.scaled_dot_product_attention(q, k, v, scale=1.0, enable_gqa=True)), 0,
             4 * heads * rows * (rows + 512) * size)


def head(rows, vocabulary):
    print(f"head of {rows} x {vocabulary}")
    table, hidden = bf16(vocabulary, HIDDEN), bf16(rows, HIDDEN)
    line("logits", microseconds(lambda _: hidden @ table.T), 2 * vocabulary * HIDDEN, 2 * rows * vocabulary * HIDDEN)
    logits = torch.randn(rows, vocabulary, device="cuda") * 4
    size = 4 * logits.numel()

    def entropy(_):
        log_p = torch.log_softmax(logits / 0.6, -1)
        return -(log_p.exp() * log_p).sum(-1)

    line("entropy", microseconds(entropy), size)
    line("Gumbel sample, argmax", microseconds(
        lambda _: (torch.argmax(logits / 0.6 - torch.log(-torch.log(torch.rand_like(logits))), -1),
                   torch.argmax(logits, -1))), size)
    line("five best", microseconds(lambda _: torch.topk(logits, 5)), size)
    line("soft embedding", microseconds(lambda _: torch.softmax(logits / 0.6, -1).to(torch.bfloat16) @ table),
         2 * vocabulary * HIDDEN, 2 * rows * vocabulary * HIDDEN)


def norms(rows):
    x, weight = torch.randn(rows, HIDDEN, device="cuda"), torch.randn(HIDDEN, device="cuda")
    print(f"rows of {HIDDEN}")
    line("RMSNorm", microseconds(lambda _: F.rms_norm(x, (HIDDEN,), weight, 1e-6).to(torch.bfloat16)))


def w4_linear():
    for n, k in ((8192, 8192), (28672, 8192)):
        turns = 1 + (400 << 20) // (n * k // 2)
        weights = [Packed(1, n, k, 128) for _ in range(turns)]
        print(f"W4 linear {n} x {k}, Triton, dequantised to bf16 in the kernel")
        for rows in (1, 16, 64):
            x, out = bf16(rows, k), torch.empty(rows, n, device="cuda", dtype=torch.bfloat16)
            lists = lists_for([rows], torch.arange(rows, device="cuda"), 16 if rows <= 16 else 64)
            line(f"{rows} rows", microseconds(lambda turn: weights[turn].multiply(x, out, lists), turns),
                 weights[0].bytes())
            error = (out.float() - x.float() @ weights[(max(8, turns) - 1) % turns].dense()[0].T).norm() / out.float().norm()
            assert error < 2e-2, f"the peer is wrong: {error}"


def experts(rows):
    print(f"experts of one layer, {rows} tokens, {CHOSEN} of {EXPERTS} (Triton, 4 launches without routing)")
    turns = 3
    gate_up = [Packed(EXPERTS, 2 * INNER, HIDDEN, 128) for _ in range(turns)]
    down = [Packed(EXPERTS, HIDDEN, INNER, 64) for _ in range(turns)]
    x = bf16(rows, HIDDEN)
    chosen = torch.rand(rows, EXPERTS, device="cuda").topk(CHOSEN).indices.flatten()
    order = torch.argsort(chosen, stable=True)
    counts = torch.bincount(chosen, minlength=EXPERTS).tolist()
    tokens = order // CHOSEN
    first, second = lists_for(counts, tokens, 16), lists_for(counts, torch.arange(len(order), device="cuda"), 16)
    weights = torch.rand(rows, CHOSEN, device="cuda")
    both = torch.empty(len(order), 2 * INNER, device="cuda", dtype=torch.bfloat16)
    outputs = torch.empty(len(order), HIDDEN, device="cuda", dtype=torch.bfloat16)

    def layer(turn):
        gate_up[turn].multiply(x, both, first)
        inner = F.gelu(both[:, :INNER], approximate="tanh") * both[:, INNER:]
        down[turn].multiply(inner, outputs, second)
        result = torch.zeros(rows, HIDDEN, device="cuda")
        return result.index_add_(0, tokens, outputs.float() * weights.flatten()[order][:, None])

    line("gate, up, gelu, down, weighted sum", microseconds(layer, turns), gate_up[0].bytes() + down[0].bytes())
    dense_gate_up, dense_down = (p.dense().to(torch.bfloat16) for p in (gate_up[0], down[0]))

    def loop(_):
        result, start = torch.zeros(rows, HIDDEN, device="cuda"), 0
        for expert, count in enumerate(counts):
            mine, start = order[start:start + count], start + count
            if count == 0:
                continue
            both = x[mine // CHOSEN] @ dense_gate_up[expert].T
            inner = F.gelu(both[:, :INNER], approximate="tanh") * both[:, INNER:]
            result.index_add_(0, mine // CHOSEN,
                              (inner @ dense_down[expert].T).float() * weights.flatten()[mine][:, None])
        return result

    line("the same as a loop over experts in bf16", microseconds(loop, 1, 5), 4 * EXPERTS * 3 * INNER * HIDDEN // 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--vocabulary", type=int, default=262144)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("torch_peers: PyTorch finds no CUDA device; nothing was measured")
    torch.manual_seed(1)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Triton {triton.__version__ if triton else 'none'}")
    sections = [(ceilings,), (dense_products, arguments.rows), (attention, arguments.rows),
                (head, arguments.rows, arguments.vocabulary), (norms, arguments.rows)]
    if triton is not None:
        sections += [(w4_linear,), (experts, arguments.rows)]
    with torch.inference_mode():
        for section, *values in sections:
            try:
                section(*values)
            except Exception as error:  # what one release of a peer cannot do, another can; the rest is worth having
                print(f"  {section.__name__}: not measured: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
