// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures GPU time with timestamp queries.

#include "stopwatch.hpp"

namespace hearth::perf {

using standalone::check_vulkan;

Stopwatch::~Stopwatch() {
    if (queries_) vk_.DestroyQueryPool(device_.handle(), queries_, nullptr);
}

Status Stopwatch::create(uint32_t count) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = count_ = count;
    return check_vulkan(vk_.CreateQueryPool(device_.handle(), &info, nullptr, &queries_),
                        "vkCreateQueryPool");
}

void Stopwatch::reset(VkCommandBuffer commands) {
    vk_.CmdResetQueryPool(commands, queries_, 0, count_);
    stamped_ = 0;
}

void Stopwatch::stamp(VkCommandBuffer commands) {
    if (stamped_ == count_) return;
    vk_.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, stamped_++);
}

Result<std::vector<double>> Stopwatch::intervals_us() const {
    std::vector<uint64_t> stamps(stamped_);
    if (stamped_ < 2) return std::vector<double>();
    HEARTH_TRY(check_vulkan(
        vk_.GetQueryPoolResults(device_.handle(), queries_, 0, stamped_,
                                stamps.size() * sizeof(uint64_t), stamps.data(), sizeof(uint64_t),
                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "vkGetQueryPoolResults"));
    const uint32_t bits = device_.timestamp_valid_bits();
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const double period_us =
        static_cast<double>(device_.properties().limits.timestampPeriod) * 1e-3;
    std::vector<double> intervals;
    for (size_t i = 1; i < stamps.size(); ++i)
        intervals.push_back(static_cast<double>((stamps[i] - stamps[i - 1]) & mask) * period_us);
    return intervals;
}

}  // namespace hearth::perf
