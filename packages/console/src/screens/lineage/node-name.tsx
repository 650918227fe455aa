import type { ReactElement } from 'react'
import type { LineageEdge, LineageNode } from '../../api/contract.ts'
import { useNode } from './use-node.ts'

export const NodeName = ({ node, edges }: { node: LineageNode; edges: readonly LineageEdge[] }): ReactElement => (
  <>{useNode(node, edges).name}</>
)
