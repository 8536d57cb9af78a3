// Few descriptors: what a process does that has no more of them.
#pragma once

#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>

namespace holdfast::test {

/// While it lives this process can open so many more descriptors, and no further one. Those that
/// are open stay. Under UBSan nothing else may happen meanwhile: it opens a pipe to see whether an
/// object is there, and without one takes it for broken.
class FewDescriptors {
public:
    explicit FewDescriptors(rlim_t more = 0) {
        int const next = ::dup(STDOUT_FILENO);
        if (next < 0 || ::getrlimit(RLIMIT_NOFILE, &before_) != 0)
            throw std::runtime_error("descriptors are few already");
        ::close(next);
        rlimit few = before_;
        few.rlim_cur = static_cast<rlim_t>(next) + more;
        if (::setrlimit(RLIMIT_NOFILE, &few) != 0)
            throw std::runtime_error("the limit of descriptors cannot be set");
    }
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(FewDescriptors const&) = delete;
    FewDescriptors& operator=(FewDescriptors const&) = delete;

private:
    rlimit before_{};
};

}  // namespace holdfast::test
