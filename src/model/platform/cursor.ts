/** Pagination cursors: signed, bound to the query they came from, and valid for an hour. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#core/clock.ts'
import { invalidField } from '#core/problem.ts'
import { fingerprint } from '#core/canonical.ts'
import type { Db } from '#db/tables.ts'
import { secretOf } from './secret.ts'

const LIFETIME_MS = 3_600_000
const SECRET = 'cursors'

const sign = (key: Buffer, text: string, query: unknown): Buffer =>
  createHmac('sha256', key).update(fingerprint(query)).update(text).digest()

export interface Cursors {
  /** `query` is everything that must be the same in the request for the next page. */
  seal(value: string, query: unknown): Promise<string>
  open(cursor: string, query: unknown): Promise<string>
}

export function createCursors(db: Db, clock: Clock): Cursors {
  /** All processes on this database share the key, so it is read once. */
  let key: Promise<Buffer> | null = null
  const keyOf = (): Promise<Buffer> => {
    key ??= secretOf(db, SECRET, clock.now()).catch((error: unknown) => {
      key = null
      throw error
    })
    return key
  }
  return {
    async seal(value, query) {
      const text = Buffer.from(JSON.stringify([clock.now().getTime() + LIFETIME_MS, value])).toString('base64url')
      return `${text}.${sign(await keyOf(), text, query).toString('base64url')}`
    },
    async open(cursor, query) {
      const [text = '', signature = ''] = cursor.split('.')
      const received = Buffer.from(signature, 'base64url')
      const expected = sign(await keyOf(), text, query)
      if (received.length !== expected.length || !timingSafeEqual(received, expected))
        throw invalidField('next', 'is not a cursor of this search; send it unchanged, with the same host and filters')
      const [expiresAtMs, value] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [number, string]
      if (clock.now().getTime() > expiresAtMs) throw invalidField('next', 'expired after an hour; start again from the first page')
      return value
    },
  }
}
