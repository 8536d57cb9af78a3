// A folder of its own for a test, removed with the object.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <string_view>

namespace holdfast::test {

class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
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
