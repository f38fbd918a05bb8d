// Data sets in host memory, and loaders of batches.
#pragma once
#include <reprise/data/dataset.hpp>
#include <reprise/data/datasets.hpp>
#include <reprise/data/example.hpp>
#include <reprise/data/loader.hpp>
#include <reprise/data/samplers.hpp>
#include <reprise/data/subset.hpp>
#include <reprise/data/transforms.hpp>
