// Backup routes: POST and GET /v1/admin/backup, on the admin listener only.
//
// Thread safety: workers.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

/// Needs context.backups.
void add_backup_routes(std::vector<http::Route>& routes, Context& context);

}  // namespace holdfast::api
