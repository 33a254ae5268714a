// An Env of LevelDB that counts the reads of tables: with a block cache of no bytes, each is a block that a lookup reads. It can delay
// compactions, which lookups trigger, while they are counted.

#ifndef COUNTING_ENV_H
#define COUNTING_ENV_H

#include <leveldb/env.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

class CountingEnv : public leveldb::EnvWrapper {
 public:
  CountingEnv() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

  uint64_t reads() const { return reads_.load(); }

  void PauseCompactions() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_paused_ = true;
  }

  void ResumeCompactions() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_paused_ = false;
    for (const auto& work : delayed_) target()->Schedule(work.first, work.second);
    delayed_.clear();
  }

  void Schedule(void (*function)(void*), void* argument) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (is_paused_) {
      delayed_.emplace_back(function, argument);
    } else {
      target()->Schedule(function, argument);
    }
  }

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
  std::mutex mutex_;
  bool is_paused_ = false;
  std::vector<std::pair<void (*)(void*), void*>> delayed_;
};

#endif  // COUNTING_ENV_H
