import * as identity from './migrations/0001_identity.ts'
import * as pipeline from './migrations/0002_pipeline.ts'
import * as catalogue from './migrations/0003_catalogue.ts'
import * as secrets from './migrations/0004_secrets.ts'
import * as usage from './migrations/0005_usage.ts'
import * as uploads from './migrations/0006_uploads.ts'
import * as visualization from './migrations/0007_visualization.ts'
import * as shares from './migrations/0008_shares.ts'
import * as ledger from './migrations/0009_ledger.ts'
import * as billing from './migrations/0010_billing.ts'
import * as doors from './migrations/0011_doors.ts'
import * as limits from './migrations/0012_limits.ts'
import * as accessNotices from './migrations/0013_access_notices.ts'
import * as stac from './migrations/0014_stac.ts'
import * as licences from './migrations/0015_licences.ts'
import * as orders from './migrations/0016_orders.ts'
import * as events from './migrations/0017_events.ts'
import * as processing from './migrations/0018_processing.ts'
import * as analytics from './migrations/0019_analytics.ts'
import * as uploadList from './migrations/0020_upload_list.ts'
import * as clouds from './migrations/0021_clouds.ts'
import * as money from './migrations/0022_money.ts'
import * as turns from './migrations/0023_turns.ts'
import * as watchers from './migrations/0024_watchers.ts'
import * as uploadParts from './migrations/0025_upload_parts.ts'
import * as stated from './migrations/0026_stated.ts'
import * as accruals from './migrations/0027_accruals.ts'
import * as jobResponses from './migrations/0028_job_responses.ts'
import * as uploadPositions from './migrations/0029_upload_positions.ts'
import * as vendorHosts from './migrations/0031_vendor_hosts.ts'
import * as savedScenes from './migrations/0032_saved_scenes.ts'
import * as hostResponseTimes from './migrations/0033_host_response_times.ts'
import * as vendorCharges from './migrations/0034_vendor_charges.ts'
import * as schemaFloor from './migrations/0035_schema_floor.ts'
import * as assetOrder from './migrations/0037_asset_order.ts'
import * as vendorAccounts from './migrations/0038_vendor_accounts.ts'
import * as vendorAccountIndex from './migrations/0039_vendor_account_index.ts'
import * as vendorAccountConstraint from './migrations/0040_vendor_account_constraint.ts'
import * as auditCounts from './migrations/0042_audit_counts.ts'
import * as partitions from './migrations/0043_partitions.ts'
import * as replicaMarks from './migrations/0044_replica_marks.ts'
import * as accessTables from './migrations/0045_access_tables.ts'
import * as installation from './migrations/0046_installation.ts'
import * as erasure from './migrations/0047_erasure.ts'
import * as largeUploads from './migrations/0048_large_uploads.ts'
import * as jobParts from './migrations/0049_job_parts.ts'
import * as traceLinks from './migrations/0050_trace_links.ts'
import * as publicLinks from './migrations/0051_public_links.ts'
import * as secondFactors from './migrations/0052_second_factors.ts'
import * as accountSettings from './migrations/0053_account_settings.ts'
import * as singleSignOn from './migrations/0054_single_sign_on.ts'
import * as defaultProject from './migrations/0055_default_project.ts'
import * as reportedScenes from './migrations/0056_reported_scenes.ts'
import * as orderDrafts from './migrations/0057_order_drafts.ts'
import * as mapBackdrops from './migrations/0058_map_backdrops.ts'
import * as maps from './migrations/0059_maps.ts'
import * as mapLinks from './migrations/0060_map_links.ts'
import * as unfinishedGroups from './migrations/0061_unfinished_groups.ts'
import * as mapComments from './migrations/0064_map_comments.ts'
import * as erasing from './migrations/0065_erasing.ts'
import { runMigrations, schemaStatus, type Migration } from './migration-runner.ts'
import type { Db } from './tables.ts'

/** In order, by name. Never edit a migration that has run anywhere: add the next one. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001_identity': identity,
  '0002_pipeline': pipeline,
  '0003_catalogue': catalogue,
  '0004_secrets': secrets,
  '0005_usage': usage,
  '0006_uploads': uploads,
  '0007_visualization': visualization,
  '0008_shares': shares,
  '0009_ledger': ledger,
  '0010_billing': billing,
  '0011_doors': doors,
  '0012_limits': limits,
  '0013_access_notices': accessNotices,
  '0014_stac': stac,
  '0015_licences': licences,
  '0016_orders': orders,
  '0017_events': events,
  '0018_processing': processing,
  '0019_analytics': analytics,
  '0020_upload_list': uploadList,
  '0021_clouds': clouds,
  '0022_money': money,
  '0023_turns': turns,
  '0024_watchers': watchers,
  '0025_upload_parts': uploadParts,
  '0026_stated': stated,
  '0027_accruals': accruals,
  '0028_job_responses': jobResponses,
  '0029_upload_positions': uploadPositions,
  '0031_vendor_hosts': vendorHosts,
  '0032_saved_scenes': savedScenes,
  '0033_host_response_times': hostResponseTimes,
  '0034_vendor_charges': vendorCharges,
  '0035_schema_floor': schemaFloor,
  '0037_asset_order': assetOrder,
  '0038_vendor_accounts': vendorAccounts,
  '0039_vendor_account_index': vendorAccountIndex,
  '0040_vendor_account_constraint': vendorAccountConstraint,
  '0042_audit_counts': auditCounts,
  '0043_partitions': partitions,
  '0044_replica_marks': replicaMarks,
  '0045_access_tables': accessTables,
  '0046_installation': installation,
  '0047_erasure': erasure,
  '0048_large_uploads': largeUploads,
  '0049_job_parts': jobParts,
  '0050_trace_links': traceLinks,
  '0051_public_links': publicLinks,
  '0052_second_factors': secondFactors,
  '0053_account_settings': accountSettings,
  '0054_single_sign_on': singleSignOn,
  '0055_default_project': defaultProject,
  '0056_reported_scenes': reportedScenes,
  '0057_order_drafts': orderDrafts,
  '0058_map_backdrops': mapBackdrops,
  '0059_maps': maps,
  '0060_map_links': mapLinks,
  '0061_unfinished_groups': unfinishedGroups,
  '0064_map_comments': mapComments,
  '0065_erasing': erasing,
}

interface MigrateOptions {
  /** `all` includes contracting migrations, which the previous version cannot run on; a new database always gets them. */
  phase?: 'expand' | 'all'
  onWaiting?: (line: string) => void
}

/**
 * Migrates the database. Any number of processes can start at once: one migrates, the others wait as long as it takes and have nothing
 * to do.
 */
export async function migrate(db: Db, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  return { applied: await runMigrations(db, MIGRATIONS, options) }
}

/** Contracting migrations that wait for an operator. */
export async function pendingContractions(db: Db): Promise<string[]> {
  return (await schemaStatus(db, MIGRATIONS)).pending.filter((name) => MIGRATIONS[name]!.kind === 'contract')
}
