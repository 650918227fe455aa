/** The selected node with its history, and all steps as a table: the graph in words. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { LineageEdge, LineageNode } from '../../api/contract.ts'
import { AuthImage } from '../../ui/auth-image.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Button, copyText, LinkButton } from '../../ui/kit.ts'
import { arrowText, entityType, words } from './entity-types.ts'
import { keyOf, nodeKey } from './lineage-layout.ts'
import { NodeName } from './node-name.tsx'
import { useNode } from './use-node.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './lineage-details.module.css'
import ui from '../../ui/ui.module.css'

interface Graph {
  nodes: readonly LineageNode[]
  edges: readonly LineageEdge[]
}

interface LineageDetailsParts {
  node: LineageNode
  /** What the graph shows. */
  shown: Graph
  /** With everything that is folded. */
  graph: Graph
  onSelect(key: string): void
}

export function LineageDetails({ node, shown, graph, onSelect }: LineageDetailsParts): ReactElement {
  const navigate = useNavigate()
  const { name, detail, thumbnail } = useNode(node, graph.edges)
  return (
    <aside className={classes(workspaceStyles.panel, workspaceStyles.right)} aria-label="Selected">
      <div className={workspaceStyles.scroll}>
        <div className={workspaceStyles.section}>
          <div className={classes(ui.flexRow, ui.gap12)}>
            <span className={thumbnail ? styles.thumbnail : ui.disc}>
              {thumbnail ? <AuthImage path={thumbnail} alt="" /> : <Icon name={entityType(node.entity_type).icon} />}
            </span>
            <div className={ui.grow}>
              <h2 className={styles.name}>{name}</h2>
              <div className={classes(ui.soft, ui.small)}>{detail}</div>
              <div className={classes(ui.mono, ui.faint, ui.tiny, ui.breakAnywhere)}>{node.entity_id}</div>
            </div>
          </div>
          <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop12)}>
            <OpenNode node={node} />
            {node.depth > 0 && isTraced(node.entity_type) && (
              <Button
                size="s"
                onClick={() => void navigate({ to: '/lineage/$type/$id', params: { type: node.entity_type, id: node.entity_id } })}
              >
                Centre on this
              </Button>
            )}
            <Button size="s" icon="copy" onClick={() => void copyText(JSON.stringify(graph, null, 2), 'Lineage copied as JSON')}>
              Copy as JSON
            </Button>
          </div>
        </div>
        <History node={node} edges={shown.edges} onSelect={onSelect} />
        <Steps shown={shown} selected={nodeKey(node)} onSelect={onSelect} />
      </div>
    </aside>
  )
}

/** Files, share links and reports have no lineage of their own. */
const isTraced = (type: string) => ['item', 'order', 'processing_job', 'collection', 'project'].includes(type)

function OpenNode({ node: { entity_type: type, entity_id: id } }: { node: LineageNode }): ReactElement | null {
  if (type === 'item')
    return (
      <LinkButton size="s" to="/view/$item" params={{ item: id }}>
        Open item
      </LinkButton>
    )
  if (type === 'order')
    return (
      <LinkButton size="s" to="/orders/$id" params={{ id }}>
        Open order
      </LinkButton>
    )
  if (type === 'processing_job')
    return (
      <LinkButton size="s" to="/jobs/$id" params={{ id }}>
        Open job
      </LinkButton>
    )
  if (type === 'project')
    return (
      <LinkButton size="s" to="/library/$project" params={{ project: id }}>
        Open project
      </LinkButton>
    )
  return null
}

const ends = ({ src_type, src_id, dst_type, dst_id }: LineageEdge) => ({
  result: { entity_type: src_type, entity_id: src_id, depth: 0 },
  source: { entity_type: dst_type, entity_id: dst_id, depth: 0 },
})

interface HistoryParts {
  node: LineageNode
  edges: readonly LineageEdge[]
  onSelect(key: string): void
}

/** The steps that made the node or used it. */
function History({ node, edges, onSelect }: HistoryParts): ReactElement {
  const steps = edges.flatMap((edge) => {
    const { result, source } = ends(edge)
    const isResult = nodeKey(result) === nodeKey(node)
    if (!isResult && nodeKey(source) !== nodeKey(node)) return []
    return [{ other: isResult ? source : result, isResult, edge }]
  })
  return (
    <div className={workspaceStyles.section}>
      <h3>History</h3>
      {steps.length === 0 && <p className={ui.soft}>No steps</p>}
      <ol className={styles.steps}>
        {steps.map(({ other, isResult, edge: { relation, invocation_id } }, index) => (
          <li key={index}>
            <b>{isResult ? words(relation) : words(arrowText(relation))}</b>
            <button type="button" className={ui.asLink} onClick={() => onSelect(nodeKey(other))}>
              <NodeName node={other} edges={edges} />
            </button>
            <span className={classes(ui.mono, ui.faint, ui.tiny)}>request {invocation_id}</span>
          </li>
        ))}
      </ol>
    </div>
  )
}

interface StepsParts {
  shown: Graph
  selected: string
  onSelect(key: string): void
}

/** Every arrow as a row: from its source to its result. */
function Steps({ shown: { edges }, selected, onSelect }: StepsParts): ReactElement | null {
  if (edges.length === 0) return null
  const cell = (node: LineageNode) => (
    <button
      type="button"
      className={ui.asLink}
      aria-current={nodeKey(node) === selected || undefined}
      onClick={() => onSelect(nodeKey(node))}
    >
      <NodeName node={node} edges={edges} />
    </button>
  )
  return (
    <div className={workspaceStyles.section}>
      <h3>All steps</h3>
      <table className={styles.table} aria-label="All steps">
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col">Step</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {edges.map((edge) => {
            const { result, source } = ends(edge)
            return (
              <tr key={`${keyOf(edge.src_type, edge.src_id)} ${edge.relation} ${keyOf(edge.dst_type, edge.dst_id)}`}>
                <td>{cell(source)}</td>
                <td className={ui.soft}>{arrowText(edge.relation)}</td>
                <td>{cell(result)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
