// Lists and dictionaries of modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/nn.hpp>
#include <reprise/ops.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Modules = std::vector<std::shared_ptr<nn::Module>>;

// Told apart by the size of its weight.
std::shared_ptr<nn::Linear> linear_of(std::int64_t size)
{
    return nn::make<nn::Linear>(size, 1, nn::Linear::Options{.bias = false});
}

std::vector<std::int64_t> sizes(const nn::ModuleList& list)
{
    std::vector<std::int64_t> out;
    for (const auto& module : list)
        out.push_back(static_cast<const nn::Linear&>(*module).weight.size(1).value());
    return out;
}

// "name:size" of each parameter.
std::vector<std::string> parameters(const nn::Module& module)
{
    std::vector<std::string> out;
    for (const auto& [name, value] : module.named_parameters())
        out.push_back(name + ":" + value.size(-1).text());
    return out;
}

template <class Call> std::string refused(const Call& call)
{
    const Caught caught = error_of([&] { return call(), 0; });
    EXPECT_EQ(caught.kind, ErrorKind::argument) << caught.text;
    return caught.text;
}

TEST(ModuleList, NamesItsModulesByTheirPlaces)
{
    nn::ModuleList list(linear_of(1), linear_of(2));
    list.append(linear_of(3)).extend({linear_of(4), linear_of(5)});
    EXPECT_EQ(list.size(), 5u);
    EXPECT_THAT(parameters(list),
                ElementsAre("0.weight:1", "1.weight:2", "2.weight:3", "3.weight:4", "4.weight:5"));
    EXPECT_EQ(list.state_dict().at("3.weight").size(1), 4);
    list.insert(1, linear_of(6));
    EXPECT_THAT(sizes(list), ElementsAre(1, 6, 2, 3, 4, 5));
    list.insert(-1, linear_of(7)); // before the last
    list.insert(7, linear_of(8));  // at the end
    EXPECT_THAT(sizes(list), ElementsAre(1, 6, 2, 3, 4, 7, 5, 8));
    EXPECT_EQ(parameters(list)[5], "5.weight:7");
    const auto last = list.pop(), second = list.pop(1);
    EXPECT_EQ(static_cast<nn::Linear&>(*last).weight.size(1), 8);
    EXPECT_EQ(static_cast<nn::Linear&>(*second).weight.size(1), 6);
    list.set(-1, linear_of(9));
    EXPECT_THAT(parameters(list), ElementsAre("0.weight:1", "1.weight:2", "2.weight:3", "3.weight:4",
                                              "4.weight:7", "5.weight:9"));
    const nn::ModuleList same(Modules{linear_of(1)}), none;
    EXPECT_THAT(sizes(same), ElementsAre(1));
    EXPECT_TRUE(none.empty());
}

TEST(ModuleList, ModulesAreCalledOneByOne)
{
    nn::ModuleList list(nn::make<nn::ReLU>(), linear_of(3));
    list.at<nn::Linear>(-1).weight.assign(ones({1, 3}));
    const Tensor x = from_vector({-1.0f, 2.0f, 3.0f});
    EXPECT_EQ(list[1](list[0](x)).item<float>(), 5);
    list.eval();
    EXPECT_FALSE(list[-2].is_training());
    EXPECT_EQ(error_of([&] { return list(x); }).kind, ErrorKind::state);
}

TEST(ModuleList, TellsWhatDoesNotFitAndIsUnchanged)
{
    auto list = nn::make<nn::ModuleList>(linear_of(1), linear_of(2));
    EXPECT_THAT(refused([&] { (*list)[2]; }), HasSubstr("no place (2) in a list of (2)"));
    EXPECT_THAT(refused([&] { (*list)[-3]; }), HasSubstr("(-3)"));
    EXPECT_THAT(refused([&] { list->pop(2); }), HasSubstr("[pop]"));
    EXPECT_THAT(refused([&] { list->set(2, linear_of(3)); }), HasSubstr("[set]"));
    EXPECT_THAT(refused([&] { list->insert(3, linear_of(3)); }), HasSubstr("[insert]"));
    EXPECT_THAT(refused([&] { list->insert(-3, linear_of(3)); }), HasSubstr("[insert]"));
    EXPECT_THAT(refused([&] { list->append(nullptr); }), HasSubstr("null"));
    EXPECT_THAT(refused([&] { list->extend({linear_of(3), nullptr}); }), HasSubstr("null"));
    EXPECT_THAT(refused([&] { list->insert(0, list); }), HasSubstr("contains"));
    EXPECT_THAT(refused([&] { list->at<nn::ReLU>(0); }), HasSubstr("another type"));
    EXPECT_THAT(parameters(*list), ElementsAre("0.weight:1", "1.weight:2"));
    nn::ModuleList none;
    EXPECT_THAT(refused([&] { none.pop(); }), HasSubstr("(-1)"));
}

TEST(ModuleDict, KeepsTheOrderOfInsertion)
{
    nn::ModuleDict dict({{"b", linear_of(1)}, {"a", linear_of(2)}});
    dict.insert("c", linear_of(3));
    dict.insert("a", linear_of(4)); // in its place
    dict.update({{"d", linear_of(5)}, {"b", linear_of(6)}});
    EXPECT_THAT(dict.keys(), ElementsAre("b", "a", "c", "d"));
    EXPECT_THAT(parameters(dict), ElementsAre("b.weight:6", "a.weight:4", "c.weight:3", "d.weight:5"));
    EXPECT_EQ(dict.state_dict().at("c.weight").size(1), 3);
    EXPECT_TRUE(dict.contains("a"));
    EXPECT_FALSE(dict.contains("e"));
    EXPECT_EQ(dict.items()[1].first, "a");
    EXPECT_EQ(dict.values()[3].get(), &dict["d"]);
    const auto taken = dict.pop("a");
    EXPECT_EQ(static_cast<nn::Linear&>(*taken).weight.size(1), 4);
    EXPECT_THAT(dict.keys(), ElementsAre("b", "c", "d"));
    dict.at<nn::Linear>("c").weight.assign(full({1, 3}, 2));
    EXPECT_EQ(dict["c"](ones({3})).item<float>(), 6);
    dict.clear();
    EXPECT_TRUE(dict.empty());
    EXPECT_TRUE(dict.parameters().empty());
}

TEST(ModuleDict, TellsWhatDoesNotFitAndIsUnchanged)
{
    auto dict = nn::make<nn::ModuleDict>(nn::ModuleDict::Items{{"a", linear_of(1)}, {"b", linear_of(2)}});
    EXPECT_THAT(refused([&] { (*dict)["x"]; }), HasSubstr("no module (x): there are (a, b)"));
    EXPECT_THAT(refused([&] { dict->pop("x"); }), HasSubstr("[pop]"));
    EXPECT_THAT(refused([&] { dict->insert("", linear_of(3)); }), HasSubstr("at least one"));
    EXPECT_THAT(refused([&] { dict->insert("x.y", linear_of(3)); }), HasSubstr("no dot"));
    EXPECT_THAT(refused([&] { dict->insert("a", nullptr); }), HasSubstr("null"));
    EXPECT_THAT(refused([&] { dict->update({{"c", linear_of(3)}, {"b", dict}}); }), HasSubstr("contains"));
    EXPECT_THAT(refused([&] { dict->at<nn::ReLU>("a"); }), HasSubstr("another type"));
    EXPECT_THAT(parameters(*dict), ElementsAre("a.weight:1", "b.weight:2"));
}

} // namespace
} // namespace reprise
