// Reading: who of this process reads SQLite's files, so that all of them can be closed.
//
// Purpose: a store in doubt is opened as a start would open it (anew.hpp), and that needs that
//   nobody has it open. Readers rest with an open connection on threads that may do nothing for
//   hours, so whoever needs the file closes them.
// Thread safety: any thread; one mutex, held for a few instructions or a close.
// Invariants: a connection is opened, used and closed by its own thread under a ReadingPass, or
//   closed by NoReaders while there is none. A connection that was closed stays so.
// Cost: two locks of the mutex a read.
#pragma once

#include <holdfast/store/store.hpp>

#include <chrono>
#include <optional>

namespace holdfast::store {

/// What NoReaders closes.
class ReadingConnection {
public:
    ReadingConnection(ReadingConnection const&) = delete;
    ReadingConnection& operator=(ReadingConnection const&) = delete;

protected:
    ReadingConnection() = default;
    virtual ~ReadingConnection() = default;
    /// The last that a constructor does, and the first that a destructor does, which closes it: in
    /// between close() may be called.
    void join();
    void leave() noexcept;

private:
    friend class NoReaders;
    virtual void close() noexcept = 0;
};

/// While one lives no connection is closed under its user.
class ReadingPass {
public:
    enum class Length { short_read, long_read };  // a long one is not waited for
    /// Nothing: the files are to be closed.
    [[nodiscard]] static std::optional<ReadingPass> get(Length length) noexcept;
    ReadingPass(ReadingPass&& other) noexcept;
    ReadingPass& operator=(ReadingPass&&) = delete;
    ~ReadingPass();

private:
    explicit ReadingPass(Length length) noexcept : length_(length) {}
    std::optional<Length> length_;
};

/// Of whoever gets no pass; the same may work a moment later.
[[nodiscard]] StoreError no_readers_now();

/// While one lives and is granted, no reading connection of this process is open.
class NoReaders {
public:
    /// Waits for short reads that are under way.
    explicit NoReaders(std::chrono::milliseconds patience);
    ~NoReaders();
    NoReaders(NoReaders const&) = delete;
    NoReaders& operator=(NoReaders const&) = delete;
    [[nodiscard]] bool are_granted() const noexcept { return granted_; }

private:
    bool granted_{};
};

}  // namespace holdfast::store
