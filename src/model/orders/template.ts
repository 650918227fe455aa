/** Saved settings of tasking orders, by name. */
import { isUuid, newId } from '#core/ids.ts'
import { problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

export const MAX_TEMPLATES = 500

const COLUMNS = ['id', 'name', 'settings', 'created_by as createdBy', 'created_at as createdAt', 'updated_at as updatedAt'] as const

export type Template = Row<'tasking_template', typeof COLUMNS>

const templates = (db: Db, organizationId: string) => db.selectFrom('tasking_template').select(COLUMNS).where('org_id', '=', organizationId)

/** By name. */
export async function list(db: Db, organizationId: string): Promise<Template[]> {
  return await templates(db, organizationId).orderBy('name').limit(MAX_TEMPLATES).execute()
}

export async function find(db: Db, organizationId: string, id: string): Promise<Template | null> {
  return isUuid(id) ? ((await templates(db, organizationId).where('id', '=', id).executeTakeFirst()) ?? null) : null
}

/** Creates a template or replaces the one with the same name. */
export async function save(
  tx: Tx,
  owner: { organizationId: string; createdBy: string | null; now: Date },
  { name, settings }: { name: string; settings: Record<string, unknown> },
): Promise<Template> {
  const { organizationId, createdBy, now } = owner
  const saved = await tx
    .insertInto('tasking_template')
    .values({
      id: newId(),
      org_id: organizationId,
      name,
      settings: JSON.stringify(settings),
      created_by: createdBy,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['org_id', 'name']).doUpdateSet({ settings: JSON.stringify(settings), updated_at: now }))
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  const { count } = await tx
    .selectFrom('tasking_template')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('org_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (count > MAX_TEMPLATES) throw problem('bad-request', `An organization can have at most ${MAX_TEMPLATES} templates; delete one first`)
  return saved
}

export async function remove(tx: Tx, id: string): Promise<boolean> {
  return (await tx.deleteFrom('tasking_template').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n
}
