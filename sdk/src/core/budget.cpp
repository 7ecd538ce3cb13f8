// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Limits of the work and memory that reading one file may take.

#include "core/budget.hpp"

#include "core/portable.hpp"

#include <hearth/core/convert.hpp>

#include <string>
#include <string_view>

namespace hearth {

namespace {

struct Allowance {
    std::string_view noun;
    double floor;     ///< for a file of any size
    double per_byte;  ///< added for each byte of the file
};

// Indexed by Budget::Of.  A value with its node takes about 1 KB while a graph is built and
// checked, a visit about 1 us, an element about 10 ns: the floors add up to about 50 MB and one
// second.
constexpr std::array<Allowance, Budget::kKinds> kAllowances = {{
    {"turns of loops", 1 << 16, 1},
    {"visits of nodes and names", 1 << 19, 16},
    {"bytes of tensors", 1 << 25, 16},
    {"values", 1 << 15, 1.0 / 16},
    {"elements to compute", 1 << 25, 32},
}};

}  // namespace

Budget::Budget(uint64_t file_bytes, double factor) : file_bytes_(file_bytes), factor_(factor) {
    for (size_t i = 0; i < kKinds; ++i) left_[i] = limit(static_cast<Of>(i));
}

uint64_t Budget::limit(Of of) const {
    const Allowance& a = kAllowances[index(of)];
    return saturate_cast<uint64_t>(factor_ *
                                   (a.floor + a.per_byte * static_cast<double>(file_bytes_)));
}

void Budget::add_file_bytes(uint64_t bytes) {
    std::array<uint64_t, kKinds> before{};
    for (size_t i = 0; i < kKinds; ++i) before[i] = limit(static_cast<Of>(i));
    if (add_overflows(file_bytes_, bytes, &file_bytes_)) file_bytes_ = ~uint64_t{0};
    for (size_t i = 0; i < kKinds; ++i)
        if (add_overflows(left_[i], limit(static_cast<Of>(i)) - before[i], &left_[i]))
            left_[i] = ~uint64_t{0};
}

Status Budget::spend(Of of, uint64_t amount) {
    uint64_t& left = left_[index(of)];
    if (amount > left) {
        left = 0;
        return refusal(of);
    }
    left -= amount;
    return {};
}

Status Budget::refusal(Of of) const {
    return out_of_range("it asks for more than " + std::to_string(limit(of)) + " " +
                        std::string(kAllowances[index(of)].noun) + ", the limit for " +
                        std::to_string(file_bytes_) + " bytes");
}

}  // namespace hearth
