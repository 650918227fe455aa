#!/usr/bin/env node
// Runs the command line: the build where it is installed, the source in the repository. The source needs Node 24: an older Node
// starts the one that `npm ci` installed. Plain JavaScript, because an older Node must read it.
import { existsSync } from 'node:fs'
import module from 'node:module'

const REQUIRED_MAJOR = 24

const source = new URL('../src/main.ts', import.meta.url)

if (!existsSync(source)) {
  module.enableCompileCache?.()
  const { main } = await import('../dist/main.js')
  process.exitCode = await main(process.argv.slice(2))
} else if (Number(process.versions.node.split('.')[0]) >= REQUIRED_MAJOR) {
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
      `groundtrack needs Node ${REQUIRED_MAJOR}; this is ${process.versions.node}. Run \`npm ci\` in the repository to install it.`,
    )
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 128 + os.constants.signals[signal] : (code ?? 1)
  })
}
