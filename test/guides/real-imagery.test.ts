// Goal: every block of the guide to real imagery runs as written and answers as shown, against a fresh service whose open hosts respond.
// The hosts are simulated, with their own protocols, because no test leaves the machine.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { checkGuide } from './check.ts'
import { startOpenHosts } from '../../sandbox/vendors/open-hosts/server.ts'
import { openLab, until } from '../support/service.ts'

const GUIDE = path.join(import.meta.dirname, '../../docs/guides/real-imagery.md')
/** Far more than it takes: a guide that hangs is ended by the limit of its shell. */
const TIMEOUT_MS = 60 * 60_000

test('the guide to real imagery', { timeout: TIMEOUT_MS }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const hosts = await startOpenHosts({ clock: { now: () => new Date() }, workDir: lab.dataDir() })
  t.after(() => hosts.close())
  const registry = path.join(lab.dataDir(), 'sources.json')
  fs.writeFileSync(registry, await hosts.registryFile())
  const online = { OFFLINE: '', SOURCES: registry, EGRESS_ALLOW: new URL(hosts.url).host }
  const { baseUrl } = await lab.start({ entry: 'test/guides/service.ts', env: { DATA_DIR: lab.dataDir(), DEMO: '1', ...online } })
  const offersPlace = async () => (await (await fetch(`${baseUrl}/welcome`)).text()).includes('Show real imagery of')
  assert.ok(await until('the first probe', offersPlace), 'the start page offers a place')
  await checkGuide(t, GUIDE, lab, { BASE_URL: baseUrl })
})
