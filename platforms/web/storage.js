// Before the program runs: its home folder is in the browser's storage. What is written there is stored a moment later;
// what the page holds back from earlier visits is there before main() begins. Not under node, and not in the workers.
if (typeof document !== "undefined" && typeof importScripts === "undefined") {
  Module["preRun"] = [].concat(Module["preRun"] || [], () => {
    const home = "/home/normscope";
    ENV["HOME"] = home;
    FS.mkdirTree(home);
    Module["nsStorage"] = "saved";
    const mount = FS.mount(IDBFS, { autoPersist: true }, home).mount;
    // Reading writes into the home, too: storing it then would delete what is stored and not read yet. IDBFS starts no
    // storing in a state that it does not know.
    mount.idbPersistState = "loading";
    addRunDependency("normscope storage");
    let over = false;
    const end = (error) => {
      clearTimeout(timer);
      if (over) return;
      over = true;
      if (error) leaveOut();
      else mount.idbPersistState = 0;
      removeRunDependency("normscope storage");
    };
    // A home that was read in part is none, and would be stored over the whole one: the program begins with an empty
    // folder that is not stored. What still comes is dropped.
    const leaveOut = () => {
      Module["nsStorage"] = "";
      IDBFS.storeLocalEntry = (path, entry, done) => done(null);
      IDBFS.removeLocalEntry = (path, done) => done(null);
      FS.unmount(home);
    };
    // A browser that neither gives its storage nor refuses it (a private window may) keeps nobody waiting for long.
    let timer = setTimeout(() => end("closed"), 2000);
    IDBFS.getDB(home, (error) => {
      if (error || over) return end(error);
      clearTimeout(timer);
      timer = setTimeout(() => end("slow"), 20000);
      if (Module["nsStatus"]) Module["nsStatus"]("Reading what this browser keeps");
      FS.syncfs(true, end);
    });
  });
}
