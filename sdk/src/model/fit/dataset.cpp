// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/core/philox.hpp>
#include <hearth/dataset.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace hearth {

namespace {

int64_t leading(const HostTensor& tensor) {
    return tensor.shape().rank() == 0 ? 0 : tensor.shape()[0].count;
}

Status check_finite(const HostTensor& tensor, std::string_view what) {
    const int64_t per_sample = tensor.element_count() / leading(tensor);
    const std::span<const float> values = tensor.as<float>();
    for (size_t i = 0; i < values.size(); ++i) {
        if (std::isfinite(values[i])) continue;
        const auto at = static_cast<int64_t>(i);
        return invalid_argument("data set: sample " + std::to_string(at / per_sample) + ", " +
                                std::string(what) + " " + std::to_string(at % per_sample) + ": " +
                                (std::isnan(values[i]) ? "NaN" : "infinity") +
                                ", expected a finite number; remove the sample or replace it");
    }
    return {};
}

Status check_labels(const Dataset& data) {
    const auto count = static_cast<int32_t>(data.classes.size());
    const std::span<const int32_t> labels = data.targets.as<int32_t>();
    for (size_t i = 0; i < labels.size(); ++i)
        if (labels[i] < 0 || (count > 0 && labels[i] >= count))
            return invalid_argument(
                "data set: sample " + std::to_string(i) + " has the label " +
                std::to_string(labels[i]) + ", expected 0 to " +
                (count > 0 ? std::to_string(count - 1) : "the number of classes - 1"));
    return {};
}

HostTensor picked(const HostTensor& from, std::span<const int64_t> indices) {
    Shape shape = from.shape();
    const auto bytes = static_cast<size_t>(
        from.bytes().size() / static_cast<uint64_t>(std::max<int64_t>(leading(from), 1)));
    shape[0] = Dim(static_cast<int64_t>(indices.size()));
    HostTensor out(from.dtype(), shape);
    for (size_t i = 0; i < indices.size(); ++i)
        std::memcpy(out.bytes().data() + i * bytes,
                    from.bytes().data() + static_cast<size_t>(indices[i]) * bytes, bytes);
    return out;
}

}  // namespace

Dataset Dataset::pick(std::span<const int64_t> indices) const {
    return {picked(inputs, indices), picked(targets, indices), classes};
}

Result<Dataset> make_dataset(const HostTensor& inputs, const HostTensor& targets,
                             std::vector<std::string> classes) {
    const int64_t n = leading(inputs);
    if (n == 0 || inputs.element_count() == 0)
        return invalid_argument("data set: no samples: inputs are " + to_string(inputs.shape()) +
                                ", expected [n, ...] with n at least 1");
    if (leading(targets) != n || targets.element_count() == 0)
        return invalid_argument("data set: inputs " + to_string(inputs.shape()) + " have " +
                                std::to_string(n) + " samples, targets " +
                                to_string(targets.shape()) + " have " +
                                std::to_string(leading(targets)));
    Dataset data{inputs.cast(DType::kF32), {}, std::move(classes)};
    HEARTH_TRY(check_finite(data.inputs, "input"));
    if (is_floating(targets.dtype())) {
        data.targets = targets.cast(DType::kF32);
        if (targets.shape().rank() == 1) data.targets = data.targets.reshaped({n, 1});
        HEARTH_TRY(check_finite(data.targets, "target"));
        return data;
    }
    if (targets.shape().rank() != 1)
        return invalid_argument("data set: integer targets are labels, expected [" +
                                std::to_string(n) + "], found " + to_string(targets.shape()) +
                                "; give numbers as floats");
    data.targets = HostTensor(DType::kI32, {n});
    for (int64_t i = 0; i < n; ++i) {
        constexpr int64_t kLow = std::numeric_limits<int32_t>::min(),
                          kHigh = std::numeric_limits<int32_t>::max();
        data.targets.set_int(i, std::clamp(targets.get_int(i), kLow, kHigh));
    }
    HEARTH_TRY(check_labels(data));
    return data;
}

std::vector<int64_t> shuffled_indices(int64_t n, uint64_t seed, uint64_t round) {
    std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(n, 0)));
    std::iota(order.begin(), order.end(), 0);
    const uint64_t key = stream_key("shuffle", seed);
    for (size_t i = order.size(); i > 1; --i) {
        const auto index = static_cast<uint32_t>(i);
        // The high half of a 64-bit product: a bias below 2^-32 * n.
        const uint64_t bits = philox_bits(key, static_cast<uint32_t>(round), index);
        std::swap(order[i - 1], order[static_cast<size_t>(bits * i >> 32)]);
    }
    return order;
}

std::pair<Dataset, Dataset> split(const Dataset& data, double fraction, uint64_t seed) {
    const int64_t n = data.size();
    const double wanted = std::round(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(n));
    const int64_t second =
        std::min(n, std::max<int64_t>(static_cast<int64_t>(wanted), fraction > 0));
    constexpr uint64_t kRound = 0xffffffff;  // no epoch has it
    const std::vector<int64_t> order = shuffled_indices(n, seed, kRound);
    const std::span all(order);
    return {data.pick(all.first(static_cast<size_t>(n - second))),
            data.pick(all.last(static_cast<size_t>(second)))};
}

}  // namespace hearth
