// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/row_matrix_writer.hpp"

#include <algorithm>
#include <utility>

namespace hearth {

Result<GroupKernel> MatrixRowWriter::run() {
    kernel_.name = "row_program";
    rows_ = glsl_count(region_.rows, kernel_.buffers);
    choose_kept();
    const std::string tile = write_tile();
    if (is_lost_) return unsupported("it reads what it computed where it no longer is");
    std::string body = "void main() {\n    const int tid = int(gl_LocalInvocationID.x);\n";
    body +=
        "    const int subgroup = int(gl_SubgroupID);\n"
        "    const int subgroup_lane = int(gl_SubgroupInvocationID);\n";
    body += declarations_;
    NumberText numbers =
        number_text(graph_, numbers_, inlined_, options_, static_cast<uint32_t>(plan_.threads),
                    round_f16(), kernel_.buffers);
    functions_ += numbers.functions;
    body += load_vectors() + numbers.calls;
    if (plan_.mode == RowWeights::kOnce)
        for (size_t w = 0; w < plan_.weights.size(); ++w)
            if (plan_.weights[w].same_as < 0)
                body += can_hold(w) ? fetch_weight(w) : load_weight(w, "0");
    if (plan_.mode == RowWeights::kOnce)
        for (size_t w = 0; w < plan_.weights.size(); ++w)
            if (plan_.weights[w].same_as < 0 && can_hold(w)) body += put_weight(w);
    if (plan_.in_registers) body += load_positions() + "    barrier();\n";
    body += tile_loop(tile) + write_sums() + "}\n";
    kernel_.body = "#extension GL_EXT_control_flow_attributes : require\n#define UNROLL ";
    kernel_.body += is_software_ ? "[[dont_unroll]]\n" : "[[unroll]]\n";
    kernel_.body += "float round_to_half(float x) { return float(float16_t(x)); }\n";
    kernel_.body += pool() + functions_ + body;
    kernel_.has_matrices = true;
    kernel_.prefers_nv_matrices = plan_.in_registers;
    kernel_.local_size = {static_cast<uint32_t>(plan_.threads), 1, 1};
    kernel_.grid[0] = grid();
    return std::move(kernel_);
}

/// With matrices, tiles whose rows all exist have code of their own: it need not know which element
/// of a matrix is which, and branches around matrices cost more than what they decide about.
std::string MatrixRowWriter::write_tile() {
    const auto write = [&](bool is_whole) {
        is_whole_tile_ = is_whole;
        if (plan_.in_registers) return write_registers_tile();
        std::string levels;
        for (uint32_t level = 0; level < plan_.levels; ++level) levels += write_level(level);
        return levels;
    };
    if (slides()) return write(slides());
    const std::string whole = write(true);
    const std::string declarations = std::exchange(declarations_, ""),
                      sums = std::exchange(sums_, "");
    const std::string edge = write(false);
    declarations_ = declarations;
    sums_ = sums;
    return "        if (count == " + text(plan_.tile_rows) + ") {\n" + whole +
           "        } else {\n" + edge + "        }\n";
}

std::string MatrixRowWriter::pool() const {
    const std::string size = text(ceil_div(plan_.shared_floats, 4));
    const std::string slot = "pool[(i) >> 2][(i) & 3]";
    return "shared uvec4 pool[" + size + "];\n#define SHARED(i) uintBitsToFloat(" + slot +
           ")\n#define PUT_SHARED(i, value) " + slot +
           " = floatBitsToUint(value)\n"
           "#define SHARED_HALF(i) unpackHalf2x16(pool[(i) >> 3][((i) >> 1) & 3])[(i) & 1]\n"
           "uvec4 to_halfs(vec4 low, vec4 high) {\n"
           "    return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw),\n"
           "                 packHalf2x16(high.xy), packHalf2x16(high.zw));\n}\n"
           "void from_vectors(vec4 low, vec4 high, out float v[8]) {\n"
           "    UNROLL for (int t = 0; t < 4; ++t) { v[t] = low[t]; v[t + 4] = high[t]; }\n}\n"
           "void from_halfs(uvec4 halfs, out float v[8]) {\n"
           "    from_vectors(vec4(unpackHalf2x16(halfs.x), unpackHalf2x16(halfs.y)),\n"
           "                 vec4(unpackHalf2x16(halfs.z), unpackHalf2x16(halfs.w)), v);\n}\n"
           "uvec4 to_halfs(float v[8]) {\n"
           "    return to_halfs(vec4(v[0], v[1], v[2], v[3]), vec4(v[4], v[5], v[6], v[7]));\n"
           "}\n";
}

GridAxis MatrixRowWriter::grid() const {
    if (plan_.parts != 0) return {{static_cast<uint64_t>(plan_.parts), 0}, 1};
    return {work_of(region_.rows), static_cast<uint32_t>(plan_.tile_rows * tiles_each())};
}

int MatrixRowWriter::tiles_each() const {
    constexpr int64_t kMostEach = 8;
    // Rows in registers take all registers of a multiprocessor.
    const int64_t enough_groups = plan_.in_registers ? 128 : 256;
    const int64_t rows = region_.rows.at(static_cast<int64_t>(options_.rows_capacity));
    const int64_t tiles = (rows + plan_.tile_rows - 1) / plan_.tile_rows;
    const auto least =
        (tiles + options_.caps.max_workgroup_count_x - 1) / options_.caps.max_workgroup_count_x;
    return static_cast<int>(
        std::max<int64_t>(least, std::clamp<int64_t>(tiles / enough_groups, 1, kMostEach)));
}

std::string MatrixRowWriter::tile_loop(const std::string& levels) const {
    const std::string tile = text(plan_.tile_rows);
    std::string out = "    const int group = int(gl_WorkGroupID.x);\n";
    out += "    const int last_row = " + rows_ + " - 1;\n";
    if (slides())
        out += "    const bool is_few = last_row < " + text(matrix_m() - 1) +
               ";\n    const int apart = is_few ? 0 : 1;\n";
    if (plan_.parts != 0) {
        const std::string parts = text(plan_.parts), granule = text(plan_.granule);
        out += "    const int chunk = ((" + rows_ + " + " + parts + " - 1) / " + parts + " + " +
               granule + " - 1) / " + granule + " * " + granule + ";\n";
        out += "    const int begin = group * chunk;\n";
        out += "    const int end = min(begin + chunk, " + rows_ + ");\n";
    } else {
        out += "    const int begin = group * " + tile + ";\n";
        out += "    const int end = " + rows_ + ";\n";
    }
    if (plan_.is_single)
        out += "    {\n        const int first = begin;\n";
    else
        out += std::string("    for (int first = begin; first < end; first += ") +
               (slides() ? "is_few ? " + text(plan_.subgroups) + " : " : "") + tile +
               (plan_.parts != 0 ? "" : " * int(gl_NumWorkGroups.x)") + ") {\n";
    out += "        const int count = clamp(end - first, 0, " + tile + ");\n" + levels;
    return out + "    }\n";
}

std::string MatrixRowWriter::write_level(uint32_t level) {
    // The tile before may still be read when a new one begins.
    std::string out = level > 0 || !plan_.is_single ? "        barrier();\n" : "";
    std::vector<size_t> ahead;
    for (size_t w = 0; w < plan_.weights.size(); ++w)
        if (plan_.mode == RowWeights::kAhead && plan_.weights[w].level == level + 1)
            ahead.push_back(w);
    for (size_t w : ahead)
        if (can_hold(w)) out += fetch_weight(w);
    int lane = 0;
    for (RowStage& stage : plan_.stages) {
        if (stage.level != level) continue;
        out += "        {  // " + label_of(graph_, plan_, stage) + "\n";
        out += write_stage(stage, lane);
        out += "        }\n";
    }
    for (size_t w : ahead) out += can_hold(w) ? put_weight(w) : load_weight(w, "0");
    return out;
}

std::string MatrixRowWriter::load_vectors() {
    std::string out;
    for (const RowVector& v : plan_.vectors)
        out += "    for (int e = tid; e < " + text(v.count) + "; e += " + text(plan_.threads) +
               ") PUT_SHARED(e + " + text(v.offset) + ", " + kernel_.buffers.name_of(v.value) +
               ".at[e]);\n";
    return out;
}

std::string MatrixRowWriter::load_positions() const {
    return "    if (tid < " + text(plan_.edge) + ") PUT_SHARED(tid + " +
           text(plan_.positions_offset) + ", float(tid));\n";
}

std::string MatrixRowWriter::lane_line(int& lane, int tasks) const {
    const std::string line = lane == 0 ? "const int lane = tid;"
                                       : "const int lane = (tid + " + text(plan_.threads - lane) +
                                             ") % " + text(plan_.threads) + ";";
    lane = (lane + ceil_div(tasks, 32) * 32) % plan_.threads;
    return line;
}

std::string MatrixRowWriter::each_task(int tasks) const {
    const std::string end = text(tasks);
    // One round, which compilers see; "if" would not do where "e" is to be declared.
    if (tasks <= plan_.threads)
        return "UNROLL for (int e = lane, round = 0; round < 1; ++round) if (e < " + end + ")";
    return "for (int e = lane; e < " + end + "; e += " + text(plan_.threads) + ")";
}

std::string MatrixRowWriter::write_stage(const RowStage& stage, int& lane) {
    switch (stage.kind) {
        case RowStageKind::kFill:
            return write_fill(stage, lane);
        case RowStageKind::kMap:
            return write_map(stage, lane);
        case RowStageKind::kRowwise:
            return write_rowwise(stage);
        case RowStageKind::kProduct:
            return write_matrix_product(stage, lane);
        case RowStageKind::kGradient:
            return write_matrix_gradient(stage, lane);
        case RowStageKind::kRowSum:
            return write_row_sum(stage, lane);
        case RowStageKind::kWalk:
            break;  // none on matrix cores
    }
    return {};
}

}  // namespace hearth
