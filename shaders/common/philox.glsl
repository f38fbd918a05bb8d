// The GLSL reader of ops/philox.inc.  Needs vocabulary.glsl.
#include "ops/philox.inc"
