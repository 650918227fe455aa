import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { longFiles } from '../support/plan.ts'

const root = path.join(import.meta.dirname, '../..')

// Goal: what `npm test` leaves out is at most two files in five, the long ones: it still tests every domain and every security row.
test('npm test covers every domain and every security row', () => {
  const everything = globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts', 'sandbox/**/*.test.ts'], { cwd: root })
  const kinds = longFiles(root, everything)
  for (const [kind, files] of kinds) assert.ok(files.length > 0, `${kind}: no such files`)
  const long = new Set([...kinds.values()].flat())
  const daily = everything.filter((file) => !long.has(file))
  assert.ok(daily.length > (everything.length * 3) / 5)
  const domainOf = (file: string) => /^src\/domains\/(\w+)\//.exec(file)?.[1]
  const domains = (files: readonly string[]) => new Set(files.map(domainOf).filter((domain) => domain !== undefined))
  assert.deepEqual(domains(daily), domains(everything))
  assert.deepEqual(
    [...long].filter((file) => file.startsWith('test/security/')),
    [],
  )
})
