"""Writes the `.pt` files beside it; needs PyTorch, which the tests that read them do not.

Written by PyTorch 2.15: `python tests/checkpoints/data/make.py`. `test_reading.py` holds what is in them.
"""

import pathlib

import torch

HERE = pathlib.Path(__file__).parent


def tensors():
    base = torch.arange(20.0).reshape(4, 5)
    tied = torch.nn.Parameter(torch.tensor([1.5, -2.5]))
    with_state = torch.nn.Parameter(torch.tensor([4.0]))
    with_state.note = "kept beside the values"
    return {
        "float32": torch.arange(6.0).reshape(2, 3) / 4 - 1,
        "float64": torch.arange(3, dtype=torch.float64) / 3,
        "float16": torch.arange(3).to(torch.float16) / 8,
        "bfloat16": torch.tensor([1, -2.5, 3.140625, torch.inf, -torch.inf, -0.0, 2**-133]).bfloat16(),
        "int64": torch.arange(3) - 2**40,
        "int32": torch.arange(3).int() - 2**20,
        "int16": torch.arange(3).short() - 2**10,
        "int8": torch.tensor([-128, 127], dtype=torch.int8),
        "uint8": torch.tensor([0, 255], dtype=torch.uint8),
        "bool": torch.tensor([True, False]),
        "complex64": torch.tensor([1 + 2j]),
        "parameter": torch.nn.Parameter(torch.tensor([[3.0]])),
        "parameter_with_state": with_state,
        "base": base,
        "transposed": base.T,
        "slice": base[1:, 2:],
        "every_other": base[::2, 1::3],
        "scalar_inside": base[2, 3],
        "expanded": torch.tensor([[1.0], [2.0]]).expand(2, 3),
        "bfloat16_slice": torch.arange(6).bfloat16().reshape(2, 3).T[1:],
        "scalar": torch.tensor(7.0),
        "empty": torch.zeros(0, 3),
        "tied.0": tied,
        "tied.1": tied,
    }


def checkpoint():
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 1), torch.nn.BatchNorm2d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 1, 2, 2)).sum().backward()
    optimizer.step()
    with torch.no_grad():
        for i, tensor in enumerate(model.state_dict().values()):
            tensor.copy_(torch.arange(tensor.numel()).reshape(tensor.shape) + 10 * i)
    return {
        "epoch": 3,
        "arch": "small",
        "state_dict": torch.nn.DataParallel(model).state_dict(),
        "best_acc1": torch.tensor(0.5),
        "optimizer": optimizer.state_dict(),
        "args": None,
    }


if __name__ == "__main__":
    for name, content in {"tensors": tensors(), "checkpoint": checkpoint()}.items():
        torch.save(content, HERE / f"{name}_zip.pt")
        torch.save(content, HERE / f"{name}_stream.pt", _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Linear(1, 1), HERE / "whole_module.pt")
