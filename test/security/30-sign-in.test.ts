import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { campaign } from '../support/campaign.ts'
import { world } from '../support/world.ts'

const WRONG = 'not the password'
const GUESSES = 100
const SIGN_UPS = campaign({ short: 100, long: 300 })
const SIGN_INS = campaign({ short: 10, long: 20 })
/** Passwords of the flood that may be done while somebody else signs in; without turns it would be hundreds. */
const MAX_AHEAD = 20 * availableParallelism()

// Goal: whoever guesses locks out themselves: not the owner of the account, not the people behind the same proxy; and a crowd
// of new accounts keeps nobody from signing in.
test('row 30: nobody can lock out another user', async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.1'] })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const signIn = (email: string, password: string, address: string) => w.post('/auth/sign-in', { email, password }, from(address))

  await t.test('ten wrong passwords lock out only the guesser', async () => {
    const victim = await w.person()
    for (let i = 0; i < 10; i++) assert.equal((await signIn(victim.email, WRONG, '203.0.113.1')).status, 401)
    assert.equal((await signIn(victim.email, victim.password, '203.0.113.1')).status, 429)
    assert.equal((await signIn(victim.email, victim.password, '203.0.113.2')).status, 200, 'the owner gets in from elsewhere')
  })

  await t.test('a hundred wrong passwords from one address lock out only that address', async () => {
    const statuses = await Promise.all(
      Array.from({ length: GUESSES + 10 }, async (_, i) => (await signIn(`nobody-${i}@example.com`, WRONG, '203.0.113.10')).status),
    )
    assert.equal(statuses.filter((status) => status === 401).length, GUESSES)
    const person = await w.person()
    assert.equal((await signIn(person.email, person.password, '203.0.113.10')).status, 429)
    assert.equal((await signIn(person.email, person.password, '203.0.113.11')).status, 200)
  })

  await t.test('the client address is the last one that the trusted proxy forwards; entries of the client are ignored', async () => {
    const victim = await w.person()
    for (let i = 0; i < 10; i++) await signIn(victim.email, WRONG, `198.51.100.${i}, 203.0.113.20`)
    assert.equal((await signIn(victim.email, victim.password, '198.51.100.99, 203.0.113.20')).status, 429)
    assert.equal((await signIn(victim.email, victim.password, 'nonsense, 203.0.113.21')).status, 200)
    for (let i = 0; i < 10; i++) await signIn(victim.email, WRONG, `2001:db8:1:2::${i.toString(16)}`)
    assert.equal((await signIn(victim.email, victim.password, '2001:db8:1:2:ffff::1')).status, 429, 'a /64 is one subscriber')
    assert.equal((await signIn(victim.email, victim.password, '2001:db8:1:3::1')).status, 200)
  })

  await t.test('the right password resets the count', async () => {
    const person = await w.person()
    for (let round = 0; round < 15; round++) {
      for (let i = 0; i < 9; i++) assert.equal((await signIn(person.email, WRONG, `203.0.113.${100 + round}`)).status, 401)
      assert.equal((await signIn(person.email, person.password, `203.0.113.${100 + round}`)).status, 200)
    }
  })
})

test('row 30: a flood of sign-ups and guesses delays nobody else', async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.1'], passwordCost: 10 })
  const person = await w.person()
  let hashed = 0
  const flooded = async (path: string, body: object): Promise<number> => {
    const { status } = await w.post(path, body, { 'x-forwarded-for': '203.0.113.1' })
    if (status === 201 || status === 401) hashed++
    return status
  }
  const flood = [
    ...Array.from({ length: SIGN_UPS }, (_, i) =>
      flooded('/auth/sign-up', { email: `flood-${i}@example.com`, password: 'long enough', name: 'x' }),
    ),
    ...Array.from({ length: GUESSES }, (_, i) => flooded('/auth/sign-in', { email: `nobody-${i}@example.com`, password: WRONG })),
  ]
  const ahead: number[] = []
  for (let i = 0; i < SIGN_INS; i++) {
    const before = hashed
    const headers = { 'x-forwarded-for': '203.0.113.2' }
    const { status } = await w.post('/auth/sign-in', { email: person.email, password: person.password }, headers)
    assert.equal(status, 200)
    ahead.push(hashed - before)
  }
  t.diagnostic(`done of the flood during each sign-in: ${ahead.join(', ')}`)
  assert.ok(Math.max(...ahead) <= MAX_AHEAD, `${Math.max(...ahead)} of the flood were done before one sign-in was`)
  const statuses = new Set(await Promise.all(flood))
  assert.deepEqual(
    [...statuses].filter((status) => ![201, 401, 429, 503].includes(status)),
    [],
    'and the flood is told, not dropped',
  )
})
