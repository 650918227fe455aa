import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { circles, faults, importsOf, packageFaults, type Graph } from '../../tools/imports.ts'
import { LAYERS, refusal, folderOf, FOLDERS, type Folder } from '../../tools/layers.ts'

const root = path.join(import.meta.dirname, '../..')

/** Examples written by hand, so that the table cannot become looser unnoticed. All other cases are derived from it. */
const EXAMPLES: Record<string, { refused: string[]; allowed: string[] }> = {
  'src/core/': {
    refused: ['#db/tables.ts', '#raster/errors.ts', '#operation.ts', '#config.ts', '#core/ids.test.ts'],
    allowed: ['typebox'],
  },
  'src/raster/': { refused: ['#core/ids.ts', '#ports/raster.ts'], allowed: ['#raster/tiff/open.ts'] },
  'src/db/': {
    refused: ['#model/identity/user.ts', '#ports/storage.ts', '#main.ts'],
    allowed: ['#core/ids.ts', 'kysely', 'pg', 'pg-boss'],
  },
  'src/ports/': { refused: ['#raster/tiff/open.ts', '#adapters/storage/open.ts', '#db/tables.ts'], allowed: ['#core/ids.ts'] },
  'src/model/': {
    refused: ['#raster/errors.ts', '#operation.ts', '#pipeline/invoke.ts'],
    allowed: ['#model/money/ledger.ts', 'kysely', 'pg'],
  },
  'src/operation.ts': {
    refused: ['#task.ts', './task.ts', './access/tokens.ts', 'kysely'],
    allowed: ['#context.ts', './context.ts', './core/clock.ts'],
  },
  'src/context.ts': { refused: ['#access/tokens.ts', '#operation.ts'], allowed: ['#core/share-grant.ts'] },
  'src/services/': {
    refused: ['#db/tables.ts', '#task.ts', '#domains/items/wire.ts', 'pg-boss'],
    allowed: ['#operation.ts', '#raster/errors.ts'],
  },
  'src/domains/': {
    refused: ['#domains/projects/wire.ts', '#db/tables.ts', '#pipeline/invoke.ts', '#http/server.ts', '#adapters/x.ts', 'pg/lib/x.js'],
    allowed: ['#task.ts', '#wire/tile.ts', './wire.ts'],
  },
  'src/pipeline/': {
    refused: [
      '#raster/render/tile.ts',
      '#raster/error.ts',
      '#adapters/raster/service.ts',
      '#background/usage.ts',
      '#registry.ts',
      'kysely',
    ],
    allowed: ['#raster/errors.ts', '#access/tokens.ts'],
  },
  'src/http/': { refused: ['#model/identity/user.ts', '#task.ts', '#start/compose.ts'], allowed: ['#background/tasks.ts', 'fastify'] },
  'sandbox/': {
    refused: ['#http/server.ts', '../src/core/ids.ts', '../../src/core/ids.ts'],
    allowed: ['../scenes/index.ts', '#raster/errors.ts'],
  },
}

interface Diagnostic {
  code: string
  filename: string
  labels: { span: { line: number } }[]
}

interface Met {
  code: string
  line: number
}

/** Lints a tree of small files with our own configuration and says which rule met which file. */
function lint(files: Record<string, string>): Map<string, Met[]> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-lint-'))
  try {
    copyFileSync(path.join(root, '.oxlintrc.json'), path.join(dir, '.oxlintrc.json'))
    copyFileSync(path.join(root, 'package.json'), path.join(dir, 'package.json'))
    symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(dir, name)), { recursive: true })
      writeFileSync(path.join(dir, name), text)
    }
    const { stdout, stderr } = spawnSync(path.join(root, 'node_modules/.bin/oxlint'), ['--format=json', '--deny-warnings'], {
      cwd: dir,
      encoding: 'utf8',
    })
    assert.ok(stdout.trim().startsWith('{'), `oxlint said: ${stdout}${stderr}`)
    const met = new Map(Object.keys(files).map((name) => [name, [] as Met[]]))
    for (const { code, filename, labels } of (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics)
      met.get(path.relative(dir, path.resolve(dir, filename)))?.push({ code, line: labels[0]?.span.line ?? 0 })
    return met
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** A file of a folder, for what is planted: `x.ts` in a folder, or the file that is the folder. */
const fileIn = (seen: string) => (seen.endsWith('/') ? `${seen}${seen === 'src/domains/' ? 'planted/' : ''}x.ts` : seen)
const asImport = (file: string) => file.replace(/^src\//, '#')

/** What the table says about a folder: one import of every other folder and of the top of src, and whether it is refused. */
function derived(folder: Folder): { specifier: string; isRefused: boolean }[] {
  const targets = [...FOLDERS.map(({ path: to }) => fileIn(to)), 'src/main.ts', 'src/tomorrow/x.ts']
  const ours = targets.filter((to) => to.startsWith('src/') && to !== 'src/x.ts' && folderOf(to) !== folder)
  return [
    ...ours.map((to) => ({ specifier: asImport(to), isRefused: refusal(fileIn(folder.path), to, false) !== null })),
    ...['kysely', 'pg', 'pg-boss'].map((specifier) => ({ specifier, isRefused: !folder.sql })),
    { specifier: '../other/x.ts', isRefused: folder.path.startsWith('src/') },
    { specifier: 'node:crypto', isRefused: false },
  ]
}

// Goal: the architecture rules find violations, and accept valid code.
test('import rules of every folder', () => {
  const plants = FOLDERS.filter(({ imports }) => imports !== 'all').flatMap((folder) => [
    ...derived(folder).map((plant) => ({ folder, ...plant })),
    ...(EXAMPLES[folder.path]?.refused ?? []).map((specifier) => ({ folder, specifier, isRefused: true })),
    ...(EXAMPLES[folder.path]?.allowed ?? []).map((specifier) => ({ folder, specifier, isRefused: false })),
  ])
  assert.deepEqual(
    Object.keys(EXAMPLES).filter((wanted) => !plants.some(({ folder }) => folder.path === wanted)),
    [],
  )
  // A folder that is one file is planted whole: its imports are told apart by their lines.
  const placed = plants.map((plant, index) => ({ ...plant, file: fileIn(plant.folder.path).replace('x.ts', `plant${index}.ts`) }))
  const texts = Object.groupBy(placed, ({ file }) => file)
  const met = lint(
    Object.fromEntries(
      Object.entries(texts).map(([file, group]) => [
        file,
        group!.map(({ specifier }, index) => `export * as x${index} from '${specifier}'\n`).join(''),
      ]),
    ),
  )
  for (const plant of placed) {
    const line = texts[plant.file]!.indexOf(plant) + 1
    const codes = met.get(plant.file)!.filter((message) => message.line === line && message.code.includes('no-restricted-imports'))
    assert.equal(
      codes.length > 0,
      plant.isRefused,
      `${plant.folder.path} imports ${plant.specifier}: ${plant.isRefused ? 'passes' : 'is refused'}`,
    )
  }
})

test('a folder can import types of another and no code', () => {
  const met = lint({
    'src/ports/types.ts': "import type { Raster } from '#raster/types.ts'\nexport type X = Raster\n",
    'src/ports/values.ts': "import { openTiff } from '#raster/tiff/open.ts'\nexport const x = openTiff\n",
  })
  assert.deepEqual(
    [...met].map(([name, messages]) => [name, messages.length > 0]),
    [
      ['src/ports/types.ts', false],
      ['src/ports/values.ts', true],
    ],
  )
})

test('the table of folders has no folder that imports a higher one', () => {
  for (const [index, folder] of FOLDERS.entries()) {
    if (folder.imports === 'all') continue
    for (const seen of [...folder.imports, ...(folder.importsTypesOf ?? [])]) {
      const target = FOLDERS.indexOf(folderOf(seen)!)
      const isBelow = target < index && LAYERS.indexOf(FOLDERS[target]!.layer) <= LAYERS.indexOf(folder.layer)
      assert.ok(target !== -1 && isBelow, `${folder.path} imports ${seen}`)
    }
  }
})

const graph = (...pairs: [string, string][]): Graph => ({
  files: [...new Set(pairs.flat())],
  imports: pairs.map(([from, to], index) => ({ from, to, line: index + 1, isTypeOnly: false })),
})

test('cycles and upward imports are found', () => {
  assert.deepEqual(faults(graph(['src/model/a.ts', 'src/core/a.ts'], ['src/core/a.ts', 'src/core/b.ts'])), [])
  assert.deepEqual(
    circles(graph(['src/core/a.ts', 'src/core/b.ts'], ['src/core/b.ts', 'src/core/c.ts'], ['src/core/c.ts', 'src/core/a.ts'])),
    [['src/core/a.ts', 'src/core/b.ts', 'src/core/c.ts']],
  )
  assert.match(faults(graph(['src/core/a.ts', 'src/db/a.ts']))[0]!, /^src\/core\/a\.ts:1: imports src\/db\/a\.ts, against the layers/)
  assert.match(faults(graph(['src/domains/a/x.ts', 'src/domains/b/x.ts']))[0]!, /against the layers/)
  assert.match(faults(graph(['src/attic/a.ts', 'src/core/a.ts']))[0]!, /is in no listed folder/)
  assert.match(faults(graph(['src/core/a.ts', 'src/core/a.ts']))[0]!, /circle of 1 files/)
  const text =
    "import {\n  a,\n  type B,\n} from '#core/a.ts'\nimport type { C } from './c.ts'\nexport * from '../d.ts'\nconst " +
    "e = await import('./e.ts')\n"
  assert.deepEqual(
    importsOf('src/model/x/y.ts', text).map(({ to, line, isTypeOnly }) => [to, line, isTypeOnly]),
    [
      ['src/core/a.ts', 1, false],
      ['src/model/x/c.ts', 5, true],
      ['src/model/d.ts', 6, false],
      ['src/model/x/e.ts', 7, false],
    ],
  )
})

// Goal: packages have their own layers, and screens of the console do not import each other.
test('an upward import, an import of another screen and a cycle are found in packages', () => {
  const at = (path: string) => `packages/console/src/${path}`
  const allowed = [
    [at('screens/orders/a.tsx'), at('parts/orders/a.tsx')],
    [at('screens/orders/a.tsx'), at('screens/orders/b.tsx')],
    [at('map/a.ts'), at('ui/a.ts')],
    [at('api/client.ts'), 'packages/client/src/core.ts'],
  ] as const
  for (const pair of allowed) assert.deepEqual(packageFaults(graph([...pair])), [], pair.join(' to '))
  const refused = [
    [at('ui/a.tsx'), at('state/a.ts')],
    [at('api/a.ts'), at('ui/a.tsx')],
    [at('shell/a.tsx'), at('screens/orders/a.tsx')],
    [at('screens/orders/a.tsx'), at('screens/tasking/a.tsx')],
    [at('ui/a.tsx'), 'src/core/ids.ts'],
    ['packages/client/src/problem.ts', 'packages/client/src/upload.ts'],
    ['packages/cli/src/commands/a.ts', 'packages/cli/src/main.ts'],
  ] as const
  for (const pair of refused) assert.match(packageFaults(graph([...pair]))[0] ?? '', /against the layers/, pair.join(' to '))
  assert.match(packageFaults(graph([at('attic/a.ts'), at('api/a.ts')]))[0]!, /is in no layer/)
  assert.match(packageFaults(graph([at('ui/a.ts'), at('ui/b.ts')], [at('ui/b.ts'), at('ui/a.ts')])).join(), /circle of 2 files/)
})

test('type imports count, too', () => {
  const met = lint({
    'src/core/a.ts': "import type { Db } from '#db/tables.ts'\nexport type X = Db\n",
    'src/domains/planted/b.ts': "export { x } from '#domains/projects/wire.ts'\n",
  })
  for (const [name, codes] of met)
    assert.ok(
      codes.some(({ code }) => code.includes('no-restricted-imports')),
      name,
    )
})

test('outbound requests, evaluation, cycles, long functions', () => {
  const met = lint({
    'src/model/fetches.ts': "export const x = () => fetch('https://x.example')\n",
    'src/domains/planted/fetches.ts': "export const x = () => fetch('https://x.example')\n",
    'src/core/evaluates.ts': 'export const x = (text: string) => eval(text) as unknown\n',
    'src/core/constructs.ts': 'export const x = (text: string) => new Function(text)\n',
    'src/core/one.ts': "import { two } from './two.ts'\nexport const one = (): number => two()\n",
    'src/core/two.ts': "import { one } from './one.ts'\nexport const two = (): number => one()\n",
    'src/model/long.ts': `export function long(x: number): number {\n${'  x += 1\n'.repeat(80)}  return x\n}\n`,
    'src/model/many.ts':
      'export const many = (a: number, b: number, c: number, d: number, e: number, f: number) => a + b + c + d + e + f\n',
    'src/model/loose.ts': 'export const loose = (a: any) => a == 1\n',
  })
  for (const [name, rule] of [
    ['src/model/fetches.ts', 'no-restricted-globals'],
    ['src/domains/planted/fetches.ts', 'no-restricted-globals'],
    ['src/core/evaluates.ts', 'no-eval'],
    ['src/core/constructs.ts', 'no-new-func'],
    ['src/core/one.ts', 'no-cycle'],
    ['src/core/two.ts', 'no-cycle'],
    ['src/model/long.ts', 'max-lines-per-function'],
    ['src/model/many.ts', 'max-params'],
    ['src/model/loose.ts', 'eqeqeq'],
    ['src/model/loose.ts', 'no-explicit-any'],
  ] as const) {
    assert.ok(
      met.get(name)!.some(({ code }) => code.includes(rule)),
      `${name} met ${
        met
          .get(name)!
          .map(({ code }) => code)
          .join() || 'nothing'
      }, not ${rule}`,
    )
  }
})

test('a clean file passes', () => {
  const clean = `import { newId } from '#core/ids.ts'
import type { Tx } from '#db/tables.ts'

export async function touch(tx: Tx): Promise<string> {
  await tx.selectFrom('project').select('id').execute()
  return newId()
}
`
  assert.deepEqual([...lint({ 'src/model/clean.ts': clean }).values()], [[]])
})
