// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tests engine_bridge/godot in a mock of Godot: lets the extension register its classes, creates
// instances and calls their methods as typed and as untyped scripts do.
//
//     godot_host PROGRAM    networks.  The program is the file res://game.hearth, which the operating
//                           system does not know, as in an exported game.
//     godot_host            agents, whose package it cooks
//
// Prints the results, and the number of values that are left at the end.

#include "godot_mock.hpp"

#include <dlfcn.h>
#include <hearth_workbench.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

extern "C" GDExtensionBool hearth_godot_init(GDExtensionInterfaceGetProcAddress get,
                                             GDExtensionClassLibraryPtr library,
                                             GDExtensionInitialization* out);

namespace {

int devices = 0, submissions = 0;
std::set<hearth_context*> contexts;  // kept by the extension, so that none has another's address
bool is_lost = false;                // by the next submission

/// libhearth's function of this name, which one of this host stands in front of.
template <class Function>
Function* next(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

/// Counts the devices that the extension uses, in place of libhearth's function, which it calls.
extern "C" __attribute__((visibility("default"))) hearth_result hearth_headless_share(
    const char* device, hearth_headless** out, hearth_messages* messages) {
    const auto result = next(hearth_headless_share, "hearth_headless_share")(device, out, messages);
    if (result == HEARTH_OK && contexts.insert(hearth_headless_context(*out)).second) ++devices;
    return result;
}

/// Counts submissions, and loses the device on request.
extern "C" __attribute__((visibility("default"))) hearth_result hearth_headless_submit(
    hearth_headless* host) {
    ++submissions;
    if (is_lost) hearth_context_notify_device_lost(hearth_headless_context(host));
    is_lost = false;
    return next(hearth_headless_submit, "hearth_headless_submit")(host);
}

namespace {

using namespace mock;

void print(const char* name, const Floats& values) {
    std::printf("%s: %zu values:", name, values.size());
    for (size_t i = 0; i < std::min<size_t>(values.size(), 4); ++i)
        std::printf(" %g", double{values[i]});
    std::printf("\n");
}

/// A network or agents.
struct Script {
    Value object;
    explicit Script(const char* class_name) : object(construct(class_name)) {}

    Value call(const char* method, const std::vector<Value>& arguments = {}) const {
        return mock::call(object, method, arguments);
    }
    bool good(const char* method, const std::vector<Value>& arguments = {}) const {
        return call(method, arguments).integer != 0;
    }
    std::string error() const { return call("error").text; }
    bool open(const char* path) const { return good("open", {Value(path)}); }
    Floats run(const char* entry, const Floats& inputs) const {
        return call("run", {Value(entry), Value(inputs)}).floats;
    }
    void print_error() const { std::printf("error: %s\n", error().c_str()); }
};
struct Network : Script {
    Network() : Script("HearthNetwork") {}
};

const Value& entry(const Value& dictionary, const char* name) {
    for (const auto& [found, value] : dictionary.entries)
        if (found == name) return value;
    must(false, std::string("no entry ") + name);
    return dictionary;
}

/// A network that learns is saved, reset and loaded, and keeps what it learned when a value that is
/// not finite is passed to it.
void learn_and_save(const Network& network, const Floats& x) {
    const Floats before = network.run("act", x);
    Floats lesson = x;
    lesson.push_back(0.5f);  // the rate
    must(!network.run("learn", lesson).empty(), network.error());
    const Floats learned = network.run("act", x);
    must(!learned.empty() && learned != before, "it learned nothing");
    lesson[2] = NAN;
    must(network.run("learn", lesson).empty(), "it learned from NaN");
    network.print_error();
    must(network.run("act", x) == learned && network.error().empty(), "NaN stayed in it");

    const Value brain = network.call("save");
    must(brain.object != nullptr && brain.object->class_name == "HearthBrain", network.error());
    must(!call(brain, "get_data").bytes.empty(), "an empty brain");
    must(network.good("reset"), network.error());
    must(network.run("act", x) == before, "reset did not forget");
    must(network.good("load", {brain}), network.error());
    must(network.run("act", x) == learned, "load did not bring back what was saved");
    const Network other;
    must(other.open("res://game.hearth"), other.error());
    must(other.good("load", {brain}) && other.run("act", x) == learned,
         "another network did not go on from the brain");
    must(network.run("act", x) == learned, "networks share what they learn");

    const Value nothing = construct("HearthBrain");
    call(nothing, "set_data", {Value(Bytes{1, 2, 3})});
    must(!network.good("load", {nothing}), "it loaded nothing");
    network.print_error();
    must(!network.good("load", {Value()}), "it loaded null");
    network.print_error();
    // A typed script gets a reference that it owns.
    const Value typed = call_typed(network.object, "save", {});
    must(typed.object != nullptr && typed.object->references == 1, "a brain with one reference");
}

/// Tensors by name, and learning on a thread.
void run_fields(const Network& network, const Floats& x) {
    const Floats expected = network.run("act", x);
    Value numbers(x);
    numbers.type = GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT64_ARRAY;
    const Value outputs = network.call("run_fields", {Value("act"), Value({{"x", numbers}})});
    must(entry(outputs, "y").floats == expected, "run_fields: " + network.error());
    network.call("run_fields", {Value("act"), Value({{"z", numbers}})});
    network.print_error();
    network.call("run_fields", {Value("act"), Value({{"x", numbers}, {"z", numbers}})});
    network.print_error();
    network.call("run_fields", {Value("act"), Value({{"x", Value("text")}})});
    network.print_error();

    // In pieces on a thread it learns the same.
    const Network reference;
    must(reference.open("res://game.hearth") && reference.good("load", {network.call("save")}),
         reference.error());
    const Value lesson({{"x", Value(x)}, {"rate", Value(0.25)}});
    take_signals();
    network.call("set_learning_budget_us", {Value(1.0)});
    const int before = submissions;
    for (int i = 0; i < 3; ++i) {
        must(network.good("start", {Value("learn"), lesson}), network.error());
        network.call("wait");
    }
    must(!network.good("is_running"), "still running");
    must(submissions > before + 3, "a budget of 1 us did not split the entry");
    const std::vector<Signal> finished = take_signals();
    must(finished.size() == 3 && finished[0].name == "finished" &&
             finished[0].arguments.at(0).text == "learn" &&
             !entry(finished[0].arguments.at(1), "y").floats.empty(),
         "the signal finished");
    for (int i = 0; i < 3; ++i) reference.call("run_fields", {Value("learn"), lesson});
    const Floats learned = network.run("act", x);
    must(learned != expected && learned == reference.run("act", x), "pieces learn otherwise");
    must(!network.good("start",
                       {Value("learn"), Value(std::vector<std::pair<std::string, Value>>{})}),
         "it started without inputs");
    network.print_error();
    const std::vector<Signal> failed = take_signals();
    must(failed.size() == 1 && failed[0].name == "failed" &&
             failed[0].arguments.at(0).text == network.error(),
         "the signal failed");
}

/// A package as a property is opened by the first call.
void open_by_property(const Floats& x) {
    const Network network, other;
    must(other.open("res://game.hearth"), other.error());
    const Floats expected = other.run("act", x);
    const Value package = construct("HearthPackage");
    call(package, "set_data", {Value(files["res://game.hearth"])});
    network.call("set_package", {package});
    must(network.call("get_package").object == package.object, "another package");
    must(network.run("act", x) == expected && network.good("is_open"), network.error());
    network.call("set_package", {Value()});
    must(!network.good("is_open") && network.run("act", x).empty(), "still open");
    network.print_error();
}

/// Opening a network again after its device was lost creates another one.
void lose_device(const Floats& x) {
    const Network network;
    must(network.open("res://game.hearth"), network.error());
    const Floats expected = network.run("act", x);
    is_lost = true;
    must(network.run("act", x).empty() && !network.error().empty(), "the device was not lost");
    must(network.open("res://game.hearth") && network.run("act", x) == expected, network.error());
    std::printf("devices after a loss: %d\n", devices);
}

/// Networks of several threads take turns on the device that they share.
void run_in_threads(const Floats& x) {
    const Network first, second;
    must(first.open("res://game.hearth") && second.open("res://game.hearth"),
         "opening two networks");
    const Floats expected = first.run("act", x);
    const auto run = [&](const Network& network) {
        for (int i = 0; i < 500; ++i)
            must(network.run("act", x) == expected, "a thread: " + network.error());
    };
    std::thread other([&] { run(second); });
    run(first);
    other.join();
}

void test_networks(const char* program) {
    std::ifstream file(program, std::ios::binary);
    files["res://game.hearth"] = Bytes(std::istreambuf_iterator<char>(file), {});
    files["res://half.hearth"] = files["res://game.hearth"];
    files["res://half.hearth"].resize(files["res://game.hearth"].size() / 2);
    const Network network;

    // Errors are reported.
    call(network.object, "run", {Value("x")}, GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS);
    call(network.object, "open", {Value("x"), Value(int64_t{1})},
         GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT);
    must(network.run("act", {1}).empty(), "it ran before open()");
    network.print_error();
    must(!network.open("nothing.hearth"), "it opened nothing");
    network.print_error();
    must(!network.open("res://half.hearth"), "it opened half a program");
    network.print_error();
    must(network.open("res://game.hearth"), network.error());
    must(network.run("act", {1}).empty(), "too few values");
    network.print_error();

    // act: y = x + state; the state is 0, 1, 2, ...
    Floats x(96);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.01f * static_cast<float>(i + 1);
    const Floats first = network.run("act", x);
    print("y", first);
    x[0] = 100;
    print("then",
          call_typed(network.object, "run", {Value("act"), Value(x), Value(int64_t{1})}).floats);
    learn_and_save(network, x);
    run_fields(network, x);
    open_by_property(x);
    run_in_threads(x);
    std::printf("devices: %d\n", devices);
    lose_device(x);
}

/// Agents that learn to repeat the sign that they see.
struct Agents : Script {
    int64_t agent;
    explicit Agents(const Value& package) : Script("HearthAgents") {
        call("set_package", {package});
        call("set_device", {Value("")});
        call("set_learning_budget_us", {Value(double{INFINITY})});
        agent = call("add").integer;
        must(agent != -1, error());
    }
    /// A frame; returns the action.
    Floats step(int frame) const {
        const double sign = frame % 2 == 0 ? 1 : -1;
        must(good("observe_fields", {Value(agent), Value({{"sign", Value(sign)}})}) &&
                 good("decide"),
             error());
        const Floats action = call("action_field", {Value(agent), Value("move")}).floats;
        must(action.size() == 1, error());
        must(good("add_reward", {Value(agent), Value(-std::abs(action[0] - sign))}), error());
        return action;
    }
};

Value options() {
    const auto number = [](int64_t value) { return Value(value); };
    Value sign({{"name", Value("sign")}, {"kind", Value("box")}, {"size", number(1)}});
    Value move({{"name", Value("move")},
                {"kind", Value("continuous")},
                {"low", number(-1)},
                {"high", number(1)}});
    return Value({{"observations", list({sign})},
                  {"actions", list({move})},
                  {"max_batch_size", number(4)},
                  {"learner", Value({{"kind", Value("ppo")},
                                     {"n_agents", number(4)},
                                     {"n_steps", number(8)},
                                     {"n_minibatches", number(1)},
                                     {"n_epochs", number(1)}})}});
}

void test_agents() {
    const Value package = call_static("HearthPackage", "cook_agents", {options()});
    must(!call(package, "get_data").bytes.empty(), call(package, "error").text);
    const Value unknown({{"colour", Value("red")}});
    std::printf("error: %s\n",
                call(call_static("HearthPackage", "cook_agents", {unknown}), "error").text.c_str());

    const Agents agents(package);
    std::printf("sizes: %d %d\n", static_cast<int>(agents.call("observation_size").integer),
                static_cast<int>(agents.call("action_size").integer));
    must(!agents.good("observe", {Value(agents.agent), Value(Floats{NAN})}), "it saw NaN");
    agents.print_error();
    must(!agents.good("observe", {Value(agents.agent), Value(Floats{1, 2})}), "it saw too much");
    agents.print_error();
    must(!agents.good("observe", {Value(agents.agent + 1), Value(Floats{1})}), "nobody saw");
    agents.print_error();
    must(agents.call("action", {Value(agents.agent)}).floats.empty(), "an action of nothing");
    agents.print_error();
    must(!agents.good("add_reward", {Value(agents.agent), Value(double{NAN})}), "a reward of NaN");
    agents.print_error();

    for (int i = 0; i < 21; ++i) agents.step(i);
    const Value game = agents.call("save_game"), brain = agents.call("save");
    must(game.object != nullptr && brain.object != nullptr, agents.error());
    must(entry(agents.call("status"), "gradient_steps").real >= 2, "it learned nothing");

    // Another program goes on to the bit.
    const Agents continued(package);
    must(continued.good("load", {game}), continued.error());
    const Agents again(package);
    must(again.good("load", {game}), again.error());
    for (int i = 21; i < 42; ++i)
        must(continued.step(i) == again.step(i), "continued games differ");
    must(agents.good("load", {brain}) && agents.good("reset"), agents.error());
    must(!agents.good("load", {Value()}), "it loaded null");
    agents.print_error();
    must(agents.good("remove", {Value(agents.agent)}) && agents.call("count").integer == 0,
         agents.error());
}

}  // namespace

int main(int argc, char** argv) {
    must(argc <= 2, "usage: godot_host [PROGRAM]");
    GDExtensionInitialization extension{};
    must(hearth_godot_init([](const char*) -> GDExtensionInterfaceFunctionPtr { return nullptr; },
                           nullptr, &extension) == 0,
         "it accepted an older Godot");
    must(hearth_godot_init(&find, nullptr, &extension) != 0, "hearth_godot_init");
    extension.initialize(extension.userdata, GDEXTENSION_INITIALIZATION_CORE);
    must(classes.empty(), "registered too early");
    extension.initialize(extension.userdata, GDEXTENSION_INITIALIZATION_SCENE);
    std::printf("classes:");
    for (const auto& [name, made] : classes) std::printf(" %s", name.c_str());
    std::printf("\n");
    for (const auto& [name, made] : classes) must(made.parent == "Resource", name);
    argc == 2 ? test_networks(argv[1]) : test_agents();
    extension.deinitialize(extension.userdata, GDEXTENSION_INITIALIZATION_SCENE);
    std::printf("classes left: %zu, values left: %d\n", classes.size(), live.load());
    return 0;
}
