import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { listFiles } from '../../tools/imports.ts'
import { leftovers, oddNames, testsWithoutGoal, wideLines, type Fault, type Tree } from '../../tools/tidy.ts'

const root = path.join(import.meta.dirname, '../..')

const isText = (file: string) => /\.(tsx?|mjs|html|sh|json)$/.test(file) && !file.startsWith('test/golden/')
const tree: Tree = new Map(listFiles(root).map((file) => [file, isText(file) ? readFileSync(path.join(root, file), 'utf8') : '']))

const report = (faults: readonly Fault[]) => faults.map(({ file, line, advice }) => `${file}:${line}: ${advice}`)

const RULES = { wideLines, testsWithoutGoal, leftovers, oddNames }

// Goal: repository conventions are checked automatically; each finding names its line and the fix.
for (const [name, rule] of Object.entries(RULES)) test(`tidy: ${name}`, () => assert.deepEqual(report(rule(tree)), []))

/** What a rule says about a tree of a few small files. */
const planted = (rule: (tree: Tree) => Fault[], files: Record<string, string>) =>
  rule(new Map(Object.entries(files))).map(({ file, line }) => `${file}:${line}`)

test('each rule finds a planted violation, and accepts similar valid code', () => {
  const wide = `const a = 1\nconst b = '${'x'.repeat(140)}'\n`
  assert.deepEqual(planted(wideLines, { 'src/core/a.ts': wide, 'src/core/b.ts': `${'y'.repeat(140)}\n`, 'docs/a.md': wide }), [
    'src/core/a.ts:2',
  ])

  assert.deepEqual(
    planted(testsWithoutGoal, {
      'test/a.test.ts': "import x from 'x'\n// Goal: it works.\ntest('a', () => {})\n",
      'test/b.test.ts': "test('b', () => {})\n",
      'test/c.test.ts': `test('c', () => {})\n${'\n'.repeat(80)}// Goal: too late.\n`,
      'test/d.test.ts': "// Goal:\ntest('d', () => {})\n",
      'test/e.ts': '',
    }),
    ['test/b.test.ts:1', 'test/c.test.ts:1', 'test/d.test.ts:1'],
  )

  const names = ['gdalwmscache/a/b', 'data/PG_VERSION', 'src/x.log', 'test/__pycache__/m.pyc', 'src/core/data/x.ts', 'docs/logs.md']
  assert.deepEqual(
    planted(leftovers, Object.fromEntries(names.map((name) => [name, '']))),
    names.slice(0, 4).map((name) => `${name}:1`),
  )

  const odd = ['src/core/camelCase.ts', 'src/core/snake_case.ts', 'Bench/x.ts', 'src/domains/api_keys/list_all.ts', 'README.md', '.ci/run']
  assert.deepEqual(
    planted(oddNames, Object.fromEntries(odd.map((name) => [name, '']))),
    odd.slice(0, 3).map((name) => `${name}:1`),
  )
})
