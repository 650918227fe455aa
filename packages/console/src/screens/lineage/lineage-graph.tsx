/** The graph: nodes are buttons, lines lead from a source to what was made of it. */
import { useEffect, useRef, type ReactElement } from 'react'
import { shortId } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { entityType, words } from './entity-types.ts'
import { NODE_HEIGHT, NODE_WIDTH, pathOf, type LineageLayout } from './lineage-layout.ts'
import { NodeName } from './node-name.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './lineage-graph.module.css'
import ui from '../../ui/ui.module.css'

interface LineageGraphParts {
  layout: LineageLayout
  selected: string
  onSelect(key: string): void
}

export function LineageGraph({ layout, selected, onSelect }: LineageGraphParts): ReactElement {
  const selectedNode = useRef<HTMLButtonElement>(null)
  // A graph is larger than a phone: it opens where the selected node is.
  useEffect(() => {
    // Newer browsers return a promise, which an effect must not return.
    void selectedNode.current?.scrollIntoView({ block: 'center', inline: 'center' })
  }, [layout])
  return (
    <div className={styles.graph} style={{ width: Math.max(layout.width, 300), height: Math.max(layout.height, 300) }}>
      <Lines layout={layout} selected={selected} />
      {layout.nodes.map((node) => {
        const { icon, colour } = entityType(node.entity_type)
        const isSelected = node.key === selected
        return (
          <button
            key={node.key}
            ref={isSelected ? selectedNode : undefined}
            type="button"
            className={classes(styles.node, isSelected && styles.selected)}
            style={{
              left: node.x - NODE_WIDTH / 2,
              top: node.y - NODE_HEIGHT / 2,
              width: NODE_WIDTH,
              height: NODE_HEIGHT,
              '--k': colour,
            }}
            aria-pressed={isSelected}
            onClick={() => onSelect(node.key)}
          >
            <i className={styles.icon}>
              <Icon name={icon} />
            </i>
            <span className={styles.text}>
              <NodeName node={node} />
              <span className={classes(ui.soft, ui.tiny, ui.mono)}>{shortId(node.entity_id)}</span>
            </span>
          </button>
        )
      })}
    </div>
  )
}

function Lines({ layout: { lines, width, height }, selected }: Omit<LineageGraphParts, 'onSelect'>): ReactElement {
  return (
    <svg className={styles.lines} width={width} height={height} aria-hidden="true">
      {lines.map(({ from, to, relation, points }, index) => {
        const isNear = from.key === selected || to.key === selected
        const colour = isNear ? 'var(--accent)' : 'var(--line-strong)'
        const [middle, end] = [points[Math.floor(points.length / 2)]!, points.at(-1)!]
        return (
          <g key={index}>
            <path d={pathOf(points)} fill="none" stroke={colour} strokeWidth={isNear ? 2 : 1.3} />
            <path d={`M${end.x - 7} ${end.y - 4}l7 4l-7 4z`} fill={colour} />
            <text className={styles.relation} x={middle.x} y={middle.y - 6} textAnchor="middle">
              {words(relation)}
            </text>
          </g>
        )
      })}
    </svg>
  )
}
