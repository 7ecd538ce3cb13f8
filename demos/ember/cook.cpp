// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The studio's build step: compiles the parts of a brain for GPUs and CPUs, and writes what the game
// compiles in:
//
//     parts.inc          a package for each part, and the list of kernel tables
//     PART_CPU.c         a part's kernels for a CPU, with their table

#include "part_graphs.hpp"

#include <hearth/c.hpp>
#include <hearth/compile.hpp>
#include <hearth/file.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace hearth::ember {
namespace {

/// The instruction sets to cook for, best first.
Result<std::vector<CpuIsa>> parse_cpus(std::span<char* const> names) {
    constexpr CpuIsa kAll[] = {CpuIsa::kX86_64V4, CpuIsa::kX86_64V3, CpuIsa::kX86_64V2,
                               CpuIsa::kNeon, CpuIsa::kScalar};
    std::vector<CpuIsa> cpus;
    for (const std::string_view name : names) {
        const auto is_named = [&](CpuIsa cpu) { return name == name_of(cpu); };
        const auto* const found = std::ranges::find_if(kAll, is_named);
        if (found == std::end(kAll)) return invalid_argument("unknown CPU: " + std::string(name));
        cpus.push_back(*found);
    }
    return cpus;
}

std::string table_of(const char* part, CpuIsa cpu) {
    std::string name = "ember_" + std::string(part) + "_" + name_of(cpu);
    std::ranges::replace(name, '-', '_');
    return name;
}

class Kitchen {
  public:
    Kitchen(std::string folder, std::vector<CpuIsa> cpus)
        : folder_(std::move(folder)), cpus_(std::move(cpus)) {}

    Status cook_all();

  private:
    std::vector<DeviceTarget> targets() const;
    Status cook_part(size_t index);
    Status cook_kernels(const PartGraphs& part, const char* name);
    void add_package(const char* name, std::span<const std::byte> bytes);

    std::string folder_;
    std::vector<CpuIsa> cpus_;
    std::string arrays_, packages_, declarations_, tables_;
};

std::vector<DeviceTarget> Kitchen::targets() const {
    std::vector<DeviceTarget> all{
        {.name = "gpu"}, {.name = kSoftwareTarget}, {.name = "descriptors"}};
    all[1].options.caps.device_type = DeviceType::kCpu;
    all[2].options.binding_model = BindingModel::kDescriptor;
    for (const CpuIsa cpu : cpus_) {
        DeviceTarget& target = all.emplace_back();
        target.name = name_of(cpu);
        target.options.caps = cpu_caps(cpu);
        target.options.keep_source = false;  // the game links the kernels
    }
    return all;
}

/// Writes the C of a part's kernels.
Status Kitchen::cook_kernels(const PartGraphs& part, const char* name) {
    for (const CpuIsa cpu : cpus_) {
        HEARTH_ASSIGN(const Compiled compiled,
                      compile(agents::runtime_entries(part.graphs, part.manifest),
                              {.caps = cpu_caps(cpu),
                               .max_batch_size = part.manifest.n_agents,
                               .keep_source = true}));
        const std::string table = table_of(name, cpu);
        HEARTH_ASSIGN(const std::string text, emit_cpu_kernels(compiled.bytes, table));
        HEARTH_TRY(
            write_file_atomically(folder_ + "/" + table.substr(table.find('_') + 1) + ".c", text));
        declarations_ += "extern \"C\" const hearth_cpu_kernel_table " + table + ";\n";
        tables_ += "    &" + table + ",\n";
    }
    return {};
}

/// Appends bytes as an array of words, for compilers are slow at arrays of bytes.
void Kitchen::add_package(const char* name, std::span<const std::byte> bytes) {
    const std::string array = std::string(name) + "_words";
    arrays_ += "constexpr uint64_t " + array + "[] = {\n";
    for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
        char text[24];
        std::snprintf(text, sizeof text, "0x%llx,\n", static_cast<unsigned long long>(word));
        arrays_ += text;
    }
    arrays_ += "};\n";
    packages_ += "    std::as_bytes(std::span(" + array + ")).first(" +
                 std::to_string(bytes.size()) + "),\n";
}

Status Kitchen::cook_part(size_t index) {
    const PartGraphs part = trace_part(static_cast<Part>(index));
    HEARTH_ASSIGN(const Cooked cooked, cook(agents::runtime_entries(part.graphs, part.manifest),
                                            {.device_targets = targets(),
                                             .max_batch_size = part.manifest.n_agents,
                                             .agents = part.manifest.save()}));
    add_package(kPartNames[index], cooked.bytes);
    return cook_kernels(part, kPartNames[index]);
}

Status Kitchen::cook_all() {
    for (size_t i = 0; i < kPartCount; ++i) HEARTH_TRY(cook_part(i).with_context(kPartNames[i]));
    return write_file_atomically(
        folder_ + "/parts.inc",
        declarations_ + "namespace hearth::ember {\nnamespace {\n" + arrays_ +
            "const std::span<const std::byte> kPackages[] = {\n" + packages_ +
            "};\nconst hearth_cpu_kernel_table* const kKernels[] = {\n" + tables_ +
            "};\n}  // namespace\n}  // namespace hearth::ember\n");
}

Status run(std::span<char* const> arguments) {
    if (arguments.size() < 2) return invalid_argument("usage: cook_ember FOLDER CPU...");
    HEARTH_ASSIGN(std::vector<CpuIsa> cpus, parse_cpus(arguments.subspan(1)));
    return Kitchen(arguments[0], std::move(cpus)).cook_all();
}

}  // namespace
}  // namespace hearth::ember

int main(int argc, char** argv) {
    const hearth::Status status =
        hearth::ember::run(std::span(argv, static_cast<size_t>(argc)).subspan(1));
    if (!status.ok()) std::fprintf(stderr, "cook_ember: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
