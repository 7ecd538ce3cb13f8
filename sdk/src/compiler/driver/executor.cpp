// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Executors: the reference interpreter, compiled programs, registered ones, and their shared
// checks.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "compiler/ir/rewrite.hpp"
#include "core/out_of_memory.hpp"

#include <hearth/executor.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace hearth {

namespace {

std::string described(DType dtype, const Shape& shape) {
    return std::string(name_of(dtype)) + to_string(shape);
}

Status no_variable(std::string_view variable) {
    return not_found("there is no param or state '" + std::string(variable) + "'");
}

class ReferenceExecutor final : public Executor {
  public:
    std::string_view name() const override { return "reference"; }

    Status load(std::vector<Graph> entries, int64_t max_batch_size) override {
        HEARTH_ASSIGN(variables_, initial_values(entries));
        entries_ = std::move(entries);
        max_batch_size_ = max_batch_size;
        return {};
    }
    Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                             int64_t rows) override {
        HEARTH_ASSIGN(const Graph* const graph,
                      validate_entry(entries_, entry, inputs, rows, max_batch_size_));
        return interpret(*graph, inputs, variables_, rows);
    }
    Result<HostTensor> read(std::string_view variable) override {
        return read_checked(variables_, variable);
    }
    Status write(std::string_view variable, const HostTensor& contents) override {
        HEARTH_TRY(validate_write(variables_, variable, contents));
        variables_.find(variable)->second = contents;
        return {};
    }

  private:
    std::vector<Graph> entries_;
    int64_t max_batch_size_ = 0;
    NamedTensors variables_;
};

class ProgramExecutor final : public Executor {
  public:
    explicit ProgramExecutor(CompileOptions options) : options_(std::move(options)) {}

    std::string_view name() const override { return "program"; }

    Status load(std::vector<Graph> entries, int64_t max_batch_size) override {
        HEARTH_ASSIGN(first_, initial_values(entries));
        options_.max_batch_size = static_cast<uint64_t>(max_batch_size);
        HEARTH_ASSIGN(compiled_, compile_graphs(entries, options_));
        entries_ = std::move(entries);
        memory_.emplace(compiled_.program);
        return {};
    }
    Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                             int64_t rows) override {
        HEARTH_ASSIGN(const Graph* const graph,
                      validate_entry(entries_, entry, inputs, rows,
                                     static_cast<int64_t>(options_.max_batch_size)));
        const auto index = static_cast<size_t>(graph - entries_.data());
        return run_program(compiled_.program, entry, compiled_.graphs[index], inputs, *memory_,
                           rows);
    }
    Result<HostTensor> read(std::string_view variable) override {
        const Variable* const found = compiled_.program.find_variable(variable);
        if (found != nullptr) return memory_->read(*found);
        // Variables that no entry uses are not in the program, and never change.
        return read_checked(first_, variable);
    }
    Status write(std::string_view variable, const HostTensor& contents) override {
        HEARTH_TRY(validate_write(first_, variable, contents));
        const Variable* const found = compiled_.program.find_variable(variable);
        if (found != nullptr)
            memory_->write(*found, contents);
        else
            first_.find(variable)->second = contents;
        return {};
    }

  private:
    CompileOptions options_;
    std::vector<Graph> entries_;
    NamedTensors first_;
    CompiledProgram compiled_;
    std::optional<ProgramMemory> memory_;
};

}  // namespace

std::unique_ptr<Executor> make_reference_executor() {
    return std::make_unique<ReferenceExecutor>();
}

std::unique_ptr<Executor> make_program_executor(const CompileOptions& options) {
    return std::make_unique<ProgramExecutor>(options);
}

namespace {

struct Registered {
    std::string name;
    MakeExecutor make;
};
std::vector<Registered>& registered() {
    static std::vector<Registered> list;
    return list;
}

}  // namespace

Status register_executor(std::string_view name, MakeExecutor make) {
    for (const std::string_view taken : {"reference", "gpu", "both", "cpu", "program"})
        if (name == taken)
            return invalid_argument("'" + std::string(name) +
                                    "' is the name of a built-in executor; choose another name");
    if (make_registered_executor(name) != nullptr)
        return invalid_argument("an executor '" + std::string(name) +
                                "' is already registered; choose another name");
    registered().push_back({std::string(name), make});
    return {};
}

std::unique_ptr<Executor> make_registered_executor(std::string_view name) {
    for (const Registered& r : registered())
        if (r.name == name) return r.make();
    return nullptr;
}

std::vector<std::string_view> registered_executors() {
    std::vector<std::string_view> names;
    for (const Registered& r : registered()) names.emplace_back(r.name);
    return names;
}

Result<Graph> legalize(const Graph& graph,
                       const std::function<bool(const Graph&, const Node&)>& is_supported) {
    return or_out_of_memory([&]() -> Result<Graph> {
        Graph now = graph;
        for (;;) {
            std::set<std::string_view> lacking;
            bool any = false;
            for (const Node& node : now.nodes) {
                if (is_supported(now, node)) continue;
                any = true;
                if (node.op->decompose == nullptr) lacking.insert(node.op->name);
            }
            if (!lacking.empty()) {
                std::string names;
                for (const std::string_view name : lacking)
                    names += (names.empty() ? "" : ", ") + std::string(name);
                return unsupported("there is no operator " + names + ", nor a decomposition of it");
            }
            if (!any) return now;
            const auto rule =
                [&](Trace& trace, const Node& node,
                    std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
                if (is_supported(now, node)) return std::nullopt;
                DecomposeContext call{trace, node.attrs, inputs};
                return node.op->decompose(call);
            };
            HEARTH_ASSIGN(now, rewrite(now, rule));
        }
    });
}

Result<const Graph*> validate_entry(std::span<const Graph> entries, std::string_view entry,
                                    const NamedTensors& inputs, int64_t batch_size,
                                    int64_t max_batch_size) {
    const auto found =
        std::ranges::find_if(entries, [&](const Graph& g) { return g.name == entry; });
    if (found == entries.end()) return not_found("no entry '" + std::string(entry) + "' is loaded");
    if (batch_size < 1 || batch_size > max_batch_size)
        return invalid_argument("the batch size is " + std::to_string(batch_size) +
                                ", expected 1 to " + std::to_string(max_batch_size));
    for (const ValueId id : found->inputs) {
        const Value& v = found->value(id);
        const auto given = inputs.find(v.name);
        if (given == inputs.end()) return invalid_argument("input '" + v.name + "' is missing");
        if (given->second.dtype() != v.dtype ||
            given->second.shape() != v.shape.resolve(batch_size))
            return invalid_argument("input '" + v.name + "' is " +
                                    described(v.dtype, v.shape.resolve(batch_size)) + ", found " +
                                    described(given->second.dtype(), given->second.shape()));
    }
    return &*found;
}

Result<NamedTensors> initial_values(std::span<const Graph> entries) {
    NamedTensors all;
    for (const Graph& graph : entries)
        for (auto& [name, contents] : initial_weights(graph)) {
            const auto [at, is_new] = all.try_emplace(name, contents);
            if (!is_new &&
                (at->second.dtype() != contents.dtype() || at->second.shape() != contents.shape()))
                return invalid_argument(
                    "'" + name + "' is " + described(contents.dtype(), contents.shape()) + " in " +
                    graph.name + " and " + described(at->second.dtype(), at->second.shape()) +
                    " in another entry");
        }
    return all;
}

Result<HostTensor> read_checked(const NamedTensors& variables, std::string_view variable) {
    const auto found = variables.find(variable);
    if (found == variables.end()) return no_variable(variable);
    return found->second;
}

Status validate_write(const NamedTensors& variables, std::string_view variable,
                      const HostTensor& value) {
    const auto found = variables.find(variable);
    if (found == variables.end()) return no_variable(variable);
    if (found->second.dtype() == value.dtype() && found->second.shape() == value.shape()) return {};
    return invalid_argument("'" + std::string(variable) + "' is " +
                            described(found->second.dtype(), found->second.shape()) + ", found " +
                            described(value.dtype(), value.shape()));
}

}  // namespace hearth
