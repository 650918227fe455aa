import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { receiver, type Received } from '../../../test/support/receiver.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

const BACKOFF_MINUTES = [1, 5, 30, 120, 300, 600, 1_440]
/** An endpoint that hangs would be waited for until the client's own five minutes are over. */
const HANGS_MS = 100_000

async function subscribe(w: World, org: Org, more: object = {}) {
  return await w.ok(org.owner.token, 'event_subscriptions.create', { event_type: 'collection.created', ...more })
}

const collect = (w: World, org: Org, name: string) => w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name })

function requireSigned({ headers, text }: Received, secret: string): void {
  assert.equal(headers['x-svc-signature'], `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`)
  const seconds = headers['webhook-timestamp'] as string
  const [signature] = (headers['webhook-signature'] as string).split(' ')
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  assert.equal(
    signature,
    `v1,${createHmac('sha256', key)
      .update(`${headers['webhook-id'] as string}.${seconds}.${text}`)
      .digest('base64')}`,
  )
}

/** The published verifier, which also rejects old timestamps and therefore needs real time. */
function verifies({ headers, text }: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

// Goal: every event of the type reaches the endpoint, with signatures that both kinds of verifier accept.
test('event_subscriptions: delivery', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host], startAt: new Date().toISOString() })
  const org = await w.organization()
  const subscription = await subscribe(w, org, { endpoint_url: endpoint.url, headers: { 'X-Gateway': 'let me in' } })

  await t.test('the record omits header values; the secret is returned once', async () => {
    assert.match(subscription.signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual(subscription.header_names, ['X-Gateway'])
    const shown = await w.call(org.owner.token, 'event_subscriptions.get', { subscription_id: subscription.id })
    assert.ok(!shown.bytes.includes(subscription.signing_secret) && !shown.bytes.includes('let me in'))
    const listed = await w.ok(org.owner.token, 'event_subscriptions.list', { event_type: 'collection.created', active: true })
    assert.deepEqual([listed.count, listed.event_subscriptions[0].id], [1, subscription.id])
    assert.equal((await w.ok(org.owner.token, 'event_subscriptions.list', { active: false })).count, 0)
  })

  await t.test('an event is sent with its body, both sets of signature headers and the custom headers', async () => {
    const { id } = await collect(w, org, 'Reef')
    assert.equal(await w.deliver(), 1)
    const [got] = endpoint.received
    assert.deepEqual(Object.keys(got!.body), ['event_id', 'event_type', 'timestamp', 'organization_id', 'entity_type', 'entity_id', 'data'])
    assert.deepEqual(
      [got!.body.event_type, got!.body.entity_type, got!.body.entity_id, got!.body.organization_id, got!.body.data.name],
      ['collection.created', 'collection', id, org.id, 'Reef'],
    )
    assert.deepEqual(
      [got!.headers['x-svc-event'], got!.headers['x-svc-event-id'], got!.headers['webhook-id'], got!.headers['x-gateway']],
      ['collection.created', got!.body.event_id, got!.body.event_id, 'let me in'],
    )
    requireSigned(got!, subscription.signing_secret)
    assert.ok(verifies(got!, subscription.signing_secret))
    assert.equal(await w.deliver(), 0, 'once')
    const { recent_deliveries: recent, ...record } = await w.ok(org.owner.token, 'event_subscriptions.get', {
      subscription_id: subscription.id,
    })
    assert.deepEqual([record.last_status, record.consecutive_failures], ['delivered', 0])
    assert.equal(recent[0].state, 'delivered')
    assert.deepEqual([recent[0].attempts[0].http_status, recent[0].attempts[0].id], [204, got!.headers['x-svc-delivery-id']])
  })

  await t.test('both verifiers detect a changed body', async () => {
    const got = endpoint.received[0]!
    const tampered = { ...got, text: got.text.replace('Reef', 'Reeg') }
    assert.ok(!verifies(tampered, subscription.signing_secret))
    assert.throws(() => requireSigned(tampered, subscription.signing_secret))
  })

  await t.test('other event types and other organizations are not delivered', async () => {
    const stranger = await w.organization()
    await collect(w, stranger, 'Elsewhere')
    await w.ok(org.owner.token, 'projects.create', { name: 'Other type' })
    assert.equal(await w.deliver(), 0)
  })

  await t.test('a change that fails leaves no delivery', async () => {
    assert.equal((await w.call(org.owner.token, 'collections.create', { project_id: org.projectId, name: '' })).status, 422)
    assert.equal(await w.deliver(), 0)
  })

  await t.test('for a day after a rotation both secrets sign; then only the new one', async () => {
    const rotated = await w.ok(org.owner.token, 'event_subscriptions.update', { subscription_id: subscription.id, rotate_secret: true })
    assert.notEqual(rotated.signing_secret, subscription.signing_secret)
    assert.equal(new Date(rotated.previous_secret_until).getTime(), w.clock.now().getTime() + 24 * 3_600_000)
    await collect(w, org, 'Both')
    await w.deliver()
    const both = endpoint.received.at(-1)!
    requireSigned(both, rotated.signing_secret)
    assert.ok(verifies(both, rotated.signing_secret) && verifies(both, subscription.signing_secret))
    w.clock.advance({ hours: 24, seconds: 1 })
    const again = await w.signIn(org.owner, org.id)
    await collect(w, { ...org, owner: again }, 'One')
    await w.deliver()
    const last = endpoint.received.at(-1)!
    assert.equal((last.headers['webhook-signature'] as string).split(' ').length, 1)
    requireSigned(last, rotated.signing_secret)
  })

  await t.test('deliveries reuse connections', async () => {
    assert.ok(endpoint.received.length >= 3)
    assert.equal(endpoint.connections(), 1)
  })
})

// Goal: a failed delivery is retried on schedule, within 10%; then it is a dead letter, which can be sent again.
test('event_subscriptions: retries and dead letters', async (t) => {
  const endpoint = await receiver(t, (_got, response) => response.writeHead(500).end('out of order'))
  const w = await world(t, { egressAllow: [endpoint.host] })
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read', 'write'])
  const call = (id: string, input: object) => w.ok(key, id, input)
  const { id: subscription_id } = await call('event_subscriptions.create', {
    event_type: 'collection.created',
    endpoint_url: endpoint.url,
  })
  const make = (name: string) => call('collections.create', { project_id: org.projectId, name })
  const latest = async () => (await call('event_subscriptions.deliveries.list', { subscription_id, limit: 1 })).deliveries[0]

  await t.test('after eight attempts it is a dead letter with a reason', async () => {
    await make('first')
    for (const minutes of [0, ...BACKOFF_MINUTES]) {
      w.clock.advance({ seconds: minutes * 60 * 0.9 - (minutes ? 1 : 0) })
      if (minutes > 0) assert.equal(await w.deliver(), 0, `not before ${minutes} minutes less 10%`)
      w.clock.advance({ seconds: minutes * 60 * 0.2 + 2 })
      assert.equal(await w.deliver(), 1, `by ${minutes} minutes and 10%`)
    }
    const dead = await latest()
    assert.equal(dead.state, 'dead')
    assert.equal(dead.attempts.length, 8)
    assert.equal(dead.reason, 'All 8 attempts failed; the last: The endpoint returned 500')
    assert.deepEqual(new Set(dead.attempts.map((attempt: { response_start: string }) => attempt.response_start)), new Set(['out of order']))
    w.clock.advance({ days: 3 })
    assert.equal(await w.deliver(), 0)
    const ids = endpoint.received.map(({ headers }) => headers['x-svc-delivery-id'])
    assert.equal(new Set(ids).size, 8, 'each attempt has an id of its own')
    assert.equal(new Set(endpoint.received.map(({ body }) => body.event_id)).size, 1)
  })

  await t.test('owners are notified once', async () => {
    const rows = await w.db.selectFrom('notification').selectAll().where('org_id', '=', org.id).where('kind', '=', 'webhook').execute()
    assert.equal(rows.length, 1)
    assert.match(rows[0]!.title, /was not delivered/)
    assert.equal(rows[0]!.user_id, org.owner.id)
  })

  await t.test('a dead letter can be retried', async () => {
    endpoint.answer((_got, response) => response.writeHead(200).end())
    const { id, state } = await call('event_subscriptions.deliveries.retry', { delivery_id: (await latest()).id })
    assert.equal(state, 'pending')
    assert.equal(await w.deliver(), 1)
    const after = await latest()
    assert.deepEqual([after.id, after.state, after.attempts.length], [id, 'delivered', 9])
    const refused = await w.call(key, 'event_subscriptions.deliveries.retry', { delivery_id: id })
    assert.equal(refused.status, 400)
  })

  await t.test('Retry-After lengthens the backoff, to a day at most, and never shortens it', async () => {
    for (const [retryAfter, atLeast] of [
      ['3600', 3_600],
      ['9999999', 86_400],
      ['1', 54],
      ['Sun, 06 Nov 1994 08:49:37 GMT', 54],
      ['soon', 54],
    ] as const) {
      endpoint.answer((_got, response) => response.writeHead(503, { 'retry-after': retryAfter }).end())
      await make(`retry after ${retryAfter}`)
      assert.equal(await w.deliver(), 1)
      const waits = (new Date((await latest()).next_attempt_at).getTime() - w.clock.now().getTime()) / 1_000
      assert.ok(waits >= atLeast && waits <= Math.max(66, atLeast), `${retryAfter}: ${waits}`)
      endpoint.answer((_got, response) => response.writeHead(200).end())
      w.clock.advance({ days: 1, minutes: 1 })
      assert.equal(await w.deliver(), 1)
    }
  })

  await t.test('redirects and responses that hang, trickle or never end fail within the deadline; a long 2xx succeeds', async () => {
    const canary = await receiver(t)
    const outcomes: Record<string, [Parameters<typeof endpoint.answer>[0], number | null]> = {
      redirect: [(_got, response) => response.writeHead(302, { location: canary.url }).end(), 302],
      hang: [() => {}, null],
      dribble: [(_got, response) => void response.writeHead(200, { 'content-length': '1000' }).write('x'), null],
      reset: [(_got, response) => void response.destroy(), null],
      long: [(_got, response) => response.writeHead(200).end('y'.repeat(200_000)), 200],
    }
    // Another process of the service that soon gives up: only those that never answer are left to it.
    const hasty = await world(t, {
      databaseUrl: w.databaseUrl,
      startAt: w.clock.now().toISOString(),
      egressAllow: [endpoint.host],
      webhooks: { timeoutMs: 200 },
    })
    for (const [name, [respond, status]] of Object.entries(outcomes)) {
      endpoint.answer(respond)
      await make(name)
      const startedMs = performance.now()
      await (status === null ? hasty : w).deliver()
      assert.ok(performance.now() - startedMs < HANGS_MS, name)
      const {
        attempts: [attempt],
        state,
      } = await latest()
      assert.equal(attempt.http_status, status, name)
      assert.equal(state, status === 200 ? 'delivered' : 'pending', name)
      assert.ok((attempt.response_start ?? '').length <= 1_000)
      if (status === null) assert.equal(attempt.error, 'The endpoint could not be reached or did not respond in time', name)
    }
    assert.equal(canary.received.length, 0)
  })
})

// Goal: filters, pauses and deletion alone decide what is queued and sent.
test('event_subscriptions: filters, pause, delete', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host] })
  const org = await w.organization()
  const names = () => endpoint.received.splice(0).map(({ body }) => body.data.name as string)

  await t.test('every key must match; a list matches any of its values', async () => {
    const cases: [object, string[]][] = [
      [{ 'data.name': 'a' }, ['a']],
      [{ 'data.name': ['a', 'b'] }, ['a', 'b']],
      [{ 'data.name': 'a', 'data.project_id': org.projectId }, ['a']],
      [{ 'data.name': 'a', 'data.project_id': org.id }, []],
      [{ entity_type: 'collection', 'data.deleted_at': null }, ['a', 'b', 'c']],
      [{ entity_type: 'item' }, []],
      [{ 'data.name': [null, 1, true] }, []],
      [{ 'data.nothing.here': null }, ['a', 'b', 'c']],
      [{}, ['a', 'b', 'c']],
    ]
    for (const [filter_config, expected] of cases) {
      const { id } = await subscribe(w, org, { endpoint_url: endpoint.url, filter_config })
      for (const name of ['a', 'b', 'c']) await collect(w, org, name)
      await w.deliver()
      assert.deepEqual(names().toSorted(), expected, JSON.stringify(filter_config))
      await w.ok(org.owner.token, 'event_subscriptions.delete', { subscription_id: id })
    }
  })

  await t.test('an invalid filter is 422', async () => {
    for (const filter_config of [
      { nonsense: 1 },
      { data: 1 },
      { 'data.': 1 },
      { 'data.a': {} },
      { 'data.a': [] },
      { 'data.a': [[1]] },
      Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`data.f${n}`, 1])),
    ]) {
      const { status, body } = await w.call(org.owner.token, 'event_subscriptions.create', {
        event_type: 'item.created',
        endpoint_url: endpoint.url,
        filter_config,
      })
      assert.equal(status, 422, JSON.stringify(filter_config))
      assert.match(body.detail, /filter_config/)
    }
    for (const headers of [{ Host: 'x' }, { 'X-Svc-Event': 'x' }, { 'webhook-id': 'x' }, { 'a b': 'x' }, { A: 'line\nbreak' }])
      assert.equal(
        (await w.call(org.owner.token, 'event_subscriptions.create', { event_type: 'item.created', endpoint_url: endpoint.url, headers }))
          .status,
        422,
        JSON.stringify(headers),
      )
  })

  await t.test('paused: new events are not queued, and queued deliveries wait until it is resumed', async () => {
    const { id: subscription_id } = await subscribe(w, org, { endpoint_url: endpoint.url })
    const update = (change: object) => w.ok(org.owner.token, 'event_subscriptions.update', { subscription_id, ...change })
    await collect(w, org, 'before')
    assert.equal((await update({ active: false })).is_active, false)
    await collect(w, org, 'while paused')
    assert.equal(await w.deliver(), 0)
    const [held] = (await w.ok(org.owner.token, 'event_subscriptions.deliveries.list', { subscription_id })).deliveries
    assert.equal(held.state, 'held')
    await update({ is_active: true })
    await w.deliver()
    assert.deepEqual(names(), ['before'])
    assert.equal((await w.call(org.owner.token, 'event_subscriptions.update', { subscription_id })).status, 400)
    assert.equal(
      (await w.call(org.owner.token, 'event_subscriptions.update', { subscription_id, active: true, is_active: false })).status,
      422,
    )
    await collect(w, org, 'never sent')
    await w.ok(org.owner.token, 'event_subscriptions.delete', { subscription_id })
    assert.equal(await w.deliver(), 0)
    assert.equal((await w.call(org.owner.token, 'event_subscriptions.get', { subscription_id })).status, 404)
  })

  await t.test('at most 100 per organization, also when created concurrently', async () => {
    const stranger = await w.organization()
    const { key } = await w.key(stranger.owner.token, ['write'])
    const responses = await Promise.all(
      Array.from({ length: 104 }, () =>
        w.call(key, 'event_subscriptions.create', { event_type: 'item.created', endpoint_url: endpoint.url }),
      ),
    )
    assert.equal(responses.filter(({ status }) => status === 200).length, 100)
    assert.equal(responses.filter(({ status }) => status === 400).length, 4)
  })
})

// Goal: a test is one real delivery, and cannot be used to scan our network (docs/threats.md, row 5).
test('event_subscriptions.test', async (t) => {
  const endpoint = await receiver(t)
  const closed = await receiver(t)
  await closed.close()
  const hanging = await receiver(t, () => {})
  const egressAllow = [endpoint.host, closed.host, hanging.host]
  const w = await world(t, { egressAllow })
  const hasty = await world(t, { databaseUrl: w.databaseUrl, egressAllow, webhooks: { timeoutMs: 150 } })
  const org = await w.organization()
  const testEndpoint = async (endpoint_url: string, by = w) => {
    const { id, signing_secret } = await subscribe(w, org, { endpoint_url })
    await w.ok(org.owner.token, 'event_subscriptions.update', { subscription_id: id, active: false })
    return { id, signing_secret, ...(await by.ok(org.owner.token, 'event_subscriptions.test', { subscription_id: id })) }
  }
  const good = await testEndpoint(endpoint.url)
  assert.deepEqual([good.status, good.delivered, good.http_status, good.event_type], ['delivered', true, 204, 'collection.created'])
  const [got] = endpoint.received
  assert.deepEqual([got!.body.data, got!.body.event_id], [{ test: true }, good.event_id])
  requireSigned(got!, good.signing_secret)

  const seen = await Promise.all(
    [closed.url, hanging.url, endpoint.url.replace('http:', 'https:')].map(async (url) => {
      const { status, delivered, http_status, error } = await testEndpoint(url, hasty)
      return JSON.stringify({ status, delivered, http_status, error })
    }),
  )
  assert.equal(new Set(seen).size, 1, 'refused, hung and TLS errors look alike')
  assert.equal(await w.deliver(), 0, 'a test is not retried')
  const responses = await Promise.all(
    Array.from({ length: 30 }, () => w.call(org.owner.token, 'event_subscriptions.test', { subscription_id: good.id })),
  )
  assert.ok(responses.some(({ status }) => status === 429))
})

// Goal: an endpoint must be public when it is set and at each connection (docs/threats.md, rows 1, 2 and 4).
test('event_subscriptions: endpoints that are or become private', async (t) => {
  const canary = await receiver(t)
  const port = canary.host.split(':')[1]
  let isPrivate = false
  const w = await world(t, { webhooks: { resolve: async () => (isPrivate ? ['127.0.0.1'] : ['203.0.114.9']), timeoutMs: 100 } })
  const org = await w.organization()
  for (const endpoint_url of [
    `http://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'http://public.example/',
    'https://user:pass@public.example/',
    'ftp://public.example/',
    'nonsense',
  ]) {
    const { status, body } = await w.call(org.owner.token, 'event_subscriptions.create', { event_type: 'item.created', endpoint_url })
    assert.equal(status, 422, endpoint_url)
    assert.match(body.detail, /endpoint_url/)
  }
  assert.equal(
    (await w.call(org.owner.token, 'event_subscriptions.create', { event_type: 'no.such', endpoint_url: 'https://public.example/' }))
      .status,
    422,
  )
  for (let n = 0; n < 30; n++) await subscribe(w, org, { endpoint_url: `https://host-${n}.example:${port}/` })
  isPrivate = true
  await collect(w, org, 'rebound')
  assert.equal(await w.deliver(), 30)
  assert.equal(canary.connections(), 0)
})

// Goal: a webhook delivers no more than its creator can read, also after they lose access (docs/threats.md, row 39).
test('event_subscriptions: private projects', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host] })
  const org = await w.organization()
  const outsider = await w.member(org)
  const insider = await w.member(org)
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Secret', visibility: 'private' })
  await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id: insider.id, role: 'viewer' })
  const { key } = await w.key(outsider.token, ['read', 'write'])
  for (const [who, token] of Object.entries({ outsider: outsider.token, key, insider: insider.token, owner: org.owner.token }))
    await w.ok(token, 'event_subscriptions.create', { event_type: 'collection.created', endpoint_url: `${endpoint.url}/${who}` })
  const recipients = async (name: string, project: string, before: () => Promise<unknown> = async () => {}) => {
    await w.ok(org.owner.token, 'collections.create', { project_id: project, name })
    await before()
    await w.deliver()
    return endpoint.received
      .splice(0)
      .map(({ path }) => path.split('/').at(-1)!)
      .toSorted()
  }
  assert.deepEqual(await recipients('open', org.projectId), ['insider', 'key', 'outsider', 'owner'])
  assert.deepEqual(await recipients('private', project_id), ['insider', 'owner'])
  const leave = () => w.ok(org.owner.token, 'projects.remove_member', { project_id, user_id: insider.id })
  assert.deepEqual(
    await recipients('after leaving', project_id, leave),
    ['owner'],
    'queued deliveries are not sent to users who lost access',
  )
  const dead = await w.db.selectFrom('webhook_delivery').select('reason').where('state', '=', 'dead').execute()
  assert.deepEqual(
    dead.map(({ reason }) => reason),
    ['The creator of the subscription no longer has access to the subject of the event'],
  )

  await t.test('whoever redirects or resumes a subscription receives only what they can read', async () => {
    const { event_subscriptions: all } = await w.ok(org.owner.token, 'event_subscriptions.list')
    const { id: subscription_id } = all.find(({ endpoint_url }: { endpoint_url: string }) => endpoint_url.endsWith('/insider'))
    const update = (token: string, change: object) => w.ok(token, 'event_subscriptions.update', { subscription_id, ...change })
    await update(org.owner.token, { endpoint_url: `${endpoint.url}/taken` })
    assert.deepEqual(await recipients('taken', project_id), ['owner', 'taken'])
    await update(insider.token, { description: 'said by its creator' })
    assert.deepEqual(await recipients('described', project_id), ['owner', 'taken'])
    await update(insider.token, { active: false })
    await update(insider.token, { active: true })
    assert.deepEqual(await recipients('resumed', project_id), ['owner'])
    await update(org.owner.token, { endpoint_url: `${endpoint.url}/again` })
    assert.deepEqual(await recipients('taken again', project_id), ['again', 'owner'])
    await update(insider.token, { endpoint_url: `${endpoint.url}/insider` })
    assert.deepEqual(await recipients('back', project_id), ['owner'])
  })

  await t.test('webhooks of a member who leaves are paused with their queue; admins are notified and can resume them', async () => {
    const leave = () => w.ok(org.owner.token, 'organizations.members.remove', { user_id: outsider.id })
    assert.deepEqual(await recipients('left', org.projectId, leave), ['insider', 'owner'])
    const { event_subscriptions: all } = await w.ok(org.owner.token, 'event_subscriptions.list', { active: false })
    assert.equal(all.length, 2, 'by the user and by their key')
    const inbox: { body: string }[] = await w.ok(org.owner.token, 'notifications.list')
    assert.ok(inbox.some(({ body }) => body.includes('their 2 webhooks, 0 alert rules and 0 saved searches are paused')))
    for (const { id } of all) await w.ok(org.owner.token, 'event_subscriptions.update', { subscription_id: id, active: true })
    await w.deliver()
    assert.deepEqual(
      endpoint.received
        .splice(0)
        .map(({ path }) => path.split('/').at(-1)!)
        .toSorted(),
      ['key', 'outsider'],
    )
  })
})

// Goal: operators can drain the queue manually; deliveries to a dead endpoint are abandoned after days and then deleted.
test('webhooks.drain and sweep', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host], systemAdminEmails: ['staff@example.com'] })
  const org = await w.organization()
  await subscribe(w, org, { endpoint_url: endpoint.url })
  for (const name of ['a', 'b', 'c']) await collect(w, org, name)
  const staff = await w.person('staff@example.com')
  assert.deepEqual(await w.ok(staff.token, 'webhooks.drain', { limit: 2 }), { attempted: 2, delivered: 2, failed: 0 })
  assert.deepEqual(await w.ok(staff.token, 'webhooks.drain'), { attempted: 1, delivered: 1, failed: 0 })
  assert.equal((await w.call(org.owner.token, 'webhooks.drain')).status, 403)
  for (const limit of [0, 2_001, 1.5, '10']) assert.equal((await w.call(staff.token, 'webhooks.drain', { limit })).status, 422)
  assert.equal((await w.ok(staff.token, 'webhooks.drain', { limit: null })).attempted, 0)
  await collect(w, org, 'never taken')
  const { default: sweep } = await import('../webhooks/sweep.task.ts')
  const states = async () => (await w.db.selectFrom('webhook_delivery').select('state').execute()).map(({ state }) => state).toSorted()
  w.clock.advance({ days: 4 })
  await w.runTask(sweep)
  assert.deepEqual(await states(), ['dead', 'delivered', 'delivered', 'delivered'])
  w.clock.advance({ days: 27 })
  await w.runTask(sweep)
  assert.deepEqual(await states(), ['dead'])
})
