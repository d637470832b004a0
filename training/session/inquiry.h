// An `Inquiry` measures something of a run beside its training, part by part, so that what is quick is shown first
// and a newer one can come before what takes long. session::Inquire begins one; the Lab carries it on between two
// steps.
#pragma once

#include <cstddef>
#include <memory>

namespace normscope {

/// What an inquiry has found so far. Whoever asked for it knows what it is.
struct InquiryResult {
  virtual ~InquiryResult() = default;
};

/// It changes no bit of its run, which has to stay as it is meanwhile.
class Inquiry {
 public:
  virtual ~Inquiry() = default;
  virtual bool next() = 0;  ///< measures one part; false where there is none left
  virtual size_t done() const = 0;
  virtual size_t parts() const = 0;
  /// Holds after parts that complete something.
  virtual bool worth_showing() const = 0;
  /// Whether what is still to be measured can be: the run has not moved on.
  virtual bool holds() const = 0;
  virtual std::shared_ptr<const InquiryResult> result() const = 0;
};

}  // namespace normscope
