// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads Python pickles, protocols 2 to 5, into plain values.  References to classes and calls are
// recorded as values; nothing is executed.

#pragma once

#include "core/budget.hpp"
#include "core/bytes.hpp"

#include <hearth/status.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct PickleValue {
    enum class Kind : uint8_t {
        kNone,
        kBool,        ///< in `integer`
        kInteger,     ///< in `integer`
        kBig,         ///< in `text`: little-endian two's complement of more than eight bytes
        kReal,        ///< in `real`
        kText,        ///< in `text`: UTF-8, in place
        kBytes,       ///< in `text`
        kTuple,       ///< in `items`
        kList,        ///< in `items`; also sets
        kDict,        ///< in `items`: key, value, key, value ...
        kGlobal,      ///< in `text`: "module name" of a class or function
        kPersistent,  ///< in `items`: the one value that identifies it
        kCall,        ///< in `items`: a callable, its arguments as a tuple, then items added to it
    };
    Kind kind = Kind::kNone;
    int64_t integer = 0;
    double real = 0;
    std::string_view text;
    std::vector<uint32_t> items;  ///< indices into Pickle::values
};

/// A parsed pickle.  Texts point into the input bytes or into `names`.
struct Pickle {
    std::deque<PickleValue> values;  ///< a deque: a growing vector would need twice the memory
    std::deque<std::string> names;   ///< of globals; addresses are stable
    uint32_t root = 0;
    const PickleValue& operator[](uint32_t id) const { return values[id]; }
};

/// Reads up to and including the end of the pickle.  Values may contain themselves.
/// Errors: kCorruptData; kUnsupported for protocols 0 and 1, and for opcodes that Hearth does not
/// need; kOutOfRange for more than 4 million values, more than one value per two bytes (plus 2^18),
/// and if the budget is exhausted.
Result<Pickle> read_pickle(ByteReader& reader, Budget& budget);

}  // namespace hearth
