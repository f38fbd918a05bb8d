// A tile of a matrix product on GPUs.  A group computes ROWS x COLUMNS elements, each lane PER_LANE x PER_LANE of them,
// as chains of fma over k.  A round takes STEPS steps of k from one half of the shared memory, while the lanes load the
// elements of the next round; a barrier ends it.
//
// The including file defines the four constants.  A lane's rows and columns are (lane_row() + i * LANES_DOWN) * 4 + e
// and (lane_column() + j * LANES_ACROSS) * 4 + e.
const uint VECTORS = PER_LANE / 4u, LANES_DOWN = ROWS / PER_LANE, LANES_ACROSS = COLUMNS / PER_LANE;

// [2 halves][k][4 rows or columns]; the padding of one avoids bank conflicts between lanes that write along k.
const uint PITCH_A = ROWS / 4u + 1u, PITCH_B = COLUMNS / 4u + 1u;
#ifndef PARTS_OF_A // of STEPS steps each
#define PARTS_OF_A 2u
#endif
shared vec4 tile_a[PARTS_OF_A * STEPS * PITCH_A], tile_b[2u * STEPS * PITCH_B];

vec4 sum[PER_LANE][VECTORS];

uint lane_row() { return gl_LocalInvocationIndex / LANES_ACROSS; }
uint lane_column() { return gl_LocalInvocationIndex % LANES_ACROSS; }

void clear_sums()
{
    [[unroll]] for (uint i = 0u; i < PER_LANE; ++i)
        [[unroll]] for (uint j = 0u; j < VECTORS; ++j) sum[i][j] = vec4(0.0);
}

// Adds the products of a round from a part of tile_a and a half of tile_b.  Compilers load the operands of all unrolled
// steps at once: kernels that are short of registers define UNROLLED_STEPS.
#ifdef UNROLLED_STEPS
#define EACH_FIRST_STEP [[dont_unroll]] for (uint first_step = 0u; first_step < STEPS; first_step += UNROLLED_STEPS)
#else
#define UNROLLED_STEPS STEPS
const uint first_step = 0u;
#define EACH_FIRST_STEP
#endif
#define ADD_PRODUCTS(sum, part_a, half_b)                                                                       \
    EACH_FIRST_STEP {                                                                                           \
        const uint from_a = ((part_a) * STEPS + first_step) * PITCH_A + lane_row();                                  \
        const uint from_b = ((half_b) * STEPS + first_step) * PITCH_B + lane_column();                               \
        [[unroll]] for (uint step = 0u; step < UNROLLED_STEPS; ++step) {                                        \
            vec4 a[VECTORS], b[VECTORS];                                                                        \
            [[unroll]] for (uint i = 0u; i < VECTORS; ++i) {                                                    \
                a[i] = tile_a[from_a + step * PITCH_A + i * LANES_DOWN];                                        \
                b[i] = tile_b[from_b + step * PITCH_B + i * LANES_ACROSS];                                      \
            }                                                                                                   \
            [[unroll]] for (uint i = 0u; i < PER_LANE; ++i)                                                     \
                [[unroll]] for (uint j = 0u; j < VECTORS; ++j)                                                  \
                    sum[i][j] = fma(vec4(a[i / 4u][i % 4u]), b[j], sum[i][j]);                                  \
        }                                                                                                       \
    }
void add_products(uint half_index) { ADD_PRODUCTS(sum, half_index, half_index) }

// fma(-0, +0, s) is s, also if s is -0: steps beyond the last k have these elements in A and B.
#define PADDING_OF_A uintBitsToFloat(0x80000000u)
#define PADDING_OF_B 0.0
