// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Interfaces within the importer: onnx_import.cpp visits graphs and applies rules to nodes,
// onnx_control.cpp expands functions, branches and loops, onnx_lists.cpp follows sequences of
// tensors, onnx_padding.cpp extents that depend on data, onnx_missing.cpp finds operators without
// rules.

#pragma once

#include "compiler/ir/graph.hpp"
#include "import/onnx/onnx_extents.hpp"
#include "import/onnx/onnx_model.hpp"

#include <hearth/io.hpp>
#include <hearth/op/onnx_call.hpp>
#include <hearth/op/op_def.hpp>

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace hearth {

struct OnnxImportRule {
    const OpDef* op = nullptr;  ///< null for compositions, which have an import function
    const OnnxMapping* mapping = nullptr;
};

/// Returns the newest rule for an ONNX operator that is valid for `opset`.
std::optional<OnnxImportRule> find_import_rule(std::string_view op_type, int opset);

/// True for operators on sequences of tensors, which exist only at import.
bool is_list_operator(std::string_view op_type);

/// True for operators that the importer itself evaluates without a rule.
bool is_import_builtin(std::string_view op_type);

/// Operators without a rule, and the nodes that use them.
class MissingOperators {
  public:
    /// Scans the nodes that the model's outputs need, including functions and loop bodies.
    explicit MissingOperators(const OnnxModel& model);

    /// True if the model cannot be imported; otherwise operators are missing only in branches,
    /// which may not be taken.
    bool is_certain() const { return is_certain_; }
    /// Message that lists all of them; empty if nothing is missing.
    std::string text() const;

  private:
    void scan(const OnnxGraph& graph, int opset, bool in_branch);
    void scan_node(const OnnxNode& node, int opset, bool in_branch);

    const OnnxModel& model_;
    std::set<std::pair<std::string, bool>> scanned_functions_;
    std::map<std::string, std::vector<std::string>> nodes_;  ///< by operator
    std::set<const OnnxNode*> seen_;
    bool is_certain_ = false;
};

/// The nodes of `graph` that its outputs depend on, in the file's order.
/// Errors: kInvalidArgument if two nodes compute the same value.
Result<std::vector<const OnnxNode*>> needed_nodes(const OnnxGraph& graph);

/// Folds BatchNormalization into the Conv, ConvTranspose or Gemm before it, if nothing else reads
/// that operator's result and all weights are initializers.
void fold_batch_norms(OnnxModel& model);

/// Number of elements in use of the axes whose extents depend on data: i64 [] each.
using OnnxPaddings = std::map<int, Tensor>;

/// Name of the node for options.bounds: its own or that of its first output.
std::string label_of(const OnnxNode& node);

/// The elements of the shape that a Shape node returns, as a range of axes.
std::pair<int64_t, int64_t> shape_range(const OnnxNode& node, int rank);

/// Value of an ONNX name; no member: an optional input that is absent.
struct OnnxKnown {
    Tensor tensor = {};
    /// Instead of the tensor, if it depends on the batch size; beside it, if it has bounds of
    /// numbers that depend on data.
    std::optional<Extents> extents = {};
    /// Instead of both: the elements of a sequence.
    std::shared_ptr<const std::vector<OnnxKnown>> sequence = {};
    bool is_absent() const { return tensor.trace() == nullptr && !extents && !sequence; }
    /// Known only as extents, which depend on the batch size.
    bool is_symbolic() const { return tensor.trace() == nullptr && extents; }
    bool has_bounds() const {
        return tensor.trace() != nullptr && extents && extents->has_bounds();
    }
};

/// Names of one graph; names of enclosing graphs are visible.
struct OnnxScope {
    const OnnxScope* outer = nullptr;
    const OnnxGraph* graph = nullptr;
    int opset = 0;
    const OnnxNode* call = nullptr;      ///< call of the function that this body belongs to
    const OnnxNode* defaults = nullptr;  ///< defaults of that function's attributes
    int depth = 0;
    std::unordered_map<std::string, OnnxKnown> values;
};

class OnnxImporter {
  public:
    /// All arguments must outlive the importer.
    OnnxImporter(const OnnxModel& model, const ImportOptions& options, Budget& budget);

    Result<ImportedModel> run();

  private:
    using Known = OnnxKnown;
    using Scope = OnnxScope;
    using Knowns = std::vector<Known>;

    // Defined in onnx_import.cpp.
    Status declare_inputs(Scope& scope);
    template <class T>
    const T* given_for(const OnnxPort& port, const std::vector<T>& given) const;
    std::string input_names() const;
    std::string missing_shapes() const;
    Result<Known> find(Scope& scope, const std::string& name);
    Result<Known> initializer(const std::string& name,
                              const std::shared_ptr<const HostTensor>& data, bool is_int4);
    const HostTensor* contents(ValueId id) const;
    const HostTensor* contents(const Tensor& tensor) const { return contents(tensor.value()); }
    Status import_nodes(Scope& scope);
    Status import_node(const OnnxNode& node, Scope& scope);
    Result<Knowns> apply_rule(const OnnxNode& node, const Knowns& inputs, int opset);
    static Status define(const OnnxNode& node, const Knowns& outputs, Scope& scope);
    Known known_extents(Extents extents);
    std::optional<Extents> extents_of(const OnnxNode& node, const Knowns& inputs) const;
    std::optional<int64_t> bound_of(const OnnxNode& node);
    Status check_bounds() const;
    Status name_unknown(const Status& status, const Tensor& unknown) const;
    /// What a rule reports beside its results.
    struct RuleNotes {
        std::vector<OnnxPadding> paddings = {};
        Tensor unknown = {};  ///< operand whose contents must be known at import
    };
    std::vector<Tensor> run_rule(const OnnxNode& node, const Knowns& known, int opset,
                                 RuleNotes& notes);
    void freeze_statistics(const Knowns& inputs);
    std::vector<Tensor> constant(const OnnxNode& node, OnnxCall& call);
    std::vector<Tensor> constant_of_shape(const OnnxNode& node, OnnxCall& call);
    Status fold(NodeId id);
    std::optional<Tensor> number_of_rows(const OnnxNode& node, const Knowns& inputs);
    Status name_outputs(Scope& scope);

    // Defined in onnx_control.cpp.
    static bool is_control(const OnnxNode& node);
    Result<Knowns> import_control(const OnnxNode& node, const Knowns& inputs, Scope& scope);
    Result<Knowns> import_body(const OnnxGraph& body, const Knowns& arguments, Scope& scope);
    Result<Knowns> import_function(const OnnxFunction& function, const OnnxNode& node,
                                   const Knowns& inputs, const Scope& scope);
    std::string names_of_inputs_behind(const Tensor& tensor) const;
    Result<Knowns> import_if(const OnnxNode& node, const Knowns& inputs, Scope& scope);
    Result<Known> choose(const Tensor& condition, const Known& yes, const Known& no,
                         std::string_view what);
    struct LoopState;
    Result<LoopState> begin_loop(const OnnxNode& node, const Knowns& inputs);
    Result<bool> enter_turn(LoopState& loop, int64_t turn);
    Status leave_turn(LoopState& loop, const Knowns& results);
    Result<Knowns> import_loop(const OnnxNode& node, const Knowns& inputs, Scope& scope);
    Status check_unpadded(const Tensor& tensor) const;
    Result<Knowns> import_scan(const OnnxNode& node, const Knowns& inputs, Scope& scope);
    Result<Knowns> import_batched_scan(const OnnxNode& node, const Knowns& inputs,
                                       const OnnxGraph& body, Scope& scope);
    Result<Knowns> run_scan(const OnnxNode& node, const Knowns& inputs, const OnnxGraph& body,
                            Scope& scope);
    Result<std::optional<int64_t>> known_number(const Known& value, std::string_view what) const;
    Result<std::optional<int64_t>> number_if_known(const Known& value, std::string_view what) const;
    Result<Known> joined(const std::vector<Known>& turns, int64_t axis, const OnnxPort& port);

    // Defined in onnx_padding.cpp.
    const OnnxPaddings& paddings_of(ValueId id) const;
    Tensor used_extent(const Tensor& tensor, int axis);
    Tensor used_shape(const OnnxNode& node, const Tensor& tensor);
    Result<Knowns> masked_operands(const OnnxNode& node, const Knowns& inputs);
    Status follow_rule(const OnnxNode& node, const Knowns& inputs, NodeId first_node,
                       std::span<const OnnxPadding> own, std::vector<Tensor>& results);
    Status follow_padding(NodeId first_node, bool is_masked = false, Tensor* scale = nullptr);
    Result<OnnxPaddings> paddings_after(const Node& node, ValueId out, bool is_masked,
                                        Tensor* scale);
    Result<bool> pad_results(const OnnxNode& node, const Knowns& inputs,
                             std::vector<Tensor>& results);
    Result<bool> pad_nothing(const OnnxNode& node, const Knowns& inputs,
                             std::vector<Tensor>& results);
    Result<bool> pad_selected(const OnnxNode& node, const Knowns& inputs,
                              std::vector<Tensor>& results);
    Result<bool> pad_scattered(const OnnxNode& node, const Knowns& inputs,
                               std::vector<Tensor>& results);
    Result<bool> pad_range(const OnnxNode& node, const Knowns& inputs,
                           std::vector<Tensor>& results);
    Result<bool> pad_top(const OnnxNode& node, const Knowns& inputs, std::vector<Tensor>& results);
    Result<bool> pad_expanded(const OnnxNode& node, const Knowns& inputs,
                              std::vector<Tensor>& results);
    Result<bool> pad_slice(const OnnxNode& node, const Knowns& inputs,
                           std::vector<Tensor>& results);
    Result<bool> join_used(const OnnxNode& node, const Knowns& inputs,
                           std::vector<Tensor>& results);
    Result<Tensor> select_padded(const Tensor& condition, Tensor yes, Tensor no);
    Status add_counts(const std::vector<std::pair<std::string, Tensor>>& outputs);
    Tensor with_clean_padding(const Tensor& t);

    // Defined in onnx_lists.cpp.
    static bool handles_lists(const OnnxNode& node);
    Result<Knowns> import_list_operator(const OnnxNode& node, const Knowns& inputs);
    Result<Known> split_to_sequence(const OnnxNode& node, const Knowns& inputs);
    Result<Known> concat_from_sequence(const OnnxNode& node, const Knowns& items);
    Result<std::optional<size_t>> position_in(const Knowns& items, const Known& position,
                                              size_t end) const;

    const OnnxModel& model_;
    const ImportOptions& options_;
    MissingOperators missing_;
    Trace trace_;
    std::unordered_map<ValueId, std::shared_ptr<const HostTensor>> known_contents_;
    std::unordered_map<const HostTensor*, Tensor> initializers_;
    std::unordered_map<const OnnxNode*, Tensor> constants_;
    std::unordered_set<std::string> param_names_;
    std::unordered_map<ValueId, OnnxPaddings> paddings_;
    std::unordered_set<ValueId> clean_;  ///< values whose padding the operator itself defines
    std::vector<OutputCount> counts_;
    std::vector<bool> used_bounds_;    ///< by position in options_.bounds
    std::set<std::string> boundable_;  ///< labels of nodes that take a bound
    /// Cache of needed_nodes(): loop bodies are entered repeatedly.
    std::unordered_map<const OnnxGraph*, std::vector<const OnnxNode*>> needed_;
    Budget& budget_;
};

}  // namespace hearth
