import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import type { Entity } from './lineage.ts'

interface NameRow {
  type: string
  id: string
  name: string | null
}

/** Of artifacts, for one look-up. */
export const nameKey = ({ type, id }: Entity): string => `${type} ${id}`

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What users call artifacts that the caller can see, by `nameKey`; deleted ones keep their names. Some have none, such as share links. */
export async function namesOf(db: Db, organizationId: string, entities: readonly Entity[]): Promise<ReadonlyMap<string, string>> {
  const ids = (type: Entity['type']) => entities.filter((entity) => entity.type === type).map(({ id }) => id)
  const uuids = (type: Entity['type']) => ids(type).filter((id) => UUID.test(id))
  const { rows } = await sql<NameRow>`
    select 'item' as type, id, name from item where org_id = ${organizationId} and id = any(${ids('item')}::text[])
    union all select 'project', id::text, name from project where id = any(${uuids('project')}::uuid[])
    union all select 'collection', id::text, name from collection where id = any(${uuids('collection')}::uuid[])
    union all select 'order', id::text, display_name from imagery_order where id = any(${uuids('order')}::uuid[])
    union all select 'processing_job', id::text, job_type from processing_job where id = any(${uuids('processing_job')}::uuid[])
    union all select 'asset', id::text, coalesce(title, key) from asset where id = any(${uuids('asset')}::uuid[])
  `.execute(db)
  return new Map(rows.flatMap(({ type, id, name }) => (name ? [[`${type} ${id}`, name] as const] : [])))
}
