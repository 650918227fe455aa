/**
 * Run: PYTHON_CLIENT=venv/bin/python npm test -- test/python/client.ts. The interpreter needs what .ci/requirements-python.txt lists.
 * `PYTEST=-k=upload` runs a part. `PYTHONS` can name interpreters of other versions, with spaces, for the core of the client.
 * Transfers to S3 need the server that `test/s3/server.sh` starts.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { newId } from '#core/ids.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { COLLECTIONS, SCENES } from '../../sandbox/demo/scenes.ts'
import { createOwner, ok, PASSWORD } from '../support/client.ts'
import { scene } from '../support/scene.ts'
import { openLab, until } from '../support/service.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const PACKAGE = path.join(ROOT, 'packages/python')
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
const skip = missing.length > 0 ? `${PYTHON} has no ${missing.join(', ')}; see .ci/requirements-python.txt` : false

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

/** Shows what pytest prints, and gives its exit code. */
function pytest(tests: string, env: Record<string, string>): Promise<number | null> {
  const words = (process.env['PYTEST'] ?? '').split(' ').filter((word) => word !== '')
  const child = spawn(PYTHON, ['-m', 'pytest', '-q', '-x', '-rs', '-p', 'no:cacheprovider', '--durations=5', ...words, tests], {
    cwd: PACKAGE,
    env: { ...process.env, PYTHONPATH: path.join(PACKAGE, 'src'), PYTHONDONTWRITEBYTECODE: '1', NODE: process.execPath, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise((resolve) => child.once('close', resolve))
}

/** The files that the tests upload. */
async function writeFiles(folder: string): Promise<Record<string, string>> {
  const [field, plain] = [path.join(folder, 'field.tif'), path.join(folder, 'plain.tif')]
  writeFileSync(
    field,
    await scene({ value: (band, x, y) => 100 * (band + 1) + ((((x * 73_856_093) ^ (y * 19_349_663) ^ (band * 83_492_791)) >>> 8) % 997) }),
  )
  writeFileSync(plain, plainTiff())
  return { FIELD_TIF: field, PLAIN_TIF: plain }
}

// Goal: the Python client does what its documentation says, against a running service: both clients, extras, examples, notebooks, types.
test('the Python client', { skip }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const { baseUrl } = await lab.start({ env: { DATA_DIR: lab.dataDir(), DEMO: '1', SANDBOX_DELIVERY_SECONDS: '1' } })
  await until('the demo', async () => {
    const demo = (await (await fetch(`${baseUrl}/docs/demo.json`)).json()) as { fields?: { job_id?: string } }
    return demo.fields?.job_id
  })
  const code = await pytest('tests', {
    ...(await writeFiles(lab.dataDir())),
    GROUNDTRACK_URL: baseUrl,
    GROUNDTRACK_EMAIL: DEMO_EMAIL,
    GROUNDTRACK_PASSWORD: DEMO_PASSWORD,
    DEMO_ITEM: SCENES[0]!.name,
    DEMO_COLLECTION: COLLECTIONS.seasons.name,
  })
  assert.equal(code, 0, 'pytest')
})

const s3 = {
  endpoint: process.env['TEST_S3_ENDPOINT'] ?? '',
  key: process.env['TEST_S3_KEY'] ?? '',
  secret: process.env['TEST_S3_SECRET'] ?? '',
}
const withoutS3 = s3.endpoint === '' ? 'TEST_S3_ENDPOINT is not set: run test/s3/server.sh and set what it prints' : false
const BUCKET = 'groundtrack-python'

async function makeBucket(): Promise<void> {
  const credentials = { accessKeyId: s3.key, secretAccessKey: s3.secret }
  const client = new S3Client({ endpoint: s3.endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
  await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch((error: Error) => {
    if (!/BucketAlready/.test(error.name)) throw error
  })
  client.destroy()
}

// Goal: the Python client resumes and verifies transfers of files that the service stores in S3.
test('the Python client on S3', { skip: skip || withoutS3 }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  await makeBucket()
  const env = { S3_ENDPOINT: s3.endpoint, AWS_ACCESS_KEY_ID: s3.key, AWS_SECRET_ACCESS_KEY: s3.secret }
  const storage = { STORAGE_URL: `s3://${BUCKET}/${newId()}`, ...env }
  const { baseUrl } = await lab.start({ env: { DATA_DIR: lab.dataDir(), ...storage } })
  const owner = await createOwner(baseUrl, 'pytest@groundtrack.example')
  await ok(baseUrl, owner.token, 'projects.create', { name: 'Demo' })
  const code = await pytest('tests/s3_transfers.py', {
    ...(await writeFiles(lab.dataDir())),
    GROUNDTRACK_URL: baseUrl,
    GROUNDTRACK_EMAIL: owner.email,
    GROUNDTRACK_PASSWORD: PASSWORD,
  })
  assert.equal(code, 0, 'pytest')
})
