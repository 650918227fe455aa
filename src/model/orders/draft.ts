/** Orders that a member prepares: the cart, and drafts with a name. Nobody else sees them. */
import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { DraftCapture } from '#db/tables/orders.ts'

export type { DraftCapture }

export const MAX_DRAFTS = 50

const COLUMNS = ['id', 'name', 'captures', 'version', 'created_at as createdAt', 'updated_at as updatedAt'] as const

export type Draft = Row<'order_draft', typeof COLUMNS>

export interface Owner {
  organizationId: string
  userId: string
}

const drafts = (db: Db, { organizationId, userId }: Owner) =>
  db.selectFrom('order_draft').select(COLUMNS).where('org_id', '=', organizationId).where('user_id', '=', userId)

/** The cart first, then the drafts that were changed last. */
export async function list(db: Db, owner: Owner): Promise<Draft[]> {
  return await drafts(db, owner)
    .orderBy(sql`name is not null`)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(MAX_DRAFTS + 1)
    .execute()
}

export async function find(db: Db, owner: Owner, id: string): Promise<Draft | null> {
  return isUuid(id) ? ((await drafts(db, owner).where('id', '=', id).executeTakeFirst()) ?? null) : null
}

export async function findCart(db: Db, owner: Owner): Promise<Draft | null> {
  return (await drafts(db, owner).where('name', 'is', null).executeTakeFirst()) ?? null
}

interface NewDraft {
  /** Null for the cart. */
  name: string | null
  captures: readonly DraftCapture[]
  /** What the caller has seen; undefined replaces whatever is there. */
  version: number | undefined
}

/** Creates a draft, or replaces the one with this name; 409 if it has changed since the caller read it. */
export async function save(tx: Tx, owner: Owner, { name, captures, version }: NewDraft, now: Date): Promise<Draft> {
  const { organizationId, userId } = owner
  // One change at a time for each member, so that the number of drafts and their versions are exact.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`order drafts ${organizationId} ${userId}`}, 0))`.execute(tx)
  const before = await drafts(tx, owner)
    .where((e) => (name === null ? e('name', 'is', null) : e('name', '=', name)))
    .executeTakeFirst()
  const current = before?.version ?? 0
  if (version !== undefined && version !== current)
    throw problem('draft-changed', 'The draft was changed on another device. Read it again, then repeat the change.', {
      members: { current_version: current },
    })
  const content = { captures: JSON.stringify(captures), version: current + 1, updated_at: now }
  if (before)
    return await tx
      .updateTable('order_draft')
      .set(content)
      .where('org_id', '=', organizationId)
      .where('id', '=', before.id)
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
  const { count } = await tx
    .selectFrom('order_draft')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('name', 'is not', null)
    .executeTakeFirstOrThrow()
  if (name !== null && count >= MAX_DRAFTS)
    throw problem('bad-request', `You have ${count} of ${MAX_DRAFTS} draft orders. Delete one you no longer need.`, {
      members: { used: count, limit: MAX_DRAFTS },
    })
  return await tx
    .insertInto('order_draft')
    .values({ ...content, id: newId(), org_id: organizationId, user_id: userId, name, created_at: now })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

export async function remove(tx: Tx, { organizationId, userId }: Owner, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('order_draft')
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Of a member who leaves, or of all members of an organization that is deleted. */
export async function removeAllOf(tx: Tx, organizationId: string, userId: string | null): Promise<void> {
  await tx
    .deleteFrom('order_draft')
    .where('org_id', '=', organizationId)
    .$if(userId !== null, (query) => query.where('user_id', '=', userId!))
    .execute()
}
