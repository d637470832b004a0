// The web program under node, as a command: node tests/web/node.js build/web ARGUMENT... Its exit code is the program's.
const path = require("node:path");

const [folder, ...given] = process.argv.slice(2);
const create = require(path.resolve(folder, "normscope.js"));
create({
  arguments: given,
  locateFile: (name) => path.resolve(folder, name),
  print: (line) => console.log(line),
  printErr: (line) => console.error(line),
  onExit: (code) => process.exit(code),
}).catch((error) => {
  console.error(error?.message ?? error);
  process.exit(1);
});
