// Stream: the body of a reply that has no end, in pieces as they come (server-sent events).
//
// Purpose: a handler that puts one into Reply::stream keeps the connection: head and body leave as
//   of any reply, and then pieces until the client goes, the server stops or a piece says `last`.
//   A piece is encoded once and shared by all streams that send it; a connection keeps the one it
//   is sending and nothing else, so a slow reader costs no memory.
// Thread safety: next() and the destructor on the io thread of the connection.
// Invariants: pieces leave whole and in order, but for a connection that is cut off.
// Cost: next() is asked whenever somebody announced news (Server::announce), so it must be cheap
//   when there are none.
#pragma once

#include <memory>
#include <string>

namespace holdfast::http {

class Stream {
public:
    struct Piece {
        std::shared_ptr<std::string const> bytes;  // null: nothing new
        bool last{};                               // the reader fell behind; it is the end
    };

    virtual ~Stream() = default;
    /// What is to be sent next; whoever is given it sends it.
    [[nodiscard]] virtual Piece next() = 0;
};

}  // namespace holdfast::http
