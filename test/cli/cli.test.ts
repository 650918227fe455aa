import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { scene } from '../support/scene.ts'
import { until } from '../support/service.ts'
import { bandFile, reflectance } from '../support/stack.ts'
import { addApp, codeOf } from '../support/second-factors.ts'
import { striped } from '../support/tiff.ts'
import { world } from '../support/world.ts'

const CLI = path.join(import.meta.dirname, '../../packages/cli/bin/groundtrack.mjs')

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

// Goal: people sign in, upload, search, view, share and download from a terminal; scripts get clean stdout and a meaningful exit code.
test('the command line', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const accounts = path.join(folder, 'config/accounts.json')
  const run = (args: readonly string[], input = '', more: Record<string, string> = {}): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      const env = { PATH: process.env['PATH']!, HOME: folder, GROUNDTRACK_CONFIG: accounts, ...more }
      const child = spawn(process.execPath, [CLI, ...args], { cwd: folder, env })
      const parts: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk: Buffer) => (parts[name] += chunk.toString()))
      child.on('error', reject).on('close', (code) => resolve({ code: code ?? -1, ...parts }))
      child.stdin.end(input)
    })
  const ok = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(args)
    assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }

  await t.test('before sign-in', async () => {
    assert.match(await ok('--help'), /Common commands[\s\S]*upload FILE|upload +Upload rasters/)
    assert.match(await ok('items', 'list', '--help'), /--project-id TEXT +required[\s\S]*groundtrack items list --project-id/)
    const unknown = await run(['itmes', 'list'])
    assert.deepEqual([unknown.code, unknown.stdout], [2, ''])
    assert.match(unknown.stderr, /did you mean 'items list'/)
    const refused = await run(['projects', 'list', '--server', w.baseUrl])
    assert.deepEqual([refused.code, refused.stdout], [3, ''])
    assert.match(refused.stderr, /groundtrack sign-in/)
    assert.equal((await run(['projects', 'list', '--server', 'http://127.0.0.1:9', '--retries', '0'])).code, 4)
  })

  await t.test('sign-in is remembered in a file of mode 600', async () => {
    const args = ['sign-in', '--server', w.baseUrl, '--email', org.owner.email, '--password-stdin']
    assert.equal((await run(args, 'wrong password')).code, 3)
    const { code, stderr } = await run(args, org.owner.password)
    assert.equal(code, 0, stderr)
    assert.equal(statSync(accounts).mode & 0o777, 0o600)
    const saved = JSON.parse(readFileSync(accounts, 'utf8'))
    assert.equal(saved.accounts.default.project, org.projectId, 'the only project is the default')
    assert.ok(!readFileSync(accounts, 'utf8').includes(org.owner.password))
    assert.equal(JSON.parse(await ok('projects', 'list')).total, 1)
  })

  await t.test('sign-in takes the code of an account with two factors', async () => {
    const careful = await w.person()
    const { secret, recoveryCodes } = await addApp(w, careful)
    const args = ['sign-in', '--server', w.baseUrl, '--account', 'careful', '--email', careful.email, '--password-stdin']
    const without = await run(args, careful.password)
    assert.equal(without.code, 2)
    assert.match(without.stderr, /--code/)
    assert.equal((await run([...args, '--code', '000000'], careful.password)).code, 1)
    for (const code of [codeOf(w, secret), recoveryCodes[0]!]) {
      const { code: status, stderr } = await run([...args, '--code', code], careful.password)
      assert.equal(status, 0, stderr)
    }
    await ok('accounts', 'use', 'default')
    await ok('sign-out', '--account', 'careful')
  })

  let itemId = ''
  await t.test('upload, list, render, download', async () => {
    const bytes = await scene()
    writeFileSync(path.join(folder, 'field.tif'), bytes)
    itemId = JSON.parse(await ok('upload', 'field.tif')).item_ids[0]
    const items = JSON.parse(await ok('items', 'list')) as { items: { id: string }[] }
    assert.deepEqual(
      items.items.map(({ id }) => id),
      [itemId],
    )
    const lines = (await ok('items', 'list', '--limit', '1', '--ndjson')).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { id: string }).id),
      [itemId],
    )
    await ok('items', 'tile', 'render', '--item', itemId, '--z', '0', '--x', '0', '--y', '0', '--format', 'png', '-o', 'tile.png')
    assert.equal(readFileSync(path.join(folder, 'tile.png')).subarray(1, 4).toString(), 'PNG')
    await ok('download', itemId, '-o', 'back.tif')
    assert.deepEqual(readFileSync(path.join(folder, 'back.tif')), Buffer.from(bytes))
    assert.ok(!existsSync(path.join(folder, 'back.tif.part')))
    const bare = await run(['tiles', 'url', itemId, '--format', 'png'])
    assert.match(bare.stdout, /\/tiles\/\{z\}\/\{x\}\/\{y\}\.png/)
    assert.match(bare.stderr, /Without a key this URL returns 401.*--create-key/)
    const created = await run(['tiles', 'url', itemId, '--format', 'png', '--create-key'])
    const tile = created.stdout.trim().replace('{z}', '0').replace('{x}', '0').replace('{y}', '0')
    const pasted = await fetch(tile)
    assert.deepEqual([pasted.status, pasted.headers.get('content-type')], [200, 'image/png'], 'as a map client fetches it')
    const keyId = /api-keys revoke --key-id (\S+)/.exec(created.stderr)![1]!
    const keys = JSON.parse(await ok('api-keys', 'list')) as { id: string; permissions: string[] }[]
    assert.deepEqual(keys.find(({ id }) => id === keyId)?.permissions, ['read'])
    assert.match((await run(['upload', 'missing.tif'])).stderr, /No such file: missing\.tif/)
  })

  await t.test('bands of one scene become one item', async () => {
    const size = { width: 300, height: 260, pixelM: 10 }
    const files = ['T56_red.tif', 'T56_nir.tif']
    for (const [index, file] of files.entries())
      writeFileSync(path.join(folder, file), await bandFile({ ...size, value: reflectance(900, index) }))
    const { item_ids } = JSON.parse(await ok('upload', ...files, '--as-one-item')) as { item_ids: string[] }
    assert.equal(item_ids.length, 1)
    const assets = JSON.parse(await ok('items', 'list-assets', '--item', item_ids[0]!)) as { key: string }[]
    assert.deepEqual(
      assets.map(({ key }) => key),
      ['red', 'nir'],
    )
    const { code, stderr } = await run(['upload', files[0]!, '--as-one-item'])
    assert.equal(code, 2)
    assert.match(stderr, /--as-one-item needs at least two files/)
    await ok('items', 'delete', '--item', item_ids[0]!, '--yes')
  })

  await t.test('running the same command resumes an upload whose process was killed', async () => {
    const uploads = async () =>
      JSON.parse(await ok('uploads', 'list', '--project-id', org.projectId)).uploads as { id: string; status: string }[]
    const before = (await uploads()).length
    // So many zeros after the raster that the upload cannot finish before it is killed.
    writeFileSync(path.join(folder, 'long.tif'), await scene())
    truncateSync(path.join(folder, 'long.tif'), 300 * 1024 * 1024)
    const env = { PATH: process.env['PATH']!, HOME: folder, GROUNDTRACK_CONFIG: accounts }
    const child = spawn(process.execPath, [CLI, 'upload', 'long.tif'], { cwd: folder, env })
    const ended = new Promise((resolve) => child.on('close', resolve))
    const staging = path.join(w.dataDir, 'objects/.incoming')
    // An upload in parts is a folder, with a file named by its number for each part that has arrived.
    await until('a part has arrived', () =>
      (readdirSync(staging, { recursive: true }) as string[]).some((name) => /\/[1-9]\d*$/.test(name)),
    )
    child.kill('SIGKILL')
    await ended
    const { code, stdout, stderr } = await run(['upload', 'long.tif'])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /Resuming the interrupted upload/)
    const all = await uploads()
    assert.equal(all.length, before + 1, 'one session')
    assert.equal(JSON.parse(stdout).id, all[0]!.id)
    assert.equal(JSON.parse(readFileSync(path.join(folder, 'config/uploads.json'), 'utf8'))[all[0]!.id], undefined)
    assert.doesNotMatch((await run(['upload', 'long.tif'])).stderr, /Resuming/, 'a completed upload is not resumed')
  })

  await t.test('the same command with a position completes an image without one, and does not upload it again', async () => {
    writeFileSync(path.join(folder, 'nowhere.tif'), striped({ width: 70, height: 60, georeference: false }))
    const refused = await run(['upload', 'nowhere.tif'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /position-required/)
    assert.match(refused.stderr, /same command again with --crs EPSG:4326 --bounds/)
    assert.match((await run(['upload', 'nowhere.tif', '--bounds', '1,2,3,4'])).stderr, /need --crs/)
    assert.match((await run(['upload', 'nowhere.tif', '--crs', 'EPSG:4326', '--bounds', '1,2'])).stderr, /--bounds must be 4 numbers/)
    const { code, stdout, stderr } = await run(['upload', 'nowhere.tif', '--crs', 'EPSG:4326', '--bounds', '-3,-2,4,4'])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /Resuming the interrupted upload/)
    const { item } = await w.ok(org.owner.token, 'items.get', { item_id: JSON.parse(stdout).item_ids[0] })
    assert.deepEqual(item.bbox, [-3, -2, 4, 4])
    const corners = ['0,0,10,50', '70,0,17,50', '0,60,10,44', '70,60,17,44'].flatMap((gcp) => ['--gcp', gcp])
    const byPoints = JSON.parse(await ok('upload', 'nowhere.tif', '--crs', 'EPSG:4326', ...corners))
    const fitted = (await w.ok(org.owner.token, 'items.get', { item_id: byPoints.item_ids[0] })).item.bbox
    assert.deepEqual(
      fitted.map((value: number) => Math.round(value * 1e6) / 1e6),
      [10, 44, 17, 50],
    )
  })

  await t.test('search in every form', async () => {
    const args = ['search', '--host', 'sandbox-open', '--bbox', '151,-34,152,-33', '--datetime', '2029-05-01/2029-06-30', '--limit', '3']
    const scenes = JSON.parse(await ok(...args)) as { id: string }[]
    assert.equal(scenes.length, 3)
    assert.equal((await ok(...args, '--ndjson')).trim().split('\n').length, 3)
    assert.equal(JSON.parse(await ok(...args, '--geojson')).type, 'FeatureCollection')
    assert.equal((await run(['search', '--bbox', '1,2,3'])).code, 2)
    assert.equal(JSON.parse(await ok('search', '--mine')).length, 5, 'what was uploaded above')
  })

  await t.test('share', async () => {
    const { url, password } = JSON.parse(await ok('share', itemId, '--days', '7000')) as { url: string; password: string }
    const token = url.split('/').at(-1)!
    assert.equal((await w.post('/v1/op/share.link.validate', { token, password })).status, 200)
  })

  await t.test('nothing is charged without confirmation', async () => {
    await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
    const args = ['billing', 'topup', '--aud-cents', '10000']
    const unconfirmed = await run(args)
    assert.deepEqual([unconfirmed.code, unconfirmed.stdout], [2, ''])
    assert.match(unconfirmed.stderr, /10000 credits \(A\$100\.00\)[\s\S]*--yes/)
    assert.equal(JSON.parse(await ok(...args, '--dry-run')).price.credits, 10_000)
    assert.equal(JSON.parse(await ok('billing', 'credits', 'balance')).balance_credits, 0)
    await ok(...args, '--yes', '--idempotency-key', 'once')
    await ok(...args, '--yes', '--idempotency-key', 'once')
    assert.equal(JSON.parse(await ok('billing', 'credits', 'balance')).balance_credits, 10_000)
  })

  await t.test('a scene is bought after its price was shown', async () => {
    const scenes = JSON.parse(
      await ok('search', '--host', 'sandbox-vhr', '--bbox', '151.2,-33.87,151.21,-33.86', '--datetime', '2029-01-01/2029-06-30'),
    )
    const args = ['order', scenes[0].id as string, '--host', 'sandbox-vhr', '--bbox', '151.2,-33.87,151.21,-33.86']
    assert.match(
      (await run(args.slice(0, -2))).stderr,
      /Nothing was charged\. Run the command again with --yes/,
      'the whole scene without an area',
    )
    const { price } = JSON.parse(await ok(...args, '--dry-run')) as { price: { credits: number } }
    assert.ok(price.credits > 0)
    const unconfirmed = await run(args)
    assert.equal(unconfirmed.code, 2)
    assert.match(unconfirmed.stderr, new RegExp(`${price.credits} credits[\\s\\S]*--yes`))
    assert.equal(JSON.parse(await ok('orders', 'list')).totalElements, 0)
    const placed = await run([...args, '--yes'])
    if (placed.code === 0) assert.equal(JSON.parse(placed.stdout).totalCredits, price.credits)
    else assert.ok(placed.code === 6 || /licence/.test(placed.stderr), placed.stderr)
  })

  await t.test('an invalid field is named by its flag, and JSON is read from files and stdin', async () => {
    const invalid = await run(['items', 'list', '--limit', '0'])
    assert.equal(invalid.code, 1)
    assert.match(invalid.stderr, /--limit: /)
    assert.equal((await run(['items', 'list', '--colour', 'red'])).code, 2)
    writeFileSync(path.join(folder, 'in.json'), JSON.stringify({ name: 'From a file' }))
    assert.equal(JSON.parse(await ok('projects', 'create', '--body', '@in.json')).name, 'From a file')
    const { stdout } = await run(['projects', 'create', '--body', '-'], JSON.stringify({ name: 'From stdin' }))
    assert.equal(JSON.parse(stdout).name, 'From stdin')
  })

  await t.test('completion knows commands and flags', async () => {
    const complete = async (...words: string[]) =>
      (await ok('__complete', ...words))
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[0])
    assert.ok((await complete('up')).includes('upload'))
    assert.deepEqual(await complete('items', 'list-'), ['list-assets', 'list-by-collection'])
    assert.ok((await complete('items', 'list', '--pro')).includes('--project-id'))
    for (const shell of ['bash', 'zsh', 'fish']) assert.match(await ok('completion', shell), /__complete/)
    assert.match(await ok('man'), /^\.\\" Generated[\s\S]*EXIT STATUS/)
  })

  await t.test('doctor', async () => {
    const { stdout } = await run(['doctor', '--json'])
    const findings = JSON.parse(stdout) as { check: string; ok: boolean }[]
    const passed = (name: string) => findings.find(({ check }) => check === name)?.ok
    assert.deepEqual(['port', 'service', 'database', 'clock', 'credential'].map(passed), [true, true, true, true, true], stdout)
  })

  await t.test('sign-out removes the account', async () => {
    await ok('sign-out')
    assert.deepEqual(JSON.parse(readFileSync(accounts, 'utf8')).accounts, {})
  })
})
