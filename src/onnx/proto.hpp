// ONNX's messages, which the build compiles from the published onnx-ml.proto as reprise::onnx::proto.
#pragma once
#include <reprise-onnx-ml.pb.h>
