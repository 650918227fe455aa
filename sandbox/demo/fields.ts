/** Demo values for fields of examples, so that the examples of the reference work on the demo unchanged. */
import type { Db } from '#db/tables.ts'
import { DEMO_EMAIL } from './account.ts'
import { COLLECTIONS, SCENES } from './scenes.ts'

/** By field name; values that do not exist are omitted. */
export async function demoFields(db: Db): Promise<Record<string, string>> {
  const project = await db
    .selectFrom('project')
    .innerJoin('organization_member', 'organization_member.org_id', 'project.org_id')
    .innerJoin('app_user', 'app_user.id', 'organization_member.user_id')
    .where('app_user.email', '=', DEMO_EMAIL)
    .where('project.name', '=', 'Demo')
    .where('project.deleted_at', 'is', null)
    .select(['project.id', 'project.org_id'])
    .orderBy('project.created_at')
    .limit(1)
    .executeTakeFirst()
  if (!project) return {}
  const item = await db
    .selectFrom('item')
    .where('project_id', '=', project.id)
    .where('name', '=', SCENES[0]!.name)
    .where('deleted_at', 'is', null)
    .select(['id', 'seq'])
    .limit(1)
    .executeTakeFirst()
  const collection = await db
    .selectFrom('collection')
    .where('project_id', '=', project.id)
    .where('name', '=', COLLECTIONS.seasons.name)
    .where('deleted_at', 'is', null)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  const ofItem = (table: 'asset' | 'visualization_profile') =>
    item && db.selectFrom(table).where('item_seq', '=', item.seq).select('id').orderBy('id').limit(1).executeTakeFirst()
  const rule =
    collection && (await db.selectFrom('alert_rule').where('collection_id', '=', collection.id).select('id').limit(1).executeTakeFirst())
  const job = await db
    .selectFrom('processing_job')
    .where('project_id', '=', project.id)
    .select('id')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  const fields = {
    project_id: project.id,
    workspaceId: project.id,
    organization_id: project.org_id,
    item_id: item?.id,
    collection_id: collection?.id,
    asset_id: (await ofItem('asset'))?.id,
    profile_id: (await ofItem('visualization_profile'))?.id,
    rule_id: rule?.id,
    job_id: job?.id,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Record<string, string>
}
