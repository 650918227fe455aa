// Goal: what crosses shards is found in the schema and in statements; the committed list may only shrink, and its length is documented.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#db/open.ts'
import { createDatabase } from '../test/support/database.ts'
import { compared, normalized, onTenants, schemaCrossings, statementCrossings, type Crossings } from './shards/crossings.ts'

const folder = path.join(import.meta.dirname, 'shards')
const listed = JSON.parse(readFileSync(path.join(folder, 'crossings.json'), 'utf8')) as Crossings
const recorded = readFileSync(path.join(folder, 'statements.txt'), 'utf8').split('\n').filter(Boolean)

test('statements', () => {
  assert.equal(normalized('select "id" from "item"\n  where "id" in ($1, $2, $3) -- why'), 'select id from item where id in ($)')
  assert.equal(normalized('insert into "asset" ("a") values ($1, $2), ($3, $4)'), 'insert into asset (a) values ($)')
  const texts = [
    'select id from item where id = $',
    'select id from item where org_id = $ and id = $',
    'select id from app_user where email = $',
    'select 1 from only public.project x where id = $ for key share of x',
  ]
  assert.deepEqual(onTenants(texts), [texts[0], texts[1], texts[3]])
  assert.deepEqual(statementCrossings(texts), [texts[0], texts[3]])
})

test('the record of the decision states how long the list is', () => {
  const { tables, unique_keys, foreign_keys, statements } = listed
  const stated =
    `the list has ${tables.length} tables, ${unique_keys.length} unique keys, ${foreign_keys.length} foreign keys and ` +
    `${statements.length} of ${recorded.length} recorded statements`
  const text = readFileSync(path.join(path.dirname(import.meta.dirname), 'docs/adr/0058-shards.md'), 'utf8')
  assert.ok(text.includes(stated), `docs/adr/0058-shards.md must say: ${stated}`)
})

test('the schema, and the list', async (t) => {
  const database = await createDatabase()
  const { db, close } = openDatabase(database.url)
  t.after(async () => {
    await close()
    await database.drop()
  })
  const found = { ...(await schemaCrossings(db)), statements: statementCrossings(recorded) }
  assert.deepEqual(compared(listed, found), { added: [], gone: [] })
  assert.ok(!found.unique_keys.some((key) => key.startsWith('job_part ')), 'a key with org_id stays on its shard')

  await sql`alter table job_part add constraint alone unique (job_id), add foreign key (job_id) references processing_job (id)`.execute(db)
  await sql`alter table kept_file drop column org_id cascade`.execute(db)
  const { added } = compared(listed, { ...(await schemaCrossings(db)), statements: [...found.statements, 'delete from item'] })
  assert.ok(added.includes('tables: kept_file'))
  assert.ok(added.includes('unique_keys: job_part (job_id)'))
  assert.ok(added.includes('foreign_keys: job_part.job_part_job_id_fkey'))
  assert.ok(added.includes('statements: delete from item'))
})
