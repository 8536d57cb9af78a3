// Conditional reply: ready bytes with an entity tag, or 304 if the client has them.
//
// Thread safety: pure. Cost: a look at each line of If-None-Match; bytes that are needed are
// copied if they are few, and shared if they are many: then readers who do not read cost none.
#pragma once

#include <holdfast/http/message.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::api {

struct TaggedBytes {
    std::string body;
    std::string tag;  // the value of ETag
};

/// `"…"` in quotes; equal for equal bytes.
[[nodiscard]] std::string entity_tag(std::string_view bytes);

/// Bytes that live as long as the process.
struct ConstantBytes {
    std::string_view body;
    std::string_view tag;
};

/// 200 with the bytes, or 304 if If-None-Match names their tag; both with ETag and Cache-Control.
void answer_conditional(http::Request const& request, http::Reply& reply,
                        std::shared_ptr<TaggedBytes const> const& bytes,
                        std::string_view cache_control);
/// The same of the bytes that the reply has already.
void make_conditional(http::Request const& request, http::Reply& reply,
                      std::string_view cache_control);
/// The same of constant ones; the reply points at the bytes, however few they are.
void answer_constant(http::Request const& request, http::Reply& reply, ConstantBytes const& bytes,
                     std::string_view cache_control);

}  // namespace holdfast::api
