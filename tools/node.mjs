// Prints the path of a Node that can run this project from source, so that npm scripts can `exec` it.
//
// Node 24 comes as an optional dependency per platform. npm 11 links it as node_modules/.bin/node, which then is the
// `node` that runs this file; npm 10, which ships with Node 20, drops that link again when it discards the packages of
// the other platforms, so the package's own folder is looked at too. Plain JavaScript: an older Node must read it.
import { existsSync } from 'node:fs'
import path from 'node:path'

const WANTED_MAJOR = 24
const root = path.dirname(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname))
const pinned = path.join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')

if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) {
  console.log(process.execPath)
} else if (existsSync(pinned)) {
  console.log(pinned)
} else {
  console.error(
    `Groundtrack needs Node ${WANTED_MAJOR} or newer and found ${process.versions.node}. On Linux \`npm ci\` brings it along ` +
      '(without --omit=optional); elsewhere install Node 24 and run the command again.',
  )
  process.exit(1)
}
