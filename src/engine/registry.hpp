// Registry: the events by slug and by id. Grows, never shrinks; look-ups take no lock.
#pragma once

#include "engine/sale.hpp"

#include <holdfast/base/published.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace holdfast::engine {

class Registry {
public:
    Registry() { sales_.reserve(limits::events_max); }  // so that add() needs no memory

    [[nodiscard]] Sale* find(std::string_view slug) const noexcept {
        for (std::size_t at = first_place(slug);; at = (at + 1) % table_.size()) {
            Sale* const sale = table_[at].get();
            if (sale == nullptr) return nullptr;  // half of the table stays empty, so the walk ends
            if (sale->spec().slug == slug) return sale;
        }
    }
    [[nodiscard]] Sale* find(EventId event) const noexcept {
        return event.value() < by_id_.size() ? by_id_[event.value()].get() : nullptr;
    }

    /// Null if the slug or id is taken, or the registry is full.
    Sale* add(std::unique_ptr<Sale> made) noexcept {
        std::scoped_lock const lock(mutex_);
        EventSpec const& spec = made->spec();
        std::uint32_t const id = spec.id.value();
        if (id == 0 || id >= by_id_.size() || by_id_[id].get() != nullptr) return nullptr;
        if (sales_.size() >= limits::events_max || find(spec.slug) != nullptr) return nullptr;
        Sale* const sale = sales_.emplace_back(std::move(made)).get();
        count_.set(sales_.size());
        by_id_[id].set(sale);
        std::size_t at = first_place(sale->spec().slug);
        while (table_[at].get() != nullptr) at = (at + 1) % table_.size();
        table_[at].set(sale);
        return sale;
    }

    /// Those that are there now, without a lock or memory.
    template <class Visit>
    void for_each(Visit const& visit) const {
        std::size_t const count = count_.get();
        // Not sales_[at]: with assertions it reads the end, which add() moves.
        for (std::size_t at = 0; at < count; ++at) visit(*sales_.data()[at]);
    }

    [[nodiscard]] std::vector<Sale*> all() const {
        std::scoped_lock const lock(mutex_);
        std::vector<Sale*> sales;
        for (auto const& sale : sales_) sales.push_back(sale.get());
        return sales;
    }

private:
    [[nodiscard]] std::size_t first_place(std::string_view slug) const noexcept {
        return std::hash<std::string_view>{}(slug) % table_.size();
    }

    mutable std::mutex mutex_;  // writers, and all()
    // Guarded by mutex_, but for those before count_, which stay where they are.
    std::vector<std::unique_ptr<Sale>> sales_;
    Published<std::size_t> count_{0};
    std::array<Published<Sale*>, 2 * limits::events_max> table_{};
    std::array<Published<Sale*>, limits::events_max + 1> by_id_{};
};

}  // namespace holdfast::engine
