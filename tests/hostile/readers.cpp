// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "readers.hpp"

#include "compiler/driver/graph_file.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "compiler/ir/graph.hpp"
#include "core/bytes.hpp"
#include "core/checksum.hpp"
#include "device/vulkan/pipeline_cache.hpp"
#include "import/data/npy.hpp"
#include "program/package.hpp"

#include <hearth/brain.hpp>
#include <hearth/hearth_agents.h>
#include <hearth/hearth_runtime.hpp>
#include <hearth/io.hpp>
#include <hearth/weights.hpp>

#include <standalone/device.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace hearth::hostile {

namespace fs = std::filesystem;

namespace {

Status check_graph(const Graph& graph) {
    HEARTH_TRY(verify(graph));
    return print(graph).empty() ? internal_error("prints as nothing") : Status();
}

Status read_onnx(const Bytes& file) {
    HEARTH_ASSIGN(const ImportedModel model, import_onnx(file));
    return check_graph(model.graph());
}

/// The folder of a model with what lies beside it; gone when this goes.
class ModelFolder {
  public:
    ModelFolder() {
        std::string pattern = (fs::temp_directory_path() / "hearth_hostile_XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) return;
        root_ = pattern;
        std::error_code error;
        write("outside.data", Bytes(64, std::byte{1}));
        fs::create_directory(root_ / "model", error);
        fs::create_directory(root_ / "model/folder", error);
        write("model/w.data", Bytes(64, std::byte{1}));
        write("model/sparse.data", Bytes(1));
        fs::resize_file(root_ / "model/sparse.data", uintmax_t{1} << 36, error);
        fs::create_symlink("../outside.data", root_ / "model/link.data", error);
        (void)mkfifo((root_ / "model/pipe.data").c_str(), 0600);
    }
    ~ModelFolder() {
        std::error_code error;
        if (!root_.empty()) fs::remove_all(root_, error);
    }
    std::string write(const std::string& name, const Bytes& bytes) const {
        std::ofstream(root_ / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        return (root_ / name).string();
    }

  private:
    fs::path root_;
};

Status read_with_files(const Bytes& file) {
    const ModelFolder folder;
    HEARTH_ASSIGN(const ImportedModel model,
                  import_onnx_file(folder.write("model/net.onnx", file)));
    return check_graph(model.graph());
}

Status read_package(const Bytes& file) {
    const Aligned aligned(file);
    PackageView package;
    ViewError error;
    if (!package.open(aligned.bytes(), &error)) return Status(error.code, error.text.c_str());
    for (uint32_t i = 0; i < package.device_targets().size(); ++i) {
        HEARTH_ASSIGN(const Program program, load_program(package, i));
        if (dump(program).empty()) return internal_error("lists as nothing");
    }
    HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(package));
    for (const Graph& graph : graphs) HEARTH_TRY(check_graph(graph));
    return {};
}

Status read_program(const Bytes& file) {
    const Aligned aligned(file);
    HEARTH_ASSIGN(const Program program, load_program(aligned.bytes()));
    return dump(program).empty() ? internal_error("lists as nothing") : Status();
}

/// A game knows how much its brains hold; here: no more than a file of this size should.
Status read_brain(const Bytes& file) {
    Result<Brain> brain = load_brain(file, nullptr, (uint64_t{1} << 24) + 16 * file.size());
    // A difference needs its parent: what can be seen without it has been.
    if (!brain.ok() && brain.status().message().find("it is a delta") != std::string::npos)
        return {};
    return brain.status();
}

Status read_graph(const Bytes& file) {
    ByteReader in(file);
    const std::span<const std::byte> graph = in.take(in.number<uint64_t>());
    HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(graph, in.take(in.left())));
    for (const Graph& g : graphs) HEARTH_TRY(check_graph(g));
    return {};
}

Status read_tuning(const Bytes& file) {
    HEARTH_ASSIGN(const Tuning tuning, parse_tuning(text_of(file)));
    return print_tuning(tuning).empty() ? internal_error("prints as nothing") : Status();
}

// --- Agents ---

/// Stands for every kernel: these files attack tables, not code.
void do_nothing(void* const*, int32_t, int32_t, int32_t, int32_t) {}

/// A CPU context with the functions that the package's programs name.
Result<Context> context_for(const PackageView& package) {
    static std::vector<hearth_cpu_kernel> kernels;
    static hearth_cpu_kernel_table table{};
    static const hearth_cpu_kernel_table* tables[] = {&table};
    std::set<uint64_t> hashes;
    for (uint32_t i = 0; i < package.device_targets().size(); ++i) {
        const Result<OpenProgram> program = open_program(package, i);
        if (!program.ok() || program->view.cpu() == CpuIsa::kNone) continue;
        for (const file::KernelRecord& kernel : program->view.kernels())
            hashes.insert(native_code(program->view.spirv_of(kernel)).hash);
    }
    for (const uint64_t hash : hashes) kernels.push_back({hash, do_nothing});
    table.cpu_isa = HEARTH_CPU_ISA_SCALAR;
    table.count = static_cast<uint32_t>(kernels.size());
    table.kernels = kernels.data();
    hearth_cpu_context_create_info info = hearth_cpu_context_create_info_default();
    info.tables = tables;
    info.table_count = 1;
    info.device_memory_budget = 64 << 20;
    return Context::create_cpu(info);
}

/// Plays three frames with three agents.
Status play(const Context& context, const CpuCommandBuffer& commands, hearth_agents* agents) {
    const auto check = [&](hearth_result result) {
        return to_status(result, hearth_agents_error(agents));
    };
    hearth_session* const session = hearth_agents_get_session(agents);
    const hearth_result built = hearth_session_create_pipelines(session, 0);
    HEARTH_TRY(to_status(built, hearth_session_error(session)));
    for (uint64_t frame = 1; frame <= 3; ++frame) {
        HEARTH_TRY(
            to_status(hearth_begin_frame(context.handle(), frame, frame - 1), context.error()));
        hearth_agents_poll(agents);
        hearth_agent agent{};
        HEARTH_TRY(check(hearth_agents_add(agents, &agent)));
        HEARTH_TRY(check(hearth_agents_add_reward(agents, agent, 1)));
        float* const observation = hearth_agents_observation(agents, agent);
        std::fill_n(observation, hearth_agents_observation_size(agents), 0.5f);
        hearth_agents_record_info info = hearth_agents_record_info_default();
        info.command_buffer = commands.handle();
        HEARTH_TRY(check(hearth_agents_record(agents, &info)));
    }
    return {};
}

Status read_agents(const Bytes& file) {
    const Aligned aligned(file);
    PackageView package;
    ViewError error;
    if (!package.open(aligned.bytes(), &error)) return Status(error.code, error.text.c_str());
    HEARTH_ASSIGN(const Context context, context_for(package));
    HEARTH_ASSIGN(const CpuCommandBuffer commands, CpuCommandBuffer::create(context));
    HEARTH_ASSIGN(const LoadedProgram program,
                  LoadedProgram::load_package(context, aligned.bytes(), /*borrow=*/true));
    hearth_agents_create_info info = hearth_agents_create_info_default();
    info.program = program.handle();
    hearth_agents* agents = nullptr;
    hearth_messages messages{};
    const hearth_result made = hearth_agents_create(context.handle(), &info, &agents, &messages);
    HEARTH_TRY(to_status(made, messages.text));
    Status played = play(context, commands, agents);
    hearth_agents_destroy(agents);
    return played;
}

// --- Pipeline caches ---

/// Made once in each process, and never given back: the process ends after one file.
standalone::Device* device() {
    static standalone::Device* const made = []() -> standalone::Device* {
        auto instance = standalone::Instance::create();
        if (!instance.ok()) return nullptr;
        static std::unique_ptr<standalone::Instance> kept = std::move(*instance);
        auto created = standalone::Device::create(*kept);
        return created.ok() ? created->release() : nullptr;
    }();
    return made;
}

Result<Context> context_with(std::span<const std::byte> cache) {
    hearth_context_create_info host = device()->host_info();
    host.pipeline_cache_data = cache.data();
    host.pipeline_cache_bytes = cache.size();
    return Context::create(host);
}

Status read_pipeline_cache(const Bytes& file) {
    HEARTH_ASSIGN(Context context, context_with(file));
    if (context.stats().pipeline_cache_used != 0) return {};
    return corrupt_data("the pipeline cache is ignored");
}

}  // namespace

Bytes saved_pipeline_cache() {
    if (device() == nullptr) return {};
    auto context = context_with({});
    const auto saved =
        context.ok() ? context->save_pipeline_cache() : Result<Bytes>(context.status());
    return saved.ok() ? *saved : Bytes();
}

void mend_pipeline_cache(Bytes& bytes) {
    using gpu::PipelineCacheHeader;
    if (bytes.size() < sizeof(PipelineCacheHeader)) return;
    const auto payload = std::span(bytes).subspan(sizeof(PipelineCacheHeader));
    put(bytes, offsetof(PipelineCacheHeader, byte_count), static_cast<uint64_t>(payload.size()));
    put(bytes, offsetof(PipelineCacheHeader, checksum), checksum(payload));
}

Status set_up(const std::string& reader) {
    if (reader == "pipeline cache" && device() == nullptr)
        return unsupported("there is no Vulkan device");
    return {};
}

Status read(const std::string& reader, const Bytes& file) {
    if (reader == "onnx") return read_onnx(file);
    if (reader == "external") return read_with_files(file);
    if (reader == "tensor") return read_onnx_tensor(file).status();
    if (reader == "safetensors") return read_safetensors(file).status();
    if (reader == "torch") return read_torch(file).status();
    if (reader == "pickle") return read_pickle_alone(file);
    if (reader == "npy") return read_npy(file).status();
    if (reader == "package") return read_package(file);
    if (reader == "agents") return read_agents(file);
    if (reader == "program") return read_program(file);
    if (reader == "brain") return read_brain(file);
    if (reader == "graph") return read_graph(file);
    if (reader == "tuning") return read_tuning(file);
    if (reader == "pipeline cache") return read_pipeline_cache(file);
    return internal_error("there is no reader '" + reader + "'");
}

}  // namespace hearth::hostile
