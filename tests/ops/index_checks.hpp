// Whether indices are checked, for the life of an object: debug builds check them at first, release builds do not.
#pragma once
#include <reprise/ops/indexing.hpp>

class IndexChecks {
public:
    explicit IndexChecks(bool on) : before_(reprise::checks_indices()) { reprise::set_check_indices(on); }
    ~IndexChecks() { reprise::set_check_indices(before_); }
    IndexChecks(const IndexChecks&) = delete;
    IndexChecks& operator=(const IndexChecks&) = delete;

private:
    bool before_;
};
