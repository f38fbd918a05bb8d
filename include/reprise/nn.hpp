// Modules that networks are built of, with PyTorch's names, defaults and initialisations.
#pragma once
#include <reprise/nn/activations.hpp>
#include <reprise/nn/attention.hpp>
#include <reprise/nn/containers.hpp>
#include <reprise/nn/convolution.hpp>
#include <reprise/nn/dropout.hpp>
#include <reprise/nn/embedding.hpp>
#include <reprise/nn/linear.hpp>
#include <reprise/nn/losses.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/nn/normalization.hpp>
#include <reprise/nn/padding.hpp>
#include <reprise/nn/pooling.hpp>
#include <reprise/nn/recurrent.hpp>
#include <reprise/nn/shapes.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/nn/upsampling.hpp>
