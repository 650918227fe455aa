/** Format, types, lint, imports, what crosses shards, and generated files. Everything that is wrong is shown, not only the first. */
import { execFile } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const bin = (name: string) => path.join(root, 'node_modules/.bin', name)

const CHECKS: readonly (readonly [string, string, readonly string[]])[] = [
  ['format', bin('oxfmt'), ['--check', '.']],
  ['types', bin('tsc'), ['-p', '.']],
  ['types of pages', bin('tsc'), ['-p', 'packages/share']],
  ['types of the client', bin('tsc'), ['-p', 'packages/client']],
  ['types of the console', bin('tsc'), ['-p', 'packages/console']],
  ['types of its tests', bin('tsc'), ['-p', 'test/console']],
  ['lint', bin('oxlint'), ['--deny-warnings']],
  ['imports', process.execPath, ['tools/imports.ts']],
  ['unused code', process.execPath, [path.join(root, 'node_modules/knip/bin/knip.js'), '--no-progress', '--treat-config-hints-as-errors']],
  ['shards', process.execPath, ['tools/shards.ts']],
  ['generated files', process.execPath, ['tools/gen.ts', '--check']],
]

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

interface Outcome {
  isOk: boolean
  output: string
}

/** As many at once as there are cores; each is told as soon as those before it are. */
const outcomes = CHECKS.map(() => Promise.withResolvers<Outcome>())
const next = CHECKS.entries()
async function work(): Promise<void> {
  for (const [index, [, command, args]] of next) outcomes[index]!.resolve(await run(command, args))
}
for (let n = 0; n < os.availableParallelism(); n++) void work()

let failed = 0
for (const [index, [name]] of CHECKS.entries()) {
  const { isOk, output } = await outcomes[index]!.promise
  console.log(`check ${name}: ${isOk ? 'ok' : 'FAILED'}`)
  if (!isOk) {
    console.log(output)
    failed++
  }
}
process.exitCode = failed > 0 ? 1 : 0

function run(command: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: root, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) =>
      resolve({ isOk: error === null, output: stdout + stderr }),
    )
  })
}
