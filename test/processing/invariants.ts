/** What must hold of jobs once all have ended, whoever was killed on the way. Each line says what breaks its rule. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { violations } from '../faults/invariants.ts'
import type { World } from '../support/world.ts'

const RULES: Record<string, string> = {
  'a job has ended, completed or failed': `
    select id || ' ' || status as what from processing_job where status not in ('completed', 'failed')`,
  'each step of a job is told once, and no step that it has not taken': `
    select j.id || ' ' || j.status || ': ' || coalesce(t.told, 'nothing') as what from processing_job j left join (
      select entity_id, string_agg(type || ' ' || n, ', ' order by type) as told
      from (select entity_id, type, count(*) as n from event where type like 'job.%' group by entity_id, type) c group by entity_id
    ) t on t.entity_id = j.id::text
    where t.told is distinct from case j.status
      when 'completed' then 'job.captured 1, job.completed 1, job.created 1, job.started 1'
      else 'job.created 1, job.failed 1, job.released 1, job.started 1' end`,
  'a completed job has captured what it reserved, a failed one nothing, and its reservation says the same': `
    select j.id::text as what from processing_job j left join reservation r on r.reference_type = 'processing_job'
      and r.reference_id = j.id::text
    where j.captured_credits is distinct from (case j.status when 'completed' then j.reserved_credits else 0 end)
      or r.state is distinct from (case j.status when 'completed' then 'captured' else 'released' end)
      or r.captured_credits is distinct from j.captured_credits`,
  'a completed job has its items, and nobody else has items': `
    select j.id || ' ' || j.status as what from processing_job j left join (
      select job_id, array_agg(id order by id) as ids from item where deleted_at is null and job_id is not null group by job_id
    ) i on i.job_id = j.id::text
    where (select coalesce(array_agg(o order by o), '{}') from unnest(j.output_item_ids) as o) is distinct from coalesce(i.ids, '{}')
      or (j.status = 'completed') <> (cardinality(j.output_item_ids) > 0)`,
  'an item of a job has all files that the job says, all ready': `
    select i.id::text as what from item i join processing_job j on j.id::text = i.job_id left join (
      select item_seq, string_agg(key || ' ' || file_size_bytes || ' ' || state, ', ' order by key) as files from asset group by item_seq
    ) a on a.item_seq = i.seq
    where a.files is distinct from (
      select string_agg((f->>'key') || ' ' || (f->>'size_bytes') || ' ready', ', ' order by f->>'key')
      from jsonb_array_elements(j.output_artifacts->'items') m, jsonb_array_elements(m->'assets') f
      where m->>'item_id' = i.id::text)`,
  'an item of a job came from it and from its sources': `
    select i.id::text as what from item i join processing_job j on j.id::text = i.job_id
    where (select count(*) from lineage_node n join lineage_edge e on e.src_seq = n.seq where n.entity_type = 'item'
      and n.entity_id = i.id::text) <> 1 + cardinality(j.source_item_ids)`,
}

/** After the sweep: objects and assets are the same set, and no half-written file is left on this machine. */
export async function jobViolations(w: World): Promise<string[]> {
  const broken = (await violations(w.db)).map(({ rule, what }) => `${rule}: ${what}`)
  for (const [rule, text] of Object.entries(RULES))
    for (const { what } of (await sql<{ what: string }>`${sql.raw(text)}`.execute(w.db)).rows) broken.push(`${rule}: ${what}`)
  const assets = await w.db.selectFrom('asset').select(['bucket', 'object_key as key', 'file_size_bytes as size']).execute()
  const owned = new Map(assets.map(({ bucket, key, size }) => [`${bucket}/${key}`, size]))
  const stored = await objects(w)
  for (const [name, size] of owned)
    if (stored.get(name) !== size) broken.push(`an asset of ${size} bytes, stored ${stored.get(name)}: ${name}`)
  for (const name of stored.keys()) if (!owned.has(name)) broken.push(`an object without an owner: ${name}`)
  for (const folder of ['objects/.incoming', 'work'].map((name) => path.join(w.dataDir, name)))
    if (existsSync(folder)) broken.push(...readdirSync(folder).map((name) => `a rest in ${folder}: ${name}`))
  return broken
}

async function objects({ db, storage }: World): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const buckets = await db.selectFrom('project').select('bucket_name as bucket').where('bucket_name', 'is not', null).execute()
  for (const { bucket } of buckets) {
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof storage.list>> = await storage.list(bucket!, { cursor })
      for (const { key, size } of page.objects) counts.set(`${bucket}/${key}`, size)
      cursor = page.next
    } while (cursor !== null)
  }
  return counts
}
