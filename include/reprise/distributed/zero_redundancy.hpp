// Optimizers whose state is shared out among the ranks of a world.
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/distributed/data_parallel.hpp>
#include <reprise/optim/clip.hpp>
#include <reprise/optim/optimizer.hpp>

namespace reprise::detail {

// The parameters of a ZeroRedundancyOptimizer and this rank's shards of them.
class Shards { // src/distributed/shards.cpp
public:
    explicit Shards(GradientReducer&);
    ~Shards();
    Shards(const Shards&) = delete;
    Shards& operator=(const Shards&) = delete;

    bool empty() const { return entries_.empty(); } // in a world of one
    Parameters of(const Parameters&); // makes the shards of further parameters, and returns them
    template <class Options> optim::ParamGroups<Options> of(optim::ParamGroups<Options> groups)
    {
        for (optim::ParamGroup<Options>& group : groups.groups) group.params = of(group.params);
        return groups;
    }
    // Returns this rank's part of a parameter.  That of the shard is older where the parameter was assigned since
    // gather().
    Tensor value(std::size_t index) const;
    void check_exchanged() const;           // Error(state) if a gradient is not in its shard
    void gather() const;                    // sets the parameters from the shards of all ranks
    void clear_gradients(bool set_to_none); // of the parameters
    Tensor any_rank(const Tensor& skip) const;
    optim::GradNorm clip(const Parameters& shards, double max_norm, const optim::ClipGradNormOptions&) const;

    // Whether an entry of the state of a parameter has a value for each of its elements.
    using HasElements = std::function<bool(std::size_t index, const std::string& entry)>;
    // `of_shards` is the state of the optimizer of the shards.  Returns it with entries named as parts of this rank.
    optim::StateDict named_parts(const optim::StateDict& of_shards, const HasElements&) const;
    // Returns it with whole entries, collected from all ranks.
    optim::StateDict whole(const optim::StateDict& of_shards, const HasElements&) const;
    // Returns it from a state with whole entries, or with the parts of this rank or of all.
    optim::StateDict of_shards(const optim::StateDict& state, const HasElements&) const;

private:
    struct Entry {
        Variable parameter, shard;
    };
    std::shared_ptr<GradientReducer::Shared> reducer_;
    std::vector<Entry> entries_; // by index of the optimizer
};

// Constructs the shards before the optimizer that updates them.
class HasShards {
protected:
    explicit HasShards(GradientReducer& reducer) : shards_(reducer) {}
    Shards shards_;
};

} // namespace reprise::detail

namespace reprise::optim {

// An optimizer that keeps moments and master weights of 1/n of the elements of each parameter on each of n ranks, as
// torch.distributed.optim.ZeroRedundancyOptimizer and stage 1 of ZeRO (Rajbhandari et al., 2020).  backward() reduces
// gradients to their shards (reduce_scatter), the step updates these, and the new parameters are collected
// (all_gather): as many bytes as without it, but for the zeros that make shards equal.
//
//     nn::DistributedDataParallel ddp(net, world);
//     optim::ZeroRedundancyOptimizer<optim::AdamW> optimizer(ddp, {.lr = 1e-3});
//
// Results have the bits of the same optimizer without shards.  Only moments in 8 bits and stochastic rounding depend on
// the place of an element, clip_grad_norm_() adds squares in another order, and several exchanged backward passes
// before a step add up means in place of gradients.  O is an optimizer that updates each element by itself, as all of
// reprise::optim do that derive from Optimizer.  It is used as O: schedules, GradScaler and recorded programs take it.
// What differs:
//   - parameters() are this rank's shards, vectors of ceil(N / n) elements, which need that memory, too.  Parameters of
//     the module have no grad() once it was exchanged: clip with clip_grad_norm_() of this class.
//   - step() throws Error(state) if a parameter has a gradient that was not exchanged: after no_sync(), or without
//     the DistributedDataParallel of the constructor.
//   - state_dict() is that of this rank: rank k of n has "i.exp_avg.part_k_of_n" and so on.
// The module must exist as long as this object, and keep its device and dtypes.  In a world of one it is O.
template <std::derived_from<Optimizer> O> class ZeroRedundancyOptimizer : private detail::HasShards,
                                                                          public O {
public:
    using Options = typename O::Options; // the options in braces

    // For all parameters of the module that require a gradient.  Errors as of O.
    template <class M>
    explicit ZeroRedundancyOptimizer(nn::DistributedDataParallel<M>& ddp, const Options& options = {})
        : ZeroRedundancyOptimizer(ddp, trained(ddp.module()), options)
    {}
    // The same with a learning rate and the other options' defaults.
    template <class M, shape::Number N> ZeroRedundancyOptimizer(nn::DistributedDataParallel<M>& ddp, N lr)
        : ZeroRedundancyOptimizer(ddp, Options{.lr = static_cast<double>(lr)})
    {}
    // For parameters of the module, as O takes them.  Throws Error(argument) for others, for those that come twice, and
    // as O does.
    template <class M>
    ZeroRedundancyOptimizer(nn::DistributedDataParallel<M>& ddp, const ParamGroups<Options>& groups,
                            const Options& options = {})
        : HasShards(ddp.reducer()), O(shards_.of(groups), options)
    {}

    // Sets the gradients of the shards, and those of parameters that were not exchanged, to undefined or to zeros.
    void zero_grad(bool set_to_none = true) override
    {
        O::zero_grad(set_to_none);
        shards_.clear_gradients(set_to_none);
    }
    // optim::clip_grad_norm_() of the gradients of all shards on all ranks.  The norm is the same on each.
    // Error(argument) also for a norm_type of 0 or below in a world of several.
    GradNorm clip_grad_norm_(double max_norm, const ClipGradNormOptions& options = {})
    {
        return shards_.clip(O::parameters(), max_norm, options);
    }

    // Returns the state of this rank.
    StateDict state_dict() const override { return shards_.named_parts(O::state_dict(), has_elements()); }
    // Loads a result of state_dict() of this rank, of all ranks of a world of any size together, or of O without
    // shards.  Moments in 8 bits fit the rank only that had them.  Errors as of O.
    void load_state_dict(const StateDict& state) override
    {
        O::load_state_dict(shards_.of_shards(state, has_elements()));
    }
    // Returns the state of O without shards, collected from all ranks, all of which must call it.  Error(unsupported)
    // for moments in 8 bits.
    StateDict consolidated_state_dict() const { return shards_.whole(O::state_dict(), has_elements()); }

private:
    static Parameters trained(const nn::Module& module)
    {
        std::vector<Variable> all = module.parameters();
        std::erase_if(all, [](const Variable& p) { return !p.requires_grad(); });
        return all;
    }
    detail::Shards::HasElements has_elements() const
    {
        return [this](std::size_t index, const std::string& entry) { return O::has_elements(index, entry); };
    }
    Parameters to_update(const Parameters& further) override { return shards_.of(further); }
    Tensor value(std::size_t index) const override
    {
        return shards_.empty() ? O::value(index) : shards_.value(index);
    }
    Tensor any_rank(const Tensor& skip) const override { return shards_.any_rank(skip); }
    void begin_step() override { shards_.check_exchanged(); }
    void end_step() override { shards_.gather(); }
};

} // namespace reprise::optim
