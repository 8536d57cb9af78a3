// What a server answers about its backups, as far as `holdfast backup` wants to know.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::app {

/// Members that are missing, or of another kind, stay empty.
struct BackupAnswer {
    std::string code;  // of a problem document
    std::string state;
    std::string began_at;
    std::string title;   // of a problem document
    std::string detail;  // of a problem document, why it is refused
    std::string why;     // it failed
    int exit_code{};
};

[[nodiscard]] BackupAnswer read_backup_answer(std::string_view body);

/// What a person is told of an answer that is none of those that were asked for.
[[nodiscard]] std::string sentence_of(unsigned status, BackupAnswer const& answer);

}  // namespace holdfast::app
