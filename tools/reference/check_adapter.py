"""Log-probs of given token ids by transformers and peft, for `npm run check:adapter`.

    python3 tools/reference/check_adapter.py < request.json

The request is `{"model": folder, "adapter": folder or null, "sequences": [[id, …], …], "conversations": [[{"role", "content"}, …], …]}`. Prints
`{"logProbs": [[…], …], "prompts": [[id, …], …], "versions": {…}}`: of each sequence log pi of every id but the first, nats, float32, under
the model with the adapter as `PeftModel.from_pretrained` loads it; and each conversation as the model's own template and
tokenizer make a prompt of it. Fails when the loaded adapter is not, name by name and number by number, what the file holds.
"""

import json
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import peft
import torch
import transformers
from safetensors.torch import load_file


def load(request):
    base = transformers.AutoModelForCausalLM.from_pretrained(request["model"], dtype=torch.float32)
    if request["adapter"] is None:
        return base.eval()
    model = peft.PeftModel.from_pretrained(base, request["adapter"]).eval()
    written = load_file(os.path.join(request["adapter"], "adapter_model.safetensors"))
    loaded = peft.get_peft_model_state_dict(model)
    if set(written) != set(loaded):
        sys.exit(f"the file's matrices are not the loaded ones: {sorted(set(written) ^ set(loaded))[:4]}")
    for name, matrix in written.items():
        if not torch.equal(matrix.to(torch.float32), loaded[name].to(torch.float32)):
            sys.exit(f"{name} is loaded with other numbers")
    return model


def log_probs(model, ids):
    with torch.no_grad():
        table = torch.log_softmax(model(torch.tensor([ids])).logits[0], -1)
    return table[:-1].gather(-1, torch.tensor(ids)[1:, None])[:, 0].tolist()


def prompts(request):
    if not request["conversations"]:
        return []
    tokenizer = transformers.AutoTokenizer.from_pretrained(request["model"])
    texts = [tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False) for messages in request["conversations"]]
    return [tokenizer(text, add_special_tokens=False).input_ids for text in texts]


if __name__ == "__main__":
    request = json.load(sys.stdin)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    model = load(request)
    result = dict(
        logProbs=[log_probs(model, ids) for ids in request["sequences"]],
        prompts=prompts(request),
        versions=dict(torch=torch.__version__, transformers=transformers.__version__, peft=peft.__version__),
    )
    json.dump(result, sys.stdout)
