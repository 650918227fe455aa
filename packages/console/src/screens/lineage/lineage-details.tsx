/** The selected node, its history, and all nodes as a list. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { LineageEdge, LineageNode } from '../../api/contract.ts'
import { shortId } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, copyText, LinkButton } from '../../ui/kit.ts'
import { entityType, words } from './entity-types.ts'
import { keyOf, nodeKey } from './lineage-layout.ts'
import { NodeName } from './node-name.tsx'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './lineage-details.module.css'
import ui from '../../ui/ui.module.css'

interface LineageDetailsParts {
  node: LineageNode
  graph: { nodes: readonly LineageNode[]; edges: readonly LineageEdge[] }
  onSelect(key: string): void
}

export function LineageDetails({ node, graph, onSelect }: LineageDetailsParts): ReactElement {
  const navigate = useNavigate()
  return (
    <aside className={classes(workspaceStyles.panel, workspaceStyles.right)} aria-label="Selected">
      <div className={workspaceStyles.scroll}>
        <div className={workspaceStyles.section}>
          <div className={classes(ui.flexRow, ui.gap12)}>
            <span className={ui.disc}>
              <Icon name={entityType(node.entity_type).icon} />
            </span>
            <div className={ui.grow}>
              <NodeName node={node} />
              <div className={classes(ui.mono, ui.faint, ui.breakAnywhere)}>{node.entity_id}</div>
            </div>
          </div>
          <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop12)}>
            {node.entity_type === 'item' && (
              <LinkButton size="s" to="/view/$item" params={{ item: node.entity_id }}>
                Open item
              </LinkButton>
            )}
            <Button
              size="s"
              onClick={() => void navigate({ to: '/lineage/$type/$id', params: { type: node.entity_type, id: node.entity_id } })}
            >
              Centre on this
            </Button>
            <Button size="s" icon="copy" onClick={() => void copyText(JSON.stringify(graph, null, 2), 'Lineage copied as JSON')}>
              Copy as JSON
            </Button>
          </div>
        </div>
        <History node={node} edges={graph.edges} onSelect={onSelect} />
        <div className={workspaceStyles.section}>
          <h3>All nodes</h3>
          <ul className={classes(ui.flexColumn, ui.gap4)}>
            {graph.nodes.map((other) => (
              <li key={nodeKey(other)}>
                <button type="button" className={classes(ui.asText, ui.flexRow, ui.gap6)} onClick={() => onSelect(nodeKey(other))}>
                  <Icon name={entityType(other.entity_type).icon} /> {entityType(other.entity_type).name}{' '}
                  <span className={ui.mono}>{shortId(other.entity_id)}</span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </aside>
  )
}

interface HistoryParts {
  node: LineageNode
  edges: readonly LineageEdge[]
  onSelect(key: string): void
}

/** The steps that made the node or used it. */
function History({ node, edges, onSelect }: HistoryParts): ReactElement {
  const steps = edges.flatMap(({ src_type, src_id, dst_type, dst_id, relation, invocation_id }) => {
    const [result, source] = [keyOf(src_type, src_id), keyOf(dst_type, dst_id)]
    const isResult = result === nodeKey(node)
    if (!isResult && source !== nodeKey(node)) return []
    const other = isResult ? { key: source, type: dst_type, id: dst_id } : { key: result, type: src_type, id: src_id }
    return [{ ...other, isResult, relation, invocation_id }]
  })
  return (
    <div className={workspaceStyles.section}>
      <h3>History</h3>
      {steps.length === 0 && <p className={ui.soft}>No steps</p>}
      <ol className={styles.steps}>
        {steps.map(({ key, type, id, isResult, relation, invocation_id }, index) => (
          <li key={index}>
            {isResult && <b>{words(relation)}</b>}
            <button type="button" className={ui.asLink} onClick={() => onSelect(key)}>
              {entityType(type).name} {shortId(id)}
            </button>
            {!isResult && <b>{relation.replaceAll('_', ' ')} this</b>}
            <span className={classes(ui.mono, ui.faint, ui.tiny)}>request {invocation_id}</span>
          </li>
        ))}
      </ol>
    </div>
  )
}
