// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads Python pickles, protocols 2 to 5, into plain values.  Where a pickle asks for a class to be
// found or called, that wish is written down as a value; nothing is executed.

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
        kBool,        ///< integer
        kInteger,     ///< integer
        kBig,         ///< text: little-endian two's complement of more than eight bytes
        kReal,        ///< real
        kText,        ///< text: UTF-8, in place
        kBytes,       ///< text
        kTuple,       ///< items
        kList,        ///< items; sets too
        kDict,        ///< items: key, value, key, value ...
        kGlobal,      ///< text: "module name" of a class or function
        kPersistent,  ///< items: the one value that names it
        kCall,        ///< items: a callable, its arguments as a tuple, then what was put into it
    };
    Kind kind = Kind::kNone;
    int64_t integer = 0;
    double real = 0;
    std::string_view text;
    std::vector<uint32_t> items;  ///< positions in Pickle::values
};

/// One pickle.  Texts point into the bytes that were read, or into `names`.
struct Pickle {
    std::deque<PickleValue> values;  ///< as a vector's, their memory would double while it grows
    std::deque<std::string> names;   ///< of globals; never moved
    uint32_t root = 0;
    const PickleValue& operator[](uint32_t id) const { return values[id]; }
};

/// Reads up to and including the pickle's end.  Values may contain themselves.
/// Errors: kCorruptData; kUnsupported for protocols 0 and 1, and opcodes that build what Hearth has
/// no use for; kOutOfRange for more than 4 million values, more than one for every second byte (and
/// 2^18), and where the budget ends.
Result<Pickle> read_pickle(ByteReader& reader, Budget& budget);

}  // namespace hearth
