// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth train, hearth evaluate, hearth league: docs/how-to/training_before_shipping.md.

#include "native/open_device.hpp"
#include "train/devices.hpp"
#include "train/evaluate.hpp"
#include "train/trainer.hpp"

#include <hearth/file.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <programs/arguments.hpp>
#include <programs/json.hpp>
#include <programs/print.hpp>
#include <programs/streams.hpp>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace hearth::train {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string device;
    uint32_t threads = 1;
    std::string config, folder;
    bool resumes = false, as_json = false;
    std::vector<std::string> brains;
    int64_t episodes = 100;
    uint64_t seed = 1'000'000;
    std::string log;
};

/// Draws a progress bar on stderr if it is a terminal.
void draw_progress(const TrainProgress& p) {
    static const bool is_terminal = isatty(2) != 0;
    if (!is_terminal) return;
    constexpr int64_t kWidth = 30;
    const int64_t filled = std::min(p.steps, p.of) * kWidth / p.of;
    fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {} of {} steps, mean return {:.1f}  ", "", filled, "",
               kWidth - filled, p.steps, p.of, p.mean_return);
    if (p.steps >= p.of) fmt::print(stderr, "\n");
    std::fflush(stderr);
}

void print_note(const std::string& note) {
    programs::print_to(stderr, "hearth: {}\n", note);
}

Status run_train(standalone::Device& device, const Arguments& arguments, GradientReducer& ranks) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(arguments.config));
    const Result<TrainConfig> config =
        parse_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!config.ok()) return config.status().with_context(arguments.config);
    HEARTH_ASSIGN(const TrainOutcome outcome, train(device, *config,
                                                    {.folder = arguments.folder,
                                                     .resumes = arguments.resumes,
                                                     .on_progress = draw_progress,
                                                     .on_note = print_note,
                                                     .ranks = &ranks}));
    if (ranks.rank() > 0) return {};
    programs::print("{}: {} steps, mean return of the last 20 episodes {:.1f}\n", arguments.folder,
                    outcome.steps, outcome.mean_return);
    return {};
}

std::vector<uint64_t> seeds_from(uint64_t first, size_t count) {
    std::vector<uint64_t> seeds(count);
    std::iota(seeds.begin(), seeds.end(), first);
    return seeds;
}

Json json_of(const Evaluation& e, uint64_t seed) {
    return {{"task", e.task},
            {"episodes", e.returns.size()},
            {"seeds", seeds_from(seed, e.returns.size())},
            {"mean_return", e.mean()},
            {"deviation", e.deviation()},
            {"worst_return", e.worst()},
            {"success", e.success()},
            {"bar", e.bar},
            {"seconds", e.seconds},
            {"actions", e.actions},
            {"returns", e.returns}};
}

/// Writes a run log of returns per episode, for `hearth watch --png`.
Status write_curves(const std::string& path, const Evaluation& e) {
    std::string text =
        "{\"type\":\"run\",\"program\":\"evaluate " + e.task + "\",\"at\":\"episodes\"}\n";
    for (size_t i = 0; i < e.returns.size(); ++i)
        text += Json({{"type", "episode"},
                      {"at", i},
                      {"return", e.returns[i]},
                      {"length", e.lengths[i]}})
                    .dump() +
                "\n";
    return write_file_atomically(path, std::string_view(text));
}

void print_evaluation(const Evaluation& e) {
    programs::print("task          {}\nepisodes      {}\nreturn        {:.2f} (deviation {:.2f})\n",
                    e.task, e.returns.size(), e.mean(), e.deviation());
    programs::print("worst         {:.2f}\nsuccess       {:.1f} % reach {}\nseconds       {:.2f}\n",
                    e.worst(), 100 * e.success(), e.bar, e.seconds);
    const int64_t most = std::max<int64_t>(*std::ranges::max_element(e.actions), 1);
    int64_t all = 0;
    for (const int64_t count : e.actions) all += count;
    for (size_t i = 0; i < e.actions.size(); ++i)
        programs::print("action {:<6} {:5.1f} % {:#<{}}\n", i,
                        100.0 * static_cast<double>(e.actions[i]) / static_cast<double>(all), "",
                        e.actions[i] * 40 / most);
}

Status run_evaluate(standalone::Device& device, const Arguments& arguments, GradientReducer&) {
    HEARTH_ASSIGN(const Checkpoint checkpoint, read_checkpoint(arguments.brains[0]));
    HEARTH_ASSIGN(const Evaluation e,
                  evaluate(device, checkpoint, arguments.episodes, arguments.seed));
    if (!arguments.log.empty()) HEARTH_TRY(write_curves(arguments.log, e));
    if (arguments.as_json)
        programs::print("{}\n", json_of(e, arguments.seed).dump(2));
    else
        print_evaluation(e);
    return {};
}

/// A brain's results in seeded episodes: played now, or read from a file of `evaluate --json`.
struct Entrant {
    std::string task;
    std::vector<uint64_t> seeds;
    std::vector<double> returns;
};

template <class T>
bool read_list(const Json& json, const char* key, std::vector<T>& out) {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_array() || at->empty()) return false;
    for (const Json& one : *at) {
        if (std::is_integral_v<T> ? !one.is_number_unsigned() : !one.is_number()) return false;
        out.push_back(one.get<T>());
    }
    return true;
}

Result<Entrant> read_entrant(standalone::Device& device, const Arguments& arguments,
                             const std::string& path) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    Entrant entrant;
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos || text[first] != '{') {
        HEARTH_ASSIGN(const Checkpoint checkpoint, parse_checkpoint(bytes, path));
        HEARTH_ASSIGN(Evaluation e,
                      evaluate(device, checkpoint, arguments.episodes, arguments.seed));
        return Entrant{e.task, seeds_from(arguments.seed, e.returns.size()), std::move(e.returns)};
    }
    const Result<Json> parsed = programs::parse_json<Json>(text);
    if (!parsed.ok()) return parsed.status().with_context(path);
    const Json& json = *parsed;
    // hearth writes "task", python -m hearth "environment".
    for (const char* key : {"task", "environment"})
        if (const auto at = json.find(key); at != json.end() && at->is_string())
            entrant.task = at->get<std::string>();
    if (entrant.task.empty() || !read_list(json, "returns", entrant.returns) ||
        !read_list(json, "seeds", entrant.seeds) || entrant.seeds.size() != entrant.returns.size())
        return invalid_argument("'" + path +
                                "' is no evaluation: expected a task or environment, and as many "
                                "seeds as returns");
    return entrant;
}

Status run_league(standalone::Device& device, const Arguments& arguments, GradientReducer&) {
    std::vector<Entrant> entrants;
    std::vector<std::vector<double>> returns;
    for (const std::string& path : arguments.brains) {
        HEARTH_ASSIGN(Entrant e, read_entrant(device, arguments, path));
        if (!entrants.empty() && e.task != entrants[0].task)
            return invalid_argument("'" + path + "' plays " + e.task + ", expected " +
                                    entrants[0].task + " as the first one");
        if (!entrants.empty() && e.seeds != entrants[0].seeds)
            return invalid_argument("'" + path + "' played other seeds than the first one: " +
                                    std::to_string(e.seeds.size()) + " from " +
                                    std::to_string(e.seeds[0]) + ", expected " +
                                    std::to_string(entrants[0].seeds.size()) + " from " +
                                    std::to_string(entrants[0].seeds[0]));
        returns.push_back(e.returns);
        entrants.push_back(std::move(e));
    }
    const std::vector<Rating> ratings = rate(returns, arguments.seed);
    std::vector<size_t> order(ratings.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order,
                             [&](size_t a, size_t b) { return ratings[a].elo > ratings[b].elo; });
    Json all = Json::array();
    if (!arguments.as_json)
        programs::print("{:>7} {:>15} {:>10} {:>10}  brain\n", "Elo", "95 %", "return", "worst");
    for (const size_t i : order) {
        const Rating& r = ratings[i];
        const double count = static_cast<double>(returns[i].size());
        const double mean = std::accumulate(returns[i].begin(), returns[i].end(), 0.0) / count;
        const double worst = *std::ranges::min_element(returns[i]);
        if (arguments.as_json)
            all.push_back({{"brain", arguments.brains[i]},
                           {"elo", r.elo},
                           {"low", r.low},
                           {"high", r.high},
                           {"mean_return", mean},
                           {"worst_return", worst}});
        else
            programs::print("{:7.0f} {:>7.0f}-{:<7.0f} {:10.2f} {:10.2f}  {}\n", r.elo, r.low,
                            r.high, mean, worst, arguments.brains[i]);
    }
    if (arguments.as_json)
        programs::print(
            "{}\n",
            Json({{"task", entrants[0].task}, {"episodes", returns[0].size()}, {"brains", all}})
                .dump(2));
    return {};
}

int run_program(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Training before shipping (docs/how-to/training_before_shipping.md)", "hearth");
    app.require_subcommand(1);
    Status (*run)(standalone::Device&, const Arguments&, GradientReducer&) = nullptr;
    const auto add = [&](const char* name, const char* what, auto* function) {
        CLI::App* command = app.add_subcommand(name, what);
        command->add_option(
            "--device", arguments.device,
            "cpu: this machine's CPU; or the index of a GPU; default: the best GPU.");
        command->add_option("--threads", arguments.threads, "Threads of the CPU device.")
            ->check(programs::whole_number(1, 256));
        command->callback([&run, function] { run = function; });
        return command;
    };
    CLI::App* train = add("train", "Train a brain as a configuration says.", &run_train);
    train->add_option("config", arguments.config, "The configuration, JSON.")
        ->required()
        ->check(CLI::ExistingFile);
    train->add_option("-o,--out", arguments.folder, "Folder for last.brain and run.jsonl.")
        ->required();
    train->add_flag("--resume", arguments.resumes, "Go on from the folder's last.brain.");
    const auto add_playing = [&](CLI::App* command) {
        command->add_option("--episodes", arguments.episodes, "Episodes of each brain (100).")
            ->check(programs::whole_number(1, 1'000'000));
        command->add_option("--seed", arguments.seed, "Of the first episode (1000000).")
            ->check(programs::whole_number(0, uint64_t{1} << 62));
        command->add_flag("--json", arguments.as_json, "Print one JSON object instead of text.");
    };
    CLI::App* evaluate = add("evaluate", "Play seeded episodes without chance.", &run_evaluate);
    evaluate->add_option("brain", arguments.brains, "A brain that `train` wrote.")
        ->required()
        ->expected(1);
    add_playing(evaluate);
    evaluate->add_option("--log", arguments.log,
                         "Write returns by episode as a run log (hearth watch LOG --png FILE).");
    CLI::App* league = add("league", "Rate brains against each other (Elo).", &run_league);
    league
        ->add_option("brains", arguments.brains,
                     "Brains of one task that `train` wrote, or what `evaluate --json` printed.")
        ->required()
        ->expected(2, 64);
    add_playing(league);
    CLI11_PARSE(app, argc, argv);
    std::unique_ptr<GradientReducer> ranks;
    const auto result = [&]() -> Status {
        HEARTH_ASSIGN(ranks, join_ranks());
        std::string wish = arguments.device;
        if (ranks->size() > 1 && (wish.empty() || wish == "-1")) {
            HEARTH_ASSIGN(const auto instance, standalone::Instance::create());
            wish =
                std::to_string(device_of_rank(device_identities(*instance), ranks->local_rank()));
        }
        HEARTH_ASSIGN(const native::OpenDevice opened,
                      native::open_device(wish, {.threads = arguments.threads}));
        if (ranks->size() > 1)
            programs::print_to(stderr, "rank {} of {}: {}\n", ranks->rank(), ranks->size(),
                               opened.device->properties().deviceName);
        return run(*opened.device, arguments, *ranks);
    }();
    if (result.ok()) return 0;
    programs::print_to(stderr, "hearth: {}\n", result.message());
    if (ranks) ranks->abort(1);
    return 1;
}

}  // namespace
}  // namespace hearth::train

int main(int argc, char** argv) {
    return hearth::programs::run_program("hearth_train",
                                         [&] { return hearth::train::run_program(argc, argv); });
}
