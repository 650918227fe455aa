import type { LineageEdge, LineageNode } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { tileOf } from '../../ui/auth-image.tsx'
import { date, shortId } from '../../ui/format.ts'
import { typeText } from '../../state/item-type.ts'
import { entityType, words } from './entity-types.ts'

interface NodeInfo {
  name: string
  /** What it is, and of when. */
  detail: string
  thumbnail: string | null
}

const STALE_MS = 60_000

/** What users call a node, in place of its ID; what was deleted or has no name has its type and ID. */
export function useNode({ entity_type: type, entity_id: id }: LineageNode, edges: readonly LineageEdge[]): NodeInfo {
  const projectId = edges.find((edge) => edge.src_id === id && edge.dst_type === 'project')?.dst_id ?? ''
  const item = useOp('items.get', { item_id: id }, { enabled: type === 'item', staleTime: STALE_MS }).data?.item
  const project = useOp('projects.get', { project_id: id }, { enabled: type === 'project', staleTime: STALE_MS }).data
  const order = useOp('orders.get', { id }, { enabled: type === 'order', staleTime: STALE_MS }).data
  const job = useOp('processing.job.get', { job_id: id }, { enabled: type === 'processing_job', staleTime: STALE_MS }).data?.job
  const collection = useOp(
    'collections.get',
    { project_id: projectId, collection_id: id },
    { enabled: type === 'collection' && projectId !== '', staleTime: STALE_MS },
  ).data
  const { name } = entityType(type)
  if (item)
    return {
      name: item.name,
      detail: item.datetime === null ? typeText(item.type) : `${typeText(item.type)}, ${date(item.datetime)}`,
      thumbnail: tileOf(`/api/v1/items/${encodeURIComponent(id)}`, item.bbox),
    }
  const other = project ?? collection
  if (other) return { name: other.name, detail: `${name}, ${date(other.created_at)}`, thumbnail: null }
  if (order) return { name: order.displayName, detail: `${name}, ${date(order.createdAt)}`, thumbnail: null }
  if (job) return { name: words(job.job_type), detail: `${name}, ${date(job.created_at)}`, thumbnail: null }
  return { name: `${name} ${shortId(id)}`, detail: name, thumbnail: null }
}
