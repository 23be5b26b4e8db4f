// What -fsanitize=undefined calls: every finding ends the launch, with file and line. Replaces libubsan, whose reports
// would go to the terminal; each handler's data begins with the place in the source.
#include "interface.hpp"

namespace {

struct SourcePlace {
    const char* file;
    unsigned line, column;
};

}  // namespace

#define HANDLER(name, text)                                                   \
    void __ubsan_handle_##name(const SourcePlace* place) {                    \
        simt_fail(place->file, static_cast<int>(place->line), "undefined behaviour: %s", text); \
    }

extern "C" {
HANDLER(add_overflow, "signed overflow in an addition")
HANDLER(sub_overflow, "signed overflow in a subtraction")
HANDLER(mul_overflow, "signed overflow in a multiplication")
HANDLER(negate_overflow, "signed overflow in a negation")
HANDLER(divrem_overflow, "division by zero, or overflow in a division")
HANDLER(shift_out_of_bounds, "shift by as many bits as the type has, or more")
HANDLER(out_of_bounds, "index out of the bounds of an array")
HANDLER(type_mismatch_v1, "null or misaligned pointer, or object too small for the access")
HANDLER(pointer_overflow, "pointer arithmetic overflows")
HANDLER(load_invalid_value, "value that its bool or enum cannot have")
HANDLER(float_cast_overflow, "float out of the range of an integer")
HANDLER(vla_bound_not_positive, "variable-length array without elements")
HANDLER(builtin_unreachable, "unreachable code was reached")
HANDLER(missing_return, "function ends without returning a value")
HANDLER(nonnull_arg, "null argument that must not be null")
HANDLER(nonnull_return_v1, "null returned where it must not be")
HANDLER(invalid_builtin, "builtin called with an argument that it does not take")
}
