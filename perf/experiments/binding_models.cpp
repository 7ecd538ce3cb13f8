// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Experiment 2 (docs/design/0001-binding-model.md): the CPU and GPU costs of binding buffers to
// kernels.

#include "experiments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

namespace hearth::experiments {
namespace {

enum class Model { kAddresses, kSets, kDynamicOffsets, kPushDescriptors };

struct ModelInfo {
    Model model;
    const char* label;
    const char* shader_suffix;
};

constexpr ModelInfo kModels[] = {
    {Model::kAddresses, "addresses", "_addresses"},
    {Model::kSets, "set per dispatch", "_descriptors"},
    {Model::kDynamicOffsets, "dynamic offsets", "_descriptors"},
    {Model::kPushDescriptors, "push descriptors", "_descriptors"},
};

/// A byte range that a kernel reads or writes.
struct Region {
    const Buffer* buffer;
    uint64_t offset_bytes;
    uint64_t size_bytes;
};

constexpr uint32_t kMaxRegions = 4;
constexpr uint32_t kMaxPushBytes = 128;

/// Dispatches kernels with `region_count` buffers in one binding model. Everything possible is
/// created before recording: pipelines, layouts, and for `kSets` a set per dispatch.
class Binder {
  public:
    Binder(Gpu& gpu, Model model, uint32_t region_count, uint32_t push_bytes)
        : gpu_(gpu), model_(model), region_count_(region_count) {
        if (model == Model::kAddresses) {
            layout_ = gpu.make_layout(push_bytes, VK_NULL_HANDLE);
            return;
        }
        std::array<VkDescriptorSetLayoutBinding, kMaxRegions> bindings{};
        for (uint32_t i = 0; i < region_count; ++i) {
            bindings[i] = {i, type(), 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
        }
        VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
        if (model == Model::kPushDescriptors) {
            info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
        }
        info.bindingCount = region_count;
        info.pBindings = bindings.data();
        check(vkCreateDescriptorSetLayout(gpu.device(), &info, nullptr, &set_layout_),
              "vkCreateDescriptorSetLayout");
        layout_ = gpu.make_layout(push_bytes, set_layout_);
    }
    ~Binder() {
        if (pool_) vkDestroyDescriptorPool(gpu_.device(), pool_, nullptr);
        if (set_layout_) vkDestroyDescriptorSetLayout(gpu_.device(), set_layout_, nullptr);
    }
    Binder(const Binder&) = delete;
    Binder& operator=(const Binder&) = delete;

    Pipeline make_pipeline(const std::string& shader) {
        return gpu_.make_pipeline(shader, layout_);
    }

    /// Writes the sets of a sequence: `regions` holds `region_count` for each dispatch in turn.
    void prepare(std::span<const Region> regions) {
        if (model_ != Model::kSets && model_ != Model::kDynamicOffsets) return;
        const uint32_t count =
            model_ == Model::kSets ? static_cast<uint32_t>(regions.size() / region_count_) : 1;
        const VkDescriptorPoolSize size{type(), count * region_count_};
        VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
        pool_info.maxSets = count;
        pool_info.poolSizeCount = 1;
        pool_info.pPoolSizes = &size;
        check(vkCreateDescriptorPool(gpu_.device(), &pool_info, nullptr, &pool_),
              "vkCreateDescriptorPool");
        sets_.resize(count);
        const std::vector<VkDescriptorSetLayout> layouts(count, set_layout_);
        VkDescriptorSetAllocateInfo allocation{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
        allocation.descriptorPool = pool_;
        allocation.descriptorSetCount = count;
        allocation.pSetLayouts = layouts.data();
        check(vkAllocateDescriptorSets(gpu_.device(), &allocation, sets_.data()),
              "vkAllocateDescriptorSets");
        for (uint32_t i = 0; i < count; ++i) {
            std::array<VkDescriptorBufferInfo, kMaxRegions> infos;
            std::array<VkWriteDescriptorSet, kMaxRegions> writes;
            fill_writes(regions.subspan(i * region_count_, region_count_), sets_[i], infos, writes);
            vkUpdateDescriptorSets(gpu_.device(), region_count_, writes.data(), 0, nullptr);
        }
    }

    /// Records dispatch number `index` of the prepared sequence.
    template <typename Tail>
    void dispatch(Recorder& recorder, const Pipeline& pipeline, uint32_t index,
                  std::span<const Region> regions, const Tail& tail, uint32_t x,
                  uint32_t y = 1) const {
        static_assert(sizeof(Tail) + kMaxRegions * 8 <= kMaxPushBytes);
        recorder.bind(pipeline);
        std::array<std::byte, kMaxPushBytes> push;
        uint32_t push_bytes = 0;
        switch (model_) {
            case Model::kAddresses:
                for (const Region& region : regions) {
                    const VkDeviceAddress address = region.buffer->address + region.offset_bytes;
                    std::memcpy(push.data() + push_bytes, &address, sizeof(address));
                    push_bytes += sizeof(address);
                }
                break;
            case Model::kSets:
                bind_set(recorder, sets_[index], {});
                break;
            case Model::kDynamicOffsets: {
                std::array<uint32_t, kMaxRegions> offsets;
                for (uint32_t i = 0; i < region_count_; ++i) {
                    offsets[i] = static_cast<uint32_t>(regions[i].offset_bytes);
                }
                bind_set(recorder, sets_[0], {offsets.data(), region_count_});
                break;
            }
            case Model::kPushDescriptors: {
                std::array<VkDescriptorBufferInfo, kMaxRegions> infos;
                std::array<VkWriteDescriptorSet, kMaxRegions> writes;
                fill_writes(regions, VK_NULL_HANDLE, infos, writes);
                gpu_.push_descriptor_set()(recorder.cmd(), VK_PIPELINE_BIND_POINT_COMPUTE, layout_,
                                           0, region_count_, writes.data());
                break;
            }
        }
        std::memcpy(push.data() + push_bytes, &tail, sizeof(tail));
        vkCmdPushConstants(recorder.cmd(), layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           push_bytes + static_cast<uint32_t>(sizeof(tail)), push.data());
        recorder.dispatch_bound(x, y);
    }

  private:
    VkDescriptorType type() const {
        return model_ == Model::kDynamicOffsets ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC
                                                : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    }

    void bind_set(Recorder& recorder, VkDescriptorSet set,
                  std::span<const uint32_t> offsets) const {
        vkCmdBindDescriptorSets(recorder.cmd(), VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set,
                                static_cast<uint32_t>(offsets.size()), offsets.data());
    }

    void fill_writes(std::span<const Region> regions, VkDescriptorSet set,
                     std::array<VkDescriptorBufferInfo, kMaxRegions>& infos,
                     std::array<VkWriteDescriptorSet, kMaxRegions>& writes) const {
        for (uint32_t i = 0; i < region_count_; ++i) {
            // A dynamic offset is added when the set is bound.
            const bool is_dynamic = model_ == Model::kDynamicOffsets;
            infos[i] = {regions[i].buffer->handle, is_dynamic ? 0 : regions[i].offset_bytes,
                        regions[i].size_bytes};
            writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
            writes[i].dstSet = set;
            writes[i].dstBinding = i;
            writes[i].descriptorCount = 1;
            writes[i].descriptorType = type();
            writes[i].pBufferInfo = &infos[i];
        }
    }

    Gpu& gpu_;
    Model model_;
    uint32_t region_count_;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    std::vector<VkDescriptorSet> sets_;
};

struct SaxpyTail {
    uint32_t count;
    float a;
};

constexpr uint32_t kAddressPushBytes = 2 * 8 + sizeof(SaxpyTail);

uint32_t saxpy_push_bytes(Model model) {
    return model == Model::kAddresses ? kAddressPushBytes : sizeof(SaxpyTail);
}

bool is_available(const Gpu& gpu, Model model) {
    return model != Model::kPushDescriptors || gpu.push_descriptor_set();
}

Spread scaled(const Spread& spread, double factor) {
    return {spread.p10 * factor, spread.median * factor, spread.p90 * factor};
}

/// Many small saxpys: with barriers, each reads what the one before wrote; without, none depends
/// on another. With two pipelines, they alternate. Times are per dispatch.
void dispatch_row(Gpu& gpu, Report& report, const ModelInfo& info, bool has_barriers,
                  int pipeline_count, double budget_s) {
    constexpr uint32_t kDispatches = 512;
    constexpr uint32_t kFloats = 1024;
    constexpr uint64_t kBytes = kFloats * sizeof(float);
    const std::string name = std::string("dispatch_") + (has_barriers ? "chain" : "free") +
                             (pipeline_count == 2 ? "_2pipes" : "");
    if (!report.wants(name, info.label) || !is_available(gpu, info.model)) return;

    Buffer x = gpu.allocate((kDispatches + 1) * kBytes);
    Buffer y = gpu.allocate((kDispatches + 1) * kBytes);
    {
        std::vector<Region> regions;
        for (uint32_t i = 0; i < kDispatches; ++i) {
            regions.push_back(has_barriers ? Region{&y, i * kBytes, kBytes}
                                           : Region{&x, i * kBytes, kBytes});
            regions.push_back({&y, (i + 1) * kBytes, kBytes});
        }
        Binder binder(gpu, info.model, 2, saxpy_push_bytes(info.model));
        const Pipeline pipelines[2] = {
            binder.make_pipeline(std::string("saxpy_float") + info.shader_suffix),
            binder.make_pipeline(std::string("saxpy_vec4") + info.shader_suffix)};
        binder.prepare(regions);
        const auto record = [&](Recorder& recorder) {
            for (uint32_t i = 0; i < kDispatches; ++i) {
                const bool is_vec4 = pipeline_count == 2 && i % 2 == 1;
                const SaxpyTail tail{is_vec4 ? kFloats / 4 : kFloats, 0.5f};
                binder.dispatch(recorder, pipelines[is_vec4], i,
                                std::span<const Region>(regions).subspan(i * 2, 2), tail,
                                tail.count / 256);
                if (has_barriers) recorder.barrier();
            }
        };

        // Halves and small integers: exact in f32, so the results must be equal.
        std::vector<float> x_data((kDispatches + 1) * kFloats), y_data(x_data.size());
        for (size_t i = 0; i < x_data.size(); ++i) x_data[i] = static_cast<float>(i % 1000);
        for (size_t i = 0; i < y_data.size(); ++i) {
            y_data[i] = has_barriers ? (i < kFloats ? 2.0f : 1.0f) : static_cast<float>(i % 7);
        }
        gpu.upload(x, x_data);
        gpu.upload(y, y_data);
        gpu.run(record);
        const std::vector<float> found = gpu.download(y, y_data.size());
        uint64_t wrong = 0;
        for (size_t i = 0; i < found.size(); ++i) {
            float expected = y_data[i];
            // A chain that starts at 2 and adds half the previous value to 1 stays at 2.
            if (i >= kFloats) {
                expected = has_barriers ? 2.0f : y_data[i] + 0.5f * x_data[i - kFloats];
            }
            wrong += found[i] != expected;
        }

        ResultRow row{.name = name, .variant = info.label};
        row.dispatches = 1;
        row.barriers = has_barriers ? 1 : 0;
        row.timing = gpu.measure(record, 1, budget_s);
        row.timing.gpu_us = scaled(row.timing.gpu_us, 1.0 / kDispatches);
        row.timing.record_us = scaled(row.timing.record_us, 1.0 / kDispatches);
        row.timing.process_us = scaled(row.timing.process_us, 1.0 / kDispatches);
        row.timing.repetitions = kDispatches;
        row.is_correct = wrong == 0;
        row.check = std::to_string(wrong) + " wrong";
        report.add(row);
    }
    gpu.free(x);
    gpu.free(y);
}

/// y = a x + y on two arrays of 64 MB: three times 64 MB moved.
void saxpy_row(Gpu& gpu, Report& report, const ModelInfo& info, const std::string& elem,
               double budget_s) {
    // 64 MB, less one workgroup: a grid dimension is only sure to allow 65,535 of them.
    constexpr uint32_t kFloats = 65535 * 256;
    constexpr uint64_t kBytes = uint64_t{kFloats} * sizeof(float);
    const std::string name = "saxpy_64mb_" + elem;
    if (!report.wants(name, info.label) || !is_available(gpu, info.model)) return;
    Buffer x = gpu.allocate(kBytes);
    Buffer y = gpu.allocate(kBytes);
    {
        const Region regions[2] = {{&x, 0, kBytes}, {&y, 0, kBytes}};
        Binder binder(gpu, info.model, 2, saxpy_push_bytes(info.model));
        const Pipeline pipeline = binder.make_pipeline("saxpy_" + elem + info.shader_suffix);
        binder.prepare(regions);
        const SaxpyTail tail{elem == "vec4" ? kFloats / 4 : kFloats, 0.5f};
        const auto record = [&](Recorder& recorder) {
            binder.dispatch(recorder, pipeline, 0, regions, tail, (tail.count + 255) / 256);
            recorder.barrier();
        };
        std::vector<float> x_data(kFloats), y_data(kFloats);
        for (size_t i = 0; i < kFloats; ++i) {
            x_data[i] = static_cast<float>(i % 1021);
            y_data[i] = static_cast<float>(i % 509);
        }
        gpu.upload(x, x_data);
        gpu.upload(y, y_data);
        gpu.run(record);
        const std::vector<float> found = gpu.download(y, kFloats);
        uint64_t wrong = 0;
        for (size_t i = 0; i < kFloats; ++i) wrong += found[i] != y_data[i] + 0.5f * x_data[i];

        ResultRow row{.name = name, .variant = info.label, .dispatches = 1, .barriers = 1};
        row.timing = gpu.measure(record, gpu.is_cpu() ? 1 : 20, budget_s);
        row.gb_per_s = 3.0 * kBytes / row.timing.gpu_us.median * 1e-3;
        row.gflop_per_s = 2.0 * kFloats / row.timing.gpu_us.median * 1e-3;
        row.is_correct = wrong == 0;
        row.check = std::to_string(wrong) + " wrong";
        report.add(row);
    }
    gpu.free(x);
    gpu.free(y);
}

/// A tiled f32 matrix product of 1024: compute-bound, loads through shared memory.
void matmul_row(Gpu& gpu, Report& report, const ModelInfo& info, double budget_s) {
    constexpr uint32_t kSize = 1024;
    constexpr uint64_t kBytes = uint64_t{kSize} * kSize * sizeof(float);
    if (!report.wants("matmul_1024", info.label) || !is_available(gpu, info.model)) return;
    Buffer a = gpu.allocate(kBytes), b = gpu.allocate(kBytes), c = gpu.allocate(kBytes);
    {
        struct Tail {
            uint32_t m, n, k, k_per_split, split_stride;
        };
        const bool has_addresses = info.model == Model::kAddresses;
        // The address variant has a fourth, here unused, operand.
        const Region regions[4] = {
            {&a, 0, kBytes}, {&b, 0, kBytes}, {&c, 0, kBytes}, {&a, 0, kBytes}};
        const uint32_t region_count = has_addresses ? 4 : 3;
        const std::span<const Region> used(regions, region_count);
        const Tail tail{kSize, kSize, kSize, kSize, 0};
        Binder binder(gpu, info.model, region_count,
                      static_cast<uint32_t>(sizeof(tail)) + (has_addresses ? 4 * 8 : 0));
        const Pipeline pipeline =
            binder.make_pipeline(has_addresses ? "matmul_nn_64x64" : "matmul_nn_64x64_descriptors");
        binder.prepare(used);
        const auto record = [&](Recorder& recorder) {
            binder.dispatch(recorder, pipeline, 0, used, tail, kSize / 64, kSize / 64);
            recorder.barrier();
        };
        std::vector<float> a_data(kSize * kSize), b_data(kSize * kSize);
        for (size_t i = 0; i < a_data.size(); ++i) {
            a_data[i] = static_cast<float>(static_cast<int>(i * 7919 % 17) - 8);
            b_data[i] = static_cast<float>(static_cast<int>(i * 104729 % 13) - 6);
        }
        gpu.upload(a, a_data);
        gpu.upload(b, b_data);
        gpu.fill(c, ~0u);
        gpu.run(record);
        const std::vector<float> found = gpu.download(c, kSize * kSize);
        // Sums of small integers are exact; every 61st element is compared.
        uint64_t wrong = 0;
        for (uint32_t i = 0; i < kSize * kSize; i += 61) {
            float expected = 0;
            for (uint32_t k = 0; k < kSize; ++k) {
                expected += a_data[i / kSize * kSize + k] * b_data[k * kSize + i % kSize];
            }
            wrong += found[i] != expected;
        }

        ResultRow row{.name = "matmul_1024", .variant = info.label, .dispatches = 1, .barriers = 1};
        row.timing = gpu.measure(record, gpu.is_cpu() ? 1 : 20, budget_s);
        row.gflop_per_s = 2.0 * kSize * kSize * kSize / row.timing.gpu_us.median * 1e-3;
        row.is_correct = wrong == 0;
        row.check = std::to_string(wrong) + " wrong";
        report.add(row);
    }
    gpu.free(a);
    gpu.free(b);
    gpu.free(c);
}

}  // namespace

void run_binding_models(Gpu& gpu, Report& report, double budget_s) {
    for (const bool has_barriers : {false, true}) {
        for (const int pipeline_count : {1, 2}) {
            for (const ModelInfo& info : kModels) {
                dispatch_row(gpu, report, info, has_barriers, pipeline_count, budget_s);
            }
        }
    }
    for (const char* elem : {"float", "vec4"}) {
        for (const ModelInfo& info : kModels) saxpy_row(gpu, report, info, elem, budget_s);
    }
    for (const ModelInfo& info : kModels) matmul_row(gpu, report, info, budget_s);
}

}  // namespace hearth::experiments
