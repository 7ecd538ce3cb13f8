// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reading nets made elsewhere.  Most functions take bytes, trust none of them, and open nothing:
// files are the caller's business.  For weights without a net see weights.hpp.
//
//     auto model = import_onnx(bytes);
//     if (!model.ok()) return model.status();
//     Trace trace("act");
//     Tensor observation = trace.input("observation", {kRows, 8});
//     trace.output("action", model->apply(trace, {observation})[0]);

#pragma once

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
    std::string name;  ///< empty: of the input at this position
    Shape shape;
};

struct NamedTensor {
    std::string name;  ///< empty, where inputs are named: the input at this position
    HostTensor tensor;
};

/// Reads the bytes [offset, offset + size) of a file that a model keeps tensors in, all of them or
/// none.  location: relative, with forward slashes, without "..", but otherwise as the model has it.
/// offset + size does not overflow, but nothing else is known of either: check them against the file
/// before anything is allocated.
using ExternalData = std::function<Result<std::vector<std::byte>>(const std::string& location,
                                                                  uint64_t offset, uint64_t size)>;

/// What becomes of BatchNormalization.  Its statistics are constants in any case: optimizers must
/// not touch them.
enum class BatchNormImport {
    kTrainable,  ///< scale and bias can be trained, as other weights
    kFrozen,     ///< scale and bias are constants
    kFolded,     ///< where it follows a convolution or Gemm, it becomes part of their weights
};

struct ImportOptions {
    /// Shapes of inputs in place of those the model declares; fixed extents must agree.
    /// An input that is not here keeps its declared shape, in which an unknown leading extent
    /// becomes kRows; the unknown leading extents of all inputs are then one and the same number.
    std::vector<NamedShape> input_shapes;
    /// What an unknown leading extent becomes instead of kRows; 0: kRows.  For models that do not
    /// treat each row alone, and so cannot leave their number open.
    int64_t rows = 0;
    /// What messages call input_shapes: a program that fills them from its command line says which
    /// option does so.
    std::string_view shape_option = "input_shapes";
    /// Contents of inputs, used where the model needs them to be known: a shape to reshape to,
    /// axes, a range's end, or how many results NonZero, Unique, Compress or NonMaxSuppression have.
    /// What is computed is then right for these contents alone.  As many elements as the input has, of
    /// any type that holds them.
    std::vector<NamedTensor> input_values;
    /// What messages call input_values.
    std::string_view value_option = "input_values";
    /// Whether floating-point weights (initializers of rank 1 and more) become params, which can be
    /// trained and saved, or constants.
    bool trainable = true;
    BatchNormImport batch_norm = BatchNormImport::kTrainable;
    /// Reads the files that the model keeps tensors in; empty: such models are refused.
    ExternalData external_data;
    /// Put in front of the params' names, to keep the weights of two models in one trace apart.
    std::string prefix;
    /// How many times as much as usual reading the file may do: unrolling loops and sequences,
    /// expanding functions, computing constants.  For models one trusts that say very much in few
    /// bytes; the error names the limit that was met.
    double budget = 1;
};

/// What a model takes or gives.
struct ModelPort {
    std::string name;
    DType dtype = DType::kF32;
    Shape shape;
};

/// A net that was read: a graph whose weights carry their trained contents.  Immutable; any number
/// of threads may use one at a time.
class ImportedModel {
  public:
    ImportedModel(std::shared_ptr<const Graph> graph, Status fits_device);

    const Graph& graph() const { return *graph_; }
    std::span<const ModelPort> inputs() const { return inputs_; }
    std::span<const ModelPort> outputs() const { return outputs_; }

    /// Appends the model to `trace`, with `inputs` in the order of inputs(); weights become params
    /// of the trace, and two applications in one trace share them.  Returns the outputs in the
    /// order of outputs().  A wrong number of inputs or a wrong shape fails the trace; types too.
    std::vector<Tensor> apply(Trace& trace, std::span<const Tensor> inputs) const;
    std::vector<Tensor> apply(Trace& trace, std::initializer_list<Tensor> inputs) const {
        return apply(trace, std::span(inputs.begin(), inputs.size()));
    }

    /// Ok, or why the model runs on the CPU alone (64-bit constants that do not fit 32 bits).
    const Status& fits_device() const { return fits_device_; }

  private:
    std::shared_ptr<const Graph> graph_;
    std::vector<ModelPort> inputs_;
    std::vector<ModelPort> outputs_;
    Status fits_device_;
};

/// Reads an ONNX model (ModelProto, opset 1 to 28).
///
/// Computations on constants, shape arithmetic above all, are done here.  The model's own functions
/// are expanded.  If takes the branch that its condition names, where that is known; otherwise both
/// are computed and one is chosen, which their types must allow.  Loop and Scan are unrolled; how
/// often they run must be known.
///
/// Errors: kCorruptData for bytes that are no ONNX model or contradict themselves; kInvalidArgument
/// for a model that breaks ONNX's rules, or input_shapes that do not fit it; kUnsupported with all
/// operators and types that are missing and the nodes that use them; kOutOfRange for loops of more
/// than 1024 turns, for models that ask for far more than a file of their size should (see
/// ImportOptions::budget; a few tens of thousands of values from the smallest), and where memory ends.
Result<ImportedModel> import_onnx(std::span<const std::byte> bytes,
                                  const ImportOptions& options = {});

/// Reads files in `folder` and below it, no more of them than is asked for; what links lead out of it
/// is refused.
ExternalData files_below(const std::string& folder);

/// Reads a model file, with files_below its folder.  Errors: also kNotFound for files that are
/// absent or cannot be read.
Result<ImportedModel> import_onnx_file(const std::string& path, ImportOptions options = {});

/// Writes a graph as an ONNX model: each operator as its namesake in ONNX where there is one,
/// otherwise as what it is made of.
///
/// Params and states become initializers, with their contents in `weights`, or else their first
/// ones.  Symbolic extents become the parameter "rows" (or "2*rows" and so on).  The model has the
/// oldest operator set from 18 on that has all it uses, so that ONNX Runtime and PyTorch's tools read
/// it.  Importing it again computes the same, bit for bit, except that attributes of operators are
/// 32-bit floats in ONNX, and that some functions without a namesake (such as silu) round once more
/// in between.
///
/// Errors: kUnsupported with all operators that ONNX has no counterpart for, and for updates: ONNX
/// has no states that change; kInvalidArgument for weights of other shapes or types, and names that
/// are both an input's and an output's.
Result<std::vector<std::byte>> export_onnx(const Graph& graph, const NamedTensors& weights = {});
/// The trace's graph, finished.
Result<std::vector<std::byte>> export_onnx(Trace& trace, const NamedTensors& weights = {});

/// Reads a serialized TensorProto.
/// Errors: kCorruptData; kUnsupported for element types that Hearth does not have.
Result<NamedTensor> read_onnx_tensor(std::span<const std::byte> bytes);

}  // namespace hearth
