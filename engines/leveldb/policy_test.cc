// The policies in real databases: the drop-in writes and reads what LevelDB's own does, byte for byte; ribbon databases have smaller filters,
// open without the policy, and survive deletes, compaction and damage.
//
//   policy_test FOLDER
//   policy_test FOLDER --hostile     only damaged filters and wrong arguments, for sanitizers, which are slow
//   policy_test --keys     prints the keys of the database FOLDER/drop-in

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <mayhap.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "counting_env.h"
#include "mayhap_filter_policy.h"
#include "table_filters.h"

#define REQUIRE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

namespace {

typedef std::unique_ptr<const leveldb::FilterPolicy> Policy;
typedef std::map<std::string, std::string> Model;

constexpr size_t kSmallBlocks = 4 << 10;
constexpr size_t kLargeBlocks = 64 << 10;

Policy Builtin(int bits_per_key) { return Policy(leveldb::NewBloomFilterPolicy(bits_per_key)); }
Policy DropIn(int bits_per_key) { return Policy(mayhap::NewBloomFilterPolicy(bits_per_key)); }
Policy Ribbon(int bits_per_key) { return Policy(mayhap::NewRibbonFilterPolicy(bits_per_key)); }

struct Database {
  Database(const std::string& folder, const leveldb::FilterPolicy* policy, size_t block_size) : folder(folder), cache(leveldb::NewLRUCache(0)) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = &env;
    options.filter_policy = policy;
    options.block_size = block_size;
    options.block_cache = cache.get();
    leveldb::DB* opened = nullptr;
    REQUIRE(leveldb::DB::Open(options, folder, &opened).ok());
    db.reset(opened);
  }

  uint64_t ReadsOf(const std::vector<std::string>& keys) {
    Find(keys);  // Opens the tables.
    const uint64_t before = env.reads();
    Find(keys);
    return env.reads() - before;
  }

  size_t Find(const std::vector<std::string>& keys) {
    size_t found = 0;
    std::string value;
    for (const std::string& key : keys) found += db->Get(leveldb::ReadOptions(), key, &value).ok();
    return found;
  }

  void RequireEqual(const Model& model) {
    std::string value;
    for (const auto& entry : model) {
      REQUIRE(db->Get(leveldb::ReadOptions(), entry.first, &value).ok());
      REQUIRE(value == entry.second);
    }
  }

  TableFilters Filters() { return DatabaseFilters(db.get(), folder); }

  std::string folder;
  CountingEnv env;
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<leveldb::DB> db;
};

std::string Folder(const std::string& parent, const char* name) {
  const std::string folder = parent + "/" + name;
  leveldb::DestroyDB(folder, leveldb::Options());
  return folder;
}

// Random keys of 16 hexadecimal digits.
std::vector<std::string> Keys(uint32_t seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<std::string> keys;
  for (int i = 0; i < count; i++) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(random()));
    keys.push_back(text);
  }
  return keys;
}

// Twice, because the first writes the newest keys to a table, and looks before that for the levels to merge.
void Compact(leveldb::DB* db) {
  for (int i = 0; i < 2; i++) db->CompactRange(nullptr, nullptr);
}

void Fill(Database* database, const std::vector<std::string>& keys, Model* model) {
  for (const std::string& key : keys) {
    const std::string value = key + std::string(84, 'v') + key;
    REQUIRE(database->db->Put(leveldb::WriteOptions(), key, value).ok());
    (*model)[key] = value;
  }
  Compact(database->db.get());
}

std::vector<std::string> Tables(Database* database) {
  std::vector<std::string> tables;
  for (const std::string& path : TablePaths(database->db.get(), database->folder)) tables.push_back(ReadTable(path));
  REQUIRE(!tables.empty());
  return tables;
}

void FiltersOfTheDropInEqualThoseOfLevelDb() {
  const std::vector<std::string> all = Keys(1, 3000);
  for (int bits_per_key : {1, 2, 5, 10, 16, 43, 44, 100}) {
    const Policy builtin = Builtin(bits_per_key), drop_in = DropIn(bits_per_key);
    REQUIRE(std::string(builtin->Name()) == drop_in->Name());
    for (int count : {1, 2, 6, 7, 50, 3000}) {
      std::vector<leveldb::Slice> keys(all.begin(), all.begin() + count);
      keys.push_back(keys[0]);
      keys.push_back(leveldb::Slice());
      std::string expected = "before", filter = "before";
      builtin->CreateFilter(keys.data(), static_cast<int>(keys.size()), &expected);
      drop_in->CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter);
      REQUIRE(filter == expected);
    }
  }
  // Arbitrary bytes, too, get the same answers.
  const Policy builtin = Builtin(10), drop_in = DropIn(10);
  std::mt19937 random(2);
  for (int round = 0; round < 20000; round++) {
    std::string filter(random() % 40, '\0');
    for (char& byte : filter) byte = static_cast<char>(random() | random());
    const std::string& key = all[round % all.size()];
    REQUIRE(builtin->KeyMayMatch(key, filter) == drop_in->KeyMayMatch(key, filter));
  }
}

std::vector<std::string> DropInKeys() { return Keys(3, 30000); }

void DatabasesOfTheDropInEqualThoseOfLevelDb(const std::string& parent) {
  const std::vector<std::string> keys = DropInKeys(), absent = Keys(4, 30000);
  const Policy builtin = Builtin(10), drop_in = DropIn(10);
  std::vector<std::string> tables[2];
  for (int writer = 0; writer < 2; writer++) {
    const std::string folder = Folder(parent, writer == 0 ? "builtin" : "drop-in");
    Model model;
    {
      Database written(folder, (writer == 0 ? builtin : drop_in).get(), kSmallBlocks);
      Fill(&written, keys, &model);
      tables[writer] = Tables(&written);
    }
    uint64_t reads[2];
    for (int reader = 0; reader < 2; reader++) {
      Database opened(folder, (reader == 0 ? builtin : drop_in).get(), kSmallBlocks);
      opened.RequireEqual(model);
      reads[reader] = opened.ReadsOf(absent);
    }
    REQUIRE(reads[0] == reads[1]);
    REQUIRE(reads[0] * 50 < absent.size());
  }
  REQUIRE(tables[0] == tables[1]);
}

void RibbonDatabasesAreSmallerAtTheSameRate(const std::string& parent) {
  const std::vector<std::string> keys = Keys(5, 60000), absent = Keys(6, 60000);
  for (size_t block_size : {kSmallBlocks, kLargeBlocks}) {
    double reads[2], bytes[2];
    for (int which = 0; which < 2; which++) {
      const Policy policy = which == 0 ? Builtin(10) : Ribbon(10);
      Database database(Folder(parent, "compared"), policy.get(), block_size);
      Model model;
      Fill(&database, keys, &model);
      database.RequireEqual(model);
      reads[which] = static_cast<double>(database.ReadsOf(absent));
      bytes[which] = static_cast<double>(database.Filters().filter_bytes);
    }
    std::printf("blocks of %zu KiB: %.0f bytes of ribbon filters, %.0f of LevelDB's, %.3f times; %.0f and %.0f of %zu absent keys read a block\n",
                block_size / 1024, bytes[1], bytes[0], bytes[1] / bytes[0], reads[1], reads[0], absent.size());
    REQUIRE(bytes[1] <= 0.75 * bytes[0]);
    REQUIRE(reads[1] <= 1.2 * reads[0]);  // Five standard deviations of 500 are 0.2.
    REQUIRE(reads[1] > 0);
  }
}

void RibbonDatabasesOpenWithEveryPolicy(const std::string& parent) {
  REQUIRE(std::string(Ribbon(10)->Name()) == "mayhap.RibbonBlock1");
  const std::string folder = Folder(parent, "ribbon");
  const std::vector<std::string> absent = Keys(8, 3000);
  const Policy ribbon = Ribbon(10), strict(mayhap::NewRibbonFilterPolicyWithRate(1e-5)), builtin = Builtin(10);
  Model model;
  {
    Database database(folder, ribbon.get(), kSmallBlocks);
    Fill(&database, Keys(7, 30000), &model);
  }
  for (const leveldb::FilterPolicy* policy : {ribbon.get(), strict.get(), builtin.get(), static_cast<const leveldb::FilterPolicy*>(nullptr)}) {
    Database opened(folder, policy, kSmallBlocks);
    opened.RequireEqual(model);
    const bool uses_filters = policy == ribbon.get() || policy == strict.get();
    REQUIRE((opened.ReadsOf(absent) * 20 < absent.size()) == uses_filters);
  }
}

void DeletesOverwritesAndCompactionsLoseNothing(const std::string& parent) {
  const Policy ribbon = Ribbon(10);
  const std::string folder = Folder(parent, "changed");
  std::vector<std::string> keys = Keys(9, 20000), deleted;
  Model model;
  {
    Database database(folder, ribbon.get(), kSmallBlocks);
    Fill(&database, keys, &model);
    for (size_t i = 0; i < keys.size(); i++) {
      if (i % 2 == 0) {
        REQUIRE(database.db->Delete(leveldb::WriteOptions(), keys[i]).ok());
        model.erase(keys[i]);
        deleted.push_back(keys[i]);
      } else if (i % 5 == 0) {
        REQUIRE(database.db->Put(leveldb::WriteOptions(), keys[i], "new").ok());
        model[keys[i]] = "new";
      }
    }
    database.RequireEqual(model);
    REQUIRE(database.Find(deleted) == 0);
    Compact(database.db.get());
    database.RequireEqual(model);
    // The filters know deleted keys no longer.
    REQUIRE(database.ReadsOf(deleted) * 50 < deleted.size());
  }
  Database opened(folder, nullptr, kSmallBlocks);
  opened.RequireEqual(model);
  REQUIRE(opened.Find(deleted) == 0);
}

// LevelDB verifies the checksum of filters only if it is told to. What it reads may be anything.
void DamagedFiltersNeverCrash(const std::string& parent) {
  const std::vector<std::string> keys = Keys(10, 5000);
  for (int which = 0; which < 2; which++) {
    const Policy policy = which == 0 ? DropIn(10) : Ribbon(10);
    const std::string folder = Folder(parent, "damaged");
    std::map<std::string, std::string> tables;
    Model model;
    {
      Database database(folder, policy.get(), kSmallBlocks);
      Fill(&database, keys, &model);
      for (const std::string& path : TablePaths(database.db.get(), folder)) tables[path] = ReadTable(path);
    }
    for (int damage = 0; damage < 6; damage++) {
      std::mt19937 random(damage);
      for (const auto& path_and_table : tables) {
        std::string table = path_and_table.second;
        const TableFilters filters = ReadTableFilters(table);
        REQUIRE(filters.filters > 0);
        // The places of the filters are LevelDB's own business; damage to them makes other bytes the filter, or none.
        const uint64_t end = damage < 4 ? filters.filter_bytes : filters.block_bytes;
        for (uint64_t at = 0; at < end; at++) {
          char* byte = &table[filters.offset + at];
          if (damage == 0) *byte = 0;
          if (damage == 1) *byte = '\xff';
          if (damage >= 2 && random() % (damage % 2 == 0 ? 1 : 16) == 0) *byte = static_cast<char>(random());
        }
        REQUIRE(leveldb::WriteStringToFile(leveldb::Env::Default(), table, path_and_table.first).ok());
      }
      Database opened(folder, policy.get(), kSmallBlocks);
      const size_t found = opened.Find(keys);
      REQUIRE(found <= keys.size());
      // Neither policy has a filter of only these bytes that means something: all keys may match.
      if (damage < 2) REQUIRE(found == keys.size());
    }
  }
}

void WrongArgumentsGiveNoPolicy() {
  REQUIRE(DropIn(0) == nullptr && DropIn(-1) == nullptr && Ribbon(101) == nullptr);
  REQUIRE(std::string(mayhap_error_message()).find("1 to 100") != std::string::npos);
  for (double rate : {0.0, 1.0, -1.0, 1e300}) REQUIRE(mayhap::NewRibbonFilterPolicyWithRate(rate) == nullptr);
  REQUIRE(std::string(mayhap_error_message()).find("rate") != std::string::npos);
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc == 2 || argc == 3);
  if (std::string(argv[1]) == "--keys") {
    for (const std::string& key : DropInKeys()) std::puts(key.c_str());
    return 0;
  }
  leveldb::Env::Default()->CreateDir(argv[1]);
  FiltersOfTheDropInEqualThoseOfLevelDb();
  if (argc == 2) {
    DatabasesOfTheDropInEqualThoseOfLevelDb(argv[1]);
    RibbonDatabasesAreSmallerAtTheSameRate(argv[1]);
    RibbonDatabasesOpenWithEveryPolicy(argv[1]);
    DeletesOverwritesAndCompactionsLoseNothing(argv[1]);
  }
  DamagedFiltersNeverCrash(argv[1]);
  WrongArgumentsGiveNoPolicy();
  std::puts("policy_test: all as expected");
  return 0;
}
