import { sql, type Kysely } from 'kysely'

/**
 * Title, name and times from an item's own properties. STAC shows them instead of the service's own, so searches must find them: in
 * columns, because reading the properties of every item takes too long.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db) // Ten million items take some minutes.
  // An offset is required, so the result does not depend on settings; responses show milliseconds, so further digits are cut off.
  await sql`
    create function stated_instant(value jsonb) returns timestamptz language plpgsql immutable strict parallel safe as $$
    declare
      written text := value #>> '{}';
    begin
      if jsonb_typeof(value) <> 'string' or left(written, 4) = '0000'
        or written !~* '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:[0-5]\\d)$' then
        return null;
      end if;
      return upper(regexp_replace(written, '(\\.\\d{3})\\d+', '\\1'))::timestamptz;
    exception when data_exception then
      return null;
    end
    $$
  `.execute(db)
  await sql`
    alter table item
      add column stated_title text generated always as (properties ->> 'title') stored,
      add column stated_name text generated always as (properties ->> 'name') stored,
      add column stated_created timestamptz generated always as (stated_instant(properties -> 'created')) stored,
      add column stated_updated timestamptz generated always as (stated_instant(properties -> 'updated')) stored
  `.execute(db)
}
