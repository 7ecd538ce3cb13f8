// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth as an extension for Godot 4 (GDExtension): the resources HearthPackage, HearthBrain,
// HearthNetwork and HearthAgents.  addons/hearth/doc_classes documents them for scripts.
//
// An extension has access neither to the features of the renderer's device nor to its command
// buffers, so Hearth has a device of its own, which all networks and agents of a process share, and
// tensors are passed as arrays.  Paths are Godot's (res://, user://), so packages are found in
// exported games, too.
//
// Threads: one at a time per object; objects of several threads take turns on the device.

#include "agents.hpp"
#include "godot.hpp"
#include "network.hpp"

namespace hearth_godot {
namespace {

/// The bytes of a package or a brain, as a resource.
class Data : public Instance {
  public:
    const Bytes& bytes() const { return bytes_; }
    void set_data(const Bytes& data) { bytes_ = data; }
    Bytes get_data() { return bytes_; }

  private:
    Bytes bytes_;
};

class Brain final : public Data {
  public:
    static constexpr const char* kName = "HearthBrain";

    /// Null for an empty brain.
    static Brain* make(const Bytes& bytes) {
        if (bytes.empty()) return nullptr;
        auto* const brain = static_cast<Brain*>(construct(kName));
        brain->set_data(bytes);
        return brain;
    }
};

class Package final : public Data {
  public:
    static constexpr const char* kName = "HearthPackage";

    const std::string& cook_error() const { return cook_error_; }
    std::string error() { return cook_error_; }

    static Package* cook_agents(Variant options) {
        return cook([&](hearth_blob** blob, hearth_messages* messages) {
            return hearth_cook_agents(to_json(options).c_str(), nullptr, blob, messages);
        });
    }
    static Package* cook_regression(Variant options) {
        return cook([&](hearth_blob** blob, hearth_messages* messages) {
            return hearth_cook_regression(to_json(options).c_str(), nullptr, blob, messages);
        });
    }
    static Package* cook_onnx(Bytes model, Variant options) {
        return cook([&](hearth_blob** blob, hearth_messages* messages) {
            return hearth_cook_onnx(model.data(), model.size(), to_json(options).c_str(), nullptr,
                                    blob, messages);
        });
    }

  private:
    /// Returns a package without bytes if cooking fails.
    template <class Cook>
    static Package* cook(Cook cook) {
        auto* const package = static_cast<Package*>(construct(kName));
        hearth_blob* blob = nullptr;
        hearth_messages messages{};
        if (cook(&blob, &messages) != HEARTH_OK) {
            package->cook_error_ = messages.text;
            return package;
        }
        const auto* const bytes = static_cast<const uint8_t*>(hearth_blob_data(blob));
        package->set_data(Bytes(bytes, bytes + hearth_blob_bytes(blob)));
        hearth_blob_destroy(blob);
        return package;
    }

    std::string cook_error_;
};

/// The properties that networks and agents have in common.
template <class M>
class Opened : public Instance {
  public:
    bool open(const std::string& path, const std::string& device) {
        device_ = device;
        return check(open_model(path, read_file(path)));
    }
    bool is_open() { return model_.is_open(); }
    void close() { model_.close(); }
    std::string error() { return model_.error(); }

    void set_package(Package* package) {
        model_.close();
        package_ = package != nullptr ? Variant(package->object) : Variant();
    }
    Package* get_package() { return TypeOf<Package*>::from(package_); }
    void set_device(const std::string& device) {
        if (device != device_) model_.close();
        device_ = device;
    }
    std::string get_device() { return device_; }
    void set_learning_budget_us(double budget) { learning_budget_us_ = budget; }
    double get_learning_budget_us() { return learning_budget_us_; }

  protected:
    virtual bool open_model(const std::string& path, const Bytes& bytes) = 0;

    /// Opens the property `package` if nothing is open.
    bool is_ready() {
        if (model_.is_open()) return true;
        Package* const package = get_package();
        if (package == nullptr) return true;  // the model names the call
        if (package->bytes().empty())
            return check(model_.fail("package", package->cook_error().empty()
                                                    ? "it has no data"
                                                    : package->cook_error()));
        return check(open_model("package", package->bytes()));
    }
    /// Emits `failed` if the last call failed.
    bool check(bool is_good) {
        if (!model_.error().empty()) emit("failed", {Variant(model_.error())});
        return is_good;
    }
    template <class T>
    T checked(T value) {
        check(true);
        return value;
    }

    M model_;
    Variant package_;
    std::string device_;
    double learning_budget_us_ = 500;
};

/// The methods and properties of Opened<M>.
template <class C>
void add_opened(Class& to) {
    to.methods.push_back(method("open", &C::open, {"path", "device"}, {Variant(std::string())}));
    to.methods.push_back(method("is_open", &C::is_open));
    to.methods.push_back(method("close", &C::close));
    to.methods.push_back(method("error", &C::error));
    to.methods.push_back(method("set_package", &C::set_package, {"package"}));
    to.methods.push_back(method("get_package", &C::get_package));
    to.methods.push_back(method("set_device", &C::set_device, {"device"}));
    to.methods.push_back(method("get_device", &C::get_device));
    to.methods.push_back(
        method("set_learning_budget_us", &C::set_learning_budget_us, {"microseconds"}));
    to.methods.push_back(method("get_learning_budget_us", &C::get_learning_budget_us));
    constexpr uint32_t kResourceType = 17;  // PROPERTY_HINT_RESOURCE_TYPE
    to.properties.push_back({{"package", GDEXTENSION_VARIANT_TYPE_OBJECT, Package::kName},
                             kResourceType,
                             Package::kName});
    to.properties.push_back({{"device", GDEXTENSION_VARIANT_TYPE_STRING, ""}, 0, ""});
    to.properties.push_back({{"learning_budget_us", GDEXTENSION_VARIANT_TYPE_FLOAT, ""}, 0, ""});
    to.signals.push_back({"failed", {{"message", GDEXTENSION_VARIANT_TYPE_STRING, ""}}});
}

class NetworkResource final : public Opened<Network> {
  public:
    static constexpr const char* kName = "HearthNetwork";

    ~NetworkResource() override { model_.close(); }

    Floats run(const std::string& entry, const Floats& inputs, int64_t batch_size) {
        return is_ready() ? checked(model_.run(entry, inputs, batch_size)) : Floats{};
    }
    Fields run_fields(const std::string& entry, const Variant& inputs) {
        Fields fields;
        return read(inputs, fields) ? checked(model_.run_fields(entry, fields)) : Fields{};
    }
    bool start(const std::string& entry, const Variant& inputs) {
        Fields fields;
        return read(inputs, fields) &&
               check(model_.start(entry, fields, learning_budget_us_,
                                  [this, entry](const Fields& outputs, const std::string& error) {
                                      if (!error.empty()) emit("failed", {Variant(error)});
                                      emit("finished", {Variant(entry), Variant(outputs)});
                                  }));
    }
    bool is_running() { return model_.is_running(); }
    void wait() { model_.wait(); }
    Brain* save() { return is_ready() ? Brain::make(checked(model_.save())) : nullptr; }
    bool load(Brain* brain) {
        return is_ready() && check(model_.load(brain != nullptr ? brain->bytes() : Bytes{}));
    }
    bool reset() { return is_ready() && check(model_.reset()); }

  private:
    bool open_model(const std::string& path, const Bytes& bytes) override {
        return model_.open(path, bytes, device_);
    }
    bool read(const Variant& inputs, Fields& fields) {
        std::string error;
        if (!is_ready()) return false;
        return to_fields(inputs, fields, error) || check(model_.fail("inputs", error));
    }
};

class AgentsResource final : public Opened<Agents> {
  public:
    static constexpr const char* kName = "HearthAgents";

    ~AgentsResource() override { model_.close(); }

    int64_t add() { return is_ready() ? checked(model_.add()) : -1; }
    bool remove(int64_t agent) { return check(model_.remove(agent)); }
    int64_t count() { return model_.count(); }
    int64_t observation_size() { return is_ready() ? model_.observation_size() : 0; }
    int64_t action_size() { return is_ready() ? model_.action_size() : 0; }
    bool observe(int64_t agent, const Floats& observation) {
        return check(model_.observe(agent, observation));
    }
    bool observe_fields(int64_t agent, const Variant& observation) {
        Fields fields;
        std::string error;
        if (!to_fields(observation, fields, error)) return check(model_.fail("observation", error));
        return check(model_.observe_fields(agent, fields));
    }
    bool add_reward(int64_t agent, double amount) {
        return check(model_.add_reward(agent, amount));
    }
    bool end_episode(int64_t agent, bool is_truncated) {
        return check(model_.end_episode(agent, is_truncated));
    }
    bool decide() {
        return is_ready() &&
               check(model_.decide({exploration_, learning_budget_us_, is_threaded_}));
    }
    bool wait() { return check(model_.wait()); }
    Floats action(int64_t agent) { return checked(model_.action(agent)); }
    Floats action_field(int64_t agent, const std::string& name) {
        return checked(model_.action_field(agent, name));
    }
    void freeze(bool is_frozen) { model_.freeze(is_frozen); }
    Numbers status() { return is_ready() ? checked(model_.status()) : Numbers{}; }

    Brain* save() { return is_ready() ? Brain::make(checked(model_.save())) : nullptr; }
    Brain* save_game() { return is_ready() ? Brain::make(checked(model_.save_game())) : nullptr; }
    bool load(Brain* brain) {
        return is_ready() && check(model_.load(brain != nullptr ? brain->bytes() : Bytes{}));
    }
    bool reset() { return is_ready() && check(model_.reset()); }

    void set_exploration(double exploration) { exploration_ = exploration; }
    double get_exploration() { return exploration_; }
    void set_threaded(bool is_threaded) { is_threaded_ = is_threaded; }
    bool get_threaded() { return is_threaded_; }
    void set_saved_games(bool is_enabled) { has_saved_games_ = is_enabled; }
    bool get_saved_games() { return has_saved_games_; }

  private:
    bool open_model(const std::string& path, const Bytes& bytes) override {
        return model_.open(path, bytes, device_, has_saved_games_);
    }

    double exploration_ = 1;
    bool is_threaded_ = true, has_saved_games_ = true;
};

// --- The classes as Godot sees them --------------------------------------------------------------

/// A class with the property `data`.
template <class C>
Class data_class() {
    return {C::kName,
            [] { return new C; },
            {method("set_data", &C::set_data, {"data"}), method("get_data", &C::get_data)},
            {{{"data", GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, ""}, 0, ""}},
            {}};
}

Class package_class() {
    using C = Package;
    Class of = data_class<C>();
    of.methods.push_back(method("error", &C::error));
    of.methods.push_back(static_method("cook_agents", &C::cook_agents, {"options"}));
    of.methods.push_back(static_method("cook_regression", &C::cook_regression, {"options"}));
    of.methods.push_back(static_method("cook_onnx", &C::cook_onnx, {"model", "options"}));
    return of;
}

Class network_class() {
    using C = NetworkResource;
    Class of{C::kName, [] { return new C; }, {}, {}, {}};
    add_opened<C>(of);
    of.methods.push_back(
        method("run", &C::run, {"entry", "inputs", "batch_size"}, {Variant(int64_t{1})}));
    of.methods.push_back(method("run_fields", &C::run_fields, {"entry", "inputs"}));
    of.methods.push_back(method("start", &C::start, {"entry", "inputs"}));
    of.methods.push_back(method("is_running", &C::is_running));
    of.methods.push_back(method("wait", &C::wait));
    of.methods.push_back(method("save", &C::save));
    of.methods.push_back(method("load", &C::load, {"brain"}));
    of.methods.push_back(method("reset", &C::reset));
    of.signals.push_back({"finished",
                          {{"entry", GDEXTENSION_VARIANT_TYPE_STRING, ""},
                           {"outputs", GDEXTENSION_VARIANT_TYPE_DICTIONARY, ""}}});
    return of;
}

Class agents_class() {
    using C = AgentsResource;
    Class of{C::kName, [] { return new C; }, {}, {}, {}};
    add_opened<C>(of);
    of.methods.insert(
        of.methods.end(),
        {method("add", &C::add),
         method("remove", &C::remove, {"agent"}),
         method("count", &C::count),
         method("observation_size", &C::observation_size),
         method("action_size", &C::action_size),
         method("observe", &C::observe, {"agent", "observation"}),
         method("observe_fields", &C::observe_fields, {"agent", "observation"}),
         method("add_reward", &C::add_reward, {"agent", "amount"}),
         method("end_episode", &C::end_episode, {"agent", "is_truncated"}, {Variant(false)}),
         method("decide", &C::decide),
         method("wait", &C::wait),
         method("action", &C::action, {"agent"}),
         method("action_field", &C::action_field, {"agent", "name"}),
         method("freeze", &C::freeze, {"is_frozen"}, {Variant(true)}),
         method("status", &C::status),
         method("save", &C::save),
         method("save_game", &C::save_game),
         method("load", &C::load, {"brain"}),
         method("reset", &C::reset),
         method("set_exploration", &C::set_exploration, {"exploration"}),
         method("get_exploration", &C::get_exploration),
         method("set_threaded", &C::set_threaded, {"is_threaded"}),
         method("get_threaded", &C::get_threaded),
         method("set_saved_games", &C::set_saved_games, {"is_enabled"}),
         method("get_saved_games", &C::get_saved_games)});
    of.properties.push_back({{"exploration", GDEXTENSION_VARIANT_TYPE_FLOAT, ""}, 0, ""});
    of.properties.push_back({{"threaded", GDEXTENSION_VARIANT_TYPE_BOOL, ""}, 0, ""});
    of.properties.push_back({{"saved_games", GDEXTENSION_VARIANT_TYPE_BOOL, ""}, 0, ""});
    return of;
}

std::vector<Class> classes;

void initialize(void*, GDExtensionInitializationLevel level) {
    if (level == GDEXTENSION_INITIALIZATION_EDITOR)
        for (const Class& of : classes)
            load_documentation(
                read_file(std::string("res://addons/hearth/doc_classes/") + of.name + ".xml"));
    if (level != GDEXTENSION_INITIALIZATION_SCENE || !find_engine_methods()) return;
    classes = {package_class(), data_class<Brain>(), network_class(), agents_class()};
    for (Class& of : classes) register_class(of);
}

void deinitialize(void*, GDExtensionInitializationLevel level) {
    if (level != GDEXTENSION_INITIALIZATION_SCENE) return;
    for (auto of = classes.rbegin(); of != classes.rend(); ++of) unregister_class(*of);
    classes.clear();
    Host::release_kept();
}

}  // namespace
}  // namespace hearth_godot

#if defined(_WIN32)
#define HEARTH_GODOT_EXPORT __declspec(dllexport)
#else
#define HEARTH_GODOT_EXPORT __attribute__((visibility("default")))
#endif

/// The entry_symbol of hearth.gdextension. Returns false if Godot lacks a function of 4.2.
extern "C" HEARTH_GODOT_EXPORT GDExtensionBool
hearth_godot_init(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr library,
                  GDExtensionInitialization* out) {
    out->minimum_initialization_level = GDEXTENSION_INITIALIZATION_SCENE;
    out->userdata = nullptr;
    out->initialize = &hearth_godot::initialize;
    out->deinitialize = &hearth_godot::deinitialize;
    return hearth_godot::load_interface(get, library) ? 1 : 0;
}
