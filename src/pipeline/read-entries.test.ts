import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import type { AuditEntry } from '#model/platform/audit.ts'
import { operation } from '#operation.ts'
import { world } from '../../test/support/world.ts'
import { createReadEntries } from './read-entries.ts'

/** As a tile, without the work on pixels. */
const picture = operation({
  id: 'test.picture',
  scope: 'items:read',
  tier: 'read',
  raw: 'bytes',
  input: Closed({ of: Type.String(), fails: Type.Optional(Type.Boolean()) }),
  output: Type.Any(),
  example: { input: { of: 'a' } },
}).handle({
  auditSubject: ({ of }) => of,
  async execute(_context, { fails }) {
    if (fails) throw problem('bad-request', 'No picture')
    return { contentType: 'image/png', body: Buffer.from('pixels') }
  },
})

interface Row {
  subject: string | null
  status: number
  calls: number
  last: string
}

// Goal: however many tiles a map reads, each caller, subject and minute has one audit entry that counts them; failures have their own.
test('reads of pictures share audit entries', async (t) => {
  const w = await world(t, { operations: [picture], logTiles: 0 })
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read'])
  const read = async (credential: string, of: string, more: object = {}) => {
    const { headers } = await w.call(credential, 'test.picture', { of, ...more })
    return headers.get('x-svc-invocation-id')!
  }
  const entries = async (): Promise<Row[]> => {
    await w.flushAudit()
    const { rows } = await sql<Row>`
      select subject, status, calls, invocation_id as last from audit where operation = 'test.picture' order by at, principal_kind, subject
    `.execute(w.db)
    return rows
  }

  await t.test('one per minute, caller and subject, with the last invocation', async () => {
    let last = ''
    for (let n = 0; n < 20; n++) last = await read(key, 'a')
    const other = await read(key, 'b')
    const byUser = await read(org.owner.token, 'a')
    assert.deepEqual(await entries(), [
      { subject: 'a', status: 200, calls: 20, last },
      { subject: 'b', status: 200, calls: 1, last: other },
      { subject: 'a', status: 200, calls: 1, last: byUser },
    ])
    w.clock.advance({ minutes: 1 })
    await read(key, 'a')
    assert.equal((await entries()).length, 4, 'another minute, another entry')
  })

  await t.test('each failure has an entry of its own', async () => {
    for (let n = 0; n < 3; n++) await read(key, 'c', { fails: true })
    assert.deepEqual(
      (await entries()).filter(({ status }) => status === 400).map(({ subject, calls }) => ({ subject, calls })),
      [1, 2, 3].map(() => ({ subject: null, calls: 1 })),
    )
  })

  await t.test('the count is in organizations.audit.list', async () => {
    const { entries: listed } = await w.ok(org.owner.token, 'organizations.audit.list', { operation: 'test.picture' })
    const [shared] = listed.filter(({ calls }: { calls: number }) => calls > 1)
    assert.deepEqual([shared.calls, shared.subject], [20, 'a'])
  })

  await t.test('LOG_TILES=0 logs failures only', () => {
    const lines = w.logLines.map((line) => JSON.parse(line)).filter(({ operation: id }) => id === 'test.picture')
    assert.deepEqual(
      lines.map(({ status }) => status),
      [400, 400, 400],
    )
  })
})

const entryOf = (subject: string, at: Date): AuditEntry => ({
  invocationId: '01900000-0000-7000-8000-000000000000',
  organizationId: null,
  principalKind: 'api_key',
  principalId: 'key',
  userId: null,
  apiKeyId: null,
  operation: 'items.tile.render',
  inputHash: null,
  status: 200,
  durationMs: 1,
  artifacts: [],
  at,
  calls: 1,
  subject,
})

// Goal: whatever fails in between, every read is counted exactly once by the time the trail has closed.
test('no read is lost or counted twice', async () => {
  const Step = fc.oneof(
    fc.record({ kind: fc.constant('read' as const), subject: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 90 }) }),
    fc.record({ kind: fc.constant('flush' as const), fails: fc.boolean() }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { maxLength: 60 }), async (steps) => {
      let now = new Date('2030-01-01T00:00:00.000Z')
      let fails = false
      const written: AuditEntry[] = []
      const write = async (entries: readonly AuditEntry[]): Promise<void> => {
        if (fails) throw new Error('away')
        written.push(...entries)
      }
      const reads = createReadEntries({ now: () => now }, write, () => {})
      for (const step of steps)
        if (step.kind === 'read') await reads.add(entryOf(step.subject, now))
        else if (step.kind === 'wait') now = new Date(now.getTime() + step.seconds * 1_000)
        else {
          fails = step.fails
          await reads.flush().catch(() => {})
        }
      fails = false
      await reads.close()
      const asked = steps.filter(({ kind }) => kind === 'read').length
      assert.equal(
        written.reduce((sum, { calls }) => sum + calls, 0),
        asked,
      )
    }),
  )
})
