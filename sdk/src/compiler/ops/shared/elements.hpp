// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A host tensor's elements in the types that CPU rules compute with: double or int64_t.

#pragma once

#include <hearth/host_tensor.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace hearth {

template <class V>
std::vector<V> elements_of(const HostTensor& t) {
    static_assert(std::is_same_v<V, double> || std::is_same_v<V, int64_t>);
    std::vector<V> all(static_cast<size_t>(t.element_count()));
    if (t.dtype() == DType::kF32) {
        std::ranges::transform(t.as<float>(), all.begin(), [](float v) { return V(v); });
    } else {
        for (size_t i = 0; i < all.size(); ++i) {
            if constexpr (std::is_same_v<V, double>)
                all[i] = t.get(static_cast<int64_t>(i));
            else
                all[i] = t.get_int(static_cast<int64_t>(i));
        }
    }
    return all;
}

/// Rounds `value` to t's element type and stores it.
inline void store(HostTensor& t, int64_t i, double value) {
    t.set(i, value);
}
inline void store(HostTensor& t, int64_t i, int64_t value) {
    t.set_int(i, value);
}

}  // namespace hearth
