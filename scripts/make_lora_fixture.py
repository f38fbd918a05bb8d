#!/usr/bin/env python3
"""Writes the model and the adapters of tests/nn/lora with PyTorch and Hugging Face's PEFT, or checks adapters of Lora::save().

    scripts/make_lora_fixture.py [--out FOLDER]
    scripts/make_lora_fixture.py --check FOLDER

Needs torch, peft and safetensors, which the tests do not. The folder gets model.safetensors, the model before
fine-tuning; adapter_model.safetensors and adapter_config.json as PEFT writes them; and values.safetensors with indices
and the model's results for them, without ("before") and with adapters ("after"). --check loads the adapters of a folder
with PEFT and compares the results with "after" of a values.safetensors in it."""
import argparse
import json
import pathlib
import tempfile

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from torch import nn

FIXTURE = pathlib.Path(__file__).resolve().parent.parent / "tests/nn/lora"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 4)
        self.mix = nn.Conv1d(4, 4, 3, padding=1)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 2)

    def forward(self, indices):
        x = torch.tanh(self.mix(self.words(indices).transpose(1, 2)).transpose(1, 2))
        x = x + self.attention(x, x, x)[0]
        return self.head(self.norm(torch.tanh(self.fc(x)).mean(1)))


def make(out):
    torch.manual_seed(0)
    net = Net().eval()
    indices = torch.randint(7, (3, 5))
    save_file({name: value.clone() for name, value in net.state_dict().items()}, out / "model.safetensors")
    values = {"indices": indices, "before": net(indices).detach()}
    config = LoraConfig(r=2, lora_alpha=3, lora_dropout=0.0, target_modules=["words", "mix", "attention", "fc"],
                        bias="lora_only", modules_to_save=["norm", "head"])
    tuned = get_peft_model(net, config).eval()
    with torch.no_grad():
        for name, parameter in tuned.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(torch.randn_like(parameter) / 2)
        for name, statistics in tuned.named_buffers():
            if "modules_to_save" in name and statistics.is_floating_point():
                statistics.uniform_(0.5, 1.5)
    values["after"] = tuned(indices).detach()
    save_file(values, out / "values.safetensors")
    with tempfile.TemporaryDirectory() as folder:
        tuned.save_pretrained(folder)
        (out / "adapter_model.safetensors").write_bytes((pathlib.Path(folder) / "adapter_model.safetensors").read_bytes())
        fields = json.loads((pathlib.Path(folder) / "adapter_config.json").read_text())
    fields["target_modules"].sort() # PEFT writes a set
    for path in out.iterdir():
        path.chmod(0o644)
    (out / "adapter_config.json").write_text(json.dumps(fields, indent=2) + "\n")


def check(folder):
    net = Net()
    net.load_state_dict(load_file(FIXTURE / "model.safetensors"))
    tuned = PeftModel.from_pretrained(net, folder).eval()
    values = load_file(folder / "values.safetensors")
    error = (tuned(values["indices"].long()) - values["after"]).abs().max().item()
    print(f"largest difference: {error:.2g}")
    assert error < 1e-5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURE)
    parser.add_argument("--check", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.check)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    make(arguments.out)


if __name__ == "__main__":
    main()
