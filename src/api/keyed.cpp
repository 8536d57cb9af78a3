#include "api/keyed.hpp"

#include "api/authorization.hpp"
#include "api/problems.hpp"

#include <holdfast/base/log.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <new>
#include <openssl/evp.h>
#include <string>

namespace holdfast::api {
namespace {

using engine::MarkHash;
using http::Reply;
using http::Request;

constexpr std::string_view line_end = "\r\n";

/// The parts with their lengths, so that no two lists of parts are the same bytes.
MarkHash hash_of(std::initializer_list<std::string_view> parts) {
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> const context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
    for (std::string_view const part : parts) {
        std::uint64_t const length = part.size();
        good = good && EVP_DigestUpdate(context.get(), &length, sizeof length) == 1 &&
               EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
    }
    good = good && EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
    HOLDFAST_ASSERT(good);
    MarkHash hash;
    std::memcpy(&hash.high, digest.data(), sizeof hash.high);
    std::memcpy(&hash.low, digest.data() + sizeof hash.high, sizeof hash.low);
    return hash;
}

bool is_key(std::string_view key, std::size_t least) {
    return key.size() >= least && key.size() <= limits::key_bytes_max &&
           std::ranges::all_of(key, [](char c) { return c > ' ' && c < 0x7F; });
}

/// `409 CR LF`, the headers, an empty line, the body.
std::string kept_text(Reply const& reply) {
    std::string text = std::to_string(reply.status);
    return text.append(line_end).append(reply.headers).append(line_end).append(reply.body);
}

void write_kept(Reply& reply, std::span<std::byte const> kept) {
    std::string_view text(reinterpret_cast<char const*>(kept.data()), kept.size());
    std::size_t const status_end = text.find(line_end);
    HOLDFAST_ASSERT(status_end != std::string_view::npos);
    std::from_chars(text.data(), text.data() + status_end, reply.status);
    // Of the CR LF before the headers, too: with none of them the empty line follows at once.
    text.remove_prefix(status_end);
    std::size_t const headers_end = text.find("\r\n\r\n");
    HOLDFAST_ASSERT(headers_end != std::string_view::npos);
    reply.headers = text.substr(line_end.size(), headers_end);
    reply.body = text.substr(headers_end + 2 * line_end.size());
    if (reply.status >= 400) reply.content_type = "application/problem+json";
}

/// Refusals that were decided; not those that say when to try the same again.
bool is_kept(Reply const& reply) noexcept {
    bool const decided = reply.status == 402 || reply.status == 409 || reply.status == 410;
    return decided && reply.headers.find("Retry-After: ") == std::string::npos;
}

}  // namespace

void Keyed::begin(Context const& context, Request const& request, Reply& reply, Holder holder) {
    Credentials const credentials = credentials_of(request);
    bool const staff = is_operator(credentials, context.admin_token);
    bool const holds = holder == Holder::proved && credentials.scheme == Credentials::Scheme::hold;
    std::string_view const who = staff ? "staff" : holds ? "holder" : "nobody";
    std::string_view const proof = holds ? credentials.token : std::string_view{};
    std::size_t const least = staff || holds ? 1 : limits::guest_key_bytes_min;
    std::string_view const key = *request.idempotency_key;
    engine::Mark const mark{
        hash_of({who, proof, key}),
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
            write_kept(reply, begun.answer);
            reply.add_header("Idempotency-Replayed", "true");
            break;
        case Kind::answered: {
            auto answer = engine::decode_answer(begun.answer);
            HOLDFAST_ASSERT(answer.has_value());
            call_->answer = std::move(*answer);
            call_->lsn = begun.lsn;
            call_->is = Is::again;
            break;
        }
    }
}

void Keyed::end() noexcept {
    try {
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

void Keyed::keep_refusal() {
    Reply const& reply = call_->reply;
    bool const kept = is_kept(reply) || (call_->keep && reply.status < 300);
    if (!kept) return;
    std::string const text = kept_text(reply);
    call_->marks.keep_refusal(call_->mark, call_->request.received_at,
                              std::as_bytes(std::span(text)));
}

}  // namespace holdfast::api
