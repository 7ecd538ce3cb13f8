// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Import and export of ONNX models.  Most functions take untrusted bytes and open no files: file
// access is the caller's business.  For weights without a network see weights.hpp.
//
//     auto model = import_onnx(bytes);
//     if (!model.ok()) return model.status();
//     Trace trace("act");
//     Tensor observation = trace.input("observation", {kBatch, 8});
//     trace.output("action", model->call(trace, {observation})[0]);

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>
#include <hearth/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct NamedShape {
    std::string name = {};  ///< empty: the input at this position
    Shape shape = {};
};

struct NamedTensor {
    std::string name = {};  ///< empty, where inputs are named: the input at this position
    HostTensor tensor = {};
};

/// Upper bound of a number that depends on data: the extent of an output, or the iterations of a
/// loop.
struct NamedBound {
    std::string name = {};  ///< of a node of the model, or of one of its outputs
    int64_t count = 0;
};

/// Reads exactly the bytes [offset, offset + size) of an external data file of a model, or fails.
/// location: relative, with forward slashes, without "..", but otherwise untrusted.  offset + size
/// does not overflow, but nothing else about them is checked: check them against the file before
/// allocating.
using ExternalData = std::function<Result<std::vector<std::byte>>(const std::string& location,
                                                                  uint64_t offset, uint64_t size)>;

/// Treatment of BatchNormalization.  Its statistics are constants in any case: optimizers must not
/// touch them.
enum class BatchNormImport {
    kTrainable,  ///< scale and bias can be trained, like other weights
    kFrozen,     ///< scale and bias are constants
    kFolded,     ///< folded into the weights of a preceding convolution or Gemm
};

struct ImportOptions {
    /// Shapes of inputs in place of those the model declares; fixed extents must agree.
    /// An input that is not listed keeps its declared shape, in which an unknown leading extent
    /// becomes kBatch; the unknown leading extents of all inputs are then the same number.
    std::vector<NamedShape> input_shapes = {};
    /// Replaces an unknown leading extent, instead of kBatch; 0: kBatch.  For models that do not
    /// treat each batch item on its own and therefore need a fixed batch size.
    int64_t batch_size = 0;
    /// Name of input_shapes in error messages: a program that fills them from its command line
    /// names its flag here.
    std::string_view shape_flag_name = "input_shapes";
    /// Bounds of extents that depend on data (NonZero, Unique, Compress, NonMaxSuppression, Range),
    /// and of the iterations of a Loop whose count or condition depends on data.  The extent becomes
    /// the bound; a further output of the model has the number that is used (TensorSpec::counts).
    /// More results than the bound are dropped from the end; a Loop stops.  Without a bound, an
    /// extent is its largest possible value if that is at most 16,384, and a loop runs up to a trip
    /// count that is known and at most 128; larger ones must have a bound.
    std::vector<NamedBound> bounds = {};
    /// Name of bounds in error messages; as shape_flag_name.
    std::string_view bound_flag_name = "bounds";
    /// Contents of inputs that must be known at import: a shape to reshape to, axes, a range's end,
    /// or the number of results of NonZero, Unique, Compress or NonMaxSuppression, which then needs
    /// no bound.  The imported model is correct for these contents only.  As many elements as the
    /// input has, of any type that holds them.
    std::vector<NamedTensor> constant_inputs = {};
    /// Name of constant_inputs in error messages; as shape_flag_name.
    std::string_view value_flag_name = "constant_inputs";
    /// True: floating-point weights (initializers of rank 1 and more) become params, which can be
    /// trained and saved; false: constants.
    bool trainable = true;
    BatchNormImport batch_norm = BatchNormImport::kTrainable;
    /// Reads the external data files of a model; empty: models with external data are rejected.
    ExternalData external_data = {};
    /// Prefix of the params' names, to keep the weights of two models in one trace apart.
    std::string prefix = {};
    /// Multiplies the limits on the work of the import: unrolling loops and sequences, expanding
    /// functions, folding constants.  Raise it for trusted models that expand a lot from few bytes;
    /// the error names the limit that was exceeded.
    double expansion_limit = 1;
};

/// An axis of an output whose extent depends on data.  Elements from the count on are padding: -1
/// in indices that NonZero, NonMaxSuppression and Unique return, otherwise 0.
struct ExtentCount {
    int axis = 0;
    std::string output = {};  ///< the output that holds the number of elements in use: i64 []
};

/// An input or output of a model.
struct TensorSpec {
    std::string name = {};
    DType dtype = DType::kF32;
    Shape shape = {};
    /// Axes of an output whose extent in `shape` is a bound (ImportOptions::bounds).
    std::vector<ExtentCount> counts = {};
};

/// An axis of a graph's output whose extent depends on data, and the output with the number of
/// elements in use; both as positions.
struct OutputCount {
    size_t output = 0;
    int axis = 0;
    size_t count = 0;
};

/// An imported model: a graph whose weights carry their trained contents.  Immutable: any number of
/// threads may use it concurrently.
class ImportedModel {
  public:
    ImportedModel(std::shared_ptr<const Graph> graph, std::vector<std::string> strings = {},
                  std::span<const OutputCount> counts = {});

    const Graph& graph() const { return *graph_; }
    std::span<const TensorSpec> inputs() const { return inputs_; }
    std::span<const TensorSpec> outputs() const { return outputs_; }

    /// Appends the model to `trace`, with `inputs` in the order of inputs(); weights become params
    /// of the trace, and two calls in one trace share them.  Returns the outputs in the order of
    /// outputs().  A wrong number, shape or type of inputs fails the trace.
    std::vector<Tensor> call(Trace& trace, std::span<const Tensor> inputs) const;
    std::vector<Tensor> call(Trace& trace, std::initializer_list<Tensor> inputs) const {
        return call(trace, std::span(inputs.begin(), inputs.size()));
    }

    /// The distinct strings of the model, such as names of classes.  Inputs and outputs that hold
    /// strings in the model hold positions in this list, as i64; -1 is any other string.
    std::span<const std::string> strings() const { return strings_; }

  private:
    std::shared_ptr<const Graph> graph_;
    std::vector<TensorSpec> inputs_;
    std::vector<TensorSpec> outputs_;
    std::vector<std::string> strings_;
};

/// Reads an ONNX model (ModelProto, opset 1 to 28).
///
/// Constants are folded, shape arithmetic above all, and the model's own functions are inlined.  An
/// `If` is resolved at import if its condition is known; otherwise both branches are computed and
/// one result is selected, so their types and ranks must agree.  Loop and Scan are unrolled.  A Loop
/// whose condition depends on data computes all iterations up to its bound, and keeps its state from
/// the first one that is not taken.
///
/// After the model's outputs come the counts of those with extents that depend on data
/// (ImportOptions::bounds): "NAME_count", or "NAME_count_AXIS" if several axes have one.  Operators
/// that read such values mask the padding or are refused.
///
/// Errors: kCorruptData for bytes that are not an ONNX model or are inconsistent; kInvalidArgument
/// for a model that breaks ONNX's rules, or input_shapes that do not fit it; kUnsupported naming
/// all missing operators and types and the nodes that use them; kOutOfRange for loops of more than
/// 1024 iterations, for models that expand far more than a file of their size should (see
/// ImportOptions::expansion_limit; a few tens of thousands of values for the smallest), and out of
/// memory.
Result<ImportedModel> import_onnx(std::span<const std::byte> bytes,
                                  const ImportOptions& options = {});

/// Reads external data from files in `folder` and below it, and no more bytes than requested.
/// Symbolic links that lead out of the folder are rejected.
ExternalData directory_loader(const std::string& folder);

/// Reads a model file; external data comes from its folder, by directory_loader().  Errors: also
/// kNotFound for files that are absent or cannot be read.
Result<ImportedModel> import_onnx_file(const std::string& path, ImportOptions options = {});

/// Writes a graph as an ONNX model: each operator as its ONNX counterpart where there is one,
/// otherwise decomposed.
///
/// Params and states become initializers, with their contents in `weights` or else their initial
/// values.  Symbolic extents become the parameter "batch" (or "2*batch" and so on).  The model
/// declares the oldest opset from 18 on that has all operators it uses, for ONNX Runtime's and
/// PyTorch's tools.  Importing it again computes bitwise equal results, except that operator
/// attributes are 32-bit floats in ONNX, and that some functions without a counterpart (such as
/// silu) round once more in between.
///
/// Errors: kUnsupported naming all operators without an ONNX counterpart, and for updates: ONNX has
/// no mutable state; kInvalidArgument for weights of other shapes or types, and for names shared by
/// an input and an output.
Result<std::vector<std::byte>> export_onnx(const Graph& graph, const NamedTensors& weights = {});
/// Builds the graph of the trace (Trace::build) and exports it.
Result<std::vector<std::byte>> export_onnx(Trace& trace, const NamedTensors& weights = {});

/// Reads a serialized TensorProto.
/// Errors: kCorruptData; kUnsupported for element types that Hearth does not have.
Result<NamedTensor> read_onnx_tensor(std::span<const std::byte> bytes);

}  // namespace hearth
