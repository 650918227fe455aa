// Goal: the URLs that an item's page offers for other programs are those of the maps guide, for the same six programs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { mapClientsFor } from '../../packages/console/src/screens/viewer/map-clients.ts'

const GUIDE = readFileSync(new URL('../../docs/guides/maps.md', import.meta.url), 'utf8')
const layer = { base: 'http://127.0.0.1:8080', itemId: '0199f2c6-1111-7abc-8def-0123456789ab', key: 'svc_1', profile: null, maxzoom: 14 }

test('URLs of an item for other programs', async (t) => {
  const printed = [...GUIDE.matchAll(/^echo "(\w+)(?:, (\w+))? +(\S+)"$/gm)].map(([, tool, kind, address]) => ({
    tool: tool!,
    kind: kind ?? null,
    address: address!.replaceAll('$BASE', layer.base).replaceAll('$ITEM', layer.itemId).replaceAll('$KEY', layer.key),
  }))

  await t.test('the page has each URL of the guide, under the same program', () => {
    const tools = mapClientsFor(layer)
    assert.deepEqual([...new Set(printed.map(({ tool }) => tool))], ['QGIS', 'GDAL', 'MapLibre', 'OpenLayers', 'Leaflet', 'ArcGIS'])
    assert.deepEqual(
      tools.map(({ name }) => name),
      [...new Set(printed.map(({ tool }) => tool))],
    )
    for (const { tool, kind, address } of printed) {
      const snippets = tools.find(({ name }) => name === tool)!.snippets
      const snippet = snippets.find(({ text }) => text === address)
      assert.ok(snippet, `${tool} ${kind ?? ''}`)
    }
  })

  await t.test('they include a style other than the default', () => {
    const texts = mapClientsFor({ ...layer, profile: 'ndvi' }).flatMap(({ snippets }) => snippets.map(({ text }) => text))
    assert.ok(texts.filter((text) => text.includes('/tiles/')).every((text) => text.includes('?profile=ndvi&key=svc_1')))
    assert.ok(texts.some((text) => text.endsWith(`,layer=${layer.itemId},style=ndvi`)))
  })
})
