/** Cursors that a caller carries from one page to the next: signed, bound to what was asked, and good for an hour. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidField } from '#core/problem.ts'
import { fingerprint } from '#core/canonical.ts'
import type { Db } from '#db/tables.ts'
import { secretOf } from './secret.ts'

const LIFETIME_MS = 3_600_000
const SECRET = 'cursors'
const keys = new WeakMap<Db, Promise<Buffer>>()

/** The same for every process on this database, so it is read once. */
function keyOf(db: Db, now: Date): Promise<Buffer> {
  const known = keys.get(db)
  if (known) return known
  const key = secretOf(db, SECRET, now)
  keys.set(db, key)
  key.catch(() => keys.delete(db))
  return key
}

const sign = (key: Buffer, text: string, asked: unknown): Buffer =>
  createHmac('sha256', key).update(fingerprint(asked)).update(text).digest()

/** `asked` is everything that the next page must be asked with again. */
export async function sealCursor(db: Db, value: string, asked: unknown, now: Date): Promise<string> {
  const text = Buffer.from(JSON.stringify([now.getTime() + LIFETIME_MS, value])).toString('base64url')
  return `${text}.${sign(await keyOf(db, now), text, asked).toString('base64url')}`
}

export async function openCursor(db: Db, cursor: string, asked: unknown, now: Date): Promise<string> {
  const [text = '', signature = ''] = cursor.split('.')
  const given = Buffer.from(signature, 'base64url')
  const right = sign(await keyOf(db, now), text, asked)
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw invalidField('next', 'is not a cursor of this search: send it with the same host and filters, exactly as it came')
  const [expiresAtMs, value] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [number, string]
  if (now.getTime() > expiresAtMs) throw invalidField('next', 'is older than an hour: search again from the first page')
  return value
}
