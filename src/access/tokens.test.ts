import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { world } from '../../test/support/world.ts'
import sweep from '#background/sweep.task.ts'

// Goal: a process that runs for months signs with the new key while everybody still knows the old one.
test('signing keys rotate under a running process', async (t) => {
  const w = await world(t)
  const person = await w.person()
  const kids = async () => (await w.request('GET', '/.well-known/jwks.json')).body.keys.map((key: { kid: string }) => key.kid)
  const [first] = await kids()
  assert.equal(decodeProtectedHeader(person.token).kid, first)

  w.clock.advance({ days: 91 })
  await w.runTask(sweep)
  w.clock.advance({ hours: 2 })
  const { token } = await w.signIn(person)
  const [second] = await kids()
  assert.notEqual(second, first)
  assert.equal(decodeProtectedHeader(token).kid, second)
  assert.deepEqual(await kids(), [second, first])

  w.clock.advance({ days: 2 })
  await w.runTask(sweep)
  w.clock.advance({ hours: 2 })
  assert.deepEqual(await kids(), [second])
})
