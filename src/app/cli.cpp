#include "app/cli.hpp"

#include "app/exit_codes.hpp"
#include "app/option_table.hpp"

#include <holdfast/base/log_text.hpp>
#include <holdfast/domain/limits.hpp>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

namespace holdfast::app {
namespace {

/// What the options write into while CLI11 parses.
struct Parsed {
    std::map<std::string, std::string> flags;
    std::string config_file;
    bool demo{};
    ImportCommand import;
    BackupCommand backup;
    std::string import_format;
    std::vector<std::string> prices;
    loadgen::SaleOptions sale;
    bench::EngineBenchOptions engine;
    std::string check_file;
    VerifyCommand verify;
    AuditCommand audit;
    RebuildCommand rebuild;
    SalvageCommand salvage;
};

void add_serve(CLI::App& root, Parsed& parsed) {
    CLI::App* const serve = root.add_subcommand(
        "serve",
        "Run the server. Every key of config.toml can also be set in the environment, as "
        "HOLDFAST_SECTION_KEY; flags win over it.");
    serve->add_option("--config", parsed.config_file,
                      "Configuration file; without it none is read");
    for (Option const& option : option_table()) {
        if (option.flag.empty()) continue;
        std::string const flag(option.flag);
        auto const keep = [&parsed, flag](std::string const& text) { parsed.flags[flag] = text; };
        serve->add_option_function<std::string>(flag, keep, std::string(option.help));
    }
    serve->add_flag("--demo", parsed.demo, "Make the event \"demo\" and open it, if it is missing");
}

void add_import(CLI::App& root, Parsed& parsed) {
    CLI::App* const import =
        root.add_subcommand("import", "Check a seating plan and send it to a running server");
    ImportCommand& command = parsed.import;
    import->add_option("file", command.file, "The plan, as its vendor writes it")->required();
    import->add_option("--format", parsed.import_format, "Format of the plan")
        ->required()
        ->check(CLI::IsMember({"pretix", "seatsio"}));
    import->add_flag("--dry-run", command.dry_run, "Only report what is odd; send nothing");
    import->add_flag("--disambiguate", command.disambiguate,
                     "Name seats whose id stands twice SECTION/ROW/LABEL/SEAT, ROW counted from 0 "
                     "(Stalls/0/A/1), for good");
    import->add_flag("--publish", command.publish, "Put the event on sale at once");
    import
        ->add_option("--url", command.url,
                     "Server, by plain HTTP; of one with TLS the admin listener")
        ->capture_default_str();
    import->add_option("--token", command.token, "Operator's token")
        ->envname("HOLDFAST_ADMIN_TOKEN");
    import->add_option("--id", command.id, "Id of the event; else made from the name");
    import->add_option("--name", command.name, "Name of the event; else the plan's own");
    import
        ->add_option("--price", parsed.prices,
                     "CATEGORY=AMOUNT: key or name of a category, and an integer in minor units "
                     "(4500, not 45.00); repeatable")
        ->allow_extra_args(false);
}

void add_backup(CLI::App& root, Parsed& parsed) {
    CLI::App* const backup = root.add_subcommand(
        "backup", "Copy a data folder, also under its running server, into a new folder");
    BackupCommand& command = parsed.backup;
    backup->add_option("--data", command.data, "Data folder")->required();
    backup->add_option("--to", command.target, "Folder to make; may be there if it is empty")
        ->required();
    backup->add_option("--url", command.url,
                       "Admin listener of the folder's server; else as it has announced it");
    backup->add_option("--token", command.token, "Operator's token; else DATA/admin.token")
        ->envname("HOLDFAST_ADMIN_TOKEN");
}

void add_bench(CLI::App& root, Parsed& parsed) {
    CLI::App* const bench = root.add_subcommand("bench", "Measure and check");
    bench->require_subcommand(1);
    CLI::App* const sale =
        bench->add_subcommand("sale", "Sell out a venue over HTTP and check every promise");
    loadgen::SaleOptions& options = parsed.sale;
    sale->add_option("--url", options.url,
                     "Running server, by plain HTTP; the event that is made there, bench-…, stays "
                     "there, and if hold.ttl_min_s is over 2 a sale takes half a minute or more. "
                     "Without it a server is started for the bench");
    sale->add_option("--token", options.admin_token, "Operator's token, with --url")
        ->envname("HOLDFAST_ADMIN_TOKEN");
    sale->add_option("--plan", options.plan,
                     "Plan in the pretix or seats.io format; else the demo plan");
    sale->add_option("--clients", options.clients, "Buyers at a time")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    sale->add_option("--seed", options.seed, "Seed of the buyers' choices")->capture_default_str();
    sale->add_flag("--json", options.json, "Report as JSON");
    CLI::App* const engine =
        bench->add_subcommand("engine", "Measure the inventory and the verbs, without a disk");
    engine->add_flag("--json", parsed.engine.json, "One JSON object");
    engine->add_flag("--quick", parsed.engine.quick,
                     "A small event, once: whether it works, not how fast");
}

void add_folder_commands(CLI::App& root, Parsed& parsed) {
    auto const add = [&root](char const* name, char const* help, std::filesystem::path& data) {
        CLI::App* const command = root.add_subcommand(name, help);
        command->add_option("--data", data, "The data folder; no server may have it")->required();
        return command;
    };
    add("verify", "Try the start of a server on a copy of a data folder, and say what it has",
        parsed.verify.data);
    add("audit", "Recount seats, orders and sums from the journal and compare store.db",
        parsed.audit.data);
    CLI::App* const rebuild =
        add("rebuild", "Make store.db anew from the journal", parsed.rebuild.data);
    rebuild->add_option("--from", parsed.rebuild.backup,
                        "A backup whose store.db to begin with; needed if segments were deleted or "
                        "the events of store.db cannot be read");
    rebuild->add_flag("--lose-events", parsed.rebuild.lose_events,
                      "Go on without the events that neither store.db nor the backup has");
}

void add_salvage(CLI::App& root, Parsed& parsed) {
    CLI::App* const salvage = root.add_subcommand(
        "salvage",
        "Say what is lost in a damaged journal, and keep the rest.\n"
        "Without --to it only reports. With --to it makes a folder there of all that is whole "
        "before the first damage: acknowledged records behind it are lost for good, so that a "
        "backup with its journals is better if there is one. The damaged folder is not changed.");
    salvage->add_option("--data", parsed.salvage.data, "The data folder; no server may have it")
        ->required();
    salvage->add_option("--to", parsed.salvage.target, "A new or empty folder for what is whole");
}

/// Each command is told with its own name and with what it cannot do without.
class Usage : public CLI::Formatter {
public:
    std::string make_usage(CLI::App const* app, std::string) const override {
        std::string words = app->get_name();
        for (auto const* parent = app->get_parent(); parent != nullptr;
             parent = parent->get_parent()) {
            words.insert(0, parent->get_name() + " ");
        }
        std::string needed;
        for (CLI::Option const* const option : app->get_options()) {
            if (option->get_required() && option->nonpositional())
                needed += " " + option->get_name() + " " + option->get_type_name();
        }
        std::string const usual = CLI::Formatter::make_usage(app, words);
        auto const end = usual.find(words) + words.size();
        return usual.substr(0, end) + needed + usual.substr(end);
    }
};

/// What CLI11 found wrong, and the word that no command knows if that is the reason.
std::string text_of(std::string const& failure, CLI::App const& root) {
    auto const unknown = root.remaining(true);
    if (unknown.empty()) return "holdfast: " + failure;
    std::string shown;
    log::append_json_text(shown, unknown.front(), 64);
    return "holdfast: " + shown + " is no command or argument here\n" + failure;
}

/// `CATEGORY=AMOUNT`; the category may hold '=' itself.
bool parse_price(std::string const& text, std::map<std::string, std::int64_t>& prices) {
    auto const equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return false;
    std::int64_t amount = 0;
    char const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data() + equals + 1, end, amount);
    bool const fits = error == std::errc{} && stop == end && amount >= 0;
    return fits && amount <= limits::price_max &&
           prices.emplace(text.substr(0, equals), amount).second;
}

ResultOf<Command, NoCommand> import_command(Parsed& parsed) {
    for (std::string const& price : parsed.prices) {
        if (parse_price(price, parsed.import.prices)) continue;
        return NoCommand{exit_wrong_usage,
                         "holdfast: --price " + price +
                             ": must be CATEGORY=AMOUNT, an integer in minor units (4500, not "
                             "45.00), once a category\n"};
    }
    parsed.import.format = *services::parse_plan_format(parsed.import_format);
    return Command(parsed.import);
}

ResultOf<Command, NoCommand> chosen(CLI::App const& root, Parsed& parsed) {
    if (root.got_subcommand("serve")) {
        ServeCommand serve;
        if (!parsed.config_file.empty()) serve.sources.file = parsed.config_file;
        serve.sources.environment = process_environment();
        serve.sources.flags = parsed.flags;
        serve.demo = parsed.demo;
        return Command(serve);
    }
    if (root.got_subcommand("import")) return import_command(parsed);
    if (root.got_subcommand("backup")) return Command(parsed.backup);
    if (root.got_subcommand("bench")) {
        if (root.get_subcommand("bench")->got_subcommand("engine"))
            return Command(BenchEngineCommand{parsed.engine});
        return Command(BenchSaleCommand{parsed.sale});
    }
    if (root.got_subcommand("verify")) return Command(parsed.verify);
    if (root.got_subcommand("audit")) return Command(parsed.audit);
    if (root.got_subcommand("rebuild")) return Command(parsed.rebuild);
    if (root.got_subcommand("salvage")) return Command(parsed.salvage);
    if (root.got_subcommand("check-config")) return Command(CheckConfigCommand{parsed.check_file});
    return Command(VersionCommand{});
}

}  // namespace

ResultOf<Command, NoCommand> parse_command_line(int count, char const* const* words) {
    Parsed parsed;
    CLI::App root("holdfast " HOLDFAST_VERSION ": sells scarce seats, each of them once",
                  "holdfast");
    root.formatter(std::make_shared<Usage>());
    root.require_subcommand(1);
    root.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
    root.failure_message(CLI::FailureMessage::simple);
    add_serve(root, parsed);
    add_bench(root, parsed);
    add_import(root, parsed);
    add_backup(root, parsed);
    add_folder_commands(root, parsed);
    add_salvage(root, parsed);
    root.add_subcommand("check-config", "Check a configuration file, with the environment over it")
        ->add_option("file", parsed.check_file, "The file")
        ->required();
    root.add_subcommand("version", "Print the version");
    try {
        root.parse(count, words);
    } catch (CLI::ParseError const& error) {
        std::ostringstream out;
        std::ostringstream failure;
        // CLI11 has many codes above 100; for us there is help, and there is wrong usage.
        bool const help = root.exit(error, out, failure) == 0;
        return NoCommand{help ? exit_ok : exit_wrong_usage,
                         help ? out.str() : text_of(failure.str(), root)};
    }
    return chosen(root, parsed);
}

}  // namespace holdfast::app
