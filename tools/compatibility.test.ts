import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Document } from './client-source.ts'
import { changesBetween } from './compatibility.ts'
import { verdict } from './contract-gate.ts'
import { publishedDocument } from './published-document.ts'

interface Node {
  [name: string]: Node
}

const published = JSON.parse(JSON.stringify(publishedDocument())) as Document
/** The component that a body refers to. */
const named = (document: Document, body: Node) =>
  (document.components.schemas as object as Node)[String(body['content']!['application/json']!['schema']!['$ref']).split('/').at(-1)!]!
const operation = (document: Document, id: string) => document.paths[`/v1/op/${id}`]!['post'] as object as Node
const at = (document: Document, id: string) => named(document, operation(document, id)['requestBody']!)
const answer = (document: Document, id: string) => named(document, operation(document, id)['responses']!['200']!)

/** What is found when one thing is changed. */
function after(change: (document: Document) => void) {
  const document = structuredClone(published)
  change(document)
  return changesBetween(published, document)
}

// Goal: what would break a client that exists is found and refused; what only adds asks for a higher version; words change nothing.
test('the contract is held against the last one', async (t) => {
  const versions = { before: '2.0.0', after: '2.0.0' }
  const breaking: [string, (document: Document) => void][] = [
    ['an operation is gone', (document) => delete (document.paths as Record<string, unknown>)['/v1/op/items.list']],
    ['a field of the input is gone', (document) => delete at(document, 'items.list')['properties']!['offset']],
    ['a field of the input is required now', (document) => (at(document, 'items.list')['required'] as object as string[]).push('limit')],
    ['a bound is narrower', (document) => Object.assign(at(document, 'items.list')['properties']!['limit']!, { maximum: 10 })],
    ['a field of the answer is gone', (document) => delete answer(document, 'items.list')['properties']!['total']],
    [
      'a field of the answer has another type',
      (document) => Object.assign(answer(document, 'items.list')['properties']!['total']!, { type: 'string' }),
    ],
    [
      'a field of a shape may be null now',
      (document) =>
        Object.assign((document.components.schemas as object as Node)['Item']!['properties']!['name']!, { type: ['string', 'null'] }),
    ],
    [
      'the scope is another',
      (document) => Object.assign(document.paths['/v1/op/items.list']!['post']!, { 'x-required-scope': 'items:write' }),
    ],
    [
      'a choice of the input is gone',
      (document) => ((at(document, 'items.create')['properties']!['type']!['enum'] as object as string[]).length = 2),
    ],
  ]
  for (const [name, change] of breaking)
    await t.test(`refused: ${name}`, () => {
      const changes = after(change)
      assert.ok(
        changes.some(({ kind }) => kind === 'breaking'),
        JSON.stringify(changes),
      )
      assert.match(verdict(changes, { before: '2.0.0', after: '3.0.0' })!, /incompatible/)
    })

  const additive: [string, (document: Document) => void][] = [
    [
      'an operation is new',
      (document) => Object.assign(document.paths, { '/v1/op/items.wash': structuredClone(document.paths['/v1/op/items.list']) }),
    ],
    ['an optional field is new', (document) => Object.assign(at(document, 'items.list')['properties']!, { tag: { type: 'string' } })],
    [
      'a field of the answer is new',
      (document) => Object.assign(answer(document, 'items.list')['properties']!, { next: { type: 'string' } }),
    ],
    [
      'a value of an answer is new',
      (document) =>
        ((document.components.schemas as object as Node)['Upload']!['properties']!['status']!['enum'] as object as string[]).push('paused'),
    ],
    ['a bound is wider', (document) => Object.assign(at(document, 'items.list')['properties']!['limit']!, { maximum: 100_000 })],
  ]
  for (const [name, change] of additive)
    await t.test(`asks for a higher version: ${name}`, () => {
      const changes = after(change)
      assert.deepEqual(
        changes.filter(({ kind }) => kind === 'breaking'),
        [],
      )
      assert.match(verdict(changes, versions)!, /raise/)
      assert.equal(verdict(changes, { before: '2.0.0', after: '2.1.0' }), null)
    })

  await t.test('descriptions and examples are no contract', () => {
    const changes = after((document) => Object.assign(at(document, 'items.list')['properties']!['limit']!, { description: 'How many' }))
    assert.deepEqual(changes, [])
    assert.equal(verdict(changes, versions), null)
  })
})
