#include "engine/base32.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/entropy.hpp>
#include <holdfast/engine/server_key.hpp>

#include <bit>
#include <cstring>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <stdexcept>

namespace holdfast::engine {
namespace {

static_assert(std::endian::native == std::endian::little, "blocks are laid out by memcpy");

struct FreeCipher {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

/// HKDF (RFC 5869) with SHA-256, no salt, and the purpose as `info`.
Block derive(ServerKey::Secret const& secret, std::string_view purpose) {
    std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> const kdf(
        EVP_KDF_fetch(nullptr, "HKDF", nullptr), &EVP_KDF_free);
    if (kdf == nullptr) throw std::runtime_error("OpenSSL offers no HKDF");
    std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> const context(
        EVP_KDF_CTX_new(kdf.get()), &EVP_KDF_CTX_free);
    // OSSL_PARAM wants pointers to non-const; nothing is written through them.
    std::string digest = "SHA256";
    ServerKey::Secret key = secret;
    std::string info(purpose);
    OSSL_PARAM const parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.data(), key.size()),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
        OSSL_PARAM_construct_end()};
    Block out{};
    int const done =
        context != nullptr ? EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) : 0;
    OPENSSL_cleanse(key.data(), key.size());
    if (done != 1) throw std::runtime_error("OpenSSL cannot derive keys (HKDF, SHA-256)");
    return out;
}

/// The cipher itself was there at the start (derive), so all that can be missing is memory.
CipherContext make_context(Block const& key, bool encrypt) {
    CipherContext context(EVP_CIPHER_CTX_new());
    if (context == nullptr) throw std::bad_alloc();
    int const ready = EVP_CipherInit_ex2(context.get(), EVP_aes_128_ecb(), key.data(), nullptr,
                                         encrypt ? 1 : 0, nullptr);
    if (ready != 1) throw std::bad_alloc();
    HOLDFAST_ASSERT(EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1);
    return context;
}

Block run(CipherContext const& context, Block const& in) {
    Block out{};
    int length = 0;
    int const done = EVP_CipherUpdate(context.get(), out.data(), &length, in.data(),
                                      static_cast<int>(in.size()));
    HOLDFAST_ASSERT(done == 1);
    HOLDFAST_ASSERT(length == static_cast<int>(out.size()));
    return out;
}

template <class Number>
void put(Block& block, std::size_t at, Number number) {
    std::memcpy(block.data() + at, &number, sizeof number);
}
template <class Number>
Number get(Block const& block, std::size_t at) {
    Number number{};
    std::memcpy(&number, block.data() + at, sizeof number);
    return number;
}

constexpr std::size_t event_at = 0;
constexpr std::size_t ref_at = 4;
constexpr std::size_t zeros_at = 12;

/// What this key did not make decrypts to noise; the zeros let one in 2^32 of it pass, and that
/// still needs the token.
std::optional<HoldName> name_in(Block const& plain) noexcept {
    if (get<std::uint32_t>(plain, zeros_at) != 0) return std::nullopt;
    return HoldName{EventId{get<std::uint32_t>(plain, event_at)},
                    HoldRef{get<std::uint64_t>(plain, ref_at)}};
}

Block random_block() {
    Block block{};
    system_entropy().fill(std::as_writable_bytes(std::span{block}));
    return block;
}

std::string with_prefix(std::string_view prefix, Block const& block) {
    std::string text;
    text.reserve(prefix.size() + block_text_bytes);
    text.append(prefix);
    append_base32(text, block);
    return text;
}

std::optional<Block> without_prefix(std::string_view prefix, std::string_view text) noexcept {
    if (!text.starts_with(prefix)) return std::nullopt;
    return parse_base32(text.substr(prefix.size()));
}

}  // namespace

/// The three derived keys. An EVP context must not be shared by threads, so each thread keeps its
/// own set and re-keys it when another ServerKey is used on it (only tests have two).
struct ServerKey::Ciphers {
    struct Keys {
        Block id{};
        Block token{};
        Block ticket{};
    };
    struct OfThread {
        Keys keys;
        CipherContext seal_id, open_id, token, open_token, ticket;
        ~OfThread() { OPENSSL_cleanse(&keys, sizeof keys); }
    };

    Keys keys;

    ~Ciphers() { OPENSSL_cleanse(&keys, sizeof keys); }

    [[nodiscard]] OfThread const& contexts() const {
        static_assert(std::is_trivially_copyable_v<Keys> && sizeof(Keys) == 3 * sizeof(Block));
        thread_local OfThread mine;
        // Nobody outside has a say in what is compared here, so its time tells nothing.
        bool const ready =
            mine.seal_id != nullptr && std::memcmp(&mine.keys, &keys, sizeof keys) == 0;
        if (!ready) {
            // All or none: without memory for one the next call makes them anew.
            auto seal_id = make_context(keys.id, true);
            auto open_id = make_context(keys.id, false);
            auto token = make_context(keys.token, true);
            auto open_token = make_context(keys.token, false);
            auto ticket = make_context(keys.ticket, true);
            mine.keys = keys;
            mine.seal_id = std::move(seal_id);
            mine.open_id = std::move(open_id);
            mine.token = std::move(token);
            mine.open_token = std::move(open_token);
            mine.ticket = std::move(ticket);
        }
        return mine;
    }
    [[nodiscard]] Block id_block(HoldName const& hold) const {
        Block plain{};
        put(plain, event_at, hold.event.value());
        put(plain, ref_at, hold.ref.bits());
        return run(contexts().seal_id, plain);
    }
};

ServerKey::ServerKey(Secret const& secret) : ciphers_(std::make_unique<Ciphers>()) {
    ciphers_->keys.id = derive(secret, "holdfast hold id v1");
    ciphers_->keys.token = derive(secret, "holdfast hold token v1");
    ciphers_->keys.ticket = derive(secret, "holdfast ticket id v1");
}
ServerKey::~ServerKey() = default;
ServerKey::ServerKey(ServerKey&&) noexcept = default;

std::string ServerKey::hold_id(HoldName const& hold) const {
    return with_prefix("h_", ciphers_->id_block(hold));
}

std::optional<HoldName> ServerKey::parse_hold_id(std::string_view text) const {
    auto const sealed = without_prefix("h_", text);
    if (!sealed) return std::nullopt;
    return name_in(run(ciphers_->contexts().open_id, *sealed));
}

std::string ServerKey::token(HoldName const& hold) const {
    return with_prefix("", run(ciphers_->contexts().token, ciphers_->id_block(hold)));
}

HoldTexts ServerKey::texts(HoldName const& hold) const {
    Block const id = ciphers_->id_block(hold);
    HoldTexts texts;
    texts.id_[0] = 'h';
    texts.id_[1] = '_';
    write_base32(id, std::span(texts.id_).subspan<2>());
    write_base32(run(ciphers_->contexts().token, id), texts.token_);
    return texts;
}

bool ServerKey::token_fits(HoldName const& hold, std::string_view token) const {
    auto const given = parse_base32(token);
    if (!given) return false;
    Block const right = run(ciphers_->contexts().token, ciphers_->id_block(hold));
    return CRYPTO_memcmp(given->data(), right.data(), right.size()) == 0;
}

std::optional<HoldName> ServerKey::hold_of_token(std::string_view token) const {
    auto const given = parse_base32(token);
    if (!given) return std::nullopt;
    Ciphers::OfThread const& mine = ciphers_->contexts();
    return name_in(run(mine.open_id, run(mine.open_token, *given)));
}

TicketId ServerKey::ticket_id(OrderId const& order, EventId event, SeatIndex seat) const {
    // CBC-MAC over exactly two blocks, so no input is the beginning of another.
    auto const& cipher = ciphers_->contexts().ticket;
    Block block{};
    put(block, 0, order.high);
    put(block, 8, order.low);
    block = run(cipher, block);
    Block second{};
    put(second, 0, event.value());
    put(second, 4, seat.value());
    for (std::size_t i = 0; i < block.size(); ++i) block[i] ^= second[i];
    return TicketId{run(cipher, block)};
}

OrderId make_order_id() {
    OrderId order;
    do {
        Block const block = random_block();
        order = {get<std::uint64_t>(block, 0), get<std::uint64_t>(block, 8)};
    } while (order == OrderId{});  // zero means "no order"
    return order;
}

std::string to_text(OrderId const& order) {
    Block block{};
    put(block, 0, order.high);
    put(block, 8, order.low);
    return with_prefix("o_", block);
}

std::optional<OrderId> parse_order_id(std::string_view text) noexcept {
    auto const block = without_prefix("o_", text);
    if (!block) return std::nullopt;
    OrderId const order{get<std::uint64_t>(*block, 0), get<std::uint64_t>(*block, 8)};
    if (order == OrderId{}) return std::nullopt;
    return order;
}

std::string to_text(TicketId const& ticket) {
    return with_prefix("t_", ticket.bytes);
}

}  // namespace holdfast::engine
