// Settings of a model or of data that add-ons define, a struct of its own type for each add-on. The core carries them
// without knowing any. An absent struct equals one with its defaults.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace normscope {

class AddedSettings {
 public:
  /// The struct of type T, with its defaults where nothing was set.
  template <typename T>
  const T& of() const {
    static const T kDefaults{};
    const auto at = structs_.find(typeid(T));
    return at == structs_.end() ? kDefaults : *std::any_cast<T>(&at->second.value);
  }
  template <typename T>
  T& of() {
    const auto at = structs_.try_emplace(typeid(T), Struct{T{}, equals<T>}).first;
    return *std::any_cast<T>(&at->second.value);
  }

  friend bool operator==(const AddedSettings& a, const AddedSettings& b) {
    return a.all_in(b) && b.all_in(a);
  }

 private:
  struct Struct {
    std::any value;
    bool (*equals)(const AddedSettings& a, const AddedSettings& b);
  };
  template <typename T>
  static bool equals(const AddedSettings& a, const AddedSettings& b) {
    return a.of<T>() == b.of<T>();
  }
  bool all_in(const AddedSettings& other) const {
    for (const auto& [type, held] : structs_)
      if (!held.equals(*this, other)) return false;
    return true;
  }

  std::map<std::type_index, Struct> structs_;
};

}  // namespace normscope
