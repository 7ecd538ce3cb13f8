// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Packages of agents whose program and manifest fit neither each other nor the driver: what a
// stranger writes who knows what the driver binds by name.

#include "files.hpp"
#include "program/package.hpp"
#include "support/package_contents.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <limits>

namespace hearth::hostile {

namespace {

using namespace agents;

struct Named {
    std::string name;
    Shape shape;
    DType dtype = DType::kF32;
};

/// Four agents that learn nothing, of which an attack changes one thing.
struct Package {
    std::vector<Named> frame = {{"observation", {kBatch, 3}},  {"mask", {kBatch, 2}},
                                {"reward", {kBatch}},          {"done_kind", {kBatch}},
                                {"episode_start", {kBatch}},   {"final_observation", {kBatch, 3}},
                                {"id", {kBatch}, DType::kU32}, {"exploration", {}}};
    std::vector<Named> states = {{"last.action", {4, 1}}, {"agents.status", {39}, DType::kU32}};
    Named learning_rate{"learning_rate", {}};
    uint64_t max_batch_size = 4;
    AgentManifest manifest;

    Package() {
        manifest.schema = AgentSpec(ObservationSpec().box("x", 3),
                                    ActionSpec().discrete("push", 2, /*masked=*/true));
        manifest.algorithm = Algorithm::kDqn;
        manifest.n_agents = 4;
        manifest.hyperparameters = {{"learning_rate", 1e-3, 0, 1}};
    }
    Named& input(std::string_view name) { return *std::ranges::find(frame, name, &Named::name); }
    Named& state(std::string_view name) { return *std::ranges::find(states, name, &Named::name); }

    Bytes make() const {
        Trace act("frame"), learn("learn"), publish("publish");
        Tensor total = act.constant(0.0);
        for (const Named& i : frame)
            total = total + sum(cast(act.input(i.name, i.shape, i.dtype), DType::kF32));
        for (const Named& s : states) {
            const Tensor old = act.non_persistent_state(s.name, s.shape, {}, s.dtype);
            act.assign(old, old + cast(total, s.dtype));
        }
        const auto count = [](Trace& trace, const char* name, const Tensor& by) {
            const Tensor old = trace.state(name, {});
            trace.assign(old, old + by);
        };
        count(learn, "learned", sum(learn.input(learning_rate.name, learning_rate.shape)));
        count(publish, "published", publish.constant(1.0));
        DeviceTarget scalar{.name = "scalar", .options = {.caps = cpu_caps(CpuIsa::kScalar)}};
        scalar.options.keep_source = false;
        const Result<Cooked> cooked =
            cook({&act, &learn, &publish},
                 {.device_targets = {scalar}, .max_batch_size = max_batch_size});
        return cooked.ok() ? with_manifest(cooked->bytes, manifest.save()) : Bytes();
    }

    /// cook() refuses more agents than a batch holds; files do not.
    static Bytes with_manifest(const Bytes& package, Bytes manifest) {
        PackageView view;
        ViewError error;
        if (!view.open(package, &error)) return {};
        PackageContents contents = testing::package_contents(view).value();
        contents.agents = std::move(manifest);
        return save_package(std::move(contents)).value();
    }
};

}  // namespace

void add_agents_files(Files& files) {
    const auto attack = [&](const std::string& name, const std::string& says,
                            void (*change)(Package&)) {
        files.push_back({.reader = "agents",
                         .name = name,
                         .make =
                             [change] {
                                 Package package;
                                 change(package);
                                 return package.make();
                             },
                         .says = says});
    };
    add_mutations(
        files, "agents", "four that learn nothing", [] { return Package().make(); }, mend_package,
        60);
    attack("a reward of 2^20 floats", "'reward': ", [](Package& p) {
        p.input("reward").shape = {kBatch, 1 << 20};
    });
    attack("an exploration of 64 floats",
           "'exploration': ", [](Package& p) { p.input("exploration").shape = {64}; });
    attack("observations wider than the manifest's", "'observation': ", [](Package& p) {
        p.input("observation").shape = {kBatch, 4096};
    });
    attack("final observations narrower than the manifest's",
           "'final_observation': ", [](Package& p) {
               p.input("final_observation").shape = {kBatch, 2};
           });
    attack("masks of no choice", "'mask': ", [](Package& p) {
        p.input("mask").shape = {kBatch, 64};
    });
    attack("ids that are floats", "'id': ", [](Package& p) { p.input("id").dtype = DType::kF32; });
    attack("an input that no game has", "'secret': ", [](Package& p) {
        p.frame.push_back({"secret", {kBatch, 1 << 16}});
    });
    attack("a learning rate of 2^20 floats",
           "'learning_rate': ", [](Package& p) { p.learning_rate.shape = {1 << 20}; });
    attack("actions for fewer agents", "'last.action' has ", [](Package& p) {
        p.state("last.action").shape = {3, 1};
    });
    attack("a status of 2^20 words", "'agents.status' has ",
           [](Package& p) { p.state("agents.status").shape = {1 << 20}; });
    attack("no status", "no state 'agents.status'", [](Package& p) { p.states.pop_back(); });
    attack("no entry to learn by", "no entry 'study'",
           [](Package& p) { p.manifest.names.learn = "study"; });
    attack("a manifest of 2^24 agents", "has room for 4 agents",
           [](Package& p) { p.manifest.n_agents = 1 << 24; });
    attack("2^20 agents of a small file", "max_host_bytes", [](Package& p) {
        p.manifest.n_agents = 1 << 20;
        p.max_batch_size = 1 << 20;
        p.state("last.action").shape = {1 << 20, 1};
    });
    attack("2^20 agents of 65,536 floats", "", [](Package& p) {
        p.manifest.n_agents = 1 << 20;
        p.max_batch_size = 1 << 20;
        p.state("last.action").shape = {1 << 20, 1};
        p.manifest.schema = AgentSpec(ObservationSpec().box("x", 65'536),
                                      ActionSpec().discrete("push", 2, /*masked=*/true));
        p.input("observation").shape = p.input("final_observation").shape = {kBatch, 65'536};
    });
    attack("a hyperparameter that is not finite", "'learning_rate'", [](Package& p) {
        p.manifest.hyperparameters[0].value = std::numeric_limits<double>::quiet_NaN();
    });
    files.push_back({.reader = "agents",
                     .name = "an empty manifest",
                     .make = [] { return Package::with_manifest(Package().make(), Bytes(1)); },
                     .says = "manifest"});
}

}  // namespace hearth::hostile
