#include "api/keyed.hpp"

#include "api/authorization.hpp"
#include "api/kept_refusals.hpp"
#include "api/problems.hpp"

#include <holdfast/api/rate_limits.hpp>
#include <holdfast/base/assert.hpp>
#include <holdfast/base/log.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <initializer_list>
#include <new>
#include <openssl/evp.h>
#include <string>

namespace holdfast::api {
namespace {

using engine::AnswerBytes;
using engine::MarkHash;
using http::Reply;
using http::Request;

constexpr std::string_view line_end = "\r\n";

std::uint64_t little(unsigned char const* bytes) noexcept {
    std::uint64_t number = 0;
    for (unsigned i = 0; i < 8; ++i) number |= std::uint64_t{bytes[i]} << (8 * i);
    return number;
}

/// The parts with their lengths, so that no two lists of parts are the same bytes. It is part of
/// the journal: the same on every machine.
MarkHash hash_of(std::initializer_list<std::string_view> parts) {
    // Once: to fetch an algorithm takes a lock of the library. Without memory another time.
    static EVP_MD const* const sha256 = [] {
        EVP_MD const* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
        if (fetched == nullptr) throw std::bad_alloc();
        return fetched;
    }();
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> const context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    if (context == nullptr) throw std::bad_alloc();
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    bool good = EVP_DigestInit_ex(context.get(), sha256, nullptr) == 1;
    for (std::string_view const part : parts) {
        std::array<unsigned char, 8> length{};
        for (unsigned i = 0; i < 8; ++i)
            length[i] = static_cast<unsigned char>(std::uint64_t{part.size()} >> (8 * i));
        good = good && EVP_DigestUpdate(context.get(), length.data(), length.size()) == 1 &&
               EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
    }
    good = good && EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
    if (!good) throw std::bad_alloc();  // there is nothing else that it can lack
    return {little(digest.data()), little(digest.data() + 8)};
}

bool is_key(std::string_view key, std::size_t least) {
    return key.size() >= least && key.size() <= limits::key_bytes_max &&
           std::ranges::all_of(key, [](char c) { return c > ' ' && c < 0x7F; });
}

/// Replies that are kept as they are: `202 CR LF`, the headers, an empty line, the body; behind a
/// byte that is no code of a refusal.
constexpr std::byte whole_reply{0xFF};

AnswerBytes kept_text(Reply const& reply) {
    std::string text(1, static_cast<char>(whole_reply));
    text.append(std::to_string(reply.status)).append(line_end).append(reply.headers);
    text.append(line_end).append(reply.body);
    auto const bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

void write_whole(Reply& reply, std::span<std::byte const> kept) {
    std::string_view text(reinterpret_cast<char const*>(kept.data()), kept.size());
    text.remove_prefix(1);
    std::size_t const status_end = text.find(line_end);
    std::from_chars(text.data(), text.data() + status_end, reply.status);
    // Of the CR LF before the headers, too: with none of them the empty line follows at once.
    text.remove_prefix(status_end);
    std::size_t const headers_end = text.find("\r\n\r\n");
    reply.headers = text.substr(line_end.size(), headers_end);
    reply.body = text.substr(headers_end + 2 * line_end.size());
}

/// Whose share of the kept refusals it is: that of a network.
std::uint64_t share_of(Request const& request) noexcept {
    Network const network = network_of(request.peer);
    return little(network.data()) ^ little(network.data() + 8) * 0x9E3779B97F4A7C15U;
}

}  // namespace

Keyed::Keyed(Context const& context, Request const& request, Reply& reply) {
    if (!request.idempotency_key) return;
    Credentials const credentials = credentials_of(request);
    bool const holds = credentials.scheme == Credentials::Scheme::hold;
    begin(context, request, reply,
          holds ? std::optional<std::string_view>(credentials.token) : std::nullopt);
}

void Keyed::begin(Context const& context, Request const& request, Reply& reply,
                  std::optional<std::string_view> proof) {
    bool const staff = is_operator(credentials_of(request), context.admin_token);
    if (staff) proof.reset();
    std::string_view const who = staff ? "staff" : proof ? "holder" : "nobody";
    std::size_t const least = staff || proof ? 1 : limits::guest_key_bytes_min;
    std::string_view const key = *request.idempotency_key;
    engine::Mark const mark{
        hash_of({who, proof.value_or(std::string_view{}), key}),
        hash_of({http::to_string(request.method), request.path, request.query, request.body})};
    call_ = std::make_unique<Call>(Call{context.engine.marks(), request, reply, mark});
    if (!is_key(key, least)) {
        auto error = InputError{400, "", "idempotency-key"};
        error.more =
            bounds_text({static_cast<std::int64_t>(least), limits::key_bytes_max}, "bytes");
        return write_input_error(reply, request, error);
    }
    auto begun = call_->marks.begin(mark, request.received_at);
    using Kind = engine::Marks::Begun::Kind;
    switch (begun.kind) {
        case Kind::fresh:
            call_->is = Is::fresh;
            break;
        case Kind::in_flight:
            write_refusal(reply, request, {.code = RefusalCode::in_flight});
            break;
        case Kind::mismatch:
            write_refusal(reply, request, {.code = RefusalCode::idempotency_mismatch});
            break;
        case Kind::refused:
            reply.happened = !begun.answer.empty() && begun.answer.front() == whole_reply;
            if (reply.happened)
                write_whole(reply, begun.answer);
            else if (!write_kept(reply, request, begun.answer))
                return write_not_found(reply, request);
            reply.add_header("Idempotency-Replayed", "true");
            break;
        case Kind::answered: {
            reply.happened = true;
            auto answer = engine::decode_answer(begun.answer);
            if (!answer) return write_not_found(reply, request);
            call_->answer = std::move(*answer);
            call_->lsn = begun.lsn;
            call_->is = Is::again;
            break;
        }
    }
}

void Keyed::end() noexcept {
    bool const thrown = std::uncaught_exceptions() > exceptions_;
    try {
        if (thrown) call_->keeps = Keeps::nothing;  // the reply is half made
        if (call_->is == Is::again && call_->reply.status < 400) {
            call_->reply.lsn = call_->lsn;
            call_->reply.add_header("Idempotency-Replayed", "true");
        }
        // A refusal that waits for a record is made anew, and waits again.
        if (call_->is == Is::fresh && call_->reply.lsn == no_lsn) keep_refusal();
    } catch (std::bad_alloc const&) {
        log::error("no memory to keep a refusal, or to say that an answer is one again");
    }
    // Nothing but its place is left of a request that had no effect.
    if (call_->is == Is::fresh) call_->marks.forget(call_->mark);
}

void Keyed::refuse_again() {
    log::error("the answer to a key is of another kind than its request");
    write_not_found(call_->reply, call_->request);
    call_->is = Is::answered;
}

void Keyed::keep_refusal() {
    Reply& reply = call_->reply;
    TimePoint const now = call_->request.received_at;
    if (call_->keeps == Keeps::nothing) return;
    if (call_->keeps == Keeps::reply && reply.status < 300)
        return call_->marks.keep_reply(call_->mark, now, kept_text(reply));
    auto kept = kept_refusal(reply);
    if (!kept) return;
    std::optional<std::uint64_t> whose;
    if (!kept->by_nature) whose = share_of(call_->request);
    call_->marks.keep_refusal(call_->mark, now, std::move(kept->bytes), whose);
    make_final(reply);
}

std::optional<engine::HoldView> shown_again(Context const& context, Request const& request,
                                            Reply& reply, engine::HoldAnswer const& answer) {
    auto shown = context.engine.shown(answer);
    // Its event is there, as the replay has seen, but its seats may not be ready.
    if (!shown) write_refusal(reply, request, {.code = RefusalCode::overloaded});
    return shown;
}

}  // namespace holdfast::api
