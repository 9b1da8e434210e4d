"""The step of `npm run bench:trainer` in PyTorch, as a good user of it would write it.

Eager mode, scaled_dot_product_attention, fused AdamW, gradients cleared to None, frozen weights without gradients. One JSON object
per line: the first line on stdin is what to build, each further line asks for one step, or, `least`, for the time of what no step
can do without; the answers go to stdout.
"""

import json
import os
import resource
import sys
import time

WORK = json.loads(sys.stdin.readline())
os.environ.setdefault("OMP_NUM_THREADS", str(WORK["threads"]))

import torch  # noqa: E402  (the number of threads must be known before)
import torch.nn.functional as F  # noqa: E402

torch.set_num_threads(WORK["threads"])
CONFIG = WORK["config"]
HEADS, KV_HEADS, HEAD_DIM = CONFIG["heads"], CONFIG["kvHeads"], CONFIG["headDim"]
EPSILON = CONFIG["rmsNormEps"]


def signed(word):
    """The 32 bits of a number, as int32 has them."""
    return ((word + 2**31) & 0xFFFFFFFF) - 2**31


def shifted_xor(bits, places):
    return bits ^ ((bits >> places) & ((1 << (32 - places)) - 1))


def hashed(seed, length, bound):
    """The numbers of hashed-numbers.ts, piece by piece, so that making them is not what needs the most memory."""
    values = torch.empty(length)
    piece = 1 << 20
    for first in range(0, length, piece):
        bits = torch.arange(first, min(length, first + piece), dtype=torch.int32)
        bits += signed(seed * 0x9E3779B9)
        bits = shifted_xor(bits, 16) * signed(0x85EBCA6B)
        bits = shifted_xor(shifted_xor(bits, 13) * signed(0xC2B2AE35), 16).double()
        bits += (bits < 0) * 2.0**32
        values[first : first + len(bits)] = bits * (bound / 2**31) - bound
    return values


def tensors(recipes, trained):
    made = {}
    for recipe in recipes:
        shape, bound = recipe["shape"], recipe["bound"]
        length = 1
        for size in shape:
            length *= size
        values = torch.ones(length) if bound is None else hashed(recipe["seed"], length, bound)
        made[recipe["name"]] = values.reshape(shape).requires_grad_(trained)
    return made


BASE = tensors(WORK["base"], not WORK["adapter"])
ADAPTER = tensors(WORK["adapter"], True)
TRAINED = list((ADAPTER or BASE).values())
OPTIMIZER = torch.optim.AdamW(TRAINED, lr=WORK["learningRate"], betas=(0.9, 0.999), eps=1e-8, weight_decay=0, fused=True)


def batch():
    samples = WORK["samples"]
    tokens = torch.tensor([s["promptIds"] + s["responseIds"] for s in samples])
    rows, length = tokens.shape[0], tokens.shape[1] - 1
    old, advantages, weights = (torch.zeros(rows, length) for _ in range(3))
    for i, s in enumerate(samples):
        first = len(s["promptIds"]) - 1
        rollout = torch.tensor(s["rolloutLogProbs"])
        old[i, first:] = rollout
        advantages[i, first:] = s["reward"] + torch.tensor(s["teacherLogProbs"]) - rollout
        weights[i, first:] = 1 / (rows * len(rollout))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), old, advantages, weights


INPUTS, TARGETS, OLD, ADVANTAGES, WEIGHTS = batch()
ROWS, LENGTH = INPUTS.shape


def rotation():
    half = HEAD_DIM // 2
    frequencies = CONFIG["ropeTheta"] ** (-2 * torch.arange(half, dtype=torch.float64) / HEAD_DIM)
    angles = torch.outer(torch.arange(LENGTH, dtype=torch.float64), frequencies)
    angles = torch.cat([angles, angles], -1)
    return angles.cos().float(), angles.sin().float()


COS, SIN = rotation()


def rotate(heads):
    half = HEAD_DIM // 2
    turned = torch.cat([-heads[..., half:], heads[..., :half]], -1)
    return heads * COS + turned * SIN


def linear(x, module):
    y = F.linear(x, BASE[module + ".weight"])
    down = ADAPTER.get(f"base_model.model.{module}.lora_A.weight")
    if down is None:
        return y
    up = ADAPTER[f"base_model.model.{module}.lora_B.weight"]
    return y + F.linear(F.linear(x, down), up) * WORK["scale"]


def norm(x, name):
    return F.rms_norm(x, (x.shape[-1],), BASE[name + ".weight"], EPSILON)


def block(x, at):
    h = norm(x, at + "input_layernorm")
    q = linear(h, at + "self_attn.q_proj").view(ROWS, LENGTH, HEADS, HEAD_DIM)
    k = linear(h, at + "self_attn.k_proj").view(ROWS, LENGTH, KV_HEADS, HEAD_DIM)
    v = linear(h, at + "self_attn.v_proj").view(ROWS, LENGTH, KV_HEADS, HEAD_DIM)
    if CONFIG["queryKeyNorm"]:
        q, k = norm(q, at + "self_attn.q_norm"), norm(k, at + "self_attn.k_norm")
    q, k, v = (z.transpose(1, 2) for z in (q, k, v))
    attended = F.scaled_dot_product_attention(
        rotate(q), rotate(k), v, is_causal=True, enable_gqa=HEADS != KV_HEADS
    )
    attended = attended.transpose(1, 2).reshape(ROWS, LENGTH, HEADS * HEAD_DIM)
    x = x + linear(attended, at + "self_attn.o_proj")
    h = norm(x, at + "post_attention_layernorm")
    inner = F.silu(linear(h, at + "mlp.gate_proj")) * linear(h, at + "mlp.up_proj")
    return x + linear(inner, at + "mlp.down_proj")


def log_probs():
    x = F.embedding(INPUTS, BASE["model.embed_tokens.weight"])
    for layer in range(CONFIG["layers"]):
        x = block(x, f"model.layers.{layer}.")
    logits = F.linear(norm(x, "model.norm"), BASE["model.embed_tokens.weight"])
    return -F.cross_entropy(logits.flatten(0, 1), TARGETS.flatten(), reduction="none").view(ROWS, LENGTH)


def loss_of(current):
    clip = WORK["clip"]
    ratio = (current - OLD).clamp(-clip["logRatioLimit"], clip["logRatioLimit"]).exp()
    clipped = ratio.clamp(1 - clip["epsilonLow"], 1 + clip["epsilonHigh"])
    return -(torch.minimum(ratio * ADVANTAGES, clipped * ADVANTAGES) * WEIGHTS).sum()


def step():
    OPTIMIZER.zero_grad(set_to_none=True)
    loss = loss_of(log_probs())
    loss.backward()
    gradient_norm = torch.nn.utils.clip_grad_norm_(TRAINED, WORK["maxGradNorm"])
    OPTIMIZER.step()
    return loss.item(), gradient_norm.item()


def median_seconds(work, seconds=0.1):
    times = []
    while len(times) < 3 or sum(times) < seconds:
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return sorted(times)[len(times) // 2]


def product_seconds(batch, rows, inner, columns, **_):
    """One matrix product, with whichever of its operands stored transposed is fastest; four in a row, as in matmul-rate.ts."""
    lefts = [torch.ones(batch, rows, inner) for _ in range(4)]
    right = torch.ones(batch, inner, columns)
    out = torch.empty(batch, rows, columns)

    def timed(left_turned, right_turned):
        a = [x.mT.contiguous().mT if left_turned else x for x in lefts]
        b = right.mT.contiguous().mT if right_turned else right
        if batch == 1:
            return median_seconds(lambda: [torch.mm(x[0], b[0], out=out[0]) for x in a]) / 4
        return median_seconds(lambda: [torch.bmm(x, b, out=out) for x in a]) / 4

    return min(timed(*turned) for turned in ((False, False), (True, False), (False, True)))


def bytes_per_second():
    a, b = torch.ones(1 << 26), torch.ones(1 << 26)
    out = torch.empty(1 << 26)
    return 3 * 4 * len(a) / median_seconds(lambda: torch.add(a, b, out=out))


def least_seconds():
    """The step's matrix products, and reading weights, gradients and two moments and writing all but the gradients."""
    products = sum(product["count"] * product_seconds(**product) for product in WORK["products"])
    return products + 7 * 4 * sum(x.numel() for x in TRAINED) / bytes_per_second()


def peak_rss_mb():
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(**answer):
    print(json.dumps(answer), flush=True)


say(ready=True, version=torch.__version__)
for request in sys.stdin:
    if request.strip() == "least":
        say(ms=least_seconds() * 1000)
        continue
    started, cpu = time.perf_counter(), time.process_time()
    loss, gradient_norm = step()
    say(
        ms=(time.perf_counter() - started) * 1000,
        cpuMs=(time.process_time() - cpu) * 1000,
        loss=loss,
        gradNorm=gradient_norm,
        peakRssMb=peak_rss_mb(),
    )
