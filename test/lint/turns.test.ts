import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { patternsOfTurns, turns, waitingFor } from '../support/turns.ts'

const root = path.join(import.meta.dirname, '../..')

// Goal: every file that CI leaves to other commits exists, and has its turn with one commit or another.
test('whatever waits for its turn has one', () => {
  for (const pattern of patternsOfTurns) assert.notEqual(globSync(pattern, { cwd: root }).length, 0, `${pattern}: no such files`)
  const waiting = Array.from({ length: turns }, (_, seed) => waitingFor(root, seed))
  for (const file of new Set(waiting.flatMap((files) => [...files]))) {
    assert.ok(
      waiting.some((files) => !files.has(file)),
      `${file} never has its turn`,
    )
  }
})
