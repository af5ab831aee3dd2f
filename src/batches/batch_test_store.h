// What the tests of batches share: a store in a folder of its own on virtual time. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "batches/batch_store.h"
#include "store/store_test_folder.h"

namespace zerohop {

class WithBatchStore : public testing::Test {
 protected:
  void SetUp() override { reopen(); }

  // As a restart of the process does.
  void reopen(std::uint32_t pages_max = 0) {
    store.reset();
    DatabaseOptions options;
    options.path = folder.file("batches.db");
    options.pages_max = pages_max;
    Result<std::unique_ptr<BatchStore>> opened = BatchStore::open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store = std::move(opened).value();
  }

  // Requests "r0", "r1", … with params "p0", "p1", …
  static NewBatch batch_of(const std::string& id, std::size_t requests) {
    NewBatch batch;
    batch.id = id;
    for (std::size_t i = 0; i < requests; ++i) {
      batch.requests.push_back({"r" + std::to_string(i), "p" + std::to_string(i)});
    }
    return batch;
  }
  void create(const std::string& id, std::size_t requests) {
    const Result<MessageBatch> made = store->create(batch_of(id, requests), clock.wall());
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  MessageBatch get(const std::string& id) const {
    const Result<MessageBatch> found = store->get(id);
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : MessageBatch{};
  }
  std::vector<BatchResult> results(const std::string& id) const {
    std::vector<BatchResult> all;
    BatchResultQuery query{id, 0, 3};
    while (true) {
      Result<BatchResultPage> page = store->results(query);
      EXPECT_TRUE(page.ok());
      if (!page.ok()) return all;
      for (BatchResult& result : page->results) all.push_back(std::move(result));
      if (!page->next) return all;
      query.next = *page->next;
    }
  }

  StoreTestFolder folder;
  VirtualClock clock;
  std::unique_ptr<BatchStore> store;
};

}  // namespace zerohop
