/** What something was made from and what became of it, as a graph that can be walked and as an equal list. */
import dagre from '@dagrejs/dagre'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react'
import type { LineageEdge, LineageNode } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { useProjects } from '../../state/who.ts'
import { dateTime, shortId } from '../../ui/format.ts'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { Button, LinkButton, Page, Segmented, copyText } from '../../ui/kit.ts'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './lineage.module.css'
import cardStyles from '../../ui/card.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

type Direction = 'up' | 'down' | 'both'
const WIDTH = 180
const HEIGHT = 58
const MAX_NODES = 200
const KINDS: Readonly<Record<string, { icon: IconName; colour: string }>> = {
  item: { icon: 'image', colour: 'var(--c1)' },
  order: { icon: 'cart', colour: 'var(--c2)' },
  processing_job: { icon: 'bolt', colour: 'var(--c3)' },
  share_link: { icon: 'share', colour: 'var(--c4)' },
  collection: { icon: 'folder', colour: 'var(--c5)' },
  project: { icon: 'folder', colour: 'var(--c6)' },
}
const kindOf = (type: string) => KINDS[type] ?? { icon: 'graph' as const, colour: 'var(--c6)' }
const keyOf = (type: string, id: string) => `${type} ${id}`

interface Placed extends LineageNode {
  key: string
  x: number
  y: number
}

/** An edge says 'src was made from dst'; drawn the way things flow, from left to right. */
function place(nodes: readonly LineageNode[], edges: readonly LineageEdge[]) {
  const graph = new dagre.graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 26, ranksep: 70, marginx: 24, marginy: 24 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { entity_type, entity_id } of nodes) graph.setNode(keyOf(entity_type, entity_id), { width: WIDTH, height: HEIGHT })
  for (const edge of edges) graph.setEdge(keyOf(edge.dst_type, edge.dst_id), keyOf(edge.src_type, edge.src_id))
  dagre.layout(graph)
  const placed = nodes.map((node): Placed => {
    const key = keyOf(node.entity_type, node.entity_id)
    const { x, y } = graph.node(key) as { x: number; y: number }
    return { ...node, key, x, y }
  })
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return { placed, width, height }
}

export function LineageStart(): ReactElement {
  const projects = useProjects()
  const recent = useOp('items.search_org', { limit: 20 })
  useTitle('Lineage')
  return (
    <Page title="Lineage" about="Choose an item: where it came from, and what was made of it.">
      <div className={cardStyles.card}>
        {!recent.data && <Skeleton />}
        {recent.data?.features.length === 0 && (
          <Empty icon="flow" title="Nothing was made yet" actions={<LinkButton to="/welcome">First steps</LinkButton>} />
        )}
        {(recent.data?.features ?? []).map((item) => (
          <div key={item.id} className={listStyles.entry}>
            <Icon name="image" />
            <Link className={ui.grow} to="/lineage/$type/$id" params={{ type: 'item', id: item.id }}>
              {String(item.properties['title'] ?? item.properties['name'] ?? item.id)}
            </Link>
            <span className={classes(ui.soft, ui.small)}>{dateTime(String(item.properties['datetime'] ?? '') || null)}</span>
          </div>
        ))}
        {(projects.data?.projects ?? []).map((project) => (
          <div key={project.id} className={listStyles.entry}>
            <Icon name="folder" />
            <Link className={ui.grow} to="/lineage/$type/$id" params={{ type: 'project', id: project.id }}>
              Project {project.name}
            </Link>
          </div>
        ))}
      </div>
    </Page>
  )
}

export function Lineage(): ReactElement {
  const { type, id } = useParams({ from: '/inside/lineage/$type/$id' })
  const [url, setUrl] = useUrl()
  const direction = (url['direction'] ?? 'both') as Direction
  const graph = useOp('provenance.get', { entity_type: type as 'item', entity_id: id, direction, max_depth: Number(url['depth'] ?? 5) })
  const [chosen, setChosen] = useState<string>(keyOf(type, id))
  useTitle({ text: 'Lineage', to: '/lineage' }, `${type.replaceAll('_', ' ')} ${shortId(id)}`)
  const drawn = useMemo(() => (graph.data ? place(graph.data.nodes.slice(0, MAX_NODES), graph.data.edges) : null), [graph.data])
  if (graph.isError) return <Failed error={graph.error} retry={() => void graph.refetch()} />
  if (!graph.data || !drawn) return <Skeleton rows={5} />
  const { edges, truncated, nodes } = graph.data
  const node = nodes.find((candidate) => keyOf(candidate.entity_type, candidate.entity_id) === chosen) ?? nodes[0]!
  return (
    <div className={classes(workspaceStyles.workspace, workspaceStyles.lineage, workspaceStyles.withInspector)}>
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        Lineage
      </h1>
      <div className={styles.canvas}>
        <div className={classes(mapSlotStyles.floating, ui.flexRow, ui.gap12, styles.toolbar)}>
          <Segmented
            label="Direction"
            value={direction}
            onChange={(next) => setUrl({ direction: next === 'both' ? null : next })}
            options={[
              { value: 'up', text: 'Where from' },
              { value: 'both', text: 'Both' },
              { value: 'down', text: 'What of it' },
            ]}
          />
          {truncated && (
            <Button size="s" onClick={() => setUrl({ depth: String(Number(url['depth'] ?? 5) + 5) })}>
              Load deeper
            </Button>
          )}
        </div>
        <div
          className={styles.scroll}
          tabIndex={0}
          role="group"
          aria-label={`Graph of ${nodes.length} things and ${edges.length} steps. The same is a list beside it.`}
        >
          <Graph drawn={drawn} edges={edges} chosen={chosen} onChoose={setChosen} />
        </div>
        {edges.length === 0 && <p className={classes(mapSlotStyles.floating, styles.empty)}>Made here, used nowhere yet.</p>}
      </div>
      <Chosen node={node} graph={graph.data} onChoose={setChosen} />
    </div>
  )
}

interface ChosenParts {
  node: LineageNode
  graph: { nodes: readonly LineageNode[]; edges: readonly LineageEdge[] }
  onChoose(key: string): void
}

/** What the chosen thing is, what was done with it, and everything else as a list. */
function Chosen({ node, graph, onChoose }: ChosenParts): ReactElement {
  const navigate = useNavigate()
  return (
    <aside className={classes(workspaceStyles.panel, workspaceStyles.right)} aria-label="Selected">
      <div className={workspaceStyles.scroll}>
        <div className={workspaceStyles.section}>
          <div className={classes(ui.flexRow, ui.gap12)}>
            <span className={ui.disc}>
              <Icon name={kindOf(node.entity_type).icon} />
            </span>
            <div className={ui.grow}>
              <NodeName node={node} />
              <div className={classes(ui.mono, ui.faint, ui.breakAnywhere)}>{node.entity_id}</div>
            </div>
          </div>
          <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop12)}>
            {node.entity_type === 'item' && (
              <LinkButton size="s" to="/view/$item" params={{ item: node.entity_id }}>
                Open
              </LinkButton>
            )}
            <Button
              size="s"
              onClick={() => void navigate({ to: '/lineage/$type/$id', params: { type: node.entity_type, id: node.entity_id } })}
            >
              Centre on this
            </Button>
            <Button size="s" icon="copy" onClick={() => void copyText(JSON.stringify(graph, null, 2), 'The evidence is copied')}>
              Copy as evidence
            </Button>
          </div>
        </div>
        <Steps node={node} edges={graph.edges} onChoose={onChoose} />
        <div className={workspaceStyles.section}>
          <h3>Everything here</h3>
          <ul className={classes(ui.flexColumn, ui.gap4)}>
            {graph.nodes.map((node) => (
              <li key={keyOf(node.entity_type, node.entity_id)}>
                <button
                  type="button"
                  className={classes(ui.asText, ui.flexRow, ui.gap6)}
                  onClick={() => onChoose(keyOf(node.entity_type, node.entity_id))}
                >
                  <Icon name={kindOf(node.entity_type).icon} /> {node.entity_type.replaceAll('_', ' ')}{' '}
                  <span className={ui.mono}>{shortId(node.entity_id)}</span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </aside>
  )
}

function Steps({ node, edges, onChoose }: { node: LineageNode; edges: readonly LineageEdge[]; onChoose(key: string): void }): ReactElement {
  const chosen = keyOf(node.entity_type, node.entity_id)
  const near = edges.filter((edge) => keyOf(edge.src_type, edge.src_id) === chosen || keyOf(edge.dst_type, edge.dst_id) === chosen)
  return (
    <div className={workspaceStyles.section}>
      <h3>History</h3>
      {near.length === 0 && <p className={ui.soft}>None.</p>}
      <ol className={styles.steps}>
        {near.map((edge, index) => {
          const isSource = keyOf(edge.src_type, edge.src_id) === chosen
          const other = isSource ? { type: edge.dst_type, id: edge.dst_id } : { type: edge.src_type, id: edge.src_id }
          return (
            <li key={index}>
              {isSource && <b>{edge.relation.replaceAll('_', ' ')}</b>}
              <button type="button" className={ui.asLink} onClick={() => onChoose(keyOf(other.type, other.id))}>
                {other.type.replaceAll('_', ' ')} {shortId(other.id)}
              </button>
              {!isSource && <b>{edge.relation.replaceAll('_', ' ')} this</b>}
              <span className={classes(ui.mono, ui.faint, ui.tiny)}>call {edge.invocation_id}</span>
            </li>
          )
        })}
      </ol>
    </div>
  )
}

function NodeName({ node }: { node: LineageNode }): ReactElement {
  const item = useOp('items.get', { item_id: node.entity_id }, { enabled: node.entity_type === 'item', staleTime: 60_000 })
  const project = useOp('projects.get', { project_id: node.entity_id }, { enabled: node.entity_type === 'project', staleTime: 60_000 })
  return <b className={ui.ellipsis}>{item.data?.item.name ?? project.data?.name ?? node.entity_type.replaceAll('_', ' ')}</b>
}

function Graph({
  drawn,
  edges,
  chosen,
  onChoose,
}: {
  drawn: ReturnType<typeof place>
  edges: readonly LineageEdge[]
  chosen: string
  onChoose(key: string): void
}): ReactElement {
  const at = new Map(drawn.placed.map((placed) => [placed.key, placed]))
  const node = useRef<HTMLButtonElement>(null)
  // A graph is larger than a phone: it opens where the chosen thing is.
  useEffect(() => {
    // Newer browsers answer with a promise, which is no way to leave an effect.
    void node.current?.scrollIntoView({ block: 'center', inline: 'center' })
  }, [drawn])
  const lines = edges.flatMap((edge) => {
    const from = at.get(keyOf(edge.dst_type, edge.dst_id))
    const to = at.get(keyOf(edge.src_type, edge.src_id))
    return from && to ? [{ from, to, relation: edge.relation }] : []
  })
  return (
    <div className={styles.graph} style={{ width: Math.max(drawn.width, 300), height: Math.max(drawn.height, 300) }}>
      <svg width={drawn.width} height={drawn.height} aria-hidden="true">
        {lines.map(({ from, to, relation }, index) => {
          const [x1, x2] = [from.x + WIDTH / 2, to.x - WIDTH / 2]
          const isNear = from.key === chosen || to.key === chosen
          return (
            <g key={index}>
              <path
                d={`M${x1} ${from.y}C${x1 + 35} ${from.y} ${x2 - 35} ${to.y} ${x2 - 6} ${to.y}`}
                fill="none"
                stroke={isNear ? 'var(--accent)' : 'var(--line-strong)'}
                strokeWidth={isNear ? 2 : 1.3}
              />
              <path d={`M${x2 - 7} ${to.y - 4}l7 4l-7 4z`} fill={isNear ? 'var(--accent)' : 'var(--line-strong)'} />
              <text className={styles.edgeLabel} x={x1 + (x2 - x1) * 0.66} y={from.y + (to.y - from.y) * 0.8 - 5} textAnchor="middle">
                {relation.replaceAll('_', ' ')}
              </text>
            </g>
          )
        })}
      </svg>
      {drawn.placed.map((placedNode) => (
        <button
          key={placedNode.key}
          ref={placedNode.key === chosen ? node : undefined}
          type="button"
          className={placedNode.key === chosen ? classes(styles.node, styles.selected) : styles.node}
          style={{ left: placedNode.x - WIDTH / 2, top: placedNode.y - HEIGHT / 2, '--k': kindOf(placedNode.entity_type).colour }}
          aria-pressed={placedNode.key === chosen}
          onClick={() => onChoose(placedNode.key)}
        >
          <i>
            <Icon name={kindOf(placedNode.entity_type).icon} />
          </i>
          <span>
            <NodeName node={placedNode} />
            <span className={classes(ui.soft, ui.tiny, ui.mono)}>{shortId(placedNode.entity_id)}</span>
          </span>
        </button>
      ))}
    </div>
  )
}
