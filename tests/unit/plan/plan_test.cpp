// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/plan/plan.hpp"

#include "unit/plan/synthetic.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>

namespace hearth {
namespace {

using synthetic::Contents;
using synthetic::EntryBuilder;
using synthetic::Model;
using synthetic::Order;

const Shape kTile{Dim(64)};  // 256 bytes, the alignment
constexpr uint64_t kTileBytes = 256;

size_t count(const Program& program, CommandKind kind) {
    size_t n = 0;
    for (const Command& step : program.commands) n += step.kind == kind;
    return n;
}

/// Labels of one entry's steps, barriers as "|".
std::string order_of(const Program& program, size_t e = 0) {
    std::string text;
    for (const Command& step : program.commands_of(program.entries[e]))
        text += (text.empty() ? "" : " ") +
                (step.kind == CommandKind::kBarrier ? std::string("|") : "(" + step.label + ")");
    return text;
}

/// The plan, after checking that it computes what the graphs do.
Program planned(const Model& model) {
    const Result<Program> program = model.plan();
    if (!program.ok()) throw std::runtime_error(program.status().message());
    for (Order order : {Order::kAsPlanned, Order::kReversed}) {
        const uint64_t rows = model.options.max_batch_size;
        Contents expected = synthetic::first_contents(*program, rows, 3), found = expected;
        for (size_t e = 0; e < program->entries.size(); ++e) {
            synthetic::evaluate(model, *program, e, rows, expected);
            synthetic::run(*program, e, rows, order, found);
            EXPECT_EQ(found, expected) << dump(*program);
        }
    }
    return *program;
}

Program planned(const EntryBuilder& entry, uint64_t rows_capacity = 1) {
    return planned(Model({entry}, rows_capacity));
}

/// The message of the failure to plan.
std::string failure(const Model& model, StatusCode code = StatusCode::kInvalidArgument) {
    const Result<Program> program = model.plan();
    EXPECT_FALSE(program.ok());
    if (program.ok()) return "";
    EXPECT_EQ(program.status().code(), code) << program.status().message();
    return program.status().message();
}

std::string failure(const EntryBuilder& entry) {
    return failure(Model({entry}));
}

// ---------------------------------------------------------------------------- order and barriers

TEST(Plan, PutsIndependentCallsBetweenTheSameBarriers) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile);
    const ValueId left = b.call({{x}}, {kTile})[0], right = b.call({{x}}, {kTile})[0];
    b.output("y", b.call({{left}, {right}}, {kTile})[0]);
    EXPECT_EQ(order_of(planned(b)), "(call 0) (call 1) | (call 2)");
}

TEST(Plan, NeedsNoBarrierWhereNothingDepends) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile);
    for (const char* name : {"a", "b", "c"}) b.output(name, b.call({{x}}, {kTile})[0]);
    EXPECT_EQ(count(planned(b), CommandKind::kBarrier), 0u);
}

TEST(Plan, HasAsManyBarriersAsTheLongestChainNeeds) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile);
    std::vector<synthetic::Read> ends;
    for (int length = 1; length <= 6; ++length) {
        ValueId at = x;
        for (int i = 0; i < length; ++i) at = b.call({{at}}, {kTile})[0];
        ends.push_back({at});
    }
    b.output("y", b.call(ends, {kTile})[0]);
    EXPECT_EQ(count(planned(b), CommandKind::kBarrier), 6u);
}

TEST(Plan, DelaysACallWhoseResultIsLargerThanWhatItFrees) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile);
    const ValueId large = b.call({{x}}, {Shape{Dim(64), Dim(100)}})[0];
    ValueId small = x;
    for (int i = 0; i < 3; ++i) small = b.call({{small}}, {kTile})[0];
    b.output("y", b.call({{large}, {small}}, {kTile})[0]);
    EXPECT_EQ(order_of(planned(b)), "(call 1) | (call 2) | (call 0) (call 3) | (call 4)");
}

TEST(Plan, OrdersWritersOfOneValueAsTheyWereLowered) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile);
    const ValueId sum = b.call({{x}}, {kTile})[0];
    b.accumulate(sum, {{x}});
    const ValueId early = b.call({{sum}}, {kTile})[0];
    b.accumulate(sum, {{x}});
    b.output("early", early);
    b.output("late", sum);
    EXPECT_EQ(order_of(planned(b)), "(call 0) | (call 1) | (call 2) | (call 3)");
}

TEST(Plan, HandlesValuesWithoutElements) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile), empty = b.input("empty", Shape{Dim(0)});
    const ValueId h = b.call({{x}, {empty}}, {kTile, Shape{Dim(0)}, Shape{kBatch, Dim(0)}})[0];
    const std::vector<ValueId> made = b.call({{h}, {h + 1, true}}, {kTile, Shape{Dim(0)}});
    b.output("y", made[0]);
    b.output("none", made[1]);
    const Program program = planned(b, 3);
    EXPECT_EQ(program.arena_bytes, kTileBytes);
    EXPECT_EQ(count(program, CommandKind::kBarrier), 1u);
}

TEST(Plan, OfAnEntryWithoutCallsHasNoSteps) {
    EntryBuilder b("idle");
    b.param("w", kTile);
    EXPECT_TRUE(planned(b).commands.empty());
}

TEST(Plan, ChangesAStateInPlaceAfterAllThatReadsIt) {
    EntryBuilder b("store");
    const ValueId x = b.input("x", kTile), ring = b.state("ring", Shape{Dim(64), Dim(100)});
    b.replace(ring, {{x}});
    b.output("old", b.call({{ring}}, {kTile})[0]);
    const Program program = planned(b);
    EXPECT_EQ(order_of(program), "(call 1) | (call 0)");
    EXPECT_EQ(program.arena_bytes, 0u);
}

TEST(Plan, OfAnUpdateInPlaceNeedsNoBarrierAndNoCopy) {
    EntryBuilder b("store");
    const ValueId x = b.input("x", kTile);
    for (const char* name : {"a", "b"}) b.replace(b.state(name, Shape{Dim(64), Dim(100)}), {{x}});
    EXPECT_EQ(order_of(planned(b)), "(call 0) (call 1)");
}

// The optimizer's own kernel may not write its slot straight away then: it would run with the
// ring's.
TEST(Plan, ComputesOtherUpdatesFromOldContentsBeforeTheyAreReplaced) {
    EntryBuilder b("learn");
    const ValueId x = b.input("x", kTile), ring = b.state("ring", Shape{Dim(64), Dim(100)});
    const ValueId mean = b.state("mean", kTile);
    b.replace(ring, {{x}});
    b.update(mean, b.call({{ring}}, {kTile})[0]);
    const Program program = planned(b);
    EXPECT_EQ(order_of(program), "(call 1) | (call 0) (update mean)");
    EXPECT_EQ(program.arena_bytes, kTileBytes);
}

TEST(Plan, KeepsACopyOnlyWhereAStateIsMovedToAnotherWhileItIsReplaced) {
    EntryBuilder b("publish");
    const ValueId x = b.input("x", kTile), back = b.state("back", kTile);
    b.replace(back, {{x}});
    b.update(b.state("front", kTile), back);
    EXPECT_EQ(order_of(planned(b)), "(keep old back) | (call 0) (update front)");
}

TEST(ProofOfAPlan, FailsWhereOldContentsAreReadAfterTheyWereReplaced) {
    EntryBuilder b("store");
    const ValueId x = b.input("x", kTile), ring = b.state("ring", kTile);
    b.replace(ring, {{x}});
    b.output("old", b.call({{ring}}, {kTile})[0]);
    const Model model({b});
    Program program = *model.plan();
    ASSERT_EQ(order_of(program), "(call 1) | (call 0)");
    std::swap(program.commands[0], program.commands[2]);
    EXPECT_FALSE(model.verify(program).ok());
}

TEST(ProofOfAPlan, FailsWhereAStateIsChangedThatIsNotUpdated) {
    EntryBuilder b("store");
    const ValueId x = b.input("x", kTile), ring = b.state("ring", kTile);
    b.replace(ring, {{x}});
    Model model({b});
    const Program program = *model.plan();
    model.graphs[0].updates.clear();
    EXPECT_FALSE(model.verify(program).ok());
}

// ---------------------------------------------------------------------------------------- memory

TEST(Plan, OfAChainTakesTwoBuffers) {
    EntryBuilder b("act");
    ValueId at = b.input("x", kTile);
    for (int i = 0; i < 20; ++i) at = b.call({{at}}, {kTile})[0];
    b.output("y", at);
    EXPECT_EQ(planned(b).arena_bytes, 2 * kTileBytes);
}

TEST(Plan, OfAChainOfElementwiseCallsTakesOneBuffer) {
    EntryBuilder b("act");
    ValueId at = b.input("x", kTile);
    for (int i = 0; i < 20; ++i) at = b.call({{at, true}}, {kTile})[0];
    b.output("y", at);
    EXPECT_EQ(planned(b).arena_bytes, kTileBytes);
}

TEST(Plan, DoesNotOverwriteWhatAnotherCallOfTheIntervalReads) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile);
    const ValueId h = b.call({{x}}, {kTile})[0];
    const ValueId in_place = b.call({{h, true}}, {kTile})[0], other = b.call({{h}}, {kTile})[0];
    b.output("y", b.call({{in_place}, {other}}, {kTile})[0]);
    EXPECT_EQ(planned(b).arena_bytes, 3 * kTileBytes);
}

TEST(Plan, DoesNotOverwriteWhatTheCallReadsInTwoWays) {
    EntryBuilder b("act");
    const ValueId h = b.call({{b.input("x", kTile)}}, {kTile})[0];
    const ValueId g = b.call({{h, true}, {h, false}}, {kTile})[0];
    b.output("y", b.call({{g}}, {kTile})[0]);
    EXPECT_EQ(planned(b).arena_bytes, 2 * kTileBytes);
}

TEST(Plan, DoesNotOverwriteAnInputOrAParam) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile), w = b.param("w", kTile, DType::kF32, true);
    const ValueId h = b.call({{x, true}, {w, true}}, {kTile})[0];
    b.output("y", b.call({{h, true}}, {kTile})[0]);
    EXPECT_EQ(planned(b).arena_bytes, kTileBytes);
}

TEST(Plan, LetsOnlyTheMarkedResultTakeOverWhereACallMarksResults) {
    EntryBuilder b("act");
    const ValueId h = b.call({{b.input("x", kTile)}}, {kTile})[0];
    const ValueId transposed = b.value(kTile), same = b.value(kTile);
    b.add_call({{h, Access::kRead, true},
                {transposed, Access::kWrite, false},
                {same, Access::kWrite, true}});
    b.output("y", b.call({{transposed}, {same}}, {kTile})[0]);
    const Program program = planned(b);
    const auto operands = program.operands_of(program.commands[2]);
    EXPECT_EQ(operands[0].offset, operands[2].offset);
    EXPECT_NE(operands[0].offset, operands[1].offset);
}

TEST(Plan, SharesTheBytesOfAReshape) {
    EntryBuilder b("act");
    const ValueId h = b.call({{b.input("x", kTile)}}, {kTile})[0];
    const ValueId r = b.reshape(b.reshape(h, Shape{Dim(8), Dim(8)}), Shape{Dim(4), Dim(16)});
    b.output("y", b.call({{r}}, {kTile})[0]);
    const Program program = planned(b);
    EXPECT_EQ(program.arena_bytes, kTileBytes);
    EXPECT_EQ(program.commands[2].operand_values[0], r);
}

TEST(Plan, SizesWhatGrowsWithTheRowsForTheCapacity) {
    EntryBuilder b("act");
    const ValueId h = b.call({{b.input("x", Shape{kBatch, Dim(3)})}}, {Shape{kBatch, Dim(5)}})[0];
    b.output("y", b.call({{h}}, {Shape{kBatch}})[0]);
    const Program program = planned(b, 1000);
    EXPECT_EQ(program.arena_bytes, 20224u);  // 5 * 4 * 1000, up to a multiple of 256
    EXPECT_EQ(program.operands[0].bytes, (Extent{0, 12}));
    EXPECT_EQ(program.operands[1].bytes, (Extent{0, 20}));
    EXPECT_EQ(program.bindings[1].bytes, (Extent{0, 4}));
}

TEST(Plan, GivesEachEntryItsOwnPartOfTheArena) {
    std::vector<EntryBuilder> entries;
    for (const char* name : {"act", "learn"}) {
        EntryBuilder& b = entries.emplace_back(name);
        const ValueId h = b.call({{b.input("x", kTile)}}, {kTile})[0];
        b.output("y", b.call({{h}}, {kTile})[0]);
    }
    Model model(entries);
    const Program apart = planned(model);
    EXPECT_EQ(apart.arena_bytes, 2 * kTileBytes);
    EXPECT_EQ(apart.entries[1].arena_offset, kTileBytes);
    model.options.share_arena = true;
    const Program shared = planned(model);
    EXPECT_EQ(shared.arena_bytes, kTileBytes);
    EXPECT_EQ(shared.entries[1].arena_offset, 0u);
}

// --------------------------------------------------------------------------------------- outputs

TEST(Plan, WritesOutputsStraightIntoTheBoundBuffer) {
    EntryBuilder b("act");
    b.output("y", b.call({{b.input("x", kTile)}}, {kTile})[0]);
    const Program program = planned(b);
    EXPECT_EQ(program.arena_bytes, 0u);
    EXPECT_EQ(program.operands[1].region, Region::kExternal);
    EXPECT_EQ(program.bindings[program.operands[1].binding].name, "y");
}

TEST(Plan, ReadsAnOutputBackFromTheBoundBuffer) {
    EntryBuilder b("act");
    const ValueId h = b.call({{b.input("x", kTile)}}, {kTile})[0];
    b.output("h", h);
    b.output("y", b.call({{h, true}}, {kTile})[0]);
    const Program program = planned(b);
    EXPECT_EQ(program.arena_bytes, 0u);
    EXPECT_EQ(count(program, CommandKind::kCopy), 0u);
}

TEST(Plan, CopiesOutputsThatNoCallComputes) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile), w = b.param("w", kTile, DType::kF32, true);
    const double contents[] = {1, 2, 3};
    const ValueId c = b.constant("", HostTensor::of(Shape{Dim(3)}, contents));
    b.output("input", b.reshape(x, Shape{Dim(8), Dim(8)}));
    b.output("param", w);
    b.output("constant", c);
    const Program program = planned(b);
    EXPECT_EQ(order_of(program),
              "(copy to output input) (copy to output param) (copy to output constant)");
    EXPECT_EQ(program.commands[0].bytes_moved, 2 * kTileBytes);
}

TEST(Plan, CopiesTheSecondOutputOfAValue) {
    EntryBuilder b("act");
    const ValueId h = b.call({{b.input("x", kTile)}}, {kTile})[0];
    b.output("y", h);
    b.output("z", b.reshape(h, Shape{Dim(8), Dim(8)}));
    EXPECT_EQ(order_of(planned(b)), "(call 0) | (copy to output z)");
}

// --------------------------------------------------------------------------------------- updates

TEST(Plan, UpdatesInPlaceWhatACallReadsElementByElement) {
    EntryBuilder b("learn");
    const ValueId w = b.param("w", kTile), g = b.input("g", kTile);
    b.update(w, b.call({{w, true}, {g, true}}, {kTile})[0]);
    const Program program = planned(b);
    EXPECT_EQ(program.arena_bytes, 0u);
    EXPECT_EQ(program.operands[2].region, Region::kWeights);
    EXPECT_EQ(order_of(program), "(call 0)");
}

TEST(Plan, UpdatesAfterAllOtherReadersOfTheOldContents) {
    EntryBuilder b("learn");
    const ValueId w = b.param("w", kTile), g = b.input("g", kTile);
    b.update(w, b.call({{w, true}, {g, true}}, {kTile})[0]);
    b.output("y", b.call({{w}}, {kTile})[0]);
    EXPECT_EQ(order_of(planned(b)), "(call 1) | (call 0)");
}

TEST(Plan, KeepsACopyForACallThatReadsAllOfWhatItReplaces) {
    EntryBuilder b("learn");
    const ValueId w = b.param("w", kTile);
    b.update(w, b.call({{w, false}}, {kTile})[0]);
    EXPECT_EQ(order_of(planned(b)), "(keep old w) | (call 0)");
}

TEST(Plan, KeepsAStepCounterSoThatItsUpdateCostsNoBarrier) {
    EntryBuilder b("learn");
    const ValueId step = b.state("step", Shape{}), w = b.param("w", kTile), v = b.param("v", kTile);
    const ValueId g = b.call({{b.input("x", kTile)}, {w}, {v}}, {kTile})[0];
    b.update(step, b.call({{step, true}}, {Shape{}})[0]);
    b.update(w, b.call({{w, true}, {g, true}, {step}}, {kTile})[0]);
    b.update(v, b.call({{v, true}, {g, true}, {step}}, {kTile})[0]);
    EXPECT_EQ(order_of(planned(b)), "(keep old step) (call 0) | (call 1) (call 2) (call 3)");
}

TEST(Plan, CopiesAnUpdateThatLaterCallsRead) {
    EntryBuilder b("learn");
    const ValueId step = b.state("step", Shape{}), w = b.param("w", kTile);
    const ValueId next = b.call({{step, true}}, {Shape{}})[0];
    b.update(step, next);
    b.update(w, b.call({{w, true}, {next}}, {kTile})[0]);
    EXPECT_EQ(order_of(planned(b)), "(call 0) | (call 1) (update step)");
}

TEST(Plan, CopiesAnUpdateThatIsAnOutputToo) {
    EntryBuilder b("learn");
    const ValueId w = b.param("w", kTile), u = b.param("u", kTile);
    const std::vector<ValueId> made = b.call({{w, true}, {u, true}}, {kTile, kTile});
    b.update(w, made[0]);
    b.update(u, made[1]);
    b.output("w", made[0]);
    EXPECT_EQ(order_of(planned(b)), "(call 0) | (update w) (update u)");
}

TEST(Plan, SwapsTwoParams) {
    EntryBuilder b("swap");
    const ValueId p = b.param("p", kTile, DType::kF32, true), q = b.param("q", kTile);
    b.update(p, q);
    b.update(q, p);
    EXPECT_EQ(order_of(planned(b)), "(keep old q) (keep old p) | (update p) (update q)");
}

TEST(Plan, MovesCurrentWeightsAsideWhileTheyAreReplaced) {
    EntryBuilder b("learn");
    const ValueId now = b.param("now", kTile, DType::kF32, true), old = b.param("old", kTile);
    b.update(old, now);
    b.update(now, b.call({{now, true}, {b.input("g", kTile), true}}, {kTile})[0]);
    EXPECT_EQ(order_of(planned(b)), "(keep old now) | (call 0) (update old)");
}

TEST(Plan, LeavesAParamAloneThatIsUpdatedWithItself) {
    EntryBuilder b("learn");
    const ValueId w = b.param("w", kTile);
    b.update(w, b.reshape(w, kTile));
    EXPECT_TRUE(planned(b).commands.empty());
}

TEST(Plan, WaitsRatherThanKeepingLargeContentsForAnOutput) {
    for (const int64_t size : {int64_t{1000}, int64_t{1} << 20}) {
        EntryBuilder b("learn");
        const ValueId w = b.param("w", Shape{Dim(size)});
        const ValueId h = b.call({{b.input("x", Shape{})}}, {Shape{}})[0];
        b.output("y", b.call({{h}, {w, true}}, {Shape{}})[0]);
        b.update(w, b.call({{w, true}, {h}}, {Shape{Dim(size)}})[0]);
        const Result<Program> program = Model({b}).plan();
        ASSERT_TRUE(program.ok()) << program.status().message();
        EXPECT_EQ(order_of(*program), size == 1000 ? "(keep old w) (call 0) | (call 1) (call 2)"
                                                   : "(call 0) | (call 1) | (call 2)");
    }
}

TEST(Plan, UpdatesTheLiveRowsOfAStateWithRows) {
    EntryBuilder b("act");
    const Shape rows{kBatch, Dim(4)};
    const ValueId h = b.state("h", rows);
    b.update(h, b.call({{h, true}, {b.input("x", rows), true}}, {rows})[0]);
    const Program program = planned(b, 10);
    EXPECT_EQ(program.variables[0].shape, (Shape{Dim(10), Dim(4)}));
    EXPECT_EQ(program.variables[0].bytes, 160u);
    EXPECT_EQ(program.operands[0].bytes, (Extent{0, 16}));
}

// ----------------------------------------------------------------------------- slots and bindings

TEST(Plan, SharesWeightsOfOneNameBetweenEntries) {
    EntryBuilder act("act"), learn("learn");
    act.output("y", act.call({{act.param("w", kTile)}}, {kTile})[0]);
    const ValueId w = learn.param("w", kTile, DType::kF32, true);
    learn.update(w, learn.call({{w, true}}, {kTile})[0]);
    const Program program = planned(Model({act, learn}));
    ASSERT_EQ(program.variables.size(), 1u);
    EXPECT_NE(program.variables[0].data_offset, kZeroFilled)
        << "the entry with contents provides them";
}

TEST(Plan, PlacesParamsThenStatesThenConstants) {
    EntryBuilder b("act");
    const double contents[] = {1, 2};
    const ValueId c = b.constant("c", HostTensor::of(Shape{Dim(2)}, contents));
    const ValueId s = b.state("s", kTile), p = b.param("p", Shape{Dim(65)});
    b.output("y", b.call({{c}, {s}, {p}}, {kTile})[0]);
    const Program program = planned(b);
    ASSERT_EQ(program.variables.size(), 3u);
    EXPECT_EQ(program.variables[0].name + program.variables[1].name + program.variables[2].name,
              "psc");
    EXPECT_EQ(program.variables[1].offset, 512u);
    EXPECT_EQ(program.variables[2].offset, 768u);
    EXPECT_EQ(program.weights_bytes, 1024u);
    EXPECT_EQ(program.variables[1].data_offset, kZeroFilled);
}

TEST(Plan, SharesUnnamedConstantsWithEqualContentsAndDropsUnusedOnes) {
    std::vector<EntryBuilder> entries;
    for (const char* name : {"act", "learn"}) {
        EntryBuilder& b = entries.emplace_back(name);
        const double ones[] = {1, 1}, twos[] = {2, 2};
        const ValueId a = b.constant("", HostTensor::of(Shape{Dim(2)}, ones));
        const ValueId c = b.constant("", HostTensor::of(Shape{Dim(2)}, ones));
        b.constant("", HostTensor::of(Shape{Dim(2)}, twos));
        b.output("y", b.call({{a}, {c}}, {kTile})[0]);
    }
    const Program program = planned(Model(entries));
    ASSERT_EQ(program.variables.size(), 1u);
    EXPECT_EQ(program.variables[0].name.substr(0, 9), "constant.");
}

TEST(Plan, StoresContentsAsTheDeviceHoldsThem) {
    EntryBuilder b("act");
    const double contents[] = {-1, 0, 3}, unsigned_contents[] = {200, 0, 3};
    const DType types[] = {DType::kI64, DType::kBool, DType::kU8, DType::kF64, DType::kBF16};
    std::vector<synthetic::Read> reads;
    for (DType dtype : types) {
        const std::string name(name_of(dtype));
        reads.push_back({b.constant(
            name, HostTensor::of(Shape{Dim(3)}, dtype == DType::kU8 ? unsigned_contents : contents,
                                 dtype))});
    }
    b.output("y", b.call(reads, {kTile})[0]);
    const Result<Program> program = Model({b}).plan();
    ASSERT_TRUE(program.ok()) << program.status().message();
    const auto stored = [&]<class T>(const char* name, std::array<T, 3> expected) {
        std::array<T, 3> found;
        const Variable* slot = program->find_variable(name);
        ASSERT_NE(slot, nullptr);
        ASSERT_EQ(slot->bytes, sizeof found);
        std::memcpy(found.data(), program->data.data() + slot->data_offset, sizeof found);
        EXPECT_EQ(found, expected) << name;
    };
    stored("i64", std::array<int32_t, 3>{-1, 0, 3});
    stored("bool", std::array<int32_t, 3>{1, 0, 1});
    stored("u8", std::array<uint32_t, 3>{200, 0, 3});
    stored("f64", std::array<float, 3>{-1, 0, 3});
    stored("bf16", std::array<uint16_t, 3>{0xbf80, 0, 0x4040});
}

TEST(Plan, RejectsIntegersThatTheDeviceCannotHold) {
    EntryBuilder b("act");
    HostTensor big(DType::kI64, Shape{Dim(2)});
    big.set_int(1, int64_t{1} << 31);
    b.output("y", b.call({{b.constant("steps", big)}}, {kTile})[0]);
    EXPECT_EQ(failure(Model({b}), StatusCode::kUnsupported),
              "plan: entry 'act': constant 'steps': element 1 is 2147483648, which device memory "
              "cannot hold as i32; use a device with 64-bit integers, or the CPU");
}

TEST(Plan, UnitesInputsAndOutputsByNameAndDirection) {
    EntryBuilder act("act"), learn("learn");
    act.output("y", act.call({{act.input("x", kTile)}}, {kTile})[0]);
    const ValueId y = learn.input("y", kTile), x = learn.input("x", kTile);
    learn.output("loss", learn.call({{x}, {y}}, {Shape{}})[0]);
    const Program program = planned(Model({act, learn}));
    ASSERT_EQ(program.bindings.size(), 4u);
    EXPECT_EQ(program.entries[0].bindings, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(program.entries[1].bindings, (std::vector<uint32_t>{2, 0, 3}));
    EXPECT_EQ(program.bindings[2].direction, Direction::kInput);
}

TEST(Plan, CarriesOverWhatCodeGenerationSaidOfACall) {
    EntryBuilder b("act");
    b.output("y", b.call({{b.input("x", kTile)}, {kNoValue}}, {kTile})[0]);
    b.lowered.calls[0].grid[0] = {{3, 5}, 7};
    Model model({b});
    model.lowered.profile = "fp16";
    model.lowered.binding_model = BindingModel::kDescriptor;
    const Program program = planned(model);
    EXPECT_EQ(program.device_target, "fp16");
    EXPECT_EQ(program.binding_model, BindingModel::kDescriptor);
    EXPECT_EQ(program.kernels.size(), model.lowered.kernels.size());
    const Command& step = program.commands[0];
    const KernelCall& call = model.lowered.entries[0].calls[0];
    EXPECT_EQ(step.label, call.label);
    EXPECT_EQ(step.flops, call.flops);
    EXPECT_EQ(step.bytes_moved, call.bytes_moved);
    EXPECT_EQ(step.computes, call.computes);
    EXPECT_EQ(step.grid[0].work, (Extent{3, 5}));
    EXPECT_EQ(step.grid[0].tile, 7u);
    EXPECT_EQ(program.words_of(step)[0], call.words[0]);
    EXPECT_EQ(step.operand_values[1], kNoValue);
    EXPECT_EQ(program.operands_of(step)[1].region, Region::kRun);
    EXPECT_EQ(program.operands_of(step)[1].bytes, (Extent{sizeof(RunBlock), 0}));
}

// ------------------------------------------------------------------------------ copies by kernels

Model with_copy_kernel(const EntryBuilder& entry, uint64_t rows_capacity = 1) {
    Model model({entry}, rows_capacity);
    Kernel kernel = model.lowered.kernels[2];
    kernel.name = kCopyKernel;
    kernel.word_count = 1;
    kernel.local_size = {64, 1, 1};
    model.lowered.kernels.push_back(kernel);
    return model;
}

/// What the one copy of a plan is done by, where there is a kernel for it: "64 words" or "a copy".
std::string copied_by(const EntryBuilder& entry, uint64_t rows_capacity = 1) {
    const Result<Program> program = with_copy_kernel(entry, rows_capacity).plan();
    if (!program.ok()) return program.status().message();
    const bool is_kept = program->kernels.back().name == kCopyKernel;
    for (const Command& step : program->commands) {
        if (step.kind == CommandKind::kCopy)
            return is_kept ? "a copy, and a kernel for nothing" : "a copy";
        if (step.kind != CommandKind::kDispatch ||
            program->kernels[step.kernel].name != kCopyKernel)
            continue;
        EXPECT_EQ(step.grid[0].work, (Extent{program->words_of(step)[0], 0}));
        EXPECT_EQ(step.grid[0].tile, 64u);
        return std::to_string(program->words_of(step)[0]) + " words";
    }
    return is_kept ? "nothing, and a kernel for it" : "nothing";
}

TEST(Plan, LetsAKernelCopyWholeWordsOfItsOwnMemory) {
    const auto kept = [](const Shape& shape, DType dtype, uint64_t rows_capacity = 1) {
        EntryBuilder b("learn");
        const ValueId w = b.state("w", shape, dtype);
        b.update(w, b.call({{w, false}}, {shape}, dtype)[0]);
        return copied_by(b, rows_capacity);
    };
    EXPECT_EQ(kept(kTile, DType::kF32), "64 words");
    EXPECT_EQ(kept(Shape{Dim(6)}, DType::kBF16), "3 words");
    EXPECT_EQ(kept(Shape{Dim(3)}, DType::kBF16), "a copy") << "of 6 bytes";
    EXPECT_EQ(kept(Shape{kBatch, Dim(4)}, DType::kF32, 10), "a copy") << "of the live rows";
    // As many workgroups as every device allows, and one word more.
    EXPECT_EQ(kept(Shape{Dim(65535 * 64)}, DType::kF32), "4194240 words");
    EXPECT_EQ(kept(Shape{Dim(65535 * 64 + 1)}, DType::kF32), "a copy");

    EntryBuilder output("act");
    output.output("y", output.param("w", kTile, DType::kF32, true));
    EXPECT_EQ(copied_by(output), "a copy") << "to a buffer of the host";
    EntryBuilder none("act");
    none.output("y", none.call({{none.input("x", kTile)}}, {kTile})[0]);
    EXPECT_EQ(copied_by(none), "nothing");
    EntryBuilder idle("idle");
    Model without_kernels({idle});
    without_kernels.lowered.kernels.clear();
    EXPECT_TRUE(without_kernels.plan().ok());
}

// ---------------------------------------------------------------------------------------- errors

TEST(Plan, NamesBothSidesWhereEntriesDisagreeAboutATypeOrAName) {
    EntryBuilder act("act"), learn("learn"), named("learn");
    act.output("y", act.call({{act.input("x", kTile)}}, {kTile})[0]);
    learn.output("y", learn.call({{learn.input("x", kTile, DType::kI32)}}, {kTile})[0]);
    EXPECT_EQ(
        failure(Model({act, learn})),
        "plan: entry 'learn': input 'x' is i32 [64], but entry 'act' has an input of f32 [64]");
    named.output("y", named.call({{named.input("x", kTile)}}, {kTile})[0]);
    named.graph.outputs[0].scalars.assign(64, "e");
    EXPECT_EQ(
        failure(Model({act, named})),
        "plan: entry 'learn': output 'y' has other names for its elements than in entry 'act'");
    EntryBuilder f32("act"), i32("learn");
    f32.param("w", kTile);
    i32.param("w", kTile, DType::kI32);
    EXPECT_EQ(
        failure(Model({f32, i32})),
        "plan: entry 'learn': param 'w' is i32 [64], but entry 'act' has a param of f32 [64]");
}

TEST(Plan, RejectsValuesThatHaveNoSizeOrName) {
    const auto with = [](const Shape& shape) {
        EntryBuilder b("act");
        b.input("x", shape);
        return failure(b);
    };
    EXPECT_EQ(with(Shape{Dim(-1)}), "plan: entry 'act': value %0 has no size: [-1]");
    EXPECT_EQ(with(Shape{kBatch, kBatch}),
              "plan: entry 'act': value %0 has no size: [batch, batch]");
    EntryBuilder unnamed("act");
    unnamed.param("", kTile);
    EXPECT_EQ(failure(unnamed), "plan: entry 'act': param '' needs a name");
    // Names may stand for themselves in constants alone.
    EntryBuilder odd("act");
    const ValueId w = odd.param("w", kTile, DType::kF32, true);
    odd.graph.values[w].shape = Shape{Dim(8)};
    EXPECT_EQ(failure(odd),
              "plan: entry 'act': param 'w' is f32 [8], but its contents are f32 [64]");
    odd.graph.values[w].shape = kTile;
    odd.graph.values[w].dtype = DType::kI32;
    EXPECT_EQ(failure(odd),
              "plan: entry 'act': param 'w' is i32 [64], but its contents are f32 [64]");
}

TEST(Plan, RejectsInputsAndOutputsThatAreNone) {
    const auto broken = [](const std::function<void(EntryBuilder&)>& change) {
        EntryBuilder b("act");
        b.output("y", b.call({{b.input("x", kTile)}}, {kTile})[0]);
        change(b);
        return failure(b);
    };
    EXPECT_EQ(broken([](EntryBuilder& b) { b.graph.inputs = {1}; }),
              "plan: entry 'act': %1 is declared as an input, but is none");
    EXPECT_EQ(broken([](EntryBuilder& b) { b.graph.inputs = {2}; }),
              "plan: entry 'act': %2 is declared as an input, but is none");
    EXPECT_EQ(broken([](EntryBuilder& b) { b.graph.outputs[0].value = 2; }),
              "plan: entry 'act': output 'y' has no value");
    EXPECT_EQ(broken([](EntryBuilder& b) { b.graph.inputs.clear(); }),
              "plan: entry 'act', call 0 (call 0): value %0 is not among the inputs of the graph");
    EXPECT_EQ(broken([](EntryBuilder& b) {
                  b.lowered.calls.clear();
                  b.graph.outputs[0].value = 0;
                  b.graph.inputs.clear();
              }),
              "plan: entry 'act': output 'y' is value %0, which no call writes");
}

TEST(Plan, TakesAsManyRowsAndBytesAsTheLimitsSay) {
    EntryBuilder b("act");
    const ValueId h = b.call({{b.input("x", kTile)}}, {kTile})[0];
    b.output("y", b.call({{h}}, {kTile})[0]);
    EXPECT_TRUE(Model({b}, 0xffffffff).plan().ok());
    EXPECT_EQ(failure(Model({b}, uint64_t{1} << 32)),
              "plan: max_batch_size is 4294967296; it must be from 1 to 4294967295");
    Model just({b});
    just.options.caps.max_storage_buffer_range = kTileBytes;
    EXPECT_TRUE(just.plan().ok());

    EntryBuilder weights("act");
    weights.param("w", kTile);
    Model all({weights});
    all.options.caps.max_storage_buffer_range = kTileBytes;
    EXPECT_TRUE(all.plan().ok());
    all.options.caps.max_storage_buffer_range = kTileBytes - 1;
    EXPECT_NE(failure(all, StatusCode::kOutOfRange), "");
}

TEST(Plan, NamesBothSidesWhereEntriesDisagreeAboutAWeight) {
    EntryBuilder act("act"), learn("learn");
    act.param("w", Shape{Dim(4), Dim(8)});
    learn.param("w", Shape{Dim(4), Dim(4)});
    EXPECT_EQ(failure(Model({act, learn})),
              "plan: entry 'learn': param 'w' is f32 [4, 4], but entry 'act' has a param of "
              "f32 [4, 8]");
    EntryBuilder other("learn");
    other.state("w", Shape{Dim(4), Dim(8)});
    EXPECT_EQ(failure(Model({act, other})),
              "plan: entry 'learn': state 'w' is f32 [4, 8], but entry 'act' has a param of "
              "f32 [4, 8]");
}

TEST(Plan, RejectsDifferentContentsUnderOneName) {
    EntryBuilder act("act"), learn("learn");
    const double ones[] = {1}, twos[] = {2};
    const auto with = [](EntryBuilder& b, const double(&contents)[1]) {
        const ValueId w = b.param("w", Shape{Dim(1)});
        b.graph.values[w].data =
            std::make_shared<const HostTensor>(HostTensor::of(Shape{Dim(1)}, contents));
    };
    with(act, ones);
    with(learn, twos);
    EXPECT_EQ(failure(Model({act, learn})),
              "plan: entry 'learn': param 'w' has other contents than in entry 'act'");
}

TEST(Plan, AnInputOfAnotherShapeIsABindingOfItsOwn) {
    std::vector<EntryBuilder> entries;
    const Shape sizes[] = {kTile, Shape{Dim(2), Dim(64)}, kTile};
    for (const char* name : {"small", "large", "again"}) {
        const Shape& shape = sizes[entries.size()];
        EntryBuilder& b = entries.emplace_back(name);
        b.output("y", b.call({{b.input("x", shape)}}, {shape})[0]);
    }
    const Result<Program> planned = Model(entries).plan();
    ASSERT_TRUE(planned.ok()) << planned.status().message();
    const Program& program = *planned;
    ASSERT_EQ(program.bindings.size(), 4u);
    EXPECT_EQ(program.entries[0].bindings, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(program.entries[1].bindings, (std::vector<uint32_t>{2, 3}));
    EXPECT_EQ(program.entries[2].bindings, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(program.bindings[2].name, "x");
    EXPECT_EQ(program.bindings[2].shape, sizes[1]);
}

TEST(Plan, RejectsEntriesThatDoNotAddUp) {
    EntryBuilder b("act");
    b.output("y", b.call({{b.input("x", kTile)}}, {kTile})[0]);
    EXPECT_EQ(failure(Model({b, b})), "plan: there are two entries named 'act'");

    Model without_graph({b});
    without_graph.graphs.clear();
    EXPECT_EQ(failure(without_graph), "plan: there are 0 graphs for 1 entries");

    EXPECT_EQ(failure(Model({b}, 0)), "plan: max_batch_size is 0; it must be from 1 to 4294967295");

    Model unaligned({b});
    unaligned.options.caps.min_storage_buffer_offset_alignment = 24;
    EXPECT_EQ(failure(unaligned), "plan: the buffer alignment is 24; it must be a power of two");

    EntryBuilder twice = b;
    twice.output("y", twice.graph.outputs[0].value);
    EXPECT_EQ(failure(twice), "plan: entry 'act': output 'y' is declared twice");
}

TEST(Plan, RejectsCallsThatDoNotFit) {
    const auto broken = [](auto&& change) {
        EntryBuilder b("act");
        const ValueId x = b.input("x", kTile);
        b.output("y", b.call({{x}}, {kTile})[0]);
        change(b);
        return failure(b);
    };
    const std::string where = "plan: entry 'act', call 0 (call 0): ";
    EXPECT_EQ(broken([](EntryBuilder& b) { b.lowered.calls[0].kernel = 99; }),
              where + "there is no kernel 99");
    const auto kernels = static_cast<uint32_t>(Model({EntryBuilder("act")}).lowered.kernels.size());
    EXPECT_EQ(broken([&](EntryBuilder& b) { b.lowered.calls[0].kernel = kernels; }),
              where + "there is no kernel " + std::to_string(kernels));
    EXPECT_EQ(broken([](EntryBuilder& b) { b.lowered.calls[0].words.pop_back(); }),
              where + "kernel 'mix2' takes 2 operands and 2 words, not 2 and 1");
    EXPECT_EQ(broken([](EntryBuilder& b) { b.lowered.calls[0].operands[0].value = 2; }),
              where + "there is no value %2");
    EXPECT_EQ(broken([](EntryBuilder& b) { b.lowered.calls[0].kernel = 5; }),
              where + "kernel 'mix5' takes 5 operands and 2 words, not 2 and 2");
    EXPECT_EQ(broken([](EntryBuilder& b) { b.lowered.calls[0].operands[0].value = 77; }),
              where + "there is no value %77");
    EXPECT_EQ(broken([](EntryBuilder& b) { b.lowered.calls[0].operands[0].value = 1; }),
              where + "value %1 is read before any call wrote it");
    EXPECT_EQ(broken([](EntryBuilder& b) {
                  b.lowered.calls[0].operands[0] = {0, Access::kWrite, false};
              }),
              where + "value %0 ('x') may not be written by a call; updates do that");
    EXPECT_EQ(broken([](EntryBuilder& b) {
                  b.lowered.calls[0].operands[0] = {1, Access::kWrite, false};
              }),
              where + "value %1 is written by one operand and used by another");
    EXPECT_EQ(broken([](EntryBuilder& b) {
                  b.lowered.calls[0].operands[0] = {kNoValue, Access::kWrite, false};
              }),
              where + "a call may not write the run block");
    EXPECT_EQ(broken([](EntryBuilder& b) { b.lowered.calls.clear(); }),
              "plan: entry 'act': output 'y' is value %1, which no call writes");
}

TEST(Plan, RejectsAliasesThatCannotShareBytes) {
    EntryBuilder b("act");
    const ValueId x = b.input("x", kTile);
    const ValueId r = b.reshape(x, Shape{Dim(8), Dim(9)});
    EXPECT_EQ(failure(b),
              "plan: entry 'act': value %1 [8, 9] is an alias of %0 [64], which has another size");
    for (const uint32_t none : {2u, 9u}) {
        b.lowered.alias_of[r] = none;
        EXPECT_EQ(failure(b), "plan: entry 'act': value %1 is an alias of no value of the graph");
    }
    const ValueId s = b.reshape(r, kTile);
    b.lowered.alias_of[r] = s;
    EXPECT_EQ(failure(b), "plan: entry 'act': value %1 is an alias of itself");
    EntryBuilder inputs("act");
    inputs.input("x", kTile);
    inputs.lowered.alias_of[inputs.input("z", kTile)] = 0;
    EXPECT_EQ(failure(inputs), "plan: entry 'act': value %1 ('z') has bytes of its own");
    b.lowered.alias_of.pop_back();
    EXPECT_EQ(failure(b), "plan: entry 'act': alias_of has 2 values, the graph has 3");
}

TEST(Plan, RejectsUpdatesThatCannotBe) {
    EntryBuilder b("learn");
    const ValueId x = b.input("x", kTile), w = b.param("w", kTile), s = b.state("s", Shape{});
    const auto with = [&](ValueId target, ValueId value) {
        EntryBuilder copy = b;
        copy.update(w, x);
        copy.update(target, value);
        return failure(copy);
    };
    const ValueId c = b.constant("c", HostTensor(DType::kF32, kTile));
    EXPECT_EQ(
        with(c, w),
        "plan: entry 'learn': the update of 'c' has a target that is not a param, state or input");
    EXPECT_EQ(with(w, x), "plan: entry 'learn': the update of 'w' is stated twice");
    EXPECT_EQ(with(s, w),
              "plan: entry 'learn': the update of 's' [] is a value of [64] or of another type");
    for (const ValueId none : {4u, 9u}) {
        EXPECT_EQ(with(none, w), "plan: entry 'learn': an update without target or value");
        EXPECT_EQ(with(s, none), "plan: entry 'learn': an update without target or value");
    }
    const ValueId i = b.state("i", kTile, DType::kI32);
    EXPECT_EQ(with(i, x),
              "plan: entry 'learn': the update of 'i' [64] is a value of [64] or of another type");
}

TEST(Plan, RejectsMemoryBeyondTheLargestBuffer) {
    const auto chain = [](const Shape& shape) {
        EntryBuilder b("act");
        ValueId at = b.input("x", shape);
        for (int i = 0; i < 3; ++i) at = b.call({{at}}, {shape})[0];
        b.output("y", at);
        return b;
    };
    Model large({chain(Shape{kBatch, Dim(1000)})}, 100);
    large.options.caps.max_storage_buffer_range = 300'000;
    EXPECT_EQ(
        failure(large, StatusCode::kOutOfRange),
        "plan: entry 'act': value %0 [batch, 1000] at batch size 100 is larger than 300000 bytes");
    large.options.caps.max_storage_buffer_range = 500'000;
    EXPECT_EQ(failure(large, StatusCode::kOutOfRange),
              "plan: the arena with entry 'act' takes 800256 bytes, the largest buffer has 500000");

    Model overflowing({chain(Shape{kBatch, Dim(int64_t{1} << 40), Dim(int64_t{1} << 40)})}, 1000);
    EXPECT_NE(failure(overflowing, StatusCode::kOutOfRange), "");

    EntryBuilder weights("act");
    for (const char* name : {"a", "b", "c"}) weights.param(name, Shape{Dim(1000)});
    Model heavy({weights});
    heavy.options.caps.max_storage_buffer_range = 10'000;
    EXPECT_EQ(
        failure(heavy, StatusCode::kOutOfRange),
        "plan: the weights take 12288 bytes, the largest buffer of the device target is 10000; "
        "cook with --quantize f16, int8 or int4, or for a device with larger buffers");

    EntryBuilder weight("act");
    weight.param("w", Shape{Dim(1000)}, DType::kF32, true);
    Model single({weight});
    single.options.caps.max_storage_buffer_range = 3'000;
    EXPECT_EQ(failure(single, StatusCode::kOutOfRange),
              "plan: entry 'act': value %0 [1000] at batch size 1 is larger than 3000 bytes; cook "
              "with --quantize f16, int8 or int4, or for a device with larger buffers");
}

// ------------------------------------------------------------------------------------- the proof

/// A model with everything in it, and one thing changed in its plan.
std::string proof_after(const std::function<void(Program&)>& change) {
    EntryBuilder act("act"), learn("learn");
    const ValueId h = act.call({{act.input("x", kTile)}, {act.param("w", kTile)}}, {kTile})[0];
    act.output("y", act.call({{h}}, {kTile})[0]);
    const ValueId w = learn.param("w", kTile), s = learn.state("s", kTile);
    const ValueId g = learn.call({{learn.input("x", kTile)}, {w}}, {kTile})[0];
    learn.update(w, learn.call({{w, true}, {s, true}, {g, true}}, {kTile})[0]);
    learn.update(s, g);
    const Model model({act, learn});
    Result<Program> program = model.plan();
    EXPECT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(order_of(*program, 0), "(call 0) | (call 1)");
    EXPECT_EQ(order_of(*program, 1), "(keep old s) (call 0) | (call 1) (update s)");
    change(*program);
    const Status status = model.verify(*program);
    EXPECT_EQ(status.ok() ? StatusCode::kInternal : status.code(), StatusCode::kInternal);
    return status.message();
}

TEST(VerifyPlan, NamesTheRuleThatIsBroken) {
    EXPECT_EQ(proof_after([](Program&) {}), "");
    EXPECT_EQ(proof_after([](Program& p) {
                  p.commands.erase(p.commands.begin() + 1);
                  p.entries[0].command_count -= 1;
                  p.entries[1].first_command -= 1;
              }),
              "verify_plan: entry 'act', command 1 (call 1): races with command 0: no barrier in "
              "between");
    EXPECT_EQ(proof_after([](Program& p) { std::swap(p.commands[0], p.commands[2]); }),
              "verify_plan: entry 'act', command 0 (call 1): operand 0 does not hold value %2");
    EXPECT_EQ(proof_after([](Program& p) { p.operands[2].offset += 4; }),
              "verify_plan: entry 'act', command 0 (call 0): an unaligned operand");
    EXPECT_EQ(proof_after([](Program& p) { p.operands[2].offset += 256; }),
              "verify_plan: entry 'act', command 0 (call 0): an operand outside the entry's part "
              "of the arena");
    EXPECT_EQ(proof_after([](Program& p) { p.operands[1].offset += 256; }),
              "verify_plan: entry 'act', command 0 (call 0): operand 1 does not hold value %1");
    EXPECT_EQ(proof_after([](Program& p) { p.operands[1].offset += 512; }),
              "verify_plan: entry 'act', command 0 (call 0): an operand in the weights that is not "
              "a variable, or a written constant");
    EXPECT_EQ(proof_after([](Program& p) { p.operands[2].bytes.fixed -= 4; }),
              "verify_plan: entry 'act', command 0 (call 0): operand 2 does not have the size of "
              "its value");
    EXPECT_EQ(
        proof_after([](Program& p) { p.operands[2].access = Access::kRead; }),
        "verify_plan: entry 'act', command 0 (call 0): it is none of the calls that are left");
    EXPECT_EQ(
        proof_after([](Program& p) { p.words[0] += 1; }),
        "verify_plan: entry 'act', command 0 (call 0): it is none of the calls that are left");
    EXPECT_EQ(proof_after([](Program& p) { p.entries[0].command_count = 2; }),
              "verify_plan: entry 'act': call 'call 1' is missing");
    EXPECT_EQ(
        proof_after([](Program& p) { p.entries[1].command_count = 4; }),
        "verify_plan: entry 'learn': variable 's' does not hold its updated value at the end");
    EXPECT_EQ(proof_after([](Program& p) { std::swap(p.commands[3], p.commands[7]); }),
              "verify_plan: entry 'learn', command 1 (call 0): races with command 0: no barrier in "
              "between");
    EXPECT_EQ(proof_after([](Program& p) { p.entries[1].arena_offset = 0; }),
              "verify_plan: the arena of entry 'learn' overlaps that of 'act'");
    EXPECT_EQ(proof_after([](Program& p) { p.variables[1].offset = p.variables[0].offset; }),
              "verify_plan: variable 's' overlaps 'w'");
    EXPECT_EQ(proof_after([](Program& p) { p.weights_bytes -= 256; }),
              "verify_plan: variable 's' is unaligned or outside the weights");
    EXPECT_EQ(proof_after([](Program& p) { p.arena_bytes -= 256; }),
              "verify_plan: the arena of entry 'learn' ends outside the arena");
    EXPECT_EQ(proof_after([](Program& p) { p.bindings[1].name = "z"; }),
              "verify_plan: entry 'act': output 'y' has no binding of its size");
}

// Operands: act: 0 x, 1 w, 2 h; 3 h, 4 y.  learn: 5 s, 6 kept; 7 x, 8 w, 9 g; 10 w, 11 kept, 12 g,
// 13 w; 14 g, 15 s.
TEST(VerifyPlan, HoldsEachOperandAgainstItsRegion) {
    const auto operand = [](size_t index, const std::function<void(Operand&)>& change) {
        return proof_after([&](Program& p) { change(p.operands[index]); });
    };
    const std::string act = "verify_plan: entry 'act', command 0 (call 0): ",
                      learn = "verify_plan: entry 'learn', command 1 (call 0): ",
                      arena = "an operand outside the entry's part of the arena",
                      no_slot =
                          "an operand in the weights that is not a variable, or a written constant",
                      no_run = "an operand that is not the run block";
    EXPECT_EQ(operand(2, [](Operand& o) { o.bytes.fixed = ~uint64_t{0}, o.offset = 256; }),
              act + "an operand that wraps around");
    EXPECT_EQ(operand(9, [](Operand& o) { o.offset = 0; }), learn + arena);
    EXPECT_EQ(operand(2, [](Operand& o) { o.bytes.fixed += 4; }), act + arena);
    EXPECT_EQ(operand(1, [](Operand& o) { o.bytes.fixed -= 4; }), act + no_slot);
    EXPECT_EQ(operand(1, [](Operand& o) { o.offset += 512; }), act + no_slot);
    EXPECT_EQ(operand(0, [](Operand& o) { o.binding = 99; }),
              act + "an operand in a buffer that the entry does not bind");
    EXPECT_EQ(operand(0, [](Operand& o) { o.offset = 256; }),
              act + "an operand that is not all of 'x'");
    EXPECT_EQ(operand(0, [](Operand& o) { o.bytes.fixed -= 4; }),
              act + "an operand that is not all of 'x'");
    EXPECT_EQ(operand(0, [](Operand& o) { o.access = Access::kReadWrite; }),
              act + "a write to input 'x'");
    const auto run = [&](Access access, uint64_t offset, uint64_t bytes) {
        return operand(0, [&](Operand& o) { o = {Region::kRun, access, 0, offset, {bytes, 0}}; });
    };
    EXPECT_EQ(run(Access::kRead, 0, sizeof(RunBlock)),
              act + "operand 0 mistakes the run block for a value");
    EXPECT_EQ(run(Access::kWrite, 0, sizeof(RunBlock)), act + no_run);
    EXPECT_EQ(run(Access::kRead, 256, sizeof(RunBlock)), act + no_run);
    EXPECT_EQ(run(Access::kRead, 0, 4), act + no_run);
    EXPECT_EQ(proof_after([](Program& p) { p.commands[0].operand_values.pop_back(); }),
              act + "a debug table that does not fit the operands");
    EXPECT_EQ(proof_after([](Program& p) { p.variables[0].kind = VariableKind::kConstant; }),
              "verify_plan: entry 'learn', command 3 (call 1): " + no_slot);
}

TEST(VerifyPlan, HoldsSlotsAndEntriesApart) {
    const auto slot = [](const std::function<void(Variable&)>& change) {
        return proof_after([&](Program& p) { change(p.variables[1]); });
    };
    const std::string outside = "verify_plan: variable 's' is unaligned or outside the weights",
                      data = "verify_plan: variable 's' has its contents outside the data";
    EXPECT_EQ(slot([](Variable& s) { s.offset += 4; }), outside);
    EXPECT_EQ(slot([](Variable& s) { s.offset += 256; }), outside);
    EXPECT_EQ(slot([](Variable& s) { s.bytes = uint64_t{1} << 40; }), outside);
    EXPECT_EQ(slot([](Variable& s) { s.bytes += 4; }), outside);
    EXPECT_EQ(slot([](Variable& s) { s.data_offset = 0; }), data);
    const auto with_data = [](uint64_t bytes, uint64_t offset) {
        return proof_after([=](Program& p) {
            p.data.resize(bytes);
            p.variables[1].data_offset = offset;
        });
    };
    EXPECT_EQ(with_data(kTileBytes, 0), "");
    EXPECT_EQ(with_data(kTileBytes + 4, 4), "");
    EXPECT_EQ(with_data(kTileBytes, 4), data);
    EXPECT_EQ(with_data(kTileBytes - 4, 0), data);
    EXPECT_EQ(slot([](Variable& s) { s.name = "w"; }), "verify_plan: variable 'w' overlaps 'w'");
    EXPECT_EQ(
        proof_after([](Program& p) { std::swap(p.variables[0].offset, p.variables[1].offset); }),
        "verify_plan: entry 'act', command 0 (call 0): operand 1 does not hold value %1");

    const auto entry = [](const std::function<void(Entry&)>& change) {
        return proof_after([&](Program& p) { change(p.entries[1]); });
    };
    const std::string ends = "verify_plan: the arena of entry 'learn' ends outside the arena";
    EXPECT_EQ(entry([](Entry& e) { e.arena_bytes = uint64_t{1} << 40; }), ends);
    EXPECT_EQ(entry([](Entry& e) { e.arena_bytes += 4; }), ends);
    EXPECT_EQ(entry([](Entry& e) { e.arena_offset += 4; }), ends);
    EXPECT_EQ(proof_after([](Program& p) { p.entries[0].arena_bytes += 4; }),
              "verify_plan: the arena of entry 'learn' overlaps that of 'act'");
    EXPECT_EQ(proof_after([](Program& p) { p.entries.pop_back(); }),
              "verify_plan: entries and graphs differ in number");
}

TEST(VerifyPlan, KnowsCallsByAllThatTheyAre) {
    const std::string none =
        "verify_plan: entry 'act', command 0 (call 0): it is none of the calls that are left";
    const auto step = [](const std::function<void(Command&)>& change) {
        return proof_after([&](Program& p) { change(p.commands[0]); });
    };
    EXPECT_EQ(step([](Command& s) { s.kernel += 1; }), none);
    EXPECT_EQ(step([](Command& s) { s.computes.push_back(0); }), none);
    EXPECT_EQ(step([](Command& s) { s.grid[1].tile += 1; }), none);
    EXPECT_EQ(step([](Command& s) { s.grid[2].work.is_batch += 1; }), none);
    EXPECT_EQ(step([](Command& s) { s.operand_values[0] = 1; }), none);
    EXPECT_EQ(step([](Command& s) { s.word_count -= 1; }), none);
    EXPECT_EQ(step([](Command& s) { s.kind = CommandKind::kFill; }),
              "verify_plan: entry 'act', command 0 (call 0): a command that plans do not contain");
    const std::string copy =
        "verify_plan: entry 'learn', command 0 (keep old s): a copy must read one range and write "
        "another of the same size";
    const auto copied = [](const std::function<void(Operand&, Operand&)>& change) {
        return proof_after([&](Program& p) {
            const Command& keep = p.commands[p.entries[1].first_command];
            change(p.operands[keep.first_operand], p.operands[keep.first_operand + 1]);
        });
    };
    EXPECT_EQ(copied([](Operand& from, Operand&) { from.access = Access::kReadWrite; }), copy);
    EXPECT_EQ(copied([](Operand&, Operand& to) { to.access = Access::kReadWrite; }), copy);
    EXPECT_EQ(copied([](Operand&, Operand& to) { to.bytes.fixed -= 4; }), copy);
    EXPECT_EQ(copied([](Operand& from, Operand& to) { from = to, from.access = Access::kRead; }),
              copy);
    EXPECT_EQ(copied([](Operand& from, Operand&) {
                  from = {Region::kRun, Access::kRead, 0, 0, {sizeof(RunBlock), 0}};
              }),
              copy);
}

TEST(VerifyPlan, HoldsSourcesAgainstTheGraph) {
    EXPECT_EQ(proof_after([](Program& p) { p.bindings[0].name = "q"; }),
              "verify_plan: entry 'act': input 'x' has no binding");
    EXPECT_EQ(proof_after([](Program& p) { p.bindings[0].bytes.fixed -= 4; }),
              "verify_plan: entry 'act': input 'x' has a binding of another size");
    EXPECT_EQ(proof_after([](Program& p) { p.variables[0].dtype = DType::kI32; }),
              "verify_plan: entry 'act': 'w' has no variable of its shape and type");
    EXPECT_EQ(proof_after([](Program& p) { p.bindings[1].bytes.fixed -= 4; }),
              "verify_plan: entry 'act', command 2 (call 1): an operand that is not all of 'y'");
    EntryBuilder b("act");
    b.output("y", b.call({{b.param("w", kTile, DType::kF32, true)}}, {kTile})[0]);
    Model model({b});
    const Program program = planned(model);
    Program other = program;
    other.data[5] ^= std::byte{1};
    const std::string contents = "verify_plan: entry 'act': variable 'w' has other initial values";
    EXPECT_EQ(model.verify(other).message(), contents);
    other = program;
    other.variables[0].data_offset = kZeroFilled;
    EXPECT_EQ(model.verify(other).message(), contents);
    model.lowered.entries.push_back(b.lowered);
    EXPECT_EQ(model.verify(program).message(), "verify_plan: entries and graphs differ in number");
}

TEST(VerifyPlan, KnowsWhereLocatedOperandsAre) {
    EntryBuilder b("act");
    b.output("y", b.call({{b.param("w", kTile)}}, {kTile})[0]);
    Model model({b});
    model.lowered.kernels[2].located_count = 1;
    const Result<Program> program = model.plan();
    ASSERT_TRUE(program.ok()) << program.status().message();
    const auto after = [&](const std::function<void(std::vector<SpecConstant>&)>& change) {
        Program changed = *program;
        change(changed.kernels[2].spec_constants);
        return model.verify(changed).message();
    };
    const std::string where = "verify_plan: entry 'act', command 0 (call 0): ",
                      place = "operand 0 is at another offset than its kernel's constant";
    EXPECT_EQ(after([](auto&) {}), "");
    EXPECT_EQ(after([](auto& constants) { constants[0].value ^= 1; }), where + place);
    EXPECT_EQ(after([](auto& constants) { constants[0].value += 2; }), where + place);
    EXPECT_EQ(after([](auto& constants) { constants[0].id = 1; }), where + place);
    const std::string one =
        "its kernel must have one specialization constant for each located operand";
    EXPECT_EQ(after([](auto& constants) { constants.clear(); }), where + one);
    EXPECT_EQ(after([](auto& constants) { constants.push_back({1, 0}); }), where + one);

    // What the host binds cannot be located, and a kernel has one place for it.
    EntryBuilder external("act");
    external.output("y", external.call({{external.input("x", kTile)}}, {kTile})[0]);
    Model bound({external});
    bound.lowered.kernels[2].located_count = 1;
    EXPECT_EQ(failure(bound, StatusCode::kInternal), where + place);
    b.output("z", b.call({{b.param("v", kTile)}}, {kTile})[0]);
    Model twice({b});
    twice.lowered.kernels[2].located_count = 1;
    EXPECT_EQ(failure(twice, StatusCode::kInternal),
              where + "its kernel locates operands, but several commands use it");
}

TEST(VerifyPlan, KnowsThatCopiesByKernelsAreWhole) {
    EntryBuilder b("learn");
    const ValueId w = b.state("w", kTile);
    b.update(w, b.call({{w, false}}, {kTile})[0]);
    const Model model = with_copy_kernel(b);
    const Result<Program> program = model.plan();
    ASSERT_TRUE(program.ok()) << program.status().message();
    const auto after = [&](const std::function<void(Program&, Command&)>& change) {
        Program changed = *program;
        change(changed, changed.commands[0]);
        return model.verify(changed).message();
    };
    const std::string expected =
        "verify_plan: entry 'learn', command 0 (keep old w): a kernel that does not copy all words";
    EXPECT_EQ(after([](Program&, Command&) {}), "");
    EXPECT_EQ(after([](Program& p, Command& s) { p.words[s.first_word] -= 1; }), expected);
    EXPECT_EQ(after([](Program& p, Command& s) {
                  p.words[s.first_word] -= 1, s.grid[0].work.fixed -= 1;
              }),
              expected);
    EXPECT_EQ(after([](Program&, Command& s) { s.word_count = 0; }), expected);
    EXPECT_EQ(after([](Program&, Command& s) { s.grid[0].work.fixed -= 1; }), expected);
    EXPECT_EQ(after([](Program&, Command& s) { s.grid[0].tile = 128; }), expected);
    EXPECT_EQ(after([](Program&, Command& s) { s.operand_count = 0, s.operand_values.clear(); }),
              expected);
}

TEST(VerifyPlan, RejectsSharedBytesThatTheCallDoesNotAllow) {
    EntryBuilder b("act");
    const ValueId h = b.call({{b.input("x", kTile)}}, {kTile})[0];
    const ValueId g = b.call({{h, true}}, {kTile})[0];
    b.output("y", b.call({{g}}, {kTile})[0]);
    const Model model({b});
    const Program program = planned(model);
    ASSERT_EQ(program.operands[3].offset, program.operands[2].offset) << "in place";
    const auto after = [&](const std::function<void(CallOperand&)>& change) {
        Model other = model;
        change(other.lowered.entries[0].calls[1].operands[0]);
        return other.verify(program).message();
    };
    const std::string expected =
        "verify_plan: entry 'act', command 2 (call 1): operands 0 and 1 may not share bytes";
    EXPECT_EQ(after([](CallOperand&) {}), "");
    EXPECT_EQ(after([](CallOperand& o) { o.is_elementwise = false; }), expected);
    EXPECT_EQ(after([](CallOperand& o) { o.part = 1; }), expected);
}

TEST(VerifyPlan, RejectsAResultThatOverlapsItsOperandInPart) {
    EntryBuilder b("act");
    const Shape two_tiles{Dim(128)};
    const ValueId h = b.call({{b.input("x", kTile)}}, {two_tiles})[0];
    const ValueId g = b.call({{h, true}}, {two_tiles})[0];
    b.output("y", b.call({{g}}, {kTile})[0]);
    const Model model({b});
    Program program = planned(model);
    ASSERT_EQ(program.operands[3].offset, program.operands[2].offset) << "in place";
    program.arena_bytes = program.entries[0].arena_bytes = 3 * kTileBytes;
    program.operands[3].offset += kTileBytes;  // written by the second call,
    program.operands[4].offset += kTileBytes;  // read by the third
    EXPECT_EQ(model.verify(program).message(),
              "verify_plan: entry 'act', command 2 (call 1): operands 0 and 1 may not share bytes");
}

TEST(VerifyPlan, RejectsWeightsThatAreWrittenBeforeTheLastBarrier) {
    EntryBuilder b("learn");
    const ValueId w = b.param("w", kTile), s = b.state("s", kTile);
    b.update(w, b.call({{w, true}}, {kTile})[0]);
    b.update(s, b.call({{s, true}}, {kTile})[0]);
    const Model model({b});
    Program program = planned(model);
    ASSERT_EQ(order_of(program), "(call 0) (call 1)");
    program.commands.insert(program.commands.begin() + 1, Command());
    program.entries[0].command_count += 1;
    EXPECT_EQ(model.verify(program).message(),
              "verify_plan: entry 'learn', command 1 (): a barrier after weights were written");
}

}  // namespace
}  // namespace hearth
