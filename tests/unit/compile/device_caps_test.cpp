// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Device caps that no device has are rejected by name; all others give kernels within them.

#include "compiler/driver/device_caps.hpp"

#include "compiler/codegen/glsl_compiler.hpp"
#include "compiler/driver/compile.hpp"
#include "program/spirv.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>
#include <hearth/tuning.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <iterator>

namespace hearth::test {
namespace {

/// A GPU with cooperative matrices of both scopes.
DeviceCaps rich_caps() {
    DeviceCaps caps = baseline_caps();
    caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x = 1024;
    caps.max_compute_shared_memory_size = 48 << 10;
    caps.shader_float16 = caps.storage_buffer_16bit_access = caps.storage_buffer_8bit_access = true;
    caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
    caps.workgroup_scope_granularities = {
        {{64, {16, 16, 16}}, {128, {32, 16, 16}}, {256, {32, 32, 16}}}};
    return caps;
}

using Network = void (*)(Trace&);

void learner(Trace& trace) {
    const Tensor x = trace.input("x", {kBatch, 32});
    const Tensor y = nn::mlp(trace, "net", x, {64, 64, 8}, tanh, {.seed = 1});
    const Tensor loss = mse_loss(y, trace.input("t", {kBatch, 8}));
    minimize(loss, trace.params(), AdamOptions());
    trace.output("loss", loss);
}

const Network kNetworks[] = {
    learner,
    [](Trace& trace) {
        const Tensor x = trace.input("x", {256, 256}, DType::kF16);
        trace.output("y", relu(matmul(x, x, false, true)));
    },
    [](Trace& trace) {
        const Tensor w = trace.input("w", {32, 16, 3, 3});
        trace.output("y", relu(conv(trace.input("x", {4, 16, 12, 12}), w)));
    },
    [](Trace& trace) {
        const Tensor q = trace.input("q", {2, 4, 40, 32});
        trace.output("y", attention(q, q * 0.5, q + 1.0));
    },
    [](Trace& trace) {
        trace.output("y", gru(trace.input("x", {kBatch, 4, 8}), trace.input("h", {kBatch, 16}),
                              trace.input("wi", {48, 8}), trace.input("wh", {48, 16}), {}, {}));
    },
    [](Trace& trace) {
        const Tensor x = trace.input("x", {kBatch, 300});
        trace.output("softmax", softmax(x));
        trace.output("sorted", sort(x));
        trace.output("sums", cumsum(x, 1));
        trace.output("mean", mean(exp(x), {0}));
    },
};

Result<CompiledProgram> compile_for(Network network, const DeviceCaps& caps,
                                    Precision precision = Precision::kF16) {
    Trace trace("run");
    network(trace);
    HEARTH_ASSIGN(Graph graph, trace.build());
    return compile_graphs({std::move(graph)},
                          {.caps = caps, .max_batch_size = 300, .precision = precision});
}

void expect_short(const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
    EXPECT_TRUE(status.message().starts_with("DeviceCaps: ")) << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("get_device_caps()"), std::string::npos) << status.message();
}

// A device without cooperative matrices reports 0x0x0; a host that turns them on by hand kept that.
TEST(DeviceCaps, WithCooperativeMatricesOfSizeZeroAreRejected) {
    for (const bool has_f16 : {false, true})
        for (const bool has_matrices : {false, true})
            for (const Precision precision : {Precision::kF32, Precision::kF16}) {
                DeviceCaps caps = baseline_caps();
                caps.shader_float16 = caps.storage_buffer_16bit_access = has_f16;
                if (has_matrices) caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
                caps.cooperative_matrix_shape = {0, 0, 0};
                const auto compiled = compile_for(learner, caps, precision);
                EXPECT_EQ(compiled.ok(), !has_matrices);
                if (compiled.ok()) continue;
                expect_short(compiled.status());
                const std::string& text = compiled.status().message();
                for (const char* size : {"m", "n", "k"})
                    EXPECT_NE(text.find("cooperative_matrix_shape." + std::string(size) +
                                        " is 0, expected a power of two from 4 to 128"),
                              std::string::npos)
                        << text;
                EXPECT_EQ(text.find("shader_float16 is false") != std::string::npos, !has_f16);
            }
}

struct WrongField {
    const char* text;  ///< part of the error
    void (*set)(DeviceCaps&);
};

constexpr WrongField kWrongFields[] = {
    {"subgroup_size is 0, expected a power of two from 1 to 128",
     [](DeviceCaps& c) { c.subgroup_size = 0; }},
    {"subgroup_size is 48, expected", [](DeviceCaps& c) { c.subgroup_size = 48; }},
    {"subgroup_size is 256, expected", [](DeviceCaps& c) { c.subgroup_size = 256; }},
    {"max_compute_work_group_invocations is 127, expected from 128 to 65536",
     [](DeviceCaps& c) { c.max_compute_work_group_invocations = 127; }},
    {"max_compute_work_group_invocations is 4294967295, expected",
     [](DeviceCaps& c) { c.max_compute_work_group_invocations = 0xffffffff; }},
    {"max_compute_work_group_size_x is 0, expected from 128",
     [](DeviceCaps& c) { c.max_compute_work_group_size_x = 0; }},
    {"max_compute_work_group_count_x is 65534, expected from 65535 to 4294967295",
     [](DeviceCaps& c) { c.max_compute_work_group_count_x = 65534; }},
    {"max_compute_shared_memory_size is 48, expected from 4096",
     [](DeviceCaps& c) { c.max_compute_shared_memory_size = 48; }},
    {"max_push_constants_size is 0, expected from 128",
     [](DeviceCaps& c) { c.max_push_constants_size = 0; }},
    {"min_storage_buffer_offset_alignment is 24, expected a power of two from 16",
     [](DeviceCaps& c) { c.min_storage_buffer_offset_alignment = 24; }},
    {"min_storage_buffer_offset_alignment is 8, expected",
     [](DeviceCaps& c) { c.min_storage_buffer_offset_alignment = 8; }},
    {"max_storage_buffer_range is 0, expected from 1",
     [](DeviceCaps& c) { c.max_storage_buffer_range = 0; }},
    {"compute_units is 65537, expected from 0 to 65536",
     [](DeviceCaps& c) { c.compute_units = 65537; }},
    {"spirv_version is 0, expected 0x00010300", [](DeviceCaps& c) { c.spirv_version = 0; }},
    {"spirv_version is 4206592, expected",  // VK_API_VERSION_1_3
     [](DeviceCaps& c) { c.spirv_version = (1u << 22) | (3u << 12); }},
    {"device_type is 5, expected from 0 to 4",
     [](DeviceCaps& c) { c.device_type = static_cast<DeviceType>(5); }},
    {"cpu_isa is 7, expected from 0 to 6",
     [](DeviceCaps& c) { c.cpu_isa = static_cast<CpuIsa>(7); }},
    {"cooperative_matrix is 3, expected from 0 to 2",
     [](DeviceCaps& c) { c.cooperative_matrix = static_cast<CooperativeMatrixExt>(3); }},
    {"cooperative_matrix_shape.m is 12, expected a power of two",
     [](DeviceCaps& c) { c.cooperative_matrix_shape.m = 12; }},
    {"cooperative_matrix_shape.n is 256, expected",
     [](DeviceCaps& c) { c.cooperative_matrix_shape.n = 256; }},
    {"cooperative_matrix_shape.k is 0, expected",
     [](DeviceCaps& c) { c.cooperative_matrix_shape.k = 0; }},
    {"shader_float16 is false, expected true, as cooperative_matrix is not kNone",
     [](DeviceCaps& c) { c.shader_float16 = false; }},
    {"storage_buffer_16bit_access is false, expected true",
     [](DeviceCaps& c) { c.storage_buffer_16bit_access = false; }},
    {"cooperative_matrix_nv is true, expected false, as cooperative_matrix is kNone",
     [](DeviceCaps& c) {
         c = baseline_caps();
         c.cooperative_matrix_nv = true;
     }},
    {"workgroup_scope_reserved_shared_memory is 49153, expected from 0 to 49152",
     [](DeviceCaps& c) { c.workgroup_scope_reserved_shared_memory = 49153; }},
    {"workgroup_scope_granularities[3].invocations is 1025, expected from 1 to 1024",
     [](DeviceCaps& c) { c.workgroup_scope_granularities[3].invocations = 1025; }},
    {"workgroup_scope_granularities[0].invocations is 64, expected 0, as cooperative_matrix is not "
     "kKhr",
     [](DeviceCaps& c) { c.cooperative_matrix = CooperativeMatrixExt::kNv; }},
    {"workgroup_scope_granularities[1].granularity.m is 0, expected from 1 to 1024",
     [](DeviceCaps& c) { c.workgroup_scope_granularities[1].granularity.m = 0; }},
    {"workgroup_scope_granularities[1].granularity.n is 0, expected",
     [](DeviceCaps& c) { c.workgroup_scope_granularities[1].granularity.n = 0; }},
    {"workgroup_scope_granularities[2].granularity.k is 2000, expected",
     [](DeviceCaps& c) { c.workgroup_scope_granularities[2].granularity.k = 2000; }},
};

TEST(DeviceCaps, EachWrongFieldIsNamedWithWhatWasExpectedAndFound) {
    EXPECT_TRUE(check_device_caps(rich_caps()).ok()) << check_device_caps(rich_caps()).message();
    for (const WrongField& field : kWrongFields) {
        DeviceCaps caps = rich_caps();
        field.set(caps);
        const Status status = check_device_caps(caps);
        ASSERT_FALSE(status.ok()) << field.text;
        expect_short(status);
        EXPECT_NE(status.message().find(field.text), std::string::npos) << status.message();
    }
}

TEST(DeviceCaps, OfTheLibraryAreAccepted) {
    EXPECT_TRUE(check_device_caps(baseline_caps()).ok());
    for (const CpuIsa isa : {CpuIsa::kScalar, CpuIsa::kX86_64V2, CpuIsa::kX86_64V3,
                             CpuIsa::kX86_64V4, CpuIsa::kNeon, CpuIsa::kWasm128})
        EXPECT_TRUE(check_device_caps(cpu_caps(isa)).ok()) << name_of(isa);
}

class Draws {
  public:
    explicit Draws(uint64_t key) : key_(key) {}
    uint32_t below(uint32_t count) { return philox_bits(key_, 0, next_++) % count; }
    template <class Field>
    void pick(Field& field, std::initializer_list<uint64_t> values) {
        const auto choice = below(static_cast<uint32_t>(2 * values.size()));
        if (choice < values.size()) field = static_cast<Field>(std::data(values)[choice]);
    }

  private:
    uint64_t key_;
    uint32_t next_ = 0;
};

/// About half of the fields are at the ends of their range, or in its middle.
DeviceCaps unusual_caps(Draws& draws) {
    DeviceCaps c = draws.below(2) == 0 ? rich_caps() : baseline_caps();
    draws.pick(c.subgroup_size, {1, 2, 4, 8, 16, 64, 128});
    for (uint32_t* size : {&c.max_compute_work_group_invocations, &c.max_compute_work_group_size_x})
        draws.pick(*size,
                   {128, 129, 255, 256, 257, 500, 1000, 1024, 1025, 1536, 2048, 65535, 65536});
    draws.pick(c.max_compute_work_group_count_x,
               {65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff});
    draws.pick(c.max_compute_shared_memory_size,
               {4096, 4097, 8192, 16384, 32768, 49153, 65536, 1 << 20, 1 << 30});
    draws.pick(c.max_push_constants_size, {128, 256, 65536});
    draws.pick(c.min_storage_buffer_offset_alignment, {16, 32, 256, 4096, 65536});
    draws.pick(c.max_storage_buffer_range, {1, 1000, 1 << 30, uint64_t{1} << 62});
    draws.pick(c.compute_units, {0, 1, 7, 1000, 65536});
    draws.pick(c.spirv_version, {0x00010300, 0x00010400, 0x00010600, 0x0001ff00});
    draws.pick(c.device_type, {0, 1, 2, 3, 4});
    draws.pick(c.storage_buffer_8bit_access, {0, 1});
    draws.pick(c.subgroup_arithmetic, {0, 1});
    if (c.cooperative_matrix == CooperativeMatrixExt::kNone) return c;
    draws.pick(c.cooperative_matrix_nv, {0, 1});
    MatrixShape& shape = c.cooperative_matrix_shape;
    for (uint32_t* size : {&shape.m, &shape.n, &shape.k})
        draws.pick(*size, {4, 8, 16, 32, 64, 128});
    for (WorkgroupMatrixGranularity& w : c.workgroup_scope_granularities) {
        draws.pick(w.invocations, {1, 32, 64, 100, 256});
        w.invocations = std::min(
            {w.invocations, c.max_compute_work_group_invocations, c.max_compute_work_group_size_x});
        MatrixShape& least = w.granularity;
        for (uint32_t* size : {&least.m, &least.n, &least.k})
            draws.pick(*size, {1, 3, 8, 32, 96, 1024});
    }
    draws.pick(c.workgroup_scope_reserved_shared_memory, {0, 1000, 4096});
    return c;
}

void expect_within(const Program& program, const DeviceCaps& caps, const std::string& where) {
    for (const Kernel& kernel : program.kernels) {
        std::vector<SpirvId> ids(spirv_bound(kernel.spirv));
        SpirvFacts facts;
        ViewError error;
        ASSERT_TRUE(read_spirv(kernel.spirv, {}, ids, &facts, &error)) << error.text.c_str();
        const auto& [x, y, z] = facts.local_size;
        EXPECT_LE(x * y * z, caps.max_compute_work_group_invocations) << where << kernel.name;
        EXPECT_LE(x, caps.max_compute_work_group_size_x) << where << kernel.name;
        EXPECT_LE(facts.shared_bytes, caps.max_compute_shared_memory_size) << where << kernel.name;
        EXPECT_LE(facts.version, caps.spirv_version) << where << kernel.name;
    }
}

TEST(DeviceCaps, UnusualOnesGiveKernelsWithinThem) {
    int compiled_count = 0;
    for (uint64_t i = 0; i < 400; ++i) {
        Draws draws(i);
        const DeviceCaps caps = unusual_caps(draws);
        const std::string where = "caps " + std::to_string(i) + ": ";
        const auto compiled = compile_for(kNetworks[i % std::size(kNetworks)], caps);
        if (compiled.ok()) {
            ++compiled_count;
            expect_within(compiled->program, caps, where);
        } else {
            // Small buffers do not hold the network.
            EXPECT_EQ(compiled.status().code(), StatusCode::kOutOfRange)
                << where << compiled.status().message();
        }
    }
    EXPECT_GT(compiled_count, 200);
}

/// Any number, most often one near a power of two.
uint64_t any_number(Draws& draws) {
    const uint64_t power = uint64_t{1} << draws.below(33);
    switch (draws.below(5)) {
        case 0:
            return draws.below(20);
        case 1:
            return power - 1;
        case 2:
            return power + 1;
        case 3:
            return power;
        default:
            return draws.below(0xffffffff);
    }
}

TEST(DeviceCaps, WrongOnesNeverCrashNorShowSource) {
    int wrong_count = 0;
    for (uint64_t i = 0; i < 3000; ++i) {
        Draws draws(1000 + i);
        DeviceCaps caps = unusual_caps(draws);
        std::vector<std::function<void(uint64_t)>> fields;
        const auto add = [&fields](auto& field) {
            fields.push_back([&field](uint64_t v) {
                field = static_cast<std::remove_reference_t<decltype(field)>>(v);
            });
        };
        add(caps.subgroup_size);
        add(caps.max_compute_work_group_invocations);
        add(caps.max_compute_work_group_size_x);
        add(caps.max_compute_work_group_count_x);
        add(caps.max_compute_shared_memory_size);
        add(caps.max_push_constants_size);
        add(caps.min_storage_buffer_offset_alignment);
        add(caps.max_storage_buffer_range);
        add(caps.shader_float16);
        add(caps.storage_buffer_16bit_access);
        add(caps.storage_buffer_8bit_access);
        add(caps.subgroup_arithmetic);
        add(caps.cooperative_matrix);
        add(caps.cooperative_matrix_shape.m);
        add(caps.cooperative_matrix_shape.n);
        add(caps.cooperative_matrix_shape.k);
        add(caps.workgroup_scope_granularities[0].invocations);
        add(caps.workgroup_scope_granularities[0].granularity.m);
        add(caps.workgroup_scope_granularities[3].invocations);
        add(caps.workgroup_scope_granularities[3].granularity.k);
        add(caps.workgroup_scope_reserved_shared_memory);
        add(caps.cooperative_matrix_nv);
        add(caps.cpu_isa);
        add(caps.device_type);
        add(caps.compute_units);
        add(caps.spirv_version);
        for (uint32_t n = 1 + draws.below(4); n > 0; --n)
            fields[draws.below(static_cast<uint32_t>(fields.size()))](any_number(draws));
        if (check_device_caps(caps).ok() && i % 8 != 0) continue;  // as in the test above
        const auto compiled = compile_for(kNetworks[i % std::size(kNetworks)], caps);
        if (compiled.ok() || compiled.status().code() == StatusCode::kOutOfRange) continue;
        ++wrong_count;
        expect_short(compiled.status());
    }
    EXPECT_GT(wrong_count, 1500);
}

TEST(DeviceCaps, WrongOnesGiveATunerNoTrials) {
    DeviceCaps caps = rich_caps();
    const auto compiled = compile_for(kNetworks[1], caps);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    ASSERT_FALSE(compiled->tunable.empty());
    EXPECT_GT(Tuner(compiled->tunable, {.caps = caps}).trial_count(), 0u);
    caps.cooperative_matrix_shape = {0, 0, 0};
    const Tuner tuner(compiled->tunable, {.caps = caps});
    EXPECT_TRUE(tuner.is_done());
    ASSERT_EQ(tuner.remarks().size(), 1u);
    EXPECT_NE(tuner.remarks()[0].find("cooperative_matrix_shape.m is 0"), std::string::npos);
}

TEST(GlslCompiler, TellsTheFirstErrorWithItsLineAlone) {
    std::string source = "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {\n";
    for (int i = 0; i < 300; ++i) source += "    int a" + std::to_string(i) + " = 1;\n";
    source += "    int wrong = missing + 1;\n    int other = absent;\n}\n";
    const auto compiled = compile_glsl(source, "test");
    ASSERT_FALSE(compiled.ok());
    const std::string& text = compiled.status().message();
    EXPECT_TRUE(text.starts_with("kernel test does not compile: line 304: 'missing' :")) << text;
    EXPECT_TRUE(text.ends_with(": int wrong = missing + 1;")) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

}  // namespace
}  // namespace hearth::test
