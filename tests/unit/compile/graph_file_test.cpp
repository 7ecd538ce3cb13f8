// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/driver/graph_file.hpp"

#include "compiler/ops/op_table.hpp"
#include "ops/op_cases.hpp"
#include "program/package.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <random>

namespace hearth::test {
namespace {

struct Saved {
    std::vector<std::byte> bytes, weights;
};

Saved save(const std::vector<Graph>& graphs) {
    Saved saved;
    DataPool pool;
    saved.bytes =
        save_graphs(graphs, [&](std::span<const std::byte> data) { return pool.add(data); });
    saved.weights.resize(pool.size());
    pool.copy_to(saved.weights);
    return saved;
}

std::string text_of(const std::vector<Graph>& graphs) {
    std::string text;
    for (const Graph& graph : graphs) text += print(graph);
    return text;
}

void expect_comes_back(const std::vector<Graph>& graphs) {
    const Saved saved = save(graphs);
    const auto loaded = load_graphs(saved.bytes, saved.weights);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    ASSERT_EQ(text_of(*loaded), text_of(graphs));
    for (size_t g = 0; g < graphs.size(); ++g) {
        EXPECT_EQ(content_hash((*loaded)[g]), content_hash(graphs[g]));
        for (ValueId v = 0; v < graphs[g].values.size(); ++v) {
            const Value &a = graphs[g].values[v], &b = (*loaded)[g].values[v];
            ASSERT_EQ(a.data == nullptr, b.data == nullptr);
            if (a.data != nullptr) {
                EXPECT_EQ(*a.data, *b.data);
            }
        }
    }
    EXPECT_EQ(save(*loaded).bytes, saved.bytes);
}

std::vector<Graph> learner() {
    Trace act("act"), learn("learn");
    const auto net = [](Trace& t, const Tensor& x) {
        return nn::mlp(t, "net", x, {4, 8, 2}, relu, {.seed = 3});
    };
    act.output("y", net(act, act.input("x", {kBatch, 4})));
    const Tensor loss =
        mse_loss(net(learn, learn.input("x", {kBatch, 4})), learn.input("t", {kBatch, 2}));
    minimize(loss, learn.params(), AdamOptions{});
    learn.output("loss", loss);
    return {act.build().value(), learn.build().value()};
}

TEST(GraphFile, EachSampleOfEachOperatorComesBack) {
    size_t count = 0;
    for (const OpDef* op : all_ops()) {
        if (find_op(op->name) != op) continue;  // a test's own
        for (const OpCase& c : cases_of(*op)) {
            const Result<Graph> graph = make_graph(c);
            ASSERT_TRUE(graph.ok()) << describe(c) << graph.status().message();
            SCOPED_TRACE(describe(c));
            expect_comes_back({*graph});
            ++count;
        }
    }
    EXPECT_GT(count, 300u);
}

TEST(GraphFile, TrainingWithItsWeightsComesBack) {
    expect_comes_back(learner());
    expect_comes_back({});
}

TEST(GraphFile, EqualContentsAreStoredOnce) {
    const Saved both = save(learner());
    const Saved one = save({learner()[0]});
    // The moments start as zeros, so learning has nothing more to store but a few scalars.
    EXPECT_LT(both.weights.size(), one.weights.size() + 1024);
}

TEST(GraphFile, EachTruncationIsRejectedWithAMessage) {
    const Saved saved = save(learner());
    for (size_t size = 0; size < saved.bytes.size(); ++size) {
        const std::vector<std::byte> cut(saved.bytes.begin(),
                                         saved.bytes.begin() + static_cast<ptrdiff_t>(size));
        const auto loaded = load_graphs(cut, saved.weights);
        ASSERT_FALSE(loaded.ok()) << size;
        EXPECT_FALSE(loaded.status().message().empty());
    }
    for (size_t size = 0; size < saved.weights.size(); size += 5)
        EXPECT_FALSE(load_graphs(saved.bytes, std::span(saved.weights).first(size)).ok()) << size;
}

TEST(GraphFile, DamageIsRejectedOrGivesAGraphThatVerifies) {
    const Saved saved = save(learner());
    std::mt19937_64 random(11);
    int accepted = 0;
    for (int round = 0; round < 5000; ++round) {
        std::vector<std::byte> bytes = saved.bytes;
        for (uint64_t n = random() % 4; n < 4; ++n)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        const auto loaded = load_graphs(bytes, saved.weights);
        if (!loaded.ok()) continue;
        ++accepted;
        for (const Graph& graph : *loaded) EXPECT_TRUE(verify(graph).ok());
    }
    EXPECT_GT(accepted, 0);  // names may change freely
}

TEST(GraphFile, NamesAnOperatorThatThereIsNot) {
    Saved saved = save(learner());
    const std::string_view text(reinterpret_cast<const char*>(saved.bytes.data()),
                                saved.bytes.size());
    const size_t at = text.find("matmul");
    ASSERT_NE(at, std::string_view::npos);
    saved.bytes[at] = std::byte{'M'};
    const auto loaded = load_graphs(saved.bytes, saved.weights);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(loaded.status().message().find("'Matmul'"), std::string::npos)
        << loaded.status().message();
}

}  // namespace
}  // namespace hearth::test
