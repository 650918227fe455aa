// Goal: the page that says what is verified with which vendor names tests that exist, and is up to date.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { page, PAGE, proofs, textOf } from './verified.ts'

test('docs/vendors-verified.md', () => {
  assert.equal(readFileSync(PAGE, 'utf8'), page(), 'node test/vendors/verified.ts writes it anew')
  for (const { file, test: name } of proofs()) {
    const isThere = ["'", '"', '`'].some(
      (quote) => textOf(file).includes(`test(${quote}${name}${quote}`) || textOf(file).includes(`    ${quote}${name}${quote},`),
    )
    assert.ok(isThere, `${file} has no test '${name}'`)
  }
})
