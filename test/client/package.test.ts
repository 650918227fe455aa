import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

const root = path.join(import.meta.dirname, '../..')
const source = path.join(root, 'packages/client')
const tsc = path.join(root, 'node_modules/.bin/tsc')
const CORE_BYTES = 15_000

const run = (command: string, args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** What a program does that imports a file, and so on: its own files of the package. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, specifier] of readFileSync(file, 'utf8').matchAll(/(?:from|import) '(\.[^']+)'/g))
    reached(path.join(path.dirname(file), specifier!), seen)
  return seen
}

const PROGRAM = `import { Groundtrack, isProblem, type Item, type PlatformEvent } from '@groundtrack/client'
import { Client } from '@groundtrack/client/core'
import { ItemsApi } from '@groundtrack/client/operations/items'

const gt = new Groundtrack({ baseUrl: 'http://127.0.0.1:9', apiKey: 'svc_x', maxRetries: 0 })
export async function names(project_id: string): Promise<string[]> {
  const items: Item[] = await gt.items.list({ project_id }).all()
  return items.map(({ name }) => name)
}
export const created = (event: PlatformEvent) => (event.event_type === 'item.created' ? event.data.bbox : null)
// @ts-expect-error: a field that does not exist is refused by the compiler.
export const wrong = () => gt.items.list({ project: 'x' })
const items = new ItemsApi(new Client({ baseUrl: 'http://127.0.0.1:9', maxRetries: 0 }))
try {
  await items.get({ item_id: 'x' })
} catch (error) {
  console.log(isProblem(error, 'not-found'), error instanceof Error ? error.name : '')
}
`

// Goal: the packed client works in a folder of its own: types resolve under strict in Node and in a bundler, and it stays small.
test('the package', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-package-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const built = path.join(folder, 'node_modules/@groundtrack/client')
  mkdirSync(built, { recursive: true })
  run(tsc, ['-p', 'tsconfig.build.json', '--outDir', path.join(built, 'dist')], source)
  for (const file of ['package.json', 'README.md']) cpSync(path.join(source, file), path.join(built, file))
  const { exports, dependencies } = JSON.parse(readFileSync(path.join(built, 'package.json'), 'utf8'))
  assert.equal(dependencies, undefined, 'the client depends on nothing')
  for (const entry of [exports['.'], exports['./core'], exports['./node']] as { types: string; default: string }[])
    for (const file of [entry.types, entry.default]) assert.ok(existsSync(path.join(built, file)), file)

  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(path.join(folder, 'program.ts'), PROGRAM)
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.iterable',
    '--types',
    '',
    'program.ts',
  ]
  run(tsc, ['--module', 'nodenext', ...options], folder)
  run(tsc, ['--module', 'esnext', '--moduleResolution', 'bundler', ...options], folder)
  run(tsc, ['--module', 'nodenext', '--target', 'es2022', '--types', '', '--skipLibCheck', 'program.ts'], folder)
  assert.equal(run(process.execPath, ['program.js'], folder), 'false ConnectionError\n')

  const size = (entry: string) => {
    const files = [...reached(path.join(built, 'dist', entry))]
    const text = files
      .map((file) =>
        readFileSync(file, 'utf8')
          .replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '')
          .replaceAll(/^\s+/gm, ''),
      )
      .join('')
    return gzipSync(text, { level: 9 }).length
  }
  const [core, all] = [size('core.js'), size('index.js')]
  t.diagnostic(`gzip, comments and indents left out, not minified: core ${core} bytes, everything ${all} bytes`)
  assert.ok(core < CORE_BYTES, `the core has ${core} bytes`)
})
