// These tests count the cores and the memory that a process may use, on machines that are files: affinity masks over
// processors that share cores, and the limits of control groups as containers and batch systems have them.
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/cpu/pool.h"

namespace normscope::test {
namespace {

/// A /sys and a /proc under a folder of its own.
class Machine {
 public:
  Machine() {
    char name[] = "/tmp/normscope-cores-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~Machine() { std::filesystem::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void file(const std::string& path, const std::string& text) const {
    const std::filesystem::path at = root_ / path;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text << '\n';
  }
  void processor(int number, int package, int core) const {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/";
    file(folder + "physical_package_id", std::to_string(package));
    file(folder + "core_id", std::to_string(core));
  }
  int cores(const std::vector<int>& mask) const { return cores_among(mask, root_.string()); }
  int quota() const { return cpu_quota(root_.string()); }
  size_t memory() const { return machine_memory(root_.string()); }

 private:
  std::filesystem::path root_;
};

}  // namespace

TEST_CASE("cores: those of the affinity mask are counted, hyper-threads once") {
  const Machine cloud;  // siblings 0 and 1, 2 and 3, as cloud machines number them
  for (int i = 0; i < 4; ++i) cloud.processor(i, 0, i / 2);
  CHECK(cloud.cores({0, 1, 2, 3}) == 2);
  CHECK(cloud.cores({1, 3}) == 2);  // a batch system's mask: not the cores of processors 0 and 1
  CHECK(cloud.cores({0, 1}) == 1);
  CHECK(cloud.cores({3}) == 1);

  const Machine sockets;  // even numbers on one socket, odd ones on the other; siblings 4 apart
  for (int i = 0; i < 8; ++i) sockets.processor(i, i % 2, i % 4 / 2);
  CHECK(sockets.cores({0, 1, 2, 3, 4, 5, 6, 7}) == 4);
  CHECK(sockets.cores({0, 2, 4, 6}) == 2);
  CHECK(sockets.cores({0, 1}) == 2);  // equal core numbers of two sockets

  const Machine silent;
  CHECK(silent.cores({0, 5}) == 2);
  silent.processor(0, 0, 0);
  CHECK(silent.cores({0, 5}) == 2);  // of one of them it is not known
  silent.processor(0, -1, -1);
  silent.processor(5, -1, -1);
  CHECK(silent.cores({0, 5}) == 2);
}

TEST_CASE("cores: a control group's quota bounds them, whatever the group is above") {
  const Machine none;
  CHECK(none.quota() == 0);
  none.file("proc/self/cgroup", "0::/user.slice");
  none.file("sys/fs/cgroup/user.slice/cpu.max", "max 100000");
  CHECK(none.quota() == 0);
  none.file("sys/fs/cgroup/user.slice/cpu.max", "nothing to read");
  CHECK(none.quota() == 0);

  const Machine docker;  // docker --cpus=2: the path is the machine's, the files are the container's
  docker.file("proc/self/cgroup", "0::/system.slice/docker-0123.scope");
  docker.file("sys/fs/cgroup/cpu.max", "200000 100000");
  CHECK(docker.quota() == 2);
  docker.file("proc/self/cgroup", "0::/");
  CHECK(docker.quota() == 2);

  const Machine pod;
  pod.file("proc/self/cgroup", "0::/kube/pod/box");
  pod.file("sys/fs/cgroup/kube/pod/box/cpu.max", "max 100000");
  pod.file("sys/fs/cgroup/kube/pod/cpu.max", "250000 100000");
  pod.file("sys/fs/cgroup/kube/cpu.max", "1600000 100000");
  CHECK(pod.quota() == 3);  // the least on the way, rounded up
  pod.file("sys/fs/cgroup/kube/pod/box/cpu.max", "10000 100000");
  CHECK(pod.quota() == 1);

  for (const char* mount : {"cpu", "cpu,cpuacct"}) {
    const Machine old;
    old.file("proc/self/cgroup", "12:memory:/job\n4:cpu,cpuacct:/job/step\n1:name=systemd:/\n0::/");
    const std::string group = std::string("sys/fs/cgroup/") + mount + "/job/step/";
    old.file(group + "cpu.cfs_quota_us", "-1");
    old.file(group + "cpu.cfs_period_us", "100000");
    CHECK(old.quota() == 0);
    old.file(group + "cpu.cfs_quota_us", "150000");
    CHECK(old.quota() == 2);
  }
}

TEST_CASE("memory: a control group's limit bounds it, whatever the group is above and of either version") {
  const size_t all = machine_memory("/nowhere");
  const Machine none;
  none.file("proc/self/cgroup", "12:memory:/job\n0::/user.slice");
  none.file("sys/fs/cgroup/user.slice/memory.max", "max");
  none.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712");  // no limit
  CHECK(none.memory() == all);

  const Machine pod;
  pod.file("proc/self/cgroup", "0::/kube/pod/box");
  pod.file("sys/fs/cgroup/kube/pod/box/memory.max", "max");
  pod.file("sys/fs/cgroup/kube/pod/memory.max", "300000000");
  pod.file("sys/fs/cgroup/kube/memory.max", "400000000");
  CHECK(pod.memory() == 300'000'000);
  pod.file("sys/fs/cgroup/memory.max", "200000000");  // the container's own, whose path is the machine's
  CHECK(pod.memory() == 200'000'000);

  const Machine slurm;
  slurm.file("proc/self/cgroup", "9:memory:/slurm/uid_7/job_8/step_0\n4:cpu,cpuacct:/slurm");
  slurm.file("sys/fs/cgroup/memory/slurm/uid_7/job_8/memory.limit_in_bytes", "250000000");
  slurm.file("sys/fs/cgroup/cpu/slurm/memory.limit_in_bytes", "1000");
  CHECK(slurm.memory() == 250'000'000);
}

TEST_CASE("memory: what others hold counts beside what is asked for") {
  CHECK_NOTHROW(require_bytes("lab", 6, 4, 10));
  CHECK_THROWS_AS(require_bytes("lab", 6, 5, 10), Error);
  CHECK_THROWS_AS(require_bytes("lab", 11, 0, 10), Error);
}

TEST_CASE("cores: a pool has as many threads as there are cores to use, and at least one") {
  CHECK(usable_cores() >= 1);
  CHECK(cpu::Pool(0).threads() == usable_cores());
}

}  // namespace normscope::test
