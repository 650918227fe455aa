import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { DAY_MS } from '#core/time.ts'
import { newId } from '#core/ids.ts'
import { withLock } from '#db/lock.ts'
import type { Row } from '#db/row.ts'
import type { Db } from '#db/tables.ts'

export const ALGORITHM = 'EdDSA'

const COLUMNS = ['kid', 'private_jwk as privateJwk', 'created_at as createdAt'] as const

type SigningKey = Row<'signing_key', typeof COLUMNS> & { publicJwk: JWK }

/** A new key signs at once; the previous one is kept for verification until its last token has expired. */
const ROTATE_AFTER_DAYS = 90
const KEEP_AFTER_ROTATION_DAYS = 2

/** Newest first; creates the first key of a new database. */
export async function list(db: Db, now: Date): Promise<SigningKey[]> {
  const existing = await read(db)
  if (existing.length > 0) return existing
  // Locked: of two processes that start together, each would reject what the other signs until it reads the keys again.
  await withLock(db, 'signing_key', async () => {
    if ((await read(db)).length === 0) await create(db, now)
  })
  return await read(db)
}

async function read(db: Db): Promise<SigningKey[]> {
  const rows = await db.selectFrom('signing_key').select(COLUMNS).orderBy('created_at', 'desc').orderBy('kid', 'desc').execute()
  return rows.map((row) => ({ ...row, publicJwk: publicHalf(row.privateJwk) }))
}

export async function rotate(db: Db, now: Date): Promise<void> {
  const [newest] = await list(db, now)
  if (newest && now.getTime() - newest.createdAt.getTime() > ROTATE_AFTER_DAYS * DAY_MS) await create(db, now)
  const replacedBefore = new Date(now.getTime() - KEEP_AFTER_ROTATION_DAYS * DAY_MS)
  await db
    .deleteFrom('signing_key as k')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('signing_key as newer')
          .select('newer.kid')
          .whereRef('newer.created_at', '>', 'k.created_at')
          .where('newer.created_at', '<', replacedBefore),
      ),
    )
    .execute()
}

/** Replaces the key now, before its time. With `isLeaked`, no token of an earlier key is accepted any more. */
export async function replace(db: Db, now: Date, { isLeaked }: { isLeaked: boolean }): Promise<void> {
  const kid = await create(db, now)
  if (isLeaked) await db.deleteFrom('signing_key').where('kid', '!=', kid).execute()
}

async function create(db: Db, now: Date): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
  const kid = newId()
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: ALGORITHM, use: 'sig' }
  await db
    .insertInto('signing_key')
    .values({ kid, private_jwk: JSON.stringify(jwk), created_at: now })
    .execute()
  return kid
}

function publicHalf({ d: _secret, ...rest }: JWK): JWK {
  return rest
}
