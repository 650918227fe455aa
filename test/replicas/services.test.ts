// Goal: services with DATABASE_REPLICA_URLS use the replica without further settings, are ready without it, and stop using it while a
// process runs that does not announce its writes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwner, ok } from '../support/client.ts'
import { NO_SERVER, replicated } from '../support/replicated.ts'
import { openLab, until, type Service } from '../support/service.ts'

/** The ends of lines of `/metrics`. */
const USED = 'used\\{[^}]*'
const READS = 'reads_total\\{[^}]*result="served"'

const metricOf = async ({ baseUrl }: Service, name: string): Promise<number> => {
  const text = await (await fetch(`${baseUrl}/metrics`)).text()
  return Number(new RegExp(`^groundtrack_replica_${name}\\} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

test('services with a replica', async (t) => {
  const database = await replicated(t)
  if (!database) return t.skip(NO_SERVER)
  const lab = openLab()
  t.after(() => lab.close())
  const settings = { DATABASE_URL: database.url, DATA_DIR: lab.dataDir(), DEMO: '0' }
  const env = { ...settings, DATABASE_REPLICA_URLS: database.replicaUrl }
  const services = await Promise.all([lab.start({ env }), lab.start({ env })])
  const [first, second] = services
  const owner = await createOwner(first.baseUrl, 'replicated@example.com')
  const list = async ({ baseUrl }: Service): Promise<string[]> =>
    (await ok(baseUrl, owner.token, 'projects.list')).projects.map(({ name }: { name: string }) => name)
  const untilRead = (service: Service) =>
    until('a read by the replica', async () => {
      const before = await metricOf(service, READS)
      await list(service)
      return (await metricOf(service, READS)) > before
    })

  await t.test('read from it, and find what the other has written', async () => {
    for (const service of services) await untilRead(service)
    for (let n = 0; n < 10; n++) {
      await ok([first, second][n % 2]!.baseUrl, owner.token, 'projects.create', { name: `Project ${n}` })
      assert.ok((await list([second, first][n % 2]!)).includes(`Project ${n}`))
    }
  })

  await t.test('a process without the setting: the replica is not used until it has stopped', async () => {
    const third = await lab.start({ env: settings })
    for (const { output } of services) await until('the line', () => output().includes('1 of the processes on this database have no'))
    const before = await metricOf(first, READS)
    await ok(third.baseUrl, owner.token, 'projects.create', { name: 'Not announced' })
    assert.ok((await list(first)).includes('Not announced'))
    assert.equal(await metricOf(first, READS), before)
    await third.kill('SIGTERM')
    await untilRead(first)
  })

  await t.test('without the replica, they are ready and serve', async () => {
    await database.replica.kill()
    for (const service of services) {
      assert.ok((await list(service)).includes('Project 9'))
      assert.equal((await fetch(`${service.baseUrl}/ready`)).status, 200)
      await until('the replica to be set aside', async () => (await metricOf(service, USED)) === 0)
      await until('its line in the log', () => /Replica .+ is not used: /.test(service.output()))
    }
  })
})
