import { isUuid } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import type { Principal } from '#core/principal.ts'
import * as projects from '#model/identity/project.ts'
import type { DecisionFilter } from '#model/orders/study.ts'

interface FilterInput {
  id?: string | null
  workspaceId?: string | null
  orderId?: string | null
}

/** Parses one or more decisions separated by commas; 422 for an unknown one. */
export function decisionsOf(text: string | null | undefined, known: readonly string[]): string[] | null {
  if (text == null) return null
  const decisions = text.split(',').map((part) => part.trim())
  if (!decisions.every((decision) => known.includes(decision))) throw invalidField('decision', `must be one of ${known.join(', ')}`)
  return decisions
}

/** Matches no row: a filter by an invalid ID gives an empty list. */
const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000'
export const filterId = (id: string | null | undefined): string | null => (id == null ? null : isUuid(id) ? id : UNKNOWN_ID)

/** Studies and quotations of a private project are visible only to its members. */
export async function filterOf(
  db: Parameters<typeof projects.hiddenFrom>[0],
  principal: Principal,
  { id, workspaceId, orderId }: FilterInput,
  { decisions, isReady }: { decisions: readonly string[] | null; isReady: boolean },
): Promise<DecisionFilter> {
  return {
    id: filterId(id),
    projectId: filterId(workspaceId),
    orderId: filterId(orderId),
    decisions,
    isReady,
    hiddenProjects: await projects.hiddenFrom(db, principal),
  }
}
