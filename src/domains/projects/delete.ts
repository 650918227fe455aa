import Type from 'typebox'
import { Closed, Uuid } from '#core/shapes.ts'
import * as collection from '#model/imagery/collection.ts'
import * as invitation from '#model/identity/invitation.ts'
import { softDeleteAll } from '#model/imagery/item-delete.ts'
import * as project from '#model/identity/project.ts'
import * as storageAccount from '#model/plans/storage-account.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROJECT } from '#wire/project.ts'

/** Soft-deletes a project with everything in it and returns its storage to the organization. */
export default operation({
  id: 'projects.delete',
  scope: 'projects:write',
  tier: 'destructive',
  events: ['item.deleted'],
  input: Closed({ project_id: Uuid }),
  output: Closed({ deleted: Type.Literal(true), project_id: Uuid, storage_freed_bytes: Type.Integer() }),
  example: { input: { project_id: EXAMPLE_PROJECT.id }, output: { deleted: true, project_id: EXAMPLE_PROJECT.id, storage_freed_bytes: 0 } },
}).handle({
  async check({ db, principal }, { project_id }) {
    return await project.requireRole(db, principal, project_id, 'admin')
  },
  async execute({ tx, clock, invocationId, attributeTo }, _input, found) {
    attributeTo(found.organizationId)
    const now = clock.now()
    const { storageBytes } = await project.softDelete(tx, found.id, now)
    await collection.softDeleteAll(tx, found.id, now)
    await softDeleteAll(tx, found.id, { invocationId, now })
    await storageAccount.move(tx, found.organizationId, -storageBytes)
    await invitation.withdrawAll(tx, found.id, now) // Else somebody would join the organization for a project that is gone.
    return { deleted: true as const, project_id: found.id, storage_freed_bytes: storageBytes }
  },
})
