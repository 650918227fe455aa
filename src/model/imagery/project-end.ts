import type { Tx } from '#db/tables.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as collections from './collection.ts'
import { softDeleteAll } from './item-delete.ts'

/** Soft-deletes a project with everything in it, reports each item, and gives its storage back to the organization. */
export async function endProject(
  tx: Tx,
  found: { id: string; organizationId: string },
  call: { invocationId: string; now: Date },
): Promise<{ storageBytes: number }> {
  const { storageBytes } = await projects.softDelete(tx, found.id, call.now)
  await collections.softDeleteAll(tx, found.id, call.now)
  await softDeleteAll(tx, found.id, call)
  await storageAccounts.move(tx, found.organizationId, -storageBytes)
  await invitations.withdrawAll(tx, found.id, call.now) // Else somebody would join the organization for a project that is gone.
  return { storageBytes }
}
