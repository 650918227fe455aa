/** Names the state of an item or a collection: the name changes whenever its tiles can, and only then or after other edits. */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '#db/tables.ts'

export type Versioned = { organizationId: string } & ({ itemSeq: number } | { collectionId: string })

/**
 * Counts and hashes what rendering reads: items, their files and their saved styles. Files that are only referred to can change without
 * a change here.
 */
export async function contentVersionOf(db: Db, of: Versioned): Promise<string> {
  const { organizationId } = of
  const target: RawBuilder<unknown> = 'itemSeq' in of ? sql`i.seq = ${of.itemSeq}` : sql`i.collection_id = ${of.collectionId}`
  const { rows } = await sql<{ version: string }>`
    select count(*) || ' ' || coalesce(bit_xor(hashtextextended(
      concat_ws(' ', i.seq, extract(epoch from i.updated_at), i.lifecycle_state, a.files, p.styles), 0)), 0) as version
    from item i
    left join lateral (
      select bit_xor(hashtextextended(concat_ws(' ', a.id, a.key, a.bucket, a.object_key, a.href, a.state, a.band_names::text, a.ordinal,
        extract(epoch from a.updated_at)), 0)) as files
      from asset a where a.item_seq = i.seq and a.org_id = i.org_id
    ) a on true
    left join lateral (
      select bit_xor(hashtextextended(concat_ws(' ', p.id, p.version, p.is_default, extract(epoch from p.updated_at)), 0)) as styles
      from visualization_profile p where p.item_seq = i.seq and p.org_id = i.org_id
    ) p on true
    where i.org_id = ${organizationId} and ${target} and i.deleted_at is null and i.lifecycle_state <> 'expired'
  `.execute(db)
  return rows[0]!.version
}
