import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** The oldest version that can run on the schema, and positions of events that survive a restore into another cluster. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- One row once a contracting migration has run: the migration that a version must contain to start.
    create table schema_floor (
      id boolean primary key default true check (id),
      migration text not null
    );

    -- Transaction IDs start again in a new cluster. They are counted from here, so that events of a restored database keep their
    -- order and come before all new ones. Each row is an epoch, a cluster in which the database has lived; the last one applies.
    create table event_epoch (
      epoch integer primary key,
      first_txid bigint not null check (first_txid >= 0),
      -- Of the cluster; null if the role cannot read it.
      system_identifier text,
      began_at timestamptz not null
    );
    insert into event_epoch (epoch, first_txid, began_at) values (1, 0, now());

    create function event_epoch_start() returns bigint language sql stable
      begin atomic select first_txid from event_epoch order by epoch desc limit 1; end;
    create function event_position() returns xid8 language sql volatile
      begin atomic select (pg_current_xact_id()::text::numeric + event_epoch_start())::text::xid8; end;
    alter table event alter column txid set default event_position();
  `.execute(db)
}
