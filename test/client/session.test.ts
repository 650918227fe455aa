import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Groundtrack, type SessionTokens } from '../../packages/client/src/index.ts'
import { world } from '../support/world.ts'

// Goal: an application learns when its session has ended: a rejected renewal reports it once, an outage does not.
test('a session that cannot be renewed', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const outages: (() => Promise<Response>)[] = []
  const begin = async () => {
    const told: (SessionTokens | null)[] = []
    const owner = await w.signIn(org.owner, org.id)
    const gt = new Groundtrack({
      baseUrl: w.baseUrl,
      session: { accessToken: owner.token, refreshToken: owner.refreshToken, expiresAt: Date.now() + 900_000, organizationId: org.id },
      onSession: (tokens) => told.push(tokens),
      maxRetries: 0,
      fetch: (input, init) => {
        const outage = String(input).endsWith('/auth/refresh') ? outages.shift() : undefined
        return outage ? outage() : globalThis.fetch(input, init)
      },
    })
    return { gt, told, owner }
  }

  await t.test('revoked: all waiting calls fail, onSession(null) is called once, and no credential is sent again', async () => {
    const { gt, told, owner } = await begin()
    await w.post('/auth/sign-out', { refresh_token: owner.refreshToken })
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => gt.projects.list()))
    assert.ok(outcomes.every(({ status }) => status === 'rejected'))
    assert.deepEqual(told, [null])
    await assert.rejects(async () => await gt.projects.list(), { status: 401 })
    assert.deepEqual(told, [null])
  })

  await t.test('expired while nobody called', async () => {
    const { gt, told } = await begin()
    w.clock.advance({ days: 31 })
    await assert.rejects(async () => await gt.projects.list(), { status: 401 })
    assert.deepEqual(told, [null])
  })

  await t.test('an outage or a rate limit keeps the session for the next attempt', async () => {
    const { gt, told } = await begin()
    w.clock.advance({ minutes: 20 })
    const answer = (status: number) => async () =>
      new Response(JSON.stringify({ status, code: 'x', title: 'x', detail: 'x', type: 'x', instance: 'x' }), {
        status,
        headers: { 'content-type': 'application/problem+json' },
      })
    for (const outage of [answer(503), answer(429), async () => Promise.reject(new TypeError('fetch failed'))]) {
      outages.push(outage)
      await assert.rejects(async () => await gt.projects.list())
      assert.deepEqual(told, [])
    }
    assert.equal((await gt.projects.list()).total, 1)
    assert.equal(told.length, 1)
  })
})
