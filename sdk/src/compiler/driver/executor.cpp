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

Status no_slot(std::string_view slot) {
    return not_found("there is no param or state '" + std::string(slot) + "'");
}

class ReferenceExecutor final : public Executor {
  public:
    std::string_view name() const override { return "cpu"; }

    Status load(std::vector<Graph> entries, int64_t rows_capacity) override {
        HEARTH_ASSIGN(slots_, first_contents(entries));
        entries_ = std::move(entries);
        rows_capacity_ = rows_capacity;
        return {};
    }
    Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                             int64_t rows) override {
        HEARTH_ASSIGN(const Graph* const graph,
                      checked_entry(entries_, entry, inputs, rows, rows_capacity_));
        return interpret(*graph, inputs, slots_, rows);
    }
    Result<HostTensor> read(std::string_view slot) override { return checked_read(slots_, slot); }
    Status write(std::string_view slot, const HostTensor& contents) override {
        HEARTH_TRY(check_write(slots_, slot, contents));
        slots_.find(slot)->second = contents;
        return {};
    }

  private:
    std::vector<Graph> entries_;
    int64_t rows_capacity_ = 0;
    NamedTensors slots_;
};

class ProgramExecutor final : public Executor {
  public:
    explicit ProgramExecutor(CompileOptions options) : options_(std::move(options)) {}

    std::string_view name() const override { return "program"; }

    Status load(std::vector<Graph> entries, int64_t rows_capacity) override {
        HEARTH_ASSIGN(first_, first_contents(entries));
        options_.rows_capacity = static_cast<uint64_t>(rows_capacity);
        HEARTH_ASSIGN(compiled_, compile_graphs(entries, options_));
        entries_ = std::move(entries);
        memory_.emplace(compiled_.program);
        return {};
    }
    Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                             int64_t rows) override {
        HEARTH_ASSIGN(const Graph* const graph,
                      checked_entry(entries_, entry, inputs, rows,
                                    static_cast<int64_t>(options_.rows_capacity)));
        const auto index = static_cast<size_t>(graph - entries_.data());
        return run_program(compiled_.program, entry, compiled_.graphs[index], inputs, *memory_,
                           rows);
    }
    Result<HostTensor> read(std::string_view slot) override {
        const Slot* const found = compiled_.program.find_slot(slot);
        if (found != nullptr) return memory_->read(*found);
        // Variables that no entry uses are not in the program, and never change.
        return checked_read(first_, slot);
    }
    Status write(std::string_view slot, const HostTensor& contents) override {
        HEARTH_TRY(check_write(first_, slot, contents));
        const Slot* const found = compiled_.program.find_slot(slot);
        if (found != nullptr)
            memory_->write(*found, contents);
        else
            first_.find(slot)->second = contents;
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
    for (const std::string_view taken : {"cpu", "gpu", "both", "native", "program"})
        if (name == taken)
            return invalid_argument("'" + std::string(name) + "' is an executor of Hearth's own");
    if (make_registered_executor(name) != nullptr)
        return invalid_argument("there is an executor '" + std::string(name) + "' already");
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

Result<Graph> decompose_unknown(const Graph& graph,
                                const std::function<bool(const Graph&, const Node&)>& knows) {
    return or_out_of_memory([&]() -> Result<Graph> {
        Graph now = graph;
        for (;;) {
            std::set<std::string_view> lacking;
            bool any = false;
            for (const Node& node : now.nodes) {
                if (knows(now, node)) continue;
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
                if (knows(now, node)) return std::nullopt;
                DecomposeCall call{trace, node.attrs, inputs};
                return node.op->decompose(call);
            };
            HEARTH_ASSIGN(now, rewrite(now, rule));
        }
    });
}

Result<const Graph*> checked_entry(std::span<const Graph> entries, std::string_view entry,
                                   const NamedTensors& inputs, int64_t rows,
                                   int64_t rows_capacity) {
    const auto found =
        std::ranges::find_if(entries, [&](const Graph& g) { return g.name == entry; });
    if (found == entries.end()) return not_found("no entry '" + std::string(entry) + "' is loaded");
    if (rows < 1 || rows > rows_capacity)
        return invalid_argument("rows are " + std::to_string(rows) + ", expected 1 to " +
                                std::to_string(rows_capacity));
    for (const ValueId id : found->inputs) {
        const Value& v = found->value(id);
        const auto given = inputs.find(v.name);
        if (given == inputs.end()) return invalid_argument("input '" + v.name + "' is missing");
        if (given->second.dtype() != v.dtype || given->second.shape() != v.shape.at(rows))
            return invalid_argument("input '" + v.name + "' is " +
                                    described(v.dtype, v.shape.at(rows)) + ", found " +
                                    described(given->second.dtype(), given->second.shape()));
    }
    return &*found;
}

Result<NamedTensors> first_contents(std::span<const Graph> entries) {
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

Result<HostTensor> checked_read(const NamedTensors& slots, std::string_view slot) {
    const auto found = slots.find(slot);
    if (found == slots.end()) return no_slot(slot);
    return found->second;
}

Status check_write(const NamedTensors& slots, std::string_view slot, const HostTensor& contents) {
    const auto found = slots.find(slot);
    if (found == slots.end()) return no_slot(slot);
    if (found->second.dtype() == contents.dtype() && found->second.shape() == contents.shape())
        return {};
    return invalid_argument("'" + std::string(slot) + "' is " +
                            described(found->second.dtype(), found->second.shape()) + ", found " +
                            described(contents.dtype(), contents.shape()));
}

}  // namespace hearth
