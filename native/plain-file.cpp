// See plain-file.h.
#include "plain-file.h"

#ifndef _WIN32

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tandem {

namespace {

class File {
 public:
  File(const std::string& path, int flags, unsigned mode = 0)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool isOpen() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  bool write(const std::uint8_t* bytes, std::size_t length) const {
    while (length > 0) {
      const ssize_t written = ::write(descriptor_, bytes, length);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes += written;
      length -= static_cast<std::size_t>(written);
    }
    return true;
  }

  // As libuv syncs: on macOS fsync alone leaves it to the drive when.
  bool sync() const {
#ifdef __APPLE__
    if (::fcntl(descriptor_, F_FULLFSYNC) == 0) return true;
#endif
    return ::fsync(descriptor_) == 0;
  }

  bool syncData() const {
#ifdef __APPLE__
    return sync();
#else
    return ::fdatasync(descriptor_) == 0;
#endif
  }

  bool close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

bool syncFolder(const std::string& path) {
  const File folder(path, O_RDONLY);
  return folder.isOpen() && folder.sync();
}

}  // namespace

long long writeFileDurably(const std::string& temporary, const std::string& path, const std::string& folder,
                           const std::uint8_t* contents, std::size_t length, unsigned mode) {
  File file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!file.isOpen()) return errno;
  const bool isWritten = ::fchmod(file.descriptor(), static_cast<mode_t>(mode)) == 0 && file.write(contents, length) &&
                         file.sync() && file.close() && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!isWritten) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return error;
  }
  return syncFolder(folder) ? 0 : errno;
}

long long appendFileDurably(const std::string& path, const std::string& folder, const std::uint8_t* contents,
                            std::size_t length, unsigned mode) {
  File file(path, O_WRONLY | O_CREAT | O_APPEND, mode);
  if (!file.isOpen()) return errno;
  struct stat before;
  if (::fstat(file.descriptor(), &before) != 0) return errno;
  if (!file.write(contents, length) || !file.syncData() || !file.close()) return errno;
  return before.st_size > 0 || syncFolder(folder) ? 0 : errno;
}

}  // namespace tandem

#else

namespace tandem {

long long writeFileDurably(const std::string&, const std::string&, const std::string&, const std::uint8_t*, std::size_t,
                           unsigned) {
  return kFilesUnsupported;
}

long long appendFileDurably(const std::string&, const std::string&, const std::uint8_t*, std::size_t, unsigned) {
  return kFilesUnsupported;
}

}  // namespace tandem

#endif
