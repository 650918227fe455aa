import type { Tx } from '#db/tables.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as collections from './collection.ts'
import { softDeleteAll } from './item-delete.ts'
import * as maps from './map.ts'

/** Soft-deletes a project with everything in it, emits the items' events, and releases its storage. */
export async function endProject(
  tx: Tx,
  project: { id: string; organizationId: string },
  call: { invocationId: string; now: Date },
): Promise<{ storageBytes: number }> {
  const { storageBytes } = await projects.softDelete(tx, project.id, call.now)
  await organizations.forgetDefaultProject(tx, project.organizationId, project.id)
  await savedSearches.removeAllOf(tx, { projectId: project.id })
  await maps.removeAllOf(tx, { organizationId: project.organizationId, projectId: project.id })
  await collections.softDeleteAll(tx, project.id, call.now)
  await softDeleteAll(tx, project.id, call)
  await storageAccounts.move(tx, project.organizationId, -storageBytes)
  await invitations.withdrawAll(tx, project.id, call.now) // Otherwise invited users would join the organization for a deleted project.
  return { storageBytes }
}
