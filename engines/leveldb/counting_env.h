// An Env of LevelDB that counts the reads of tables: with a block cache of no bytes, each is a block that a lookup reads.

#ifndef COUNTING_ENV_H
#define COUNTING_ENV_H

#include <leveldb/env.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

class CountingEnv : public leveldb::EnvWrapper {
 public:
  CountingEnv() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

  uint64_t reads() const { return reads_.load(); }

  leveldb::Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** result) override {
    leveldb::RandomAccessFile* file = nullptr;
    const leveldb::Status status = target()->NewRandomAccessFile(name, &file);
    *result = status.ok() ? new CountingFile(file, &reads_) : nullptr;
    return status;
  }

 private:
  class CountingFile : public leveldb::RandomAccessFile {
   public:
    CountingFile(leveldb::RandomAccessFile* file, std::atomic<uint64_t>* reads) : file_(file), reads_(reads) {}

    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result, char* scratch) const override {
      reads_->fetch_add(1);
      return file_->Read(offset, n, result, scratch);
    }

   private:
    const std::unique_ptr<leveldb::RandomAccessFile> file_;
    std::atomic<uint64_t>* const reads_;
  };

  std::atomic<uint64_t> reads_{0};
};

#endif  // COUNTING_ENV_H
