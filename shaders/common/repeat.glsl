// Repetition by macros: the loop unroller of spirv-opt drops NoContraction from its copies.
#ifndef COMMON_REPEAT
#define COMMON_REPEAT
#define EACH_2(F) F(0) F(1)
#define EACH_4(F) EACH_2(F) F(2) F(3)
#define EACH_8(F) EACH_4(F) F(4) F(5) F(6) F(7)
#define EACH_16(F) EACH_8(F) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#endif
