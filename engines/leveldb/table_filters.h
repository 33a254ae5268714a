// Where the filters of a table are, and how many bytes they have.

#ifndef TABLE_FILTERS_H
#define TABLE_FILTERS_H

#include <leveldb/db.h>
#include <leveldb/env.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct TableFilters {
  uint64_t offset = 0;        // of the filter block in the file
  uint64_t block_bytes = 0;   // with the places of the filters
  uint64_t filter_bytes = 0;  // without them
  uint64_t filters = 0;       // that are not empty
};

inline uint64_t Fixed32(const std::string& bytes, uint64_t at) {
  uint64_t value = 0;
  for (int i = 3; i >= 0; i--) value = value << 8 | static_cast<uint8_t>(bytes.at(at + i));
  return value;
}

inline uint64_t Varint(const std::string& bytes, uint64_t* at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint64_t byte = static_cast<uint8_t>(bytes.at((*at)++));
    value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

// The bytes of a table, and its filters; all zeros if it has none. The footer's first handle is that of the metaindex, whose only entry is
// the handle of the filter block; neither block is compressed unless that makes it smaller, which such short ones are not.
inline TableFilters ReadTableFilters(const std::string& table) {
  TableFilters found;
  uint64_t at = table.size() - 48;
  const uint64_t metaindex = Varint(table, &at);
  const uint64_t metaindex_bytes = Varint(table, &at);
  at = metaindex;
  if (metaindex_bytes <= 8) return found;
  Varint(table, &at);  // shared bytes of the name: none
  const uint64_t name = Varint(table, &at);
  Varint(table, &at);  // bytes of the handle
  at += name;
  found.offset = Varint(table, &at);
  found.block_bytes = Varint(table, &at);
  const uint64_t end = found.offset + found.block_bytes;
  found.filter_bytes = Fixed32(table, end - 5);
  for (uint64_t place = found.offset + found.filter_bytes; place + 4 < end - 1; place += 4) {
    if (Fixed32(table, place) < Fixed32(table, place + 4)) found.filters++;
  }
  return found;
}

// The tables in use; others may wait to be deleted. LevelDB lists a table as " NUMBER:BYTES[...]".
inline std::vector<std::string> TablePaths(leveldb::DB* db, const std::string& folder) {
  std::string list, line;
  db->GetProperty("leveldb.sstables", &list);
  std::vector<std::string> paths;
  std::istringstream lines(list);
  while (std::getline(lines, line)) {
    if (line.compare(0, 1, " ") != 0) continue;
    char name[20];
    std::snprintf(name, sizeof name, "/%06d.ldb", std::atoi(line.c_str()));
    paths.push_back(folder + name);
  }
  return paths;
}

inline std::string ReadTable(const std::string& path) {
  std::string bytes;
  const leveldb::Status status = leveldb::ReadFileToString(leveldb::Env::Default(), path, &bytes);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return bytes;
}

// The sum over all tables of a database.
inline TableFilters DatabaseFilters(leveldb::DB* db, const std::string& folder) {
  TableFilters sum;
  for (const std::string& path : TablePaths(db, folder)) {
    const TableFilters one = ReadTableFilters(ReadTable(path));
    sum.block_bytes += one.block_bytes;
    sum.filter_bytes += one.filter_bytes;
    sum.filters += one.filters;
  }
  return sum;
}

#endif  // TABLE_FILTERS_H
