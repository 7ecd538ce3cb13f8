// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Every allocation of a reader fails once.  Each time there must be a message, and nothing may be
// left behind (the leak checker sees to that).

#include "compiler/driver/graph_file.hpp"
#include "compiler/ir/graph.hpp"
#include "support/files.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/eval.hpp>
#include <hearth/io.hpp>
#include <hearth/ops.hpp>
#include <hearth/weights.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>

namespace {

thread_local long allocations_left = -1;  // negative: without end

}  // namespace

// GCC looks into both and misses that they belong together.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(size_t size) {
    if (allocations_left == 0) throw std::bad_alloc();
    if (allocations_left > 0) --allocations_left;
    if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace hearth {
namespace {

/// Runs `work` with ever more allocations until it has enough.
void fail_each_allocation(const std::function<Status()>& work) {
    ASSERT_TRUE(work().ok()) << work().message();
    constexpr long kMost = 100000;
    long allowed = 0;
    for (;; allowed += 1 + allowed / 64) {
        ASSERT_LT(allowed, kMost);
        allocations_left = allowed;
        const Status status = work();
        allocations_left = -1;
        if (status.ok()) break;
        ASSERT_EQ(status.code(), StatusCode::kOutOfRange) << status.message();
        ASSERT_NE(status.message().find("out of memory"), std::string::npos) << status.message();
    }
    EXPECT_GT(allowed, 10);
}

std::vector<std::byte> seed(const std::string& name) {
    return testing::file_bytes(std::filesystem::path(HEARTH_CORPUS) / name);
}

TEST(OutOfMemory, ImportingSaysSo) {
    for (const char* name : {"onnx/policy.onnx", "onnx/loops.onnx", "onnx/branches.onnx"}) {
        const std::vector<std::byte> bytes = seed(name);
        ASSERT_FALSE(bytes.empty());
        fail_each_allocation([&] { return import_onnx(bytes).status(); });
    }
}

TEST(OutOfMemory, ReadingWeightsSaysSo) {
    for (const char* name : {"torch/checkpoint.pt", "torch/legacy.pt"}) {
        const std::vector<std::byte> bytes = seed(name);
        ASSERT_FALSE(bytes.empty());
        fail_each_allocation([&] { return read_torch(bytes).status(); });
    }
    const std::vector<std::byte> bytes = seed("safetensors/types.safetensors");
    fail_each_allocation([&] { return read_safetensors(bytes).status(); });
}

TEST(OutOfMemory, ReadingAGraphSaysSo) {
    const auto model = import_onnx(seed("onnx/policy.onnx"));
    ASSERT_TRUE(model.ok());
    std::vector<std::byte> data;
    const std::vector<std::byte> bytes =
        save_graphs(std::span(&model->graph(), 1), [&](std::span<const std::byte> contents) {
            const uint64_t at = data.size();
            data.insert(data.end(), contents.begin(), contents.end());
            return at;
        });
    fail_each_allocation([&] { return load_graphs(bytes, data).status(); });
}

TEST(OutOfMemory, EvaluatingSaysSo) {
    Trace trace("eval");
    const Tensor y = softmax(trace.constant(HostTensor(DType::kF32, {3, 5})), 1);
    fail_each_allocation([&] { return eval(y).status(); });
}

TEST(OutOfMemory, WhatNoMemoryCouldHoldIsRefused) {
    // 2^40 elements, all of which a constant operand asks to be computed.
    testing::OnnxBuilder b;
    b.output("y").initializer(testing::int_tensor("n", {}, {int64_t{1} << 40}));
    b.node("HannWindow", {"n"}, {"y"});
    EXPECT_FALSE(import_onnx(b.bytes()).ok());
}

}  // namespace
}  // namespace hearth
