// File systems of a test's own: a small tmpfs, an ext4 whose power can be cut.
//
// Purpose: disks that fill up and machines that stop, without a virtual machine. They live in a
//   mount namespace of this process, so nothing of them is left even if the test is killed.
// Thread safety: one thread, which also starts the servers. Needs root.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace holdfast::test {

/// Gives this process its own mounts. Why not, in words, if that is impossible; empty if it worked.
[[nodiscard]] std::string why_no_own_mounts();

class Tmpfs {
public:
    Tmpfs(std::filesystem::path folder, std::uint64_t bytes);
    ~Tmpfs();
    Tmpfs(Tmpfs const&) = delete;
    Tmpfs& operator=(Tmpfs const&) = delete;

private:
    std::filesystem::path folder_;
};

/// ext4 in a sparse file on a loop device.
class Ext4 {
public:
    /// `image` is made; it is mounted on `folder`.
    Ext4(std::filesystem::path image, std::filesystem::path folder, std::uint64_t bytes);
    ~Ext4();
    Ext4(Ext4 const&) = delete;
    Ext4& operator=(Ext4 const&) = delete;

    /// As if the machine stopped here: what was not synced is gone, and nothing gets to the disk
    /// any more.
    void cut_power() const;
    /// The machine comes back; nobody may use a file of the old mount.
    void mount_again() const;

private:
    void mount() const;
    std::filesystem::path image_;
    std::filesystem::path folder_;
};

/// btrfs in a sparse file on a loop device: the quota that binds root as well, and the only one of
/// many kernels.
class QuotaDisk {
public:
    /// Why there can be none here; empty: there can.
    [[nodiscard]] static std::string why_not();
    QuotaDisk(std::filesystem::path image, std::filesystem::path folder, std::uint64_t bytes);
    ~QuotaDisk();
    QuotaDisk(QuotaDisk const&) = delete;
    QuotaDisk& operator=(QuotaDisk const&) = delete;

    /// No more than this may be on it; nothing may be written to it if it is more already.
    void limit(std::uint64_t bytes) const;
    /// No quota any more: to change one that is exceeded needs room, too.
    void lift() const;

private:
    std::filesystem::path folder_;
};

}  // namespace holdfast::test
