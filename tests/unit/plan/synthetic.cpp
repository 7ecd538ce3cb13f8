// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "unit/plan/synthetic.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/philox.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace hearth::synthetic {

uint32_t Random::below(uint32_t limit) {
    return static_cast<uint32_t>((uint64_t{philox_bits(key_, 0, drawn_++)} * limit) >> 32);
}

// ------------------------------------------------------------------------------------- building

EntryBuilder::EntryBuilder(std::string name) {
    graph.name = name;
    lowered.name = std::move(name);
}

ValueId EntryBuilder::add(ValueKind kind, const std::string& name, Shape shape, DType dtype) {
    const auto id = static_cast<ValueId>(graph.values.size());
    Value& value = graph.values.emplace_back();
    value.kind = kind;
    value.name = name;
    value.shape = shape;
    value.dtype = dtype;
    lowered.alias_of.push_back(id);
    return id;
}

ValueId EntryBuilder::input(const std::string& name, const Shape& shape, DType dtype) {
    graph.inputs.push_back(add(ValueKind::kInput, name, shape, dtype));
    return graph.inputs.back();
}

ValueId EntryBuilder::param(const std::string& name, const Shape& shape, DType dtype,
                            bool has_contents) {
    const ValueId id = add(ValueKind::kParam, name, shape, dtype);
    if (!has_contents) return id;
    HostTensor contents(dtype, shape);
    for (int64_t i = 0; i < contents.element_count(); ++i)
        contents.set(i, static_cast<double>(i % 100));
    graph.values[id].data = std::make_shared<const HostTensor>(std::move(contents));
    return id;
}

ValueId EntryBuilder::state(const std::string& name, const Shape& shape, DType dtype) {
    return add(ValueKind::kState, name, shape, dtype);
}

ValueId EntryBuilder::constant(const std::string& name, HostTensor contents) {
    const ValueId id = add(ValueKind::kConstant, name, contents.shape(), contents.dtype());
    graph.values[id].data = std::make_shared<const HostTensor>(std::move(contents));
    return id;
}

ValueId EntryBuilder::value(const Shape& shape, DType dtype) {
    return add(ValueKind::kNode, "", shape, dtype);
}

ValueId EntryBuilder::reshape(ValueId of, const Shape& shape) {
    const ValueId id = value(shape, graph.value(of).dtype);
    lowered.alias_of[id] = of;
    return id;
}

std::vector<ValueId> EntryBuilder::call(const std::vector<Read>& reads,
                                        const std::vector<Shape>& writes, DType dtype) {
    std::vector<CallOperand> operands;
    for (const Read& read : reads)
        operands.push_back({read.value, Access::kRead, read.is_elementwise});
    std::vector<ValueId> made;
    for (const Shape& shape : writes) {
        made.push_back(value(shape, dtype));
        operands.push_back({made.back(), Access::kWrite, false});
    }
    add_call(std::move(operands));
    return made;
}

void EntryBuilder::accumulate(ValueId target, const std::vector<Read>& reads) {
    std::vector<CallOperand> operands;
    for (const Read& read : reads)
        operands.push_back({read.value, Access::kRead, read.is_elementwise});
    operands.push_back({target, Access::kReadWrite, false});
    add_call(std::move(operands));
}

ValueId EntryBuilder::replace(ValueId target, const std::vector<Read>& reads) {
    const ValueId made = reshape(target, graph.value(target).shape);
    accumulate(made, reads);
    update(target, made);
    return made;
}

namespace {

constexpr uint32_t kMostOperands = 12, kMostWritten = 6;

/// A kernel does the same with its operands in every call, so how many it writes tells kernels
/// apart.
uint32_t kernel_of(uint32_t operands, uint32_t written) {
    return (written - 1) * (kMostOperands + 1) + operands;
}

}  // namespace

// Kernel n takes n operands.  Words: what the call mixes in, and a bit for each element-wise
// operand.
void EntryBuilder::add_call(std::vector<CallOperand> operands) {
    KernelCall call;
    const auto index = static_cast<uint32_t>(lowered.calls.size());
    uint32_t written = 0;
    for (const CallOperand& operand : operands) written += operand.access != Access::kRead;
    call.kernel = kernel_of(static_cast<uint32_t>(operands.size()), written);
    call.words = {index + 1, 0};
    for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].is_elementwise) call.words[1] |= 1u << i;
        if (operands[i].access != Access::kRead) call.computes.push_back(operands[i].value);
    }
    call.operands = std::move(operands);
    call.label = "call " + std::to_string(index);
    call.flops = 10 * index;
    call.bytes_moved = 100 * index;
    lowered.calls.push_back(std::move(call));
}

namespace {}  // namespace

Model::Model(const std::vector<EntryBuilder>& entries, uint64_t rows_capacity) {
    options.caps.storage_buffer_16bit_access = true;
    for (const EntryBuilder& entry : entries) {
        graphs.push_back(entry.graph);
        lowered.entries.push_back(entry.lowered);
    }
    for (uint32_t written = 1; written <= kMostWritten; ++written)
        for (uint32_t n = 0; n <= kMostOperands; ++n) {
            Kernel kernel;
            kernel.name = "mix" + std::to_string(n);
            if (written > 1) kernel.name += "_" + std::to_string(written);
            kernel.spirv = {0x07230203, 0x00010000, 0, 8, 0, 0x0002000e, n};
            kernel.operand_count = n;
            kernel.word_count = 2;
            lowered.kernels.push_back(std::move(kernel));
        }
    lowered.profile = "baseline";
    options.max_batch_size = rows_capacity;
}

ValueId Model::root_of(size_t e, ValueId id) const {
    while (lowered.entries[e].alias_of[id] != id) id = lowered.entries[e].alias_of[id];
    return id;
}

// --------------------------------------------------------------------------------- random models

namespace {

// Few shapes, so that values often fit into each other's bytes.
Shape random_shape(Random& random, bool with_rows) {
    const Shape shapes[] = {Shape{},         Shape{Dim(6)},         Shape{Dim(40), Dim(3)},
                            Shape{Dim(130)}, Shape{kBatch, Dim(6)}, Shape{kBatch, Dim(24)}};
    return shapes[random.below(with_rows ? 6 : 4)];
}

Shape reshaped(const Shape& shape) {
    const Dim count = shape.element_count();
    return count.is_batch ? Shape{kBatch, Dim(count.count / 2), Dim(2)}
                          : Shape{Dim(1), Dim(count.count)};
}

DType random_dtype(Random& random) {
    return random.chance(80) ? DType::kF32 : DType::kF16;
}

class RandomEntry {
  public:
    RandomEntry(Random& random, const std::string& name) : random_(random), entry_(name) {}

    EntryBuilder make(uint32_t call_limit) {
        add_leaves();
        const uint32_t calls = 1 + random_.below(call_limit);
        for (uint32_t i = 0; i < calls; ++i) add_random_call();
        add_updates();
        add_outputs();
        return std::move(entry_);
    }

  private:
    // Weights have the same shape in every entry: it follows from the name.
    void add_leaves() {
        for (uint32_t i = 0; i < 1 + random_.below(3); ++i) {
            const std::string name = "in" + std::to_string(i);
            inputs_.push_back(entry_.input(name, shape_of(name, true), DType::kF32));
        }
        usable_ = inputs_;
        for (uint32_t i = 0; i < 5; ++i) {
            if (random_.chance(30)) continue;
            const std::string name = "param" + std::to_string(i);
            weights_.push_back(entry_.param(name, shape_of(name, false), DType::kF32, i % 2 == 0));
        }
        for (uint32_t i = 0; i < 3; ++i) {
            if (random_.chance(30)) continue;
            const std::string name = "state" + std::to_string(i);
            weights_.push_back(entry_.state(name, shape_of(name, true), DType::kF32));
        }
        usable_.insert(usable_.end(), weights_.begin(), weights_.end());
        for (uint32_t i = 0; i < random_.below(3); ++i) {
            const double contents[] = {1.0 * i, 2, 3, 4, 5, 6};
            usable_.push_back(entry_.constant("", HostTensor::of(Shape{Dim(6)}, contents)));
        }
    }

    static Shape shape_of(const std::string& name, bool with_rows) {
        Random random(stream_key(name, 1));
        return random_shape(random, with_rows);
    }

    const Value& value(ValueId id) const { return entry_.graph.value(id); }

    // Rather a recent value than an old one.
    ValueId pick() {
        const auto count = static_cast<uint32_t>(usable_.size());
        const uint32_t back = std::min(random_.below(count), random_.below(count));
        return usable_[count - 1 - back];
    }

    bool fits(ValueId id, const std::vector<Shape>& writes, DType dtype) const {
        for (const Shape& shape : writes)
            if (shape.element_count() == value(id).shape.element_count() &&
                dtype == value(id).dtype)
                return true;
        return false;
    }

    std::vector<Read> random_reads(const std::vector<Shape>& writes, DType dtype) {
        std::vector<Read> reads;
        for (uint32_t i = 0; i < 1 + random_.below(4); ++i) {
            const ValueId id = pick();
            reads.push_back({id, fits(id, writes, dtype) && random_.chance(80)});
        }
        if (random_.chance(10)) reads.push_back({kNoValue, false});
        return reads;
    }

    void add_random_call() {
        if (random_.chance(8) && !computed_.empty()) {
            const ValueId target =
                computed_[random_.below(static_cast<uint32_t>(computed_.size()))];
            std::vector<Read> reads = random_reads({}, DType::kF32);
            std::erase_if(reads, [&](const Read& read) {
                return read.value != kNoValue && root(read.value) == root(target);
            });
            entry_.accumulate(target, reads);
            return;
        }
        std::vector<Shape> writes;
        for (uint32_t i = 0; i < 1 + random_.below(8) / 6; ++i)
            writes.push_back(random_.chance(50) ? value(pick()).shape
                                                : random_shape(random_, true));
        const DType dtype = random_dtype(random_);
        for (ValueId id : entry_.call(random_reads(writes, dtype), writes, dtype)) {
            computed_.push_back(id);
            usable_.push_back(id);
            if (random_.chance(15))
                usable_.push_back(entry_.reshape(id, reshaped(value(id).shape)));
        }
    }

    ValueId root(ValueId id) const {
        while (entry_.lowered.alias_of[id] != id) id = entry_.lowered.alias_of[id];
        return id;
    }

    // Some by a call of their own, as an optimizer does; some in place, as a ring; some with
    // whatever has the right shape.  Few inputs have new contents written over them.
    void add_updates() {
        for (ValueId target : weights_)
            if (!random_.chance(40)) add_update(target);
        for (ValueId target : inputs_)
            if (random_.chance(25)) add_update(target);
    }

    void add_update(ValueId target) {
        const Shape shape = value(target).shape;
        if (random_.chance(25)) {
            std::vector<Read> reads = random_reads({}, DType::kF32);
            std::erase_if(reads, [&](const Read& read) {
                return read.value != kNoValue && root(read.value) == target;
            });
            entry_.replace(target, reads);
            return;
        }
        if (random_.chance(60)) {
            std::vector<Read> reads = random_reads({shape}, DType::kF32);
            reads.push_back({target, random_.chance(80)});
            const ValueId made = entry_.call(reads, {shape})[0];
            entry_.update(target, made);
            if (random_.chance(20)) usable_.push_back(made);
            return;
        }
        for (int tries = 0; tries < 10; ++tries)
            if (const ValueId id = pick();
                value(id).shape == shape && value(id).dtype == value(target).dtype)
                return entry_.update(target, id);
    }

    void add_outputs() {
        for (uint32_t i = 0; i < random_.below(4); ++i) {
            // The host binds one buffer shape per name for all entries.
            const ValueId id = pick();
            entry_.output("out " + entry_.graph.name + " " + std::to_string(i), id);
        }
    }

    Random& random_;
    EntryBuilder entry_;
    std::vector<ValueId> usable_, inputs_, weights_, computed_;
};

}  // namespace

Model random_model(uint64_t key, uint32_t call_limit) {
    Random random(key);
    std::vector<EntryBuilder> entries;
    for (uint32_t e = 0; e < 1 + random.below(3); ++e)
        entries.push_back(RandomEntry(random, "entry" + std::to_string(e)).make(call_limit));
    const uint64_t capacities[] = {1, 2, 7, 12};
    return Model(entries, capacities[random.below(4)]);
}

// ------------------------------------------------------------------------------------- computing

namespace {

/// One operand of a synthetic call, wherever its elements are.
struct Span {
    std::byte* data = nullptr;
    size_t bytes = 0;
    Access access = Access::kRead;
    bool is_elementwise = false;

    // In words of two bytes, which every type is made of.
    size_t size() const { return bytes / 2; }
    uint32_t get(size_t i) const {
        uint16_t word;
        std::memcpy(&word, data + 2 * i, 2);
        return word;
    }
    void set(size_t i, uint32_t value) const {
        const auto word = static_cast<uint16_t>(value);
        std::memcpy(data + 2 * i, &word, 2);
    }
};

// Element by element: everything is read when the element needs it and written at once, so that a
// plan which overwrites too early gives a wrong result.
void mix(std::span<const Span> operands, uint32_t call_number) {
    size_t count = 0;
    for (const Span& o : operands)
        if (o.access != Access::kRead) count = std::max(count, o.size());
    for (size_t i = 0; i < count; ++i) {
        uint32_t sum = call_number * 7919;
        uint32_t place = 1;
        for (const Span& o : operands) {
            ++place;
            if (o.access != Access::kRead) continue;
            if (o.is_elementwise) {
                if (i < o.size()) sum += place * o.get(i);
                continue;
            }
            for (size_t k = 0; k < o.size(); ++k)
                sum += place * static_cast<uint32_t>(k + 3) * o.get(k);
        }
        for (const Span& o : operands) {
            sum = sum * 31 + 17;
            if (o.access == Access::kRead || i >= o.size()) continue;
            o.set(i, o.access == Access::kReadWrite ? 3 * o.get(i) + sum : sum);
        }
    }
}

Words words_of(std::span<const std::byte> bytes) {
    Words words;
    for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
        uint16_t word;
        std::memcpy(&word, bytes.data() + i, 2);
        words.push_back(word);
    }
    return words;
}

std::vector<std::byte> bytes_of(const Words& words) {
    std::vector<std::byte> bytes(2 * words.size());
    for (size_t i = 0; i < words.size(); ++i) {
        const auto word = static_cast<uint16_t>(words[i]);
        std::memcpy(bytes.data() + 2 * i, &word, 2);
    }
    return bytes;
}

std::vector<std::byte> garbage(size_t bytes) {
    return std::vector<std::byte>(bytes, std::byte{0xa5});
}

size_t tensor_bytes(const Value& value, uint64_t rows, NarrowStorage narrow) {
    return static_cast<size_t>(value.shape.element_count(static_cast<int64_t>(rows))) *
           size_bytes(device_dtype(value.dtype, narrow));
}

// The live part of a slot: a state per row has room for all rows.
void keep_tail(std::vector<std::byte>& bytes, const std::vector<std::byte>& old) {
    bytes.insert(bytes.end(), old.begin() + static_cast<int64_t>(bytes.size()), old.end());
}

std::vector<std::byte> run_block(uint64_t rows) {
    const RunBlock block{static_cast<uint32_t>(rows), {}};
    std::vector<std::byte> bytes(sizeof block);
    std::memcpy(bytes.data(), &block, sizeof block);
    return bytes;
}

std::string slot_name(const Program& program, const Value& value) {
    if (!value.name.empty()) return value.name;
    for (const Variable& slot : program.variables)
        if (slot.kind == VariableKind::kConstant && slot.shape == value.shape &&
            std::equal(value.data->bytes().begin(), value.data->bytes().end(),
                       program.data.begin() + static_cast<int64_t>(slot.data_offset)))
            return slot.name;
    return "";
}

}  // namespace

Contents first_contents(const Program& program, uint64_t rows, uint64_t key) {
    Contents contents;
    for (const Variable& slot : program.variables) {
        std::vector<std::byte> bytes(slot.bytes);
        if (slot.data_offset != kZeroFilled)
            std::memcpy(bytes.data(), program.data.data() + slot.data_offset, bytes.size());
        contents.weights[slot.name] = words_of(bytes);
    }
    Random random(key);
    for (const Binding& binding : program.bindings) {
        Words words(binding.bytes.at(rows) / 2);
        for (uint32_t& word : words) word = random.below(65536);
        (binding.direction == Direction::kOutput ? contents.outputs
                                                 : contents.inputs)[binding.name] = words;
    }
    return contents;
}

void evaluate(const Model& model, const Program& program, size_t e, uint64_t rows,
              Contents& contents) {
    const Graph& graph = model.graphs[e];
    std::vector<std::vector<std::byte>> values(graph.values.size());  // per root
    for (ValueId id = 0; id < values.size(); ++id) {
        const Value& value = graph.value(id);
        values[id] = garbage(tensor_bytes(value, rows, program.storage));
        if (value.kind == ValueKind::kNode) continue;
        if (value.kind == ValueKind::kInput) {
            values[id] = bytes_of(contents.inputs.at(value.name));
        } else if (const auto slot = contents.weights.find(slot_name(program, value));
                   slot != contents.weights.end()) {
            const size_t size = values[id].size();
            values[id] = bytes_of(slot->second);
            values[id].resize(size);
        }
    }
    // What replaces a param or state in place begins as it; whoever reads the target sees the old
    // one.
    std::vector<ValueId> cell_of(values.size());
    for (ValueId id = 0; id < values.size(); ++id) cell_of[id] = model.root_of(e, id);
    for (const KernelCall& call : model.lowered.entries[e].calls)
        for (const CallOperand& o : call.operands)
            if (o.value != kNoValue && o.access == Access::kReadWrite &&
                graph.value(cell_of[o.value]).kind != ValueKind::kNode) {
                values[o.value] = values[cell_of[o.value]];
                cell_of[o.value] = o.value;
            }
    std::vector<std::byte> block = run_block(rows);
    for (const KernelCall& call : model.lowered.entries[e].calls) {
        std::vector<Span> spans;
        for (const CallOperand& o : call.operands) {
            std::vector<std::byte>& bytes = o.value == kNoValue ? block : values[cell_of[o.value]];
            spans.push_back({bytes.data(), bytes.size(), o.access, o.is_elementwise});
        }
        mix(spans, call.words[0]);
    }
    for (const GraphOutput& output : graph.outputs)
        contents.outputs[output.name] = words_of(values[cell_of[output.value]]);
    std::vector<std::pair<Words*, Words>> updated;
    for (const Assignment& update : graph.updates) {
        const Value& target = graph.value(update.target);
        auto& kept = target.kind == ValueKind::kInput ? contents.inputs : contents.weights;
        Words& old = kept.at(target.name);
        std::vector<std::byte> bytes = values[cell_of[update.value]];
        keep_tail(bytes, bytes_of(old));
        updated.emplace_back(&old, words_of(bytes));
    }
    for (auto& [old, words] : updated) *old = std::move(words);
}

namespace {

/// The memory of one recording.
class Machine {
  public:
    Machine(const Program& program, uint64_t rows, Contents& contents)
        : program_(program),
          rows_(rows),
          contents_(contents),
          arena_(garbage(program.arena_bytes)),
          weights_(garbage(program.weights_bytes)),
          block_(run_block(rows)) {
        for (const Variable& slot : program.variables) {
            const std::vector<std::byte> bytes = bytes_of(contents.weights.at(slot.name));
            std::copy(bytes.begin(), bytes.end(),
                      weights_.begin() + static_cast<int64_t>(slot.offset));
        }
        for (const Binding& binding : program.bindings)
            external_.push_back(bytes_of(named(binding)));
    }

    void run(const Command& step) {
        std::vector<Span> spans;
        for (const Operand& o : program_.operands_of(step)) {
            HEARTH_ASSERT(o.offset + o.bytes.at(rows_) <= region(o).size());
            spans.push_back({region(o).data() + o.offset, o.bytes.at(rows_), o.access});
        }
        if (step.kind == CommandKind::kCopy) {
            std::memcpy(spans[1].data, spans[0].data, spans[0].bytes);
            return;
        }
        const std::span<const uint32_t> words = program_.words_of(step);
        for (size_t i = 0; i < spans.size(); ++i) spans[i].is_elementwise = (words[1] >> i) & 1;
        mix(spans, words[0]);
    }

    void store() {
        for (const Variable& slot : program_.variables)
            contents_.weights[slot.name] =
                words_of(std::span(weights_).subspan(slot.offset, slot.bytes));
        for (size_t b = 0; b < external_.size(); ++b)
            named(program_.bindings[b]) = words_of(external_[b]);
    }

  private:
    Words& named(const Binding& binding) {
        return (binding.direction == Direction::kOutput ? contents_.outputs
                                                        : contents_.inputs)[binding.name];
    }

    std::vector<std::byte>& region(const Operand& operand) {
        switch (operand.region) {
            case Region::kArena:
                return arena_;
            case Region::kWeights:
                return weights_;
            case Region::kExternal:
                return external_[operand.binding];
            case Region::kRun:
                break;
        }
        return block_;
    }

    const Program& program_;
    uint64_t rows_;
    Contents& contents_;
    std::vector<std::byte> arena_, weights_, block_;
    std::vector<std::vector<std::byte>> external_;
};

}  // namespace

void run(const Program& program, size_t e, uint64_t rows, Order order, Contents& contents) {
    Machine machine(program, rows, contents);
    Random random(stream_key("order", e));
    std::vector<const Command*> interval;
    const auto finish_interval = [&] {
        if (order == Order::kReversed) std::reverse(interval.begin(), interval.end());
        for (size_t i = interval.size(); order == Order::kShuffled && i > 1; --i)
            std::swap(interval[i - 1], interval[random.below(static_cast<uint32_t>(i))]);
        for (const Command* step : interval) machine.run(*step);
        interval.clear();
    };
    for (const Command& step : program.commands_of(program.entries[e])) {
        if (step.kind == CommandKind::kBarrier)
            finish_interval();
        else
            interval.push_back(&step);
    }
    finish_interval();
    machine.store();
}

}  // namespace hearth::synthetic
