import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { operations } from '#registry.ts'

const root = path.join(import.meta.dirname, '..')
const page = readFileSync(path.join(root, 'docs/bounds.md'), 'utf8')
const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!)
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, names, consumes, bound, tested]) => ({ names: quoted(names!), consumes, bound, tested: quoted(tested!) }))

const covers = (pattern: string, id: string): boolean => (pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern)

/** Reads that cost a page of rows and nothing else need no row of their own. */
const isBounded = ({ tier, raw, maxBodyBytes }: { tier: string; raw?: string; maxBodyBytes?: number }): boolean =>
  tier !== 'read' || (raw !== undefined && raw !== 'json') || maxBodyBytes !== undefined

// Goal: every operation that spends, writes, streams or accepts a large body documents its limits.
test('every operation that uses money or memory has documented limits', async (t) => {
  await t.test('each such operation has a row', () => {
    const missing = [...operations.values()]
      .filter((op) => isBounded(op as never))
      .filter(({ id }) => !rows.some(({ names }) => names.some((name) => covers(name, id))))
    assert.deepEqual(
      missing.map(({ id }) => id),
      [],
    )
  })

  await t.test('each row is about operations that exist, and is complete', () => {
    for (const { names, consumes, bound, tested } of rows) {
      for (const name of names.filter((name) => !/^(GET|POST) /.test(name)))
        assert.ok(
          [...operations.keys()].some((id) => covers(name, id)),
          `${name} is not an operation`,
        )
      assert.ok(consumes && bound && tested.length > 0, `the row of ${names.join(', ')} is incomplete`)
    }
  })

  await t.test('each test named on the page exists', () => {
    const missing = quoted(page).filter((name) => /\.test\.ts$|^bench\//.test(name) && globSync(name, { cwd: root }).length === 0)
    assert.deepEqual([...new Set(missing)], [])
  })
})
