// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Networks on this machine's CPU: cooked to C (hearth/c.hpp), built by the system's C compiler to a
// shared library, cached by content, and loaded.

#pragma once

#include "compiler/driver/cook_c.hpp"
#include "compiler/ir/graph.hpp"
#include "core/portable.hpp"
#include "native/library.hpp"
#include "native/shared_library.hpp"
#include "program/program.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::native {

/// Returns the widest of x86-64-v2 to -v4 or NEON that this machine supports; else kScalar.
CpuIsa this_cpu();

/// A network and its memory.
class NativeNet {
  public:
    /// Cooks, builds (unless cached) and loads the graphs' entries; variables have their initial
    /// values.
    /// Errors: as cook_c(); kInternal with the command if the compiler fails; kNotFound for a
    /// folder that cannot be created.
    static Result<std::unique_ptr<NativeNet>> build(std::vector<Graph> graphs,
                                                    CompileToCOptions cook,
                                                    const BuildOptions& options = {});
    NativeNet(const NativeNet&) = delete;
    NativeNet& operator=(const NativeNet&) = delete;

    /// Runs an entry once, its jobs split into `threads` ranges. Inputs and outputs by name.
    /// Errors: kInvalidArgument for inputs that are missing or differ; errors of the C code, with
    /// its text.
    Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs, int64_t rows = 1,
                             int threads = 1);

    /// Returns a parameter or state in its logical type.
    HostTensor read(const Variable& variable) const;
    /// Returns all parameters and states by name.
    NamedTensors weights() const;

    Status forget();
    Status load_brain(std::span<const std::byte> brain);
    Result<std::vector<std::byte>> save_brain() const;

    const Program& program() const { return program_; }
    const CProgram& cooked() const { return cooked_; }

    /// Arguments of an entry's functions, for tests of bad calls and for timing.
    struct Memory {
        void* weights;
        size_t weights_bytes;
        void* arena;
        size_t arena_bytes;
        const void* cooked;
        size_t cooked_bytes;
    };
    struct Error {
        char text[256];
    };
    using Call = int(const Memory*, const void* tensors, uint32_t rows, Error*);
    using Jobs = uint32_t(uint32_t phase, uint32_t rows);
    using Run = void(const Memory*, const void* tensors, uint32_t rows, uint32_t phase,
                     uint32_t first, uint32_t end);
    Memory& memory() { return memory_; }
    /// Finds a function of the library, or null: "act", "act_check", "act_jobs", "act_run", "init".
    template <class Function>
    Function* find(const std::string& name) const {
        return reinterpret_cast<Function*>(find_symbol(name));
    }

  private:
    NativeNet() = default;
    void* find_symbol(const std::string& name) const;

    struct Aligned {
        void operator()(std::byte* bytes) const { free_aligned(bytes); }
    };
    static std::unique_ptr<std::byte[], Aligned> allocate(size_t bytes);

    std::string name_;
    Program program_;
    CProgram cooked_;
    SharedLibrary library_;
    std::unique_ptr<std::byte[], Aligned> weights_, arena_;
    Memory memory_{};
};

}  // namespace hearth::native
