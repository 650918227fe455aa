import { sql, type Kysely } from 'kysely'

/** Size of metadata, storage reservations per file, and bytes sent without a new download. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table item add column metadata_bytes integer not null
      generated always as (octet_length(properties::text) + coalesce(octet_length(geometry::text), 0)) stored;
    create index item_heavy on item (org_id) where metadata_bytes > 16384 and deleted_at is null;

    with heavy as (
      select project_id, sum(metadata_bytes - 4096) as bytes from item where metadata_bytes > 4096
        and deleted_at is null group by project_id
    )
    update project p set storage_bytes = storage_bytes + h.bytes from heavy h where p.id = h.project_id and p.deleted_at is null;
    with heavy as (
      select i.org_id, sum(i.metadata_bytes - 4096) as bytes from item i join project p on p.id = i.project_id
      where i.metadata_bytes > 4096 and i.deleted_at is null and p.deleted_at is null group by i.org_id
    )
    update storage_account s set used_bytes = used_bytes + h.bytes from heavy h where s.org_id = h.org_id;

    alter table upload_file add column reserved_bytes bigint not null default 0 check (reserved_bytes >= 0);

    alter table egress_minute drop constraint egress_minute_starts_check;
    alter table egress_minute add constraint egress_minute_starts_check check (starts >= 0);
  `.execute(db)
}
