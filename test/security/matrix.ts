/**
 * Every operation × every kind of caller × two organizations. What is expected of an operation stands in its row, in
 * rows/<domain>.ts. It is run in parts: each on a world of its own, so that the parts run side by side, and what one tries
 * does not make the next one's world larger.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaign, someOf } from '../support/campaign.ts'
import { world, type Answer } from '../support/world.ts'
import { cast, CLIP_EMAIL, PRINCIPALS, STAFF_EMAIL, withoutInstance, type PrincipalName } from './cast.ts'
import { businessDigest } from './digest.ts'
import { OPEN_HOST } from './makers.ts'
import { rowsOfDomains } from './rows.ts'
import { statusesOf } from './statuses.ts'

/** Callers for whom organization B is not a stranger. */
const SEES_B: readonly PrincipalName[] = ['foreign', 'service', 'staff']

const PARTS = 4

/** Domains in turn, the largest first, so that the parts take about the same time. */
function rowsOfPart(part: number) {
  const bySize = [...rowsOfDomains.values()].toSorted((first, other) => Object.keys(other).length - Object.keys(first).length)
  return bySize.filter((_, index) => index % PARTS === part - 1).flatMap((ofDomain) => Object.entries(ofDomain))
}

export function testPart(part: number): void {
  test(`operations × principals × organizations, part ${part} of ${PARTS}`, async (t) => {
    const rows = rowsOfPart(part)
    const w = await world(t, {
      systemAdminEmails: [STAFF_EMAIL],
      clipUserEmail: CLIP_EMAIL,
      payments: { manualNotices: true },
      egressAllow: [OPEN_HOST],
      vendors: true,
    })
    const { a, b, credential } = await cast(w)

    const cases = rows.flatMap(([id, row]) =>
      (['a', 'b'] as const).filter((side) => row[side] !== undefined).map((side) => ({ id, row, side, org: side === 'a' ? a : b })),
    )
    // Each case takes a moment to set up, and there are four hundred: a short run tries a quarter of them, others each time.
    for (const { id, row, side, org } of campaign({ short: someOf(cases, 4), long: cases })) {
      await t.test(`${id} about ${side === 'a' ? 'their' : 'another'} organization`, async () => {
        const expected = PRINCIPALS.map((name, index) => ({ name, status: statusesOf(row[side]!)[index]! }))
        const refused = expected.filter(({ status }) => status !== 200)
        const input = await row.input(w, org)

        const before = await businessDigest(w.db)
        const answers = await Promise.all(refused.map(({ name }) => w.call(credential(name), id, input)))
        assert.deepEqual(
          answers.map(({ status }, index) => ({ name: refused[index]!.name, status })),
          refused,
        )
        for (const answer of answers) requireProblem(answer)
        if (side === 'b') {
          const absent = await Promise.all(refused.map(({ name }) => w.call(credential(name), id, row.missing!(input))))
          refused.forEach(({ name }, index) => {
            if (!SEES_B.includes(name))
              assert.equal(
                withoutInstance(absent[index]!.bytes),
                withoutInstance(answers[index]!.bytes),
                `${name} can tell what exists elsewhere`,
              )
          })
        }
        assert.equal(await businessDigest(w.db), before, 'a refusal changed something')

        for (const { name } of expected.filter(({ status }) => status === 200)) {
          const { status, bytes } = await w.call(credential(name), id, await row.input(w, org))
          assert.equal(status, 200, `${name}: ${bytes.toString()}`)
          if (side === 'a' && !SEES_B.includes(name))
            for (const secret of [b.id, b.projectId, b.owner.id, b.owner.email])
              assert.ok(!bytes.includes(secret), `${name} was shown something of another organization`)
        }
      })
    }

    await t.test('the resource path returns the same as the ID path', async () => {
      for (const [id, row] of campaign({ short: someOf(rows, 4), long: rows })) {
        const input = await row.input(w, a)
        for (const name of ['none', 'read', 'worker'] as const) {
          const secret = credential(name)
          const authorization: Record<string, string> = secret ? { authorization: `Bearer ${secret}` } : {}
          const { status } = await w.post(`/v1/${id.replaceAll('.', '/')}`, input, authorization)
          assert.equal(status, statusesOf(row.a)[PRINCIPALS.indexOf(name)], `${id} as ${name}`)
        }
      }
    })
  })
}

function requireProblem({ status, body, headers }: Answer): void {
  assert.match(headers.get('content-type')!, /^application\/problem\+json/)
  assert.equal(body.status, status)
  assert.ok(body.type.endsWith(`/problems/${body.code}`))
  if (status === 401) assert.match(body.detail, /^(Invalid authentication credentials$|The request has no credential)/)
  assert.equal(headers.has('www-authenticate'), status === 401 || body.code === 'missing-scope')
}
