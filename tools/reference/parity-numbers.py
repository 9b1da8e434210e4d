"""Writes apps/trainer/src/backends/parity-numbers.ts: the small step of parity.ts in float64 by PyTorch and transformers.

Usage: python tools/reference/parity-numbers.py > apps/trainer/src/backends/parity-numbers.ts
"""

import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

config = Qwen3Config(
    vocab_size=13,
    hidden_size=8,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=4,
    intermediate_size=12,
    rms_norm_eps=1e-6,
    rope_theta=10000.0,
    tie_word_embeddings=True,
    max_position_embeddings=16,
    attention_bias=False,
    attn_implementation="eager",
)
LAYER = (
    "input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj self_attn.q_norm self_attn.k_norm "
    "post_attention_layernorm mlp.gate_proj mlp.up_proj mlp.down_proj"
).split()
NAMES = [
    "model.embed_tokens.weight",
    *(f"model.layers.{layer}.{part}.weight" for layer in range(2) for part in LAYER),
    "model.norm.weight",
]
SHAPE = (2, 7)


def wave(shape, start, middle):
    """The sines of parity.ts, rounded to float32 as there."""
    i = np.arange(np.prod(shape))
    values = (middle + 0.5 * np.sin(start * 31 + i * 1.3)).astype(np.float32)
    return torch.tensor(values.reshape(shape), dtype=torch.float64)


def ids(step):
    return torch.arange(np.prod(SHAPE)).mul(step).add(1).remainder(config.vocab_size).reshape(SHAPE)


torch.set_default_dtype(torch.float64)
model = Qwen3ForCausalLM(config).double().eval()
weights = dict(model.named_parameters())
with torch.no_grad():
    for position, name in enumerate(NAMES):
        weights[name].copy_(wave(tuple(weights[name].shape), position, 1 if "norm" in name else 0))

log_softmax = torch.log_softmax(model(input_ids=ids(5)).logits, -1)
log_probs = log_softmax.gather(-1, ids(7)[..., None])[..., 0]
entropies = -(log_softmax.exp() * log_softmax).sum(-1)
ratio = torch.exp(log_probs - wave(SHAPE, 50, -2.5))
advantages = wave(SHAPE, 60, 0)
surrogate = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.28) * advantages)
loss = -10 * (surrogate + 0.1 * entropies).sum()
loss.backward()

numbers = {"loss": loss.item()}
for name in NAMES:
    gradient = weights[name].grad.flatten()
    numbers[name] = (gradient * torch.cos(torch.arange(len(gradient)).double())).sum().item()
print("/** By `tools/reference/parity-numbers.py`: PyTorch and transformers in float64. */")
print("export const PARITY_NUMBERS: Readonly<Record<string, number>> = {")
for name, number in numbers.items():
    print(f"  {name if name == 'loss' else repr(name)}: {number:.9g},")
print("};")
