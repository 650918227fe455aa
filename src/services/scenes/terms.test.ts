import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRegistry } from '#adapters/vendors/registry.ts'
import type { Scene } from '#ports/vendors/catalog.ts'
import type { Source, Terms } from '#ports/vendors/source.ts'
import { isOpenlyLicensed, termsOf, termsOfCollection, termsProperties } from './terms.ts'

const SENTINEL = { attribution: 'Sentinel data {year}', license: 'Sentinel terms', licenseUrl: 'https://licences.example/sentinel' }
const CC_BY = { attribution: 'Agency', license: 'CC-BY-4.0', licenseUrl: 'https://licences.example/cc-by' }

const sourceWith = (terms: Terms, ofCollection: Terms | null = null) =>
  ({ ...terms, collections: [{ id: 'scenes', terms: ofCollection }] }) as unknown as Source
const scene = (properties: Record<string, unknown> = {}, licenseUrl: string | null = null) =>
  ({ collection: 'scenes', datetime: '2029-06-12T10:40:00.000Z', properties, licenseUrl }) as unknown as Scene

// Goal: every open scene has the licence and attribution that people expect: its own, else its collection's, else its source's.
test('the terms of a scene', () => {
  assert.deepEqual(termsOf(sourceWith({ ...CC_BY, license: 'various' }, SENTINEL), scene()), {
    license: 'other',
    name: 'Sentinel terms',
    url: SENTINEL.licenseUrl,
    attribution: 'Sentinel data 2029',
  })
  const ofSource = termsOf(sourceWith(CC_BY), scene())
  assert.deepEqual(ofSource, { license: 'CC-BY-4.0', name: 'CC-BY-4.0', url: CC_BY.licenseUrl, attribution: 'Agency' })
  assert.deepEqual(termsProperties(ofSource), { license: 'CC-BY-4.0', attribution: 'Agency', 'svc:license_url': CC_BY.licenseUrl })
  const own = scene({ license: 'CC0-1.0', attribution: 'Somebody' })
  assert.deepEqual(termsOf(sourceWith(CC_BY), own), { license: 'CC0-1.0', name: 'CC0-1.0', url: null, attribution: 'Somebody' })
  const linked = scene({ license: 'proprietary' }, 'https://licences.example/other')
  assert.deepEqual(termsProperties(termsOf(sourceWith(SENTINEL), linked)), {
    license: 'other',
    attribution: 'Sentinel data 2029',
    'svc:license_name': 'Sentinel terms',
    'svc:license_url': 'https://licences.example/other',
  })
  assert.equal(termsOf(sourceWith({ ...CC_BY, license: 'various', licenseUrl: null }), scene()).name, null)
})

// Goal: STAC's `proprietary` refuses a scene unless its source has terms that have no identifier.
test('a scene that is stated as proprietary', () => {
  const stated = scene({ license: 'proprietary' })
  assert.deepEqual(
    [
      isOpenlyLicensed(sourceWith(SENTINEL), stated),
      isOpenlyLicensed(sourceWith(CC_BY), stated),
      isOpenlyLicensed(sourceWith(CC_BY), scene()),
    ],
    [true, false, true],
  )
  assert.equal(isOpenlyLicensed(sourceWith({ ...CC_BY, license: 'proprietary' }), scene()), false)
  assert.equal(isOpenlyLicensed(sourceWith({ ...CC_BY, license: 'various' }), stated), false)
})

// Goal: each open collection that we ship names its licence, links to it, and has an attribution that can be shown.
test('terms of the shipped collections', async () => {
  const { sources } = await readRegistry(null, { sandboxUrl: 'http://127.0.0.1:9' })
  for (const source of sources.filter(({ accessModel }) => accessModel === 'open'))
    for (const collection of source.collections) {
      const { attribution, license, licenseUrl } = termsOfCollection(source, collection)
      const { name } = termsOf(source, { ...scene(), collection: collection.id })
      assert.equal(name, license, `${source.id} ${collection.id}`)
      assert.match(licenseUrl ?? '', /^https:/, `${source.id} ${collection.id}`)
      assert.doesNotMatch(attribution, /[{}]/)
    }
})
