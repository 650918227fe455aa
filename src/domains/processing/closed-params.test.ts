import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'
import { operations as registry } from '#registry.ts'

// Goal: an unknown parameter returns 422 that names it and lists the valid ones, for every process and method.
test('unknown parameters of jobs and analytics', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 16, height: 16 }) })).body.item_ids[0] as string
  const assertListed = (body: { errors: { field: string; message: string }[] }, field: string, of: string, schema: object) => {
    const known = Object.keys((schema as { properties: object }).properties).toSorted()
    const message = body.errors.find((error) => error.field === field)?.message
    assert.equal(message, `is not a parameter of '${of}', which takes ${known.join(', ')}`)
  }

  const { processes } = await w.ok(token, 'processing.catalog.list')
  for (const { id } of processes) {
    const { input_schema, example } = await w.ok(token, 'processing.catalog.get', { process_id: id })
    const params = { ...example, colour: 'red' }
    for (const [operation, input, field] of [
      ['processing.create', { project_id: org.projectId, job_type_id: id, input_params: params }, 'input_params.colour'],
      ['processing.create_and_dispatch', { project_id: org.projectId, job_type_id: id, input_params: params }, 'input_params.colour'],
      ['processing.execute', { process_id: id, workspaceId: org.projectId, inputs: params }, 'inputs.colour'],
      ['processing.catalog.estimate', { process_id: id, inputs: params }, 'inputs.colour'],
    ] as const) {
      const { status, body } = await w.call(token, operation, input)
      assert.equal(status, 422, `${operation} ${id}`)
      assertListed(body, field, id, input_schema)
    }
    assertListed(await w.ok(token, 'processing.catalog.validate', { process_id: id, inputs: params }), 'inputs.colour', id, input_schema)
  }

  const { operations } = await w.ok(token, 'analytics.operations.list')
  for (const { operation } of operations) {
    const { params_schema } = await w.ok(token, 'analytics.operations.get', { operation_name: operation })
    const { status, body } = await w.call(token, 'analytics.execute', { operation, params: { item_id: itemId, colour: 'red' } })
    assert.equal(status, 422, operation)
    assertListed(body, 'params.colour', operation, params_schema)
  }
  for (const [operation, input] of [
    ['analytics.band_math', { item_id: itemId, expression: 'b1' }],
    ['analytics.calculate_index', { item_id: itemId, index_name: 'ndvi' }],
    ['analytics.validate_formula', { formula: 'b1' }],
  ] as const) {
    const known = Object.keys((registry.get(operation)!.input as unknown as { properties: object }).properties).join(', ')
    for (const unknown of ['colour', 'fornula', 'item_ids', 'idx']) {
      const { status, body } = await w.call(token, operation, { ...input, [unknown]: 'red' })
      assert.equal(status, 422, operation)
      const { message } = body.errors.find(({ field }: { field: string }) => field === unknown)
      assert.ok(message.toLowerCase().endsWith(`its fields are ${known}`), `${operation} ${unknown}: ${message}`)
    }
  }
})
