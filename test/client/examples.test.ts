import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { signWebhook } from '../../packages/client/src/index.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const folderOf = path.join(import.meta.dirname, '../../examples')

// Goal: every example is a program that runs, and does what its first line says.
test('examples', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-examples-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(path.join(folder, 'field.tif'), await scene())
  const environment = {
    PATH: process.env['PATH']!,
    GROUNDTRACK_URL: w.baseUrl,
    GROUNDTRACK_EMAIL: org.owner.email,
    GROUNDTRACK_PASSWORD: org.owner.password,
    WEBHOOK_SECRET: 'whsec_test',
  }
  const start = (name: string, ...args: string[]) =>
    spawn(process.execPath, [path.join(folderOf, name), ...args], { cwd: folder, env: environment })
  const run = (name: string, ...args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = start(name, ...args)
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
      child.on('error', reject).on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`${name}: ${out}${err}`))))
    })

  await t.test('upload-and-map', async () => {
    const { item_id } = JSON.parse(await run('upload-and-map.ts', 'field.tif', 'map.html')) as { item_id: string }
    const page = readFileSync(path.join(folder, 'map.html'), 'utf8')
    const tiles = /"(http[^"]+)"\], tileSize/.exec(page)![1]!
    const tile = await globalThis.fetch(tiles.replace('{z}/{x}/{y}', '0/0/0'))
    assert.deepEqual([tile.status, tile.headers.get('content-type')], [200, 'image/png'])
    assert.ok(page.includes(item_id))
  })
  await t.test('ndvi-report', async () =>
    assert.match(await run('ndvi-report.ts'), /^name,date,p2,p98\n"field[^\n]+,-?\d\.\d{3},\d\.\d{3}\n$/),
  )
  await t.test('monitor-field', async () => assert.match(await run('monitor-field.ts', '1'), /field.*: NDVI from -?\d\.\d\d to \d\.\d\d/))
  await t.test('buy-scene shows what there is', async () => {
    const hasOrders = w.platform.operations.has('orders.archive.estimate')
    const shown = run('buy-scene.ts', 'sandbox-vhr', '151.20,-33.87,151.21,-33.86', '2029-01-01/2029-06-30')
    if (hasOrders) assert.match(await shown, /% cloud, \d+ credits\/km²\nPrice: \d+ credits/)
    else await assert.rejects(shown, /% cloud, \d+ credits\/km²[\s\S]*no such operation/)
  })
  await t.test('webhook-receiver', async (t) => {
    const child = start('webhook-receiver.ts', '0')
    t.after(() => child.kill())
    const lines: string[] = []
    const port = await new Promise<number>((resolve) =>
      child.stdout.on('data', (chunk: Buffer) => {
        lines.push(chunk.toString())
        const found = /"port":(\d+)/.exec(chunk.toString())?.[1]
        if (found) resolve(Number(found))
      }),
    )
    const body = JSON.stringify({ event_id: '1', event_type: 'item.created', timestamp: '2030-01-01T00:00:00.000Z', entity_id: 'item-1' })
    const send = async (signature: string) =>
      (await globalThis.fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers: { 'x-svc-signature': signature } })).status
    const signature = await signWebhook(body, 'whsec_test')
    assert.deepEqual([await send('sha256=00'), await send(signature), await send(signature)], [401, 204, 204])
    assert.equal(lines.join('').match(/item\.created item-1/g)?.length, 1)
  })
})
