// Goal: unused exports, files and dependencies are found, and what is used by a test, a namespace or an import at run time is not.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'

const ROOT = path.join(import.meta.dirname, '../..')
const KNIP = path.join(ROOT, 'node_modules/knip/bin/knip.js')

interface Report {
  issues: readonly ({ file: string } & Record<'files' | 'exports' | 'types' | 'dependencies', readonly { name: string }[]>)[]
}

/** What knip says about a repository of a few small files, as `file: name`. */
function planted(t: TestContext, files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'knip-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const manifest = { name: 'planted', type: 'module', imports: { '#*': './src/*' }, dependencies: { pg: '8', kysely: '0' } }
  const settings = { entry: ['src/main.ts', 'src/**/*.test.ts'], project: ['src/**/*.ts'] }
  const written = { ...files, 'package.json': JSON.stringify(manifest), 'knip.json': JSON.stringify(settings) }
  for (const [name, text] of Object.entries(written)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const { stdout, stderr } = spawnSync(process.execPath, [KNIP, '--reporter', 'json'], { cwd: folder, encoding: 'utf8' })
  assert.ok(stdout.startsWith('{'), stderr)
  const { issues } = JSON.parse(stdout) as Report
  return issues
    .flatMap(({ file, files: unreached, exports, types, dependencies }) =>
      [...unreached, ...exports, ...types, ...dependencies].map(({ name }) => (name === file ? file : `${file}: ${name}`)),
    )
    .toSorted()
}

test('unused exports, files and dependencies are found', (t) => {
  const problems = planted(t, {
    'src/main.ts': `import { used, type Both } from '#core/a.ts'
import * as all from '#core/b.ts'
import 'pg'
const { lazy } = await import('#core/c.ts')
console.log([used, all.one, lazy] as unknown as Both)
`,
    'src/core/a.ts': `export const used = 1
export interface Unused {}
export const own = () => own
export function byTest() {}
export type Both = string
const late = 2
export { late, late as other }
export default used
`,
    'src/core/a.test.ts': "import { byTest, other } from '#core/a.ts'\nbyTest(other)\n",
    'src/core/b.ts': 'export const one = 1\nexport const two = 2\n',
    'src/core/c.ts': 'export const lazy = 1\nexport const idle = 2\n',
    'src/core/lonely.ts': "import './b.ts'\n",
  })
  assert.deepEqual(problems, [
    'package.json: kysely',
    'src/core/a.ts: Unused',
    'src/core/a.ts: default',
    'src/core/a.ts: late',
    'src/core/a.ts: own',
    'src/core/b.ts: two',
    'src/core/c.ts: idle',
    'src/core/lonely.ts',
  ])
})

test('a namespace that is handed on as a value uses the whole module', (t) => {
  const problems = planted(t, {
    'src/main.ts': "import 'pg'\nimport 'kysely'\nimport * as whole from '#whole.ts'\nconsole.log(Object.keys(whole))\n",
    'src/whole.ts': 'export const a = 1\nexport const b = 2\n',
  })
  assert.deepEqual(problems, [])
})
