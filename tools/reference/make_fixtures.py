"""Reference numbers of the model and the loss, by transformers' own model classes and peft.

    pip install -r tools/reference/requirements.txt
    python3 tools/reference/make_fixtures.py

Makes tiny random checkpoints of the three architectures with fixed seeds (tools/reference/fixtures/<name>: a directory as
transformers writes it, an adapter as peft writes it) and beside them what the tests compare with:

- reference.json: log-probs and entropies of given ids in float32, with and without the adapter; the inputs and the value of the loss
- gradients.safetensors: gradients of the loss by every weight, and by the adapter's matrices, computed in float64

and the same log-probs of the seed model (fixtures/seed). Run again after a change of the seed model, or of this file.
"""

import hashlib
import json
import pathlib
import shutil

import peft
import torch
import transformers
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent
SEED_MODEL = HERE.parent.parent / "models" / "seed"
FIXTURES = HERE / "fixtures"

LLAMA3 = dict(rope_type="llama3", rope_theta=100.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
PLAIN = dict(rope_type="default", rope_theta=10000.0)
SMALL = dict(vocab_size=47, hidden_size=16, intermediate_size=24, num_hidden_layers=2, max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0)
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

CHECKPOINTS = {
    "llama-scaled-rope": dict(
        config=transformers.LlamaConfig(**SMALL, num_attention_heads=4, num_key_value_heads=2, rope_parameters=LLAMA3, rms_norm_eps=1e-5, tie_word_embeddings=False),
        lora=dict(r=4, lora_alpha=8, target_modules=ALL),
    ),
    "llama-biased-tied": dict(
        config=transformers.LlamaConfig(**SMALL, num_attention_heads=8, num_key_value_heads=4, head_dim=4, rope_parameters=PLAIN, attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
        lora=dict(r=2, lora_alpha=2, target_modules=["o_proj", "down_proj"]),
    ),
    "qwen2-tied-f16": dict(
        config=transformers.Qwen2Config(**SMALL, num_attention_heads=4, num_key_value_heads=1, rope_parameters=PLAIN, tie_word_embeddings=True),
        dtype=torch.float16,
        lora=dict(r=9, lora_alpha=6, use_rslora=True, target_modules=ALL),
    ),
    "qwen3-sharded-bf16": dict(
        config=transformers.Qwen3Config(**SMALL, num_attention_heads=4, num_key_value_heads=2, head_dim=8, rope_parameters=PLAIN, tie_word_embeddings=False),
        dtype=torch.bfloat16,
        shard="8KB",
        lora=dict(r=3, lora_alpha=12, target_modules=["q_proj", "v_proj", "gate_proj"]),
    ),
}

# Rows of one batch, padded with 0 on the right; the first PROMPTS tokens of each are the prompt. The padding id stands nowhere else:
# the embedding of transformers gives it no gradient.
IDS = [[1, 7, 4, 22, 7, 3, 19, 11, 5, 5, 14, 2], [1, 33, 46, 8, 40, 12, 9, 2, 0, 0, 0, 0]]
LENGTHS = [12, 8]
PROMPTS = [4, 3]
CLIP_LOW, CLIP_HIGH, DUAL_CLIP, KL_COEF, ENTROPY_COEF = 0.2, 0.28, 3.0, 0.3, 0.01


def randomise(model, seed):
    """Weights of a size that makes distributions neither flat nor certain; norms around 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(1 + 0.2 * noise if "norm" in name else 0.3 * noise)


def log_probs(model, ids, lengths):
    """log pi(next id) and entropy at every position of every row that has a next id, nats."""
    table = torch.log_softmax(model(torch.tensor(ids)).logits, -1)
    chosen = table[:, :-1].gather(-1, torch.tensor(ids)[:, 1:, None])[..., 0]
    entropies = -(table.exp() * table).sum(-1)[:, :-1]
    return chosen, entropies, torch.tensor([[t < length - 1 for t in range(len(ids[0]) - 1)] for length in lengths])


def rows(values, lengths):
    return [row[: length - 1].tolist() for row, length in zip(values, lengths)]


def as_float32(values):
    return values.to(torch.float32).to(torch.float64)


def made_loss_inputs(chosen, seed):
    """Old log-probs around the new ones, so that some tokens are clipped; advantages of both signs; per-sample means as weights."""
    generator = torch.Generator().manual_seed(seed)
    noise = lambda: torch.randn(chosen.shape, generator=generator, dtype=torch.float64)
    response = torch.tensor([[prompt - 1 <= t < length - 1 for t in range(chosen.shape[1])] for prompt, length in zip(PROMPTS, LENGTHS)])
    weights = response / response.sum(1, keepdim=True) / len(LENGTHS)
    return dict(
        oldLogProbs=as_float32(chosen + 0.4 * noise()),
        advantages=as_float32(1.5 * noise()),
        weights=as_float32(weights),
        refLogProbs=as_float32(chosen + 0.3 * noise()),
    )


def combined_loss(chosen, entropies, inputs):
    """Clipped surrogate with dual clip, k3 to the reference and entropy, summed under the weights."""
    a = inputs["advantages"]
    ratio = torch.exp(chosen - inputs["oldLogProbs"])
    loss = -torch.minimum(ratio * a, ratio.clamp(1 - CLIP_LOW, 1 + CLIP_HIGH) * a)
    loss = torch.where(a < 0, torch.minimum(loss, -DUAL_CLIP * a), loss)
    gap = chosen - inputs["refLogProbs"]
    kl = torch.exp(-gap) - 1 + gap
    return (inputs["weights"] * (loss + KL_COEF * kl - ENTROPY_COEF * entropies)).sum()


def in_float64(model):
    """The model in float64 throughout: the norms of transformers compute in float32 whatever they are given."""
    model = model.double()
    norm = lambda self, x: self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))
    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = norm.__get__(module)
    return model


def loss_and_gradients(model, named, seed):
    chosen, entropies, _ = log_probs(model, IDS, LENGTHS)
    inputs = made_loss_inputs(chosen.detach(), seed)
    loss = combined_loss(chosen, entropies, inputs)
    gradients = torch.autograd.grad(loss, [parameter for _, parameter in named])
    ratio = torch.exp(chosen - inputs["oldLogProbs"])
    clipped = ((ratio < 1 - CLIP_LOW) | (ratio > 1 + CLIP_HIGH)) & (inputs["weights"] > 0)
    assert 0 < clipped.sum() < (inputs["weights"] > 0).sum(), "some tokens are outside the clip range, some inside"
    numbers = {name: value.tolist() for name, value in inputs.items()}
    return dict(**numbers, value=loss.item()), {name: gradient for (name, _), gradient in zip(named, gradients)}


def write_adapter(directory, settings, seed):
    """A peft directory with random A and B; returns the model in float64 with that adapter."""
    base = transformers.AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    model = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", **settings))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if "lora_" in name:
                parameter.copy_(0.2 * torch.randn(parameter.shape, generator=generator))
    model.peft_config["default"].base_model_name_or_path = directory.name
    model.save_pretrained(directory / "adapter")
    (directory / "adapter" / "README.md").unlink(missing_ok=True)
    # peft writes a set, in another order each time.
    path = directory / "adapter" / "adapter_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | dict(target_modules=sorted(config["target_modules"])), indent=2))
    return model


def make(name, config, lora, dtype=torch.float32, shard="1GB"):
    directory = FIXTURES / name
    shutil.rmtree(directory, ignore_errors=True)
    seed = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    randomise(model, seed)
    model.to(dtype).save_pretrained(directory, max_shard_size=shard)
    (directory / "generation_config.json").unlink(missing_ok=True)

    model = transformers.AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()
    with torch.no_grad():
        chosen, entropies, _ = log_probs(model, IDS, LENGTHS)
    double = in_float64(model)
    full, gradients = loss_and_gradients(double, sorted(double.named_parameters()), seed + 1)

    adapted = write_adapter(directory, lora, seed + 2).eval()
    with torch.no_grad():
        adapted_chosen, _, _ = log_probs(adapted, IDS, LENGTHS)
    adapted = in_float64(adapted)
    matrices = sorted((name, parameter) for name, parameter in adapted.named_parameters() if "lora_" in name)
    of_adapter, lora_gradients = loss_and_gradients(adapted, matrices, seed + 3)
    gradients |= {name.replace(".default.", "."): gradient for name, gradient in lora_gradients.items()}

    save_file({name: gradient.to(torch.float32).contiguous() for name, gradient in gradients.items()}, directory / "gradients.safetensors")
    write_json(
        directory / "reference.json",
        dict(
            versions=versions(),
            ids=IDS,
            lengths=LENGTHS,
            logProbs=rows(chosen, LENGTHS),
            entropies=rows(entropies, LENGTHS),
            adapterLogProbs=rows(adapted_chosen, LENGTHS),
            settings=dict(epsilonLow=CLIP_LOW, epsilonHigh=CLIP_HIGH, dualClip=DUAL_CLIP, klCoef=KL_COEF, entropyCoef=ENTROPY_COEF),
            loss=full,
            adapterLoss=of_adapter,
        ),
    )


def make_seed():
    directory = FIXTURES / "seed"
    directory.mkdir(parents=True, exist_ok=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(SEED_MODEL, dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(1)
    ids = [[5, 2, 418, 284, 357, 470, 359, 69, 4, 3], torch.randint(model.config.vocab_size, (60,), generator=generator).tolist()]
    results = []
    for row in ids:
        with torch.no_grad():
            chosen, entropies, _ = log_probs(model, [row], [len(row)])
        results.append(dict(ids=row, logProbs=chosen[0].tolist(), entropies=entropies[0].tolist()))
    digest = hashlib.sha256((SEED_MODEL / "model.safetensors").read_bytes()).hexdigest()
    write_json(directory / "reference.json", dict(versions=versions(), modelSha256=digest, references=results))


def versions():
    return dict(torch=torch.__version__.split("+")[0], transformers=transformers.__version__, peft=peft.__version__)


def write_json(path, value):
    path.write_text(json.dumps(value) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, settings in CHECKPOINTS.items():
        make(name, **settings)
    make_seed()
