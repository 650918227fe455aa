/**
 * Goal: desktop tools read an item's layer through the service with nothing but an address and a key, and see the pixels that
 * we draw: GDAL by WMTS and by XYZ addresses, OWSLib by the capabilities document and by pairs.
 *
 * Run: npm test -- test/gdal/maps.ts. Skips where GDAL, its Python or OWSLib is missing.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { memorySink } from '#raster/write/sink.ts'
import { describeScene, renderScene } from '../../sandbox/scenes/index.ts'
import { rasterItem } from '../support/layers.ts'
import { scene, tileAt } from '../support/scene.ts'
import { world } from '../support/world.ts'

const PYTHON = '/usr/bin/python3'
const hasTools =
  spawnSync('gdal_translate', ['--version']).status === 0 && spawnSync(PYTHON, ['-c', 'import osgeo.gdal, owslib']).status === 0
const skip = hasTools ? false : 'GDAL or OWSLib is not on this machine'
const hasQgis = hasTools && spawnSync(PYTHON, ['-c', 'import qgis.core']).status === 0
const run = promisify(execFile)
/** The service runs in this process, so nothing may block it. */
const gdal = async (command: string, ...args: string[]) => (await run(command, ['--config', 'GDAL_ENABLE_WMS_CACHE', 'NO', ...args])).stdout

const WORLD_M = 2 * 20_037_508.342789244

const TILES = [tileAt(151.15, -33.1, 11), tileAt(151.02, -33.01, 11), tileAt(151.15, -33.1, 10)]

const READ_CAPABILITIES = `
import json, sys
from owslib.wmts import WebMapTileService
url, layer, style, z, x, y = sys.argv[1:7]
service = WebMapTileService(url)
found = service.contents[layer]
tile = service.gettile(layer=layer, style=style, tilematrixset='GoogleMapsCompatible',
                       tilematrix=z, row=int(y), column=int(x), format='image/png')
open(sys.argv[7], 'wb').write(tile.read())
print(json.dumps({'title': found.title, 'styles': list(found.styles), 'formats': found.formats,
                  'box': found.boundingBoxWGS84, 'sets': list(found.tilematrixsetlinks),
                  'matrices': len(service.tilematrixsets['GoogleMapsCompatible'].tilematrix)}))
`

/** What the dialogue does with an address: asks for its capabilities, then adds the layer that they name. */
const DRAW_IN_QGIS = `
import json, os, sys
from urllib.parse import quote
from qgis.core import QgsApplication, QgsRasterLayer, QgsMapSettings, QgsMapRendererSequentialJob
from qgis.PyQt.QtCore import QSize
address, layer, target = sys.argv[1:4]
app = QgsApplication([], True)
app.initQgis()
uri = ('contextualWMSLegend=0&crs=EPSG:3857&dpiMode=7&featureCount=10&format=image/png&layers=' + layer +
       '&styles=default&tileMatrixSet=ImageResolution&url=' + quote(address, safe=':/')) # As its dialogue writes it.
found = QgsRasterLayer(uri, 'layer', 'wms')
settings = QgsMapSettings()
settings.setLayers([found])
settings.setOutputSize(QSize(300, 200))
settings.setDestinationCrs(found.crs())
settings.setExtent(found.extent())
job = QgsMapRendererSequentialJob(settings)
job.start()
job.waitForFinished()
job.renderedImage().save(target)
print(json.dumps({'valid': found.isValid()}), flush=True)
os._exit(0) # QGIS without a window does not always end well.
`

test('desktop tools read an item through the service', { skip }, async (t) => {
  const work = mkdtempSync(join(tmpdir(), 'groundtrack-maps-'))
  t.after(() => rmSync(work, { recursive: true, force: true }))
  const w = await world(t)
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read'])
  const id = await rasterItem(w, org, [{ bytes: await scene() }], { name: 'Harbour & coast' })
  const ours = async (tile: object, profile: string, format: string) => {
    const { bytes, status } = await w.call(org.owner.token, 'items.tile.render', { item_id: id, ...tile, format, profile, quality: 82 })
    assert.equal(status, 200)
    return await sharp(bytes).ensureAlpha().raw().toBuffer()
  }
  /** Every pixel that GDAL has of a tile equals ours; gives how many there are. GDAL cuts a layer to its box, on whole pixels. */
  const compare = async (source: string, tile: (typeof TILES)[number], profile: string, format: string): Promise<number> => {
    const {
      size: [width, height],
      geoTransform: [left, metres, , top],
    } = JSON.parse(await gdal('gdalinfo', '-json', source)) as { size: [number, number]; geoTransform: [number, number, number, number] }
    assert.ok(Math.abs(metres / (WORLD_M / 256 / 2 ** tile.z) - 1) < 1e-9, `pixels of ${metres} m`)
    const x0 = Math.round((left + WORLD_M / 2) / metres) - tile.x * 256
    const y0 = Math.round((WORLD_M / 2 - top) / metres) - tile.y * 256
    const [from, to] = [
      { x: Math.max(0, x0), y: Math.max(0, y0) },
      { x: Math.min(256, x0 + width), y: Math.min(256, y0 + height) },
    ]
    const target = join(work, 'window.png')
    await gdal(
      'gdal_translate',
      '-q',
      '-of',
      'PNG',
      '-srcwin',
      String(from.x - x0),
      String(from.y - y0),
      String(to.x - from.x),
      String(to.y - from.y),
      source,
      target,
    )
    const theirs = await sharp(readFileSync(target)).ensureAlpha().raw().toBuffer()
    const expected = await sharp(await ours(tile, profile, format), { raw: { width: 256, height: 256, channels: 4 } })
      .extract({ left: from.x, top: from.y, width: to.x - from.x, height: to.y - from.y })
      .raw()
      .toBuffer()
    assert.ok(theirs.equals(expected), `${profile} ${tile.z}/${tile.x}/${tile.y}.${format}`)
    return (to.x - from.x) * (to.y - from.y)
  }

  await t.test('GDAL’s WMTS driver', async () => {
    const capabilities = `${w.baseUrl}/wmts/${id}?SERVICE=WMTS&REQUEST=GetCapabilities&key=${key}`
    assert.match(await gdal('gdalinfo', `WMTS:${capabilities}`), /Size is/)
    for (const [index, profile] of ['rgb', 'ndvi', 'default'].entries()) {
      const tile = TILES[index]!
      const source = `WMTS:${capabilities},layer=${id},style=${profile},tilematrixset=GoogleMapsCompatible,tilematrix=${tile.z}`
      assert.match(await gdal('gdalinfo', source), /PROJCRS\["WGS 84 \/ Pseudo-Mercator"/)
      assert.ok((await compare(source, tile, profile, 'webp')) > 10_000)
      const description = join(work, 'wmts.xml')
      writeFileSync(
        description,
        `<GDAL_WMTS><GetCapabilitiesUrl>${capabilities.replaceAll('&', '&amp;')}</GetCapabilitiesUrl>` +
          `<Layer>${id}</Layer><Style>${profile}</Style>` +
          `<TileMatrixSet>GoogleMapsCompatible</TileMatrixSet><TileMatrix>${tile.z}</TileMatrix><Format>image/png</Format></GDAL_WMTS>`,
      )
      assert.ok((await compare(description, tile, profile, 'png')) > 10_000)
    }
  })

  await t.test('GDAL takes the address that the guide prints, and reads as many pixels as the image has', async () => {
    const utm = describeScene({ sensor: 'sandbox-open', longitude: 2.3, latitude: 48.2, datetime: '2025-06-12T10:40:00Z', sizePx: 640 })
    const sink = memorySink()
    await renderScene(utm, sink)
    const square = await rasterItem(w, org, [{ bytes: sink.bytes() }], { name: 'In UTM' })
    for (const [item, own] of [
      [id, [300, 200]],
      [square, [640, 640]],
    ] as const) {
      const address = `WMTS:${w.baseUrl}/wmts/${item}?key=${key}`
      const target = join(work, 'whole.tif')
      await gdal('gdal_translate', '-q', address, target)
      const written = JSON.parse(await gdal('gdalinfo', '-json', '-stats', target)) as { size: number[]; bands: { mean: number }[] }
      assert.deepEqual(written.size, own)
      assert.ok(written.bands[3]!.mean > 180, 'nearly all of it is image: no wide margins')
      assert.ok(written.bands[0]!.mean > 10)
    }
  })

  await t.test(
    'QGIS opens the address that the guide prints, and draws it',
    { skip: hasQgis ? false : 'PyQGIS is not on this machine' },
    async () => {
      const picture = join(work, 'qgis.png')
      const env = { ...process.env, QT_QPA_PLATFORM: 'offscreen', XDG_RUNTIME_DIR: work, HOME: work }
      const { stdout } = await run(PYTHON, ['-c', DRAW_IN_QGIS, `${w.baseUrl}/wmts/${id}?key=${key}`, id, picture], {
        env,
        timeout: 600_000,
      })
      const report = JSON.parse(stdout.trim().split('\n').at(-1)!)
      assert.deepEqual(report, { valid: true })
      const { channels } = await sharp(readFileSync(picture)).stats()
      assert.ok(
        channels.some(({ stdev }) => stdev > 5),
        'a picture, not a plain colour',
      )
    },
  )

  await t.test('GDAL’s access to XYZ addresses', async () => {
    for (const [profile, tile] of [
      ['rgb', TILES[0]!],
      ['ndvi', TILES[1]!],
    ] as const) {
      const document = `<GDAL_WMS>
        <Service name="TMS">
        <ServerUrl>${w.baseUrl}/api/v1/items/${id}/tiles/\${z}/\${x}/\${y}.png?profile=${profile}&amp;key=${key}</ServerUrl></Service>
        <DataWindow><UpperLeftX>-20037508.342789244</UpperLeftX><UpperLeftY>20037508.342789244</UpperLeftY>
        <LowerRightX>20037508.342789244</LowerRightX><LowerRightY>-20037508.342789244</LowerRightY>
        <TileLevel>${tile.z}</TileLevel><TileCountX>1</TileCountX><TileCountY>1</TileCountY><YOrigin>top</YOrigin></DataWindow>
        <Projection>EPSG:3857</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY><BandsCount>4</BandsCount></GDAL_WMS>`
      writeFileSync(join(work, 'tiles.xml'), document)
      assert.equal(await compare(join(work, 'tiles.xml'), tile, profile, 'png'), 65_536)
    }
  })

  await t.test('OWSLib', async () => {
    const { z, x, y } = TILES[0]!
    const { stdout } = await run(PYTHON, [
      '-c',
      READ_CAPABILITIES,
      `${w.baseUrl}/wmts/${id}?key=${key}`,
      id,
      'ndvi',
      String(z),
      String(x),
      String(y),
      join(work, 'owslib.png'),
    ])
    const report = JSON.parse(stdout)
    assert.deepEqual(
      [report.title, report.formats, report.sets, report.matrices],
      ['Harbour & coast', ['image/webp', 'image/png'], ['ImageResolution', 'GoogleMapsCompatible'], 19],
    )
    assert.ok(['default', 'rgb', 'ndvi'].every((style) => report.styles.includes(style)))
    assert.ok(report.box.every((degrees: number, index: number) => Math.abs(degrees - [151, -33.2, 151.3, -33][index]!) < 1e-6))
    const picture = await sharp(readFileSync(join(work, 'owslib.png')))
      .ensureAlpha()
      .raw()
      .toBuffer()
    assert.ok(picture.equals(await ours(TILES[0]!, 'ndvi', 'png')))
  })
})
