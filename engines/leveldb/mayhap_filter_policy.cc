#include "mayhap_filter_policy.h"

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <mayhap.h>

#include <cstdlib>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

namespace mayhap {
namespace {

class Policy : public leveldb::FilterPolicy {
 public:
  explicit Policy(mayhap_leveldb_policy* policy) : policy_(policy) {}
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  ~Policy() override { std::free(policy_); }

  const char* Name() const override { return mayhap_leveldb_policy_name(policy_); }

  void CreateFilter(const leveldb::Slice* keys, int count, std::string* dst) const override {
    std::vector<const char*> starts(count);
    std::vector<size_t> lengths(count);
    for (int i = 0; i < count; i++) {
      starts[i] = keys[i].data();
      lengths[i] = keys[i].size();
    }
    size_t length = 0;
    char* filter = mayhap_leveldb_create_filter(policy_, starts.data(), lengths.data(), count, &length);
    dst->append(filter, length);
    std::free(filter);
  }

  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return mayhap_leveldb_key_may_match(policy_, key.data(), key.size(), filter.data(), filter.size()) != 0;
  }

 private:
  mayhap_leveldb_policy* policy_;
};

const leveldb::FilterPolicy* New(const char* kind, int bits_per_key, const char* const* options) {
  mayhap_leveldb_policy* policy = nullptr;
  return mayhap_leveldb_policy_new(kind, bits_per_key, options, &policy) < 0 ? nullptr : new Policy(policy);
}

}  // namespace

const leveldb::FilterPolicy* NewBloomFilterPolicy(int bits_per_key) { return New("bloom", bits_per_key, nullptr); }

const leveldb::FilterPolicy* NewRibbonFilterPolicy(int bits_per_key) { return New("ribbon", bits_per_key, nullptr); }

const leveldb::FilterPolicy* NewRibbonFilterPolicyWithRate(double false_positive_rate) {
  std::ostringstream option;
  option.imbue(std::locale::classic());  // A comma would not be a number.
  option.precision(17);
  option << "fpr=" << false_positive_rate;
  const std::string text = option.str();
  const char* options[] = {text.c_str(), nullptr};
  return New("ribbon", 0, options);
}

}  // namespace mayhap
