// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Printed kernels, built by the system's compilers and executed beside the interpreter.

#pragma once

#include "unit/kernel/op_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hearth::test {

using RunWorkgroups = void(void* const* operands, int32_t rows, int32_t first, int32_t end,
                           int32_t workgroups);

/// A shared library that a compiler made of a source file; it lasts as long as this.
class KernelLibrary {
  public:
    /// source: the file's name, with its ending.  command: the compiler with its options.
    KernelLibrary(const std::string& name, const std::string& source, const std::string& text,
                  const std::string& command);
    ~KernelLibrary();
    KernelLibrary(const KernelLibrary&) = delete;
    KernelLibrary& operator=(const KernelLibrary&) = delete;

    bool is_open() const { return library_ != nullptr; }
    RunWorkgroups* find(const std::string& name) const;

  private:
    void* library_ = nullptr;
};

/// Expects that the function computes what the kernel should, in whatever order its workgroups run.
/// Returns the bytes of the operands that it writes.
std::vector<std::vector<std::byte>> expect_as_interpreted(OpKernel kernel,
                                                          const std::function<RunWorkgroups>& run,
                                                          double tolerance);

}  // namespace hearth::test
