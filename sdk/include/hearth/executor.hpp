// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Whoever runs graphs: Hearth's reference, planned programs, devices, or another library (docs/executors.md).
//
//     Trace learn("learn");
//     ...
//     const std::unique_ptr<Executor> executor = make_reference_executor();
//     executor->load({*learn.finish()}, 64);
//     executor->run("learn", {{"x", x}, {"target", target}}, 64);   // writes the weights
//     executor->read("net.0.weight");

#pragma once

#include <hearth/compile.hpp>
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

/// One network and its memory.  One thread at a time.
class Executor {
  public:
    virtual ~Executor() = default;
    /// "cpu", "program", "gpu", "native", or the library's name.
    virtual std::string_view name() const = 0;

    /// Takes finished graphs, the network's entries, in place of what was loaded before.  Params and states of one
    /// name are one slot, which holds its first contents (Value::data; null: zeros).
    /// rows_capacity  the most rows that run() will be asked for; at least 1
    /// Errors: kUnsupported naming each operator or type that the executor lacks; then nothing is loaded.
    virtual Status load(std::vector<Graph> entries, int64_t rows_capacity) = 0;

    /// Runs an entry once.  inputs: by name, of the declared types and shapes with `rows` rows.  Returns outputs, and
    /// inputs that the entry updates, by name; params and states that it updates hold their new contents, and
    /// everything that it reads is from before.
    /// Errors: kNotFound for an entry that is not loaded; kInvalidArgument naming an input that is missing or differs,
    /// or for rows outside [1, rows_capacity].
    virtual Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                                     int64_t rows) = 0;

    /// A param or state.  Errors: kNotFound naming it.
    virtual Result<HostTensor> read(std::string_view slot) = 0;
    /// Errors: kNotFound naming it; kInvalidArgument for another type or shape.
    virtual Status write(std::string_view slot, const HostTensor& contents) = 0;
};

/// Hearth's reference interpreter: each operator in double, rounded once.
std::unique_ptr<Executor> make_reference_executor();

/// Programs as compiled with these options, run by the reference's rules at their real offsets; rows_capacity is
/// load()'s.  What fusion, order and aliasing do to a result is seen without a device.
std::unique_ptr<Executor> make_program_executor(const CompileOptions& options = {});

/// Makes an executor from outside known by name: `--device NAME` of programs that link the tool's commands.
/// Any thread, but not while another asks.  Errors: kInvalidArgument for a name that another one has.
using MakeExecutor = std::unique_ptr<Executor> (*)();
Status register_executor(std::string_view name, MakeExecutor make);
/// Null if none of this name is registered.
std::unique_ptr<Executor> make_registered_executor(std::string_view name);
std::vector<std::string_view> registered_executors();

/// For executors: the graph with each node that `knows` denies in place of its decomposition, which may have
/// operators that are denied, too, and is decomposed until none is left.  An operator of a game's own is one
/// of these: its `decompose` says what it does where only Hearth's operators are known.
/// Errors: kUnsupported naming all operators that are denied and have no decomposition.
Result<Graph> decompose_unknown(const Graph& graph,
                                const std::function<bool(const Graph&, const Node&)>& knows);

/// For executors: the loaded graph of this name that run() is asked for, after checking what it is called with.
/// Errors: those of Executor::run.
Result<const Graph*> checked_entry(std::span<const Graph> entries, std::string_view entry,
                                   const NamedTensors& inputs, int64_t rows, int64_t rows_capacity);

/// For executors: the entries' params and states with their first contents.
/// Errors: kInvalidArgument naming one that two entries declare with different types or shapes.
Result<NamedTensors> first_contents(std::span<const Graph> entries);

/// For executors: what read() gives of slots that lie in memory.
Result<HostTensor> checked_read(const NamedTensors& slots, std::string_view slot);

/// For executors: what write() refuses.
Status check_write(const NamedTensors& slots, std::string_view slot, const HostTensor& contents);

}  // namespace hearth
