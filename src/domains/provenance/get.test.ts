import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaign } from '../../../test/support/campaign.ts'
import { world } from '../../../test/support/world.ts'
import fc from 'fast-check'
import { newId } from '#core/ids.ts'
import * as lineage from '#model/platform/lineage.ts'

interface Edge {
  depth: number
  src_id: string
  dst_id: string
  relation: string
}
interface Node {
  entity_id: string
  depth: number
}

// Goal: the lineage of an object has the same edges, nodes and depths as a naive graph walk, in every direction and depth.
test('provenance.get', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const record = (records: lineage.Recorded[], organizationId = org.id) =>
    w.db.transaction().execute((tx) => lineage.write(tx, organizationId, newId(), records, w.clock.now()))
  const item = (id: string) => ({ type: 'item' as const, id })
  const get = (input: object, token = org.owner.token) => w.call(token, 'provenance.get', { entity_type: 'item', ...input })
  const root = { type: 'project' as const, id: org.projectId }

  await t.test('a new project is the root of its lineage', async () => {
    const { body } = await get({ entity_type: 'project', entity_id: org.projectId })
    assert.deepEqual(body, {
      root: { entity_type: 'project', entity_id: org.projectId },
      direction: 'up',
      edges: [],
      nodes: [{ entity_type: 'project', entity_id: org.projectId, depth: 0 }],
      truncated: false,
    })
  })

  await t.test('directions, depth and order in a short chain', async () => {
    await record([{ entity: item('a'), relation: 'uploaded', origin: root }])
    await record([{ entity: item('b'), relation: 'duplicated_from', origin: item('a') }])
    await record([{ entity: { type: 'share_link', id: 's' }, relation: 'derived_from', origin: item('b') }])
    const walk = async (direction: string, max_depth = 50) =>
      ((await get({ entity_id: 'b', direction, max_depth })).body.nodes as Node[]).map(
        ({ entity_id, depth }) => `${entity_id === org.projectId ? 'project' : entity_id} ${depth}`,
      )
    assert.deepEqual(await walk('up'), ['b 0', 'a 1', 'project 2'])
    assert.deepEqual(await walk('down'), ['b 0', 's 1'])
    assert.deepEqual((await walk('both')).toSorted(), ['a 1', 'b 0', 'project 2', 's 1'])
    assert.deepEqual(await walk('up', 1), ['b 0', 'a 1'])
  })

  await t.test('any graph, compared with a walk in memory', async () => {
    const shape = fc.array(fc.array(fc.nat({ max: 30 }), { maxLength: 4 }), { minLength: 1, maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(
        shape,
        fc.nat(),
        fc.constantFrom('up', 'down', 'both'),
        fc.integer({ min: 1, max: 6 }),
        async (parents, start, direction, maxDepth) => {
          const name = newId()
          const id = (index: number) => `${name}-${index}`
          const edges = parents.flatMap((list, index) =>
            [...new Set(list.map((parent) => parent % (index + 1)))]
              .filter((parent) => parent !== index)
              .map((parent) => ({ src: id(index), dst: id(parent) })),
          )
          await record(
            parents.flatMap((_, index) => {
              const own = edges.filter(({ src }) => src === id(index))
              return [
                { entity: item(id(index)), relation: 'created', origin: null },
                ...own.map(({ dst }) => ({ entity: item(id(index)), relation: 'duplicated_from', origin: item(dst) })),
              ]
            }),
          )
          const from = id(start % parents.length)
          const { body } = await get({ entity_id: from, direction, max_depth: maxDepth })
          const expected = naive(edges, from, direction, maxDepth)
          assert.deepEqual(
            (body.edges as Edge[]).map(({ src_id, dst_id, depth }) => `${src_id} ${dst_id} ${depth}`).toSorted(),
            expected.edges,
          )
          assert.deepEqual((body.nodes as Node[]).map(({ entity_id, depth }) => `${entity_id} ${depth}`).toSorted(), expected.nodes)
          assert.equal(body.truncated, false)
        },
      ),
      { numRuns: campaign({ short: 15, long: 60 }) },
    )
  })

  await t.test('the database rejects cycles, self-edges and changes', async () => {
    await record([
      { entity: item('older'), relation: 'created', origin: null },
      { entity: item('newer'), relation: 'duplicated_from', origin: item('older') },
    ])
    await assert.rejects(record([{ entity: item('older'), relation: 'duplicated_from', origin: item('newer') }]), /lineage_edge/)
    await assert.rejects(record([{ entity: item('older'), relation: 'duplicated_from', origin: item('older') }]), /lineage_edge/)
    await assert.rejects(
      record([{ entity: item('orphan'), relation: 'duplicated_from', origin: item('never recorded') }]),
      /never recorded/,
    )
    for (const change of [
      w.db.deleteFrom('lineage_edge'),
      w.db.updateTable('lineage_edge').set({ relation: 'x' }),
      w.db.deleteFrom('lineage_node'),
    ])
      await assert.rejects(change.execute(), /append-only/)
    assert.equal((await get({ entity_id: 'orphan' })).status, 404, 'what failed left no node')
  })

  await t.test('truncated at 5,000 edges, with a flag', async () => {
    await record([{ entity: item('hub'), relation: 'created', origin: null }])
    const add = async (count: number) => {
      const from = await w.db.selectFrom('lineage_node').select('seq').where('entity_id', '=', 'hub').executeTakeFirstOrThrow()
      const nodes = await w.db
        .insertInto('lineage_node')
        .values(
          Array.from({ length: count }, () => ({
            org_id: org.id,
            project_id: null,
            entity_type: 'item',
            entity_id: newId(),
            invocation_id: newId(),
            created_at: w.clock.now(),
          })),
        )
        .returning('seq')
        .execute()
      await w.db
        .insertInto('lineage_edge')
        .values(
          nodes.map(({ seq }) => ({
            src_seq: seq,
            dst_seq: from.seq,
            relation: 'duplicated_from',
            invocation_id: newId(),
            created_at: w.clock.now(),
          })),
        )
        .execute()
    }
    await add(4_999)
    await add(1)
    const whole = (await get({ entity_id: 'hub', direction: 'down' })).body
    assert.deepEqual([whole.edges.length, whole.nodes.length, whole.truncated], [5_000, 5_001, false])
    await add(1)
    const cut = (await get({ entity_id: 'hub', direction: 'both' })).body
    assert.deepEqual([cut.edges.length, cut.nodes.length, cut.truncated], [5_000, 5_001, true])
  })

  await t.test('visible to readers of the project; not found for strangers', async () => {
    const { id: secret } = await w.ok(org.owner.token, 'projects.create', { name: 'Secret', visibility: 'private' })
    await record([{ entity: item('hidden'), relation: 'uploaded', origin: { type: 'project', id: secret } }])
    const member = await w.member(org)
    assert.equal((await get({ entity_id: 'hidden' }, member.token)).status, 403)
    assert.equal((await get({ entity_id: 'hidden' })).status, 200)
    assert.equal((await get({ entity_id: 'hidden' }, (await w.organization()).owner.token)).status, 404)
    await w.ok(org.owner.token, 'projects.delete', { project_id: secret })
    assert.equal((await get({ entity_id: 'hidden' })).status, 200, 'deleted artifacts stay in the graph')
    assert.equal((await get({ entity_id: 'hidden' }, member.token)).status, 403)
  })

  await t.test('refusals', async () => {
    for (const input of [
      {},
      { entity_id: '' },
      { entity_id: 'a', max_depth: 0 },
      { entity_id: 'a', max_depth: 51 },
      { entity_id: 'a', direction: 'sideways' },
      { entity_id: 'a', entity_type: 'asset' },
      { entity_id: 'a', entity_type: 'share_link' },
    ])
      assert.equal((await get(input)).status, 422, JSON.stringify(input))
    assert.equal((await get({ entity_id: 'unknown' })).status, 404)
    assert.equal((await get({ entity_id: 'a', entity_type: 'collection' })).status, 404, 'the same id of another kind')
  })
})

/** A breadth-first walk over a list of edges. */
function naive(
  edges: readonly { src: string; dst: string }[],
  from: string,
  direction: string,
  maxDepth: number,
): { edges: string[]; nodes: string[] } {
  const seenEdges = new Map<string, number>()
  const depths = new Map([[from, 0]])
  for (const way of ['up', 'down']) {
    if (direction !== way && direction !== 'both') continue
    const distance = new Map([[from, 0]])
    for (let depth = 1; depth <= maxDepth; depth++) {
      for (const { src, dst } of edges) {
        const [near, far] = way === 'up' ? [src, dst] : [dst, src]
        if (distance.get(near) !== depth - 1) continue
        seenEdges.set(`${src} ${dst}`, depth)
        if (!distance.has(far)) distance.set(far, depth)
      }
    }
    for (const [id, depth] of distance) if (!depths.has(id)) depths.set(id, depth)
  }
  return {
    edges: [...seenEdges].map(([edge, depth]) => `${edge} ${depth}`).toSorted(),
    nodes: [...depths].map(([id, depth]) => `${id} ${depth}`).toSorted(),
  }
}
