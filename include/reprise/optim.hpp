// Optimizers, schedules of their learning rates, clipping of gradients: PyTorch's names, defaults and formulas.
#pragma once
#include <reprise/optim/adadelta.hpp>
#include <reprise/optim/adagrad.hpp>
#include <reprise/optim/adam.hpp>
#include <reprise/optim/adamax.hpp>
#include <reprise/optim/clip.hpp>
#include <reprise/optim/grad_scaler.hpp>
#include <reprise/optim/lbfgs.hpp>
#include <reprise/optim/lion.hpp>
#include <reprise/optim/lr_scheduler.hpp>
#include <reprise/optim/nadam.hpp>
#include <reprise/optim/optimizer.hpp>
#include <reprise/optim/options.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/optim/radam.hpp>
#include <reprise/optim/rmsprop.hpp>
#include <reprise/optim/sgd.hpp>
