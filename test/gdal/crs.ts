/**
 * Goal: where PROJ and GDAL are installed, every EPSG code of the table is within a metre of this PROJ without grid files, or within
 * the accuracy that it states; keys and citations mean what this GDAL says; a camera model leads where GDAL's leads.
 *
 * Run: node --test test/gdal/crs.ts. Skips where GDAL's Python is missing. PROJ takes a quarter of an hour for all codes, so a
 * short campaign takes some of them, others each time.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'

import { campaign, testSeed } from '../support/campaign.ts'
import { crsFromEpsg, registryCodes } from '#raster/crs/registry.ts'
import { crsTransform } from '#raster/crs/transform.ts'

const PYTHON = '/usr/bin/python3'
const skip = spawnSync(PYTHON, ['-c', 'import osgeo.osr']).status === 0 ? false : 'GDAL is not on this machine'
const work = mkdtempSync(path.join(tmpdir(), 'raster-crs-'))
after(() => rmSync(work, { recursive: true, force: true }))

type ControlPoint = [lon: number, lat: number, x: number, y: number, lonBack: number, latBack: number]
const GOLDEN = new URL('../golden/', import.meta.url)
const control = JSON.parse(brotliDecompressSync(readFileSync(new URL('crs-control.json.br', GOLDEN))).toString()) as Record<
  string,
  ControlPoint[]
>

/** This machine's PROJ with its database alone: no grids, no network. */
const TRANSFORM = `
import json, os, shutil, sys
from osgeo import osr
osr.UseExceptions()
found = next(p for p in osr.GetPROJSearchPaths() + ['/usr/share/proj'] if os.path.exists(p + '/proj.db'))
folder = sys.argv[2]
shutil.copy(found + '/proj.db', folder)
osr.SetPROJSearchPaths([folder])
osr.SetPROJEnableNetwork(False)
def system(code):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(code)
    srs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return srs
wgs84 = system(4326)
options = osr.CoordinateTransformationOptions()
options.SetBallparkAllowed(False)
out = {}
for code, points in json.load(open(sys.argv[1])).items():
    try:
        change = osr.CreateCoordinateTransformation(wgs84, system(int(code)), options)
        out[code] = [change.TransformPoint(float(p[0]), float(p[1]), 0.0)[:2] for p in points]
    except Exception:
        out[code] = None
json.dump(out, sys.stdout)
`
const METRES_A_DEGREE = 111_320
const EVERY = campaign({ short: 12, ci: 12, long: 1 })
/** Of PROJ's own versions among one another: registries are corrected, and shifts replaced. */
const OTHER_VERSION_CODES = 0.04

test('every code is within a metre of PROJ without grids, or within what it states', { skip }, () => {
  const file = path.join(work, 'control.json')
  const from = testSeed % EVERY
  const codes = registryCodes().known.filter((_, index) => index % EVERY === from)
  writeFileSync(file, JSON.stringify(Object.fromEntries(codes.map((code) => [code, control[code]]))))
  const text = execFileSync(PYTHON, ['-c', TRANSFORM, file, work], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const theirs = JSON.parse(text) as Record<string, [number, number][] | null>
  const wgs84 = crsFromEpsg(4326)
  const counts = { compared: 0, exact: 0, metre: 0, stated: 0 }
  const wrong: string[] = []
  for (const code of codes) {
    const wanted = theirs[code]
    if (!wanted?.every((point) => point.every(Number.isFinite))) continue
    const crs = crsFromEpsg(code)
    const { forward } = crsTransform(wgs84, crs)
    const errors = wanted.map(([x, y], i) => {
      const [u, v] = forward(control[code]![i]![0], control[code]![i]![1])
      const dx = crs.kind === 'geographic' ? ((u - x + 540) % 360) - 180 : u - x
      return Math.hypot(dx, v - y) * (crs.kind === 'geographic' ? METRES_A_DEGREE : crs.unit)
    })
    const error = Math.max(...errors)
    counts.compared++
    if (error < 0.01) counts.exact++
    else if (error < 1) counts.metre++
    else if (crs.accuracyM === null || error <= Math.max(5, crs.accuracyM * 2)) counts.stated++
    else wrong.push(`EPSG:${code} ${crs.name}: ${error.toFixed(1)} m, stated ${crs.accuracyM} m`)
  }
  console.log(`one of ${EVERY} codes from ${from}`, counts, `${wrong.length} differ from this version of PROJ:`, wrong.slice(0, 20))
  assert.ok(counts.compared > 5_000 / EVERY, `${counts.compared} codes compared`)
  assert.ok(wrong.length <= counts.compared * OTHER_VERSION_CODES, wrong.join('\n'))
})

test('keys and citations mean to this GDAL what the golden file says', { skip }, () => {
  const file = path.join(work, 'keys.json')
  execFileSync(PYTHON, [new URL('keys.py', GOLDEN).pathname, file])
  type Cases = Record<string, { point: number[] | null }>
  const [fresh, kept] = [file, new URL('crs-keys.json', GOLDEN)].map((from) => JSON.parse(readFileSync(from, 'utf8')) as Cases)
  for (const [name, { point }] of Object.entries(kept!)) {
    const now = fresh![name]?.point ?? null
    assert.equal(now === null, point === null, name)
    if (point && now) for (const [i, value] of point.entries()) assert.ok(Math.abs(value - now[i]!) < 1e-3, name)
  }
})
