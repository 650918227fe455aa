/** A TCP proxy in front of PostgreSQL that can fall silent, drop connections, refuse new ones and lose the answer to a commit. */
import net, { type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import pg from 'pg'

export interface DatabaseProxy {
  url: string
  /** Bytes are no longer forwarded, as when packets are dropped or the server is frozen. */
  freeze(): void
  thaw(): void
  /** Drops all connections without a goodbye, and refuses new ones until `accept`. */
  cut(): void
  accept(): void
  /** From now on, a connection breaks when the server has carried out a commit, before the client learns of it. */
  loseCommits(): void
  keepCommits(): void
}

/** As a simple query. */
const COMMIT = 'commit\0'

export async function databaseProxy(t: TestContext, url: string): Promise<DatabaseProxy> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url })
  const sockets = new Set<Socket>()
  let isFrozen = false
  let isCut = false
  let isLosing = false
  const server = net.createServer((client) => {
    if (isCut) return void client.resetAndDestroy()
    let hasCommitted = false
    const upstream = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      if (isFrozen) from.pause()
      from.on('data', (chunk) => {
        if (from === upstream && hasCommitted) return void client.resetAndDestroy()
        if (from === client) hasCommitted = isLosing && chunk.includes(COMMIT)
        to.write(chunk)
      })
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    isCut = true
    for (const socket of sockets) if (socket.remoteAddress) socket.resetAndDestroy() // The server may be at a Unix socket.
  }
  t.after(() => {
    cut()
    server.close()
  })
  const name = `${user ?? 'postgres'}${password ? `:${encodeURIComponent(password)}` : ''}`
  return {
    url: `postgres://${name}@127.0.0.1:${(server.address() as AddressInfo).port}/${database}`,
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
    cut,
    accept() {
      isCut = false
    },
    loseCommits() {
      isLosing = true
    },
    keepCommits() {
      isLosing = false
    },
  }
}
