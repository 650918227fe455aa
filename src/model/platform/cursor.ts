/** Pagination cursors: signed, bound to the query they came from, and valid for an hour. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidField } from '#core/problem.ts'
import { fingerprint } from '#core/canonical.ts'
import type { Db } from '#db/tables.ts'
import { secretOf } from './secret.ts'

const LIFETIME_MS = 3_600_000
const SECRET = 'cursors'
const keys = new WeakMap<Db, Promise<Buffer>>()

/** All processes on this database share the key, so it is read once. */
function keyOf(db: Db, now: Date): Promise<Buffer> {
  const cached = keys.get(db)
  if (cached) return cached
  const key = secretOf(db, SECRET, now)
  keys.set(db, key)
  key.catch(() => keys.delete(db))
  return key
}

const sign = (key: Buffer, text: string, query: unknown): Buffer =>
  createHmac('sha256', key).update(fingerprint(query)).update(text).digest()

/** `query` is everything that must be the same in the request for the next page. */
export async function sealCursor(db: Db, value: string, query: unknown, now: Date): Promise<string> {
  const text = Buffer.from(JSON.stringify([now.getTime() + LIFETIME_MS, value])).toString('base64url')
  return `${text}.${sign(await keyOf(db, now), text, query).toString('base64url')}`
}

export async function openCursor(db: Db, cursor: string, query: unknown, now: Date): Promise<string> {
  const [text = '', signature = ''] = cursor.split('.')
  const received = Buffer.from(signature, 'base64url')
  const expected = sign(await keyOf(db, now), text, query)
  if (received.length !== expected.length || !timingSafeEqual(received, expected))
    throw invalidField('next', 'is not a cursor of this search; send it unchanged, with the same host and filters')
  const [expiresAtMs, value] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [number, string]
  if (now.getTime() > expiresAtMs) throw invalidField('next', 'expired after an hour; start again from the first page')
  return value
}
