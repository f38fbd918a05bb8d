// Automatic differentiation; docs/autograd.md is its guide.
#pragma once
#include <reprise/autograd/anomaly.hpp>
#include <reprise/autograd/check.hpp>
#include <reprise/autograd/checkpoint.hpp>
#include <reprise/autograd/custom_function.hpp>
#include <reprise/autograd/derivatives.hpp>
#include <reprise/autograd/function.hpp>
#include <reprise/autograd/grad.hpp>
#include <reprise/autograd/kernel.hpp>
#include <reprise/autograd/output_shape.hpp>
#include <reprise/autograd/tape.hpp>
#include <reprise/hooks.hpp>
