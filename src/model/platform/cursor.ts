/** Cursors that a caller carries from one page to the next: signed, bound to what was asked, and good for an hour. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#core/clock.ts'
import { invalidField } from '#core/problem.ts'
import { fingerprint } from '#core/canonical.ts'
import type { Db } from '#db/tables.ts'
import { secretOf } from './secret.ts'

const LIFETIME_MS = 3_600_000
const SECRET = 'cursors'

const sign = (key: Buffer, text: string, asked: unknown): Buffer =>
  createHmac('sha256', key).update(fingerprint(asked)).update(text).digest()

export interface Cursors {
  /** `asked` is everything that the next page must be asked with again. */
  seal(value: string, asked: unknown): Promise<string>
  open(cursor: string, asked: unknown): Promise<string>
}

export function createCursors(db: Db, clock: Clock): Cursors {
  /** The same for every process on this database, so it is read once. */
  let key: Promise<Buffer> | null = null
  const keyOf = (): Promise<Buffer> => {
    key ??= secretOf(db, SECRET, clock.now()).catch((error: unknown) => {
      key = null
      throw error
    })
    return key
  }
  return {
    async seal(value, asked) {
      const text = Buffer.from(JSON.stringify([clock.now().getTime() + LIFETIME_MS, value])).toString('base64url')
      return `${text}.${sign(await keyOf(), text, asked).toString('base64url')}`
    },
    async open(cursor, asked) {
      const [text = '', signature = ''] = cursor.split('.')
      const given = Buffer.from(signature, 'base64url')
      const right = sign(await keyOf(), text, asked)
      if (given.length !== right.length || !timingSafeEqual(given, right))
        throw invalidField('next', 'is not a cursor of this search: send it with the same host and filters, exactly as it came')
      const [expiresAtMs, value] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [number, string]
      if (clock.now().getTime() > expiresAtMs) throw invalidField('next', 'is older than an hour: search again from the first page')
      return value
    },
  }
}
