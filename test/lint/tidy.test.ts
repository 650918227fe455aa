import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { listFiles } from '../../tools/imports.ts'
import { leftovers, oddNames, testsWithoutGoal, unreachedFiles, unusedExports, wideLines, type Fault, type Tree } from '../../tools/tidy.ts'

const root = path.join(import.meta.dirname, '../..')

const isText = (file: string) => /\.(tsx?|mjs|html|sh|json)$/.test(file) && !file.startsWith('test/golden/')
const tree: Tree = new Map(listFiles(root).map((file) => [file, isText(file) ? readFileSync(path.join(root, file), 'utf8') : '']))

const report = (faults: readonly Fault[]) => faults.map(({ file, line, advice }) => `${file}:${line}: ${advice}`)

const RULES = { wideLines, unusedExports, unreachedFiles, testsWithoutGoal, leftovers, oddNames }

// Goal: the tree stays tidy without anybody having to remember how; what is found names its line and what to do.
for (const [name, rule] of Object.entries(RULES)) test(`tidy: ${name}`, () => assert.deepEqual(report(rule(tree)), []))

/** What a rule says about a tree of a few small files. */
const planted = (rule: (tree: Tree) => Fault[], files: Record<string, string>) =>
  rule(new Map(Object.entries(files))).map(({ file, line }) => `${file}:${line}`)

test('each rule finds what is planted, and lets its neighbour pass', () => {
  const wide = `const a = 1\nconst b = '${'x'.repeat(140)}'\n`
  assert.deepEqual(planted(wideLines, { 'src/core/a.ts': wide, 'src/core/b.ts': `${'y'.repeat(140)}\n`, 'docs/a.md': wide }), [
    'src/core/a.ts:2',
  ])

  const exporting = `export const used = 1
export interface Unused {}
export const own = () => own
export function byTest() {}
export type Both = string
const late = 2
export { late, late as other }
export default used
`
  const importing = `import { used, type Both } from './a.ts'
import * as all from './b.ts'
const { lazy } = await import('./c.ts')
export const x = [used, all.one, lazy] as unknown as Both
`
  assert.deepEqual(
    planted(unusedExports, {
      'src/core/a.ts': exporting,
      'src/core/a.test.ts': "import { byTest, other } from '#core/a.ts'\nbyTest(other)\n",
      'src/core/b.ts': 'export const one = 1\nexport const two = 2\n',
      'src/core/c.ts': 'export const lazy = 1\nexport const idle = 2\n',
      'src/main.ts': importing.replaceAll('./', '#core/').replace('export const', 'const'),
    }),
    ['src/core/a.ts:2', 'src/core/a.ts:3', 'src/core/a.ts:7', 'src/core/a.ts:8', 'src/core/b.ts:2', 'src/core/c.ts:2'],
  )
  assert.deepEqual(
    planted(unusedExports, {
      'src/core/whole.ts': 'export const a = 1\nexport const b = 2\n',
      'src/main.ts': "import * as whole from '#core/whole.ts'\nObject.keys(whole)\n",
    }),
    [],
  )

  assert.deepEqual(
    planted(unreachedFiles, {
      'src/main.ts': "import '#core/a.ts'\nfork(new URL('./core/child.ts', import.meta.url))\n",
      'src/core/a.ts': "export * from './b.ts'\n",
      'src/core/b.ts': '',
      'src/core/child.ts': '',
      'src/core/lonely.ts': "import './b.ts'\n",
      'packages/share/share.html': '<script type="module" src="/assets/share.ts"></script>',
      'packages/share/share.ts': '',
      'bench/tiles.ts': '',
    }),
    ['src/core/lonely.ts:1'],
  )

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
