// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Graphs and kernel calls made up for testing the planner, and what they compute.
//
// A synthetic call has the same meaning wherever it runs: each written element is a mix of the
// call's index, the elements at the same place of its element-wise operands, and every element of
// its other operands.  `evaluate` computes that on values; `Machine` computes it on the bytes of a
// planned Program.  If both agree, order, offsets and barriers are right.

#pragma once

#include "compiler/codegen/lowered_program.hpp"
#include "compiler/plan/plan.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hearth::synthetic {

/// The n-th random number below `limit` of a keyed stream.
class Random {
  public:
    explicit Random(uint64_t key) : key_(key) {}
    uint32_t below(uint32_t limit);
    bool chance(uint32_t percent) { return below(100) < percent; }

  private:
    uint64_t key_;
    uint32_t drawn_ = 0;
};

struct Read {
    ValueId value = kInvalidId;
    bool is_elementwise = false;
};

/// One entry and its calls, built by hand.
class EntryBuilder {
  public:
    explicit EntryBuilder(std::string name);

    ValueId input(const std::string& name, const Shape& shape, DType dtype = DType::kF32);
    ValueId param(const std::string& name, const Shape& shape, DType dtype = DType::kF32,
                  bool has_contents = false);
    ValueId state(const std::string& name, const Shape& shape, DType dtype = DType::kF32);
    ValueId constant(const std::string& name, HostTensor contents);
    /// A value that some call will write.
    ValueId value(const Shape& shape, DType dtype = DType::kF32);
    /// Another shape on the bytes of `of`.
    ValueId reshape(ValueId of, const Shape& shape);

    /// A call that reads all of `reads` and writes values it makes, one per shape.
    std::vector<ValueId> call(const std::vector<Read>& reads, const std::vector<Shape>& writes,
                              DType dtype = DType::kF32);
    /// A call that reads and writes `target` besides reading `reads`.
    void accumulate(ValueId target, const std::vector<Read>& reads);
    /// A call that changes `target`, a param, state or input, in place, besides reading `reads`;
    /// its update.
    ValueId replace(ValueId target, const std::vector<Read>& reads);
    void add_call(std::vector<CallOperand> operands);

    void output(const std::string& name, ValueId value) { graph.outputs.push_back({name, value}); }
    void update(ValueId target, ValueId value) { graph.updates.push_back({target, value}); }

    Graph graph;
    LoweredEntry lowered;

  private:
    /// The shape is a copy: it may be that of another value.
    ValueId add(ValueKind kind, const std::string& name, Shape shape, DType dtype);
};

/// Entries put together: what `plan` takes.
struct Model {
    std::vector<Graph> graphs;
    LoweredProgram lowered;
    PlanOptions options;

    explicit Model(const std::vector<EntryBuilder>& entries, uint64_t rows_capacity = 1);
    Result<Program> plan() const { return hearth::plan(graphs, lowered, options); }
    Status verify(const Program& program) const {
        return verify_plan(program, graphs, lowered.entries, options);
    }
    /// The value that owns the bytes of `id` in entry `e`.
    ValueId root_of(size_t e, ValueId id) const;
};

/// One to three entries with up to `call_limit` calls each that share weights, all from `key`.
Model random_model(uint64_t key, uint32_t call_limit);

using Words = std::vector<uint32_t>;

/// Contents by name: of slots, inputs and outputs.
struct Contents {
    std::map<std::string, Words> weights, inputs, outputs;
    friend bool operator==(const Contents&, const Contents&) = default;
};

/// Slots as they are before the first recording, and random inputs.
Contents first_contents(const Program& program, uint64_t rows, uint64_t key);

/// Runs entry `e` of the graphs on values, in the order of the lowered calls.
void evaluate(const Model& model, const Program& program, size_t e, uint64_t rows,
              Contents& contents);

/// In which order steps between two barriers run; any of them must do.
enum class Order { kAsPlanned, kReversed, kShuffled };

/// Runs entry `e` of the Program on bytes, at the planned offsets.
void run(const Program& program, size_t e, uint64_t rows, Order order, Contents& contents);

}  // namespace hearth::synthetic
