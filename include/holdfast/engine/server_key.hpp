// ServerKey: ids and tokens that need no table.
//
// Purpose: a hold's public id is one AES-128 block over {event, hold reference, zeros} and its
//   token a second AES block, under another key, over the id's block: a pseudo-random function of
//   the id, so it proves the holder, and leads back to the id. A ticket's id is a third over
//   {order, seat}. All are made again from the same input: replays agree, nothing secret is stored.
// Thread safety: const after construction; any thread.
// Invariants: parse_hold_id accepts only text this key has made (the block must end in zeros).
// Cost: about 100 ns a call, no allocation beyond the string; text is lower-case base32 (RFC 4648
//   alphabet, no padding), 26 characters for 128 bits.
#pragma once

#include <holdfast/domain/ids.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::engine {

struct HoldName {
    EventId event{};
    HoldRef ref{};
    friend bool operator==(HoldName const&, HoldName const&) = default;
};

/// What tells a hold and proves it, without an allocation.
class HoldTexts {
public:
    [[nodiscard]] std::string_view id() const noexcept { return {id_.data(), id_.size()}; }
    [[nodiscard]] std::string_view token() const noexcept { return {token_.data(), token_.size()}; }

private:
    friend class ServerKey;
    std::array<char, 28> id_;
    std::array<char, 26> token_;
};

/// Why the file of a key that is there cannot be used.
class KeyFileFault : public std::runtime_error {
public:
    enum class Kind {
        not_private,  // others may read it, or it is no file
        damaged,      // it does not say what was written
        of_another,   // it is whole, and of another server
    };
    KeyFileFault(Kind kind, std::string const& what) : std::runtime_error(what), kind_(kind) {}
    [[nodiscard]] Kind kind() const noexcept { return kind_; }

private:
    Kind kind_;
};

class ServerKey {
public:
    using Secret = std::array<std::uint8_t, 32>;
    /// What the journal and the store of the key's server have, too.
    using StoreId = std::array<std::uint8_t, 16>;
    explicit ServerKey(Secret const& secret);
    ~ServerKey();
    ServerKey(ServerKey&&) noexcept;
    /// Reads `file` and checks it. Throws KeyFileFault, or std::system_error if it is missing or
    /// cannot be opened or read; both name the file.
    [[nodiscard]] static ServerKey load(std::filesystem::path const& file, StoreId const& store_id);
    /// The same, but makes a file that is missing (mode 0600, random, synced with its folder).
    [[nodiscard]] static ServerKey load_or_make(std::filesystem::path const& file,
                                                StoreId const& store_id);

    [[nodiscard]] std::string hold_id(HoldName const& hold) const;  // "h_" + 26 characters
    [[nodiscard]] std::optional<HoldName> parse_hold_id(std::string_view text) const;
    [[nodiscard]] std::string token(HoldName const& hold) const;  // 26 characters
    [[nodiscard]] HoldTexts texts(HoldName const& hold) const;    // both at once
    /// Constant time.
    [[nodiscard]] bool token_fits(HoldName const& hold, std::string_view token) const;
    /// Whose token it is, if this key has made it; of others one in 2^32 passes. For counting only:
    /// who may touch a hold is told by token_fits().
    [[nodiscard]] std::optional<HoldName> hold_of_token(std::string_view token) const;
    [[nodiscard]] TicketId ticket_id(OrderId const& order, EventId event, SeatIndex seat) const;

private:
    struct Ciphers;
    std::unique_ptr<Ciphers> ciphers_;
};

/// 128 random bits from the kernel.
[[nodiscard]] OrderId make_order_id();
[[nodiscard]] std::string to_text(OrderId const& order);  // "o_" + 26 characters
[[nodiscard]] std::optional<OrderId> parse_order_id(std::string_view text) noexcept;
[[nodiscard]] std::string to_text(TicketId const& ticket);  // "t_" + 26 characters

}  // namespace holdfast::engine
