/** The sources of an item and what was derived from it, as a graph and as a list with the same content. */
import { useParams } from '@tanstack/react-router'
import { useMemo, useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { plural, shortId } from '../../ui/format.ts'
import { Button, Segmented } from '../../ui/kit.ts'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { entityType } from './entity-types.ts'
import { LineageDetails } from './lineage-details.tsx'
import { LineageGraph } from './lineage-graph.tsx'
import { keyOf, layoutOf, nodeKey } from './lineage-layout.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './lineage.module.css'
import ui from '../../ui/ui.module.css'

export { LineageStart } from './lineage-start.tsx'

type Direction = 'up' | 'down' | 'both'

const MAX_NODES = 200
const DEPTH_STEP = 5
const MAX_DEPTH = 50

const depthOf = (text: string | undefined) => Math.max(1, Math.min(MAX_DEPTH, Math.trunc(Number(text)) || DEPTH_STEP))

export function Lineage(): ReactElement {
  const { type, id } = useParams({ from: '/inside/lineage/$type/$id' })
  const [url, setUrl] = useUrl()
  const direction = (url['direction'] ?? 'both') as Direction
  const depth = depthOf(url['depth'])
  const graph = useOp('provenance.get', { entity_type: type as 'item', entity_id: id, direction, max_depth: depth })
  const [selected, setSelected] = useState<string>(keyOf(type, id))
  useTitle({ text: 'Lineage', to: '/lineage' }, `${entityType(type).name} ${shortId(id)}`)
  const layout = useMemo(() => (graph.data ? layoutOf(graph.data.nodes.slice(0, MAX_NODES), graph.data.edges) : null), [graph.data])
  if (graph.isError) return <Failed error={graph.error} retry={() => void graph.refetch()} />
  if (!graph.data || !layout) return <Skeleton rows={5} />
  const { edges, truncated, nodes } = graph.data
  return (
    <div className={classes(workspaceStyles.workspace, workspaceStyles.lineage, workspaceStyles.withInspector)}>
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        Lineage
      </h1>
      <div className={styles.lineage}>
        <div className={classes(mapSlotStyles.floating, ui.flexRow, ui.gap12, styles.toolbar)}>
          <Segmented
            label="Direction"
            value={direction}
            onChange={(next) => setUrl({ direction: next === 'both' ? null : next }, true)}
            options={[
              { value: 'up', text: 'Sources' },
              { value: 'both', text: 'Both' },
              { value: 'down', text: 'Derived' },
            ]}
          />
          {truncated && depth < MAX_DEPTH && (
            <Button size="s" onClick={() => setUrl({ depth: String(depth + DEPTH_STEP) })}>
              Load more levels
            </Button>
          )}
        </div>
        <div
          className={styles.scroll}
          tabIndex={0}
          role="group"
          aria-label={`Graph of ${plural(nodes.length, 'node')} and ${plural(edges.length, 'step')}. The list has the same content.`}
        >
          <LineageGraph layout={layout} selected={selected} onSelect={setSelected} />
        </div>
        {edges.length === 0 && <p className={classes(mapSlotStyles.floating, styles.empty)}>No sources, and nothing derived yet.</p>}
      </div>
      <LineageDetails node={nodes.find((node) => nodeKey(node) === selected) ?? nodes[0]!} graph={graph.data} onSelect={setSelected} />
    </div>
  )
}
