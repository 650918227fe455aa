import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '#core/clock.ts'
import { problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as idempotency from '#model/platform/idempotency.ts'

/** A retry waits this long for the first request to finish and then gets its response; after that, 409. */
const WAIT_MS = 30_000
/** How often a claim that another process holds is polled. */
const POLL_MS = 100
const PRINTABLE = /^[\x20-\x7e]{1,255}$/

export interface HeldClaim {
  /** In the transaction of the effect; throws if the lease was lost, so that the effect does not commit. */
  complete(tx: Tx, response: idempotency.StoredResponse, isFinal: boolean): Promise<void>
  /** Stores the final response in place of a provisional one. False: the provisional one remains. */
  finish(response: idempotency.StoredResponse): Promise<boolean>
  /** After the transaction: wakes the retries that wait here, and releases the claim unless it was completed. */
  settle(succeeded: boolean): Promise<void>
}

export type Begun = { outcome: 'claimed'; claim: HeldClaim } | { outcome: 'replay'; response: idempotency.StoredResponse }

interface ClaimRequest extends idempotency.ClaimKey {
  /**
   * Set if the operation does not state who else can see its response: the claim then belongs to this caller alone, and the
   * response is stored encrypted, because it can contain a secret that is shown once.
   */
  caller: string | null
}

export interface Claims {
  begin(request: ClaimRequest, bodyHash: Buffer, invocationId: string): Promise<Begun>
  close(): void
}

interface LocalHolder {
  bodyHash: Buffer
  settled: Promise<void>
}

export function createClaims(db: Db, clock: Clock): Claims {
  /** Claims that this process holds: retries wait here instead of polling the database. */
  const holders = new Map<string, LocalHolder>()
  const leases = new Map<string, idempotency.ClaimKey>()
  const renewal = setInterval(
    () => {
      if (leases.size > 0)
        void idempotency
          .renew(
            db,
            [...leases].map(([lease, key]) => ({ lease, key })),
          )
          .catch(() => {}) // The next renewal makes up for a missed one, or the lease is lost and the commit fails.
    },
    (idempotency.LEASE_SECONDS * 1000) / 3,
  )
  renewal.unref()

  const hold = ({ key, seal }: Stored, bodyHash: Buffer, lease: string): HeldClaim => {
    const name = nameOf(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    holders.set(name, { bodyHash, settled: promise })
    leases.set(lease, key)
    return {
      async complete(tx, response, isFinal) {
        if (!(await idempotency.complete(tx, key, lease, { ...response, body: seal.close(response.body) }, isFinal))) throw inProgress()
      },
      finish: (response) => idempotency.finish(db, key, lease, { ...response, body: seal.close(response.body) }),
      async settle(succeeded) {
        leases.delete(lease)
        try {
          if (!succeeded) await idempotency.release(db, key, lease)
        } finally {
          holders.delete(name)
          resolve()
        }
      },
    }
  }

  return {
    async begin(request, bodyHash, invocationId) {
      if (!PRINTABLE.test(request.key))
        throw problem('invalid-idempotency-key', 'Idempotency-Key must be 1 to 255 printable ASCII characters')
      const stored = storedAs(request)
      const { key, seal } = stored
      const deadline = performance.now() + WAIT_MS
      for (;;) {
        const local = holders.get(nameOf(key))
        if (local && !local.bodyHash.equals(bodyHash)) throw conflict()
        if (local) await within(local.settled, deadline)
        else {
          const attempt = await idempotency.claim(db, key, bodyHash, invocationId, clock.now())
          if (attempt.outcome === 'claimed') return { outcome: 'claimed', claim: hold(stored, bodyHash, attempt.lease) }
          if (attempt.outcome === 'replay') return { ...attempt, response: { ...attempt.response, body: seal.open(attempt.response.body) } }
          if (attempt.outcome === 'other-body') throw conflict()
          if (!holders.has(nameOf(key))) await sleep(POLL_MS)
        }
        if (performance.now() >= deadline) throw inProgress()
      }
    },
    close: () => clearInterval(renewal),
  }
}

interface Seal {
  close(body: Buffer): Buffer
  open(stored: Buffer): Buffer
}

interface Stored {
  key: idempotency.ClaimKey
  seal: Seal
}

const PLAIN: Seal = { close: (body) => body, open: (stored) => stored }
const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** The database has only a digest of the caller's key, so nobody who reads the database can decrypt the response. */
function storedAs({ ownerId, path, key, caller }: ClaimRequest): Stored {
  if (caller === null) return { key: { ownerId, path, key }, seal: PLAIN }
  const digest = createHash('sha256').update(`${caller}\n${key}`).digest('base64url')
  const secret = Buffer.from(hkdfSync('sha256', key, `${ownerId} ${path} ${caller}`, 'idempotency response', 32))
  return {
    key: { ownerId, path, key: `${idempotency.SEALED_PREFIX}${digest}` },
    seal: {
      close(body) {
        const iv = randomBytes(IV_BYTES)
        const cipher = createCipheriv(CIPHER, secret, iv)
        const sealed = Buffer.concat([cipher.update(body), cipher.final()])
        return Buffer.concat([iv, cipher.getAuthTag(), sealed])
      },
      open(stored) {
        const decipher = createDecipheriv(CIPHER, secret, stored.subarray(0, IV_BYTES))
        decipher.setAuthTag(stored.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
        return Buffer.concat([decipher.update(stored.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
      },
    },
  }
}

const nameOf = (key: idempotency.ClaimKey) => `${key.ownerId} ${key.path} ${key.key}`

const conflict = () => problem('idempotency-conflict', 'This Idempotency-Key was already used with a different body on this operation')

const inProgress = () =>
  problem('idempotency-in-progress', 'The first request with this Idempotency-Key is still running', { headers: { 'Retry-After': '1' } })

async function within(settled: Promise<void>, deadline: number): Promise<void> {
  const timer = new AbortController()
  const timeout = sleep(Math.max(0, deadline - performance.now()), undefined, { signal: timer.signal }).catch(() => {})
  await Promise.race([settled, timeout])
  timer.abort()
}
