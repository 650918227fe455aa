import assert from 'node:assert/strict'
import net, { type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { createDatabase } from '../../test/support/database.ts'
import { openDatabase } from './open.ts'
import { streamingOf } from './connections.ts'
import type { Db } from './tables.ts'

const sorts = async (db: Db): Promise<string> =>
  (await sql<{ value: string }>`select current_setting('enable_sort') as value where ${true}`.execute(db)).rows[0]!.value

/** A proxy that reports another server process, as a pooler does. */
async function pooler(t: TestContext, url: string): Promise<string> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url })
  const server = net.createServer((client) => {
    const upstream = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host)
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12])) // The server's PID and the secret for cancelling.
      if (at >= 0) chunk.writeInt32BE(chunk.readInt32BE(at + 5) + 1, at + 5)
      client.write(chunk)
    })
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const name = `${user ?? 'postgres'}${password ? `:${encodeURIComponent(password)}` : ''}`
  return `postgres://${name}@127.0.0.1:${(server.address() as AddressInfo).port}/${database}`
}

// Goal: connections for searches have their own settings and others do not; behind a pooler, which shares connections, nothing is set.
test('connections that only searches use', async (t) => {
  const { url, drop } = await createDatabase()
  t.after(drop)

  await t.test('have settings of their own', async (t2) => {
    const database = openDatabase(url)
    t2.after(() => database.close())
    const own = streamingOf(database.db)
    assert.deepEqual([await sorts(own!), await sorts(database.db), await sorts(own!)], ['off', 'on', 'off'])
    assert.equal(streamingOf(database.db), own)
    assert.equal(database.connectionCount(), 2)
  })

  await t.test('are not used behind a pooler', async (t2) => {
    const database = openDatabase(await pooler(t2, url))
    t2.after(() => database.close())
    assert.equal(await sorts(streamingOf(database.db)!), 'on')
    assert.equal(streamingOf(database.db), null)
  })
})
