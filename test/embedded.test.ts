import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwner, post } from './support/client.ts'
import { isAlive, openLab, postmasterOf, until } from './support/service.ts'

// Goal: the embedded database runs as long as a process uses it, and no longer.
test('the embedded PostgreSQL', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const dataDir = lab.dataDir()
  const env = { DATA_DIR: dataDir, DEMO: '0' } // Drawing the demo would keep a core busy.

  await t.test('stops with the service', async () => {
    const service = await lab.start({ env })
    const { pid } = postmasterOf(dataDir)!
    assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null }, service.output())
    await until('the end of PostgreSQL', () => !isAlive(pid))
  })

  await t.test('outlives a killed service and is reused by the next one', async () => {
    const killed = await lab.start({ env })
    const { pid } = postmasterOf(dataDir)!
    await killed.kill('SIGKILL')
    assert.equal(isAlive(pid), true)
    const next = await lab.start({ env })
    assert.match(next.output(), /found running/)
    assert.equal(postmasterOf(dataDir)!.pid, pid)
    await next.kill('SIGTERM')
    await until('the end of PostgreSQL', () => !isAlive(pid))
  })

  await t.test('is shared, and stopped by the last process', async () => {
    const [first, second] = await Promise.all([lab.start({ env }), lab.start({ env })])
    const { pid } = postmasterOf(dataDir)!
    await first!.kill('SIGTERM')
    assert.equal(isAlive(pid), true)
    await createOwner(second!.baseUrl, 'founder@example.com')
    await second!.kill('SIGTERM')
    await until('the end of PostgreSQL', () => !isAlive(pid))
  })

  await t.test('is stopped when all processes stop at once', async () => {
    const services = await Promise.all([lab.start({ env }), lab.start({ env })])
    const { pid } = postmasterOf(dataDir)!
    assert.deepEqual(
      (await Promise.all(services.map((service) => service.kill('SIGTERM')))).map((exit) => exit.code),
      [0, 0],
    )
    await until('the end of PostgreSQL', () => !isAlive(pid))
  })

  await t.test('is created once by two services that start together on an empty folder', async () => {
    const empty = lab.dataDir()
    const services = await Promise.all([lab.start({ env: { DATA_DIR: empty } }), lab.start({ env: { DATA_DIR: empty } })])
    const { pid } = postmasterOf(empty)!
    for (const { baseUrl } of services)
      assert.equal((await post(baseUrl, '/auth/sign-in', { email: 'demo@groundtrack.dev', password: 'groundtrack-demo' })).status, 200)
    await Promise.all(services.map((service) => service.kill('SIGTERM')))
    await until('the end of PostgreSQL', () => !isAlive(pid))
  })

  await t.test('is stopped if the service cannot start', async () => {
    const holder = await lab.start({ env: { DATA_DIR: lab.dataDir(), DEMO: '0' } })
    const failing = lab.spawn({ env: { ...env, PORT: new URL(holder.baseUrl).port } })
    assert.equal((await failing.exited).code, 1)
    assert.match(
      failing.output(),
      /^Port \d+ of 127\.0\.0\.1 is in use, perhaps by another Groundtrack\. Stop that one, or set PORT to a free port\.\n$/,
    )
    assert.equal(postmasterOf(dataDir), null)
  })

  await t.test('stops when the service is told to stop while it starts', async () => {
    const empty = lab.dataDir()
    const starting = lab.spawn({ env: { DATA_DIR: empty } })
    const { pid } = await until('PostgreSQL to begin', () => postmasterOf(empty))
    assert.equal((await starting.kill('SIGTERM')).code, 0, starting.output())
    await until('the end of PostgreSQL', () => !isAlive(pid))
  })
})
