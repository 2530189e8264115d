#include "log/checkpoint.h"

#include <cstring>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"

namespace cadastre::log {
namespace {

constexpr std::string_view kManifestMagic = "CDSM";
constexpr std::string_view kListMagic = "CDSL";
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kBlake3 = 1;
constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kSumBytes = 4;
constexpr std::size_t kKeyBytesMax = 0xffff;

class Encoder {
 public:
  Encoder(std::string_view magic, std::uint16_t second) {
    bytes(base::as_bytes(magic));
    number(kVersion);
    number(second);
  }

  template <std::unsigned_integral T>
  void number(T value) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof value);
    base::store_le(out_.data() + at, value);
  }
  void bytes(base::ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void counted(base::ByteView view) {
    number(static_cast<std::uint16_t>(view.size()));
    bytes(view);
  }
  [[nodiscard]] base::Bytes finish() {
    number(base::crc32c(out_));
    return std::move(out_);
  }

 private:
  base::Bytes out_;
};

// Reads field by field; past the end everything is zero and good() is false.
class Decoder {
 public:
  explicit Decoder(base::ByteView rest) noexcept : rest_(rest) {}

  template <std::unsigned_integral T>
  T number() {
    const base::ByteView field = bytes(sizeof(T));
    return field.empty() ? T{0} : base::load_le<T>(field.data());
  }
  base::ByteView bytes(std::size_t count) {
    if (count > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const base::ByteView field = rest_.first(count);
    rest_ = rest_.subspan(count);
    return field;
  }
  base::ByteView counted() { return bytes(number<std::uint16_t>()); }
  FileHash hash() {
    FileHash hash{};
    const base::ByteView field = bytes(hash.size());
    if (!field.empty()) std::memcpy(hash.data(), field.data(), hash.size());
    return hash;
  }
  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] bool at_end() const noexcept { return good_ && rest_.empty(); }

 private:
  base::ByteView rest_;
  bool good_ = true;
};

std::unexpected<base::Error<ManifestError>> damaged(std::string what) {
  return base::fail(ManifestError::kDamaged, std::move(what));
}

// What stands between head and sum; `second` is the field behind the version.
base::Result<base::ByteView, ManifestError> open_envelope(base::ByteView bytes,
                                                          std::string_view magic,
                                                          std::uint16_t second) {
  if (bytes.size() < kHeadBytes + kSumBytes) return damaged("it is too short");
  if (base::as_text(bytes.first(magic.size())) != magic)
    return damaged("it begins with other bytes");
  if (base::load_le<std::uint16_t>(bytes.data() + 4) != kVersion ||
      base::load_le<std::uint16_t>(bytes.data() + 6) != second)
    return base::fail(ManifestError::kVersion, "another version or another hash");
  const base::ByteView before = bytes.first(bytes.size() - kSumBytes);
  if (base::crc32c(before) != base::load_le<std::uint32_t>(bytes.data() + before.size()))
    return damaged("it does not match its sum");
  return before.subspan(kHeadBytes);
}

CheckpointFile read_file(Decoder& in) {
  CheckpointFile file;
  file.name = base::as_text(in.counted());
  file.bytes = in.number<std::uint64_t>();
  file.hash = in.hash();
  file.level = in.number<std::uint8_t>();
  file.smallest = base::to_owned(in.counted());
  file.largest = base::to_owned(in.counted());
  return file;
}

}  // namespace

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kFileNameBytesMax && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

base::Bytes encode_manifest(const CheckpointManifest& manifest) {
  CAD_CHECK(manifest.summary.size() <= kSummaryBytesMax, "a state machine's summary is short");
  Encoder out(kManifestMagic, kBlake3);
  for (const std::uint64_t word :
       {manifest.cluster.value(), manifest.group.value(), manifest.at.index.value(),
        manifest.at.term.value(), manifest.node.value(), manifest.id.value(), manifest.total_bytes,
        manifest.entries})
    out.number(word);
  out.number(manifest.list_bytes);
  out.bytes(manifest.list_hash);
  out.counted(manifest.summary);
  return out.finish();
}

base::Result<CheckpointManifest, ManifestError> decode_manifest(base::ByteView bytes) {
  Decoder in(CAD_TRY(open_envelope(bytes, kManifestMagic, kBlake3)));
  CheckpointManifest manifest;
  manifest.cluster = ClusterId{in.number<std::uint64_t>()};
  manifest.group = GroupId{in.number<std::uint64_t>()};
  manifest.at.index = Index{in.number<std::uint64_t>()};
  manifest.at.term = Term{in.number<std::uint64_t>()};
  manifest.node = NodeId{in.number<std::uint64_t>()};
  manifest.id = CheckpointId{in.number<std::uint64_t>()};
  manifest.total_bytes = in.number<std::uint64_t>();
  manifest.entries = in.number<std::uint64_t>();
  manifest.list_bytes = in.number<std::uint32_t>();
  manifest.list_hash = in.hash();
  manifest.summary = base::to_owned(in.counted());
  if (!in.at_end() || manifest.summary.size() > kSummaryBytesMax)
    return damaged("its lengths do not add up");
  return manifest;
}

base::Bytes encode_file_list(const std::vector<CheckpointFile>& files) {
  CAD_CHECK(files.size() <= kCheckpointFilesMax, "a checkpoint has a bounded number of files");
  Encoder out(kListMagic, 0);
  out.number(static_cast<std::uint32_t>(files.size()));
  for (const CheckpointFile& file : files) {
    CAD_CHECK(is_plain_name(file.name), "a checkpoint's files lie in one directory");
    CAD_CHECK(file.smallest.size() <= kKeyBytesMax && file.largest.size() <= kKeyBytesMax,
              "a key's length has two bytes");
    out.counted(base::as_bytes(file.name));
    out.number(file.bytes);
    out.bytes(file.hash);
    out.number(file.level);
    out.counted(file.smallest);
    out.counted(file.largest);
  }
  return out.finish();
}

base::Result<std::vector<CheckpointFile>, ManifestError> decode_file_list(base::ByteView bytes) {
  Decoder in(CAD_TRY(open_envelope(bytes, kListMagic, 0)));
  const std::uint32_t count = in.number<std::uint32_t>();
  if (count > kCheckpointFilesMax) return damaged("it has too many files");
  std::vector<CheckpointFile> files;
  std::set<std::string_view> names;
  for (std::uint32_t i = 0; i < count && in.good(); ++i) {
    files.push_back(read_file(in));
    if (in.good() && !is_plain_name(files.back().name))
      return damaged("a name that is no plain one");
  }
  if (!in.at_end()) return damaged("its lengths do not add up");
  for (const CheckpointFile& file : files) {
    if (!names.insert(file.name).second) return damaged("a name is there twice");
  }
  return files;
}

}  // namespace cadastre::log
