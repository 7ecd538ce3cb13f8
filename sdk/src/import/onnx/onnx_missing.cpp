// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the nodes that a model's outputs need, and operators among them that have no import rule.

#include "import/onnx/onnx_importer.hpp"

namespace hearth {

namespace {

/// Calls `use` with each name that a node reads, including the graphs inside it.
template <class F>
void for_each_name(const OnnxNode& node, const F& use) {
    for (const std::string& in : node.inputs) use(in);
    for (const OnnxSubgraph& g : node.graphs) {
        for (const OnnxNode& inner : g.graph->nodes) for_each_name(inner, use);
        for (const OnnxPort& port : g.graph->outputs) use(port.name);
    }
}

}  // namespace

Result<std::vector<const OnnxNode*>> needed_nodes(const OnnxGraph& graph) {
    std::unordered_map<std::string_view, size_t> producer;
    for (size_t n = 0; n < graph.nodes.size(); ++n)
        for (const std::string& out : graph.nodes[n].outputs)
            if (!out.empty() && !producer.emplace(out, n).second)
                return invalid_argument(graph.nodes[n].label() + " computes " + quoted(out) +
                                        ", which another node also computes");
    std::vector<bool> is_needed(graph.nodes.size());
    std::vector<size_t> open;
    const auto need = [&](std::string_view name) {
        const auto at = producer.find(name);
        if (at == producer.end() || is_needed[at->second]) return;
        is_needed[at->second] = true;
        open.push_back(at->second);
    };
    for (const OnnxPort& port : graph.outputs) need(port.name);
    while (!open.empty()) {
        const size_t n = open.back();
        open.pop_back();
        for_each_name(graph.nodes[n], need);
    }
    std::vector<const OnnxNode*> needed;
    for (size_t n = 0; n < graph.nodes.size(); ++n)
        if (is_needed[n]) needed.push_back(&graph.nodes[n]);
    return needed;
}

MissingOperators::MissingOperators(const OnnxModel& model) : model_(model) {
    scan(model.graph, model.opset, false);
    is_certain_ = is_certain_ || !model.unsupported.empty();
}

void MissingOperators::scan(const OnnxGraph& graph, int opset, bool in_branch) {
    const Result<std::vector<const OnnxNode*>> needed = needed_nodes(graph);
    if (!needed.ok()) return;  // import reports the error
    for (const OnnxNode* node : *needed) scan_node(*node, opset, in_branch);
}

void MissingOperators::scan_node(const OnnxNode& node, int opset, bool in_branch) {
    if (const auto function = model_.functions.find(node.function_key());
        function != model_.functions.end()) {
        if (scanned_functions_.emplace(function->first, in_branch).second)
            scan(function->second.body, function->second.opset, in_branch);
        return;
    }
    const bool is_if = node.op_type == "If" && node.domain.empty();
    for (const OnnxSubgraph& g : node.graphs) scan(*g.graph, opset, in_branch || is_if);
    const bool is_control = is_if || node.op_type == "Loop" || node.op_type == "Scan";
    const std::string rule_name = node.rule_name();
    if ((is_control && node.domain.empty()) || is_import_builtin(rule_name) ||
        find_import_rule(rule_name, opset))
        return;
    is_certain_ = is_certain_ || !in_branch;
    if (seen_.insert(&node).second) nodes_[rule_name].push_back(node.name);
}

std::string MissingOperators::text() const {
    std::string text;
    constexpr size_t kMostOperators = 32;
    size_t told = 0;
    for (const auto& [op, nodes] : nodes_) {
        if (told++ == kMostOperators) {
            text += ", and " + std::to_string(nodes_.size() - kMostOperators) + " more operators";
            break;
        }
        text += (text.empty() ? "operator " : ", operator ") + shown(op) + " (";
        text += std::to_string(nodes.size()) + (nodes.size() == 1 ? " node" : " nodes");
        constexpr size_t kMostNames = 4;
        std::string names;
        for (size_t i = 0; i < std::min(nodes.size(), kMostNames); ++i)
            if (!nodes[i].empty()) names += (names.empty() ? ": " : ", ") + quoted(nodes[i]);
        text += names + (nodes.size() > kMostNames && !names.empty() ? ", ...)" : ")");
    }
    for (const std::string& what : model_.unsupported) text += (text.empty() ? "" : ", ") + what;
    if (model_.unsupported_more > 0)
        text += ", and " + std::to_string(model_.unsupported_more) + " things more";
    return text;
}

}  // namespace hearth
