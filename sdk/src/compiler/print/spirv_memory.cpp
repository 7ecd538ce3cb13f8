// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/spirv_memory.hpp"

namespace hearth::spirv {

namespace {

constexpr uint32_t kLogical = 0, kPhysicalStorageBuffer64 = 5348;  // addressing models
constexpr uint32_t kGlsl450 = 1, kVulkan = 3;                      // memory models
constexpr uint32_t kAligned = 2;                                   // a memory operand
constexpr uint32_t kVersion15 = 0x00010500;

}  // namespace

KernelModule::KernelModule(const Body& body, const SpirvOptions& options_)
    : module(options_.version), options(options_), body_(body) {
    module.set_memory_model(is_by_address() ? kPhysicalStorageBuffer64 : kLogical,
                            has_khr_matrices() ? kVulkan : kGlsl450);
    if (has_khr_matrices()) {
        module.require(Capability::kVulkanMemoryModel);
        module.require_extension("SPV_KHR_vulkan_memory_model", kVersion15);
    }
    if (is_by_address()) {
        module.require(Capability::kPhysicalStorageBufferAddresses);
        module.require_extension("SPV_KHR_physical_storage_buffer", kVersion15);
    }
    // Declared first, so that modules do not depend on the order in which a C++ compiler evaluates arguments.
    for (const ScalarType type :
         {ScalarType::kBool, ScalarType::kU32, ScalarType::kI32, ScalarType::kF32})
        (void)type_of(type);
    for (const uint32_t length : {2u, 4u}) {
        (void)type_words(length);
        (void)module.type_vector(type_of(ScalarType::kF32), length);
    }
    // Both regions come ahead of the operands that are bound by themselves.
    uint32_t bound = options.located_count > 0 ? 2 : 0;
    member_of_.resize(options.order.size());
    is_located_.resize(options.order.size());
    for (uint32_t o = 0; o < options.order.size(); ++o) {
        const uint32_t operand = options.order[o];
        is_located_[operand] = o < options.located_count;
        member_of_[operand] = is_located_[operand] ? o : bound++;
    }
    if (options.uses_rows) rows_ = bound++;
    std::vector<Module::Member> members;
    if (is_by_address()) members.assign(bound, {type_words(2), sizeof(uint64_t)});
    first_word_ = static_cast<uint32_t>(members.size());
    members.insert(members.end(), options.word_count, {type_word(), sizeof(uint32_t)});
    if (!members.empty())
        push_ = module.variable(Storage::kPushConstant, module.type_block(members));
}

uint32_t KernelModule::type_of(ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return module.type_float(32);
        case ScalarType::kF64:
            module.require(Capability::kFloat64);
            return module.type_float(64);
        case ScalarType::kI32:
        case ScalarType::kU32:
            return module.type_int(32, type == ScalarType::kI32);
        case ScalarType::kI64:
        case ScalarType::kU64:
            module.require(Capability::kInt64);
            return module.type_int(64, type == ScalarType::kI64);
        case ScalarType::kBool:
            return module.type_bool();
    }
    return 0;
}

uint32_t KernelModule::type_of(ScalarType type, Chunk chunk) {
    switch (chunk) {
        case Chunk::kTwo:
        case Chunk::kThree:
        case Chunk::kFour:
            return module.type_vector(type_of(type), length_of(chunk));
        case Chunk::kHalves:
            return type_words(4);
        case Chunk::kLeft:
        case Chunk::kRight:
        case Chunk::kSums:
        case Chunk::kHalfSums:
            return type_of_fragment(chunk);
        default:
            return type_of(type);
    }
}

/// The types of the two extensions differ in one operand: SPV_KHR_cooperative_matrix has the use, which is 0 for left
/// factors, 1 for right ones, 2 for sums.
uint32_t KernelModule::type_of_fragment(Chunk fragment) {
    const uint32_t scope_number = body_.has_workgroup_matrices ? 2 : 3;
    if (options.matrices == CooperativeMatrixExt::kNone)
        fail("fragments, without an extension for them");
    if (fragment != Chunk::kSums) module.require(Capability::kFloat16);
    module.require(has_khr_matrices() ? Capability::kMatricesKhr : Capability::kMatricesNv);
    module.require_extension(
        has_khr_matrices() ? "SPV_KHR_cooperative_matrix" : "SPV_NV_cooperative_matrix", 0);
    const auto [rows, columns] = body_.shape_of(fragment);
    const uint32_t component = type_of_component(fragment), scope = module.constant(scope_number);
    const uint32_t m = module.constant(rows), n = module.constant(columns);
    if (!has_khr_matrices()) return module.declare(Op::kTypeMatrixNv, {component, scope, m, n});
    const uint32_t use = fragment == Chunk::kLeft ? 0 : fragment == Chunk::kRight ? 1 : 2;
    return module.declare(Op::kTypeMatrixKhr, {component, scope, m, n, module.constant(use)});
}

uint32_t KernelModule::constant_of(uint64_t bits, ScalarType type) {
    if (type == ScalarType::kBool) return module.constant(bits != 0);
    const auto low = static_cast<uint32_t>(bits), high = static_cast<uint32_t>(bits >> 32);
    return is_wide(type) ? module.constant(type_of(type), {low, high})
                         : module.constant(type_of(type), {low});
}

uint32_t KernelModule::emit(Code& code, Op op, uint32_t type, std::span<const uint32_t> operands) {
    const uint32_t id = module.new_id();
    Words all{type, id};
    all.insert(all.end(), operands.begin(), operands.end());
    append(code, op, all);
    const bool may_be_contracted =
        op == Op::kFMul || op == Op::kFDiv || op == Op::kVectorTimesScalar || op == Op::kDot;
    if (may_be_contracted) module.decorate(id, Decoration::kNoContraction);
    return id;
}

void KernelModule::emit(Code& code, Op op, std::initializer_list<uint32_t> operands) {
    append(code, op, std::span(operands.begin(), operands.size()));
}

uint32_t KernelModule::math(Code& code, Math function, uint32_t type,
                            std::initializer_list<uint32_t> operands) {
    Words all{module.math_instructions(), static_cast<uint32_t>(function)};
    all.insert(all.end(), operands.begin(), operands.end());
    const uint32_t id = emit(code, Op::kExtInst, type, all);
    // Undecorated, even this one may be two operations.
    if (function == Math::kFma) module.decorate(id, Decoration::kNoContraction);
    return id;
}

KernelModule::Held KernelModule::held(DType dtype, View view) {
    switch (view) {
        case View::kFours:
            return {type_of(ScalarType::kF32, Chunk::kFour), 16};
        case View::kWords:
            return {type_words(4), 16};
        case View::kPairs:
            return {type_words(2), 8};
        case View::kElements:
            break;
    }
    const uint32_t bytes = size_bytes(dtype);
    if (bytes == 2) module.require(Capability::kStorageBuffer16Bit);
    if (bytes == 1) {
        module.require(Capability::kStorageBuffer8Bit);
        module.require_extension("SPV_KHR_8bit_storage", kVersion15);
    }
    if (dtype == DType::kF16) return {module.type_float(16), bytes};
    if (bytes >= 4) return {type_of(scalar_type(dtype)), bytes};
    const bool has_sign = dtype == DType::kI8 || dtype == DType::kI16;
    return {module.type_int(8 * bytes, has_sign), bytes};
}

uint32_t KernelModule::pushed(Code& code, uint32_t member, uint32_t type) {
    const uint32_t pointer_type = module.type_pointer(Storage::kPushConstant, type);
    const uint32_t pointer = emit(code, Op::kAccessChain, pointer_type,
                                  {push_, constant_int(static_cast<int32_t>(member))});
    return emit(code, Op::kLoad, type, {pointer});
}

uint32_t KernelModule::pushed_word(Code& code, uint32_t index) {
    return emit(code, Op::kBitcast, type_of(ScalarType::kI32),
                {pushed(code, first_word_ + index, type_word())});
}

uint32_t KernelModule::place_of(Code& code, uint32_t operand) {
    const uint32_t member = member_of_[operand];
    if (!is_located_[operand]) return pushed(code, member, type_words(2));
    const uint32_t place = module.spec_constant(member);
    return is_by_address() ? emit(code, Op::kFunctionCall, type_words(2), {locate(), place})
                           : place;
}

/// Program::locate: units of 16 bytes, and in bit 0 whether in the weights.
uint32_t KernelModule::locate() {
    if (locate_ != 0) return locate_;
    const uint32_t word = type_word(), place_type = type_words(2), place = module.new_id();
    const uint32_t types[] = {place_type, word};
    locate_ = module.new_id();
    Code code;
    const uint32_t function_type = module.type_function(types);
    emit(code, Op::kFunction, {place_type, locate_, 0, function_type});
    emit(code, Op::kFunctionParameter, {word, place});
    emit(code, Op::kLabel, {module.new_id()});
    const auto number = [&](uint32_t value) { return module.constant(value); };
    const uint32_t arena = pushed(code, 0, place_type), weights = pushed(code, 1, place_type);
    const uint32_t in_weights = emit(code, Op::kBitwiseAnd, word, {place, number(1)});
    const uint32_t is_weight =
        emit(code, Op::kINotEqual, module.type_bool(), {in_weights, number(0)});
    const auto half = [&](uint32_t which) {
        const uint32_t a = emit(code, Op::kCompositeExtract, word, {weights, which});
        const uint32_t b = emit(code, Op::kCompositeExtract, word, {arena, which});
        return emit(code, Op::kSelect, word, {is_weight, a, b});
    };
    const uint32_t low = half(0), high = half(1);
    const uint32_t units = emit(code, Op::kShiftRightLogical, word, {place, number(1)});
    const uint32_t bytes = emit(code, Op::kShiftLeftLogical, word, {units, number(4)});
    const uint32_t pair[] = {word, word};
    const uint32_t sum = emit(code, Op::kIAddCarry, module.type_struct(pair), {low, bytes});
    const uint32_t sum_low = emit(code, Op::kCompositeExtract, word, {sum, 0});
    const uint32_t carry = emit(code, Op::kCompositeExtract, word, {sum, 1});
    const uint32_t upper = emit(code, Op::kShiftRightLogical, word, {place, number(29)});
    const uint32_t high_sum = emit(code, Op::kIAdd, word, {high, upper});
    const uint32_t sum_high = emit(code, Op::kIAdd, word, {high_sum, carry});
    const uint32_t result = emit(code, Op::kCompositeConstruct, place_type, {sum_low, sum_high});
    emit(code, Op::kReturnValue, {result});
    emit(code, Op::kFunctionEnd, {});
    module.name(locate_, "hearth_locate");
    module.add_function(code);
    return locate_;
}

uint32_t KernelModule::pointer_to(Code& code, uint32_t operand, uint32_t place, DType dtype,
                                  View view, uint32_t index) {
    const Held element = held(dtype, view);
    if (!is_by_address()) return pointer_to_bound(code, member_of_[operand], element, index);
    return pointer_behind(code, place, element, index);
}

uint32_t KernelModule::pointer_behind(Code& code, uint32_t address, Held element, uint32_t index) {
    const uint32_t zero = constant_int(0);
    const uint32_t block = module.type_pointer_to_block_of(element.type, element.bytes);
    const uint32_t base = emit(code, Op::kBitcast, block, {address});
    const uint32_t type = module.type_pointer(Storage::kPhysicalStorageBuffer, element.type);
    return emit(code, Op::kAccessChain, type, {base, zero, index});
}

uint32_t KernelModule::pointer_to_bound(Code& code, uint32_t binding, Held element,
                                        uint32_t index) {
    const uint32_t zero = constant_int(0);
    uint32_t& variable = descriptors_[{binding, element.type}];
    if (variable == 0) {
        variable = module.variable(Storage::kStorageBuffer,
                                   module.type_block_of(element.type, element.bytes));
        module.decorate(variable, Decoration::kDescriptorSet, {0});
        module.decorate(variable, Decoration::kBinding, {binding});
    }
    const uint32_t type = module.type_pointer(Storage::kStorageBuffer, element.type);
    return emit(code, Op::kAccessChain, type, {variable, zero, index});
}

uint32_t KernelModule::pointer_in_region(Code& code, bool is_weights, DType dtype, View view,
                                         uint32_t index) {
    return pointer_to_bound(code, is_weights ? 1 : 0, held(dtype, view), index);
}

uint32_t KernelModule::region_index(Code& code, uint32_t place, DType dtype, View view,
                                    uint32_t index) {
    constexpr uint32_t kUnit = 16;  // bytes; Program::locate
    const uint32_t word = type_word();
    const uint32_t units = emit(code, Op::kShiftRightLogical, word, {place, module.constant(1u)});
    const uint32_t first =
        emit(code, Op::kIMul, word, {units, module.constant(kUnit / held(dtype, view).bytes)});
    return emit(code, Op::kIAdd, word, {first, emit(code, Op::kBitcast, word, {index})});
}

uint32_t KernelModule::load(Code& code, DType dtype, View view, uint32_t pointer) {
    const Held element = held(dtype, view);
    return is_by_address() ? emit(code, Op::kLoad, element.type, {pointer, kAligned, element.bytes})
                           : emit(code, Op::kLoad, element.type, {pointer});
}

void KernelModule::store(Code& code, DType dtype, View view, uint32_t pointer, uint32_t value) {
    if (is_by_address())
        emit(code, Op::kStore, {pointer, value, kAligned, held(dtype, view).bytes});
    else
        emit(code, Op::kStore, {pointer, value});
}

uint32_t KernelModule::live_rows(Code& code) {
    const Held element = held(DType::kU32, View::kElements);
    const uint32_t zero = constant_int(0);
    const uint32_t pointer =
        is_by_address() ? pointer_behind(code, pushed(code, rows_, type_words(2)), element, zero)
                        : pointer_to_bound(code, rows_, element, zero);
    const uint32_t rows = load(code, DType::kU32, View::kElements, pointer);
    return emit(code, Op::kBitcast, type_of(ScalarType::kI32), {rows});
}

uint32_t KernelModule::built_in(Code& code, BuiltIn which, uint32_t axis) {
    const uint32_t word = type_word();
    uint32_t value = 0;
    if (which == BuiltIn::kSubgroupId || which == BuiltIn::kSubgroupInvocation) {
        module.require(Capability::kGroupNonUniform);
        value = emit(code, Op::kLoad, word, {module.built_in(which, word)});
    } else {
        const uint32_t vector = module.type_vector(word, 3);
        const uint32_t variable = module.built_in(which, vector);
        const uint32_t pointer = module.type_pointer(Storage::kInput, word);
        const uint32_t component =
            emit(code, Op::kAccessChain, pointer, {variable, module.constant(axis)});
        value = emit(code, Op::kLoad, word, {component});
    }
    return emit(code, Op::kBitcast, type_of(ScalarType::kI32), {value});
}

/// Philox4x32-10; see sdk/include/hearth/core/philox.hpp, which gives the same bits.
uint32_t KernelModule::philox() {
    if (philox_ != 0) return philox_;
    const uint32_t word = type_word();
    const uint32_t types[] = {word, word, word, word, word}, products[] = {word, word};
    const uint32_t product_type = module.type_struct(products);
    philox_ = module.new_id();
    Code code;
    emit(code, Op::kFunction, {word, philox_, 0, module.type_function(types)});
    uint32_t key[2],
        counter[4] = {0, 0, module.constant(uint32_t{0}), module.constant(uint32_t{0})};
    for (uint32_t* parameter : {&key[0], &key[1], &counter[1], &counter[0]}) {
        *parameter = module.new_id();
        emit(code, Op::kFunctionParameter, {word, *parameter});
    }
    emit(code, Op::kLabel, {module.new_id()});
    for (int round = 0; round < 10; ++round) {
        const auto product = [&](uint32_t factor, uint32_t of) {
            const uint32_t both =
                emit(code, Op::kUMulExtended, product_type, {module.constant(factor), of});
            const uint32_t low = emit(code, Op::kCompositeExtract, word, {both, 0});
            return std::pair(low, emit(code, Op::kCompositeExtract, word, {both, 1}));
        };
        const auto [low0, high0] = product(0xD2511F53u, counter[0]);
        const auto [low1, high1] = product(0xCD9E8D57u, counter[2]);
        const auto mixed = [&](uint32_t a, uint32_t b, uint32_t c) {
            return emit(code, Op::kBitwiseXor, word,
                        {emit(code, Op::kBitwiseXor, word, {a, b}), c});
        };
        counter[0] = mixed(high1, counter[1], key[0]);
        counter[2] = mixed(high0, counter[3], key[1]);
        counter[1] = low1;
        counter[3] = low0;
        key[0] = emit(code, Op::kIAdd, word, {key[0], module.constant(0x9E3779B9u)});
        key[1] = emit(code, Op::kIAdd, word, {key[1], module.constant(0xBB67AE85u)});
    }
    emit(code, Op::kReturnValue, {counter[0]});
    emit(code, Op::kFunctionEnd, {});
    module.name(philox_, "hearth_philox");
    module.add_function(code);
    return philox_;
}

uint32_t KernelModule::function(const Body& body, uint32_t index) {
    uint32_t& id = functions_[{&body, index}];
    if (id == 0) id = print_function(*this, body, &body.functions[index]);
    return id;
}

uint32_t KernelModule::global(uint32_t local) {
    uint32_t& id = globals_[local];
    if (id != 0) return id;
    const Local& l = body_.locals[local];
    const uint32_t type = type_of(l.type, l.chunk);
    return id = l.kind == LocalKind::kShared
                    ? module.variable(Storage::kWorkgroup, module.type_array(type, l.length))
                    : module.variable(Storage::kPrivate, type);
}

}  // namespace hearth::spirv
