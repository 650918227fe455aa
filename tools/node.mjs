// Prints the path of a Node that can run this project from source, so that npm scripts can `exec` it.
//
// Node 24 comes as an optional dependency per platform. npm 11 links it as node_modules/.bin/node, which then is the
// `node` that runs this file; npm 10, which ships with Node 20, drops that link again when it discards the packages of
// the other platforms, so the package's own folder is looked at too. Plain JavaScript: an older Node must read it.
//
// With --check it prints nothing. Scripts begin with that, because cmd.exe can run it and stops there with the message for Windows.
import { existsSync } from 'node:fs'
import path from 'node:path'

if (process.platform === 'win32') {
  console.error('Groundtrack runs on Linux and macOS. On Windows, run it in WSL: https://learn.microsoft.com/windows/wsl/install')
  process.exit(1)
}

const WANTED_MAJOR = 24
const root = path.dirname(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname))
const pinned = path.join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')

const suitable = Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR ? process.execPath : existsSync(pinned) ? pinned : null

if (suitable !== null) {
  if (!process.argv.includes('--check')) console.log(suitable)
} else {
  console.error(
    `Groundtrack needs Node ${WANTED_MAJOR} or later and found ${process.versions.node}. On Linux, \`npm ci\` installs it ` +
      '(without --omit=dev or --omit=optional); otherwise install Node 24 and run the command again.',
  )
  process.exit(1)
}
