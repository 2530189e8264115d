// Sets of sets.txt written with Roaring64Map of the packaged CRoaring 0.2.66. See ../README.md.
//
//   main make SETS FOLDER
//
// Writes only: the product bans this class, and its reader checks no bounds (B-31).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <roaring/roaring64map.hh>

namespace {

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void apply(Roaring64Map& set, const std::string& rule, std::istringstream& words) {
  std::uint64_t first = 0;
  std::uint64_t step = 0;
  std::uint64_t count = 0;
  if (rule == "optimise") {
    set.runOptimize();
  } else if (rule == "random" && words >> first >> count) {
    for (; count > 0; --count)
      set.add(splitmix64(first));
  } else if (rule == "add" && words >> first >> step >> count) {
    for (; count > 0; --count, first += step)
      set.add(first);
  } else if (rule == "remove" && words >> first >> step >> count) {
    for (; count > 0; --count, first += step)
      set.remove(first);
  } else {
    std::cerr << "no such rule: " << rule << '\n';
    std::exit(EXIT_FAILURE);
  }
}

void write(const std::string& folder, const std::string& name, const Roaring64Map& set) {
  std::vector<char> bytes(set.getSizeInBytes());
  const std::size_t written = set.write(bytes.data());
  std::ofstream file(folder + "/" + name + ".bin", std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(written));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::string(argv[1]) != "make") return EXIT_FAILURE;
  std::ifstream rules(argv[2]);
  std::string name;
  Roaring64Map set;
  for (std::string line; std::getline(rules, line);) {
    std::istringstream words(line);
    std::string rule;
    if (!(words >> rule) || rule == "#") continue;
    if (rule != "set") {
      apply(set, rule, words);
      continue;
    }
    if (!name.empty()) write(argv[3], name, set);
    words >> name;
    set = Roaring64Map();
  }
  write(argv[3], name, set);
  return EXIT_SUCCESS;
}
