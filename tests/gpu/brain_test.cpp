// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains of sessions: saved at a consistent point, loaded only if everything fits, forgotten.

#include "program/brain.hpp"

#include "core/checksum.hpp"
#include "rig.hpp"

#include <hearth/brain.hpp>

#include <chrono>
#include <cmath>
#include <limits>

namespace hearth::test {
namespace {

class BrainOfSession : public RuntimeTest {
  protected:
    /// The bytes of a brain, saved in frames of its own.
    static std::vector<std::byte> save(Rig& rig, hearth_brain_flags flags = 0) {
        std::optional<hearth_readback> id;
        rig.frame([&](VkCommandBuffer commands) {
            const auto snapshot = rig.session.record_save_brain(commands);
            ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
            id = *snapshot;
        });
        rig.advance();
        if (!id) return {};
        const auto data = rig.session.poll(*id);
        EXPECT_TRUE(data.ok() && data->has_value());
        const std::byte host[] = {std::byte{7}};
        auto brain = rig.program.serialize_brain((*data)->bytes, flags, host);
        EXPECT_TRUE(brain.ok()) << brain.status().message();
        rig.session.release(*id);
        return *brain;
    }
    static Status load(Rig& rig, std::span<const std::byte> bytes, hearth_brain_flags flags = 0) {
        Status status;
        rig.frame([&](VkCommandBuffer commands) {
            status = rig.session.record_load_brain(commands, bytes, flags);
        });
        return status;
    }
    Brain shipped() {
        const BindingModel model = binding_model(device());
        return *initial_brain(save_program(TestProgramBuilder(test_shaders(model), model).build()));
    }
    static std::vector<float> values(const Brain& brain, const char* name) {
        const std::span<const float> v = brain.find(name)->value.as<float>();
        return {v.begin(), v.end()};
    }
    static Brain parse(const std::vector<std::byte>& bytes, const Brain* parent = nullptr) {
        Result<Brain> brain = load_brain(bytes, parent);
        EXPECT_TRUE(brain.ok()) << brain.status().message();
        return brain.ok() ? *std::move(brain) : Brain();
    }
};

TEST_F(BrainOfSession, HoldsWhatTheSessionHolds) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->learn(test_values(4 * kWidth, 1), 0.25f);
    const std::vector<float> state = rig->read_slot(kStateVariable);
    const Brain full = parse(save(*rig));
    EXPECT_EQ(values(full, "state"), state);
    EXPECT_EQ(values(full, "zero"), std::vector<float>(16));
    EXPECT_EQ(full.user_data, std::vector<std::byte>{std::byte{7}});
    const Brain parent = shipped();
    EXPECT_EQ(full.base_hash, hash_of(parent));
    EXPECT_EQ(full.base_hash, parent.base_hash);
    EXPECT_EQ(full.schema_hash, parent.schema_hash);
    const Brain delta = parse(save(*rig, HEARTH_BRAIN_DELTA), &parent);
    EXPECT_EQ(values(delta, "state"), state);
}

TEST_F(BrainOfSession, LoadsIntoAnotherSessionWholeOrAsADifference) {
    const auto teacher = make_rig(), pupil = make_rig();
    ASSERT_TRUE(teacher && pupil);
    const std::vector<float> x = test_values(4 * kWidth, 1);
    teacher->learn(x, 0.25f);
    for (const hearth_brain_flags flags : {0u, HEARTH_BRAIN_DELTA}) {
        const Status loaded = load(*pupil, save(*teacher, flags), HEARTH_BRAIN_REQUIRE_SAME_GRAPH);
        ASSERT_TRUE(loaded.ok()) << loaded.message();
        EXPECT_EQ(pupil->read_slot(kStateVariable), teacher->read_slot(kStateVariable));
        // Learning goes on from there with the same bits.
        EXPECT_EQ(pupil->learn(x, 0.5f), teacher->learn(x, 0.5f));
        EXPECT_EQ(pupil->read_slot(kStateVariable), teacher->read_slot(kStateVariable));
    }
}

TEST_F(BrainOfSession, ForgettingPutsBackWhatWasShipped) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->learn(test_values(4 * kWidth, 1), 0.25f);
    const auto forget = [&](const char* pattern) {
        Result<uint32_t> count = 0u;
        rig->frame([&](VkCommandBuffer commands) {
            count = rig->session.record_reset_variables(commands, pattern);
        });
        return count;
    };
    EXPECT_EQ(forget("zero").value(), 1u);
    EXPECT_NE(rig->read_slot(kStateVariable), TestReference::initial_state());
    EXPECT_EQ(forget("s*").value(), 1u);
    EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
    rig->learn(test_values(4 * kWidth, 1), 0.25f);
    EXPECT_EQ(forget(nullptr).value(), 2u);
    EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
    EXPECT_FALSE(forget("xyz").ok());
}

TEST_F(BrainOfSession, ADamagedBrainTouchesNothing) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->learn(test_values(4 * kWidth, 1), 0.25f);
    std::vector<std::byte> bytes = save(*rig);
    rig->learn(test_values(4 * kWidth, 2), 0.25f);
    const std::vector<float> state = rig->read_slot(kStateVariable);
    bytes[bytes.size() / 2] ^= std::byte{4};
    const Status loaded = load(*rig, bytes);
    EXPECT_EQ(loaded.code(), StatusCode::kCorruptData) << loaded.message();
    EXPECT_EQ(rig->read_slot(kStateVariable), state);
}

TEST_F(BrainOfSession, AllThatDoesNotFitIsReportedAndNothingIsTouched) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->learn(test_values(4 * kWidth, 1), 0.25f);
    const std::vector<float> state = rig->read_slot(kStateVariable);
    Brain brain = shipped();
    brain.schema_hash ^= 1;
    brain.find("state")->value = HostTensor(DType::kF32, {kWidth, 2});
    brain.find("zero")->name = "zeroth";
    const Status loaded = load(*rig, *save_brain(brain));
    EXPECT_EQ(loaded.code(), StatusCode::kInvalidArgument);
    for (const char* expected : {"inputs or outputs differ; load a brain of this program",
                                 "'state' is f32[96] in the program and f32[96, 2] in the brain",
                                 "the brain has no 'zero'", "the program has no 'zeroth'"})
        EXPECT_NE(loaded.message().find(expected), std::string::npos)
            << expected << " in " << loaded.message();
    EXPECT_EQ(rig->program.validate_brain(*save_brain(brain)).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(rig->read_slot(kStateVariable), state);
}

TEST_F(BrainOfSession, APartIsLoadedOnlyOnRequest) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    Brain brain = shipped();
    HostTensor fives(DType::kF32, {kWidth});
    for (int64_t i = 0; i < fives.element_count(); ++i) fives.set(i, 5);
    brain.find("state")->value = fives;
    std::erase_if(brain.tensors, [](const BrainTensor& t) { return t.name == "zero"; });
    const std::vector<std::byte> bytes = *save_brain(brain);
    EXPECT_FALSE(load(*rig, bytes).ok());
    const Status loaded = load(*rig, bytes, HEARTH_BRAIN_NON_STRICT);
    EXPECT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ(rig->read_slot(kStateVariable), std::vector<float>(kWidth, 5));
}

TEST_F(BrainOfSession, HalvesBecomeFloats) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    Brain brain = shipped();
    HostTensor& state = brain.find("state")->value;
    state = state.cast(DType::kF16);
    const Status loaded = load(*rig, *save_brain(brain));
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());  // exact in f16
}

TEST_F(BrainOfSession, ADifferenceFromOtherWeightsIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    Brain parent = shipped();
    const Brain brain = parent;
    parent.find("state")->value.set(3, 77);
    const Status loaded = load(*rig, *save_brain(brain, &parent));
    EXPECT_EQ(loaded.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(loaded.message().find("is a delta from initial weights"), std::string::npos)
        << loaded.message();
}

/// `learn` clears slot `zero` early and writes `state` late.
RigOptions writing_twice() {
    RigOptions options;
    options.program = [](Program& program) {
        Operand& cleared = program.operands[program.commands[4].first_operand];
        cleared = {Region::kWeights, Access::kWrite, 0, 768, {64, 0}};
    };
    return options;
}

TEST_F(BrainOfSession, NoSnapshotIsTakenBetweenTheWritesOfASlicedEntry) {
    const auto rig = make_rig(writing_twice());
    ASSERT_TRUE(rig);
    rig->set_x(test_values(4 * kWidth, 1));
    hearth_run_cursor cursor{};
    std::vector<bool> taken;
    for (Progress progress = Progress::kIncomplete; progress == Progress::kIncomplete;) {
        std::optional<hearth_readback> snapshot;
        rig->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            const float rate = 0.3f;
            hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
            info.max_dispatches = 1;
            progress = rig->session.record(info, &cursor).value();
            snapshot = rig->session.record_save_brain(commands).value();
        });
        rig->advance();
        taken.push_back(snapshot.has_value());
        if (snapshot) rig->session.release(*snapshot);
    }
    // Of the seven steps of `learn` the fourth clears and the sixth learns.
    EXPECT_EQ(taken, (std::vector<bool>{true, true, true, false, false, true, true}));
}

TEST_F(BrainOfSession, LoadingAbandonsSlices) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<std::byte> bytes = save(*rig);
    hearth_run_cursor cursor{};
    const float rate = 0.3f;
    const auto slice = [&] {
        Result<Progress> progress = Progress::kNotReady;
        rig->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
            info.max_dispatches = 1;
            progress = rig->session.record(info, &cursor);
        });
        return progress;
    };
    ASSERT_EQ(slice().value(), Progress::kIncomplete);
    ASSERT_TRUE(load(*rig, bytes).ok());
    EXPECT_FALSE(slice().ok());
    cursor = {};
    EXPECT_TRUE(slice().ok());
}

TEST_F(BrainOfSession, WithoutRoomOrOrderItSaysSo) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.upload_bytes = 64;
        info.readback_bytes = 64;
    };
    options.set_up = false;
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    const std::vector<std::byte> bytes = *save_brain(shipped());
    EXPECT_NE(load(*rig, bytes).message().find("call hearth_record_initialize first"),
              std::string::npos);
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_TRUE(rig->session.record_initialize(commands).ok());
    });
    EXPECT_EQ(rig->program.brain_size(), kWidth * 4 + 64u);
    EXPECT_NE(load(*rig, bytes).message().find("no room for 448 bytes"), std::string::npos);
    rig->frame([&](VkCommandBuffer commands) {
        const auto snapshot = rig->session.record_save_brain(commands);
        ASSERT_FALSE(snapshot.ok());
        EXPECT_NE(snapshot.status().message().find("readback_bytes"), std::string::npos);
    });
}

TEST_F(BrainOfSession, EncodingRefusesWhatIsNoSnapshotOfTheProgram) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<std::byte> snapshot(rig->program.brain_size());
    std::vector<std::byte> out(4096);
    using Info = hearth_brain_save_info;
    const auto encode = [&](const auto& change, uint64_t room = 4096) {
        Info info = hearth_brain_save_info_default();
        info.snapshot = snapshot.data();
        info.snapshot_bytes = snapshot.size();
        change(info);
        return hearth_brain_encode(rig->program.handle(), &info, out.data(), &room);
    };
    constexpr hearth_result invalid = HEARTH_ERROR_INVALID_ARGUMENT;
    EXPECT_EQ(encode([](Info&) {}), HEARTH_OK);
    EXPECT_EQ(encode([](Info& info) { info.flags = 1u << 30; }), invalid);
    EXPECT_EQ(encode([](Info& info) { info.flags = HEARTH_BRAIN_NON_STRICT; }), invalid);
    EXPECT_EQ(encode([](Info& info) { info.snapshot_bytes -= 1; }), invalid);
    EXPECT_EQ(encode([](Info& info) { info.snapshot_bytes += 1; }), invalid);
    EXPECT_EQ(encode([](Info& info) { info.snapshot = nullptr; }), invalid);
    EXPECT_EQ(encode([](Info& info) { info.user_data_size = 1; }), invalid) << "null";
    EXPECT_EQ(encode([&](Info& info) {
                  info.user_data = out.data();
                  info.user_data_size = SIZE_MAX / 2 + 1;
              }),
              invalid);
    // Room for all that it may take, to the byte.
    Info info = hearth_brain_save_info_default();
    info.snapshot = snapshot.data();
    info.snapshot_bytes = snapshot.size();
    uint64_t bound = 0;
    ASSERT_EQ(hearth_brain_encode(rig->program.handle(), &info, nullptr, &bound), HEARTH_OK);
    EXPECT_EQ(encode([](Info&) {}, bound), HEARTH_OK);
    EXPECT_EQ(encode([](Info&) {}, bound - 1), HEARTH_ERROR_OUT_OF_RANGE);
}

TEST_F(BrainOfSession, WithoutSetupOrAnythingToLearnThereIsNoSnapshot) {
    for (const bool is_set_up : {false, true}) {
        RigOptions options;
        options.set_up = is_set_up;
        options.program = [&](Program& p) {
            if (is_set_up)
                for (Variable& slot : p.variables) slot.kind = VariableKind::kConstant;
        };
        const auto rig = make_rig(options);
        ASSERT_TRUE(rig);
        rig->frame([&](VkCommandBuffer commands) {
            hearth_readback id = 0;
            EXPECT_EQ(hearth_record_save_brain(rig->session.handle(), commands, &id),
                      is_set_up ? HEARTH_ERROR_NOT_FOUND : HEARTH_ERROR_INVALID_STATE);
            EXPECT_EQ(rig->session.error(),
                      is_set_up ? "save_brain: the program has no params and no states to save"
                                : "save_brain: call hearth_record_initialize first");
        });
        if (!is_set_up) continue;
        // The brain of nothing is one, too.
        hearth_brain_save_info info = hearth_brain_save_info_default();
        uint64_t bytes = 0;
        EXPECT_EQ(hearth_brain_encode(rig->program.handle(), &info, nullptr, &bytes), HEARTH_OK);
    }
}

/// A brain as shipped but for one element of `state`.
Brain with_element(Brain brain, double value, DType dtype = DType::kF32) {
    HostTensor& state = brain.find("state")->value;
    state = state.cast(dtype);
    state.set(7, value);
    return brain;
}

TEST_F(BrainOfSession, OneThatIsNotFiniteIsLoadedOnlyOnRequest) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const Brain parent = shipped();
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()})
        for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16})
            for (const Brain* from : {static_cast<const Brain*>(nullptr), &parent}) {
                if (from != nullptr && dtype != DType::kF32) continue;
                const std::vector<std::byte> bytes =
                    *save_brain(with_element(parent, value, dtype), from, NonFinite::kAllow);
                const Status checked = rig->program.validate_brain(bytes);
                EXPECT_EQ(checked.message(),
                          "HEARTH_ERROR_NON_FINITE: 'state': element 7 is NaN or infinite; reset "
                          "it, or accept it by HEARTH_BRAIN_ALLOW_NON_FINITE");
                EXPECT_EQ(load(*rig, bytes).message(), checked.message());
                EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
                EXPECT_TRUE(rig->program.validate_brain(bytes, HEARTH_BRAIN_ALLOW_NON_FINITE).ok());
            }
    const Status loaded =
        load(*rig, *save_brain(with_element(parent, INFINITY), nullptr, NonFinite::kAllow),
             HEARTH_BRAIN_ALLOW_NON_FINITE);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ(rig->read_slot(kStateVariable)[7], INFINITY);

    // And then it is not saved either.
    std::optional<hearth_readback> id;
    rig->frame([&](VkCommandBuffer commands) { id = *rig->session.record_save_brain(commands); });
    rig->advance();
    const std::span<const std::byte> snapshot = (*rig->session.poll(*id))->bytes;
    EXPECT_EQ(rig->program.serialize_brain(snapshot).status().message(),
              "HEARTH_ERROR_NON_FINITE: hearth_brain_encode: 'state': element 7 is NaN or "
              "infinite; reset it, or accept it by HEARTH_BRAIN_ALLOW_NON_FINITE");
    EXPECT_TRUE(rig->program.serialize_brain(snapshot, HEARTH_BRAIN_ALLOW_NON_FINITE).ok());
    EXPECT_TRUE(
        rig->program.serialize_brain(snapshot, HEARTH_BRAIN_ALLOW_NON_FINITE | HEARTH_BRAIN_DELTA)
            .ok());
    rig->session.release(*id);
}

TEST_F(BrainOfSession, AParamIsNotTakenForAState) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    for (const char* name : {"state", "zero"}) {
        Brain brain = shipped();
        brain.find(name)->is_state ^= true;
        const Status loaded = load(*rig, *save_brain(brain));
        EXPECT_EQ(loaded.message(),
                  std::string("HEARTH_ERROR_INCOMPATIBLE: '") + name +
                      "' has another kind (param or state) in the brain than in the program");
        EXPECT_FALSE(load(*rig, *save_brain(brain), HEARTH_BRAIN_NON_STRICT).ok());
    }
}

TEST_F(BrainOfSession, ADifferenceOfAnotherTypeIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    // Its header says that it differs from what was shipped; that was f32.
    Brain parent = with_element(shipped(), 3, DType::kF16);
    Brain brain = with_element(parent, 4, DType::kF16);
    std::vector<std::byte> bytes = *save_brain(brain, &parent);
    file::BrainHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.parent_hash = hash_of(shipped());
    std::memcpy(bytes.data(), &header, sizeof header);
    header.checksum = checksum(std::span(bytes).subspan(24));
    std::memcpy(bytes.data(), &header, sizeof header);
    EXPECT_EQ(
        load(*rig, bytes).message(),
        "HEARTH_ERROR_INCOMPATIBLE: 'state' is a delta of f16 elements, and the program holds f32");
}

TEST_F(BrainOfSession, StrangeTensorsWithoutNumberAreToldInNoTimeAndBounded) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    Brain brain = shipped();
    brain.tensors.clear();
    for (int i = 0; i < 100000; ++i)
        brain.tensors.push_back(
            {"t" + std::to_string(1000000 + i), false, HostTensor(DType::kF32, {Dim(0)})});
    const std::vector<std::byte> bytes = *save_brain(brain);
    hearth_messages report{};
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(hearth_brain_check(rig->program.handle(), bytes.data(), bytes.size(), 0, &report),
              HEARTH_ERROR_INCOMPATIBLE);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    EXPECT_EQ(report.message_count, 100003u);
    EXPECT_EQ(std::strlen(report.text), sizeof report.text - 1);
    const Status loaded = load(*rig, bytes);
    EXPECT_FALSE(loaded.ok());
    EXPECT_NE(rig->session.error().find("more problems)"), std::string::npos)
        << rig->session.error();
}

TEST_F(BrainOfSession, InfoTellsWhatItIs) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<std::byte> bytes = save(*rig, HEARTH_BRAIN_DELTA);
    const auto info = brain_info(bytes);
    ASSERT_TRUE(info.ok()) << info.status().message();
    EXPECT_EQ(info->tensor_count, 2u);
    EXPECT_EQ(info->changed_count, 0u);
    EXPECT_EQ(info->is_delta, 1u);
    EXPECT_EQ(info->user_data_size, 1u);
    EXPECT_FALSE(brain_info(std::span(bytes).first(bytes.size() - 1)).ok());
}

}  // namespace
}  // namespace hearth::test
