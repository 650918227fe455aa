/** Runs the tests of the Python client; see test/python/client.ts. */
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { createOwner, ok, PASSWORD } from './client.ts'
import { scene } from './scene.ts'

const PACKAGE = path.join(import.meta.dirname, '../../packages/python')
const PYTHON = process.env['PYTHON_CLIENT'] ?? 'python3'
const NEEDED = [
  'httpx',
  'pytest',
  'mypy',
  'pyright',
  'hatchling',
  'keyring',
  'geopandas',
  'rasterio',
  'odc.stac',
  'folium',
  'nbclient',
  'ipykernel',
]
const missing = NEEDED.filter((name) => spawnSync(PYTHON, ['-c', `import ${name}`]).status !== 0)
/** Why the tests cannot run here; false if they can. */
export const WITHOUT_PYTHON = missing.length > 0 ? `${PYTHON} has no ${missing.join(', ')}; see .ci/requirements-python.txt` : false

/** Runs tests in one process; fails with what pytest printed. Gives its last line, which counts them. */
export async function pytest(tests: readonly string[], env: Record<string, string>): Promise<string> {
  const words = (process.env['PYTEST'] ?? '').split(' ').filter((word) => word !== '')
  const files = tests.map((name) => path.join('tests', name))
  const child = spawn(PYTHON, ['-m', 'pytest', '-q', '-x', '-rs', '-p', 'no:cacheprovider', '--durations=5', ...words, ...files], {
    cwd: PACKAGE,
    env: { ...process.env, PYTHONPATH: path.join(PACKAGE, 'src'), PYTHONDONTWRITEBYTECODE: '1', NODE: process.execPath, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const code = await new Promise((resolve) => child.once('close', resolve))
  // A part that is chosen with PYTEST may have nothing in some of the processes.
  if (code !== 0 && !(code === NOTHING_CHOSEN && words.length > 0)) throw new Error(`pytest ended with ${String(code)}:\n${printed}`)
  return printed.slice(printed.indexOf('slowest')).replaceAll(/^[=\s]+|[=\s]+$/gm, '')
}

const NOTHING_CHOSEN = 5

/** Who `createAccount` creates: tests can be told before the service is there. */
export const accountOf = (baseUrl: string, name: string): Record<string, string> => ({
  GROUNDTRACK_URL: baseUrl,
  GROUNDTRACK_EMAIL: `${name}@groundtrack.example`,
  GROUNDTRACK_PASSWORD: PASSWORD,
})

/** A person with an organization, a card and a project of their own: what runs at the same time does not see its uploads. */
export async function createAccount(baseUrl: string, name: string): Promise<void> {
  const { token } = await createOwner(baseUrl, accountOf(baseUrl, name)['GROUNDTRACK_EMAIL']!)
  await ok(baseUrl, token, 'projects.create', { name: 'Demo' })
  await ok(baseUrl, token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' }) // For jobs.
}

/** The files that the tests upload. */
export async function writeFiles(folder: string): Promise<Record<string, string>> {
  const [field, plain] = [path.join(folder, 'field.tif'), path.join(folder, 'plain.tif')]
  writeFileSync(
    field,
    await scene({ value: (band, x, y) => 100 * (band + 1) + ((((x * 73_856_093) ^ (y * 19_349_663) ^ (band * 83_492_791)) >>> 8) % 997) }),
  )
  writeFileSync(plain, plainTiff())
  return { FIELD_TIF: field, PLAIN_TIF: plain }
}

/** An image without a position: the header of a TIFF of 2 × 2 grey pixels. */
function plainTiff(): Buffer {
  const entries: readonly (readonly [tag: number, type: number, value: number])[] = [
    [256, 3, 2],
    [257, 3, 2],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 8],
    [277, 3, 1],
    [278, 3, 2],
    [279, 4, 4],
  ]
  const file = Buffer.alloc(12 + 2 + entries.length * 12 + 4)
  file.write('II*\0', 'latin1')
  file.writeUInt32LE(12, 4)
  file.writeUInt32LE(0x40302010, 8)
  file.writeUInt16LE(entries.length, 12)
  for (const [index, [tag, type, value]] of entries.entries()) {
    const at = 14 + index * 12
    file.writeUInt16LE(tag, at)
    file.writeUInt16LE(type, at + 2)
    file.writeUInt32LE(1, at + 4)
    if (type === 3) file.writeUInt16LE(value, at + 8)
    else file.writeUInt32LE(value, at + 8)
  }
  return file
}
