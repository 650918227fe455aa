// Runs a TypeScript entry on Node 24. This file is plain JavaScript because an older Node must be able to read it
// in order to say, in one line, what is missing.
import { pathToFileURL } from 'node:url'
import path from 'node:path'

const WANTED_MAJOR = 24
const [, , entry, ...rest] = process.argv

if (Number(process.versions.node.split('.')[0]) < WANTED_MAJOR) {
  console.error(
    `Groundtrack needs Node ${WANTED_MAJOR} or newer; this is Node ${process.versions.node}. ` +
      'On Linux, `npm ci` brings it along as an optional dependency (do not pass --omit=optional); elsewhere install Node 24 first.',
  )
  process.exit(1)
}
process.argv = [process.argv[0], path.resolve(entry), ...rest]
await import(pathToFileURL(path.resolve(entry)).href)
