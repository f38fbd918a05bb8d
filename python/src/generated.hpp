// What the generated files include.
#pragma once
#include <reprise/autograd/derivatives.hpp>
#include <reprise/autograd/grad.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>

#include "binding.hpp"
#include "enum_names.hpp"
