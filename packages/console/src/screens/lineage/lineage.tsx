/** The sources of an item and what was derived from it, as a graph, as a table with the same content, and as a PDF. */
import { useParams } from '@tanstack/react-router'
import { useMemo, useState, type ReactElement } from 'react'
import { headline } from '../../api/problem.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { plural } from '../../ui/format.ts'
import { Button, Segmented } from '../../ui/kit.ts'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { LineageDetails } from './lineage-details.tsx'
import { LineageGraph } from './lineage-graph.tsx'
import { foldFiles } from './lineage-fold.ts'
import { keyOf, layoutOf, nodeKey } from './lineage-layout.ts'
import { useNode } from './use-node.ts'
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
  const hasFiles = url['files'] === '1'
  const { name } = useNode({ entity_type: type, entity_id: id, depth: 0 }, graph.data?.edges ?? [])
  useTitle({ text: 'Lineage', to: '/lineage' }, name)
  const shown = useMemo(() => {
    if (!graph.data) return null
    const { nodes, edges, files } = hasFiles
      ? { ...graph.data, files: new Map<string, number>() }
      : foldFiles(graph.data.nodes, graph.data.edges)
    return { nodes, edges, files, layout: layoutOf(nodes.slice(0, MAX_NODES), edges) }
  }, [graph.data, hasFiles])
  if (graph.isError) return <Failed error={graph.error} retry={() => void graph.refetch()} />
  if (!graph.data || !shown) return <Skeleton rows={5} />
  const { truncated } = graph.data
  const { nodes, edges, files, layout } = shown
  const fileCount = graph.data.nodes.filter(({ entity_type }) => entity_type === 'asset').length
  return (
    <div className={classes(workspaceStyles.workspace, workspaceStyles.lineage, workspaceStyles.withInspector)}>
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        Lineage of {name}
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
          {fileCount > 0 && (
            <Button size="s" aria-pressed={hasFiles} onClick={() => setUrl({ files: hasFiles ? null : '1' }, true)}>
              {hasFiles ? 'Fold files' : `Show ${plural(fileCount, 'file')}`}
            </Button>
          )}
          <DownloadPdf type={type} id={id} />
        </div>
        <div
          className={styles.scroll}
          tabIndex={0}
          role="group"
          aria-label={`Graph of ${plural(nodes.length, 'node')} and ${plural(edges.length, 'step')}. The table has the same content.`}
        >
          <LineageGraph layout={layout} edges={graph.data.edges} files={files} selected={selected} onSelect={setSelected} />
        </div>
        {edges.length === 0 && <p className={classes(mapSlotStyles.floating, styles.empty)}>No sources, and nothing derived yet.</p>}
      </div>
      <LineageDetails
        node={nodes.find((node) => nodeKey(node) === selected) ?? nodes[0]!}
        shown={shown}
        graph={graph.data}
        onSelect={setSelected}
      />
    </div>
  )
}

/** The whole chain, for auditors: it does not depend on what the graph shows. */
function DownloadPdf({ type, id }: { type: string; id: string }): ReactElement {
  const generate = useAct('reports.generate', ['organizations.audit'])
  const download = () =>
    generate.mutate(
      { report_type: 'lineage', entity_type: type as 'item', entity_id: id, format: 'pdf' },
      {
        onSuccess({ url }) {
          const link = document.createElement('a')
          link.href = url
          link.download = ''
          link.click()
        },
        onError: (error) => void toast(`${headline(error)} ${error.message}`, 'bad'),
      },
    )
  return (
    <Button size="s" icon="down" busy={generate.isPending} onClick={download}>
      Download PDF
    </Button>
  )
}
