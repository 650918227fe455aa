/** The graph: nodes are buttons in the lane of their kind, arrows lead from a source to what was made of it. */
import { useEffect, useRef, type ReactElement, type Ref } from 'react'
import type { LineageEdge, LineageNode } from '../../api/contract.ts'
import { AuthImage } from '../../ui/auth-image.tsx'
import { plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { arrowText, entityType } from './entity-types.ts'
import { NODE_HEIGHT, NODE_WIDTH, pathOf, type LineageLayout } from './lineage-layout.ts'
import { useNode } from './use-node.ts'
import { classes } from '../../ui/classes.ts'
import styles from './lineage-graph.module.css'
import ui from '../../ui/ui.module.css'

interface LineageGraphParts {
  layout: LineageLayout
  edges: readonly LineageEdge[]
  /** Number of files that are folded into a node, by its key. */
  files: ReadonlyMap<string, number>
  selected: string
  onSelect(key: string): void
}

const MIN_SIDE = 300

export function LineageGraph({ layout, edges, files, selected, onSelect }: LineageGraphParts): ReactElement {
  const selectedNode = useRef<HTMLButtonElement>(null)
  // A graph is larger than a phone: it opens where the selected node is.
  useEffect(() => {
    // Newer browsers return a promise, which an effect must not return.
    void selectedNode.current?.scrollIntoView({ block: 'center', inline: 'center' })
  }, [layout])
  const width = Math.max(layout.width, MIN_SIDE)
  return (
    <div className={styles.graph} style={{ width, height: layout.height }}>
      {layout.lanes.map(({ title, top, height }) => (
        <div key={title} className={styles.lane} style={{ top, height }}>
          <span>{title}</span>
        </div>
      ))}
      <Lines layout={layout} selected={selected} />
      {layout.nodes.map((node) => (
        <Node
          key={node.key}
          ref={node.key === selected ? selectedNode : undefined}
          node={node}
          at={node}
          edges={edges}
          fileCount={files.get(node.key) ?? 0}
          isSelected={node.key === selected}
          onSelect={() => onSelect(node.key)}
        />
      ))}
    </div>
  )
}

interface NodeParts {
  ref: Ref<HTMLButtonElement> | undefined
  node: LineageNode
  /** The centre of its box. */
  at: { x: number; y: number }
  edges: readonly LineageEdge[]
  fileCount: number
  isSelected: boolean
  onSelect(): void
}

function Node({ ref, node, at, edges, fileCount, isSelected, onSelect }: NodeParts): ReactElement {
  const { icon, colour } = entityType(node.entity_type)
  const { name, detail, thumbnail } = useNode(node, edges)
  const about = fileCount > 0 ? `${detail}, ${plural(fileCount, 'file')}` : detail
  return (
    <button
      ref={ref}
      type="button"
      className={classes(styles.node, isSelected && styles.selected)}
      style={{ left: at.x - NODE_WIDTH / 2, top: at.y - NODE_HEIGHT / 2, width: NODE_WIDTH, height: NODE_HEIGHT, '--k': colour }}
      aria-pressed={isSelected}
      title={`${name}\n${about}`}
      onClick={onSelect}
    >
      <i className={styles.icon}>
        <Icon name={icon} />
        {thumbnail && <AuthImage path={thumbnail} alt="" />}
      </i>
      <span className={styles.text}>
        <b className={ui.ellipsis}>{name}</b>
        <span className={classes(ui.soft, ui.tiny, ui.ellipsis)}>{about}</span>
      </span>
    </button>
  )
}

const LABEL_GAP = 12

function Lines({ layout: { lines, width, height }, selected }: Pick<LineageGraphParts, 'layout' | 'selected'>): ReactElement {
  return (
    <svg className={styles.lines} width={width} height={height} aria-hidden="true">
      {lines.map(({ from, to, relation, points }, index) => {
        const isNear = from.key === selected || to.key === selected
        const colour = isNear ? 'var(--accent)' : 'var(--line-strong)'
        const end = points.at(-1)!
        return (
          <g key={index}>
            <path d={pathOf(points)} fill="none" stroke={colour} strokeWidth={isNear ? 2 : 1.3} />
            <path d={`M${end.x - 7} ${end.y - 4}l7 4l-7 4z`} fill={colour} />
            <text className={styles.relation} x={end.x - LABEL_GAP} y={end.y + 3} textAnchor="end">
              {arrowText(relation)}
            </text>
          </g>
        )
      })}
    </svg>
  )
}
