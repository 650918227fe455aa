import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.ts'

// Goal: a slip of the finger finds its word, and something else finds none.
test('nearest', () => {
  const words = ['projects.list', 'projects.get', 'items.list', 'project_id', 'bbox']
  for (const [given, meant] of [
    ['project.list', 'projects.list'],
    ['projcets.list', 'projects.list'],
    ['Projects.Get', 'projects.get'],
    ['projectid', 'project_id'],
    ['box', 'bbox'],
    ['orders.place', null],
    ['', null],
    ['x'.repeat(10_000), null],
  ] as const)
    assert.equal(nearest(given, words), meant, given.slice(0, 20))
})
