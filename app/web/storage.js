// Before the program runs: its home folder is in the browser's storage. What is written there is stored a moment later;
// what the page holds back from earlier visits is there before main() begins. Not under node, and not in the workers.
if (typeof document !== "undefined" && typeof importScripts === "undefined") {
  Module["preRun"] = [].concat(Module["preRun"] || [], () => {
    const home = "/home/normscope";
    ENV["HOME"] = home;
    FS.mkdirTree(home);
    Module["nsStorage"] = "saved";
    try {
      FS.mount(IDBFS, { autoPersist: true }, home);
    } catch (error) {
      Module["nsStorage"] = "";
      return;
    }
    addRunDependency("normscope storage");
    // A browser that neither gives its storage nor refuses it (a private window may) keeps nobody waiting.
    let waiting = true;
    const go = (error) => {
      if (error) Module["nsStorage"] = "";
      if (waiting) removeRunDependency("normscope storage");
      waiting = false;
    };
    setTimeout(() => go("late"), 2000);
    FS.syncfs(true, go);
  });
}
