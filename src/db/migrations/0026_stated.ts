import { sql, type Kysely } from 'kysely'

/**
 * What an item's own properties say of its title, name and times. STAC shows it instead of what the platform says, and so searches
 * must find it: in columns, because reading the properties of every item takes too long.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db) // Ten million items take some minutes.
  // An offset is required, so the result depends on no setting; answers show milliseconds, so finer digits are cut off.
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
