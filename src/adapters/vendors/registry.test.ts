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

test('the shipped registry has simulated hosts with the sandbox, and real ones without it', async () => {
  const simulated = await readRegistry(null, SANDBOX_URL)
  assert.ok(simulated.sources.every(({ simulated: isSimulated }) => isSimulated))
  assert.ok(simulated.hosts.every(({ url }) => url.startsWith(`${SANDBOX_URL}/sandbox-`)))
  const real = await readRegistry(null, null)
  assert.deepEqual(
    real.sources.map(({ hostName }) => hostName),
    ['earth-search', 'planetary-computer', 'cdse'],
  )
  assert.ok(real.hosts.every(({ url }) => url.startsWith('https://')))
  assert.deepEqual(real.products, [])
})

test('errors name their place', async () => {
  const refused = (text: string, pattern: RegExp) =>
    assert.throws(
      () => parseRegistry(text, 'mine.json', SANDBOX_URL),
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
  await assert.rejects(readRegistry('/nowhere/sources.json', null), RegistryError)
})
