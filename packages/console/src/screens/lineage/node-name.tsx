import type { ReactElement } from 'react'
import type { LineageNode } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { entityType } from './entity-types.ts'
import ui from '../../ui/ui.module.css'

/** The name of an item or project; the type of anything else. */
export function NodeName({ node: { entity_type: type, entity_id: id } }: { node: LineageNode }): ReactElement {
  const item = useOp('items.get', { item_id: id }, { enabled: type === 'item', staleTime: 60_000 })
  const project = useOp('projects.get', { project_id: id }, { enabled: type === 'project', staleTime: 60_000 })
  return <b className={ui.ellipsis}>{item.data?.item.name ?? project.data?.name ?? entityType(type).name}</b>
}
