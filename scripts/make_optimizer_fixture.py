#!/usr/bin/env python3
"""Writes PyTorch's results for tests: tests/optim/pytorch.inc has those of its optimizers on a small problem,
tests/optim/lbfgs.inc those of its L-BFGS on another one, tests/optim/schedules.inc the learning rates of its schedules,
tests/optim/grad_scaler.inc the scales of its GradScaler.

    scripts/make_optimizer_fixture.py [--out FOLDER]

Needs torch, which the tests do not. The loss is sum(a p^2 / 2 - b p), so that the gradient is a p - b; all in f64.
Each row is a name and the parameters after some of 20 steps. PyTorch has no Lion, so it is implemented below.
For schedules: the rates of both groups at 30 steps, then for cyclic schedules the momenta (or beta1) of the first."""
import argparse
import pathlib
import warnings

import torch
from torch.optim import lr_scheduler as S

ROOT = pathlib.Path(__file__).resolve().parent.parent
START = [1.0, -2.0, 0.5, 3.0, -0.25, 0.0]
A = [1.0, 0.5, 2.0, 0.25, 4.0, 1.0]
B = [0.5, 1.0, -1.0, 2.0, 0.25, -0.75]
AFTER = (1, 2, 5, 10, 20)


class Lion(torch.optim.Optimizer): # Chen et al. 2023, algorithm 2
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, maximize=False):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay, maximize=maximize))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                g = -p.grad if group["maximize"] else p.grad
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                b1, b2 = group["betas"]
                update = torch.sign(b1 * m + (1 - b1) * g)
                p.sub_(group["lr"] * (update + group["weight_decay"] * p))
                m.mul_(b2).add_((1 - b2) * g)


O = torch.optim
OPTIMIZERS = {
    "sgd": lambda p: O.SGD(p, lr=0.1),
    "sgd decay": lambda p: O.SGD(p, lr=0.1, weight_decay=0.05),
    "sgd momentum": lambda p: O.SGD(p, lr=0.05, momentum=0.9),
    "sgd dampening": lambda p: O.SGD(p, lr=0.05, momentum=0.9, dampening=0.3, weight_decay=0.01),
    "sgd nesterov": lambda p: O.SGD(p, lr=0.05, momentum=0.8, nesterov=True, weight_decay=0.02),
    "sgd maximize": lambda p: O.SGD(p, lr=0.02, momentum=0.5, maximize=True),
    "adam": lambda p: O.Adam(p, lr=0.05),
    "adam betas": lambda p: O.Adam(p, lr=0.05, betas=(0.4, 0.8), eps=1e-4),
    "adam decay": lambda p: O.Adam(p, lr=0.05, weight_decay=0.1),
    "adam amsgrad": lambda p: O.Adam(p, lr=0.05, betas=(0.8, 0.7), amsgrad=True),
    "adam maximize": lambda p: O.Adam(p, lr=0.05, maximize=True),
    "adamw": lambda p: O.AdamW(p, lr=0.05),
    "adamw decay": lambda p: O.AdamW(p, lr=0.05, weight_decay=0.3),
    "adamw amsgrad": lambda p: O.AdamW(p, lr=0.05, betas=(0.8, 0.7), amsgrad=True, maximize=True),
    "rmsprop": lambda p: O.RMSprop(p),
    "rmsprop decay": lambda p: O.RMSprop(p, lr=0.02, alpha=0.9, eps=1e-3, weight_decay=0.1),
    "rmsprop momentum": lambda p: O.RMSprop(p, lr=0.005, alpha=0.9, momentum=0.7),
    "rmsprop centered": lambda p: O.RMSprop(p, lr=0.02, alpha=0.9, centered=True, eps=0.1),
    "rmsprop centered momentum": lambda p: O.RMSprop(
        p, lr=0.02, alpha=0.95, centered=True, momentum=0.6, weight_decay=0.05, eps=0.1),
    "rmsprop maximize": lambda p: O.RMSprop(p, lr=0.02, maximize=True),
    "adagrad": lambda p: O.Adagrad(p),
    "adagrad decay": lambda p: O.Adagrad(p, lr=0.3, lr_decay=0.1, weight_decay=0.05),
    "adagrad initial": lambda p: O.Adagrad(p, lr=0.3, initial_accumulator_value=0.5, eps=1e-3),
    "adagrad maximize": lambda p: O.Adagrad(p, lr=0.1, maximize=True),
    "lion": lambda p: Lion(p, lr=0.03),
    "lion decay": lambda p: Lion(p, lr=0.03, betas=(0.8, 0.9), weight_decay=0.2),
    "lion maximize": lambda p: Lion(p, lr=0.03, maximize=True),
    "adadelta": lambda p: O.Adadelta(p),
    "adadelta decay": lambda p: O.Adadelta(p, lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1),
    "adadelta maximize": lambda p: O.Adadelta(p, lr=2.0, eps=1e-4, maximize=True),
    "adamax": lambda p: O.Adamax(p, lr=0.05),
    "adamax decay": lambda p: O.Adamax(p, lr=0.05, betas=(0.6, 0.9), eps=1e-3, weight_decay=0.1),
    "adamax maximize": lambda p: O.Adamax(p, maximize=True),
    "nadam": lambda p: O.NAdam(p, lr=0.05),
    "nadam decay": lambda p: O.NAdam(p, lr=0.05, betas=(0.6, 0.9), eps=1e-3, weight_decay=0.1, momentum_decay=0.1),
    "nadam decoupled": lambda p: O.NAdam(p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True, maximize=True),
    "radam": lambda p: O.RAdam(p, lr=0.05),
    "radam decay": lambda p: O.RAdam(p, lr=0.05, betas=(0.6, 0.9), eps=1e-3, weight_decay=0.1),
    "radam decoupled": lambda p: O.RAdam(p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True, maximize=True),
    # The last four of six elements have separate options.
    "sgd groups": lambda p: O.SGD([{"params": p[:2]}, {"params": p[2:], "lr": 0.1, "weight_decay": 0.3}],
                                  lr=0.05, momentum=0.9),
    "adam groups": lambda p: O.Adam([{"params": p[:2]}, {"params": p[2:], "lr": 0.1, "betas": (0.4, 0.8),
                                                         "weight_decay": 0.3}], lr=0.05),
    "adamw groups": lambda p: O.AdamW([{"params": p[:2]}, {"params": p[2:], "lr": 0.1, "weight_decay": 0.0}],
                                      lr=0.05),
}


def trajectory(make):
    parts = [torch.tensor(START[i : i + 2], dtype=torch.float64, requires_grad=True) for i in (0, 2, 4)]
    optimizer = make(parts)
    a, b = torch.tensor(A, dtype=torch.float64), torch.tensor(B, dtype=torch.float64)
    out = []
    for step in range(1, max(AFTER) + 1):
        p = torch.cat(parts)
        optimizer.zero_grad()
        (a * p * p / 2 - b * p).sum().backward()
        optimizer.step()
        if step in AFTER:
            out += torch.cat(parts).tolist()
    return out


LBFGS = {
    "plain": dict(lr=1e-3),
    "one iteration": dict(lr=5e-3, max_iter=1),
    "strong wolfe": dict(line_search_fn="strong_wolfe"),
    "few evaluations": dict(line_search_fn="strong_wolfe", max_eval=5),
    "short history": dict(line_search_fn="strong_wolfe", max_iter=6, history_size=2),
    "long steps": dict(lr=30, line_search_fn="strong_wolfe", max_iter=4),
    "short steps": dict(lr=1e-4, line_search_fn="strong_wolfe", max_iter=4),
}


def lbfgs(options): # Rosenbrock's function of six variables; per step (of five): the loss before it, then the variables
    parts = [torch.tensor(START[i : i + 2], dtype=torch.float64, requires_grad=True) for i in (0, 2, 4)]
    optimizer = torch.optim.LBFGS(parts, **options)
    out = []

    def closure():
        optimizer.zero_grad()
        p = torch.cat(parts)
        loss = (100 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(5):
        out += [optimizer.step(closure).item()] + torch.cat(parts).tolist()
    return out


def sequence(o, *parts, milestones):
    return S.SequentialLR(o, [p(o) for p in parts], milestones)


SCHEDULES = {
    "step": lambda o: S.StepLR(o, 7, gamma=0.3),
    "multi step": lambda o: S.MultiStepLR(o, [3, 11, 11, 20], gamma=0.5),
    "constant": lambda o: S.ConstantLR(o, factor=0.25, total_iters=6),
    "linear": lambda o: S.LinearLR(o),
    "linear down": lambda o: S.LinearLR(o, start_factor=0.9, end_factor=0.1, total_iters=12),
    "exponential": lambda o: S.ExponentialLR(o, 0.93),
    "polynomial": lambda o: S.PolynomialLR(o, total_iters=20, power=1.7),
    "lambda": lambda o: S.LambdaLR(o, lambda e: 0.95**e),
    "lambda groups": lambda o: S.LambdaLR(o, [lambda e: 1 / (1 + e), lambda e: 0.5 if e > 10 else 1.0]),
    "cosine": lambda o: S.CosineAnnealingLR(o, 10, eta_min=0.01),
    "warm restarts": lambda o: S.CosineAnnealingWarmRestarts(o, 5),
    "warm restarts growing": lambda o: S.CosineAnnealingWarmRestarts(o, 4, T_mult=2, eta_min=0.02),
    "one cycle": lambda o: S.OneCycleLR(o, 0.6, total_steps=30),
    "one cycle linear": lambda o: S.OneCycleLR(o, [0.6, 0.3], epochs=5, steps_per_epoch=6, pct_start=0.4,
                                               anneal_strategy="linear", base_momentum=0.7, max_momentum=0.9),
    "one cycle three phases": lambda o: S.OneCycleLR(o, 0.6, total_steps=30, three_phase=True, div_factor=10,
                                                     final_div_factor=100),
    "one cycle adam": lambda o: S.OneCycleLR(o, 0.6, total_steps=30),
    "cyclic": lambda o: S.CyclicLR(o, 0.1, 0.7, step_size_up=4),
    "cyclic halving cycle": lambda o: S.CyclicLR(o, [0.1, 0.05], [0.7, 0.2], step_size_up=3, step_size_down=6,
                                                 mode="triangular2", base_momentum=0.7, max_momentum=0.95),
    "cyclic range": lambda o: S.CyclicLR(o, 0.1, 0.7, step_size_up=5, mode="exp_range", gamma=0.95,
                                         cycle_momentum=False),
    "cyclic scaled": lambda o: S.CyclicLR(o, 0.1, 0.7, step_size_up=4, scale_fn=lambda x: 1 / (1 + x),
                                          scale_mode="iterations", cycle_momentum=False),
    "cyclic adam cycle": lambda o: S.CyclicLR(o, 0.1, 0.7, step_size_up=4),
    "sequential": lambda o: sequence(o, lambda o: S.LinearLR(o, 0.1, total_iters=5),
                                     lambda o: S.CosineAnnealingLR(o, 20), milestones=[5]),
    "sequential of three": lambda o: sequence(
        o, lambda o: S.ConstantLR(o, 0.1, total_iters=4), lambda o: S.ExponentialLR(o, 0.9),
        lambda o: S.CosineAnnealingWarmRestarts(o, 5), milestones=[4, 16]),
    "sequential of steps": lambda o: sequence(
        o, lambda o: S.StepLR(o, 2), lambda o: S.MultiStepLR(o, [3, 5]), lambda o: S.PolynomialLR(o, 8),
        lambda o: S.LinearLR(o, 0.5, total_iters=4), milestones=[6, 13, 22]),
    "chained": lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.5, total_iters=4), S.ExponentialLR(o, 0.9)]),
    "plateau": lambda o: S.ReduceLROnPlateau(o, factor=0.5, patience=2, cooldown=1, min_lr=[0.01, 0.1]),
    "plateau absolute": lambda o: S.ReduceLROnPlateau(o, mode="max", factor=0.3, patience=1, threshold=0.2,
                                                      threshold_mode="abs"),
}


def metric(step): # falls quickly, then slowly, with bumps
    return 4.0 / (1 + step) + (0.5 if step % 6 == 3 else 0.0)


def schedule(name):
    groups = [{"params": [torch.zeros(1)]}, {"params": [torch.zeros(1)], "lr": 0.25}]
    adam = "adam" in name
    optimizer = torch.optim.Adam(groups, lr=0.5) if adam else torch.optim.SGD(groups, lr=0.5, momentum=0.9)
    scheduler = SCHEDULES[name](optimizer)
    rates, momenta = [], []
    for step in range(30):
        rates += [g["lr"] for g in optimizer.param_groups]
        first = optimizer.param_groups[0]
        momenta.append(first["betas"][0] if adam else first["momentum"])
        scheduler.step(*([metric(step)] if "plateau" in name else []))
    return rates + (momenta if "cycle" in name else [])


SCALERS = { # optimizer, options of the scaler
    "adam": (lambda p: O.Adam(p, lr=0.01), dict(init_scale=1024.0, growth_interval=7)),
    "adamw amsgrad": (lambda p: O.AdamW(p, lr=0.01, amsgrad=True), dict(growth_factor=4.0, backoff_factor=0.25,
                                                                        growth_interval=20)),
    "sgd dampening": (lambda p: O.SGD(p, lr=0.01, momentum=0.9, dampening=0.3), dict(growth_interval=11)),
    "nadam": (lambda p: O.NAdam(p, lr=0.01), dict(growth_interval=7)),
    "radam": (lambda p: O.RAdam(p, lr=0.01), dict(growth_interval=7)),
    "adamax": (lambda p: O.Adamax(p, lr=0.01), dict(growth_interval=7)),
    "adagrad": (lambda p: O.Adagrad(p, lr=0.3, lr_decay=0.1), dict(growth_interval=7)),
    "rmsprop": (lambda p: O.RMSprop(p, lr=0.001, centered=True, momentum=0.5), dict(growth_interval=7)),
    "adadelta": (lambda p: O.Adadelta(p, lr=0.5), dict(growth_interval=7)),
    "lion": (lambda p: Lion(p, lr=0.001), dict(growth_interval=7)),
    # Grows by 16 every second step until the next scale would be infinite in f32.
    "sgd": (lambda p: O.SGD(p, lr=0.01), dict(init_scale=1.0, growth_factor=16.0, growth_interval=2)),
}


def extra(step): # is added to the loss, times the sum of the parameters; "sgd" gets none after the first 100 steps
    if step % 37 == 5 or step * step % 101 == 3 or 300 <= step < 312:
        return [float("inf"), float("-inf"), float("nan")][step % 3]
    return 0.0


def scaler(name): # 1,000 steps in f32: the steps after which the scale changed with the new scale, then the parameters
    make, options = SCALERS[name]
    parts = [torch.tensor(START[i : i + 2], requires_grad=True) for i in (0, 2, 4)]
    optimizer, scaler = make(parts), torch.amp.GradScaler("cpu", **options)
    a, b = torch.tensor(A), torch.tensor(B)
    changes, scale = [], scaler.get_scale()
    for step in range(1000):
        p = torch.cat(parts)
        optimizer.zero_grad()
        added = 0.0 if name == "sgd" and step >= 100 else extra(step)
        scaler.scale((a * p * p / 2 - b * p).sum() + added * p.sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() != scale:
            scale = scaler.get_scale()
            changes += [step, scale]
    return changes, torch.cat(parts).tolist()


def write_scalers(path):
    lines = ["// Made by scripts/make_optimizer_fixture.py: {name, {step, scale after it, for each step that changes it},",
             "// {six parameters after 1,000 steps}}"]
    for name in SCALERS:
        changes, p = scaler(name)
        pairs = [f"{changes[i]}, {changes[i + 1]:.9g}" for i in range(0, len(changes), 2)]
        lines.append(f'{{"{name}", {{{{')
        lines += ["    " + ", ".join(pairs[i : i + 6]) + "," for i in range(0, len(pairs), 6)]
        lines.append("}, {" + ", ".join(f"{v:.9g}" for v in p) + "}}},")
    path.write_text("\n".join(lines) + "\n")


def write(path, comment, rows, columns, digits):
    lines = [f"// Made by scripts/make_optimizer_fixture.py: {comment}"]
    for name, values in rows.items():
        lines.append(f'{{"{name}", {{')
        for i in range(0, len(values), columns):
            lines.append("    " + ", ".join(f"{v:.{digits}g}" for v in values[i : i + columns]) + ",")
        lines.append("}},")
    path.write_text("\n".join(lines) + "\n")


def main():
    warnings.simplefilter("ignore") # about schedule steps without optimizer steps
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests/optim")
    out = parser.parse_args().out
    steps = ", ".join(map(str, AFTER))
    write(out / "pytorch.inc", f"{{name, {{six parameters after each of {steps} steps}}}}.",
          {name: trajectory(make) for name, make in OPTIMIZERS.items()}, 6, 9)
    write(out / "lbfgs.inc", "{name, {loss, then six parameters, of each of five steps}}.",
          {name: lbfgs(options) for name, options in LBFGS.items()}, 7, 15)
    write(out / "schedules.inc", "{name, {rates of two groups at each step, momenta of OneCycleLR}}.",
          {name: schedule(name) for name in SCHEDULES}, 4, 17)
    write_scalers(out / "grad_scaler.inc")


main()
