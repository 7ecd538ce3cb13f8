// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element-wise kernels.  On a GPU a thread takes some elements that follow each other in memory, so
// that each operand is read and written 16 bytes at a time: also operands that are broadcast, or
// whose axes are in another order, where neighbours still read neighbours (steps.hpp).

#include "codegen/group_expressions.hpp"
#include "codegen/group_kernels.hpp"
#include "codegen/operands.hpp"
#include "codegen/steps.hpp"

#include <algorithm>

namespace hearth {

namespace {

class MapKernel {
  public:
    MapKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
              const LowerOptions& options, BufferTable buffers)
        : graph_(graph),
          group_(group),
          inlined_(inlined),
          options_(options),
          kernel_{.buffers = std::move(buffers)},
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()),
          writer_(arena_, kernel_.buffers) {}

    GroupKernel run() {
        kernel_.name = "map";
        element_ = arena_.variable(ScalarType::kI32);
        first_ = arena_.variable(ScalarType::kI32);
        define_numbers(graph_, group_, expressions_, writer_);
        for (ValueId v : group_.stores) contents_.push_back(expressions_.read(v, {element_, {}}));
        choose_width();
        const Dim count = group_.space.element_count();
        const uint64_t most = uint64_t{kPartThreads} * width_ * options_.caps.max_workgroup_count_x;
        const uint32_t each = items_each(count, options_.rows_capacity, most);
        const std::string total = glsl_count(count, kernel_.buffers);
        const std::string start =
            scaled("(group * " + std::to_string(kPartThreads) + " + int(gl_LocalInvocationID.x))");
        NumberText numbers =
            number_text(graph_, group_.numbers, inlined_, options_, kPartThreads, kernel_.buffers);
        const bool loads_first = width_ == 1 && each == 1 && !group_.numbers.empty();
        if (loads_first)
            load_ahead_of(std::move(numbers.calls), start, total);
        else if (each == 1)
            writer_.line("const int i = " + start + "; if (i >= " + total + ") return;");
        else
            writer_.open_scope("for (int i = " + start + "; i < " + total +
                               "; i += int(gl_NumWorkGroups.x) * " +
                               std::to_string(kPartThreads * width_) + ")");
        if (width_ == 1)
            store_one("i");
        else
            store_vector(total, each == 1 ? "return;" : "continue;");
        if (each > 1 || loads_first) writer_.close_scope();
        if (loads_first) numbers.calls.clear();
        set_body(kernel_, std::move(numbers), writer_.text(), each == 1);
        kernel_.is_elementwise = elementwise_buffers(arena_, kernel_.buffers, element_);
        // One thread reads all before it stores anything.
        if (count == Dim(1)) kernel_.is_elementwise.assign(kernel_.buffers.values.size(), true);
        note_number_loads(graph_, group_, inlined_, kernel_);
        kernel_.local_size = {kPartThreads, 1, 1};
        kernel_.grid[0] = {work_of(count), kPartThreads * width_ * each};
        kernel_.flops = flops_of(graph_, group_, group_.space, options_.rows_capacity);
        return std::move(kernel_);
    }

  private:
    std::string scaled(const std::string& thread) const {
        return width_ == 1 ? thread : thread + " * " + std::to_string(width_);
    }

    const HeldType& held(ValueId v) const {
        return held_type(graph_.values[v].dtype, options_.caps.narrow_storage());
    }
    uint32_t held_bytes(ValueId v) const { return size_bytes(held(v).dtype); }

    /// Four elements, or eight if all are of two bytes; one where there would be too few threads.
    void choose_width() {
        // Some for each core of a large GPU; of a CPU, a few workgroups.
        const uint64_t enough_threads = is_software(options_.caps) ? 1024 : 32768;
        uint32_t widest = 0;
        for (ValueId v : group_.stores) widest = std::max(widest, held_bytes(v));
        for (Scalar load : loads_in(arena_, contents_))
            if (load.node().a == element_.id)
                widest = std::max(widest, held_bytes(load.node().bits));
        if (widest != 2 && widest != 4) return;
        const uint32_t width = widest == 2 ? 8 : 4;
        const uint64_t count = work_of(group_.space.element_count()).at(options_.rows_capacity);
        if (count >= width * enough_threads) width_ = width;
    }

    /// Loads what it can of element i before all threads work out numbers, which wait for memory too;
    /// opens the scope in which the element is stored.
    void load_ahead_of(std::string calls, const std::string& start, const std::string& total) {
        writer_.line("const int mine = " + start + ", i = min(mine, " + total + " - 1);");
        writer_.bind(element_, "i");
        for (Scalar load : loads_in(arena_, contents_))
            if (load.node().a == element_.id || Scalar{&arena_, load.node().a}.is_const())
                (void)writer_.emit(load);
        calls.pop_back();
        writer_.line(calls);
        writer_.open_scope("if (mine < " + total + ")");
    }

    /// All of one element, whose name this is.
    void store_one(const std::string& name) {
        writer_.bind(element_, name);
        store_all(writer_, kernel_.buffers, expressions_, group_.stores, {element_, {}}, element_);
    }

    /// Stores elements i to i + width - 1; the last ones of all one by one.
    void store_vector(const std::string& total, const std::string& leave) {
        const Dim count = group_.space.element_count();
        if (count.count % width_ != 0) {
            writer_.open_scope("if (i + " + std::to_string(width_) + " > " + total + ")");
            writer_.open_scope("for (int e = i; e < " + total + "; ++e)");
            store_one("e");
            writer_.close_scope();
            writer_.line(leave);
            writer_.close_scope();
        }
        writer_.bind(first_, "i");
        const std::vector<Known> known = load_ahead();
        for (size_t s = 0; s < contents_.size(); ++s)
            writer_.line(std::string(glsl_type(contents_[s].type())) + " " + result(s) + "[" +
                         std::to_string(width_) + "];");
        writer_.open_scope("[[unroll]] for (int lane = 0; lane < " + std::to_string(width_) +
                           "; ++lane)");
        writer_.line("const int e = i + lane;");
        writer_.bind(element_, "e");
        for (const Known& k : known) writer_.define(k.load, k.name);
        for (size_t s = 0; s < contents_.size(); ++s)
            writer_.line(result(s) + "[lane] = " + writer_.emit(contents_[s]) + ";");
        writer_.close_scope();
        for (size_t s = 0; s < contents_.size(); ++s) store_result(group_.stores[s], result(s));
    }

    static std::string result(size_t s) { return "result" + std::to_string(s); }

    /// A load that is done for all elements at once, and what it is for the present one.
    struct Known {
        Scalar load;
        std::string name;
    };

    std::vector<Known> load_ahead() {
        const Steps steps(arena_, element_, first_, width_);
        std::vector<Known> known;
        for (Scalar load : loads_in(arena_, contents_)) {
            const ScalarNode node = load.node();
            const Scalar index{&arena_, node.a};
            if (!steps.is_of_element(index)) continue;
            const std::optional<int> step = steps.step(index);
            if (step == 0)
                known.push_back({load, writer_.emit(steps.at_first(load))});
            else if (step == 1 && steps.is_aligned(index) && is_vector(node.bits))
                known.push_back({load, vector_load(node, steps.at_first(index))});
        }
        return known;
    }

    /// Whether so many elements of the buffer are 8 or 16 bytes of memory.
    bool is_vector(ValueId v) const {
        const uint32_t bytes = width_ * held_bytes(v);
        return held_bytes(v) > 1 && (bytes == 8 || bytes == 16);
    }

    std::string vector_load(const ScalarNode& load, Scalar index) {
        const std::string name = "words" + std::to_string(vectors_++);
        const VectorAccess access = vector_access(load.bits);
        writer_.line("const " + access.type + " " + name + " = " + access.buffer + "[" +
                     writer_.emit(index) + " / " + std::to_string(width_) + "];");
        const std::string element = element_of_words(held(load.bits), name, "lane");
        return load.type == ScalarType::kF32
                   ? element
                   : std::string(glsl_type(load.type)) + "(" + element + ")";
    }

    void store_result(ValueId v, const std::string& values) {
        if (!is_vector(v)) {
            for (uint32_t i = 0; i < width_; ++i) {
                const std::string lane = std::to_string(i);
                writer_.line(kernel_.buffers.store(v, "i + " + lane, values + "[" + lane + "]"));
            }
            return;
        }
        const VectorAccess access = vector_access(v);
        std::string words;
        for (int i = 0; i < access.words; ++i)
            words +=
                (i == 0 ? "" : ", ") + word_of_elements(held(v), graph_.values[v].dtype, values, i);
        writer_.line(access.buffer + "[i / " + std::to_string(width_) + "] = " + access.type + "(" +
                     words + ");");
    }

    /// How `width` elements of a buffer are reached.
    struct VectorAccess {
        std::string type, buffer;
        int words = 0;
    };

    VectorAccess vector_access(ValueId v) {
        const bool is_pair = width_ * held_bytes(v) == 8;
        std::vector<uint32_t>& list = is_pair ? kernel_.pair_loads : kernel_.word_loads;
        if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
        return {is_pair ? "uvec2" : "uvec4",
                kernel_.buffers.name_of(v) + (is_pair ? "p.at" : "w.at"), is_pair ? 2 : 4};
    }

    const Graph& graph_;
    const Group& group_;
    const std::vector<bool>& inlined_;
    const LowerOptions& options_;
    GroupKernel kernel_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    GlslWriter writer_;
    Scalar element_, first_;
    std::vector<Scalar> contents_;
    uint32_t width_ = 1;
    int vectors_ = 0;
};

}  // namespace

GroupKernel map_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                       const LowerOptions& options, BufferTable buffers) {
    return MapKernel(graph, group, inlined, options, std::move(buffers)).run();
}

}  // namespace hearth
