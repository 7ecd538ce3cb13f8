// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports ensembles of decision trees of ai.onnx.ml.  A forest becomes five tables (features,
// thresholds, children, values of the leaves, roots), and walk_trees follows all trees of all rows
// at once.  Every test becomes x <= threshold: x < t is x <= the number before t, and the others
// swap their branches or test twice.  Sums of trees differ from other runtimes' by their order.

#include "compiler/ops/op_table.hpp"
#include "import/onnx/ml_common.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace hearth {

namespace {

using List = std::vector<int64_t>;
using Reals = std::vector<double>;
using Tensors = std::vector<Tensor>;

constexpr int64_t kDeepest = 4096;      // tests from a root to a leaf
constexpr int64_t kStepsOfKernel = 32;  // tests that one kernel unrolls
constexpr int64_t kMostNodes = 1 << 27;
constexpr int64_t kMostTargets = 1 << 16;

enum class Test : uint8_t { kLeaf, kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual };

/// A node of a tree.  An inner node passes to `yes` if x[feature] <= threshold, or if it is NaN and
/// `takes_missing`.
struct Node {
    int64_t feature = 0;
    double threshold = 0;
    int64_t yes = -1, no = -1;  ///< -1: a leaf
    bool takes_missing = false;
    bool is_leaf() const { return yes < 0; }
};

/// A weight that a leaf adds to a target.
struct LeafWeight {
    int64_t leaf = 0, target = 0;
    double weight = 0;
};

enum class Aggregate : uint8_t { kAverage, kSum, kMin, kMax };

struct Forest {
    std::vector<Node> nodes;
    List roots;
    std::vector<LeafWeight> weights;
    int64_t targets = 1;
    Aggregate aggregate = Aggregate::kSum;
    DType dtype = DType::kF32;  ///< of x and the thresholds
    DType weight_dtype = DType::kF32;

    double before(double t) const {
        if (dtype == DType::kF64) return std::nextafter(t, -HUGE_VAL);
        return std::nextafterf(static_cast<float>(t), -HUGE_VALF);
    }

    /// Sets node `at` to the test; `missing`: NaN passes to `yes`.
    void set(int64_t at, Test test, int64_t feature, double t, int64_t yes, int64_t no,
             bool missing) {
        const auto put = [&](int64_t node, double threshold, int64_t low, int64_t high, bool nan) {
            nodes[static_cast<size_t>(node)] = {feature, threshold, low, high, nan};
        };
        switch (test) {
            case Test::kLeaf:
                return;
            case Test::kLessEqual:
                return put(at, t, yes, no, missing);
            case Test::kLess:
                return put(at, before(t), yes, no, missing);
            case Test::kGreaterEqual:
                return put(at, before(t), no, yes, !missing);
            case Test::kGreater:
                return put(at, t, no, yes, !missing);
            case Test::kEqual:
            case Test::kNotEqual: {
                const bool is_equal = test == Test::kEqual;
                const int64_t same = is_equal ? yes : no, other = is_equal ? no : yes;
                nodes.emplace_back();
                const auto second = static_cast<int64_t>(nodes.size()) - 1;
                put(at, t, second, other, is_equal && missing);  // NaN differs from t
                return put(second, before(t), other, same, false);
            }
        }
    }

    /// Sets node `at` to the test whether a feature is one of `members`.
    void set_member(int64_t at, int64_t feature, const Reals& members, int64_t yes, int64_t no,
                    bool missing) {
        if (members.empty()) return set(at, Test::kLessEqual, feature, NAN, yes, no, missing);
        for (size_t i = 0; i < members.size(); ++i) {
            const bool is_last = i + 1 == members.size();
            if (!is_last) nodes.emplace_back();
            const int64_t next = is_last ? no : static_cast<int64_t>(nodes.size()) - 1;
            set(at, Test::kEqual, feature, members[i], yes, next, missing);
            at = next;
        }
    }
};

std::optional<Test> test_named(std::string_view name) {
    constexpr std::pair<std::string_view, Test> kTests[] = {
        {"LEAF", Test::kLeaf},           {"BRANCH_LEQ", Test::kLessEqual},
        {"BRANCH_LT", Test::kLess},      {"BRANCH_GTE", Test::kGreaterEqual},
        {"BRANCH_GT", Test::kGreater},   {"BRANCH_EQ", Test::kEqual},
        {"BRANCH_NEQ", Test::kNotEqual},
    };
    for (const auto& [known, test] : kTests)
        if (known == name) return test;
    return {};
}

/// The list of reals, or the tensor that replaces it for doubles.
Reals reals_or_tensor(OnnxCall& call, const std::string& name) {
    return call.reals(call.attrs.has(name + "_as_tensor") ? name + "_as_tensor" : name);
}

/// Reads nodes_* and the weights stem_* (class or target) of TreeEnsembleClassifier and Regressor.
std::optional<Forest> read_forest(OnnxCall& call, const std::string& stem, DType dtype) {
    const List trees = call.integers("nodes_treeids"), ids = call.integers("nodes_nodeids"),
               features = call.integers("nodes_featureids"),
               yes = call.integers("nodes_truenodeids"), no = call.integers("nodes_falsenodeids"),
               missing = call.integers("nodes_missing_value_tracks_true"),
               leaf_trees = call.integers(stem + "_treeids"),
               leaf_ids = call.integers(stem + "_nodeids"), targets = call.integers(stem + "_ids");
    const std::vector<std::string> modes = call.texts("nodes_modes");
    const Reals values = reals_or_tensor(call, "nodes_values"),
                weights = reals_or_tensor(call, stem + "_weights");
    if (call.has_failed()) return {};
    const size_t count = ids.size();
    const auto refuse = [&](const std::string& what) {
        call.invalid(what);
        return std::optional<Forest>();
    };
    if (count == 0 || trees.size() != count || features.size() != count || modes.size() != count ||
        values.size() != count || yes.size() != count || no.size() != count ||
        (!missing.empty() && missing.size() != count))
        return refuse("its lists of nodes have different lengths");
    if (leaf_ids.size() != leaf_trees.size() || targets.size() != leaf_trees.size() ||
        weights.size() != leaf_trees.size())
        return refuse("its lists of weights have different lengths");
    std::map<std::pair<int64_t, int64_t>, int64_t> places;
    for (size_t i = 0; i < count; ++i)
        if (!places.emplace(std::pair(trees[i], ids[i]), static_cast<int64_t>(i)).second)
            return refuse("node " + std::to_string(ids[i]) + " of tree " +
                          std::to_string(trees[i]) + " is there twice");
    Forest forest;
    forest.dtype = dtype;
    forest.nodes.resize(count);
    std::vector<bool> is_child(count);
    for (size_t i = 0; i < count; ++i) {
        const std::optional<Test> test = test_named(modes[i]);
        if (!test) return refuse("a node has the mode '" + modes[i] + "'");
        if (*test == Test::kLeaf) continue;
        const auto low = places.find({trees[i], yes[i]}), high = places.find({trees[i], no[i]});
        if (low == places.end() || high == places.end())
            return refuse("node " + std::to_string(ids[i]) + " of tree " +
                          std::to_string(trees[i]) + " has a child that is not there");
        is_child[static_cast<size_t>(low->second)] = true;
        is_child[static_cast<size_t>(high->second)] = true;
        forest.set(static_cast<int64_t>(i), *test, features[i], values[i], low->second,
                   high->second, !missing.empty() && missing[i] != 0);
    }
    for (size_t i = 0; i < count; ++i)
        if (!is_child[i]) forest.roots.push_back(static_cast<int64_t>(i));
    for (size_t i = 0; i < leaf_ids.size(); ++i) {
        const auto leaf = places.find({leaf_trees[i], leaf_ids[i]});
        if (leaf == places.end()) return refuse("a weight belongs to a node that is not there");
        forest.weights.push_back({leaf->second, targets[i], weights[i]});
    }
    return forest;
}

/// The number of tests from the roots to the deepest leaf; nothing if a node is below itself.
std::optional<int64_t> depth_of(const Forest& forest) {
    const std::vector<Node>& nodes = forest.nodes;
    std::vector<int64_t> depth(nodes.size(), -1);
    std::vector<bool> is_open(nodes.size());
    List stack;
    int64_t most = 0;
    for (int64_t root : forest.roots) {
        stack.push_back(root);
        while (!stack.empty()) {
            const auto at = static_cast<size_t>(stack.back());
            const Node& node = nodes[at];
            if (node.is_leaf() || depth[at] >= 0) {
                depth[at] = std::max<int64_t>(depth[at], 0);
                stack.pop_back();
            } else if (const int64_t low = depth[static_cast<size_t>(node.yes)],
                       high = depth[static_cast<size_t>(node.no)];
                       low >= 0 && high >= 0) {
                depth[at] = 1 + std::max(low, high);
                is_open[at] = false;
                stack.pop_back();
            } else {
                if (is_open[at]) return {};
                is_open[at] = true;
                if (low < 0) stack.push_back(node.yes);
                if (high < 0) stack.push_back(node.no);
            }
        }
        most = std::max(most, depth[static_cast<size_t>(root)]);
    }
    return most;
}

/// Builds the tables and the walk.
class ForestGraph {
  public:
    ForestGraph(OnnxCall& call, Forest forest) : call_(call), forest_(std::move(forest)) {}

    /// x: [rows, features] -> [rows, targets]; nothing after failing the trace.
    std::optional<Tensor> run(const Tensor& x) {
        if (!check(x)) return {};
        number_nodes();
        const Tensor leaves = walk(x);
        if (call_.has_failed()) return {};
        const Tensor result = forest_.aggregate == Aggregate::kMin ||
                                      forest_.aggregate == Aggregate::kMax || !has_one_target()
                                  ? dense(leaves)
                                  : by_tree(leaves);
        if (call_.has_failed()) return {};
        if (forest_.aggregate != Aggregate::kAverage) return result;
        return result * (1.0 / static_cast<double>(forest_.roots.size()));
    }

  private:
    bool check(const Tensor& x) {
        const int64_t features = x.dim(1).count;
        const auto fail = [&](const std::string& what) {
            call_.invalid(what);
            return false;
        };
        if (forest_.roots.empty()) return fail("has no root");
        if (forest_.targets < 1 || forest_.targets > kMostTargets)
            return fail("has " + std::to_string(forest_.targets) + " targets");
        for (const Node& node : forest_.nodes)
            if (!node.is_leaf() && (node.feature < 0 || node.feature >= features))
                return fail("a node tests feature " + std::to_string(node.feature) + " of " +
                            std::to_string(features));
        for (const LeafWeight& w : forest_.weights)
            if (w.target < 0 || w.target >= forest_.targets ||
                !forest_.nodes[static_cast<size_t>(w.leaf)].is_leaf())
                return fail("a weight belongs to target " + std::to_string(w.target) + " of " +
                            std::to_string(forest_.targets) + ", or to a node that is no leaf");
        const std::optional<int64_t> depth = depth_of(forest_);
        if (!depth) return fail("a node is below itself");
        depth_ = *depth;
        if (depth_ > kDeepest || static_cast<int64_t>(forest_.nodes.size()) > kMostNodes) {
            call_.unsupported("trees of " + std::to_string(depth_) + " levels; expected at most " +
                              std::to_string(kDeepest));
            return false;
        }
        return true;
    }

    /// Numbers inner nodes first, so that a leaf's row of the values is its number minus theirs.
    void number_nodes() {
        numbers_.resize(forest_.nodes.size());
        for (size_t i = 0; i < numbers_.size(); ++i)
            if (!forest_.nodes[i].is_leaf()) numbers_[i] = inner_++;
        int64_t next = inner_;
        for (size_t i = 0; i < numbers_.size(); ++i)
            if (forest_.nodes[i].is_leaf()) numbers_[i] = next++;
        leaves_ = next - inner_;
    }
    int64_t number_of(int64_t node) const { return numbers_[static_cast<size_t>(node)]; }

    /// Rows of the leaves that x reaches: i32 [rows, trees].
    Tensor walk(const Tensor& x) {
        const size_t count = forest_.nodes.size();
        List words(count), children(2 * count), roots;
        Reals thresholds(count);
        bool has_missing = false;
        for (size_t i = 0; i < count; ++i) {
            const Node& node = forest_.nodes[i];
            const auto at = static_cast<size_t>(numbers_[i]);
            words[at] = 2 * node.feature + (node.takes_missing ? 1 : 0);
            thresholds[at] = node.threshold;
            children[2 * at] = node.is_leaf() ? numbers_[i] : number_of(node.no);
            children[2 * at + 1] = node.is_leaf() ? numbers_[i] : number_of(node.yes);
            has_missing = has_missing || node.takes_missing;
        }
        for (int64_t root : forest_.roots) roots.push_back(number_of(root));
        const auto length = [](const auto& list) { return static_cast<int64_t>(list.size()); };
        const Tensor word = ml_constant(call_, words, {length(words)}, DType::kI32),
                     threshold = ml_constant(call_, thresholds, {length(thresholds)}, x.dtype()),
                     child = ml_constant(call_, children, {length(children)}, DType::kI32);
        Tensor nodes = ml_constant(call_, roots, {1, length(roots)}, DType::kI32);
        static const OpDef& kWalk = op("walk_trees");
        // A walk of no steps has the shape of its result, too.
        for (int64_t left = std::max<int64_t>(depth_, 1); left > 0; left -= kStepsOfKernel)
            nodes = apply_one(
                kWalk, {x, nodes, word, threshold, child},
                {{"steps", std::min(left, kStepsOfKernel)}, {"has_missing", int64_t{has_missing}}});
        return nodes - static_cast<double>(inner_);
    }

    /// True if all leaves of each tree have at most one weight, for one target of the tree.
    bool has_one_target() {
        List tree_of(forest_.nodes.size(), -1), stack;
        for (size_t t = 0; t < forest_.roots.size(); ++t) {
            stack.push_back(forest_.roots[t]);
            while (!stack.empty()) {
                const auto at = static_cast<size_t>(stack.back());
                stack.pop_back();
                if (tree_of[at] >= 0) continue;
                tree_of[at] = static_cast<int64_t>(t);
                if (forest_.nodes[at].is_leaf()) continue;
                stack.push_back(forest_.nodes[at].yes);
                stack.push_back(forest_.nodes[at].no);
            }
        }
        targets_.assign(forest_.roots.size(), -1);
        std::vector<bool> has_weight(forest_.nodes.size());
        for (const LeafWeight& w : forest_.weights) {
            const int64_t tree = tree_of[static_cast<size_t>(w.leaf)];
            if (tree < 0) continue;  // not reached
            int64_t& target = targets_[static_cast<size_t>(tree)];
            if ((target >= 0 && target != w.target) || has_weight[static_cast<size_t>(w.leaf)])
                return false;
            target = w.target;
            has_weight[static_cast<size_t>(w.leaf)] = true;
        }
        return true;
    }

    /// Sums the trees of each target.
    Tensor by_tree(const Tensor& leaves) {
        Reals values(static_cast<size_t>(leaves_));
        for (const LeafWeight& w : forest_.weights)
            values[static_cast<size_t>(number_of(w.leaf) - inner_)] = w.weight;
        const Tensor of_tree =
            take(ml_constant(call_, values, {leaves_}, forest_.weight_dtype), leaves);
        if (forest_.targets == 1) return sum(of_tree, {1}, true);
        const auto trees = static_cast<int64_t>(targets_.size());
        const auto count = static_cast<uint64_t>(forest_.targets * trees);
        if (!call_.trace.has_room(1, count * sizeof(float))) return leaves;
        Reals members(static_cast<size_t>(count));
        for (int64_t t = 0; t < trees; ++t)
            if (const int64_t target = targets_[static_cast<size_t>(t)]; target >= 0)
                members[static_cast<size_t>(target * trees + t)] = 1;
        return linear(of_tree,
                      ml_constant(call_, members, {forest_.targets, trees}, forest_.weight_dtype));
    }

    /// Reduces rows of values, one for each leaf.
    Tensor dense(const Tensor& leaves) {
        const bool is_min = forest_.aggregate == Aggregate::kMin;
        const bool is_sum = !is_min && forest_.aggregate != Aggregate::kMax;
        const double none = is_sum ? 0 : is_min ? HUGE_VAL : -HUGE_VAL;
        const auto count = static_cast<uint64_t>(leaves_ * forest_.targets);
        if (!call_.trace.has_room(1, count * sizeof(float))) return leaves;
        Reals values(static_cast<size_t>(count), none);
        for (const LeafWeight& w : forest_.weights) {
            double& value = values[static_cast<size_t>(
                (number_of(w.leaf) - inner_) * forest_.targets + w.target)];
            value = is_sum   ? value + w.weight
                    : is_min ? std::min(value, w.weight)
                             : std::max(value, w.weight);
        }
        const Tensor table =
            ml_constant(call_, values, {leaves_, forest_.targets}, forest_.weight_dtype);
        const Tensor of_tree = take(table, leaves);
        if (is_sum) return sum(of_tree, {1});
        const Tensor most = is_min ? min(of_tree, {1}) : max(of_tree, {1});
        return where(is_inf(most), 0.0, most);
    }

    OnnxCall& call_;
    Forest forest_;
    int64_t depth_ = 0, inner_ = 0, leaves_ = 0;
    List numbers_;  ///< of each node in the tables
    List targets_;  ///< of each tree, where it has one
};

std::optional<Aggregate> aggregate_named(std::string_view name) {
    if (name == "SUM") return Aggregate::kSum;
    if (name == "AVERAGE") return Aggregate::kAverage;
    if (name == "MIN") return Aggregate::kMin;
    if (name == "MAX") return Aggregate::kMax;
    return {};
}

Tensor with_base(OnnxCall& call, const Tensor& scores, const Reals& base) {
    if (base.empty()) return scores;
    return scores + ml_constant(call, base, {static_cast<int64_t>(base.size())});
}

/// Transforms regressions: ONNX Runtime applies only PROBIT to a single target.
Tensor transformed_targets(OnnxCall& call, const Tensor& y) {
    if (y.dim(1) == Dim(1) && call.text("post_transform", "NONE") != "PROBIT") return y;
    return ml_transformed(call, y);
}

}  // namespace

Tensors import_tree_regressor(OnnxCall& call) {
    const Tensor x = ml_features(call);
    if (call.has_failed()) return {};
    std::optional<Forest> forest = read_forest(call, "target", x.dtype());
    const Reals base = reals_or_tensor(call, "base_values");
    const std::string aggregate = call.text("aggregate_function", "SUM");
    if (!forest || call.has_failed()) return {};
    forest->targets = call.integer("n_targets", 1);
    const std::optional<Aggregate> known = aggregate_named(aggregate);
    if (!known) return call.invalid("aggregate_function is '" + aggregate + "'");
    forest->aggregate = *known;
    if (!base.empty() && static_cast<int64_t>(base.size()) != forest->targets)
        return call.invalid(std::to_string(base.size()) + " base values for " +
                            std::to_string(forest->targets) + " targets");
    const std::optional<Tensor> y = ForestGraph(call, std::move(*forest)).run(x);
    if (!y) return {};
    return {transformed_targets(call, with_base(call, *y, base))};
}

namespace {

/// Scores of two classes from one, [rows, 1].
Tensors two_from_one(OnnxCall& call, const Tensor& score, const List& labels, bool is_share) {
    const Tensor label = squeeze(ml_binary_labels(labels, greater(score, is_share ? 0.5 : 0)), {1});
    if (is_share) return {label, concat({1.0 - score, score}, 1)};
    const std::string transform = call.text("post_transform", "NONE");
    if (transform == "LOGISTIC") return {label, concat({sigmoid(neg(score)), sigmoid(score)}, 1)};
    return {label, concat({neg(abs(score)), abs(score)}, 1)};
}

}  // namespace

Tensors import_tree_classifier(OnnxCall& call) {
    const Tensor x = ml_features(call);
    if (call.has_failed()) return {};
    std::optional<Forest> forest = read_forest(call, "class", x.dtype());
    const Reals base = reals_or_tensor(call, "base_values");
    const List labels = ml_class_labels(call, "classlabels_int64s");
    if (!forest || call.has_failed()) return {};
    const auto classes = static_cast<int64_t>(labels.size());
    if (classes < 2) return call.unsupported("fewer than two classes");
    if (base.size() > labels.size() ||
        (classes > 2 && !base.empty() && base.size() != labels.size()))
        return call.invalid(std::to_string(base.size()) + " base values for " +
                            std::to_string(classes) + " classes");
    forest->targets = classes;
    std::set<int64_t> scored;
    bool is_share = true;  // of votes: all weights are positive
    for (const LeafWeight& w : forest->weights) {
        scored.insert(w.target);
        is_share = is_share && w.weight >= 0;
    }
    const std::optional<Tensor> found = ForestGraph(call, std::move(*forest)).run(x);
    if (!found) return {};
    if (classes > 2) {
        const Tensor scores = with_base(call, *found, base);
        return {ml_labels_at(call, labels, argmax(scores, 1)), ml_transformed(call, scores)};
    }
    // Two classes, as ONNX Runtime treats them: their scores may be given for one of them.
    Tensor first = slice(*found, 1, 0, 1), second = slice(*found, 1, 1, 2);
    const bool has_second = scored.contains(1);
    if (base.size() == 1) first = first + base[0];
    if (base.size() == 2 && has_second) {
        second = first + base[1];
        first = neg(second);
    } else if (base.size() == 2) {
        first = first + base[0];
        second = second + base[1];
    } else if (!has_second) {
        return two_from_one(call, first, labels, is_share);
    }
    const Tensor& decisive = has_second ? second : first;
    const double threshold = scored.size() == 1 && is_share ? 0.5 : 0;
    return {squeeze(ml_binary_labels(labels, greater(decisive, threshold)), {1}),
            ml_transformed(call, concat({first, second}, 1))};
}

namespace {

/// The members of each set that a node tests: the lists in `values` end at NaNs.
std::vector<Reals> sets_of(const Reals& values) {
    std::vector<Reals> sets(1);
    for (double value : values) {
        if (std::isnan(value))
            sets.emplace_back();
        else
            sets.back().push_back(value);
    }
    return sets;
}

/// Reads the lists of TreeEnsemble, which has nodes and leaves apart and identifies both by their
/// position.
std::optional<Forest> read_ensemble(OnnxCall& call, DType dtype) {
    const List roots = call.integers("tree_roots"), features = call.integers("nodes_featureids"),
               modes = call.integers("nodes_modes"), yes = call.integers("nodes_truenodeids"),
               no = call.integers("nodes_falsenodeids"),
               yes_leafs = call.integers("nodes_trueleafs"),
               no_leafs = call.integers("nodes_falseleafs"),
               missing = call.integers("nodes_missing_value_tracks_true"),
               targets = call.integers("leaf_targetids");
    const Reals splits = call.reals("nodes_splits"), weights = call.reals("leaf_weights");
    const std::vector<Reals> sets = sets_of(call.reals("membership_values"));
    if (call.has_failed()) return {};
    const auto refuse = [&](const std::string& what) {
        call.invalid(what);
        return std::optional<Forest>();
    };
    const size_t count = features.size(), leaf_count = targets.size();
    for (size_t length : {modes.size(), splits.size(), yes.size(), no.size(), yes_leafs.size(),
                          no_leafs.size(), missing.empty() ? count : missing.size()})
        if (length != count) return refuse("its lists of nodes have different lengths");
    if (weights.size() != leaf_count) return refuse("its lists of leaves have different lengths");
    Forest forest;
    forest.dtype = dtype;
    forest.weight_dtype = dtype;
    forest.nodes.resize(count + leaf_count);
    const auto place = [&](int64_t id, int64_t is_leaf) -> std::optional<int64_t> {
        const auto most = static_cast<int64_t>(is_leaf != 0 ? leaf_count : count);
        if (id < 0 || id >= most) return {};
        return is_leaf != 0 ? static_cast<int64_t>(count) + id : id;
    };
    constexpr Test kTests[] = {Test::kLessEqual, Test::kLess,  Test::kGreaterEqual,
                               Test::kGreater,   Test::kEqual, Test::kNotEqual};
    constexpr int64_t kMember = 6;
    size_t set = 0;
    for (size_t i = 0; i < count; ++i) {
        const auto low = place(yes[i], yes_leafs[i]), high = place(no[i], no_leafs[i]);
        if (!low || !high)
            return refuse("node " + std::to_string(i) + " has a child that is not there");
        const bool tracks = !missing.empty() && missing[i] != 0;
        const auto at = static_cast<int64_t>(i);
        if (modes[i] == kMember && set < sets.size())
            forest.set_member(at, features[i], sets[set++], *low, *high, tracks);
        else if (modes[i] >= 0 && modes[i] < kMember)
            forest.set(at, kTests[modes[i]], features[i], splits[i], *low, *high, tracks);
        else
            return refuse("node " + std::to_string(i) + " has the mode " +
                          std::to_string(modes[i]) + " and " + std::to_string(sets.size()) +
                          " sets of members");
    }
    for (int64_t root : roots) {
        const auto at = place(root, 0);
        if (!at) return refuse("the root " + std::to_string(root) + " is not there");
        forest.roots.push_back(*at);
    }
    for (size_t i = 0; i < leaf_count; ++i)
        forest.weights.push_back({static_cast<int64_t>(count + i), targets[i], weights[i]});
    return forest;
}

}  // namespace

Tensors import_tree_ensemble(OnnxCall& call) {
    const Tensor x = ml_features(call);
    if (call.has_failed()) return {};
    std::optional<Forest> forest = read_ensemble(call, x.dtype());
    const int64_t aggregate = call.integer("aggregate_function", 1);
    const int64_t transform = call.integer("post_transform", 0);
    if (!forest || call.has_failed()) return {};
    constexpr Aggregate kAggregates[] = {Aggregate::kAverage, Aggregate::kSum, Aggregate::kMin,
                                         Aggregate::kMax};
    if (aggregate < 0 || aggregate > 3)
        return call.invalid("aggregate_function is " + std::to_string(aggregate));
    if (transform != 0) return call.unsupported("post_transform " + std::to_string(transform));
    forest->targets = call.integer("n_targets", 1);
    forest->aggregate = kAggregates[aggregate];
    const std::optional<Tensor> y = ForestGraph(call, std::move(*forest)).run(x);
    if (!y) return {};
    const DType dtype = call.in(0).dtype();
    return {y->dtype() == dtype || !is_floating(dtype) ? *y : cast(*y, dtype)};
}

}  // namespace hearth
