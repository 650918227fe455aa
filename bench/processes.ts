/**
 * Each raster process against GDAL's command or numpy on the same inputs: time, CPU time, and whether the values agree.
 *
 * Like with like: both sides write cloud-optimized files with the same compression, predictor, block size and overviews (GDAL
 * through its COG driver), or GeoJSON in longitude and latitude; both may use all cores, and reproject to within 0.0002 pixels.
 * Ours is a fresh process, its time counted from the opening of the inputs; theirs is a command, its start included. Ratios above 1
 * mean that ours is faster; those of CPU time are the ones to trust on a busy machine. `npm run bench -- processes [part of a
 * name [rounds]]` takes both sides in turns and shows medians; PROCESS_SIZE is the side of the inputs in pixels. Like the service's
 * children, our process finds its modules compiled, except in the first round.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runMethod, withRasters } from '#raster/process/index.ts'
import { STEADY_ENVIRONMENT, STEADY_FLAGS } from '#raster/pool/worker.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'

const PYTHON = '/usr/bin/python3'
const SIZE = Number(process.env['PROCESS_SIZE'] ?? 3_000)
const LIMIT_MS = 600_000
const ROUNDS = Math.max(1, Number(process.argv[3] ?? 1) || 1)
const scripts = path.join(import.meta.dirname, '../test/gdal/processes')

interface Ours {
  method: string
  inputs: readonly string[]
  options: object
  files: Record<string, string>
}

interface Case extends Ours {
  name: string
  /** The command, given where it writes to. */
  theirs: (out: string) => readonly [command: string, args: readonly string[]]
  /** Rasters to compare, ours and theirs; none for what has no pixels. */
  compared?: readonly (readonly [string, string])[]
  degrees?: boolean
}

interface Timing {
  ms: number
  cpuMs: number
  rssMb: number
}

if (process.argv[2] === 'ours') console.log(JSON.stringify(await ours(process.argv[3]!, JSON.parse(process.argv[4]!) as Ours)))
else compareAll(process.argv[2] ?? '')

async function ours(folder: string, { method, inputs, options, files }: Ours): Promise<Timing> {
  const at = (name: string) => path.join(folder, name)
  const [started, used] = [performance.now(), process.cpuUsage()]
  await withRasters(
    inputs,
    async (name) => openTiff(await openFileSource(at(`${name}.tif`))),
    (rasters) =>
      runMethod(method, {
        rasters,
        options: options as Record<string, unknown>,
        files: Object.fromEntries(Object.entries(files).map(([name, file]) => [name, at(file)])),
        temporaryDirectory: folder,
        compression: 'zstd',
        signal: new AbortController().signal,
        onProgress: () => {},
      }),
  )
  const { user, system } = process.cpuUsage(used)
  return { ms: performance.now() - started, cpuMs: (user + system) / 1_000, rssMb: process.resourceUsage().maxRSS / 1_024 }
}

/** A command's time, and that of its children, as the shell tells it. */
function timed(command: string, args: readonly string[]): Omit<Timing, 'rssMb'> {
  const run = spawnSync('bash', ['-c', `TIMEFORMAT='%R %U %S'; time "$@"`, 'bash', command, ...args], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
  })
  const told = run.stderr.trim().split('\n').at(-1) ?? ''
  const [wall, user, system] = told.split(' ').map(Number)
  if (run.status !== 0 || !(wall! >= 0)) throw new Error(`${command} ${args.join(' ')}: ${run.stderr}`)
  return { ms: wall! * 1_000, cpuMs: (user! + system!) * 1_000 }
}

function casesIn(folder: string): Case[] {
  const at = (name: string) => path.join(folder, name)
  const cog = (level: number, overviews = 'AVERAGE') => [
    '-of',
    'COG',
    ...[
      'COMPRESS=ZSTD',
      `LEVEL=${level}`,
      'PREDICTOR=YES',
      'BLOCKSIZE=256',
      `OVERVIEW_RESAMPLING=${overviews}`,
      'NUM_THREADS=ALL_CPUS',
    ].flatMap((option) => ['-co', option]),
  ]
  const peer = (name: string, ...inputs: string[]) =>
    ((out) => [
      PYTHON,
      [path.join(import.meta.dirname, 'processes-peer.py'), name, out, ...inputs.map((input) => at(`${input}.tif`))],
    ]) satisfies Case['theirs']
  const data = { 'data.tif': 'ours.tif' }
  const compared = [['ours.tif', 'theirs.tif']] as const
  const scenes = ['scene0', 'scene1', 'scene2']
  const terrain = (kind: string, level: number): Case => ({
    name: kind,
    method: 'terrain',
    inputs: ['dem'],
    options: { kind },
    files: data,
    theirs: (out) => ['gdaldem', [kind, at('dem.tif'), out, '-q', ...cog(level)]],
    compared,
    degrees: kind === 'aspect',
  })
  const warp = (resampling: string): Case => ({
    name: `reproject ${resampling}`,
    method: 'warp',
    inputs: ['dem'],
    options: { epsg: 3857, resolution: 15, resampling },
    files: data,
    theirs: (out) => [
      'gdalwarp',
      [
        ...'-q -overwrite -t_srs EPSG:3857 -tr 15 15 -et 0.0002 -te'.split(' '),
        ...extentOf(at('ours.tif')),
        '-r',
        resampling === 'nearest' ? 'near' : resampling,
        ...cog(3),
        at('dem.tif'),
        out,
      ],
    ],
    compared,
  })
  const mosaic = (choice: string): Case => ({
    name: `mosaic ${choice}`,
    method: 'mosaic',
    inputs: scenes,
    options: { choice },
    files: { ...data, 'source_index.tif': 'index.tif' },
    theirs: peer(`mosaic-${choice}`, ...scenes),
    compared: [...compared, ['index.tif', 'theirs-index.tif']],
  })
  return [
    terrain('hillshade', 1),
    terrain('slope', 3),
    terrain('aspect', 3),
    {
      name: 'band_math, index',
      method: 'expression',
      inputs: ['scene0'],
      options: { expression: '(b4-b3)/(b4+b3)' },
      files: data,
      theirs: peer('ndvi', 'scene0'),
      compared,
    },
    warp('nearest'),
    warp('bilinear'),
    warp('cubic'),
    {
      name: 'resample average',
      method: 'warp',
      inputs: ['scene0'],
      options: { resolution: 40, resampling: 'average' },
      files: data,
      theirs: (out) => ['gdalwarp', ['-q', '-overwrite', '-tr', '40', '40', '-r', 'average', ...cog(1), at('scene0.tif'), out]],
      compared,
    },
    {
      name: 'cog_clip',
      method: 'warp',
      inputs: ['scene0'],
      options: { geometry: fieldIn(folder) },
      files: data,
      theirs: (out) => [
        'gdalwarp',
        [
          '-q',
          '-overwrite',
          '-te',
          ...extentOf(at('ours.tif')),
          '-tr',
          '10',
          '10',
          '-cutline',
          at('field.geojson'),
          ...cog(1),
          at('scene0.tif'),
          out,
        ],
      ],
      compared,
    },
    {
      name: 'cog_convert',
      method: 'convert',
      inputs: ['scene1'],
      options: {},
      files: data,
      theirs: (out) => ['gdal_translate', ['-q', ...cog(1), at('scene1.tif'), out]],
      compared,
    },
    ...(['median', 'mean', 'max'] as const).map((statistic): Case => ({
      name: `composite ${statistic}`,
      method: 'composite',
      inputs: scenes,
      options: { statistic },
      files: data,
      theirs: peer(statistic, ...scenes),
      compared,
    })),
    mosaic('first'),
    mosaic('brightest'),
    mosaic('median'),
    {
      name: 'pansharpen',
      method: 'pansharpen',
      inputs: ['pan', 'colours'],
      options: {},
      files: data,
      theirs: (out) => ['gdal_pansharpen.py', ['-q', '-threads', 'ALL_CPUS', at('pan.tif'), at('colours.tif'), out, ...cog(1)]],
      compared,
    },
    {
      name: 'cloud_mask',
      method: 'clouds',
      inputs: ['scene0'],
      options: { bands: { blue: 1, green: 2, red: 3, nir: 4 }, scale: 0.0001 },
      files: data,
      theirs: peer('clouds', 'scene0'),
      compared,
    },
    {
      name: 'change_detection',
      method: 'change',
      inputs: ['scene0', 'scene1'],
      options: { expressions: ['(b4-b3)/(b4+b3)', '(b4-b3)/(b4+b3)'], threshold: 0.1, resampling: 'nearest' },
      files: { ...data, 'classes.tif': 'classes-ours.tif' },
      theirs: peer('change', 'scene0', 'scene1'),
      compared: [...compared, ['classes-ours.tif', 'theirs-classes.tif']],
    },
    {
      name: 'polygonize',
      method: 'polygonize',
      inputs: ['classes'],
      options: {},
      files: { 'polygons.geojson': 'ours.tif' },
      theirs: (out) => [
        'bash',
        [
          '-c',
          'gdal_polygonize.py -q -overwrite "$1" "$2.gpkg" && ogr2ogr -f GeoJSON -lco RFC7946=YES "$2" "$2.gpkg"',
          'bash',
          at('classes.tif'),
          out,
        ],
      ],
    },
    {
      name: 'contour',
      method: 'contour',
      inputs: ['dem'],
      options: { interval: 50 },
      files: { 'contours.geojson': 'ours.tif' },
      theirs: (out) => ['gdal_contour', ['-q', '-i', '50', '-a', 'elev', '-f', 'GeoJSON', '-lco', 'RFC7946=YES', at('dem.tif'), out]],
    },
  ]
}

/** A field with bent edges over most of a scene, in longitude and latitude, written where GDAL can read it too. */
function fieldIn(folder: string): object {
  const corners = [
    [0.1, 0.12],
    [0.55, 0.05],
    [0.93, 0.3],
    [0.88, 0.9],
    [0.4, 0.81],
    [0.1, 0.12],
  ].map(([x, y]) => `${600_000 + x! * SIZE * 10} ${6_100_000 - y! * SIZE * 10}`)
  const args = ['-s_srs', 'EPSG:32755', '-t_srs', 'EPSG:4326', '-output_xy']
  const lines = execFileSync('gdaltransform', args, { input: corners.join('\n'), encoding: 'utf8' })
    .trim()
    .split('\n')
  const geometry = { type: 'Polygon', coordinates: [lines.map((line) => line.trim().split(' ').map(Number))] }
  writeFileSync(path.join(folder, 'field.geojson'), JSON.stringify(geometry))
  return geometry
}

function extentOf(file: string): string[] {
  const { geoTransform, size } = JSON.parse(execFileSync('gdalinfo', ['-json', file], { encoding: 'utf8', maxBuffer: 1 << 26 })) as {
    geoTransform: [number, number, number, number, number, number]
    size: [number, number]
  }
  const [x, step, , y] = geoTransform
  return [x, y - size[1] * step, x + size[0] * step, y].map(String)
}

function valuesOf(folder: string, { compared = [], degrees }: Case): string {
  return compared
    .map(([mine, other]) => {
      const args = [path.join(scripts, 'compare.py'), path.join(folder, mine), path.join(folder, other), ...(degrees ? ['degrees'] : [])]
      const bands = JSON.parse(execFileSync(PYTHON, args, { encoding: 'utf8' })) as {
        pixels: number
        masks: number
        differ: number
        most: number
      }[]
      const sum = (of: (band: (typeof bands)[number]) => number) => bands.reduce((all, band) => all + of(band), 0)
      const most = Math.max(...bands.map((band) => band.most))
      const share =
        sum(({ differ }) => differ) /
        Math.max(
          1,
          sum(({ pixels }) => pixels),
        )
      return `${(100 * share).toPrecision(2)}% differ by at most ${most.toPrecision(2)}, ${sum(({ masks }) => masks)} masks`
    })
    .join('; ')
}

function compareAll(wanted: string): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-processes-'))
  try {
    execFileSync(PYTHON, [path.join(scripts, 'make.py'), folder, String(SIZE)])
    console.log(`inputs of ${SIZE} × ${SIZE} pixels, ${ROUNDS === 1 ? 'one round' : `medians of ${ROUNDS} rounds`}`)
    const heads = ['ours ms', 'peer ms', 'wall', 'ours CPU', 'peer CPU', 'CPU', 'ours MB', 'peer MB', 'RSS MB']
    console.log(`${''.padEnd(20)}${heads.map((head) => head.padStart(9)).join('')}  values`)
    for (const testCase of casesIn(folder)) if (testCase.name.includes(wanted)) compareOne(folder, testCase)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runOurs(folder: string, { method, inputs, options, files }: Case): Timing {
  const args = [
    '--disable-warning=ExperimentalWarning',
    ...STEADY_FLAGS,
    import.meta.filename,
    'ours',
    folder,
    JSON.stringify({ method, inputs, options, files }),
  ]
  const profile = process.env['PROFILE'] ? ['--cpu-prof', `--cpu-prof-dir=${process.env['PROFILE']}`] : []
  const told = execFileSync(process.execPath, [...profile, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...STEADY_ENVIRONMENT, NODE_COMPILE_CACHE: path.join(folder, 'compiled') },
    timeout: LIMIT_MS,
  })
  return JSON.parse(told) as Timing
}

function medianOf<T extends object>(timings: readonly T[]): T {
  const names = Object.keys(timings[0]!) as (keyof T)[]
  const middle = (name: keyof T) => timings.map((timing) => Number(timing[name])).toSorted((a, b) => a - b)[timings.length >> 1]
  return Object.fromEntries(names.map((name) => [name, middle(name)])) as T
}

function compareOne(folder: string, testCase: Case): void {
  const out = path.join(folder, 'theirs.tif')
  const taken = Array.from({ length: ROUNDS }, () => {
    rmSync(out, { force: true })
    const mine = runOurs(folder, testCase)
    return { mine, peer: timed(...testCase.theirs(out)) }
  })
  const mine = medianOf(taken.map((round) => round.mine))
  const peer = medianOf(taken.map((round) => round.peer))
  const megabytes = (file: string) => (statSync(file).size / 2 ** 20).toFixed(1)
  const cells = [
    mine.ms.toFixed(0),
    peer.ms.toFixed(0),
    `${(peer.ms / mine.ms).toFixed(2)}×`,
    mine.cpuMs.toFixed(0),
    peer.cpuMs.toFixed(0),
    `${(peer.cpuMs / mine.cpuMs).toFixed(2)}×`,
    megabytes(path.join(folder, 'ours.tif')),
    megabytes(out),
    mine.rssMb.toFixed(0),
  ]
  console.log(`${testCase.name.padEnd(20)}${cells.map((cell) => cell.padStart(9)).join('')}  ${valuesOf(folder, testCase)}`)
}
