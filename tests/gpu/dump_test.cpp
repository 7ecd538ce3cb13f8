// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Dumps: what is in them, what is not, and that recording one changes nothing.

#include "gpu/rig.hpp"

#include <hearth/dump_folder.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

namespace hearth::test {
namespace {

/// Of a .safetensors file, read by hand: the runtime's tests know no other reader.
struct DumpFile {
    std::string header;
    std::span<const std::byte> data;

    explicit DumpFile(std::span<const std::byte> bytes) {
        uint64_t header_bytes = 0;
        std::memcpy(&header_bytes, bytes.data(), 8);
        header.assign(reinterpret_cast<const char*>(bytes.data()) + 8, header_bytes);
        data = bytes.subspan(8 + header_bytes);
    }
    bool says(std::string_view text) const { return header.find(text) != std::string::npos; }
    /// The tensor's elements; none if there is no such f32 or u8 tensor.
    std::vector<float> floats(const std::string& name) const {
        const size_t at = header.find("\"" + name + "\":{\"dtype\":\"");
        if (at == std::string::npos) return {};
        const size_t offsets = header.find("\"data_offsets\":[", at) + 16;
        const uint64_t begin = std::stoull(header.substr(offsets));
        const uint64_t end = std::stoull(header.substr(header.find(',', offsets) + 1));
        std::vector<float> values((end - begin) / 4);
        std::memcpy(values.data(), data.data() + begin, end - begin);
        return values;
    }
};

class DumpOfSession : public RuntimeTest {
  protected:
    static RigOptions options() {
        RigOptions options;
        options.session = [](hearth_session_create_info& info) {
            info.readback_bytes = uint64_t{1} << 20;
            info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES;
        };
        return options;
    }
    /// The dump of a run of `learn` on x; empty after a reported failure.
    static std::vector<std::byte> dump_learn(Rig& rig, std::span<const float> x, float rate,
                                             uint32_t step, hearth_dump_flags flags = 0) {
        const uint64_t rows = x.size() / kWidth;
        rig.set_x(x);
        hearth_readback id = 0;
        rig.frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            const auto recorded =
                rig.session.record_dump(rig.learn_info(commands, rows, rate, bounds), step);
            EXPECT_TRUE(recorded.ok()) << recorded.status().message();
            if (recorded.ok() && recorded.value()) id = **recorded;
        });
        rig.advance();
        const auto data = rig.session.poll(id);
        EXPECT_TRUE(data.ok() && data.value().has_value());
        if (!data.ok() || !data.value()) return {};
        hearth_dump_info info = hearth_dump_info_default();
        info.entry = kLearn;
        info.command = step;
        info.batch_size = rows;
        info.data = data.value()->bytes.data();
        info.data_bytes = data.value()->bytes.size();
        info.frame_number = data.value()->frame_number;
        info.flags = flags;
        info.note = "level \"3\"\n";
        EXPECT_EQ(info.data_bytes, rig.program.dump_size(kLearn, rows, step));
        auto bytes = rig.session.encode_dump(info);
        EXPECT_TRUE(bytes.ok()) << bytes.status().message();
        rig.session.release(id);
        return bytes.ok() ? std::move(bytes).value() : std::vector<std::byte>();
    }
};

TEST_F(DumpOfSession, HoldsWhatWentInWhatCameOutAndWhatAStepWrote) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> warm = test_values(2 * kWidth, 1), x = test_values(3 * kWidth, 2);
    EXPECT_EQ(rig->learn(warm, 0.5f), reference.learn(warm, 0.5f));
    const std::vector<float> before = reference.state;
    const std::vector<float> y = reference.learn(x, 0.25f);

    constexpr uint32_t kT2 = 3;  // after t0, t1 and a barrier
    const std::vector<std::byte> bytes = dump_learn(*rig, x, 0.25f, kT2);
    ASSERT_FALSE(bytes.empty());
    const DumpFile dump(bytes);
    EXPECT_EQ(dump.floats("variable/state"), before);
    EXPECT_EQ(dump.floats("variable/zero"), std::vector<float>(16));
    EXPECT_EQ(dump.floats("input/x"), x);
    EXPECT_EQ(dump.floats("input/rate"), std::vector<float>{0.25f});
    EXPECT_EQ(dump.floats("output/y"), y);
    EXPECT_EQ(dump.floats("variable_after/state"), reference.state);
    EXPECT_TRUE(dump.floats("variable_after/zero").empty());
    std::vector<float> t2(x.size());
    std::transform(x.begin(), x.end(), t2.begin(), [](float v) { return 2.5f * v; });
    EXPECT_EQ(dump.floats("command/3/3"), t2);
    for (const char* text :
         {"\"hearth_dump\":\"2\"", "\"entry\":\"learn\"", "\"batch_size\":\"3\"",
          "\"command\":\"3\"", "\"session\":\"test\"", "\"note\":\"level \\\"3\\\"\\u000a\"",
          "0 dispatch mix: t0\\u000a1 dispatch mix: t1\\u000a2 barrier"})
        EXPECT_TRUE(dump.says(text)) << text << " in " << dump.header;
    EXPECT_TRUE(dump.says(std::string("\"device\":\"") + device().properties().deviceName + "\""));
    // It goes on as if there had been no dump.
    EXPECT_EQ(rig->act(x), reference.act(x));
    EXPECT_EQ(rig->learn(warm, 0.5f), reference.learn(warm, 0.5f));
}

TEST_F(DumpOfSession, EachStepMayBeChosenAndTheBitsStayThoseOfTheRun) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    TestReference reference;
    const uint32_t steps = rig->program.entry(kLearn)->command_count;
    uint32_t dumped = 0;
    for (uint32_t step = 0; step < steps; ++step) {
        hearth_command_info info = hearth_command_info_default();
        ASSERT_EQ(hearth_program_get_command(rig->program.handle(), kLearn, step, &info),
                  HEARTH_OK);
        if (info.kind == HEARTH_COMMAND_BARRIER) continue;
        ++dumped;
        const std::vector<float> x = test_values(2 * kWidth, step);
        const std::vector<float> y = reference.learn(x, 0.5f);
        const std::vector<std::byte> bytes = dump_learn(*rig, x, 0.5f, step);
        ASSERT_FALSE(bytes.empty());
        EXPECT_EQ(DumpFile(bytes).floats("output/y"), y) << step;
        EXPECT_EQ(DumpFile(bytes).floats("variable_after/state"), reference.state) << step;
    }
    EXPECT_EQ(dumped, 7u);
}

/// What the header promises of a bug report.
TEST_F(DumpOfSession, HasNoHandleAndNoAddressInIt) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    // The program alone could have them by chance, and has nothing of this run.
    const std::vector<std::byte> bytes =
        dump_learn(*rig, test_values(3 * kWidth, 2), 0.25f, HEARTH_NO_COMMAND);
    ASSERT_FALSE(bytes.empty());
    const auto has = [&](uint64_t number) {
        std::byte wanted[8];
        std::memcpy(wanted, &number, 8);
        return std::search(bytes.begin(), bytes.end(), wanted, wanted + 8) != bytes.end();
    };
    const auto number_of = [](auto handle) {
        uint64_t number = 0;
        std::memcpy(&number, &handle, sizeof handle);
        return number;
    };
    const hearth_buffer_range slot = rig->session.variable_buffer(kStateVariable).value();
    for (const uint64_t number :
         {number_of(device().handle()), number_of(rig->x().handle()), number_of(rig->x().data()),
          number_of(rig->session.handle()), number_of(rig->context.handle()),
          number_of(slot.buffer), uint64_t{rig->x().address()}, slot.device_address}) {
        if (number == 0) continue;  // there is no address
        EXPECT_FALSE(has(number)) << std::hex << number;
    }
    // The search finds what is there.
    uint64_t two_floats = 0;
    const std::vector<float> x = test_values(3 * kWidth, 2);
    std::memcpy(&two_floats, x.data(), 8);
    EXPECT_TRUE(has(two_floats));
}

TEST_F(DumpOfSession, OfALostDeviceHasTheTextsAlone) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    hearth_context_notify_device_lost(rig->context.handle());
    hearth_dump_info info = hearth_dump_info_default();
    info.entry = kAct;
    info.flags = HEARTH_DUMP_PROGRAM;
    const auto bytes = rig->session.encode_dump(info);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const DumpFile dump(*bytes);
    EXPECT_TRUE(dump.says("\"entry\":\"act\""));
    EXPECT_TRUE(dump.says("\"commands\":\"0 dispatch add_row: y\""));
    EXPECT_FALSE(dump.says("input/x"));
    const std::vector<std::byte> program = save_program(
        TestProgramBuilder(test_shaders(binding_model(device())), binding_model(device())).build());
    ASSERT_EQ(dump.data.size(), program.size());
    EXPECT_TRUE(std::equal(program.begin(), program.end(), dump.data.begin()));
}

TEST_F(DumpOfSession, IsRefusedWithTheReasonAndRecordsNothing) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    const float rate = 1;
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 2, rate, bounds);
        const auto refused = [&](uint32_t step) {
            EXPECT_FALSE(rig->session.record_dump(info, step).ok());
            return std::string(rig->session.error());
        };
        EXPECT_EQ(refused(2),
                  "dump of entry learn: command 2 is a barrier; expected HEARTH_NO_COMMAND or "
                  "another of its 11");
        EXPECT_EQ(
            refused(99),
            "dump of entry learn: command 99 does not exist; expected HEARTH_NO_COMMAND or another "
            "of its 11");
        info.max_dispatches = 1;
        EXPECT_EQ(
            refused(0),
            "entry learn: limits such as max_flops need a cursor, at which a later call continues");
        info.max_dispatches = 0;
        bounds[0].usage &= ~uint32_t{VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
        EXPECT_TRUE(refused(0).ends_with("create it with TRANSFER_SRC usage, which dumps need"))
            << rig->session.error();
        EXPECT_EQ(rig->session.status().readbacks_in_flight, 0u);
    });
    // None of these is there to be asked about.
    EXPECT_EQ(rig->program.dump_size(9, 1), 0u);
    EXPECT_EQ(rig->program.dump_size(kLearn, 0), 0u);
    EXPECT_EQ(rig->program.dump_size(kLearn, kRowsCapacity + 1), 0u);
    EXPECT_EQ(rig->program.dump_size(kLearn, 1, 2), 0u);
    hearth_dump_info info = hearth_dump_info_default();
    const auto says = [&](hearth_result result, std::string_view text) {
        uint64_t bytes = 0;
        EXPECT_EQ(hearth_dump_encode(rig->session.handle(), &info, nullptr, &bytes), result);
        EXPECT_EQ(rig->session.error(), text);
    };
    info.data = &info;
    info.data_bytes = 12;
    says(HEARTH_ERROR_INVALID_ARGUMENT,
         "dump: 12 bytes of data, expected the " +
             std::to_string(rig->program.dump_size(kLearn, 1)) +
             " of hearth_record_dump with this entry, batch size and command");
    info.batch_size = 9;
    says(HEARTH_ERROR_OUT_OF_RANGE, "dump: the batch size is 9, expected 1..8");
    info.entry = 4;
    says(HEARTH_ERROR_NOT_FOUND, "dump: entry is 4, expected less than 2");
    info = hearth_dump_info_default();
    info.command = 2;
    says(HEARTH_ERROR_INVALID_ARGUMENT,
         "dump: command 2 of 11 does not exist or is a barrier; expected another index, or "
         "HEARTH_NO_COMMAND");
    info = hearth_dump_info_default();
    info.flags = 6;
    says(HEARTH_ERROR_INVALID_ARGUMENT, "dump: flags 0x6 has unknown bits");
    info = hearth_dump_info_default();
    uint64_t bytes = 10;
    std::byte out[10];
    EXPECT_EQ(hearth_dump_encode(rig->session.handle(), &info, out, &bytes),
              HEARTH_ERROR_OUT_OF_RANGE);
    EXPECT_GT(bytes, 10u);
}

TEST_F(DumpOfSession, OfRowsWithAStrideIsPackedAndADroppedOneNeverArrives) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    TestReference reference;
    constexpr uint64_t kRowBytes = kWidth * 4, kStride = 2 * kRowBytes;
    const std::vector<float> apart = test_values(4 * kWidth, 3);
    std::vector<float> x(apart.begin(), apart.begin() + kWidth);
    x.insert(x.end(), apart.begin() + 2 * kWidth, apart.begin() + 3 * kWidth);
    rig->set_x(apart);
    hearth_readback lost = 0, id = 0;
    const auto record = [&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 2, bounds);
        bounds[0] = rig->bind(kActX, rig->x(), kStride + kRowBytes);
        bounds[0].item_stride = kStride;
        const auto recorded = rig->session.record_dump(info);
        EXPECT_TRUE(recorded.ok()) << recorded.status().message();
        return recorded.ok() ? recorded.value().value_or(0) : hearth_readback{0};
    };
    rig->drop([&](VkCommandBuffer commands) { lost = record(commands); });
    rig->frame([&](VkCommandBuffer commands) { id = record(commands); });
    rig->advance();
    EXPECT_EQ(rig->session.poll(lost).status().code(), StatusCode::kNotFound);
    const auto data = rig->session.poll(id);
    ASSERT_TRUE(data.ok() && data.value().has_value());
    hearth_dump_info info = hearth_dump_info_default();
    info.entry = kAct;
    info.batch_size = 2;
    info.data = data.value()->bytes.data();
    info.data_bytes = data.value()->bytes.size();
    const auto bytes = rig->session.encode_dump(info);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(DumpFile(*bytes).floats("input/x"), x);
    EXPECT_EQ(DumpFile(*bytes).floats("output/y"), reference.act(x));
}

/// What hearth_session_dump hands over.
struct HandedOver {
    std::vector<uint64_t> indices;
    std::vector<std::vector<std::byte>> dumps;

    static void take(void* user_data, uint64_t index, const void* bytes, uint64_t byte_count) {
        auto& all = *static_cast<HandedOver*>(user_data);
        const auto* const first = static_cast<const std::byte*>(bytes);
        all.indices.push_back(index);
        all.dumps.emplace_back(first, first + byte_count);
    }
    hearth_session_dump_info ask(uint64_t count) {
        hearth_session_dump_info info = hearth_session_dump_info_default();
        info.count = count;
        info.callback = take;
        info.user_data = this;
        return info;
    }
};

TEST_F(DumpOfSession, TheNextExecutionsAreHandedOverAsTheyComplete) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    TestReference reference;
    HandedOver handed;
    hearth_session_dump_info info = handed.ask(3);
    info.flags = HEARTH_DUMP_PROGRAM;
    ASSERT_TRUE(rig->session.dump(info).ok()) << rig->session.error();
    std::vector<std::vector<float>> x, y;
    for (uint32_t i = 0; i < 5; ++i) {
        x.push_back(test_values((1 + i % 3) * kWidth, i));
        y.push_back(i % 2 == 0 ? reference.learn(x[i], 0.5f) : reference.act(x[i]));
        EXPECT_EQ(i % 2 == 0 ? rig->learn(x[i], 0.5f) : rig->act(x[i]), y[i]);
    }
    rig->advance();
    ASSERT_EQ(handed.indices, (std::vector<uint64_t>{0, 1, 2}));
    for (size_t i = 0; i < 3; ++i) {
        const DumpFile dump(handed.dumps[i]);
        EXPECT_EQ(dump.floats("input/x"), x[i]) << i;
        EXPECT_EQ(dump.floats("output/y"), y[i]) << i;
        EXPECT_TRUE(dump.says(i == 1 ? "\"entry\":\"act\"" : "\"entry\":\"learn\""));
        EXPECT_EQ(dump.says("\"program\":{"), i == 0) << i;
    }
    // Each goes on from what the one before left.
    EXPECT_EQ(DumpFile(handed.dumps[0]).floats("variable_after/state"),
              DumpFile(handed.dumps[1]).floats("variable/state"));
    EXPECT_EQ(DumpFile(handed.dumps[1]).floats("variable/state"),
              DumpFile(handed.dumps[2]).floats("variable/state"));
    EXPECT_EQ(rig->session.status().readbacks_in_flight, 0u);
}

TEST_F(DumpOfSession, OfTheNextExecutionsThoseThatAreDroppedOrFindNoRoomAreMissing) {
    RigOptions with_little_room = options();
    const auto sizes = make_rig(options());
    ASSERT_TRUE(sizes);
    const uint64_t one = sizes->program.dump_size(kAct, 1);
    with_little_room.session = [&](hearth_session_create_info& info) {
        info.readback_bytes = one + one / 2;
        info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES;
    };
    const auto rig = make_rig(with_little_room);
    ASSERT_TRUE(rig);
    HandedOver handed;
    ASSERT_TRUE(rig->session.dump(handed.ask(3)).ok()) << rig->session.error();
    const auto act = [&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 1, bounds);
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr), HEARTH_OK)
            << rig->session.error();
    };
    rig->set_x(test_values(kWidth, 1));
    rig->drop(act);  // 0
    rig->advance();
    EXPECT_TRUE(handed.indices.empty());
    rig->frame([&](VkCommandBuffer commands) {
        act(commands);  // 1
        act(commands);  // no room
        // Neither slices nor what may be executed again.
        std::array<hearth_tensor_binding, 2> bounds;
        hearth_record_info info = rig->act_info(commands, 1, bounds);
        info.max_dispatches = 1;
        hearth_run_cursor cursor{};
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, &cursor), HEARTH_OK);
    });
    rig->advance();
    EXPECT_EQ(handed.indices, std::vector<uint64_t>{1});
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 1, bounds);
        hearth_run_cursor cursor{};  // without a limit it is whole
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, &cursor), HEARTH_OK);  // 2
    });
    rig->frame(act);
    rig->advance();
    EXPECT_EQ(handed.indices, (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(rig->session.status().readbacks_in_flight, 0u);
}

TEST_F(DumpOfSession, TheNextExecutionsAreGivenUpWhenAskedOrWhenTheSessionEnds) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    HandedOver handed;
    rig->hold();
    ASSERT_TRUE(rig->session.dump(handed.ask(2)).ok());
    const auto act = [&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 1, bounds);
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr), HEARTH_OK);
    };
    rig->frame(act);
    ASSERT_TRUE(rig->session.dump(hearth_session_dump_info_default()).ok());
    EXPECT_EQ(rig->session.status().readbacks_in_flight, 0u);
    ASSERT_TRUE(rig->session.dump(handed.ask(2)).ok());
    rig->frame(act);
    rig->session = Session();
    rig->let_go();
    rig->advance();
    EXPECT_TRUE(handed.indices.empty());
}

TEST_F(DumpOfSession, TheNextExecutionsAreRefusedWithTheReason) {
    RigOptions tight = options();
    tight.session = [](hearth_session_create_info& info) { info.readback_bytes = 64; };
    const auto rig = make_rig(tight);
    ASSERT_TRUE(rig);
    HandedOver handed;
    hearth_session_dump_info info = handed.ask(1);
    const auto refused = [&] {
        EXPECT_FALSE(rig->session.dump(info).ok());
        return std::string(rig->session.error());
    };
    EXPECT_EQ(refused(),
              "session_dump: a dump takes " + std::to_string(rig->program.dump_size(kAct, 1)) +
                  " bytes or more; raise hearth_session_create_info::readback_bytes, which is 64");
    info.flags = 6;
    EXPECT_EQ(refused(), "session_dump: flags 0x6 has unknown bits");
    info.callback = nullptr;
    EXPECT_EQ(refused(), "session_dump: callback is null");
}

TEST_F(DumpOfSession, OneCallWritesTheNextExecutionsToAFolder) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() /
        ("hearth_dump_folder_" + std::to_string(os::unlikely_number()));
    {
        const auto dumps = DumpFolder::open(rig->session, (folder / "run").string(), 2);
        ASSERT_TRUE(dumps.ok()) << dumps.status().message();
        for (uint32_t i = 0; i < 3; ++i) (void)rig->act(test_values(2 * kWidth, i));
        rig->advance();
        EXPECT_EQ(dumps->count(), 2u);
        EXPECT_TRUE(dumps->status().ok()) << dumps->status().message();
    }
    for (uint32_t i = 0; i < 2; ++i) {
        const auto bytes = read_whole_file(
            (folder / "run" / ("00000" + std::to_string(i) + ".safetensors")).string());
        ASSERT_TRUE(bytes.ok()) << bytes.status().message();
        EXPECT_EQ(DumpFile(*bytes).floats("input/x"), test_values(2 * kWidth, i));
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "run" / "000002.safetensors"));
    // A file is no folder.
    const auto refused =
        DumpFolder::open(rig->session, (folder / "run" / "000000.safetensors").string(), 2);
    EXPECT_FALSE(refused.ok());
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hearth::test
