// A folder of its own for a test or a benchmark, removed with the object.
#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast::test {

class TempFolder {
public:
    TempFolder() : TempFolder(std::filesystem::temp_directory_path()) {}
    explicit TempFolder(std::filesystem::path const& below) {
        std::string name = (below / "holdfast-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw std::system_error(errno, std::generic_category(), "a folder " + name);
        path_ = name;
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(TempFolder const&) = delete;
    TempFolder& operator=(TempFolder const&) = delete;

    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
    /// Writes a file of that name with mode 0600 and returns its path.
    std::filesystem::path write(std::string_view name, std::string_view text) const {
        auto const file = path_ / name;
        std::ofstream(file, std::ios::binary) << text;
        std::filesystem::permissions(
            file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        return file;
    }

private:
    std::filesystem::path path_;
};

inline std::string read_file(std::filesystem::path const& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace holdfast::test
