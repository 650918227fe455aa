import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

const root = path.join(import.meta.dirname, '../..')

/** What each folder must not import, one example a rule; and beside it what it may. */
const IMPORTS: Record<string, { refused: string[]; allowed: string[] }> = {
  core: {
    refused: [
      '#db/tables.ts',
      '#model/user.ts',
      '#pipeline/invoke.ts',
      '#domains/projects/wire.ts',
      '#http/server.ts',
      '#raster/x.ts',
      '#visualization/x.ts',
      '#adapters/x.ts',
      '#operation.ts',
      '#registry.ts',
      '#config.ts',
      '#contract/table.ts',
      'kysely',
      'pg',
      'pg-boss',
    ],
    allowed: ['./ids.ts', 'node:crypto', 'typebox'],
  },
  raster: {
    refused: ['#core/ids.ts', '#db/tables.ts', '#model/user.ts', '#http/server.ts', '#operation.ts', 'kysely'],
    allowed: ['./tiff.ts'],
  },
  db: {
    refused: ['#model/user.ts', '#pipeline/invoke.ts', '#domains/projects/wire.ts', '#http/server.ts', '#operation.ts', '#main.ts'],
    allowed: ['#core/ids.ts', 'kysely', 'pg', 'pg-boss'],
  },
  adapters: {
    refused: ['#db/tables.ts', '#model/user.ts', '#pipeline/invoke.ts', '#http/server.ts', '#operation.ts', 'kysely', 'pg/lib/x.js'],
    allowed: ['#core/ids.ts', '#raster/pool/pool.ts'],
  },
  model: {
    refused: [
      '#pipeline/invoke.ts',
      '#domains/projects/wire.ts',
      '#http/server.ts',
      '#operation.ts',
      '#registry.ts',
      '#adapters/x.ts',
      '#raster/x.ts',
      '#visualization/x.ts',
    ],
    allowed: ['#core/ids.ts', '#db/tables.ts', 'kysely', './user.ts'],
  },
  visualization: {
    refused: [
      '#db/tables.ts',
      '#pipeline/invoke.ts',
      '#domains/projects/wire.ts',
      '#http/server.ts',
      '#adapters/x.ts',
      '#registry.ts',
      'kysely',
    ],
    allowed: ['#operation.ts', '#core/ids.ts', '#model/user.ts', '#raster/x.ts', './look.ts'],
  },
  ingest: {
    refused: [
      '#db/tables.ts',
      '#pipeline/invoke.ts',
      '#domains/projects/wire.ts',
      '#http/server.ts',
      '#adapters/x.ts',
      '#registry.ts',
      'kysely',
    ],
    allowed: ['#operation.ts', '#core/ids.ts', '#model/user.ts', '#raster/x.ts', './intake.ts'],
  },
  'domains/planted': {
    refused: [
      '#db/tables.ts',
      '#pipeline/invoke.ts',
      '#domains/projects/wire.ts',
      '#http/server.ts',
      '#adapters/x.ts',
      '#registry.ts',
      '#config.ts',
      'kysely',
      'pg',
      'pg-boss',
    ],
    allowed: [
      '#operation.ts',
      '#job.ts',
      '#core/ids.ts',
      '#model/user.ts',
      '#raster/x.ts',
      '#visualization/x.ts',
      '#ingest/x.ts',
      './wire.ts',
    ],
  },
  pipeline: {
    refused: [
      '#domains/projects/wire.ts',
      '#http/server.ts',
      '#registry.ts',
      '#contract/table.ts',
      '#adapters/x.ts',
      '#adapters/raster/service.ts',
      '#raster/x.ts',
      '#raster/render/tile.ts',
      '#main.ts',
      'kysely',
      'pg-boss',
    ],
    allowed: [
      '#adapters/raster/port.ts',
      '#raster/errors.ts',
      '#operation.ts',
      '#job.ts',
      '#core/ids.ts',
      '#model/user.ts',
      '#db/tables.ts',
    ],
  },
  http: {
    refused: [
      '#db/tables.ts',
      '#model/user.ts',
      '#domains/projects/wire.ts',
      '#registry.ts',
      '#job.ts',
      '#compose.ts',
      '#raster/x.ts',
      '#visualization/x.ts',
      'kysely',
      'pg',
    ],
    allowed: ['#pipeline/invoke.ts', '#operation.ts', '#contract/table.ts', '#core/ids.ts', 'fastify'],
  },
  contract: {
    refused: [
      '#db/tables.ts',
      '#model/user.ts',
      '#pipeline/invoke.ts',
      '#http/server.ts',
      '#domains/projects/wire.ts',
      '#registry.ts',
      'kysely',
    ],
    allowed: ['#operation.ts', 'node:fs'],
  },
}

interface Diagnostic {
  code: string
  filename: string
}

/** Lints a tree of small files with our own configuration and says which rule met which file. */
function lint(files: Record<string, string>): Map<string, string[]> {
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
    const met = new Map(Object.keys(files).map((name) => [name, [] as string[]]))
    for (const { code, filename } of (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics)
      met.get(path.relative(dir, path.resolve(dir, filename)))?.push(code)
    return met
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const importing = (specifier: string) => `import * as x from '${specifier}'\nexport const y = x\n`

// Goal: the rules that hold the architecture together catch what they are for, and let honest code pass.
test('import rules of every folder', () => {
  const files: Record<string, string> = {}
  const expected = new Map<string, boolean>()
  for (const [folder, { refused, allowed }] of Object.entries(IMPORTS)) {
    for (const [index, specifier] of [...refused, '../other/x.ts', '../x.ts'].entries()) {
      files[`src/${folder}/refused${index}.ts`] = importing(specifier)
      expected.set(`src/${folder}/refused${index}.ts`, true)
    }
    for (const [index, specifier] of allowed.entries()) {
      files[`src/${folder}/allowed${index}.ts`] = importing(specifier)
      expected.set(`src/${folder}/allowed${index}.ts`, false)
    }
  }
  const met = lint(files)
  for (const [name, isRefused] of expected)
    assert.equal(
      met.get(name)!.some((code) => code.includes('no-restricted-imports')),
      isRefused,
      `${name}: ${files[name]!.split('\n')[0]} met ${met.get(name)!.join() || 'nothing'}`,
    )
})

test('type imports are crossings too', () => {
  const met = lint({
    'src/core/a.ts': "import type { Db } from '#db/tables.ts'\nexport type X = Db\n",
    'src/domains/planted/b.ts': "export { x } from '#domains/projects/wire.ts'\n",
  })
  for (const [name, codes] of met)
    assert.ok(
      codes.some((code) => code.includes('no-restricted-imports')),
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
      met.get(name)!.some((code) => code.includes(rule)),
      `${name} met ${met.get(name)!.join() || 'nothing'}, not ${rule}`,
    )
  }
})

test('a clean file meets nothing', () => {
  const clean =
    "import { newId } from '#core/ids.ts'\nimport type { Tx } from '#db/tables.ts'\n\nexport async function touch(tx: Tx): Promise<string> {\n  await tx.selectFrom('project').select('id').execute()\n  return newId()\n}\n"
  assert.deepEqual([...lint({ 'src/model/clean.ts': clean }).values()], [[]])
})
