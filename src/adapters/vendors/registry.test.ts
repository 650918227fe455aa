// Goal: the shipped registry is complete, and an invalid registry stops the start with an error that says where.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseRegistry, readRegistry, RegistryError } from './registry.ts'

const TEXT = readFileSync(new URL('./registry.json', import.meta.url), 'utf8')
const SANDBOX_URL = 'http://127.0.0.1:1234'

const bent = (bend: (file: Record<string, never>) => void): string => {
  const file = JSON.parse(TEXT)
  bend(file)
  return JSON.stringify(file)
}

test('the shipped registry has simulated hosts and real ones; offline, it has no real ones', async () => {
  const simulated = await readRegistry(null, { sandboxUrl: SANDBOX_URL, isOffline: true })
  assert.ok(simulated.sources.every(({ simulated: isSimulated }) => isSimulated))
  assert.ok(simulated.hosts.every(({ url }) => url.startsWith(`${SANDBOX_URL}/sandbox-`)))
  const real = await readRegistry(null, { sandboxUrl: null })
  assert.deepEqual(
    real.sources.map(({ hostName }) => hostName),
    ['earth-search', 'planetary-computer', 'cdse', 'skyfi', 'planet', 'up42', 'umbra'],
  )
  assert.ok(real.hosts.every(({ url }) => url.startsWith('https://')))
  const shops = real.sources.filter(({ accessModel }) => accessModel === 'commercial').map(({ hostName }) => hostName)
  assert.deepEqual([...new Set(real.products.map(({ hostName }) => hostName))], shops)
  const both = await readRegistry(null, { sandboxUrl: SANDBOX_URL })
  assert.deepEqual(both.sources, [...simulated.sources, ...real.sources])
  assert.deepEqual((await readRegistry(null, { sandboxUrl: null, isOffline: true })).sources, [])
})

test('errors name their place', async () => {
  const refused = (text: string, pattern: RegExp) =>
    assert.throws(
      () => parseRegistry(text, 'mine.json', { sandboxUrl: SANDBOX_URL }),
      (error) => error instanceof RegistryError && pattern.test(error.message),
    )
  refused('{', /mine\.json is not valid JSON/)
  refused('{}', /mine\.json/)
  const sources = (file: object) => (file as { sources: Record<string, unknown>[] }).sources
  refused(
    bent((file) => (sources(file)[0]!['hostName'] = 'sandbox-hr')),
    /two hosts have the name 'sandbox-hr'/,
  )
  refused(
    bent((file) => (sources(file)[0]!['provider'] = 'nobody')),
    /provider 'nobody'/,
  )
  refused(
    bent((file) => (sources(file)[0]!['collections'] = [])),
    /\/sources\/0\/collections/,
  )
  refused(
    bent((file) => (sources(file)[0]!['colour'] = 'red')),
    /\/sources\/0/,
  )
  await assert.rejects(readRegistry('/nowhere/sources.json', { sandboxUrl: null }), RegistryError)
})

// Goal: every band of open imagery can be found in a file that we can read, and everything that can be read has an allowed host.
test('band maps of the shipped open hosts', async () => {
  const { sources, hosts } = await readRegistry(null, { sandboxUrl: null })
  const collection = (hostName: string, id: string) =>
    sources.find((source) => source.hostName === hostName)!.collections.find((each) => each.id === id)!
  for (const { hostName, collections } of sources)
    for (const { renderStrategy, bands, assets } of collections)
      if (renderStrategy === 'cog') {
        assert.ok(hosts.find((host) => host.hostName === hostName)!.fileHosts.length > 0)
        assert.ok(bands.every(({ asset }) => asset !== null && assets.includes(asset)))
      }
  assert.deepEqual(
    sources
      .filter(({ accessModel }) => accessModel === 'open')
      .flatMap(({ hostName, collections }) => collections.map(({ id, assets }) => [hostName, id, assets.length])),
    [
      ['earth-search', 'sentinel-2-l2a', 12],
      ['earth-search', 'sentinel-2-c1-l2a', 12],
      ['earth-search', 'cop-dem-glo-30', 1],
      ['planetary-computer', 'sentinel-2-l2a', 12],
      ['planetary-computer', 'landsat-c2-l2', 7],
      ['planetary-computer', 'naip', 1],
      ['planetary-computer', 'cop-dem-glo-30', 1],
      ['cdse', 'sentinel-2-l2a', 0],
      ['cdse', 'sentinel-1-grd', 0],
    ],
  )
  const narrow = { name: 'nir08', role: 'NIR08', asset: 'B8A', commonName: 'nir08', scale: 0.0001, offset: null, nodata: 0 }
  assert.deepEqual(
    collection('planetary-computer', 'sentinel-2-l2a').bands.find(({ asset }) => asset === 'B8A'),
    narrow,
  )
  assert.equal(collection('planetary-computer', 'landsat-c2-l2').bands.find(({ role }) => role === 'NIR')!.asset, 'nir08')
})

// Goal: credentials are settings; a source that lacks one is disabled, and the start can name the setting.
test('credentials of sources', () => {
  const withAuth = (auth: object) =>
    bent((file) => {
      const { sources } = file as unknown as { sources: Record<string, unknown>[] }
      sources.find(({ hostName }) => hostName === 'cdse')!['auth'] = auth
    })
  const parsed = (auth: object, secrets: Record<string, string>) =>
    parseRegistry(withAuth(auth), 'mine.json', { sandboxUrl: null, secrets })
  const credential = (auth: object, secrets: Record<string, string>) =>
    parsed(auth, secrets).hosts.find(({ hostName }) => hostName === 'cdse')?.credential

  const header = { kind: 'header', header: 'X-Api-Key' }
  assert.deepEqual(parsed(header, {}).withoutCredential, [{ hostName: 'cdse', setting: 'VENDOR_CDSE_KEY' }])
  assert.equal(credential(header, {}), undefined)
  assert.deepEqual(credential(header, { VENDOR_CDSE_KEY: 'k' }), { kind: 'fixed', headers: { 'x-api-key': 'k' }, hosts: [] })
  assert.deepEqual(credential({ kind: 'basic' }, { VENDOR_CDSE_USER: 'ann', VENDOR_CDSE_PASSWORD: 'p' }), {
    kind: 'fixed',
    headers: { authorization: `Basic ${Buffer.from('ann:p').toString('base64')}` },
    hosts: [],
  })
  const oauth = { kind: 'oauth-client', tokenUrl: 'https://id.example/token' }
  assert.deepEqual(parsed(oauth, { VENDOR_CDSE_CLIENT_ID: 'me' }).withoutCredential, [
    { hostName: 'cdse', setting: 'VENDOR_CDSE_CLIENT_SECRET' },
  ])
  assert.throws(() => parsed({ kind: 'header', header: 'X-Api-Key', key: 'secret' }, {}), /\/sources\/\d+\/auth/)
})

// Goal: a vendor is sold with whichever account there is, at a rate that there is; the former name of the sandbox protocol still works.
test('accounts, currencies and protocols of sources', () => {
  const secrets = { VENDOR_SKYFI_KEY: 'k' }
  const exchange = new Map([['USD', { audPerUnit: 1.5, day: '2026-11-01', marginPercent: 3 }]])
  const skyfi = (options: Partial<Parameters<typeof parseRegistry>[2]>) =>
    parseRegistry(TEXT, 'mine.json', { sandboxUrl: null, ...options }).sources.find(({ hostName }) => hostName === 'skyfi')!
  assert.deepEqual([skyfi({}).hasInstallationAccount, skyfi({}).exchange, skyfi({}).secretFields], [false, null, ['key']])
  assert.deepEqual(parseRegistry(TEXT, 'mine.json', { sandboxUrl: null }).withoutCredential, [], 'organizations can use it')
  const sold = skyfi({ secrets, exchange })
  assert.deepEqual([sold.hasInstallationAccount, sold.exchange?.audPerUnit, sold.isCancellable], [true, 1.5, false])
  const resold = bent((file) => {
    const { sources } = file as unknown as { sources: Record<string, unknown>[] }
    sources.find(({ hostName }) => hostName === 'skyfi')!['accounts'] = ['installation']
  })
  assert.deepEqual(parseRegistry(resold, 'mine.json', { sandboxUrl: null }).withoutCredential, [
    { hostName: 'skyfi', setting: 'VENDOR_SKYFI_KEY' },
  ])
  const former = parseRegistry(TEXT.replaceAll('"protocol": "sandbox"', '"protocol": "commercial"'), 'mine.json', {
    sandboxUrl: SANDBOX_URL,
  })
  const hr = former.sources.find(({ hostName }) => hostName === 'sandbox-hr')!
  assert.deepEqual([hr.protocol, hr.currency, hr.exchange?.audPerUnit, hr.billing], ['sandbox', 'AUD', 1, 'union'])
})
