// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Interface for backends that run graphs: Hearth's reference, compiled programs, devices, or
// another library (docs/how-to/executors.md).
//
//     Trace learn("learn");
//     ...
//     const std::unique_ptr<Executor> executor = make_reference_executor();
//     executor->load({*learn.build()}, 64);
//     executor->run("learn", {{"x", x}, {"target", target}}, 64);   // writes the weights
//     executor->read("net.0.weight");

#pragma once

#include <hearth/compile.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/graph.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace hearth {

/// One network and its variables.  One thread at a time.
class Executor {
  public:
    virtual ~Executor() = default;
    /// "reference", "program", "gpu", "cpu", or the library's name.
    virtual std::string_view name() const = 0;

    /// Loads finished graphs, the network's entries, and replaces those loaded before.  Params and
    /// states of one name are one variable, which holds its initial value (Value::data; null:
    /// zeros).  max_batch_size: that of run(); at least 1.
    /// Errors: kUnsupported naming each operator or type that the executor lacks; then nothing is
    /// loaded.
    virtual Status load(std::vector<Graph> entries, int64_t max_batch_size) = 0;

    /// Runs an entry once.  inputs: by name, of the declared types and shapes for a batch of
    /// `batch_size`.  Returns by name the outputs, and the inputs that the entry updates.
    /// Afterwards the params and states that it updates hold their new contents; all reads of the
    /// entry see the old ones.
    /// Errors: kNotFound for an entry that is not loaded; kInvalidArgument naming an input that is
    /// missing or differs, or for a batch_size outside [1, max_batch_size].
    virtual Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                                     int64_t batch_size) = 0;

    /// Returns a param or state.  Errors: kNotFound naming it.
    virtual Result<HostTensor> read(std::string_view variable) = 0;
    /// Sets a param or state.  Errors: kNotFound naming it; kInvalidArgument for another type or
    /// shape.
    virtual Status write(std::string_view variable, const HostTensor& value) = 0;
};

/// Hearth's reference interpreter: computes each operator in double and rounds once.
std::unique_ptr<Executor> make_reference_executor();

/// Runs programs compiled with these options by the reference's rules, at their real memory
/// offsets; options.max_batch_size is ignored, load()'s is used.  Exposes the effects of fusion,
/// order and aliasing without a device.
std::unique_ptr<Executor> make_program_executor(const CompileOptions& options = {});

/// Registers an external executor by name: `--device NAME` of programs that link the tool's
/// commands.  Any thread, but not while another one looks up executors.  Errors: kInvalidArgument
/// for a name that is taken.
using MakeExecutor = std::unique_ptr<Executor> (*)();
Status register_executor(std::string_view name, MakeExecutor make);
/// Returns null if no executor of this name is registered.
std::unique_ptr<Executor> make_registered_executor(std::string_view name);
std::vector<std::string_view> registered_executors();

/// For executors: returns the graph with every node that `is_supported` rejects replaced by its
/// decomposition, repeatedly, until none is rejected.  Custom operators of the application are such
/// nodes: their `decompose` expresses them in Hearth's operators.
/// Errors: kUnsupported naming all rejected operators that have no decomposition.
Result<Graph> legalize(const Graph& graph,
                       const std::function<bool(const Graph&, const Node&)>& is_supported);

/// For executors: validates the arguments of run() and returns the graph of the entry.
/// Errors: those of Executor::run.
Result<const Graph*> validate_entry(std::span<const Graph> entries, std::string_view entry,
                                    const NamedTensors& inputs, int64_t batch_size,
                                    int64_t max_batch_size);

/// For executors: the entries' params and states with their initial values.
/// Errors: kInvalidArgument naming one that two entries declare with different types or shapes.
Result<NamedTensors> initial_values(std::span<const Graph> entries);

/// For executors: implements read() for variables in host memory.
Result<HostTensor> read_checked(const NamedTensors& variables, std::string_view variable);

/// For executors: validates the arguments of write().
Status validate_write(const NamedTensors& variables, std::string_view variable,
                      const HostTensor& value);

}  // namespace hearth
