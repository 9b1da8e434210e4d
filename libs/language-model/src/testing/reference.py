"""Reference numbers for the forward pass: a decoder of the LLaMA family in numpy, float64, written from the papers' formulas.

    python3 reference.py ../../../../models/seed > seed-reference.json
    python3 reference.py > small-reference.json

The first again after every change of the seed model. Shares no code with the TypeScript: per-head loops, interleaving by complex numbers, probabilities by the definition.
"""
import hashlib
import json
import struct
import sys

import numpy as np


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: decode(entry["dtype"], data[slice(*entry["data_offsets"])]).reshape(entry["shape"]) for name, entry in header.items()}


def decode(dtype, raw):
    if dtype == "BF16":
        return (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.frombuffer(raw, {"F32": "<f4", "F16": "<f2"}[dtype]).astype(np.float64)


def norm(x, gain, epsilon):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * gain


def frequencies(config, width):
    plain = config["rope_theta"] ** (-2.0 * np.arange(width // 2) / width)
    scaling = config.get("rope_scaling")
    if not scaling:
        return plain
    # Llama 3.1: by wavelength, in the cases of the model's reference code.
    wavelength = 2 * np.pi / plain
    old, low, high = scaling["original_max_position_embeddings"], scaling["low_freq_factor"], scaling["high_freq_factor"]
    smooth = (old / wavelength - low) / (high - low)
    blended = (1 - smooth) * plain / scaling["factor"] + smooth * plain
    return np.where(wavelength < old / high, plain, np.where(wavelength > old / low, plain / scaling["factor"], blended))


def turn(head, config):
    """Each pair (i, i + half) of `head` [T, D] is a complex number, multiplied by exp(i * position * theta^(-2i/D))."""
    positions, width = np.arange(head.shape[0])[:, None], head.shape[1]
    pairs = head[:, : width // 2] + 1j * head[:, width // 2 :]
    pairs = pairs * np.exp(1j * positions * frequencies(config, width))
    return np.concatenate([pairs.real, pairs.imag], 1)


def log_probs(config, weights, ids):
    """[T, V]: log of the distribution of the token after each position."""
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim") or config["hidden_size"] // heads
    epsilon = config["rms_norm_eps"]
    x = weights["model.embed_tokens.weight"][ids]
    future = np.triu(np.ones((len(ids), len(ids)), bool), 1)
    for layer in range(config["num_hidden_layers"]):
        w = lambda name: weights[f"model.layers.{layer}.{name}.weight"]
        bias = lambda name: weights.get(f"model.layers.{layer}.{name}.bias", 0)
        project = lambda name, rows: rows @ w(name).T + bias(name)
        h = norm(x, w("input_layernorm"), epsilon)
        q, k, v = (project(f"self_attn.{m}_proj", h) for m in "qkv")
        outputs = []
        for i in range(heads):
            j = i // (heads // groups)
            query, key, value = q[:, i * width : (i + 1) * width], k[:, j * width : (j + 1) * width], v[:, j * width : (j + 1) * width]
            if f"model.layers.{layer}.self_attn.q_norm.weight" in weights:
                query, key = norm(query, w("self_attn.q_norm"), epsilon), norm(key, w("self_attn.k_norm"), epsilon)
            scores = turn(query, config) @ turn(key, config).T / np.sqrt(width)
            scores[future] = -np.inf
            p = np.exp(scores - scores.max(1, keepdims=True))
            outputs.append(p / p.sum(1, keepdims=True) @ value)
        x = x + project("self_attn.o_proj", np.concatenate(outputs, 1))
        h = norm(x, w("post_attention_layernorm"), epsilon)
        gate = project("mlp.gate_proj", h)
        x = x + project("mlp.down_proj", gate / (1 + np.exp(-gate)) * project("mlp.up_proj", h))
    head = weights["model.embed_tokens.weight"] if config["tie_word_embeddings"] else weights["lm_head.weight"]
    z = norm(x, weights["model.norm.weight"], epsilon) @ head.T
    z = z - z.max(1, keepdims=True)
    return z - np.log(np.exp(z).sum(1, keepdims=True))


def reference(config, weights, ids):
    table = log_probs(config, weights, np.array(ids))
    chosen = [table[t, ids[t + 1]] for t in range(len(ids) - 1)]
    entropies = -(np.exp(table) * table).sum(1)
    return {"ids": ids, "logProbs": [float(x) for x in chosen], "entropies": [float(x) for x in entropies[:-1]], "argmax": table.argmax(1).tolist()}


def made_weights(config, shapes):
    """Weights by a formula that the test repeats: sin of a running number; norms around 1."""
    weights, start = {}, 0
    for name, shape in shapes:
        size = int(np.prod(shape))
        values = np.sin(np.arange(start, start + size) * 0.7391).reshape(shape)
        weights[name] = (1 + 0.2 * values if "norm" in name else 0.4 * values).astype(np.float32).astype(np.float64)
        start += size
    return weights


def shapes_of(config):
    d, width, inner = config["hidden_size"], config["head_dim"], config["intermediate_size"]
    q, k = config["num_attention_heads"] * width, config["num_key_value_heads"] * width
    yield "model.embed_tokens.weight", (config["vocab_size"], d)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        yield at + "input_layernorm.weight", (d,)
        for m, out in (("q", q), ("k", k), ("v", k)):
            yield at + f"self_attn.{m}_proj.weight", (out, d)
            if config["model_type"] == "qwen2":
                yield at + f"self_attn.{m}_proj.bias", (out,)
        yield at + "self_attn.o_proj.weight", (d, q)
        if config["model_type"] == "qwen3":
            yield at + "self_attn.q_norm.weight", (width,)
            yield at + "self_attn.k_norm.weight", (width,)
        yield at + "post_attention_layernorm.weight", (d,)
        yield at + "mlp.gate_proj.weight", (inner, d)
        yield at + "mlp.up_proj.weight", (inner, d)
        yield at + "mlp.down_proj.weight", (d, inner)
    yield "model.norm.weight", (d,)
    if not config["tie_word_embeddings"]:
        yield "lm_head.weight", (config["vocab_size"], d)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        directory = sys.argv[1]
        config = json.load(open(directory + "/config.json"))
        weights = read_safetensors(directory + "/model.safetensors")
        rng = np.random.default_rng(1)
        sequences = [[5, 2, 418, 284, 357, 470, 359, 69, 4, 3], rng.integers(0, config["vocab_size"], 60).tolist()]
        digest = hashlib.sha256(open(directory + "/model.safetensors", "rb").read()).hexdigest()
        result = {"modelSha256": digest, "references": [reference(config, weights, ids) for ids in sequences]}
    else:
        result = []
        for model_type, scaling in (("llama", None), ("qwen2", None), ("qwen3", None), ("llama", dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=64))):
            config = dict(model_type=model_type, vocab_size=23, hidden_size=12, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, head_dim=8 if scaling else 4, intermediate_size=20,
                          rms_norm_eps=1e-5, rope_theta=100.0 if scaling else 10000.0, rope_scaling=scaling, hidden_act="silu", max_position_embeddings=64, tie_word_embeddings=model_type == "qwen2")
            weights = made_weights(config, list(shapes_of(config)))
            result.append({"config": config, **reference(config, weights, [7, 0, 22, 7, 3, 19, 11, 5, 5, 14])})
    json.dump(result, sys.stdout)
