// Goal: the addresses that an item's page offers for other programs are those of the guide to maps, for the same six programs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { toolsFor } from '../../packages/console/src/screens/viewer/addresses.ts'

const GUIDE = readFileSync(new URL('../../docs/guides/maps.md', import.meta.url), 'utf8')
const layer = { base: 'http://127.0.0.1:8080', itemId: '0199f2c6-1111-7abc-8def-0123456789ab', key: 'svc_1', profile: null, maxzoom: 14 }

test('addresses of an item for other programs', async (t) => {
  const printed = [...GUIDE.matchAll(/^echo "(\w+)(?:, (\w+))? +(\S+)"$/gm)].map(([, tool, kind, address]) => ({
    tool: tool!,
    kind: kind ?? null,
    address: address!.replaceAll('$BASE', layer.base).replaceAll('$ITEM', layer.itemId).replaceAll('$KEY', layer.key),
  }))

  await t.test('the page has each address that the guide prints, under the same program', () => {
    const tools = toolsFor(layer)
    assert.deepEqual([...new Set(printed.map(({ tool }) => tool))], ['QGIS', 'GDAL', 'MapLibre', 'OpenLayers', 'Leaflet', 'ArcGIS'])
    assert.deepEqual(
      tools.map(({ name }) => name),
      [...new Set(printed.map(({ tool }) => tool))],
    )
    for (const { tool, kind, address } of printed) {
      const lines = tools.find(({ name }) => name === tool)!.lines
      const line = lines.find(({ text }) => text === address)
      assert.ok(line, `${tool} ${kind ?? ''}`)
    }
  })

  await t.test('another look than the item’s own is part of them', () => {
    const texts = toolsFor({ ...layer, profile: 'ndvi' }).flatMap(({ lines }) => lines.map(({ text }) => text))
    assert.ok(texts.filter((text) => text.includes('/tiles/')).every((text) => text.includes('?profile=ndvi&key=svc_1')))
    assert.ok(texts.some((text) => text.endsWith(`,layer=${layer.itemId},style=ndvi`)))
  })
})
