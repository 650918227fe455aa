// Goal: the page that says what is verified of failures and failover has a row for every fault that the campaign knows, and no other.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FAULT_NAMES } from './faults.ts'

test('docs/failover-verified.md', () => {
  const page = readFileSync(new URL('../../docs/failover-verified.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| ([^|*]+) \| \d/gm)].map(([, name]) => name)
  assert.deepEqual(rows, FAULT_NAMES)
})
