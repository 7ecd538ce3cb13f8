// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Verifies a plan independently of the planner.  It shares no decision with the planner: it reads
// the Program and runs each entry on symbolic memory, in which every byte range holds a named
// version of a value.
//
//   read     the range must hold exactly the version that the call needs
//   write    the range holds a new version from here on; its old contents are gone
//   copy     the range holds what the source holds
//   update   a call may change a param or state in place (rows of a ring buffer) if its result is
//            stated as that tensor's update; other readers of the old contents must find the
//            version before
//   barrier  until the next barrier, no command may touch a byte that another one writes
//
// Values overwritten while alive, wrong offsets and swapped commands all show up as a read that
// finds the wrong contents.  At the end outputs and variables must hold what the graph states.  The
// code is quadratic and simple on purpose.  (The synchronization validation of Vulkan's validation
// layers does not track hazards through aliased memory and device addresses precisely; see its
// docs/syncval_usage.md.)

#include "compiler/plan/plan.hpp"
#include "compiler/plan/stages.hpp"

#include <algorithm>

namespace hearth {

namespace {

/// Contents of a byte range: the root value that owns the bytes (kNone: unknown), and its version,
/// the number of writes so far.
struct Content {
    ValueId root = kInvalidId;
    uint32_t version = 0;
    friend bool operator==(const Content&, const Content&) = default;
};

struct Range {
    Region region = Region::kArena;
    uint32_t binding = 0;
    uint64_t begin = 0, end = 0;

    bool overlaps(const Range& other) const {
        return region == other.region && binding == other.binding &&
               std::max(begin, other.begin) < std::min(end, other.end);
    }
};

class SymbolicMemory {
  public:
    void write(const Range& range, const Content& content) {
        std::vector<Piece> pieces;
        for (const Piece& p : pieces_) {
            if (!p.range.overlaps(range)) {
                pieces.push_back(p);
                continue;
            }
            if (p.range.begin < range.begin) {
                pieces.push_back(p);
                pieces.back().range.end = range.begin;
            }
            if (p.range.end > range.end) {
                pieces.push_back(p);
                pieces.back().range.begin = range.end;
            }
        }
        if (range.begin < range.end) pieces.push_back({range, content});
        pieces_ = std::move(pieces);
    }

    bool holds(const Range& range, const Content& content) const {
        uint64_t bytes = 0;
        for (const Piece& p : pieces_)
            if (p.content == content && p.range.overlaps(range))
                bytes += std::min(p.range.end, range.end) - std::max(p.range.begin, range.begin);
        return bytes == range.end - range.begin;
    }

    /// The contents of the range if they are uniform, otherwise unknown.
    Content content_of(const Range& range) const {
        for (const Piece& p : pieces_)
            if (p.range.overlaps(range)) return holds(range, p.content) ? p.content : Content();
        return {};
    }

  private:
    struct Piece {
        Range range;
        Content content;
    };
    std::vector<Piece> pieces_;  ///< disjoint
};

class EntryProof {
  public:
    EntryProof(const Program& program, const Entry& entry, const Graph& graph,
               const LoweredEntry& lowered, const PlanOptions& options)
        : program_(program), entry_(entry), graph_(graph), lowered_(lowered), options_(options) {}

    Status run() {
        HEARTH_ASSIGN(root_of_, planning::resolve_aliases(graph_, lowered_, program_.storage));
        number_versions();
        HEARTH_TRY(place_sources());
        was_run_.assign(lowered_.calls.size(), false);
        for (command_ = 0; command_ < entry_.command_count; ++command_)
            HEARTH_TRY(run_command(program_.commands_of(entry_)[command_]));
        for (size_t c = 0; c < was_run_.size(); ++c)
            if (!was_run_[c]) return fail("call '" + lowered_.calls[c].label + "' is missing");
        HEARTH_TRY(check_outputs());
        return check_variables();
    }

  private:
    struct Touch {
        Range range;
        bool is_written = false;
        uint32_t command = 0;
    };

    Status fail(const std::string& rule) const {
        std::string where = "entry '" + entry_.name + "'";
        if (command_ < entry_.command_count)
            where += ", command " + std::to_string(command_) + " (" +
                     program_.commands_of(entry_)[command_].label + ")";
        return internal_error(where + ": " + rule);
    }

    // Numbers the version that each operand needs, in the order of the lowered calls.
    void number_versions() {
        versions_.assign(graph_.values.size(), 0);
        is_new_.assign(graph_.values.size(), false);
        for (const KernelCall& call : lowered_.calls)
            for (const CallOperand& o : call.operands)
                if (o.value != kNoValue && o.access != Access::kRead && persists(o.value))
                    is_new_[o.value] = true;
        for (const KernelCall& call : lowered_.calls) {
            std::vector<uint32_t>& before = versions_before_.emplace_back();
            for (const CallOperand& o : call.operands) {
                // Reads of a param, state or input get the contents from before the entry.
                const bool is_numbered =
                    o.value != kNoValue && (!persists(o.value) || is_new_[o.value]);
                before.push_back(is_numbered ? versions_[root_of_[o.value]] : 0);
            }
            for (const CallOperand& o : call.operands)
                if (o.access != Access::kRead) ++versions_[root_of_[o.value]];
        }
    }

    bool persists(ValueId id) const { return may_be_updated(graph_.value(root_of_[id]).kind); }

    /// True if an update of the graph states this in-place change of a param, state or input.
    bool is_stated_update(ValueId id, Access access) const {
        return access == Access::kReadWrite &&
               std::any_of(graph_.updates.begin(), graph_.updates.end(), [&](const Assignment& u) {
                   return u.value == id && u.target == root_of_[id] && u.target != id;
               });
    }

    // For a constant, returns every variable with its contents: it does not matter which one is
    // read.
    std::vector<const Variable*> variables_of(const Value& value,
                                              const HostTensor& contents) const {
        const Shape shape = value.shape.resolve(static_cast<int64_t>(program_.max_batch_size));
        std::vector<const Variable*> variables;
        for (const Variable& variable : program_.variables) {
            if (variable.dtype != value.dtype || variable.shape != shape) continue;
            if (value.kind == ValueKind::kConstant
                    ? variable.kind == VariableKind::kConstant && has_contents(variable, contents)
                    : variable.name == value.name)
                variables.push_back(&variable);
        }
        return variables;
    }

    bool has_contents(const Variable& variable, const HostTensor& contents) const {
        if (variable.data_offset == kZeroFilled) return contents.bytes().empty();
        const auto stored = std::span(program_.data).subspan(variable.data_offset, variable.bytes);
        return std::equal(contents.bytes().begin(), contents.bytes().end(), stored.begin(),
                          stored.end());
    }

    const Binding* binding_named(Direction direction, const std::string& name,
                                 uint32_t& index) const {
        for (uint32_t b : entry_.bindings)
            if ((program_.bindings[b].direction == Direction::kOutput) ==
                    (direction == Direction::kOutput) &&
                program_.bindings[b].name == name) {
                index = b;
                return &program_.bindings[b];
            }
        return nullptr;
    }

    // True if `bytes` is the size of the tensor at every batch size, in which it is linear.
    bool is_size_of(const Extent& bytes, DType dtype, const Shape& shape) const {
        for (uint64_t rows : {uint64_t{0}, uint64_t{1}, program_.max_batch_size})
            if (bytes.at(rows) !=
                static_cast<uint64_t>(shape.element_count(static_cast<int64_t>(rows))) *
                    size_bytes(device_dtype(dtype, program_.storage)))
                return false;
        return true;
    }

    // Initial memory: variables and input buffers hold their values.
    Status place_sources() {
        for (ValueId id = 0; id < graph_.values.size(); ++id) {
            const Value& value = graph_.value(id);
            if (value.kind == ValueKind::kNode) continue;
            if (value.kind == ValueKind::kInput) {
                uint32_t index = 0;
                const Binding* binding = binding_named(Direction::kInput, value.name, index);
                if (binding == nullptr) {
                    if (std::find(graph_.inputs.begin(), graph_.inputs.end(), id) !=
                        graph_.inputs.end())
                        return fail("input '" + value.name + "' has no binding");
                    continue;
                }
                if (!is_size_of(binding->bytes, value.dtype, value.shape))
                    return fail("input '" + value.name + "' has a binding of another size");
                const Range range{Region::kExternal, index, 0, size_of(binding->bytes)};
                memory_.write(range, {id, 0});
                final_.push_back({range, {id, 0}, "input '" + value.name + "'"});
                continue;
            }
            const DType held = device_dtype(value.dtype, program_.storage);
            const bool is_cast = value.data && value.data->dtype() != held;
            const HostTensor converted = is_cast ? value.data->cast(held) : HostTensor();
            const HostTensor& contents = value.data && !is_cast ? *value.data : converted;
            const std::vector<const Variable*> variables = variables_of(value, contents);
            // A constant that no call reads has no variable; a call that does read it fails later.
            if (variables.empty() && value.kind != ValueKind::kConstant)
                return fail("'" + value.name + "' has no variable of its shape and type");
            for (const Variable* variable : variables) {
                if (value.data && !has_contents(*variable, contents))
                    return fail("variable '" + variable->name + "' has other initial values");
                const Range range{Region::kWeights, 0, variable->offset,
                                  variable->offset + variable->bytes};
                // Constants with equal contents share the root of the first one.
                if (const Content known = memory_.content_of(range); known.root != kInvalidId)
                    root_of_[id] = known.root;
                memory_.write(range, {root_of_[id], 0});
                final_.push_back({range, {root_of_[id], 0}, "variable '" + variable->name + "'"});
            }
        }
        // Redirects aliases of such constants.
        for (ValueId& root : root_of_) root = root_of_[root];
        return {};
    }

    uint64_t size_of(const Extent& bytes) const { return bytes.at(program_.max_batch_size); }

    Result<Range> range_of(const Operand& operand) const {
        const Range range{operand.region, operand.region == Region::kExternal ? operand.binding : 0,
                          operand.offset, operand.offset + size_of(operand.bytes)};
        if (operand.offset % options_.caps.min_storage_buffer_offset_alignment != 0)
            return fail("an unaligned operand");
        if (range.end < range.begin) return fail("an operand that wraps around");
        const bool writes = operand.access != Access::kRead;
        switch (operand.region) {
            case Region::kArena:
                if (range.begin < entry_.arena_offset ||
                    range.end > entry_.arena_offset + entry_.arena_bytes)
                    return fail("an operand outside the entry's part of the arena");
                return range;
            case Region::kWeights:
                for (const Variable& variable : program_.variables)
                    if (variable.offset == range.begin &&
                        variable.offset + variable.bytes == range.end &&
                        !(writes && variable.kind == VariableKind::kConstant))
                        return range;
                return fail(
                    "an operand in the weights that is not a variable, or a written constant");
            case Region::kExternal: {
                if (std::find(entry_.bindings.begin(), entry_.bindings.end(), operand.binding) ==
                    entry_.bindings.end())
                    return fail("an operand in a buffer that the entry does not bind");
                const Binding& binding = program_.bindings[operand.binding];
                if (operand.offset != 0 || operand.bytes != binding.bytes)
                    return fail("an operand that is not all of '" + binding.name + "'");
                if (writes && binding.direction == Direction::kInput)
                    return fail("a write to input '" + binding.name + "'");
                return range;
            }
            case Region::kRun:
                if (writes || range.begin != 0 || range.end != sizeof(RunBlock))
                    return fail("an operand that is not the run block");
                return range;
        }
        return fail("an operand in no region");
    }

    Status run_command(const Command& command) {
        if (command.kind == CommandKind::kBarrier) {
            if (has_published_) return fail("a barrier after weights were written");
            since_barrier_.clear();
            return {};
        }
        if (command.operand_values.size() != command.operand_count)
            return fail("a debug table that does not fit the operands");
        std::vector<Range> ranges;
        for (const Operand& operand : program_.operands_of(command)) {
            HEARTH_ASSIGN(const Range range, range_of(operand));
            ranges.push_back(range);
        }
        HEARTH_TRY(check_hazards(command, ranges));
        switch (command.kind) {
            case CommandKind::kDispatch:
                return run_dispatch(command, ranges);
            case CommandKind::kCopy:
                return run_copy(command, ranges);
            default:
                return fail("a command that plans do not contain");
        }
    }

    bool is_published(const Operand& operand) const {
        return operand.region == Region::kWeights ||
               (operand.region == Region::kExternal &&
                program_.bindings[operand.binding].direction == Direction::kInOut);
    }

    // Checks the command against all commands since the last barrier, then adds it to them.
    Status check_hazards(const Command& command, std::span<const Range> ranges) {
        const std::span<const Operand> operands = program_.operands_of(command);
        std::vector<Touch> touches;
        for (size_t i = 0; i < ranges.size(); ++i) {
            const bool writes = operands[i].access != Access::kRead;
            if (writes && is_published(operands[i])) has_published_ = true;
            touches.push_back({ranges[i], writes, command_});
            for (const Touch& earlier : since_barrier_)
                if ((writes || earlier.is_written) && ranges[i].overlaps(earlier.range))
                    return fail("races with command " + std::to_string(earlier.command) +
                                ": no barrier in between");
        }
        since_barrier_.insert(since_barrier_.end(), touches.begin(), touches.end());
        return {};
    }

    // Finds the call that the command claims to run and marks it as run; each call runs once.
    const KernelCall* find_call(const Command& command, size_t& index) {
        for (size_t c = 0; c < lowered_.calls.size(); ++c) {
            const KernelCall& call = lowered_.calls[c];
            if (was_run_[c] || call.kernel != command.kernel || call.label != command.label ||
                call.computes != command.computes || call.operands.size() != command.operand_count)
                continue;
            const auto words = program_.words_of(command);
            if (!std::equal(words.begin(), words.end(), call.words.begin(), call.words.end()))
                continue;
            bool same = true;
            for (size_t axis = 0; axis < 3; ++axis)
                same = same && call.grid[axis].work == command.grid[axis].work &&
                       call.grid[axis].tile == command.grid[axis].tile;
            for (size_t i = 0; i < call.operands.size(); ++i)
                same = same && call.operands[i].value == command.operand_values[i] &&
                       call.operands[i].access == program_.operands_of(command)[i].access;
            if (!same) continue;
            was_run_[c] = true;
            index = c;
            return &call;
        }
        return nullptr;
    }

    Status run_dispatch(const Command& command, std::span<const Range> ranges) {
        if (program_.kernels[command.kernel].name == kCopyKernel)
            return run_kernel_copy(command, ranges);
        size_t index = 0;
        const KernelCall* call = find_call(command, index);
        if (call == nullptr) return fail("it is none of the calls that are left");
        const std::span<const Operand> operands = program_.operands_of(command);
        HEARTH_TRY(check_located(program_.kernels[command.kernel], operands));
        for (size_t i = 0; i < ranges.size(); ++i) {
            const ValueId id = command.operand_values[i];
            if ((id == kNoValue) != (operands[i].region == Region::kRun))
                return fail("operand " + std::to_string(i) + " mistakes the run block for a value");
            if (id == kNoValue) continue;
            const Value& value = graph_.value(id);
            if (!is_size_of(operands[i].bytes, value.dtype, value.shape))
                return fail("operand " + std::to_string(i) +
                            " does not have the size of its value");
            const Content needed{root_of_[id], versions_before_[index][i]};
            if (operands[i].access != Access::kWrite && !memory_.holds(ranges[i], needed))
                return fail("operand " + std::to_string(i) + " does not hold value %" +
                            std::to_string(id));
            if (operands[i].access != Access::kRead && persists(id) &&
                !is_stated_update(id, operands[i].access))
                return fail("operand " + std::to_string(i) + " changes '" +
                            graph_.value(root_of_[id]).name + "', which it does not update");
            HEARTH_TRY(check_in_place(*call, ranges, operands, i));
        }
        for (size_t i = 0; i < ranges.size(); ++i)
            if (operands[i].access != Access::kRead)
                memory_.write(ranges[i], {root_of_[command.operand_values[i]],
                                          versions_before_[index][i] + 1});
        return {};
    }

    // The specialization constants of located operands must give the operands' offsets.
    Status check_located(const Kernel& kernel, std::span<const Operand> operands) const {
        if (kernel.located_count == 0) return {};
        uint32_t calls = 0;
        for (const Command& command : program_.commands)
            calls += command.kind == CommandKind::kDispatch &&
                     &program_.kernels[command.kernel] == &kernel;
        if (calls != 1) return fail("its kernel locates operands, but several commands use it");
        if (kernel.spec_constants.size() != kernel.located_count)
            return fail(
                "its kernel must have one specialization constant for each located operand");
        for (uint32_t i = 0; i < kernel.located_count; ++i) {
            const Operand& o = operands[i];
            const SpecConstant& constant = kernel.spec_constants[i];
            const bool is_known = o.region == Region::kArena || o.region == Region::kWeights;
            const uint64_t offset = uint64_t{constant.value / 2} * kLocationUnit;
            if (!is_known || constant.id != i || offset != o.offset ||
                (constant.value % 2 == 1) != (o.region == Region::kWeights))
                return fail("operand " + std::to_string(i) +
                            " is at another offset than its kernel's constant");
        }
        return {};
    }

    // Operands of one command may share bytes only if none is written, or if a written operand
    // covers exactly the bytes of one that is read element by element.
    Status check_in_place(const KernelCall& call, std::span<const Range> ranges,
                          std::span<const Operand> operands, size_t written) const {
        if (operands[written].access == Access::kRead) return {};
        for (size_t i = 0; i < ranges.size(); ++i) {
            if (i == written || !ranges[i].overlaps(ranges[written])) continue;
            if (operands[i].access != Access::kRead || !call.operands[i].is_elementwise ||
                call.operands[i].part != call.operands[written].part ||
                operands[written].access != Access::kWrite ||
                operands[i].bytes != operands[written].bytes ||
                ranges[i].begin != ranges[written].begin)
                return fail("operands " + std::to_string(i) + " and " + std::to_string(written) +
                            " may not share bytes");
        }
        return {};
    }

    Status run_copy(const Command& command, std::span<const Range> ranges) {
        const std::span<const Operand> operands = program_.operands_of(command);
        if (operands.size() != 2 || operands[0].access != Access::kRead ||
            operands[1].access != Access::kWrite || operands[0].bytes != operands[1].bytes ||
            operands[0].region == Region::kRun || ranges[0].overlaps(ranges[1]))
            return fail("a copy must read one range and write another of the same size");
        memory_.write(ranges[1], memory_.content_of(ranges[0]));
        return {};
    }

    Status run_kernel_copy(const Command& command, std::span<const Range> ranges) {
        const std::span<const uint32_t> words = program_.words_of(command);
        const GridAxis& axis = command.grid[0];
        if (words.size() != 1 || axis.work != Extent{words[0], 0} ||
            axis.tile != program_.kernels[command.kernel].local_size[0] || ranges.empty() ||
            program_.operands_of(command)[0].bytes != Extent{uint64_t{words[0]} * 4, 0})
            return fail("a kernel that does not copy all words");
        return run_copy(command, ranges);
    }

    Status check_outputs() const {
        for (const GraphOutput& output : graph_.outputs) {
            uint32_t index = 0;
            const Binding* binding = binding_named(Direction::kOutput, output.name, index);
            const Value& value = graph_.value(output.value);
            if (binding == nullptr || !is_size_of(binding->bytes, value.dtype, value.shape))
                return fail("output '" + output.name + "' has no binding of its size");
            if (!memory_.holds({Region::kExternal, index, 0, size_of(binding->bytes)},
                               last_content(output.value)))
                return fail("output '" + output.name + "' does not hold value %" +
                            std::to_string(output.value));
        }
        return {};
    }

    Content last_content(ValueId id) const {
        const bool is_numbered = !persists(id) || is_new_[id];
        return {root_of_[id], is_numbered ? versions_[root_of_[id]] : 0};
    }

    Status check_variables() const {
        for (const auto& [range, first_content, name] : final_) {
            Content expected = first_content;
            for (const Assignment& update : graph_.updates)
                if (update.target == first_content.root) expected = last_content(update.value);
            if (!memory_.holds(range, expected))
                return fail(name + " does not hold its updated value at the end");
        }
        return {};
    }

    struct Final {
        Range range;
        Content content;
        std::string name;
    };

    const Program& program_;
    const Entry& entry_;
    const Graph& graph_;
    const LoweredEntry& lowered_;
    const PlanOptions& options_;
    std::vector<ValueId> root_of_;
    std::vector<uint32_t> versions_;                      ///< per root value, after the last call
    std::vector<std::vector<uint32_t>> versions_before_;  ///< per call and operand
    std::vector<bool> was_run_;                           ///< per call
    std::vector<bool> is_new_;  ///< per value: it is an in-place update of a param, state or input
    std::vector<Final> final_;  ///< variables and inputs with their contents before the entry
    SymbolicMemory memory_;
    std::vector<Touch> since_barrier_;
    bool has_published_ = false;
    uint32_t command_ = ~0u;
};

Status check_variables_apart(const Program& program, const PlanOptions& options) {
    for (size_t s = 0; s < program.variables.size(); ++s) {
        const Variable& variable = program.variables[s];
        const std::string what = "variable '" + variable.name + "'";
        if (variable.offset % options.caps.min_storage_buffer_offset_alignment != 0 ||
            variable.bytes > program.weights_bytes ||
            variable.offset > program.weights_bytes - variable.bytes)
            return internal_error(what + " is unaligned or outside the weights");
        if (variable.data_offset != kZeroFilled &&
            (variable.bytes > program.data.size() ||
             variable.data_offset > program.data.size() - variable.bytes))
            return internal_error(what + " has its contents outside the data");
        for (size_t other = 0; other < s; ++other)
            if (program.variables[other].name == variable.name ||
                (variable.offset <
                     program.variables[other].offset + program.variables[other].bytes &&
                 program.variables[other].offset < variable.offset + variable.bytes))
                return internal_error(what + " overlaps '" + program.variables[other].name + "'");
    }
    return {};
}

Status check_entries_apart(const Program& program, const PlanOptions& options) {
    for (size_t e = 0; e < program.entries.size(); ++e) {
        const Entry& a = program.entries[e];
        const std::string what = "the arena of entry '" + a.name + "'";
        if (a.arena_bytes > program.arena_bytes ||
            a.arena_offset > program.arena_bytes - a.arena_bytes)
            return internal_error(what + " ends outside the arena");
        for (size_t other = 0; other < e && !options.share_arena; ++other) {
            const Entry& b = program.entries[other];
            if (a.arena_offset < b.arena_offset + b.arena_bytes &&
                b.arena_offset < a.arena_offset + a.arena_bytes)
                return internal_error(what + " overlaps that of '" + b.name + "'");
        }
    }
    return {};
}

}  // namespace

Status verify_plan(const Program& program, std::span<const Graph> graphs,
                   std::span<const LoweredEntry> entries, const PlanOptions& options) {
    const auto proof = [&]() -> Status {
        if (program.entries.size() != graphs.size() || entries.size() != graphs.size())
            return internal_error("entries and graphs differ in number");
        HEARTH_TRY(check_variables_apart(program, options));
        HEARTH_TRY(check_entries_apart(program, options));
        for (size_t e = 0; e < graphs.size(); ++e)
            HEARTH_TRY(
                EntryProof(program, program.entries[e], graphs[e], entries[e], options).run());
        return {};
    };
    return proof().with_context("verify_plan");
}

}  // namespace hearth
