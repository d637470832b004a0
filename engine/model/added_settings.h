// Settings that add-ons bring to a model, each add-on a struct of its own type. The core carries them along and knows
// none of them.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace normscope {

class AddedSettings {
 public:
  /// The struct, with its defaults where nobody has set a member.
  template <typename T>
  const T& of() const {
    static const T kDefaults{};
    const auto at = structs_.find(typeid(T));
    return at == structs_.end() ? kDefaults : *std::any_cast<T>(&at->second);
  }
  template <typename T>
  T& of() {
    std::any& any = structs_[typeid(T)];
    if (!any.has_value()) any = T{};
    return *std::any_cast<T>(&any);
  }

 private:
  std::map<std::type_index, std::any> structs_;
};

}  // namespace normscope
