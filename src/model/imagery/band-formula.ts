/** Band formulas saved by an organization. */
import { newId, isUuid } from '#core/ids.ts'
import { notFound, problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { sql } from 'kysely'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'name',
  'display_name as displayName',
  'formula',
  'description',
  'required_bands as requiredBands',
  'colormap',
  'range_low as rangeLow',
  'range_high as rangeHigh',
  'category',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export type BandFormula = Row<'band_formula', typeof COLUMNS>

/** More than anyone can name. */
const MAX_PER_ORGANIZATION = 1_000

export async function list(db: Db, organizationId: string, category: string | null): Promise<BandFormula[]> {
  return await db
    .selectFrom('band_formula')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .$if(category !== null, (query) => query.where('category', '=', category))
    .orderBy(sql`lower(name)`)
    .limit(MAX_PER_ORGANIZATION)
    .execute()
}

export async function requireOf(db: Db | Tx, organizationId: string, id: string): Promise<BandFormula> {
  const row = isUuid(id)
    ? await db.selectFrom('band_formula').select(COLUMNS).where('org_id', '=', organizationId).where('id', '=', id).executeTakeFirst()
    : undefined
  if (!row) throw notFound('band formula')
  return row
}

/** By name, ignoring case; null if the organization has none. */
export async function findNamed(db: Db, organizationId: string, name: string): Promise<BandFormula | null> {
  const row = await db
    .selectFrom('band_formula')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .where(sql<string>`lower(name)`, '=', name.toLowerCase())
    .executeTakeFirst()
  return row ?? null
}

type Fields = Omit<BandFormula, 'id' | 'organizationId' | 'createdAt' | 'updatedAt'>

const toColumns = (fields: Fields) => ({
  name: fields.name,
  display_name: fields.displayName,
  formula: fields.formula,
  description: fields.description,
  required_bands: fields.requiredBands,
  colormap: fields.colormap,
  range_low: fields.rangeLow,
  range_high: fields.rangeHigh,
  category: fields.category,
})

export async function insert(
  tx: Tx,
  owner: { organizationId: string; createdBy: string | null; now: Date },
  fields: Fields,
): Promise<BandFormula> {
  await holdNames(tx, owner.organizationId)
  const { count } = await tx
    .selectFrom('band_formula')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('org_id', '=', owner.organizationId)
    .executeTakeFirstOrThrow()
  if (count >= MAX_PER_ORGANIZATION)
    throw problem('bad-request', `An organization can have at most ${MAX_PER_ORGANIZATION} formulas; delete one first`)
  await requireFreeName(tx, owner.organizationId, fields.name, null)
  return await tx
    .insertInto('band_formula')
    .values({
      id: newId(),
      org_id: owner.organizationId,
      created_by: owner.createdBy,
      created_at: owner.now,
      updated_at: owner.now,
      ...toColumns(fields),
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

export async function update(tx: Tx, formula: BandFormula, fields: Fields, now: Date): Promise<BandFormula> {
  await holdNames(tx, formula.organizationId)
  await requireFreeName(tx, formula.organizationId, fields.name, formula.id)
  const updated = await tx
    .updateTable('band_formula')
    .set({ ...toColumns(fields), updated_at: now })
    .where('id', '=', formula.id)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!updated) throw notFound('band formula')
  return updated
}

export async function remove(tx: Tx, formula: BandFormula): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('band_formula').where('id', '=', formula.id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('band formula')
}

/** Serializes changes of names in an organization. */
async function holdNames(tx: Tx, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`band formulas ${organizationId}`}, 0))`.execute(tx)
}

async function requireFreeName(tx: Tx, organizationId: string, name: string, exceptId: string | null): Promise<void> {
  const taken = await findNamed(tx, organizationId, name)
  if (taken && taken.id !== exceptId) throw problem('bad-request', `The organization already has a formula named '${taken.name}'`)
}
