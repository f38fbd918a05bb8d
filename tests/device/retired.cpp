#include "device/retired.hpp"
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace reprise::device {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// An object that runs a function when it is destroyed.
struct Noted : Retired {
    explicit Noted(std::function<void()> f) : at_end(std::move(f)) {}
    ~Noted() override { at_end(); }
    Noted(const Noted&) = delete;
    Noted& operator=(const Noted&) = delete;
    std::function<void()> at_end;
};

class RetiredObjects : public testing::Test {
protected:
    void retire(Ticket ticket, int name)
    {
        list_.push(ticket, std::make_unique<Noted>([this, name] { destroyed_.push_back(name); }));
    }
    void collect(Ticket completed)
    {
        list_.collect([=](Ticket ticket) { return ticket <= completed; });
    }

    std::vector<int> destroyed_;
    RetiredList list_;
};

TEST_F(RetiredObjects, AreDestroyedInOrderOnceTheirTicketsAreDone)
{
    retire(3, 1);
    retire(2, 2); // waits for the one before it
    retire(5, 3);
    collect(2);
    EXPECT_THAT(destroyed_, IsEmpty());
    collect(4);
    EXPECT_THAT(destroyed_, ElementsAre(1, 2));
    EXPECT_EQ(list_.size(), 1u);
    collect(5);
    retire(6, 4); // behind the end of a list that was emptied
    collect(6);
    EXPECT_THAT(destroyed_, ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(list_.size(), 0u);
}

TEST_F(RetiredObjects, MayRetireOthersWhenTheyAreDestroyed)
{
    list_.push(1, std::make_unique<Noted>([this] { retire(2, 7); }));
    collect(1);
    EXPECT_THAT(destroyed_, IsEmpty());
    collect(2);
    EXPECT_THAT(destroyed_, ElementsAre(7));
}

TEST_F(RetiredObjects, SayWhichTicketLeavesFewerOfThem)
{
    EXPECT_EQ(list_.ticket_of_surplus(0), 0u);
    retire(9, 1);
    retire(4, 2);
    retire(5, 3);
    EXPECT_EQ(list_.ticket_of_surplus(3), 0u);
    EXPECT_EQ(list_.ticket_of_surplus(2), 9u);
    EXPECT_EQ(list_.ticket_of_surplus(1), 9u);
    EXPECT_EQ(list_.ticket_of_surplus(0), 9u);
}

TEST(RetiredList, DestroysManyObjectsWithoutRecursion)
{
    int destroyed = 0;
    {
        RetiredList list;
        for (Ticket t = 1; t <= 1'000'000; ++t) list.push(t, std::make_unique<Noted>([&] { ++destroyed; }));
    }
    EXPECT_EQ(destroyed, 1'000'000);
}

} // namespace
} // namespace reprise::device
