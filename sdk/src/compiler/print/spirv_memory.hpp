// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// State that the functions of a SPIR-V kernel share: types of values, operands in memory, built-ins, and other functions,
// printed on demand.

#pragma once

#include "compiler/print/spirv.hpp"
#include "compiler/print/spirv_module.hpp"

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace hearth::spirv {

/// As what the elements of a buffer are reached.
enum class View : uint8_t { kElements, kFours, kWords, kPairs };

using Code = Words;  ///< instructions of one function

class KernelModule {
  public:
    KernelModule(const Body& body, const SpirvOptions& options);

    Module module;
    const SpirvOptions& options;

    bool has_khr_matrices() const { return options.matrices == CooperativeMatrixExt::kKhr; }
    bool is_by_address() const { return options.binding_model == BindingModel::kDeviceAddress; }

    uint32_t type_of(ScalarType type);
    /// Of a value of a body: a number, a vector, or a struct of two fours.
    uint32_t type_of(ScalarType type, Chunk chunk);
    uint32_t type_word() { return module.type_int(32, false); }
    uint32_t type_words(uint32_t count) { return module.type_vector(type_word(), count); }
    uint32_t constant_of(uint64_t bits, ScalarType type);
    uint32_t constant_int(int32_t value) {
        return module.constant(module.type_int(32, true), {static_cast<uint32_t>(value)});
    }

    /// An instruction with a result, whose id it returns.
    uint32_t emit(Code& code, Op op, uint32_t type, std::span<const uint32_t> operands);
    uint32_t emit(Code& code, Op op, uint32_t type, std::initializer_list<uint32_t> operands) {
        return emit(code, op, type, std::span(operands.begin(), operands.size()));
    }
    void emit(Code& code, Op op, std::initializer_list<uint32_t> operands);
    uint32_t math(Code& code, Math function, uint32_t type,
                  std::initializer_list<uint32_t> operands);

    /// The type of what says where a buffer lies: an address, a pair of words; in descriptors a word, the place in one of
    /// two regions that are bound as a whole.
    uint32_t type_of_place() { return is_by_address() ? type_words(2) : type_word(); }
    /// True of an operand in a region.  Only by address, or in a region, can it be passed to a function.
    bool is_in_region(uint32_t operand) const { return !is_by_address() && is_located_[operand]; }
    uint32_t place_of(Code& code, uint32_t operand);
    /// A pointer to element `index` of a view.  place: of the buffer, by address only.
    uint32_t pointer_to(Code& code, uint32_t operand, uint32_t place, DType held, View view,
                        uint32_t index);
    /// Likewise in one of the regions; index: see region_index().
    uint32_t pointer_in_region(Code& code, bool is_weights, DType held, View view, uint32_t index);
    /// The number of an element in the region of its place.
    uint32_t region_index(Code& code, uint32_t place, DType held, View view, uint32_t index);
    uint32_t load(Code& code, DType held, View view, uint32_t pointer);
    void store(Code& code, DType held, View view, uint32_t pointer, uint32_t value);
    uint32_t live_rows(Code& code);
    uint32_t pushed_word(Code& code, uint32_t index);
    /// Component x of a built-in vector, or a built-in number, as an integer.
    uint32_t built_in(Code& code, BuiltIn which, uint32_t axis = 0);

    uint32_t philox();
    /// A function of a body, printed by the first caller; so functions that nobody calls are not printed.
    uint32_t function(const Body& body, uint32_t index);
    /// The shared array or private variable that is this local of the kernel's body.
    uint32_t global(uint32_t local);

    /// Notes what cannot be printed; the first reason stays.
    void fail(const char* what) {
        if (error.ok())
            error = unsupported(std::string("the SPIR-V printer does not support ") + what);
    }
    Status error;

    /// An element of a view, as it lies in memory.
    uint32_t type_in_view(DType dtype, View view) { return held(dtype, view).type; }
    /// A number of a fragment.
    uint32_t type_of_component(Chunk fragment) {
        return module.type_float(fragment == Chunk::kSums ? 32 : 16);
    }

  private:
    uint32_t type_of_fragment(Chunk fragment);
    struct Held {
        uint32_t type = 0, bytes = 0;
    };
    Held held(DType dtype, View view);
    uint32_t pushed(Code& code, uint32_t member, uint32_t type);
    uint32_t locate();
    uint32_t pointer_behind(Code& code, uint32_t address, Held element, uint32_t index);
    uint32_t pointer_to_bound(Code& code, uint32_t binding, Held element, uint32_t index);

    const Body& body_;
    uint32_t push_ = 0;        ///< the block of addresses and words
    uint32_t first_word_ = 0;  ///< member: the first word
    uint32_t rows_ = 0;        ///< member or binding of the live row count
    std::vector<uint32_t>
        member_of_;  ///< per operand: of the block, a binding, or of a place its constant's number
    std::vector<bool> is_located_;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t>
        descriptors_;  ///< by binding and type of element
    std::map<std::pair<const Body*, uint32_t>, uint32_t> functions_;
    std::map<uint32_t, uint32_t> globals_;
    uint32_t locate_ = 0, philox_ = 0;
};

/// Prints a function of a body, or without one its statements as main(), and gives its id.
uint32_t print_function(KernelModule& kernel, const Body& body, const BodyFunction* function);

}  // namespace hearth::spirv
