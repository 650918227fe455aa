import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, createOwner, ok, post } from '../support/client.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { startExposed } from '../support/exposed.ts'
import { openLab } from '../support/service.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'

const ROOT = 'root@example.com'

// Goal: a proxy in front of the default loopback address makes nobody local: neither an administrator by sign-up, nor the demo,
// nor money for nothing; and what a data folder brings along from a local service is closed.
test('row 26: local means local', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const env = { DATABASE_URL: database.url, DATA_DIR: lab.dataDir(), SYSTEM_ADMIN_EMAILS: ROOT }
  const demo = (baseUrl: string) => post(baseUrl, '/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })
  const metrics = async (baseUrl: string, token?: string) =>
    (await fetch(`${baseUrl}/metrics`, token ? { headers: { authorization: `Bearer ${token}` } } : {})).status

  const local = await lab.start({ env })
  const { body: session } = await demo(local.baseUrl)
  const { key } = await ok(local.baseUrl, session.access_token, 'api_keys.create', { name: 'kept', permissions: ['read'] })
  assert.equal((await call(local.baseUrl, key, 'projects.list', {})).status, 200)
  assert.equal(await metrics(local.baseUrl), 200)
  await local.kill('SIGKILL')

  await t.test('with a public BASE_URL', async () => {
    const exposed = await startExposed(lab, env)
    const signUp = await post(exposed.baseUrl, '/auth/sign-up', { email: ROOT, password: 'long enough', name: 'Root' })
    assert.deepEqual([signUp.status, signUp.body.code], [403, 'sign-up-refused'])
    assert.equal((await demo(exposed.baseUrl)).status, 401)
    assert.equal((await call(exposed.baseUrl, session.access_token, 'projects.list', {})).status, 401, 'its sessions are dead')
    assert.equal((await call(exposed.baseUrl, key, 'projects.list', {})).status, 401, 'its keys too')
    assert.equal((await post(exposed.baseUrl, '/auth/refresh', { refresh_token: session.refresh_token })).status, 401)
    const owner = await createOwner(exposed.baseUrl, 'founder@example.com')
    const topUp = await call(exposed.baseUrl, owner.token, 'billing.topup', { aud_cents: 10_000 }, { 'idempotency-key': 'k1' })
    assert.deepEqual([topUp.status, topUp.body.code], [503, 'billing-not-configured'])
    assert.equal((await post(exposed.baseUrl, '/sandbox/payments/confirm', { client_secret: 'x' })).status, 404)
    assert.equal(await metrics(exposed.baseUrl), 403)
    assert.equal(
      exposed
        .output()
        .split('\n')
        .filter((line) => /demo account .* is disabled/.test(line)).length,
      1,
      exposed.output(),
    )
    assert.doesNotMatch(exposed.output(), /Demo sign-in/)
    await exposed.kill('SIGKILL')
  })

  await t.test('with a METRICS_TOKEN', async () => {
    const token = 'a-token-that-nobody-guesses'
    const exposed = await startExposed(lab, { ...env, METRICS_TOKEN: token })
    assert.deepEqual(
      [await metrics(exposed.baseUrl), await metrics(exposed.baseUrl, 'another'), await metrics(exposed.baseUrl, token)],
      [401, 401, 200],
    )
    assert.doesNotMatch(exposed.output(), /demo account .* is disabled/, 'it was before')
    await exposed.kill('SIGKILL')
  })

  await t.test('local again, the demo is on again', async () => {
    const again = await lab.start({ env })
    assert.equal((await demo(again.baseUrl)).status, 200)
    assert.equal((await call(again.baseUrl, key, 'projects.list', {})).status, 200)
    await again.kill('SIGKILL')
  })
})
