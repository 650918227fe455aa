import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import bcrypt from 'bcrypt'
import { createPasswords } from '#access/passwords.ts'
import { scene, tileAt } from '../support/scene.ts'
import { storeFile } from '../support/stored-file.ts'
import { world, type Answer, type Org, type World } from '../support/world.ts'
import { withoutInstance } from './cast.ts'

const PASSWORD = 'coral and sand'
const WRONG = 'coral and salt'
const INSIDE = tileAt(151.15, -33.1, 12)
const NOBODYS = `shr_${'A'.repeat(43)}`

const OPERATIONS = ['share.link.validate', 'share.tilejson', 'share.tile.render', 'share.asset.download'] as const

interface Shared {
  item_id: string
  asset_id: string
}

async function sharedItem(w: World, org: Org): Promise<Shared> {
  const { id: item_id } = await w.ok(org.owner.token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'Harbour' })
  return { item_id, asset_id: await storeFile(w, item_id, { bytes: await scene() }) }
}

async function link(w: World, org: Org, { item_id }: Shared, expires_at = '2031-01-01T00:00:00Z'): Promise<{ id: string; token: string }> {
  return await w.ok(org.owner.token, 'share.link.create', {
    target_type: 'item',
    target_id: item_id,
    permission: 'download',
    password: PASSWORD,
    expires_at,
  })
}

/** Any of the operations that a visitor has, with whatever else it needs. */
const visit = (w: World, { asset_id }: Shared, id: (typeof OPERATIONS)[number], token: string, password?: string): Promise<Answer> =>
  w.call(null, id, {
    token,
    ...(password === undefined ? {} : { password }),
    ...(id === 'share.tile.render' ? INSIDE : id === 'share.asset.download' ? { asset_id } : {}),
  })

/** Counts the comparisons of passwords that are really made, and how many at a time. */
function watchHashes(t: TestContext) {
  const seen = { made: 0, atOnce: 0 }
  let running = 0
  const compare = bcrypt.compare.bind(bcrypt) as (password: string, hash: string) => Promise<boolean>
  t.mock.method(bcrypt, 'compare', async (password: string, hash: string) => {
    seen.made++
    seen.atOnce = Math.max(seen.atOnce, ++running)
    try {
      return await compare(password, hash)
    } finally {
      running--
    }
  })
  const during = async <T>(work: () => Promise<T>): Promise<[number, T]> => {
    const before = seen.made
    const result = await work()
    return [seen.made - before, result]
  }
  return { seen, during }
}

// Goal: whoever guesses learns nothing: not whether a link exists, has ended or has another password, neither by the answer nor
// by the work done for it.
test('row 14: every failure is the same', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const shared = await sharedItem(w, org)
  const [live, revoked, expired] = [
    await link(w, org, shared),
    await link(w, org, shared),
    await link(w, org, shared, new Date(w.clock.now().getTime() + 1000).toISOString()),
  ]
  await w.ok(org.owner.token, 'share.link.revoke', { link_id: revoked.id })
  w.clock.advance({ seconds: 1 })
  const { during } = watchHashes(t)
  const cases: [string, string, string | undefined][] = [
    ['wrong', live.token, WRONG],
    ['none', live.token, undefined],
    ['empty', live.token, ''],
    ['longer than bcrypt reads', live.token, PASSWORD.padEnd(80, '!')],
    ['of another case', live.token, PASSWORD.toUpperCase()],
    ['unknown token', NOBODYS, PASSWORD],
    ['not a token', 'shr_', PASSWORD],
    ['no such shape', '../../etc/passwd', PASSWORD],
    ['revoked', revoked.token, PASSWORD],
    ['expired', expired.token, PASSWORD],
  ]
  const answers: { why: string; hashes: number; bytes: string; status: number; headers: string[] }[] = []
  for (const [index, [why, token, password]] of cases.entries()) {
    if (index % 2 === 0) w.clock.advance({ seconds: 61 }) // Below the limit of attempts, which is another question.
    for (const id of OPERATIONS) {
      const [hashes, answer] = await during(() => visit(w, shared, id, token, password))
      const headers = [...answer.headers]
        .filter(([name]) => !/^(date|ratelimit|x-svc-invocation-id|connection|keep-alive)/.test(name))
        .map(([name, value]) => `${name}: ${value}`)
      answers.push({ why: `${why}, ${id}`, hashes, bytes: withoutInstance(answer.bytes), status: answer.status, headers })
    }
  }
  const [first] = answers
  assert.equal(first!.status, 401)
  assert.ok(first!.headers.includes('www-authenticate: Bearer'))
  for (const { why, ...answer } of answers)
    assert.deepEqual(answer, { hashes: 1, bytes: first!.bytes, status: 401, headers: first!.headers }, why)
})

// Goal: ten attempts in a minute close a token for the rest of it, whoever asks, through which operation and process; unknown tokens alike.
test('row 14: attempts are counted once, over all operations and processes', async (t) => {
  const w = await world(t)
  const other = await world(t, { databaseUrl: w.databaseUrl })
  const org = await w.organization()
  const shared = await sharedItem(w, org)
  const { during } = watchHashes(t)

  for (const [what, tokenOf] of [
    ['a link', async () => (await link(w, org, shared)).token],
    ['a token of nobody', async () => NOBODYS],
  ] as const) {
    await t.test(
      `${what}: the eleventh attempt is 429 from any operation, with the right password too, until the minute is over`,
      async () => {
        const token = await tokenOf()
        for (let i = 0; i < 10; i++)
          assert.equal(
            (await visit(i % 2 ? w : other, shared, OPERATIONS[i % OPERATIONS.length]!, token, `${WRONG} ${i}`)).status,
            401,
            `attempt ${i + 1}`,
          )
        for (const process of [w, other])
          for (const id of OPERATIONS)
            for (const password of [WRONG, PASSWORD]) {
              const [hashes, answer] = await during(() => visit(process, shared, id, token, password))
              assert.deepEqual(
                [answer.status, answer.body.code, answer.headers.get('retry-after'), hashes],
                [429, 'too-many-attempts', '60', 0],
                `${id} ${password}`,
              )
            }
        w.clock.advance({ seconds: 60 })
        other.clock.advance({ seconds: 60 })
        assert.equal((await visit(w, shared, 'share.link.validate', token, PASSWORD)).status, what === 'a link' ? 200 : 401)
      },
    )
  }

  await t.test('concurrent guesses on two processes do not exceed the limit', async () => {
    for (const guess of [(i: number) => `${WRONG} ${i}`, () => WRONG]) {
      const { token } = await link(w, org, shared)
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => visit(i % 2 ? w : other, shared, OPERATIONS[i % OPERATIONS.length]!, token, guess(i))),
      )
      const count = (status: number) => answers.filter((answer) => answer.status === status).length
      assert.deepEqual([count(401), count(429)], [10, 30])
    }
  })

  await t.test(
    'who asks to be let in uses an attempt up, right or wrong; who is in does not, and a wrong password now and then locks nobody out',
    async () => {
      const { token } = await link(w, org, shared)
      const DRAWING = OPERATIONS.filter((id) => id !== 'share.link.validate')
      for (let i = 0; i < 25; i++) assert.equal((await visit(w, shared, DRAWING[i % DRAWING.length]!, token, PASSWORD)).status, 200)
      for (let i = 0; i < 9; i++) assert.equal((await visit(w, shared, 'share.tilejson', token, WRONG)).status, 401)
      assert.equal((await visit(w, shared, 'share.tilejson', token, PASSWORD)).status, 200)
      assert.equal(
        (await visit(other, shared, 'share.asset.download', token, PASSWORD)).status,
        200,
        'nor on a process that has not seen it yet',
      )
      assert.equal((await visit(other, shared, 'share.link.validate', token, PASSWORD)).status, 200, 'the tenth')
      for (const id of OPERATIONS) assert.equal((await visit(other, shared, id, token, PASSWORD)).status, 429, `${id} after it`)
    },
  )

  await t.test('a grant is not an attempt, and its holder is not locked out by another’s guesses', async () => {
    const { token } = await link(w, org, shared)
    const {
      body: {
        target: { grant },
      },
    } = await visit(w, shared, 'share.link.validate', token, PASSWORD)
    for (let i = 0; i < 12; i++) await visit(w, shared, 'share.link.validate', token, WRONG)
    const [hashes, answers] = await during(() => Promise.all(OPERATIONS.map((id) => visit(w, shared, id, grant))))
    assert.deepEqual([hashes, ...answers.map(({ status }) => status)], [0, 200, 200, 200, 200])
    for (let i = 0; i < 12; i++) assert.equal((await visit(w, shared, 'share.tilejson', `${grant.slice(0, -2)}xx`)).status, 401)
  })
})

// Goal: a crowd at one link costs one comparison a minute; what has ended is ended at once all the same; hashing never takes
// more than its share.
test('row 15: passwords are compared rarely and one at a time', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const shared = await sharedItem(w, org)
  const { seen, during } = watchHashes(t)
  const shareLink = await link(w, org, shared)
  const tiles = (count: number) =>
    Promise.all(Array.from({ length: count }, () => visit(w, shared, 'share.tile.render', shareLink.token, PASSWORD)))
  const statuses = (answers: Answer[]) => [...new Set(answers.map(({ status }) => status))]

  await t.test('200 concurrent requests: one comparison; another one a minute later', async () => {
    const [first, answers] = await during(() => tiles(200))
    assert.deepEqual([first, statuses(answers)], [1, [200]])
    w.clock.advance({ seconds: 59 })
    assert.equal((await during(() => tiles(10)))[0], 0)
    w.clock.advance({ seconds: 2 })
    assert.equal((await during(() => tiles(10)))[0], 1)
  })

  await t.test('the cache gives no access to another link, with another password, or after revocation', async () => {
    const twin = await link(w, org, shared)
    assert.equal(
      (await during(() => visit(w, shared, 'share.tilejson', twin.token, PASSWORD)))[0],
      1,
      'the same password of another link is compared',
    )
    assert.equal((await visit(w, shared, 'share.tilejson', shareLink.token, `${PASSWORD} `)).status, 401)
    await w.ok(org.owner.token, 'share.link.revoke', { link_id: shareLink.id })
    assert.deepEqual(statuses(await tiles(5)), [401])
  })

  await t.test('different guesses are queued', async () => {
    seen.atOnce = 0
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => visit(w, shared, 'share.link.validate', `shr_${String(i).padStart(43, '0')}`, PASSWORD)),
    )
    assert.deepEqual([statuses(answers), seen.atOnce], [[401], 1])
  })

  await t.test('the queue is limited', async () => {
    const passwords = createPasswords({ cost: 4, maxRunning: 1, waiting: 'visitors' })
    const settled = await Promise.allSettled(Array.from({ length: 250 }, () => passwords.matches(WRONG, null)))
    const refused = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as { status: number; message: string }] : []))
    assert.equal(refused.length, 49, 'one under way, 200 waiting')
    assert.ok(refused.every(({ status, message }) => status === 503 && message === 'Too many visitors at once; try again in a moment'))
  })

  await t.test('neither token, password nor grant is in the log or in the database', async () => {
    const { token } = await link(w, org, shared)
    const { body } = await visit(w, shared, 'share.link.validate', token, PASSWORD)
    await w.request('GET', `/s/${token}`)
    await w.request('GET', body.target.tilejson.replace(w.baseUrl, ''))
    await w.request('GET', `/nothing/${token}?grant=${body.target.grant}`)
    const log = w.logLines.join('')
    assert.ok(w.logLines.some((line) => line.includes('"path":"/s/[struck]"')))
    const rows = JSON.stringify(await w.db.selectFrom('share_link').selectAll().execute())
    for (const secret of [token.slice(4), PASSWORD, body.target.grant.slice(4)])
      for (const [where, text] of [
        ['the log', log],
        ['the table', rows],
      ])
        assert.ok(!text!.includes(secret), `${where} has ${secret}`)
  })
})
