/**
 * Goal: where GDAL is installed, each process gives the pixels that GDAL or numpy gives for the same input; where a few differ,
 * the test says how many and by how much at most. Times of both are printed; they are noisy on a busy machine.
 *
 * Run: node --test test/gdal/processes.ts. Skips where GDAL or its Python is missing.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { campaign } from '../support/campaign.ts'
import { runMethod, withRasters } from '#raster/process/index.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { planTarget } from '#raster/warp/plan.ts'

const PYTHON = '/usr/bin/python3'
const hasGdal = spawnSync('gdalinfo', ['--version']).status === 0 && spawnSync(PYTHON, ['-c', 'import osgeo.gdal, numpy']).status === 0
const skip = hasGdal ? false : 'GDAL is not on this machine'
const work = mkdtempSync(path.join(tmpdir(), 'processes-gdal-'))
after(() => rmSync(work, { recursive: true, force: true }))
const at = (name: string) => path.join(work, name)
const script = (name: string) => path.join(import.meta.dirname, 'processes', `${name}.py`)

/** Of a short campaign as large as two blocks and a part of a third. */
const SIZE = Number(process.env['PROCESS_SIZE'] ?? campaign({ short: 600, ci: 600, long: 1200 }))

/** Rows of blocks in what is written. */
const BLOCK_PX = 256
const LIMITS = { hillshade: 1, slope: 0.002, aspect: 1 }

interface Difference {
  pixels: number
  masks: number
  /** Pixels far from anything missing that differ by more than 0.01. */
  far: number
  differ: number
  most: number
  mean: number
}

const python = (...args: string[]): string => execFileSync(PYTHON, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
const compare = (ours: string, theirs: string, ...around: 'degrees'[]): Difference[] =>
  JSON.parse(python(script('compare'), at(ours), at(theirs), ...around))

async function ours(method: string, inputs: readonly string[], options: object, files: Record<string, string>) {
  const started = performance.now()
  const result = await withRasters(
    inputs,
    async (name) => openTiff(await openFileSource(at(`${name}.tif`))),
    (rasters) =>
      runMethod(method, {
        rasters,
        options: options as Record<string, unknown>,
        files: Object.fromEntries(Object.entries(files).map(([name, file]) => [name, at(file)])),
        temporaryDirectory: work,
        compression: 'deflate',
        signal: new AbortController().signal,
        onProgress: () => {},
      }),
  )
  return { result, ms: performance.now() - started }
}

function theirs(command: string, args: readonly string[]): number {
  const started = performance.now()
  execFileSync(command, args, { stdio: 'ignore' })
  return performance.now() - started
}

const told = (t: { diagnostic(text: string): void }, name: string, mine: number, other: number, differences: readonly Difference[]) =>
  t.diagnostic(
    `${name}: ours ${mine.toFixed(0)} ms, theirs ${other.toFixed(0)} ms (${(other / mine).toFixed(2)}x); ` +
      differences
        .map(
          ({ pixels, masks, differ, most, mean }) =>
            `${differ} of ${pixels} differ, at most ${most.toPrecision(3)}, mean ${mean.toPrecision(2)}, masks ${masks}`,
        )
        .join(' | '),
  )

test('processes against GDAL and numpy', { skip }, async (t) => {
  python(script('make'), work, String(SIZE))
  const tiled = ['-co', 'TILED=YES', '-co', 'COMPRESS=DEFLATE']

  for (const [kind, options, args] of [
    ['hillshade', { azimuth: 300, altitude: 40, zFactor: 2 }, ['-az', '300', '-alt', '40', '-z', '2']],
    ['slope', {}, []],
    ['slope', { unit: 'percent' }, ['-p']],
    ['aspect', {}, []],
  ] as const)
    await t.test(`${kind} ${args.join(' ')}`, async (s) => {
      const { ms } = await ours('terrain', ['dem'], { kind, ...options }, { 'data.tif': 'ours.tif' })
      const other = theirs('gdaldem', [kind, at('dem.tif'), at('theirs.tif'), ...args, ...tiled, '-q'])
      const [difference] = compare('ours.tif', 'theirs.tif', ...(kind === 'aspect' ? (['degrees'] as const) : []))
      told(s, kind, ms, other, [difference!])
      assert.equal(difference!.masks, 0)
      // gdaldem works with 32-bit floats: a shade may fall on the other side of a half, and where it is almost flat an aspect turns.
      assert.ok(difference!.most <= LIMITS[kind] && difference!.mean < 0.002, `at most ${difference!.most}, mean ${difference!.mean}`)
    })

  await t.test('band math against numpy', async (s) => {
    const { ms } = await ours('expression', ['scene0'], { expression: '(b4-b3)/(b4+b3)' }, { 'data.tif': 'ours.tif' })
    const other = theirs(PYTHON, [script('ndvi'), at('scene0.tif'), at('theirs.tif')])
    const [difference] = compare('ours.tif', 'theirs.tif')
    told(s, 'band math', ms, other, [difference!])
    assert.deepEqual([difference!.masks, difference!.differ], [0, 0])
  })

  await t.test('reproject against gdalwarp', async (s) => {
    for (const resampling of ['nearest', 'bilinear', 'cubic'] as const) {
      const { ms } = await ours('warp', ['dem'], { epsg: 3857, resolution: 15, resampling }, { 'data.tif': 'ours.tif' })
      const extent = JSON.parse(execFileSync('gdalinfo', ['-json', at('ours.tif')], { encoding: 'utf8', maxBuffer: 1 << 26 })) as {
        geoTransform: number[]
        size: [number, number]
      }
      const [x, size, , y] = extent.geoTransform as [number, number, number, number]
      const box = [x, y - extent.size[1] * size, x + extent.size[0] * size, y].map(String)
      const args = [
        '-q',
        '-overwrite',
        '-t_srs',
        'EPSG:3857',
        '-tr',
        '15',
        '15',
        '-te',
        ...box,
        '-r',
        resampling === 'nearest' ? 'near' : resampling,
        '-et',
        '0',
      ]
      const other = theirs('gdalwarp', [...args, ...tiled, at('dem.tif'), at('theirs.tif')])
      const [difference] = compare('ours.tif', 'theirs.tif')
      told(s, `warp ${resampling}`, ms, other, [difference!])
      // A pixel whose own place has no data has none on either side.
      assert.equal(difference!.masks, 0)
      assert.ok(difference!.differ === 0 || difference!.mean < 0.05, `mean difference ${difference!.mean}`)
    }
  })

  await t.test('smooth reprojection is that of gdalwarp once both widen the kernel alike', async (s) => {
    const raster = await openTiff(await openFileSource(at('dem.tif')))
    for (const resampling of ['bilinear', 'cubic'] as const) {
      await ours('warp', ['dem'], { epsg: 3857, resolution: 15, resampling }, { 'data.tif': 'ours.tif' })
      const output = await openTiff(await openFileSource(at('ours.tif')))
      const { width, height, transform } = output.info
      const [left, size, , top] = transform!
      // Ours takes the ratio of pixels in the middle of each row of blocks; gdalwarp takes that of the boxes around a whole chunk.
      for (let y = 0; y < height; y += BLOCK_PX) {
        const rows = Math.min(BLOCK_PX, height - y)
        const strip = { crs: output.info.crs!, transform: [left, size, 0, top - y * size, 0, -size] as const, width, height: rows }
        const { ratio } = planTarget(raster, strip)[0]!
        const box = [left, top - (y + rows) * size, left + width * size, top - y * size].map(String)
        const scales = ['-wo', `XSCALE=${1 / ratio.x}`, '-wo', `YSCALE=${1 / ratio.y}`]
        const grid = ['-t_srs', 'EPSG:3857', '-tr', '15', '15', '-te', ...box, '-et', '0', '-r', resampling]
        theirs('gdalwarp', ['-q', '-overwrite', ...grid, ...scales, at('dem.tif'), at('theirs.tif')])
        theirs('gdal_translate', ['-q', '-srcwin', '0', String(y), String(width), String(rows), at('ours.tif'), at('strip.tif')])
        const [difference] = compare('strip.tif', 'theirs.tif')
        told(s, `${resampling} from row ${y}`, 1, 1, [difference!])
        // Beside holes and the edge a cubic kernel becomes a linear one here, while gdalwarp goes on with what is left of it.
        assert.deepEqual([difference!.masks, difference!.far], [0, 0])
        if (resampling === 'bilinear') assert.ok(difference!.most < 0.01, `at most ${difference!.most}`)
      }
      await output.close()
    }
    await raster.close()
  })

  await t.test('resample against gdalwarp -r average', async (s) => {
    const { ms } = await ours('warp', ['scene0'], { resolution: 40, resampling: 'average' }, { 'data.tif': 'ours.tif' })
    const other = theirs('gdalwarp', ['-q', '-overwrite', '-tr', '40', '40', '-r', 'average', ...tiled, at('scene0.tif'), at('theirs.tif')])
    const differences = compare('ours.tif', 'theirs.tif')
    told(s, 'resample', ms, other, differences)
    for (const { most, masks } of differences) assert.ok(most <= 1 && masks === 0)
  })

  await t.test('cog_clip takes the pixels that gdalwarp -cutline takes, along edges that a projection bends', async (s) => {
    const corners = [
      [0.1, 0.12],
      [0.55, 0.05],
      [0.93, 0.3],
      [0.88, 0.9],
      [0.4, 0.81],
      [0.1, 0.12],
    ].map(([x, y]) => `${600_000 + x! * SIZE * 10} ${6_100_000 - y! * SIZE * 10}`)
    const input = corners.join('\n')
    const args = ['-s_srs', 'EPSG:32755', '-t_srs', 'EPSG:4326', '-output_xy']
    const lines = execFileSync('gdaltransform', args, { input, encoding: 'utf8' }).trim().split('\n')
    const geometry = { type: 'Polygon', coordinates: [lines.map((line) => line.trim().split(' ').map(Number))] }
    writeFileSync(at('field.geojson'), JSON.stringify(geometry))
    const { ms } = await ours('warp', ['scene0'], { geometry }, { 'data.tif': 'ours.tif' })
    const info = JSON.parse(execFileSync('gdalinfo', ['-json', at('ours.tif')], { encoding: 'utf8', maxBuffer: 1 << 26 })) as {
      geoTransform: [number, number, number, number, number, number]
      size: [number, number]
    }
    const [x, size, , y] = info.geoTransform
    const box = [x, y - info.size[1] * size, x + info.size[0] * size, y].map(String)
    const cut = ['-q', '-overwrite', '-te', ...box, '-tr', '10', '10', '-cutline', at('field.geojson')]
    const other = theirs('gdalwarp', [...cut, ...tiled, at('scene0.tif'), at('theirs.tif')])
    const differences = compare('ours.tif', 'theirs.tif')
    told(s, 'clip', ms, other, differences)
    // The centre of one pixel may lie on an edge itself, to the last digits that both sides compute.
    assert.ok(differences.every(({ differ, masks }) => differ === 0 && masks <= 1))
  })

  await t.test('cog_convert keeps every sample', async (s) => {
    const { ms } = await ours('convert', ['scene1'], {}, { 'data.tif': 'ours.tif' })
    const other = theirs('gdal_translate', ['-q', '-of', 'COG', '-co', 'COMPRESS=DEFLATE', at('scene1.tif'), at('theirs.tif')])
    const differences = compare('ours.tif', 'theirs.tif')
    told(s, 'convert', ms, other, differences)
    assert.ok(differences.every(({ differ, masks }) => differ === 0 && masks === 0))
  })

  await t.test('composite against numpy', async (s) => {
    for (const statistic of ['median', 'mean', 'max'] as const) {
      const { ms } = await ours('composite', ['scene0', 'scene1', 'scene2'], { statistic }, { 'data.tif': 'ours.tif' })
      const other = theirs(PYTHON, [script('stack'), statistic, at('theirs.tif'), ...[0, 1, 2].map((n) => at(`scene${n}.tif`))])
      const differences = compare('ours.tif', 'theirs.tif')
      told(s, `composite ${statistic}`, ms, other, differences)
      assert.ok(differences.every(({ differ, masks }) => differ === 0 && masks === 0))
    }
  })

  await t.test('mosaic: each pixel is that of the scene whose number stands there, and the right one', async (s) => {
    for (const choice of ['first', 'brightest', 'darkest', 'median'] as const) {
      const { ms } = await ours(
        'mosaic',
        ['scene0', 'scene1', 'scene2'],
        { choice },
        { 'data.tif': 'ours.tif', 'source_index.tif': 'index.tif' },
      )
      const report = JSON.parse(
        python('-W', 'ignore', script('mosaic'), choice, at('ours.tif'), at('index.tif'), ...[0, 1, 2].map((n) => at(`scene${n}.tif`))),
      )
      s.diagnostic(`mosaic ${choice}: ours ${ms.toFixed(0)} ms; ${JSON.stringify(report)}`)
      assert.deepEqual([report.wrong, report.other, report.empty], [0, 0, 0])
    }
  })

  await t.test('pansharpen against gdal_pansharpen.py', async (s) => {
    const { ms } = await ours('pansharpen', ['pan', 'colours'], {}, { 'data.tif': 'ours.tif' })
    const other = theirs('gdal_pansharpen.py', [
      '-q',
      at('pan.tif'),
      at('colours.tif'),
      at('theirs.tif'),
      '-co',
      'TILED=YES',
      '-co',
      'COMPRESS=DEFLATE',
    ])
    const differences = compare('ours.tif', 'theirs.tif')
    told(s, 'pansharpen', ms, other, differences)
    assert.ok(differences.every(({ differ, masks }) => differ === 0 && masks === 0))
  })

  await t.test('polygonize against gdal_polygonize.py', async (s) => {
    const { ms, result } = await ours('polygonize', ['classes'], {}, { 'polygons.geojson': 'ours.geojson' })
    const other = theirs('gdal_polygonize.py', ['-q', '-overwrite', at('classes.tif'), at('theirs.gpkg')])
    const report = JSON.parse(python(script('areas'), at('ours.geojson'), at('theirs.gpkg')))
    s.diagnostic(
      `polygonize: ours ${ms.toFixed(0)} ms, theirs ${other.toFixed(0)} ms (${(other / ms).toFixed(2)}x); ` +
        `${result['featureCount']} polygons, areas in pixels equal: ${report.same}`,
    )
    assert.ok(report.same, JSON.stringify(report))
  })

  await t.test('contour against gdal_contour', async (s) => {
    const { ms, result } = await ours('contour', ['dem'], { interval: 50 }, { 'contours.geojson': 'lines.geojson' })
    const other = theirs('gdal_contour', ['-q', '-i', '50', '-a', 'elev', '-f', 'GPKG', at('dem.tif'), at('lines.gpkg')])
    const report = JSON.parse(python(script('lines'), at('lines.geojson'), at('lines.gpkg'), at('dem.tif')))
    s.diagnostic(
      `contour: ours ${ms.toFixed(0)} ms, theirs ${other.toFixed(0)} ms (${(other / ms).toFixed(2)}x); ` +
        `${result['featureCount']} lines, ${JSON.stringify(report)}`,
    )
    // Every square between four centres has its pieces; GDAL adds half a pixel around the edge and around holes.
    assert.deepEqual([report.levels, report.wrong], [true, 0])
    assert.ok(report.theirs >= report.segments && report.theirs < report.segments * 1.1)
  })
})
