import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

// Goal: WMTS by query parameters and by URL template, in any spelling, with a capabilities document that is correct about bounds, zoom
// levels and styles, and failures as OGC exception reports.
test('WMTS', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const token = org.owner.token
  const { key } = await w.key(token, ['read'])
  const id = await rasterItem(w, org, [{ bytes: await scene() }], { name: 'Harbour & <coast>', description: '"North" of \'it\' ]]>' })
  const { z, x, y } = tileAt(151.15, -33.1, 11)
  const pairs = (query: object) =>
    new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))
  const wmts = (query: Record<string, string | number>, path = '') => w.request('GET', `/wmts/${id}${path}?${pairs({ key, ...query })}`)
  const tilePairs = {
    SERVICE: 'WMTS',
    REQUEST: 'GetTile',
    VERSION: '1.0.0',
    LAYER: id,
    STYLE: 'default',
    FORMAT: 'image/png',
    TILEMATRIXSET: 'GoogleMapsCompatible',
    TILEMATRIX: z,
    TILEROW: y,
    TILECOL: x,
  }

  await t.test("'items.tile.wmts_capabilities': bounds, zoom levels, styles, formats and templates, all escaped", async () => {
    const { id: profile } = await w.ok(token, 'visualization.profile.create', {
      item_id: id,
      name: 'Plants & "more"',
      type: 'rgb',
      config: { bands: [4, 3, 2] },
    })
    const { status, headers, bytes } = await wmts({ service: 'wmts', request: 'getcapabilities' })
    const xml = bytes.toString()
    assert.deepEqual(
      [status, headers.get('content-type'), headers.get('cache-control')],
      [200, 'application/xml; charset=utf-8', 'private, no-store'],
    )
    assert.match(xml, /<ows:Title>Harbour &amp; &lt;coast&gt;<\/ows:Title>/)
    assert.match(xml, /&quot;North&quot; of &apos;it&apos; \]\]&gt;/)
    assert.match(
      xml,
      /<ows:WGS84BoundingBox><ows:LowerCorner>151 -33.2<\/ows:LowerCorner><ows:UpperCorner>151\.3\d* -33<\/ows:UpperCorner>/,
    )
    for (const style of ['default', profile, 'rgb', 'cir', 'ndvi'])
      assert.ok(xml.includes(`<ows:Identifier>${style}</ows:Identifier></Style>`), style)
    assert.deepEqual(
      [...xml.matchAll(/<Format>(.*?)<\/Format>/g)].map(([, format]) => format),
      ['image/webp', 'image/png'],
    )
    assert.deepEqual(
      [...xml.matchAll(/<TileMatrixLimits><TileMatrix>(\d+)</g)].map(([, zoom]) => Number(zoom)),
      [8, 9, 10, 11],
    )
    assert.deepEqual(
      [...xml.matchAll(/<TileMatrixSet>(\w+)<\/TileMatrixSet>/g)].map(([, set]) => set),
      ['ImageResolution', 'GoogleMapsCompatible'],
      'the set that GDAL uses first ends at the resolution of the image',
    )
    const upTo = (last: number) => Array.from({ length: last + 1 }, (_, zoom) => zoom)
    assert.deepEqual(
      [...xml.matchAll(/<TileMatrix><ows:Identifier>(\d+)</g)].map(([, zoom]) => Number(zoom)),
      upTo(18),
    )
    assert.match(xml, /559082264\.028717/)
    const template = /resourceType="tile" template="([^"]+)"/.exec(xml)![1]!.replaceAll('&amp;', '&')
    assert.equal(template, `${w.baseUrl}/api/v1/items/${id}/tiles/{TileMatrix}/{TileCol}/{TileRow}.webp?profile={Style}&key=${key}`)
    const filled = template
      .slice(w.baseUrl.length)
      .replace('{TileMatrix}', String(z))
      .replace('{TileCol}', String(x))
      .replace('{TileRow}', String(y))
    for (const style of ['default', profile, 'ndvi'])
      assert.equal((await w.request('GET', filled.replace('{Style}', style))).status, 200, style)
    assert.deepEqual((await wmts({}, '/1.0.0/WMTSCapabilities.xml')).bytes, bytes)
    for (const query of [{}, { SERVICE: 'WMS', REQUEST: 'GetCapabilities', VERSION: '1.3.0' }, { service: '' }])
      assert.deepEqual((await wmts(query)).bytes, bytes, `${JSON.stringify(query)}, as QGIS and people ask`)
    const head = await w.request('HEAD', `/wmts/${id}?key=${key}`)
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)])
    assert.equal((await w.request('HEAD', filled.replace('{Style}', 'ndvi'))).status, 200, 'a tile too')
  })

  await t.test('the first set has as many pixels as the image, and its tiles render with both encodings', async () => {
    const xml = (await wmts({})).bytes.toString()
    const matrices = [...xml.matchAll(/<ows:Identifier>([-\d._]+_[\d.]+)<\/ows:Identifier>.*?<MatrixWidth>(\d+)<.*?<MatrixHeight>(\d+)</g)]
    assert.deepEqual(
      matrices.map(([, , across, down]) => [across, down]),
      [
        ['1', '1'],
        ['2', '1'],
      ],
    )
    const [left, top, pixelM] = matrices.at(-1)![1]!.split('_').map(Number) as [number, number, number]
    const box = /EPSG::3857"><ows:LowerCorner>([-\d.]+) ([-\d.]+)<\/ows:LowerCorner><ows:UpperCorner>([-\d.]+) ([-\d.]+)</.exec(xml)!
    const [x0, y0, x1, y1] = box.slice(1).map(Number) as [number, number, number, number]
    assert.deepEqual([x0, y1], [left, top])
    assert.deepEqual(
      [(x1 - x0) / pixelM, (y1 - y0) / pixelM].map((pixels) => Math.round(pixels * 1e6) / 1e6),
      [300, 200],
    )
    const own = { ...tilePairs, TILEMATRIXSET: 'ImageResolution', TILEMATRIX: matrices.at(-1)![1]!, TILEROW: 0, TILECOL: 0 }
    const tile = await wmts(own)
    assert.equal(tile.status, 200)
    const alpha = await sharp(tile.bytes).ensureAlpha().extractChannel(3).raw().toBuffer()
    const columns = Array.from({ length: 256 }, (_, column) => alpha.subarray(100 * 256)[column]! > 0)
    const drawn = columns.lastIndexOf(true) + 1
    // Degrees are longer than they are wide here, so that the height decides.
    assert.ok(columns[1] && Math.abs(drawn - 300 * Math.cos((33.1 * Math.PI) / 180)) <= 2, `${drawn} columns`)
    const byAddress = await w.request('GET', `/api/v1/items/${id}/tiles/${matrices.at(-1)![1]!}/0/0.png?profile=default&key=${key}`)
    assert.deepEqual(byAddress.bytes, tile.bytes)
    const info = await wmts({ ...own, REQUEST: 'GetFeatureInfo', I: 128, J: 100, INFOFORMAT: 'application/json' })
    const [feature] = info.body.features
    const { bands } = await w.ok(token, 'items.point', {
      item_id: id,
      longitude: feature.geometry.coordinates[0],
      latitude: feature.geometry.coordinates[1],
    })
    assert.ok(feature.properties.red > 0 && feature.properties.red === bands[2].value)
    for (const TILEMATRIX of ['11', '1_2', `${left}_${top}_0`, `${left}_${top}_1e9`, '9e9_1_1'])
      assert.equal((await wmts({ ...own, TILEMATRIX })).status, 400, TILEMATRIX)
  })

  await t.test('every style has a title of its own', async () => {
    const other = await rasterItem(w, org, [{ bytes: await scene() }])
    const save = (name: string) =>
      w.ok(token, 'visualization.profile.create', { item_id: other, name, type: 'rgb', config: { bands: [3, 2, 1] } })
    for (const name of ['Default', 'Twice', 'Twice', 'Twice (2)', 'Natural colour']) await save(name)
    const { bytes } = await w.request('GET', `/wmts/${other}?key=${key}`)
    const titles = [...bytes.toString().matchAll(/<ows:Title>([^<]*)<\/ows:Title><ows:Identifier>[^<]*<\/ows:Identifier><\/Style>/g)].map(
      ([, title]) => title,
    )
    assert.equal(new Set(titles).size, titles.length, titles.join(', '))
    for (const title of ['Default', 'Default (2)', 'Twice', 'Natural colour']) assert.ok(titles.includes(title), title)
  })

  await t.test('the document contains a key only if it was sent as a parameter', async () => {
    const { bytes } = await w.request('GET', `/wmts/${id}?request=GetCapabilities`, { headers: { 'x-api-key': key } })
    assert.ok(!bytes.toString().includes('key=') && !bytes.toString().includes('svc_'))
    const posted = await w.call(key, 'items.tile.wmts_capabilities', {
      item_id: id,
      base_url: 'https://maps.example/sub/',
      profile: 'ndvi',
    })
    assert.ok(
      posted.bytes.toString().includes(`https://maps.example/sub/api/v1/items/${id}/tiles/`) && !posted.bytes.toString().includes('svc_'),
    )
    assert.deepEqual(
      [...posted.bytes.toString().matchAll(/<ows:Identifier>([^<]*)<\/ows:Identifier><\/Style>/g)].map(([, style]) => style),
      ['ndvi'],
    )
  })

  await t.test("GetTile is 'items.tile.wmts_get_tile', in any spelling of the names", async () => {
    const tile = await wmts(tilePairs)
    assert.deepEqual(
      [tile.status, tile.headers.get('content-type'), tile.headers.get('cache-control')],
      [200, 'image/png', 'private, max-age=86400'],
    )
    assert.deepEqual(tile.bytes, (await w.call(token, 'items.tile.render', { item_id: id, z, x, y, format: 'png' })).bytes)
    assert.deepEqual(
      (await wmts(Object.fromEntries(Object.entries(tilePairs).map(([name, value]) => [name.toLowerCase(), value])))).bytes,
      tile.bytes,
    )
    assert.deepEqual((await wmts({ ...tilePairs, STYLE: '', TILEMATRIX: `GoogleMapsCompatible:${z}` })).bytes, tile.bytes)
    assert.notDeepEqual((await wmts({ ...tilePairs, STYLE: 'ndvi' })).bytes, tile.bytes)
    const nowhere = await wmts({ ...tilePairs, TILEROW: 0, TILECOL: 0 })
    assert.equal(nowhere.status, 200)
    assert.ok(
      (await sharp(nowhere.bytes).ensureAlpha().raw().toBuffer()).every((byte) => byte === 0),
      'transparent without data',
    )
  })

  await t.test('GetFeatureInfo returns the values at a pixel', async () => {
    const info = await wmts({ ...tilePairs, REQUEST: 'GetFeatureInfo', I: 128, J: 128, INFOFORMAT: 'application/json', STYLE: 'ndvi' })
    const [feature] = info.body.features
    assert.deepEqual(Object.keys(feature.properties).slice(0, 4), ['blue', 'green', 'red', 'nir'])
    const { bands } = await w.ok(token, 'items.point', {
      item_id: id,
      longitude: feature.geometry.coordinates[0],
      latitude: feature.geometry.coordinates[1],
    })
    assert.equal(feature.properties.red, bands[2].value)
    assert.match(
      (await wmts({ ...tilePairs, REQUEST: 'GetFeatureInfo', I: 128, J: 128, INFOFORMAT: 'text/plain' })).bytes.toString(),
      new RegExp(`^red = ${bands[2].value}$`, 'm'),
    )
    assert.deepEqual((await wmts({ ...tilePairs, REQUEST: 'GetFeatureInfo', I: 0, J: 0, TILEROW: 0, TILECOL: 0 })).body.features, [])
  })

  await t.test('an unknown parameter, or one of another tile URL, is rejected with a suggestion', async () => {
    const xml = '/1.0.0/WMTSCapabilities.xml'
    const cases: [Record<string, string | number>, string, string, string?][] = [
      [{ ...tilePairs, colormap_name: 'viridis' }, 'colormap_name', 'colormap'],
      [{ ...tilePairs, Expression: 'b1' }, 'expression', 'STYLE'],
      [{ ...tilePairs, STYEL: 'ndvi' }, 'styel', 'STYLE'],
      [{ ...tilePairs, TileMatrxSet: 'GoogleMapsCompatible' }, 'tilematrxset', 'TILEMATRIXSET'],
      [{ ...tilePairs, REQUEST: 'GetFeatureInfo', I: 1, J: 1, infoformatt: 'text/plain' }, 'infoformatt', 'INFOFORMAT'],
      [{ request: 'GetCapabilities', profil: 'ndvi' }, 'profil', 'profile'],
      [{ asset_keys: 'data' }, 'asset_keys', 'asset_key', xml],
    ]
    for (const [query, locator, meant, path] of cases) {
      const response = await wmts(query, path)
      const report = response.bytes.toString()
      assert.equal(response.status, 400, JSON.stringify(query))
      assert.ok(report.includes(`exceptionCode="InvalidParameterValue" locator="${locator}"`), report)
      assert.match(report, new RegExp(`unknown parameter.*\\b${meant}\\b`), report)
    }
    assert.equal((await w.request('GET', `/wmts/${id}?colormap_name=viridis`)).status, 401, 'callers without access learn nothing')
  })

  await t.test('parameters that map clients add to every request are ignored, as in OGC services', async () => {
    const added = {
      LAYERS: '',
      STYLES: '',
      CRS: 'EPSG:3857',
      TRANSPARENT: 'true',
      DPI: 96,
      MAP_RESOLUTION: 96,
      FORMAT_OPTIONS: 'dpi:96',
      TILED: 'true',
      TIME: '2025-01-01',
      token: 'x',
      f: 'json',
      _ts: 1,
      AcceptVersions: '1.0.0',
      Sections: 'All',
      vendor_option: 'x',
    }
    assert.deepEqual((await wmts({ ...tilePairs, ...added })).bytes, (await wmts(tilePairs)).bytes)
    for (const path of ['', '/1.0.0/WMTSCapabilities.xml'])
      assert.equal((await wmts({ REQUEST: 'GetCapabilities', ...added }, path)).status, 200)
  })

  await t.test('failures are exception reports with the right code and locator', async () => {
    const cases: [Record<string, string | number>, number, string, string?][] = [
      [{ REQUEST: 'GetMap' }, 400, 'OperationNotSupported', 'request'],
      [{ SERVICE: 'WMTS' }, 400, 'MissingParameterValue', 'request'],
      [{ service: 'WMTS', version: '1.0.0', request: '' }, 400, 'MissingParameterValue', 'request'],
      [{ ...tilePairs, REQUEST: '' }, 400, 'MissingParameterValue', 'request'],
      [{ SERVICE: 'WMS', REQUEST: 'GetMap' }, 400, 'OperationNotSupported', 'request'],
      [{ SERVICE: 'WFS', REQUEST: 'GetCapabilities' }, 400, 'InvalidParameterValue', 'service'],
      [{ ...tilePairs, TILEROW: 2 ** z }, 400, 'TileOutOfRange', 'tilerow'],
      [{ ...tilePairs, TILEMATRIX: 19 }, 400, 'InvalidParameterValue', 'tilematrix'],
      [{ ...tilePairs, TILECOL: '' }, 400, 'MissingParameterValue', 'tilecol'],
      [{ ...tilePairs, TILEMATRIXSET: 'constructor' }, 400, 'InvalidParameterValue', 'tilematrixset'],
      [{ ...tilePairs, FORMAT: 'image/gif' }, 400, 'InvalidParameterValue', 'format'],
      [{ ...tilePairs, LAYER: 'other' }, 400, 'InvalidParameterValue', 'layer'],
      [{ ...tilePairs, STYLE: '<nonsense>' }, 400, 'InvalidParameterValue'],
      [{ ...tilePairs, REQUEST: 'GetFeatureInfo', I: 256, J: 1 }, 400, 'InvalidParameterValue', 'i'],
      [{ ...tilePairs, key: 'svc_wrong' }, 401, 'NoApplicableCode'],
    ]
    for (const [query, status, code, locator] of cases) {
      const response = await wmts(query)
      assert.deepEqual(
        [response.status, response.headers.get('content-type')],
        [status, 'application/xml; charset=utf-8'],
        JSON.stringify(query),
      )
      assert.ok(
        response.bytes.toString().includes(`exceptionCode="${code}"${locator ? ` locator="${locator}"` : ''}`),
        response.bytes.toString(),
      )
      assert.ok(!/<nonsense>/.test(response.bytes.toString()))
    }
    assert.match((await wmts({ ...tilePairs, key: 'svc_wrong' })).headers.get('www-authenticate')!, /Bearer/)
    assert.match(
      (await w.request('GET', `/wmts/none?request=GetCapabilities&key=${key}`)).bytes.toString(),
      /NoApplicableCode.*No such item/s,
    )
  })
})
