#include "app/config_file.hpp"

#include "app/option_table.hpp"

#include <holdfast/base/descriptor.hpp>
#include <holdfast/base/log_text.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>

namespace holdfast::app {
/// toml++ 3.3 asserts on some malformed input ("[[["), which must refuse the file, not abort.
[[noreturn]] inline void refuse_malformed() {
    throw std::invalid_argument("is not TOML");
}
}  // namespace holdfast::app
#define TOML_ASSERT(fact) ((fact) ? void() : ::holdfast::app::refuse_malformed())
#undef NDEBUG  // with it toml++ takes its assertions for granted, and undoes ours
#include <toml++/toml.h>
#include <unistd.h>

namespace holdfast::app {
namespace {

constexpr off_t file_bytes_max = 1 << 20;
constexpr std::size_t shown_bytes_max = 64;

struct FileText {
    std::string text;
    bool open_to_all{};  // somebody who is neither owner nor in the group may read or write it
};

ConfigError error_at(std::filesystem::path const& file, std::size_t line, std::string const& what) {
    return {file.string() + ":" + std::to_string(line) + ": " + what};
}

ConfigError file_error(std::filesystem::path const& file, std::string const& what) {
    return {file.string() + ": " + what};
}

ResultOf<FileText, ConfigError> read_text(std::filesystem::path const& file) {
    // O_NONBLOCK: a pipe in the place of the file must not stop the start for ever.
    Descriptor const in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!in.is_open()) return file_error(file, std::strerror(errno));
    struct stat status{};
    bool const known = ::fstat(in.get(), &status) == 0;
    FileText result;
    result.open_to_all = (status.st_mode & (S_IROTH | S_IWOTH)) != 0;
    bool const acceptable = known && S_ISREG(status.st_mode) && status.st_size <= file_bytes_max;
    bool whole = false;
    if (acceptable) {
        result.text.resize(static_cast<std::size_t>(status.st_size));
        ssize_t const got = ::pread(in.get(), result.text.data(), result.text.size(), 0);
        whole = got == status.st_size;
    }
    if (known && !S_ISREG(status.st_mode)) return file_error(file, "is not a regular file");
    if (!acceptable) return file_error(file, "is larger than 1 MiB, which no configuration is");
    if (!whole) return file_error(file, "cannot be read");
    return result;
}

std::string escaped(std::string_view text) {
    std::string out;
    log::append_json_text(out, text, shown_bytes_max);
    return out;
}

std::string shown(Option const& option, toml::node const& node) {
    if (option.secret()) return "(not shown)";
    if (auto const* text = node.as_string()) return escaped(text->get());
    std::ostringstream stream;
    node.visit([&stream](auto const& value) { stream << value; });
    std::string text = stream.str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (text.size() > shown_bytes_max) text = text.substr(0, shown_bytes_max) + "…";
    return text;
}

RawValue raw_value(toml::node const& node) {
    if (auto const* number = node.as_integer()) return number->get();
    if (auto const* flag = node.as_boolean()) return flag->get();
    if (auto const* text = node.as_string()) return text->get();
    return {};
}

bool is_section(std::string_view name) {
    auto const table = option_table();
    return std::any_of(table.begin(), table.end(),
                       [name](Option const& option) { return option.section == name; });
}

Option const* find_option(std::string_view section, std::string_view key) {
    for (Option const& option : option_table()) {
        if (option.section == section && option.key == key) return &option;
    }
    return nullptr;
}

std::string keys_of(std::string_view section) {
    std::string names;
    for (Option const& option : option_table()) {
        if (option.section != section) continue;
        if (!names.empty()) names += ", ";
        names += option.key;
    }
    return names;
}

std::string section_names() {
    std::string names;
    std::string_view last;
    for (Option const& option : option_table()) {
        if (option.section == last) continue;
        names += (last.empty() ? "[" : ", [") + std::string(option.section) + "]";
        last = option.section;
    }
    return names;
}

class Applier {
public:
    Applier(std::filesystem::path const& file, bool open_to_all, Config& config)
        : file_(file), open_to_all_(open_to_all), config_(config) {}

    std::optional<ConfigError> document(toml::table const& root) {
        for (auto const& [name, node] : root) {
            std::size_t const line = name.source().begin.line;
            if (!is_section(name.str()) || !node.is_table()) {
                return error_at(file_, line,
                                escaped(name.str()) +
                                    " is no section of holdfast; the sections are " +
                                    section_names());
            }
            if (auto error = section(name.str(), *node.as_table())) return error;
        }
        return {};
    }

private:
    std::optional<ConfigError> section(std::string_view name, toml::table const& table) {
        for (auto const& [key, node] : table) {
            Option const* const option = find_option(name, key.str());
            std::size_t const line = key.source().begin.line;
            if (option == nullptr) {
                return error_at(file_, line,
                                "unknown key " + escaped(key.str()) + " in [" + std::string(name) +
                                    "]; its keys are " + keys_of(name));
            }
            if (!option->set(config_, raw_value(node))) {
                return error_at(file_, line,
                                option->name() + " = " + shown(*option, node) + ": must be " +
                                    option->allowed());
            }
            bool const given = node.is_string() && !node.as_string()->get().empty();
            if (option->secret() && given && open_to_all_) {
                return error_at(file_, line,
                                option->name() +
                                    " is a secret and everybody may read or write this file; "
                                    "chmod it to 0600 (or 0640)");
            }
        }
        return {};
    }

    std::filesystem::path const& file_;
    bool open_to_all_;
    Config& config_;
};

}  // namespace

std::optional<ConfigError> apply_config_file(std::filesystem::path const& file, Config& config) {
    auto const text = read_text(file);
    if (!text) return text.error();
    toml::table root;
    try {
        root = toml::parse(text->text, file.string());
    } catch (toml::parse_error const& error) {
        return error_at(file, error.source().begin.line, std::string(error.description()));
    } catch (std::invalid_argument const& error) {
        return file_error(file, error.what());
    }
    return Applier(file, text->open_to_all, config).document(root);
}

}  // namespace holdfast::app
