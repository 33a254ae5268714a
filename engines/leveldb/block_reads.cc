// What filters save, and what happens to those of deleted keys: fills a database, deletes half of its keys, overwrites a tenth, compacts it,
// and counts the blocks that lookups read, without a filter, with LevelDB's own policy and with both of mayhap's.
//
//   block_reads FOLDER [KEYS]

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "counting_env.h"
#include "mayhap_filter_policy.h"
#include "table_filters.h"

namespace {

constexpr int kBitsPerKey = 10;
constexpr uint64_t kLookups = 200000;  // of absent keys; half of them of others

void Check(const leveldb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

uint64_t Mix(uint64_t number) {
  number = (number ^ number >> 31) * 0x9e3779b97f4a7c15;
  return (number ^ number >> 29) * 0xbf58476d1ce4e5b9 ^ number >> 32;
}

// Keys with even numbers are inserted, odd ones lie between them and are absent.
std::string Key(uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "user%012llu", static_cast<unsigned long long>(number));
  return text;
}

// 100 bytes, of which compression saves some.
std::string Value(uint64_t number, int version) {
  std::string value;
  while (value.size() < 100) {
    char text[17];
    number = Mix(number + version);
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    value += text;
  }
  value.resize(100);
  return value;
}

bool IsDeleted(uint64_t key) { return Mix(key) % 2 == 0; }
bool IsOverwritten(uint64_t key) { return Mix(key) % 10 == 1; }  // No deleted key is.

class Database {
 public:
  Database(const std::string& folder, const leveldb::FilterPolicy* policy, size_t block_size, uint64_t keys)
      : folder_(folder), cache_(leveldb::NewLRUCache(0)), keys_(keys) {
    options_.create_if_missing = true;
    options_.env = &env_;
    options_.filter_policy = policy;
    options_.block_size = block_size;
    options_.block_cache = cache_.get();
    options_.write_buffer_size = 64 << 20;  // One table with all tombstones.
    Check(leveldb::DestroyDB(folder_, options_));
    leveldb::DB* db = nullptr;
    Check(leveldb::DB::Open(options_, folder_, &db));
    db_.reset(db);
  }

  ~Database() {
    db_.reset();
    leveldb::DestroyDB(folder_, options_);
  }

  void Fill() {
    // An odd multiplier visits every number once, in an order that spreads them over all tables.
    for (uint64_t i = 0; i < keys_; i++) {
      const uint64_t key = i * 7919 % keys_;
      Check(db_->Put(leveldb::WriteOptions(), Key(2 * key), Value(key, 0)));
    }
  }

  void Delete() {
    for (uint64_t key = 0; key < keys_; key++) {
      if (IsDeleted(key)) Check(db_->Delete(leveldb::WriteOptions(), Key(2 * key)));
    }
  }

  void Overwrite() {
    for (uint64_t key = 0; key < keys_; key++) {
      if (IsOverwritten(key)) Check(db_->Put(leveldb::WriteOptions(), Key(2 * key), Value(key, 1)));
    }
  }

  // Writes the newest keys to a table, and merges nothing: no key is in the range.
  void Flush() {
    const leveldb::Slice first("x"), last("y");
    db_->CompactRange(&first, &last);
  }

  // Twice, because the first writes the newest keys to a table, and looks before that for the levels to merge.
  void Compact() {
    for (int i = 0; i < 2; i++) db_->CompactRange(nullptr, nullptr);
  }

  // Prints the blocks that a lookup reads, on average, of absent keys, of those that are deleted later or were, and of the others.
  void Report(const char* policy, const char* moment, bool after_deletion, bool after_overwriting) {
    double reads[3];
    env_.PauseCompactions();
    for (int group = 0; group < 3; group++) {
      Look(group, after_deletion, after_overwriting, kLookups / 50);  // Opens the tables, which reads their indexes and filters.
      const uint64_t before = env_.reads();
      const uint64_t lookups = Look(group, after_deletion, after_overwriting, kLookups);
      reads[group] = static_cast<double>(env_.reads() - before) / lookups;
    }
    env_.ResumeCompactions();
    const TableFilters filters = DatabaseFilters(db_.get(), folder_);
    std::printf("| %zu KiB | %s | %s | %.4f | %.4f | %.4f | %.1f | %.1f |\n", options_.block_size / 1024, policy, moment, reads[0],
                reads[1], reads[2], filters.filter_bytes / 1024.0, filters.block_bytes / 1024.0);
    std::fflush(stdout);
  }

 private:
  uint64_t Look(int group, bool after_deletion, bool after_overwriting, uint64_t count) {
    uint64_t lookups = 0;
    std::string value;
    for (uint64_t key = 0; key < keys_; key += std::max<uint64_t>(1, keys_ / count)) {
      if (group != 0 && IsDeleted(key) != (group == 1)) continue;
      const bool is_present = group != 0 && !(after_deletion && group == 1);
      const leveldb::Status status = db_->Get(leveldb::ReadOptions(), Key(2 * key + (group == 0)), &value);
      const bool is_right = is_present ? status.ok() && value == Value(key, after_overwriting && IsOverwritten(key)) : status.IsNotFound();
      if (!is_right) throw std::runtime_error("wrong answer for " + Key(2 * key) + ": " + status.ToString());
      lookups++;
    }
    return lookups;
  }

  const std::string folder_;
  const std::unique_ptr<leveldb::Cache> cache_;
  const uint64_t keys_;
  CountingEnv env_;
  leveldb::Options options_;
  std::unique_ptr<leveldb::DB> db_;
};

void Run(const std::string& folder, uint64_t keys) {
  std::printf("%llu keys of 16 bytes with values of 100, %d bits per key. Blocks read per lookup; KiB of filters.\n\n",
              static_cast<unsigned long long>(keys), kBitsPerKey);
  std::printf("| blocks | policy | moment | absent | to be deleted | others | filters | with their places |\n");
  std::printf("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t block_size : {4 << 10, 64 << 10}) {
    for (int which = 0; which < 4; which++) {
      static const char* const names[] = {"none", "LevelDB's", "mayhap's bloom", "mayhap's ribbon"};
      std::unique_ptr<const leveldb::FilterPolicy> policy;
      if (which == 1) policy.reset(leveldb::NewBloomFilterPolicy(kBitsPerKey));
      if (which == 2) policy.reset(mayhap::NewBloomFilterPolicy(kBitsPerKey));
      if (which == 3) policy.reset(mayhap::NewRibbonFilterPolicy(kBitsPerKey));
      Database database(folder, policy.get(), block_size, keys);
      database.Fill();
      database.Compact();
      database.Report(names[which], "filled", false, false);
      database.Delete();
      database.Flush();
      database.Report(names[which], "deleted", true, false);
      database.Overwrite();
      database.Compact();
      database.Report(names[which], "compacted", true, true);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: block_reads FOLDER [KEYS]: FOLDER is replaced\n");
    return 2;
  }
  try {
    Run(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "block_reads: %s\n", error.what());
    return 1;
  }
  return 0;
}
