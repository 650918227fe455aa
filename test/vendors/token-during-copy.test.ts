// Goal: a token that expires or is refused while a scene of the Planetary Computer is being copied fails no copy: a transfer
// that is resumed and a clip that reads on use a new one, and the bytes are those of the host.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import run from '#domains/processing/run.task.ts'
import { startOpenHosts } from '../../sandbox/vendors/open-hosts/server.ts'
import { world } from '../support/world.ts'

const HOST = 'planetary-computer'
/** In seconds; a token is renewed at the latest half of it before its end. */
const LIFETIME = 300
const [WEST, SOUTH, EAST, NORTH] = [2.295, 48.198, 2.305, 48.204]
const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [WEST, SOUTH],
      [EAST, SOUTH],
      [EAST, NORTH],
      [WEST, NORTH],
      [WEST, SOUTH],
    ],
  ],
}

async function copying(t: TestContext) {
  let now = () => new Date('2030-01-01T00:00:00Z')
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-token-'))
  const hosts = await startOpenHosts({ clock: { now: () => now() }, workDir })
  t.after(async () => {
    await hosts.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  hosts.sas.lifetimeSeconds = LIFETIME
  const sources = parseRegistry(await hosts.registryFile(), 'the registry of this test', { sandboxUrl: null })
  const w = await world(t, { sources, egressAllow: [new URL(hosts.url).host] })
  now = w.clock.now
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 100, reason: 'for a test' })
  const { features } = await w.ok(token, 'catalog.search', {
    host_name: HOST,
    collections: ['sentinel-2-l2a'],
    bbox: [WEST, SOUTH, EAST, NORTH],
    datetime: '2029-06-01/2029-06-30',
    limit: 1,
  })
  const [scene] = features
  /** Copies files; `atFirst` happens when the first of them is being sent. */
  const copy = async (input: object, atFirst: () => void) => {
    const { job } = await w.ok(token, 'catalog.scene.copy', { host_name: HOST, id: scene.id, project_id: org.projectId, ...input })
    hosts.reads.length = 0
    const issued = hosts.sas.issued
    hosts.faults.onRead = (_url, range) => {
      if ('area' in input === (range === undefined)) return
      delete hosts.faults.onRead
      atFirst()
    }
    await w.drain(run)
    const done = (await w.ok(token, 'processing.job.get', { job_id: job.id })).job
    assert.deepEqual([done.status, done.error], ['completed', null])
    assert.equal(hosts.faults.onRead, undefined, 'a file was read')
    return { itemId: done.output_item_ids[0] as string, renewals: hosts.sas.issued - issued }
  }
  const storedHash = async (itemId: string, key: string) => {
    const { sha256 } = await w.db
      .selectFrom('asset')
      .innerJoin('item', 'item.seq', 'asset.item_seq')
      .select('asset.sha256')
      .where('item.id', '=', itemId)
      .where('asset.key', '=', key)
      .executeTakeFirstOrThrow()
    return sha256!.toString('hex')
  }
  const hostHash = async (key: string) => {
    const { url } = await w.platform.services.vendors.files.sign(scene.assets[key].href, null)
    return createHash('sha256')
      .update(Buffer.from(await (await fetch(url)).arrayBuffer()))
      .digest('hex')
  }
  return { hosts, w, token, copy, storedHash, hostHash }
}

const signaturesOf = (reads: readonly string[], key: string) =>
  reads.filter((url) => url.includes(`/${key}.tif?`)).map((url) => new URLSearchParams(url.split('?')[1]).get('sig'))

test('a token that ends while a scene is copied', async (t) => {
  const { hosts, w, token, copy, storedHash, hostHash } = await copying(t)

  await t.test('it expires while a transfer breaks off: the rest is sent for another', async () => {
    hosts.faults.cutAfterBytes = 600_000
    const { itemId, renewals } = await copy({ assets: ['B01'] }, () => w.clock.advance({ seconds: 2 * LIFETIME }))
    assert.equal(renewals, 1)
    assert.equal(new Set(signaturesOf(hosts.reads, 'B01')).size, 2, 'broken off with one token, resumed with another')
    assert.equal(await storedHash(itemId, 'B01'), await hostHash('B01'))
    await w.ok(token, 'items.delete', { item_id: itemId })
  })

  await t.test('the storage refuses it before its time: it is renewed once', async () => {
    hosts.faults.cutAfterBytes = 600_000
    const { itemId, renewals } = await copy({ assets: ['B01'] }, () => {
      hosts.sas.revoke()
      w.clock.advance({ seconds: 30 })
    })
    assert.equal(renewals, 1)
    assert.equal(await storedHash(itemId, 'B01'), await hostHash('B01'))
  })

  await t.test('a clip of two files reads on with another', async () => {
    const { itemId, renewals } = await copy({ assets: ['B04', 'B08'], area: FIELD }, () => {
      hosts.sas.revoke()
      w.clock.advance({ seconds: 30 })
    })
    assert.equal(renewals, 1)
    const hashes = [await storedHash(itemId, 'B04'), await storedHash(itemId, 'B08')]
    assert.equal(new Set(hashes).size, 2)
  })
})
