// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gpu/rig.hpp"
#include "program/spirv.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::test {
namespace {

class Slice : public RuntimeTest {
  protected:
    /// With a session that cuts dispatches.
    std::unique_ptr<Rig> make_rig(RigOptions options = {}) {
        options.session = [more = options.session](hearth_session_create_info& info) {
            info.flags |= HEARTH_SESSION_SPLIT_DISPATCHES;
            if (more) more(info);
        };
        return RuntimeTest::make_rig(options);
    }
};

/// Records slices of `learn`, each in a frame of its own, until it is finished; how many there
/// were.
uint32_t learn_in_slices(Rig& rig, std::span<const float> x, float rate,
                         const std::function<void(hearth_record_info&)>& limit,
                         const std::function<void()>& between = {}) {
    rig.set_x(x);
    hearth_run_cursor cursor{};
    for (uint32_t slices = 1; slices < 100; ++slices) {
        Progress progress = Progress::kNotReady;
        rig.frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            hearth_record_info info = rig.learn_info(commands, x.size() / kWidth, rate, bounds);
            limit(info);
            const Result<Progress> result = rig.session.record(info, &cursor);
            ASSERT_TRUE(result.ok()) << result.status().message();
            progress = result.value();
        });
        if (progress == Progress::kDone) {
            EXPECT_EQ(cursor.next_command, 0u);
            EXPECT_EQ(cursor.next_sub_dispatch, 0u);
            return slices;
        }
        if (progress != Progress::kIncomplete) break;
        if (between) between();
    }
    ADD_FAILURE() << "the slices do not end";
    return 0;
}

TEST_F(Slice, SlicedAtEachBarrierEqualsUnslicedBitForBit) {
    // Intervals of `learn` have 2, 2, 1, 1 and 1 steps; with a limit of one they are cut, too.
    const uint32_t expected_slices[] = {7, 4, 3, 2, 2, 2, 1};
    for (uint32_t limit = 1; limit <= 7; ++limit) {
        const auto whole = make_rig(), sliced = make_rig();
        ASSERT_TRUE(whole && sliced);
        for (uint64_t i = 0; i < 3; ++i) {
            const std::vector<float> x = test_values(5 * kWidth, i);
            const std::vector<float> y = whole->learn(x, 0.3f);
            const uint32_t slices = learn_in_slices(
                *sliced, x, 0.3f, [&](hearth_record_info& info) { info.max_dispatches = limit; });
            EXPECT_EQ(slices, expected_slices[limit - 1]) << limit;
            EXPECT_EQ(sliced->get_y(5), y) << limit;
        }
        EXPECT_EQ(sliced->read_slot(kStateVariable), whole->read_slot(kStateVariable)) << limit;
    }
}

/// Slices of a run without limits of its own, with this limit of the context.
uint32_t slices_within(const std::function<std::unique_ptr<Rig>(RigOptions)>& make, double us,
                       uint64_t max_flops = 0) {
    RigOptions options;
    options.host = [us](hearth_context_create_info& info) { info.max_slice_us = us; };
    const auto rig = make(options);
    if (!rig) return 0;
    const std::vector<float> x = test_values(5 * kWidth, 1);
    return learn_in_slices(*rig, x, 0.3f,
                           [&](hearth_record_info& info) { info.max_flops = max_flops; });
}

TEST_F(Slice, RunsWithoutLimitsHaveThatOfTheirContext) {
    const auto make = [&](const RigOptions& options) { return make_rig(options); };
    EXPECT_EQ(slices_within(make, HUGE_VAL), 1u);
    EXPECT_EQ(slices_within(make, 0), 1u);  // the default of a device that shares no display
    const uint32_t shortest = slices_within(make, 1e-6);
    EXPECT_GT(shortest, 4u);
    EXPECT_EQ(slices_within(make, 1e-6, UINT64_MAX), 1u);  // a limit of its own
}

TEST_F(Slice, TheLimitOfAContextIsANumberOfMicroseconds) {
    for (const double wrong : {-1.0, std::nan("")}) {
        hearth_context_create_info info = device().host_info();
        info.max_slice_us = wrong;
        const auto context = Context::create(info);
        ASSERT_FALSE(context.ok());
        EXPECT_NE(context.status().message().find("max_slice_us is"), std::string::npos)
            << context.status().message();
    }
}

TEST_F(Slice, BytesAndFlopsLimitSlicesToo) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(2 * kWidth, 1);
    EXPECT_EQ(learn_in_slices(*rig, x, 0.5f,
                              [](hearth_record_info& info) { info.max_bytes_moved = 4096; }),
              7u);
    EXPECT_EQ(rig->get_y(2), reference.learn(x, 0.5f));
    EXPECT_EQ(
        learn_in_slices(*rig, x, 0.5f, [](hearth_record_info& info) { info.max_flops = 3000; }),
        2u);
    EXPECT_EQ(rig->get_y(2), reference.learn(x, 0.5f));
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

// At 8 rows the dispatches of `learn` have 12 workgroups, or 2.
TEST_F(Slice, ADispatchIsCutIntoPartsAndTheBitsStay) {
    const uint32_t expected_slices[] = {50, 25, 17};
    for (uint32_t limit = 1; limit <= 40; ++limit) {
        const auto whole = make_rig(), sliced = make_rig();
        ASSERT_TRUE(whole && sliced);
        for (uint64_t i = 0; i < 2; ++i) {
            const std::vector<float> x = test_values(8 * kWidth, i);
            const std::vector<float> y = whole->learn(x, 0.3f);
            const uint32_t slices = learn_in_slices(
                *sliced, x, 0.3f, [&](hearth_record_info& info) { info.max_workgroups = limit; });
            if (limit <= 3) {
                EXPECT_EQ(slices, expected_slices[limit - 1]) << limit;
            }
            EXPECT_EQ(sliced->get_y(8), y) << limit;
        }
        EXPECT_EQ(sliced->read_slot(kStateVariable), whole->read_slot(kStateVariable)) << limit;
    }
}

TEST_F(Slice, RandomCutsGiveTheSameBits) {
    const auto whole = make_rig(), sliced = make_rig();
    ASSERT_TRUE(whole && sliced);
    for (uint64_t i = 0; i < 40; ++i) {
        const std::vector<float> x = test_values((1 + i % kRowsCapacity) * kWidth, i);
        const std::vector<float> y = whole->learn(x, 0.3f);
        uint64_t cuts = 0;
        learn_in_slices(*sliced, x, 0.3f, [&](hearth_record_info& info) {
            const uint64_t key = Hash().number(i).number(++cuts).value();
            if (key % 4 > 0) info.max_workgroups = 1 + static_cast<uint32_t>(key / 4 % 16);
            if (key % 3 == 0) info.max_dispatches = 1 + static_cast<uint32_t>(key / 64 % 3);
            if (key % 5 == 0) info.max_flops = 1 + key / 1024 % 2000;
            if (key % 7 == 0) info.max_bytes_moved = 1 + key / 4096 % 8192;
        });
        EXPECT_EQ(sliced->get_y(1 + i % kRowsCapacity), y) << i;
    }
    EXPECT_EQ(sliced->read_slot(kStateVariable), whole->read_slot(kStateVariable));
}

TEST_F(Slice, APartIsAsLargeAsItsShareOfTheEstimateAllows) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(8 * kWidth, 1);
    rig->set_x(x);
    hearth_command_info about = hearth_command_info_default();
    ASSERT_EQ(hearth_program_get_command(rig->program.handle(), kLearn, 0, &about), HEARTH_OK);
    EXPECT_EQ(about.sub_dispatch_count, 12u);
    EXPECT_EQ(about.workgroups, 12u);
    EXPECT_EQ(about.flops, 1000u);
    const float rate = 0.5f;
    hearth_run_cursor cursor{};
    const auto slice = [&](uint64_t max_flops) {
        rig->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            hearth_record_info info = rig->learn_info(commands, 8, rate, bounds);
            info.max_flops = max_flops;
            ASSERT_EQ(rig->session.record(info, &cursor).value(), Progress::kIncomplete);
        });
        return std::pair(cursor.next_command, cursor.next_sub_dispatch);
    };
    using At = std::pair<uint32_t, uint32_t>;
    EXPECT_EQ(slice(250), At(0, 3));
    EXPECT_EQ(slice(249), At(0, 5));
    EXPECT_EQ(slice(1), At(0, 6));      // one part at least
    EXPECT_EQ(slice(600), At(1, 1));    // the rest of the step, and what fits of the next
    EXPECT_EQ(slice(917), At(3, 0));    // as far as the barrier
    EXPECT_EQ(slice(2999), At(10, 0));  // whole intervals are not cut
}

TEST_F(Slice, ACursorWithinADispatchIsChecked) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->set_x(test_values(8 * kWidth, 1));
    const float rate = 0.5f;
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 8, rate, bounds);
        info.max_workgroups = 5;
        hearth_run_cursor cursor{};
        ASSERT_EQ(hearth_record(rig->session.handle(), &info, &cursor), HEARTH_INCOMPLETE);
        ASSERT_EQ(cursor.next_sub_dispatch, 5u);
        // Behind the last part, of a step that is no dispatch, of a barrier.
        const std::pair<uint32_t, uint32_t> places[] = {{0, 12}, {0, ~0u}, {4, 1}, {2, 1}};
        for (const auto& [step, part] : places) {
            hearth_run_cursor other = cursor;
            other.next_command = step;
            other.next_sub_dispatch = part;
            EXPECT_EQ(hearth_record(rig->session.handle(), &info, &other),
                      HEARTH_ERROR_INVALID_ARGUMENT)
                << step << ", " << part;
            EXPECT_EQ(rig->session.error(),
                      "entry learn: the cursor is of another entry or batch size; pass the one of "
                      "the previous slice, or a zeroed one to start");
        }
    });
}

TEST_F(Slice, WhatDiffersFromThePreviousSliceIsNamed) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->set_x(test_values(8 * kWidth, 1));
    const float rate = 0.5f, other_rate = 0.25f;
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 8, rate, bounds);
        info.max_workgroups = 5;
        hearth_run_cursor cursor{};
        ASSERT_EQ(hearth_record(rig->session.handle(), &info, &cursor), HEARTH_INCOMPLETE);
        const auto refused = [&](uint64_t rows, const float& with) {
            std::array<hearth_tensor_binding, 3> others;
            hearth_record_info changed = rig->learn_info(commands, rows, with, others);
            changed.max_workgroups = 5;
            hearth_run_cursor copy = cursor;
            EXPECT_EQ(hearth_record(rig->session.handle(), &changed, &copy),
                      HEARTH_ERROR_INVALID_ARGUMENT);
            return std::string(rig->session.error());
        };
        EXPECT_EQ(refused(7, rate),
                  "entry learn: the batch size is 7, that of the previous slice was 8; pass the "
                  "same for all slices of a run");
        EXPECT_EQ(refused(8, other_rate),
                  "entry learn: binding rate differs from that of the previous slice; pass the "
                  "same for all slices of a run");
        // The run itself can go on.
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, &cursor), HEARTH_INCOMPLETE);
    });
}

TEST_F(Slice, ADroppedPartIsRecordedAgain) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(8 * kWidth, 1);
    rig->set_x(x);
    const float rate = 0.5f;
    hearth_run_cursor cursor{};
    Progress progress = Progress::kIncomplete;
    const auto slice = [&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 8, rate, bounds);
        info.max_workgroups = 5;
        progress = rig->session.record(info, &cursor).value();
    };
    for (int frame = 0; frame < 60 && progress == Progress::kIncomplete; ++frame) {
        const hearth_run_cursor before = cursor;
        if (frame % 2 == 0) {
            EXPECT_NE(rig->drop(slice), "");
            if (progress == Progress::kDone) cursor = before;
            progress = Progress::kIncomplete;
        } else {
            rig->frame(slice);
        }
    }
    EXPECT_EQ(progress, Progress::kDone);
    EXPECT_EQ(rig->get_y(8), reference.learn(x, rate));
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(Slice, ADispatchIsRecordedWholeUnlessTheSessionCutsDispatches) {
    const auto whole = RuntimeTest::make_rig(), cut = make_rig();
    ASSERT_TRUE(whole && cut);
    const std::vector<float> x = test_values(8 * kWidth, 1);
    const auto one_workgroup = [](hearth_record_info& info) { info.max_workgroups = 1; };
    const auto one_dispatch = [](hearth_record_info& info) { info.max_dispatches = 1; };
    EXPECT_EQ(learn_in_slices(*whole, x, 0.5f, one_workgroup), 6u);  // a copy has no workgroups
    EXPECT_EQ(learn_in_slices(*cut, x, 0.5f, one_dispatch), 7u);
    EXPECT_GT(learn_in_slices(*cut, x, 0.5f, one_workgroup), 7u);
}

/// A host's functions, which note the modules of pipelines, those for vkCmdDispatchBase apart.
struct PipelineNotes {
    using Module = std::vector<uint32_t>;
    static inline PFN_vkGetDeviceProcAddr real = nullptr;
    static inline VkDevice device = VK_NULL_HANDLE;
    static inline std::map<VkShaderModule, Module> modules;
    static inline std::set<Module> plain, with_base;

    static VkResult VKAPI_PTR create_module(VkDevice handle, const VkShaderModuleCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks,
                                            VkShaderModule* out) {
        const auto create =
            reinterpret_cast<PFN_vkCreateShaderModule>(real(device, "vkCreateShaderModule"));
        const VkResult result = create(handle, info, callbacks, out);
        modules[*out] = Module(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
        return result;
    }
    static VkResult VKAPI_PTR create_pipelines(VkDevice handle, VkPipelineCache cache,
                                               uint32_t count,
                                               const VkComputePipelineCreateInfo* infos,
                                               const VkAllocationCallbacks* callbacks,
                                               VkPipeline* out) {
        for (uint32_t i = 0; i < count; ++i) {
            const bool has_base = (infos[i].flags & VK_PIPELINE_CREATE_DISPATCH_BASE_BIT) != 0;
            (has_base ? with_base : plain).insert(modules.at(infos[i].stage.module));
        }
        const auto create = reinterpret_cast<PFN_vkCreateComputePipelines>(
            real(device, "vkCreateComputePipelines"));
        return create(handle, cache, count, infos, callbacks, out);
    }
    static PFN_vkVoidFunction VKAPI_PTR device_proc(VkDevice handle, const char* name) {
        if (std::string_view(name) == "vkCreateShaderModule")
            return reinterpret_cast<PFN_vkVoidFunction>(&create_module);
        if (std::string_view(name) == "vkCreateComputePipelines")
            return reinterpret_cast<PFN_vkVoidFunction>(&create_pipelines);
        return real(handle, name);
    }
};

/// NVIDIA's driver takes a pipeline of the same module for the same, whether it may begin elsewhere
/// or not.
TEST_F(Slice, PipelinesThatMayBeCutAreOfModulesOfTheirOwn) {
    PipelineNotes::real = vk().GetDeviceProcAddr;
    PipelineNotes::device = device().handle();
    RigOptions options;
    options.host = [](hearth_context_create_info& info) {
        info.get_device_proc_addr = PipelineNotes::device_proc;
    };
    const auto whole = RuntimeTest::make_rig(options);
    ASSERT_TRUE(whole);
    EXPECT_TRUE(PipelineNotes::with_base.empty());
    const std::set<PipelineNotes::Module> plain = std::exchange(PipelineNotes::plain, {});
    const auto cut = make_rig(options);
    ASSERT_TRUE(cut);
    EXPECT_FALSE(PipelineNotes::with_base.empty());
    for (PipelineNotes::Module module : PipelineNotes::with_base) {
        EXPECT_FALSE(plain.contains(module));
        --module[kSpirvBoundWord];
        EXPECT_TRUE(plain.contains(module)) << "differs in more than its bound";
    }
}

TEST_F(Slice, NoSnapshotIsTakenInTheMiddleOfADispatchThatWrites) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->set_x(test_values(8 * kWidth, 1));
    const float rate = 0.5f;
    hearth_run_cursor cursor{};
    uint32_t refused = 0;
    for (Progress progress = Progress::kIncomplete; progress == Progress::kIncomplete;) {
        rig->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            hearth_record_info info = rig->learn_info(commands, 8, rate, bounds);
            info.max_workgroups = 1;
            progress = rig->session.record(info, &cursor).value();
            const auto snapshot = rig->session.record_save_brain(commands);
            ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
            const bool is_within = cursor.next_command == 8 && cursor.next_sub_dispatch == 1;
            EXPECT_EQ(!snapshot->has_value(), is_within);
            if (snapshot->has_value())
                rig->session.release(**snapshot);
            else
                ++refused;
        });
        rig->advance();
    }
    EXPECT_EQ(refused, 1u);
}

TEST_F(Slice, TimesAreThoseOfTheParts) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags |= HEARTH_SESSION_TIMESTAMP_COMMANDS;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    std::vector<std::pair<uint32_t, uint32_t>> begun{{0, 0}}, measured;
    const float rate = 0.5f;
    hearth_run_cursor cursor{};
    rig->set_x(test_values(8 * kWidth, 1));
    for (int slice = 0; slice < 5; ++slice) {
        rig->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            hearth_record_info info = rig->learn_info(commands, 8, rate, bounds);
            info.max_workgroups = 7;
            ASSERT_EQ(rig->session.record(info, &cursor).value(), Progress::kIncomplete);
        });
        begun.emplace_back(cursor.next_command, cursor.next_sub_dispatch);
        rig->advance();
        const auto profile = rig->session.next_timings();
        ASSERT_TRUE(profile.ok()) << profile.status().message();
        ASSERT_TRUE(profile->has_value());
        measured.emplace_back((*profile)->first_command, (*profile)->first_sub_dispatch);
        EXPECT_GE((*profile)->command_count, 1u);
    }
    begun.pop_back();
    EXPECT_EQ(measured, begun);
}

class SharedArena : public RuntimeTest {
  protected:
    /// A rig, and a second session of its program; both use one arena.
    void make(uint64_t arena_bytes) {
        rig_ = make_rig();
        ASSERT_TRUE(rig_);
        auto arena = Arena::create(rig_->context, arena_bytes);
        ASSERT_TRUE(arena.ok()) << arena.status().message();
        arena_ = std::move(*arena);
        hearth_session_create_info info = hearth_session_create_info_default();
        info.arena = arena_.handle();
        const uint64_t before = rig_->context.stats().device_bytes[HEARTH_MEMORY_ARENA];
        for (Session* session : {&rig_->session, &other_}) {
            auto made = Session::create(rig_->context, rig_->program, info);
            ASSERT_TRUE(made.ok()) << made.status().message();
            *session = std::move(*made);
            ASSERT_TRUE(session->create_pipelines().ok());
        }
        // The rig's first session had an arena of its own, which goes with it.
        EXPECT_LE(rig_->context.stats().device_bytes[HEARTH_MEMORY_ARENA], before);
        rig_->frame([&](VkCommandBuffer commands) {
            EXPECT_TRUE(rig_->session.record_initialize(commands).ok());
            EXPECT_TRUE(other_.record_initialize(commands).ok());
        });
    }
    void TearDown() override {
        arena_ = Arena();  // before the sessions that use it
        other_ = Session();
        rig_.reset();
        RuntimeTest::TearDown();
    }

    std::unique_ptr<Rig> rig_;
    Arena arena_;
    Session other_;
};

TEST_F(SharedArena, SessionsThatTakeTurnsComputeWhatEachWouldAlone) {
    make(4 * kRowsCapacity * kWidth * 4);
    TestReference reference, other_reference;
    const standalone::Buffer y = make_buffer(4 * kWidth * 4, standalone::MemoryKind::kReadback);
    for (uint64_t i = 0; i < 3; ++i) {
        const std::vector<float> x = test_values(4 * kWidth, i);
        rig_->set_x(x);
        const float rate = 0.25f, other_rate = -0.5f;
        rig_->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            ASSERT_TRUE(rig_->session.record(rig_->learn_info(commands, 4, rate, bounds)).ok());
            hearth_record_info info = rig_->learn_info(commands, 4, other_rate, bounds);
            for (hearth_tensor_binding& bound : bounds)
                if (bound.binding == kLearnY) bound = rig_->bind(kLearnY, y, 4 * kWidth * 4);
            ASSERT_TRUE(other_.record(info).ok()) << other_.error();
        });
        EXPECT_EQ(rig_->get_y(4), reference.learn(x, rate)) << i;
        const std::span<float> found = y.as<float>();
        EXPECT_EQ(std::vector<float>(found.begin(), found.end()),
                  other_reference.learn(x, other_rate))
            << i;
    }
}

TEST_F(SharedArena, ASlicedRunThatAnotherSessionCameBetweenIsRefused) {
    make(4 * kRowsCapacity * kWidth * 4);
    rig_->set_x(test_values(kWidth, 1));
    const float rate = 0.5f;
    rig_->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig_->learn_info(commands, 1, rate, bounds);
        info.max_dispatches = 1;
        hearth_run_cursor cursor{}, other_cursor{};
        EXPECT_EQ(*rig_->session.record(info, &cursor), hearth::Progress::kIncomplete);
        EXPECT_EQ(*rig_->session.record(info, &cursor), hearth::Progress::kIncomplete);
        EXPECT_EQ(*other_.record(info, &other_cursor), hearth::Progress::kIncomplete);
        const auto refused = rig_->session.record(info, &cursor);
        EXPECT_NE(refused.status().message().find("another session has used the shared arena"),
                  std::string::npos)
            << refused.status().message();
        EXPECT_TRUE(other_.record(info, &other_cursor).ok());
    });
}

// What the session itself records afterwards does not bring back what was overwritten.
TEST_F(SharedArena, ASlicedRunStaysRefusedWhenItsOwnSessionIsTheLastOneAgain) {
    make(4 * kRowsCapacity * kWidth * 4);
    rig_->set_x(test_values(kWidth, 1));
    const float rate = 0.5f;
    rig_->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        std::array<hearth_tensor_binding, 2> act_bounds;
        hearth_record_info info = rig_->learn_info(commands, 1, rate, bounds);
        hearth_run_cursor cursor{};
        info.max_dispatches = 1;
        EXPECT_EQ(*rig_->session.record(info, &cursor), hearth::Progress::kIncomplete);
        info.max_dispatches = 0;
        EXPECT_TRUE(other_.record(info).ok());
        EXPECT_TRUE(rig_->session.record(rig_->act_info(commands, 1, act_bounds)).ok());
        const auto refused = rig_->session.record(info, &cursor);
        EXPECT_NE(refused.status().message().find("another session has used the shared arena"),
                  std::string::npos)
            << refused.status().message();
    });
}

TEST_F(SharedArena, OneThatIsTooSmallOrGoneIsRefused) {
    make(4 * kRowsCapacity * kWidth * 4);
    hearth_arena* small = nullptr;
    EXPECT_EQ(hearth_arena_create(rig_->context.handle(), 0, &small), HEARTH_ERROR_OUT_OF_RANGE);
    EXPECT_EQ(Arena::create(rig_->context, 0).status().code(), StatusCode::kOutOfRange);
    ASSERT_EQ(hearth_arena_create(rig_->context.handle(), 1000, &small), HEARTH_OK);
    hearth_session_create_info info = hearth_session_create_info_default();
    info.arena = small;
    const auto refusal = [&] {
        return Session::create(rig_->context, rig_->program, info).status().message();
    };
    EXPECT_NE(
        refusal().find(
            "the shared arena has 1000 bytes, this session needs 12288; create a larger arena"),
        std::string::npos)
        << refusal();
    info.arena = arena_.handle();
    arena_ = Arena();
    EXPECT_NE(refusal().find("info->arena was destroyed"), std::string::npos) << refusal();
    hearth_arena_destroy(small);
}

TEST_F(Slice, AnotherEntryMayRunBetweenTwoSlices) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const standalone::Buffer act_x = make_buffer(kWidth * 4, standalone::MemoryKind::kUpload);
    const standalone::Buffer act_y = make_buffer(kWidth * 4, standalone::MemoryKind::kReadback);
    const std::vector<float> x = test_values(4 * kWidth, 2), seen = test_values(kWidth, 3);
    std::copy(seen.begin(), seen.end(), act_x.as<float>().begin());
    const std::vector<float> old_state = reference.state;
    const std::vector<float> y = reference.learn(x, 0.5f);
    uint32_t between = 0;
    learn_in_slices(
        *rig, x, 0.5f, [](hearth_record_info& info) { info.max_dispatches = 1; },
        [&] {
            rig->frame([&](VkCommandBuffer commands) {
                std::array<hearth_tensor_binding, 2> bounds;
                const hearth_record_info info = rig->act_info(commands, 1, bounds);
                bounds = {rig->bind(kActX, act_x, kWidth * 4), rig->bind(kActY, act_y, kWidth * 4)};
                ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
            });
            // The state changes in the sixth slice.
            const std::vector<float>& state = ++between < 6 ? old_state : reference.state;
            rig->finish();
            for (uint32_t i = 0; i < kWidth; ++i)
                EXPECT_EQ(act_y.as<float>()[i], seen[i] + state[i]) << between;
        });
    EXPECT_EQ(between, 6u);
    EXPECT_EQ(rig->get_y(4), y);
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(Slice, AnAbandonedRunHarmsNothingAndItsCursorIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(4 * kWidth, 2);
    rig->set_x(x);
    const float rate = 0.5f;
    hearth_run_cursor cursor{};
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
        info.max_dispatches = 2;
        ASSERT_EQ(rig->session.record(info, &cursor).value(), Progress::kIncomplete);
    });
    TestReference reference;
    EXPECT_EQ(rig->learn(x, rate), reference.learn(x, rate));
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        const hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, &cursor), HEARTH_ERROR_INVALID_STATE);
        EXPECT_EQ(rig->session.error(),
                  "entry learn: the entry was started again since the slice that the cursor "
                  "continues; continue with the newer cursor, or start again");
    });
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(Slice, RowsAndBindingsMustNotChangeBetweenSlices) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    float rate = 0.5f;
    hearth_run_cursor cursor{};
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
        info.max_dispatches = 2;
        ASSERT_EQ(rig->session.record(info, &cursor).value(), Progress::kIncomplete);
    });
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        const auto try_with = [&](uint64_t rows) {
            const hearth_record_info info = rig->learn_info(commands, rows, rate, bounds);
            return hearth_record(rig->session.handle(), &info, &cursor);
        };
        EXPECT_EQ(try_with(3), HEARTH_ERROR_INVALID_ARGUMENT);
        rate = 0.25f;
        EXPECT_EQ(try_with(4), HEARTH_ERROR_INVALID_ARGUMENT);
        rate = 0.5f;
        EXPECT_EQ(try_with(4), HEARTH_OK);
    });
}

}  // namespace
}  // namespace hearth::test
