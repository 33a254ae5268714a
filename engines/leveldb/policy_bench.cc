// Bytes, rates and CPU time of filters of LevelDB's own policy and of mayhap's, for sets as blocks have them. All take turns in each round.
//
//   policy_bench [--quick]

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "mayhap_filter_policy.h"

namespace {

enum { kBuiltin, kBloom, kRibbon, kPolicies };

std::string Key(uint64_t set, uint64_t number) {
  uint64_t mixed = (set * 1000003 + number) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93;
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(mixed ^ mixed >> 32));
  return text;
}

double CpuNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

struct Measured {
  double bytes = 0, rate = 0, create_ns = 1e300, match_ns = 1e300;
};

// The keys of several filters, and as many that are in none.
struct Sets {
  Sets(int keys, int count) {
    for (int set = 0; set < count; set++) {
      for (int i = 0; i < keys; i++) texts.push_back(Key(set, i));
    }
    for (int i = 0; i < 20000; i++) absent.push_back(Key(1 << 20, i));
    for (int set = 0; set < count; set++) slices.emplace_back(texts.begin() + set * keys, texts.begin() + (set + 1) * keys);
  }

  std::vector<std::string> texts, absent;
  std::vector<std::vector<leveldb::Slice>> slices;
};

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "policy_bench: %s\n", what);
  std::exit(1);
}

void Compare(int bits_per_key, int keys, int rounds) {
  std::unique_ptr<const leveldb::FilterPolicy> policies[kPolicies];
  policies[kBuiltin].reset(leveldb::NewBloomFilterPolicy(bits_per_key));
  policies[kBloom].reset(mayhap::NewBloomFilterPolicy(bits_per_key));
  policies[kRibbon].reset(mayhap::NewRibbonFilterPolicy(bits_per_key));
  const int count = std::min(std::max(20000 / keys, 10), 400);
  const Sets sets(keys, count);
  Measured measured[kPolicies];
  std::vector<std::string> filters[kPolicies];
  for (int round = 0; round < rounds; round++) {
    for (int which = 0; which < kPolicies; which++) {
      const leveldb::FilterPolicy& policy = *policies[which];
      Measured& result = measured[which];
      filters[which].assign(count, std::string());
      double start = CpuNanoseconds();
      for (int set = 0; set < count; set++) policy.CreateFilter(sets.slices[set].data(), keys, &filters[which][set]);
      result.create_ns = std::min(result.create_ns, (CpuNanoseconds() - start) / (count * static_cast<double>(keys)));
      start = CpuNanoseconds();
      uint64_t found = 0;
      // Each lookup is in another filter, as lookups of random keys are.
      for (size_t i = 0; i < sets.absent.size(); i++) found += policy.KeyMayMatch(sets.absent[i], filters[which][i % count]);
      result.match_ns = std::min(result.match_ns, (CpuNanoseconds() - start) / static_cast<double>(sets.absent.size()));
      Require(found < sets.absent.size() / 2, "an absent key in every second filter");
    }
  }
  for (int which = 0; which < kPolicies; which++) {
    uint64_t found = 0, lookups = 0;
    for (int set = 0; set < count; set++) {
      const std::string& filter = filters[which][set];
      measured[which].bytes += static_cast<double>(filter.size()) / count;
      for (const leveldb::Slice& key : sets.slices[set]) Require(policies[which]->KeyMayMatch(key, filter), "a key is missing");
      for (size_t i = 0; i < std::min<size_t>(sets.absent.size(), 400000 / count); i++, lookups++) {
        found += policies[which]->KeyMayMatch(sets.absent[i], filter);
      }
    }
    measured[which].rate = static_cast<double>(found) / static_cast<double>(lookups);
  }
  Require(filters[kBuiltin] == filters[kBloom], "filters differ from LevelDB's");
  const Measured &builtin = measured[kBuiltin], &bloom = measured[kBloom], &ribbon = measured[kRibbon];
  std::printf("| %d | %d | %.1f | %.1f | %.3f | %.3f | %.3f | %.0f | %.2f | %.2f | %.0f | %.2f | %.2f |\n", bits_per_key, keys, builtin.bytes,
              ribbon.bytes, ribbon.bytes / builtin.bytes, 100 * builtin.rate, 100 * ribbon.rate, builtin.create_ns,
              bloom.create_ns / builtin.create_ns, ribbon.create_ns / builtin.create_ns, builtin.match_ns, bloom.match_ns / builtin.match_ns,
              ribbon.match_ns / builtin.match_ns);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  std::printf(
      "# Filter policies for LevelDB\n\nFilters of LevelDB's own policy (\"own\"), of mayhap's with the same bytes (\"bloom\") and of mayhap's "
      "ribbon policy, for sets of keys as blocks have them. Creating: ns of CPU time per key; looking up an absent key, each in another filter: ns "
      "of CPU time. The least of the rounds, in which all take turns. Ratios are to LevelDB's own. `make bench-leveldb` writes this page.\n\n"
      "| bits per key | keys | bytes, own | bytes, ribbon | ratio | rate, own, %% | rate, ribbon, %% | create, own | bloom | ribbon | look up, own | "
      "bloom | ribbon |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (int bits_per_key : {10, 6, 8, 12, 16}) {
    for (int keys : {1, 2, 3, 5, 10, 20, 35, 70, 140, 280, 560, 1000, 2000}) {
      if (!is_quick || keys == 35 || keys == 560) Compare(bits_per_key, keys, is_quick ? 2 : 15);
    }
  }
  return 0;
}
