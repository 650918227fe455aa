import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { world } from '../support/world.ts'

// Goal: links of the STAC API use the host that the nearest trusted proxy forwards, whatever a client sent.
test('row 58: X-Forwarded-Host with several entries', async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.1'] })
  const org = await w.organization()
  const selfOf = async (headers: Record<string, string>): Promise<string> => {
    const { body } = await w.request('GET', '/stac', { headers: { authorization: `Bearer ${org.owner.token}`, ...headers } })
    return body.links.find(({ rel }: { rel: string }) => rel === 'self').href
  }

  await t.test('the last entry is used, for host, scheme and prefix', async () => {
    const forwarded = {
      'x-forwarded-host': 'evil.example, maps.example',
      'x-forwarded-proto': 'http, https',
      'x-forwarded-prefix': '/evil, /own',
    }
    assert.equal(await selfOf(forwarded), 'https://maps.example/own/stac')
  })

  await t.test('earlier entries have no effect', async () => {
    const name = fc.stringMatching(/^[a-z0-9.:/"<> -]{0,30}$/)
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 4 }), async (before) => {
        assert.equal(await selfOf({ 'x-forwarded-host': [...before, 'maps.example'].join(', ') }), 'http://maps.example/stac')
      }),
      { numRuns: 25 },
    )
  })

  await t.test('an unusable last entry gives BASE_URL, never another entry', async () => {
    for (const last of ['', 'a b', 'x/"><script>'])
      assert.equal(await selfOf({ 'x-forwarded-host': `evil.example, ${last}` }), `${w.baseUrl}/stac`)
  })
})
