// Filter policies for LevelDB over the C interface of mayhap. A program that includes this file is linked with both libraries:
//
//   c++ program.cc mayhap_filter_policy.cc $(pkg-config --cflags --libs mayhap) -lleveldb
//
// Like LevelDB's own policy, a policy must outlive the databases that use it, and is deleted by the caller. Any number of threads may
// use it. If an argument is wrong the result is a null pointer, and mayhap_error_message() says why; with a null pointer as its
// policy, a database has no filters.

#ifndef MAYHAP_FILTER_POLICY_H
#define MAYHAP_FILTER_POLICY_H

namespace leveldb {
class FilterPolicy;
}

namespace mayhap {

// The name and the bytes of leveldb::NewBloomFilterPolicy: a database that was written with one of them can be opened with the other, and
// its filters are used.
const leveldb::FilterPolicy* NewBloomFilterPolicy(int bits_per_key);

// Ribbon filters with the false-positive rate that LevelDB's own policy has with so many bits per key, in about 0.71 times its bytes. The
// policy has a name of its own: LevelDB opens databases of other policies, and ignores their filters until compaction rewrites the tables.
const leveldb::FilterPolicy* NewRibbonFilterPolicy(int bits_per_key);

// The same with a rate, such as 0.001. The strictest is 2^-23.
const leveldb::FilterPolicy* NewRibbonFilterPolicyWithRate(double false_positive_rate);

}  // namespace mayhap

#endif  // MAYHAP_FILTER_POLICY_H
