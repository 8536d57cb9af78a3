#include "http/head_parser.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace holdfast::http {
namespace {

namespace beast = boost::beast;
constexpr std::string_view key_field = "Idempotency-Key";  // asked for by every handler of effect
using beast::http::verb;
using boost::optional;
using ErrorCode = beast::error_code;
using Text = beast::string_view;

std::string_view view(Text text) noexcept {
    return {text.data(), text.size()};
}

Method method_of(verb method) noexcept {
    switch (method) {
        case verb::get:
            return Method::get;
        case verb::head:
            return Method::head;
        case verb::post:
            return Method::post;
        case verb::put:
            return Method::put;
        case verb::patch:
            return Method::patch;
        case verb::delete_:
            return Method::del;
        case verb::options:
            return Method::options;
        default:
            return Method::other;
    }
}

/// Keeps views, so it allocates nothing. The body callbacks are never reached: only the head is
/// put in, and a parser that is not eager stops behind it.
class HeadParser final : public beast::http::basic_parser<true> {
public:
    HeadParser(FieldArray& fields, Request& request) noexcept : fields_(fields), request_(request) {
        header_limit(limits::head_bytes_max);
        body_limit(boost::none);
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    void on_request_impl(verb method, Text, Text target, int, ErrorCode&) override {
        request_.method = method_of(method);
        std::string_view rest = view(target);
        if (!rest.starts_with('/') && rest != "*") {  // the guard compared the authority
            std::size_t const begin = rest.find("://") + 3;
            rest.remove_prefix(std::min(rest.find_first_of("/?", begin), rest.size()));
        }
        std::size_t const mark = std::min(rest.find('?'), rest.size());
        request_.path = mark == 0 ? std::string_view{"/"} : rest.substr(0, mark);
        request_.query = rest.substr(std::min(mark + 1, rest.size()));
    }
    void on_field_impl(beast::http::field, Text name, Text value, ErrorCode& error) override {
        if (count_ == fields_.size()) {
            error = beast::http::error::header_limit;
            return;
        }
        fields_[count_++] = Field{view(name), view(value)};
        if (same_name(view(name), key_field)) request_.idempotency_key = view(value);
    }
    void on_response_impl(int, Text, int, ErrorCode&) override {}
    void on_header_impl(ErrorCode&) override {}
    void on_body_init_impl(optional<std::uint64_t> const&, ErrorCode&) override {}
    std::size_t on_body_impl(Text, ErrorCode&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, Text, ErrorCode&) override { return 0; }
    void on_finish_impl(ErrorCode&) override {}

    FieldArray& fields_;
    Request& request_;
    std::size_t count_{};
};

}  // namespace

bool parse_head(std::string_view head, FieldArray& fields, Request& request) {
    HeadParser parser{fields, request};
    ErrorCode error;
    parser.put(boost::asio::const_buffer{head.data(), head.size()}, error);
    if (error || !parser.is_header_done()) return false;
    request.fields = std::span<Field const>{fields.data(), parser.count()};
    return true;
}

bool name_head(Guard const& guard, std::string_view request, FieldArray& fields, Request& named) {
    Head const& head = guard.head();
    if (!head.plain)
        return parse_head(request.substr(head.begin, head.bytes - head.begin), fields, named);
    guard.name_parts(request, fields, named);
    return true;
}

}  // namespace holdfast::http
