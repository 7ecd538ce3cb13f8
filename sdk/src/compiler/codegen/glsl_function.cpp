// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Values that are read more than once, and all that products read, become local arrays; everything
// else is an expression where it is read.  An array whose elements differ by constants (the levels of a
// hash grid) is written element by element, so that the constants fold; others are loops.

#include "compiler/codegen/glsl_function.hpp"

#include "compiler/codegen/glsl_compiler.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/kernel/writer.hpp"
#include "compiler/print/glsl.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

namespace hearth {

namespace {

constexpr int64_t kMostElements = 4096;         ///< of one row of a value: they live in registers
constexpr int64_t kMostUnrolled = 512;          ///< elements that are written one by one
constexpr const char* kWords = "hearth_words";  ///< the weights in the text

bool is_identifier(std::string_view name) {
    const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           std::ranges::all_of(name, is_word) && !name.starts_with("gl_") &&
           name.find("__") == std::string_view::npos;
}

bool has_rows(const Shape& shape) {
    return shape.rank() > 0 && shape[0].is_batch;
}

/// Whether the function's text has locals of such names: a letter and a number.
bool is_taken(std::string_view name) {
    return name == "weights" || name == "rows" || name.starts_with("hearth_") ||
           (name.size() > 1 && std::string_view("eitv").find(name[0]) != std::string_view::npos &&
            std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
}

/// The extents of one row.
Shape row_shape(const Shape& shape) {
    Shape row = shape;
    if (has_rows(shape)) row.erase(0);
    return row;
}

int64_t row_elements(const Shape& shape) {
    return row_shape(shape).element_count(1);
}

std::string float_array(const HostTensor& data) {
    std::string text;
    for (int64_t i = 0; i < data.element_count(); ++i)
        text += (i > 0 ? ", " : "") + glsl_literal(data.get(i), scalar_type(data.dtype()));
    return text;
}

/// Writes the function that computes one row of a graph's outputs.
class RowFunctionWriter {
  public:
    RowFunctionWriter(const Graph& graph, const Program& program, const std::string& name)
        : graph_(graph), program_(program), name_(name) {
        row_ = arena_.symbol(ScalarType::kI32);
        writer_.load_by([this](uint64_t value, Expr element, ScalarType) {
            return load(static_cast<ValueId>(value), element);
        });
    }

    Result<GlslFunction> run() {
        HEARTH_TRY(check_name());
        HEARTH_TRY(check_interface());
        HEARTH_TRY(find_first_slot());
        find_kept();
        for (NodeId n = 0; n < graph_.nodes.size(); ++n)
            if (kept_[n]) {
                const ValueId v = graph_.nodes[n].outputs[0];
                HEARTH_TRY(write_array(v, "v" + std::to_string(v), LocalKind::kArray));
            }
        for (const GraphOutput& output : graph_.outputs)
            HEARTH_TRY(write_array(output.value, output.name, LocalKind::kResult));
        HEARTH_ASSIGN(std::string text, file_text());
        return GlslFunction{std::move(text), first_slot_ != nullptr ? first_slot_->name : ""};
    }

  private:
    /// Where the `at` rule of one node finds its inputs.
    class NodeReader final : public ScalarReader {
      public:
        NodeReader(RowFunctionWriter& writer, const Node& node) : writer_(writer), node_(node) {}
        Scalar read(int input, const ScalarPlace& place) override {
            return writer_.read(node_.inputs[static_cast<size_t>(input)], place, &node_);
        }
        ScalarArena& arena() override { return writer_.arena_; }

      private:
        RowFunctionWriter& writer_;
        const Node& node_;
    };

    Status check_name() const {
        if (is_identifier(name_)) return {};
        return invalid_argument("'" + name_ + "' is no name of a GLSL function");
    }

    /// What the function takes and returns are names and types of GLSL.
    Status check_interface() const {
        const auto check = [&](const std::string& name, ValueId v) -> Status {
            const Value& value = graph_.value(v);
            if (!is_identifier(name) || is_taken(name))
                return invalid_argument("'" + name + "' cannot name a parameter of the function");
            if (has_rows(value.shape) && value.shape[0].count != 1)
                return unsupported("'" + name + "' is " + to_string(value.shape) +
                                   ", which is more than one element of axis 0 for each row");
            if (row_elements(value.shape) >= 1 && row_elements(value.shape) <= kMostElements)
                return {};
            return unsupported("'" + name + "' is " + to_string(value.shape) +
                               "; a row of it must have 1 to " + std::to_string(kMostElements) +
                               " elements");
        };
        for (ValueId v : graph_.inputs) HEARTH_TRY(check(graph_.value(v).name, v));
        for (const GraphOutput& output : graph_.outputs)
            HEARTH_TRY(check(output.name, output.value));
        if (!graph_.outputs.empty()) return {};
        return invalid_argument("the entry has no outputs");
    }

    /// The first of the weights' slots that the graph reads: addresses are told from there.
    Status find_first_slot() {
        for (const Value& v : graph_.values) {
            if (v.kind != ValueKind::kParam && v.kind != ValueKind::kState) continue;
            const Variable* slot = program_.find_variable(v.name);
            if (slot == nullptr || slot->shape != v.shape || slot->dtype != v.dtype)
                return invalid_argument("the program has no weight '" + v.name + "' " +
                                        std::string(name_of(v.dtype)) + to_string(v.shape));
            if (first_slot_ == nullptr || slot->offset < first_slot_->offset) first_slot_ = slot;
        }
        return {};
    }

    // --- Which values become arrays ---

    void find_kept() {
        std::vector<bool> wanted(graph_.nodes.size(), false);
        std::vector<int> readers(graph_.values.size(), 0);
        std::vector<bool> often(graph_.values.size(),
                                false);  ///< each element is read again and again
        kept_.assign(graph_.nodes.size(), false);
        for (const GraphOutput& output : graph_.outputs) {
            ++readers[output.value];
            if (const Value& v = graph_.value(output.value); v.kind == ValueKind::kNode)
                wanted[v.node] = true;
        }
        for (size_t n = graph_.nodes.size(); n-- > 0;) {
            if (!wanted[n]) continue;
            const Node& node = graph_.nodes[n];
            const ValueId out = node.outputs[0];
            const bool is_product = node.op->op_class == OpClass::kMatmul;
            const bool is_view = node.op->is_view;
            const bool is_read_often = often[out] || readers[out] > 1;
            kept_[n] =
                is_product || node.op->op_class == OpClass::kReduce || (!is_view && is_read_often);
            for (ValueId v : node.inputs) {
                ++readers[v];
                const bool grows =
                    row_elements(graph_.value(out).shape) > row_elements(graph_.value(v).shape);
                if (is_product || grows || (is_view && is_read_often) ||
                    (node.op->op_class == OpClass::kInjective && !is_view))
                    often[v] = true;
                if (graph_.value(v).kind == ValueKind::kNode) wanted[graph_.value(v).node] = true;
            }
        }
    }

    // --- Expressions ---

    void fail(Status status) {
        if (status_.ok()) status_ = std::move(status);
    }
    Scalar zero(ScalarType type) { return arena_.constant(0, type); }

    /// The element of one row of a value.  reader: for messages, may be null.
    std::optional<Scalar> row_element(ValueId value, const ScalarPlace& place, const Node* reader) {
        const Shape& shape = graph_.value(value).shape;
        if (!has_rows(shape)) return linear_of(arena_, place, shape);
        if (!place.coords || place.coords->axis[0].id != row_.id) {
            fail(unsupported("'" + std::string(reader != nullptr ? reader->op->name : "output") +
                             "' reads " + to_string(shape) +
                             " in other rows than the one that it computes"));
            return std::nullopt;
        }
        Coords<Scalar> rest;
        for (int i = 1; i < shape.rank(); ++i) rest.axis.push_back((*place.coords)[i]);
        return linear_of(arena_, {{}, rest}, row_shape(shape));
    }

    /// The place of element `element` of one row.
    ScalarPlace place_of(const Shape& shape, Scalar element) {
        if (!has_rows(shape)) return {element, coords_of(arena_, {element, {}}, shape)};
        const Coords<Scalar> rest = coords_of(arena_, {element, {}}, row_shape(shape));
        Coords<Scalar> all;
        all.axis.push_back(row_);
        for (int i = 0; i < rest.rank(); ++i) all.axis.push_back(rest[i]);
        return {{}, all};
    }

    Scalar read(ValueId value, const ScalarPlace& place, const Node* reader) {
        const Value& v = graph_.value(value);
        const ScalarType type = scalar_type(v.dtype);
        if (v.kind == ValueKind::kNode && !kept_[v.node]) {
            std::vector<uint32_t> key{value, place.linear ? place.linear->id + 1 : 0};
            if (place.coords)
                for (const Scalar& c : place.coords->axis) key.push_back(c.id);
            if (const auto known = known_.find(key); known != known_.end()) return known->second;
            const Scalar result = arena_.convert(compute(value, place), type);
            known_.emplace(std::move(key), result);
            return result;
        }
        std::optional<Scalar> element = row_element(value, place, reader);
        if (!element) return zero(type);
        if (row_elements(v.shape) == 1) element = arena_.index(0);
        if (v.kind == ValueKind::kConstant) {
            if (element->is_const())
                return arena_.constant(v.data->get(static_cast<int64_t>(element->const_value())),
                                       type);
            reads_table_ = true;
        }
        return arena_.load(value, *element, type);
    }

    Scalar compute(ValueId value, const ScalarPlace& place) {
        const Value& v = graph_.value(value);
        const Node& node = graph_.nodes[v.node];
        const OpDef& op = *node.op;
        if (has_rows(v.shape) && v.shape[0].count != 1)
            return refuse(node, "makes " + to_string(v.shape) +
                                    ": more than one element of axis 0 for each row");
        if (node.attrs.has("key")) return refuse(node, "draws random numbers");
        if (op.is_reshape) return reshaped(node, v.shape, place);
        if (op.op_class == OpClass::kMatmul) return product(node, v.shape, place);
        if (op.op_class == OpClass::kReduce) return reduction(node, v, place);
        if (!op.compute || op.op_class == OpClass::kKernel)
            return refuse(node, "has a kernel of its own and no rule for single elements");
        std::vector<Shape> shapes;
        for (ValueId in : node.inputs) shapes.push_back(graph_.value(in).shape);
        NodeReader reader(*this, node);
        GpuAt context(node.attrs, shapes, v.shape, v.dtype, place, reader);
        return op.compute.on_scalars(context);
    }

    Scalar refuse(const Node& node, const std::string& why) {
        fail(unsupported("operator '" + std::string(node.op->name) + "' cannot be exported: it " +
                         why));
        return zero(scalar_type(graph_.value(node.outputs[0]).dtype));
    }

    Scalar reshaped(const Node& node, const Shape& to, const ScalarPlace& place) {
        const Shape& from = graph_.value(node.inputs[0]).shape;
        if (has_rows(from) != has_rows(to)) return refuse(node, "mixes rows with other axes");
        const std::optional<Scalar> element = row_element(node.outputs[0], place, &node);
        if (!element) return zero(ScalarType::kF32);
        return read(node.inputs[0], place_of(from, *element), &node);
    }

    /// A sum or another fold over `count` terms: a loop, or where a term reads a table of constants,
    /// written out.
    template <class F>
    Scalar fold(ScalarOp loop, ScalarOp pair, int64_t count, F term) {
        const bool read_before = std::exchange(reads_table_, false);
        const Scalar counter = arena_.symbol(ScalarType::kI32);
        Scalar result = term(counter);
        const bool unrolls = reads_table_ && count <= kMostUnrolled;
        reads_table_ = reads_table_ || read_before;
        if (!unrolls) return arena_.loop(loop, counter, arena_.index(count), result);
        reads_table_ = read_before;
        for (int64_t i = 0; i < count; ++i) {
            const Scalar next = term(arena_.index(i));
            result = i == 0 ? next : arena_.binary(pair, result, next);
        }
        return result;
    }

    Scalar product(const Node& node, const Shape& shape, const ScalarPlace& place) {
        const bool swaps[] = {node.attrs.flag("transpose_a"), node.attrs.flag("transpose_b")};
        const Coords<Scalar> at = coords_of(arena_, place, shape);
        const int rank = shape.rank();
        const Shape& left = graph_.value(node.inputs[0]).shape;
        const Dim inner = left[left.rank() - (swaps[0] ? 2 : 1)];
        if (inner.is_batch) return refuse(node, "sums over rows");
        const auto factor = [&](size_t which, Scalar k) {
            const Shape& from = graph_.value(node.inputs[which]).shape;
            Coords<Scalar> coords;
            // Batch axes are broadcast.
            for (int i = 0; i < from.rank() - 2; ++i) {
                const Scalar c = at[rank - from.rank() + i];
                coords.axis.push_back(from[i].is_one() ? arena_.index(0) : c);
            }
            const Scalar outer = at[which == 0 ? rank - 2 : rank - 1];
            const bool inner_first = which == 0 ? swaps[0] : !swaps[1];
            coords.axis.push_back(inner_first ? k : outer);
            coords.axis.push_back(inner_first ? outer : k);
            return arena_.convert(read(node.inputs[which], {{}, coords}, &node), ScalarType::kF32);
        };
        return fold(ScalarOp::kLoopSum, ScalarOp::kAdd, inner.count, [&](Scalar k) {
            return arena_.binary(ScalarOp::kMul, factor(0, k), factor(1, k));
        });
    }

    Scalar reduction(const Node& node, const Value& out, const ScalarPlace& place) {
        const Shape& from = graph_.value(node.inputs[0]).shape;
        const std::vector<int64_t>& axes = node.attrs.integers("axes");
        int64_t count = 1;
        for (int64_t axis : axes) {
            if (from[static_cast<int>(axis)].is_batch) return refuse(node, "folds over rows");
            count *= from[static_cast<int>(axis)].count;
        }
        const Coords<Scalar> at = coords_of(arena_, place, out.shape);
        const auto term = [&](Scalar i) {
            Coords<Scalar> coords = at;
            Scalar rest = i;
            for (size_t a = axes.size(); a-- > 0;) {
                const auto axis = static_cast<int>(axes[a]);
                const Scalar extent = arena_.index(from[axis].count);
                coords[axis] = a == 0 ? rest : arena_.binary(ScalarOp::kMod, rest, extent);
                if (a > 0) rest = arena_.binary(ScalarOp::kDiv, rest, extent);
            }
            return arena_.convert(read(node.inputs[0], {{}, coords}, &node),
                                  scalar_type(out.dtype));
        };
        struct Ops {
            ScalarOp loop, pair;
        };
        constexpr Ops kOps[] = {{ScalarOp::kLoopSum, ScalarOp::kAdd},
                                {ScalarOp::kLoopProd, ScalarOp::kMul},
                                {ScalarOp::kLoopMax, ScalarOp::kMax},
                                {ScalarOp::kLoopMin, ScalarOp::kMin}};
        const Ops& ops = kOps[static_cast<size_t>(node.op->reduce)];
        return fold(ops.loop, ops.pair, count, term);
    }

    /// As an element of the value's type holds it.
    Scalar rounded(Scalar x, DType dtype) {
        if (dtype == DType::kF16) return arena_.unary(ScalarOp::kRoundF16, x);
        if (dtype == DType::kBF16) return arena_.unary(ScalarOp::kRoundBF16, x);
        if (!is_integer(dtype) || size_bytes(dtype) >= 4) return x;
        const double range = size_bytes(dtype) == 1 ? 256 : 65536;
        const Scalar low = bit_and(x, arena_.constant(range - 1, x.type()));
        return is_unsigned(dtype) ? low : select(low >= range / 2, low - range, low);
    }

    // --- Statements ---

    /// The place of an element of a value's row that is a parameter or an array.
    Expr element_of(Expr local, Expr element) {
        return body_.locals[local.node().bits].length == 1 ? local : body_.element(local, element);
    }

    /// Computes a value's row into an array of the function's own, or into a result.
    Status write_array(ValueId value, const std::string& name, LocalKind kind) {
        const Value& v = graph_.value(value);
        const int64_t count = row_elements(v.shape);
        if (count < 1 || count > kMostElements)
            return unsupported("a value of " + to_string(v.shape) + " is no row of 1 to " +
                               std::to_string(kMostElements) + " elements");
        const bool is_kept = kind == LocalKind::kArray;
        const ScalarType type = scalar_type(v.dtype);
        const auto compute_element = [&](Scalar element) {
            const ScalarPlace place = place_of(v.shape, element);
            return is_kept ? rounded(arena_.convert(compute(value, place), type), v.dtype)
                           : read(value, place, nullptr);
        };
        const auto length = static_cast<uint32_t>(count);
        Expr array;
        if (is_kept) {
            array = count == 1 ? writer_.declare(name, type)
                               : writer_.declare_array(name, type, length);
            arrays_.emplace(value, array);
        } else {
            array = body_.new_local(name, kind, type, length);
        }
        reads_table_ = false;
        const Scalar counter = arena_.symbol(ScalarType::kI32);
        const Scalar looped = compute_element(counter);
        HEARTH_TRY(status_);
        if (count > 1 && !(reads_table_ && count <= kMostUnrolled)) {
            const Expr i = writer_.for_("e" + std::to_string(value), body_.index(0),
                                        [&](Expr next) { return next < count; });
            writer_.bind(counter, i);
            const Expr computed = writer_.emit(looped);
            writer_.assign(element_of(array, i), computed);
            writer_.end();
            return {};
        }
        for (int64_t i = 0; i < count; ++i) {
            const Expr computed = writer_.emit(compute_element(arena_.index(i)));
            writer_.assign(element_of(array, body_.index(i)), computed);
        }
        return status_;
    }

    /// The element of this number of a value that expressions load.
    Expr load(ValueId value, Expr element) {
        const Value& v = graph_.value(value);
        switch (v.kind) {
            case ValueKind::kNode:
                return element_of(arrays_.at(value), element);
            case ValueKind::kInput:
            case ValueKind::kConstant: {
                if (const auto known = arrays_.find(value); known != arrays_.end())
                    return element_of(known->second, element);
                const Expr array = v.kind == ValueKind::kInput ? parameter(v) : table(value);
                arrays_.emplace(value, array);
                return element_of(array, element);
            }
            default:
                return converted(load_weight(v, element), scalar_type(v.dtype));
        }
    }

    Expr converted(Expr value, ScalarType type) {
        if (value.type() == type) return value;
        return body_.operation(type == ScalarType::kBool  ? ScalarOp::kToBool
                               : type == ScalarType::kU32 ? ScalarOp::kToU32
                               : type == ScalarType::kI32 ? ScalarOp::kToI32
                                                          : ScalarOp::kToF32,
                               value);
    }

    Expr parameter(const Value& v) {
        return body_.new_local(v.name, LocalKind::kParameter, scalar_type(v.dtype),
                               static_cast<uint32_t>(row_elements(v.shape)));
    }

    Expr table(ValueId value) {
        const Value& v = graph_.value(value);
        const int64_t count = v.shape.element_count(1);
        if (count > kMostElements)
            fail(unsupported("a constant of " + to_string(v.shape) +
                             " is read: make it a param, which a function can read where it lies"));
        tables_.push_back(value);
        return body_.new_local(table_name(tables_.size() - 1), LocalKind::kPrivate,
                               scalar_type(v.dtype), static_cast<uint32_t>(count));
    }
    std::string table_name(size_t table) const { return name_ + "_table" + std::to_string(table); }

    /// An element of a slot, out of the word that it lies in.
    Expr load_weight(const Value& v, Expr element) {
        const DType held = device_dtype(v.dtype, program_.storage);
        const uint64_t bytes = size_bytes(held);
        const auto first = static_cast<int64_t>(
            (program_.find_variable(v.name)->offset - first_slot_->offset) / sizeof(uint32_t));
        if (bytes == sizeof(uint32_t)) {
            const Expr word = body_.load(words_, element + first);
            if (held == DType::kF32) return body_.operation(ScalarOp::kBitsToF32, word);
            return held == DType::kU32 ? word : converted(word, ScalarType::kI32);
        }
        const Expr word = body_.load(words_, (element >> (bytes == 2 ? 1 : 2)) + first);
        const Expr part = element & (bytes == 2 ? 1 : 3);
        if (held == DType::kF16) return body_.chunk_element(body_.two_halves(word), part);
        // The element's bits move to the word's upper end, and down again from there.
        const auto bits = static_cast<int64_t>(8 * bytes);
        const Expr up = body_.index(32 - bits) - part * bits;
        const Expr top = body_.operation(ScalarOp::kShiftLeft, word, up);
        if (held == DType::kBF16) return body_.operation(ScalarOp::kBitsToF32, top);
        if (is_unsigned(held)) return top >> (32 - bits);
        return converted(top, ScalarType::kI32) >> (32 - bits);
    }

    // --- Text ---

    /// "float", or the vector or array that holds so many.
    static std::string type_text(DType dtype, int64_t count) {
        const std::string scalar(glsl_type(scalar_type(dtype)));
        if (count == 1) return scalar;
        const std::string prefix = scalar == "float" ? "" : scalar.substr(0, 1);
        if (count <= 4) return prefix + "vec" + std::to_string(count);
        return scalar + "[" + std::to_string(count) + "]";
    }

    std::string signature() const {
        std::string text = "void " + name_ + "(uvec2 weights";
        for (ValueId v : graph_.inputs)
            text += ", " + type_text(graph_.value(v).dtype, row_elements(graph_.value(v).shape)) +
                    " " + graph_.value(v).name;
        for (const GraphOutput& output : graph_.outputs) {
            const Value& v = graph_.value(output.value);
            text += ", out " + type_text(v.dtype, row_elements(v.shape)) + " " + output.name;
        }
        return text + ")";
    }

    static std::string guarded(const std::string& guard, std::string_view text) {
        return "#ifndef " + guard + "\n#define " + guard + "\n" + std::string(text) + "#endif\n";
    }

    /// Names may come from files: in a comment they must not end its line.
    static std::string in_comment(std::string name) {
        replace_control_characters(name.data(), name.size());
        return name;
    }

    Result<std::string> file_text() {
        HEARTH_TRY(status_);
        body_.statements = writer_.take();
        const BodyRequirements needs = body_requirements(body_);
        char hash[20];
        std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(program_.hash));
        std::string text = "// Made by Hearth from the entry '" + in_comment(graph_.name) +
                           "' of program " + hash + " (profile " +
                           in_comment(program_.device_target) +
                           ").\n"
                           "// weights: the device address of the session's slot '" +
                           in_comment(first_slot_ != nullptr ? first_slot_->name : "") +
                           "', low word first.\n"
                           "#extension GL_EXT_buffer_reference : require\n"
                           "#extension GL_EXT_buffer_reference_uvec2 : require\n";
        const std::string upper = name_ + "_GLSL";
        text += "#ifndef " + upper + "\n#define " + upper + "\n";
        text += "#define " + name_ + "_program uvec2(0x" + std::string(hash + 8) + "u, 0x" +
                std::string(hash, 8) + "u)  // its hash, low word first\n";
        if (needs.rounding || needs.functions || needs.random)
            text += guarded("HEARTH_MATH_GLSL", print_glsl_math());
        text += "layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer " +
                name_ + "_weights { uint at[]; };\n";
        for (size_t i = 0; i < tables_.size(); ++i) {
            const Value& v = graph_.value(tables_[i]);
            const std::string type = std::string(glsl_type(scalar_type(v.dtype))) + "[" +
                                     std::to_string(v.shape.element_count(1)) + "]";
            text += "const " + type + " " + table_name(i) + " = " + type + "(" +
                    float_array(*v.data) + ");\n";
        }
        text += signature() + " {\n";
        if (needs.rows) text += "    const int rows = 1;\n";
        text += "    " + name_ + "_weights " + kWords + " = " + name_ + "_weights(weights);\n";
        return text + print_glsl_statements(body_) + "}\n#endif\n";
    }

    const Graph& graph_;
    const Program& program_;
    const std::string name_;
    ScalarArena arena_;
    Body body_;
    KernelWriter writer_{body_, arena_, [](uint32_t) -> uint32_t {
                             HEARTH_ASSERT(false && "load() knows all that expressions load");
                             return 0;
                         }};
    /// The weights, word by word.
    const uint32_t words_ = static_cast<uint32_t>(
        body_.new_buffer(kWords, BufferKind::kOperand, DType::kU32, DType::kU32).node().bits);
    Scalar row_;
    const Variable* first_slot_ = nullptr;
    std::vector<bool> kept_;
    std::map<std::vector<uint32_t>, Scalar> known_;  ///< (value, place) -> expression
    std::map<ValueId, Expr> arrays_;  ///< parameters, tables, and values that are kept
    std::vector<ValueId> tables_;     ///< constants that are read by running indices
    bool reads_table_ = false;
    Status status_;
};

}  // namespace

Result<GlslFunction> glsl_function(const Graph& graph, const Program& program,
                                   const std::string& name) {
    HEARTH_ASSIGN(GlslFunction made, RowFunctionWriter(graph, program, name).run());
    if (!has_glsl_compiler()) return made;
    // Names may be words of GLSL, which its compiler knows best.
    const Result<std::vector<uint32_t>> compiled = compile_glsl(
        "#version 450\n" + made.text + "layout(local_size_x = 1) in;\nvoid main() {}\n", name);
    if (!compiled.ok()) return invalid_argument("no function: " + compiled.status().message());
    return made;
}

}  // namespace hearth
