import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { operations } from '#registry.ts'
import sweep from '#background/sweep.task.ts'
import * as idempotency from '#model/platform/idempotency.ts'
import { campaign, someOf } from '../support/campaign.ts'
import { world, type Answer } from '../support/world.ts'
import { cast, CLIP_EMAIL, PRINCIPALS, STAFF_EMAIL } from './cast.ts'
import { businessDigest } from './digest.ts'
import { OPEN_HOST } from './makers.ts'
import { rows } from './rows.ts'
import { statusesOf } from './statuses.ts'

const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true'

// Goal: every operation that writes takes an Idempotency-Key: a repeat returns the same bytes and changes nothing.
test('row 19: every write with one key happens once', async (t) => {
  const w = await world(t, {
    systemAdminEmails: [STAFF_EMAIL],
    clipUserEmail: CLIP_EMAIL,
    payments: { manualNotices: true },
    egressAllow: [OPEN_HOST],
    vendors: true,
  })
  const { a, credential } = await cast(w)
  for (const [id, row] of campaign({ short: someOf([...rows], 4), long: [...rows] })) {
    const op = operations.get(id)!
    const allowed = PRINCIPALS.find((_, index) => statusesOf(row.a)[index] === 200)
    // Rows of some operations that compute end at a refused file host, so they have no response to repeat.
    if (op.tier === 'read' || op.public || !allowed) continue
    await t.test(id, async () => {
      const input = await row.input(w, a)
      const key = { 'idempotency-key': newId() }
      const first = await w.call(credential(allowed), id, input, key)
      assert.equal(first.status, 200, `${allowed}: ${first.bytes.toString()}`)
      assert.ok(!replayed(first))
      const before = await businessDigest(w.db)
      const second = await w.call(credential(allowed), id, input, key)
      assert.deepEqual([second.status, replayed(second)], [200, true], second.bytes.toString())
      assert.equal(second.bytes.toString('base64'), first.bytes.toString('base64'))
      assert.equal(await businessDigest(w.db), before, 'the repeat changed something')
    })
  }
})

// Goal: keys of writes outside the spend tier follow the same rules, per caller.
test('row 19: keys of ordinary writes', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const make = (token: string, name: string, key: string) =>
    w.call(token, 'collections.create', { project_id: org.projectId, name }, { 'idempotency-key': key })
  const count = async () => (await w.db.selectFrom('collection').select('id').execute()).length
  const stored = () => w.db.selectFrom('idempotency_claim').selectAll().execute()

  await t.test('a write without a key stores nothing', async () => {
    await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'plain' })
    assert.deepEqual(await stored(), [])
  })

  await t.test('however requests and keys are mixed, each key has one effect and one response', async () => {
    const requests = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), name: fc.constantFrom('x', 'y') }), {
      minLength: 1,
      maxLength: 8,
    })
    let run = 0
    await fc.assert(
      fc.asyncProperty(requests, async (mixed) => {
        const prefix = `run ${run++} `
        const before = await count()
        const answers = await Promise.all(mixed.map(({ key, name }) => make(org.owner.token, name, prefix + key)))
        const byKey = Map.groupBy(
          mixed.map((request, index) => ({ ...request, ...answers[index]! })),
          ({ key }) => key,
        )
        for (const asked of byKey.values()) {
          const successes = asked.filter(({ status }) => status === 200)
          assert.equal(new Set(successes.map(({ body }) => body.id)).size, 1)
          assert.equal(successes.filter((answer) => !replayed(answer)).length, 1)
          for (const { name, status, body } of asked)
            if (status !== 200) assert.deepEqual([status, body.code, name !== successes[0]!.name], [409, 'idempotency-conflict', true])
        }
        assert.equal(await count(), before + byKey.size)
      }),
      { numRuns: 10 },
    )
  })

  await t.test('a failed request does not use its key; invalid input and malformed keys are rejected', async () => {
    const key = { 'idempotency-key': 'later' }
    const renamed = { project_id: newId(), name: 'Later' }
    assert.equal((await w.call(org.owner.token, 'projects.update', renamed, key)).status, 404)
    assert.equal((await w.call(org.owner.token, 'projects.update', { ...renamed, project_id: org.projectId }, key)).status, 409)
    assert.equal((await w.call(org.owner.token, 'projects.update', { name: 1 }, { 'idempotency-key': 'x' })).status, 422)
    assert.equal((await make(org.owner.token, 'x', 'k'.repeat(256))).status, 400)
  })

  await t.test('another caller with the same key gets nothing of it', async () => {
    const first = await make(org.owner.token, 'mine', 'shared')
    const editor = await w.member(org, 'editor')
    const second = await make(editor.token, 'mine', 'shared')
    assert.deepEqual([second.status, replayed(second)], [200, false])
    assert.notEqual(second.body.id, first.body.id)
    const viewer = await w.member(org, 'viewer')
    assert.equal((await make(viewer.token, 'mine', 'shared')).status, 403)
  })

  await t.test('a secret that is shown once is replayed to its owner, and not readable in the database', async () => {
    const create = () => w.call(org.owner.token, 'api_keys.create', { name: 'ci', permissions: ['read'] }, { 'idempotency-key': newId32 })
    const newId32 = newId()
    const first = await create()
    assert.equal((await create()).body.key, first.body.key)
    const claims = JSON.stringify((await stored()).map((row) => ({ ...row, response_body: row.response_body?.toString('latin1') })))
    assert.ok(!claims.includes(first.body.key) && !claims.includes(newId32))
  })

  await t.test('stored responses are limited: they expire after a day, and above a size the oldest are removed first', async () => {
    await sql`delete from idempotency_claim`.execute(w.db)
    for (let n = 0; n < 6; n++) {
      w.clock.advance({ seconds: 1 })
      await make(org.owner.token, `n${n}`, `n${n}`)
    }
    const sizes = (await stored()).map(({ response_body }) => response_body!.length + 512)
    const room = sizes.slice(0, 3).reduce((sum, size) => sum + size, 0) + 10
    await idempotency.sweep(w.db, w.clock.now(), room)
    assert.equal((await stored()).length, 3)
    assert.ok(replayed(await make(org.owner.token, 'n5', 'n5')), 'the newest are kept')
    w.clock.advance({ hours: 25 })
    await w.runTask(sweep)
    assert.deepEqual(await stored(), [])
  })
})
