#!/usr/bin/env node
// Runs the command line: as it was built where it is installed, from source in the repository. Source needs Node 24: an older one hands
// over to the Node that `npm ci` brought along. Plain JavaScript, because an older Node must read it.
import { existsSync } from 'node:fs'
import module from 'node:module'

const WANTED_MAJOR = 24

const source = new URL('../src/main.ts', import.meta.url)

if (!existsSync(source)) {
  module.enableCompileCache?.()
  const { main } = await import('../dist/main.js')
  process.exitCode = await main(process.argv.slice(2))
} else if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) {
  module.enableCompileCache?.() // The second start compiles nothing.
  const { main } = await import(source.href)
  process.exitCode = await main(process.argv.slice(2))
} else {
  const { spawn } = await import('node:child_process')
  const { realpathSync } = await import('node:fs')
  const os = await import('node:os')
  const path = await import('node:path')
  const { fileURLToPath } = await import('node:url')
  const here = path.dirname(realpathSync(fileURLToPath(import.meta.url)))
  const pinned = path.join(here, '../../../node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  const child = spawn(pinned, [path.join(here, 'groundtrack.mjs'), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', () => {
    console.error(
      `groundtrack needs Node ${WANTED_MAJOR} and found ${process.versions.node}. \`npm ci\` in the repository brings it along.`,
    )
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 128 + os.constants.signals[signal] : (code ?? 1)
  })
}
