/** Format, types, lint, imports and generated files. Everything that is wrong is shown, not only the first. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const bin = (name: string) => path.join(root, 'node_modules/.bin', name)

const CHECKS: readonly (readonly [string, string, readonly string[]])[] = [
  ['format', bin('oxfmt'), ['--check', '.']],
  ['types', bin('tsc'), ['-p', '.']],
  ['types of pages', bin('tsc'), ['-p', 'packages/share']],
  ['types of the client', bin('tsc'), ['-p', 'packages/client']],
  ['types of the console', bin('tsc'), ['-p', 'packages/console']],
  ['lint', bin('oxlint'), ['--deny-warnings']],
  ['imports', process.execPath, ['tools/imports.ts']],
  ['unused code', process.execPath, [path.join(root, 'node_modules/knip/bin/knip.js'), '--no-progress', '--treat-config-hints-as-errors']],
  ['generated files', process.execPath, ['tools/gen.ts', '--check']],
]

let failed = 0
for (const [name, command, args] of CHECKS) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  console.log(`check ${name}: ${status === 0 ? 'ok' : 'FAILED'}`)
  if (status !== 0) {
    console.log(stdout + stderr)
    failed++
  }
}
process.exitCode = failed > 0 ? 1 : 0
