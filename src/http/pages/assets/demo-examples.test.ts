import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDemoExamples } from './demo-examples.ts'

const operation = (operationId: string, example: object) => ({
  post: { operationId, requestBody: { content: { 'application/json': { example } } } },
})

// Goal: examples of the reference use IDs of the demo; those that delete keep IDs that do not exist.
test('examples with demo data', () => {
  const contract = {
    paths: {
      '/a': operation('items.get', { item_id: 'x', name: 'kept' }),
      '/b': operation('processing.create', { project_id: 'x', input_params: { item_ids: ['x', 'y'], nested: [{ item_id: 'x' }] } }),
      '/c': operation('items.delete', { item_id: 'x' }),
      '/d': operation('share.link.validate', { token: 'x', password: 'x' }),
      '/e': operation('auth.reset', { token: 'x', password: 'x' }),
      '/f': operation('clip.job.download', { job_id: 'x' }),
      '/g': { get: { operationId: 'items.tile.render.get' } },
    },
  }
  const fields = { item_id: 'i', project_id: 'p', job_id: 'j', share_token: 't', share_password: 's' }
  const { paths } = withDemoExamples(structuredClone(contract), fields) as unknown as typeof contract
  const exampleOf = (path: '/a' | '/b' | '/c' | '/d' | '/e' | '/f') => paths[path].post.requestBody.content['application/json'].example
  assert.deepEqual(exampleOf('/a'), { item_id: 'i', name: 'kept' })
  assert.deepEqual(exampleOf('/b'), { project_id: 'p', input_params: { item_ids: ['i'], nested: [{ item_id: 'i' }] } })
  assert.deepEqual(exampleOf('/d'), { token: 't', password: 's' })
  for (const path of ['/c', '/e', '/f'] as const)
    assert.deepEqual(exampleOf(path), contract.paths[path].post.requestBody.content['application/json'].example, path)
  assert.deepEqual(withDemoExamples(structuredClone(contract), {}), contract, 'without a demo nothing changes')
})
